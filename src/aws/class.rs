//! What a failure means: from AWS's code, from how far the call came, and from whether it writes.
//!
//! Codes that every service shares are judged by [`ErrorClass::of_common`], the service's own by the
//! kind.

use crate::kinds::sdk::Failure;
use crate::model::{Call, CallError, ErrorClass};

/// Turns a failure into the error that the stages see.
pub(crate) fn call_error(
    call: &Call,
    failure: Failure,
    classify: impl Fn(&str) -> ErrorClass,
) -> CallError {
    let unanswered = if call.is_read() { ErrorClass::Transient } else { ErrorClass::Ambiguous };
    let (class, code, message) = match failure {
        Failure::Unsent { reason } => (ErrorClass::Transient, "Unsent".to_owned(), reason),
        Failure::Lost { code, reason } => (unanswered, code.to_owned(), reason),
        Failure::Unsendable { code, reason } => (ErrorClass::Invalid, code.to_owned(), reason),
        Failure::NoCredentials { class, code, reason } => (class, code, reason),
        Failure::Refused { status, code, message } => {
            let class = refusal(status, code.as_deref(), unanswered, classify);
            (class, code.unwrap_or_else(|| format!("Http{status}")), message)
        }
    };
    CallError { class, operation: call.operation.to_string(), code, message }
}

/// Judges an answer that is an error.
fn refusal(
    status: u16,
    code: Option<&str>,
    unanswered: ErrorClass,
    classify: impl Fn(&str) -> ErrorClass,
) -> ErrorClass {
    match (code, status) {
        (Some(code), _) if ErrorClass::of_common(code) == Some(ErrorClass::Throttled) => {
            ErrorClass::Throttled
        }
        (None, 429) => ErrorClass::Throttled,
        (None, 401 | 403) => ErrorClass::Denied,
        // A kind knows codes by which AWS says, as a server's fault, that it did not do it now
        // (`ResourceContention` of Auto Scaling).
        (Some(code), 500..) if classify(code) == ErrorClass::NotReady => ErrorClass::NotReady,
        // A server's fault says nothing about what was done before it: `InternalFailure` is
        // documented as "an unknown error, exception or failure".
        (_, 500..) => unanswered,
        (Some(code), _) => match ErrorClass::of_common(code).unwrap_or_else(|| classify(code)) {
            ErrorClass::Ambiguous => unanswered,
            class => class,
        },
        // Not AWS's answer but that of something on the way, before or after AWS.
        (None, _) => unanswered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(call: &Call, failure: Failure) -> ErrorClass {
        call_error(call, failure, |_| ErrorClass::NotFound).class
    }

    fn refused(status: u16, code: Option<&str>) -> Failure {
        Failure::Refused {
            status,
            code: code.map(str::to_owned),
            message: "Throttling AccessDenied".to_owned(),
        }
    }

    #[test]
    fn a_fault_of_the_server_that_a_kind_knows_for_a_wrong_moment_is_one() {
        let call = Call::new("autoscaling", "UpdateAutoScalingGroup");
        let class = |code: &str| {
            let classify = |code: &str| match code {
                "ResourceContention" => ErrorClass::NotReady,
                _ => ErrorClass::NotFound,
            };
            call_error(&call, refused(500, Some(code)), classify).class
        };
        assert_eq!(class("ResourceContention"), ErrorClass::NotReady);
        assert_eq!(class("SomethingElse"), ErrorClass::Ambiguous);
    }

    #[test]
    fn a_failure_means_what_its_code_and_its_distance_say_and_never_what_its_text_says() {
        use ErrorClass::{Ambiguous, Denied, Invalid, NotFound, Throttled, Transient};
        let (read, write) =
            (Call::new("rds", "DescribeDBInstances"), Call::new("rds", "CreateDBInstance"));
        let lost = Failure::Lost { code: "Timeout", reason: String::new() };
        let unsent = Failure::Unsent { reason: String::new() };
        let unsendable = Failure::Unsendable { code: "UnknownParameter", reason: String::new() };
        // failure, class of a read, class of a write
        let cases = [
            (unsent, Transient, Transient),
            (lost, Transient, Ambiguous),
            (unsendable, Invalid, Invalid),
            (refused(400, Some("Throttling")), Throttled, Throttled),
            (refused(503, Some("RequestLimitExceeded")), Throttled, Throttled),
            (refused(429, None), Throttled, Throttled),
            (refused(500, Some("InternalFailure")), Transient, Ambiguous),
            (refused(503, Some("ServiceUnavailable")), Transient, Ambiguous),
            (refused(504, None), Transient, Ambiguous),
            (refused(403, None), Denied, Denied),
            (refused(413, None), Transient, Ambiguous),
            (refused(403, Some("AccessDenied")), Denied, Denied),
            (refused(403, Some("SignatureDoesNotMatch")), Denied, Denied),
            (refused(400, Some("RequestTimeout")), Transient, Ambiguous),
            (refused(404, Some("DBInstanceNotFound")), NotFound, NotFound),
        ];
        for (failure, of_read, of_write) in cases {
            assert_eq!(class(&read, failure.clone()), of_read, "{failure:?} of a read");
            assert_eq!(class(&write, failure.clone()), of_write, "{failure:?} of a write");
        }
    }

    #[test]
    fn an_answer_without_a_code_is_named_by_its_status() {
        let error = call_error(&Call::new("rds", "A"), refused(504, None), |_| ErrorClass::Invalid);
        assert_eq!(error.code, "Http504");
    }
}
