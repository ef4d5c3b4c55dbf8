//! What the answers of the Cloud Control API and its error codes mean.
//!
//! Source: `ProgressEvent` in the API reference, and "Handler error codes" in the CloudFormation CLI
//! User Guide.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::check::is_secret;
use crate::model::singly::{Stage, member};
use crate::model::{ErrorClass, Notice, Observed, Readiness};

/// The reasons of a failed request that may pass by themselves.
const HITCHES: [&str; 8] = [
    "Throttling",
    "NetworkFailure",
    "ServiceInternalError",
    "ServiceTimeout",
    "InternalFailure",
    "GeneralServiceException",
    "NotStabilized",
    "ResourceConflict",
];

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Says how far AWS came with a request.
pub(super) fn stage(request: &Value) -> Stage {
    match text(request, "OperationStatus") {
        "SUCCESS" => Stage::Done,
        "FAILED" | "CANCEL_COMPLETE" if HITCHES.contains(&text(request, "ErrorCode")) => {
            Stage::FailedForNow
        }
        "FAILED" | "CANCEL_COMPLETE" => Stage::Failed,
        // A status that nobody knows is waited for.
        _ => Stage::InFlight,
    }
}

/// Says whether a resource is settled.
pub(super) fn readiness(actual: &Observed) -> Readiness {
    if let Some(reason) = actual.text("Type.missing") {
        let reason = format!("AWS knows no such type here: {reason}");
        return Readiness::Broken { code: "UnknownType".to_owned(), reason };
    }
    let Some(request) = actual.member(member::REQUEST) else { return Readiness::Ready };
    let waiting = |code: &str, reason: String| Readiness::Waiting { code: code.to_owned(), reason };
    let operation = text(request, "Operation");
    match stage(request) {
        Stage::InFlight => {
            waiting("InProgress", format!("AWS is carrying out the request to {operation} it"))
        }
        Stage::Done => waiting("Spreading", "AWS made it and does not show it yet".to_owned()),
        // A deletion is sent again when the hold is over, and is in no state to be compared.
        Stage::Failed | Stage::FailedForNow if operation == "DELETE" => {
            waiting("DeletionFailed", failure(request))
        }
        Stage::FailedForNow => waiting("RequestFailed", failure(request)),
        Stage::Failed => Readiness::Broken { code: failure_code(request), reason: failure(request) },
    }
}

fn failure_code(request: &Value) -> String {
    match text(request, "ErrorCode") {
        "" => "RequestFailed".to_owned(),
        code => code.to_owned(),
    }
}

fn failure(request: &Value) -> String {
    let (code, message) = (failure_code(request), text(request, "StatusMessage"));
    format!("AWS could not {} it: {code}: {message}", text(request, "Operation"))
}

/// Tells what could not be known.
pub(super) fn notices(actual: &Observed) -> Vec<Notice> {
    let told = |reason: &str| Notice {
        field: String::new(),
        code: "SchemaUnknown".to_owned(),
        message: format!(
            "the schema of its type could not be read, so what AWS does not answer is not compared: \
             {reason}"
        ),
    };
    actual.text("Type.unknown").map(told).into_iter().collect()
}

/// Returns the identifier and the texts at the top that no name marks as a secret.
pub(super) fn outputs(actual: &Observed) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    if let Some(identifier) = actual.member(member::IDENTIFIER) {
        found.insert("identifier".to_owned(), identifier.clone());
    }
    if let Some(arn) = actual.member("Properties.Arn").filter(|_| !is_secret("Arn")) {
        found.insert("Arn".to_owned(), arn.clone());
    }
    found
}

/// Reads tags, whether they are a list of pairs or a mapping; a number or a boolean is its text.
pub(super) fn tags(value: Option<&Value>) -> BTreeMap<String, String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let pair = |tag: &Value| {
        let value = tag.get("Value").and_then(text).unwrap_or_default();
        Some((tag.get("Key")?.as_str()?.to_owned(), value))
    };
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(pair).collect(),
        Some(Value::Object(members)) => {
            members.iter().filter_map(|(key, value)| Some((key.clone(), text(value)?))).collect()
        }
        _ => BTreeMap::new(),
    }
}

/// Returns tags with these ones set, in the form that the type takes.
pub(super) fn with_tags(there: &Value, set: &Map<String, Value>, is_map: bool) -> Value {
    let mut all = tags(Some(there));
    let texts = set.iter().map(|(key, value)| {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        (key.clone(), text)
    });
    all.extend(texts);
    match is_map {
        true => json!(all),
        false => all.iter().map(|(key, value)| json!({"Key": key, "Value": value})).collect(),
    }
}

/// Says what an error code means.
///
/// A request that was used before, or one that meets another, is waited for: neither says anything
/// against the request itself.
pub(super) fn classify(code: &str) -> ErrorClass {
    if let Some(class) = ErrorClass::of_common(code) {
        return class;
    }
    match code {
        "ResourceNotFoundException"
        | "TypeNotFoundException"
        | "RequestTokenNotFoundException" => ErrorClass::NotFound,
        "AlreadyExistsException" => ErrorClass::AlreadyExists,
        "ConcurrentOperationException"
        | "ConcurrentModificationException"
        | "ClientTokenConflictException"
        | "ResourceConflictException"
        | "NotStabilizedException" => ErrorClass::NotReady,
        "InvalidCredentialsException" => ErrorClass::Denied,
        "CFNRegistryException" => ErrorClass::Transient,
        "GeneralServiceException"
        | "HandlerFailureException"
        | "HandlerInternalFailureException"
        | "ServiceInternalErrorException"
        | "NetworkFailureException" => ErrorClass::Ambiguous,
        _ => ErrorClass::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refused_request_needs_a_person() {
        let of = |status: &str, code: &str| {
            stage(&json!({"OperationStatus": status, "ErrorCode": code}))
        };
        assert_eq!(of("PENDING", ""), Stage::InFlight);
        assert_eq!(of("IN_PROGRESS", ""), Stage::InFlight);
        assert_eq!(of("SOMETHING_NEW", ""), Stage::InFlight);
        assert_eq!(of("SUCCESS", ""), Stage::Done);
        assert_eq!(of("FAILED", "Throttling"), Stage::FailedForNow);
        for code in ["InvalidRequest", "NotUpdatable", "AccessDenied", "AlreadyExists", ""] {
            assert_eq!(of("FAILED", code), Stage::Failed, "{code}");
        }
    }

    #[test]
    fn a_tag_that_is_a_number_or_a_boolean_is_its_text() {
        let expected = BTreeMap::from([
            ("a".to_owned(), "7".to_owned()),
            ("b".to_owned(), "true".to_owned()),
        ]);
        assert_eq!(tags(Some(&json!({"a": 7, "b": true}))), expected);
        let pairs = json!([{"Key": "a", "Value": 7}, {"Key": "b", "Value": true}]);
        assert_eq!(tags(Some(&pairs)), expected);
    }

    #[test]
    fn only_not_found_is_absence() {
        for code in ["ResourceNotFoundException", "RequestTokenNotFoundException"] {
            assert_eq!(classify(code), ErrorClass::NotFound);
        }
        for code in ["ThrottlingException", "AccessDeniedException", "HandlerFailureException"] {
            assert_ne!(classify(code), ErrorClass::NotFound, "{code}");
        }
        assert_eq!(classify("ConcurrentOperationException"), ErrorClass::NotReady);
        assert_eq!(classify("NotUpdatableException"), ErrorClass::Invalid);
    }
}
