//! What a failure means: from AWS's code, from how far the call came, and from whether it writes.
//!
//! Codes that every service shares are judged here, the service's own by the kind.

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
        (Some(code), _) if is_throttling(code) => ErrorClass::Throttled,
        (None, 429) => ErrorClass::Throttled,
        // A server's fault says nothing about what was done before it: `InternalFailure` is
        // documented as "an unknown error, exception or failure".
        (_, 500..) => unanswered,
        (Some(code), _) => shared(code).unwrap_or_else(|| classify(code)),
        // Not AWS's answer but that of something on the way, before or after AWS.
        (None, _) => unanswered,
    }
}

/// Tells whether a code is one of those by which AWS asks to slow down (the SDKs' list, as far as
/// the services in use send them).
pub(crate) fn is_throttling(code: &str) -> bool {
    matches!(
        code,
        "Throttling"
            | "ThrottlingException"
            | "ThrottledException"
            | "RequestThrottled"
            | "RequestThrottledException"
            | "RequestLimitExceeded"
            | "TooManyRequestsException"
            | "SlowDown"
            | "EC2ThrottledException"
    )
}

/// Judges the codes of the common errors, which every service sends.
pub(crate) fn shared(code: &str) -> Option<ErrorClass> {
    Some(match code {
        "AccessDenied"
        | "AccessDeniedException"
        | "AuthFailure"
        | "ExpiredToken"
        | "ExpiredTokenException"
        | "IncompleteSignature"
        | "InvalidClientTokenId"
        | "MissingAuthenticationToken"
        | "NotAuthorized"
        | "OptInRequired"
        | "SignatureDoesNotMatch"
        | "UnauthorizedOperation"
        | "UnrecognizedClientException" => ErrorClass::Denied,
        // The machine's clock is off, or the request was too long on the way.
        "RequestExpired" | "RequestTimeTooSkewed" => ErrorClass::Transient,
        _ => return None,
    })
}
