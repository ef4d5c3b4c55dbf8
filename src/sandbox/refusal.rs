//! An error answer of the sandbox, with the HTTP status and the meaning of its code.

use std::borrow::Cow;

use crate::model::{Call, CallError, ErrorClass};

/// Holds an error answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    /// AWS's wire code.
    pub(super) code: Cow<'static, str>,
    /// The text for people.
    pub(super) message: String,
    /// What it means.
    pub(super) class: ErrorClass,
    /// The HTTP status; 0 when no answer is sent at all.
    pub(super) status: u16,
}

/// What one operation answers.
pub(super) type Answer = Result<serde_json::Value, Refusal>;

/// Code, HTTP status and meaning of every code that is not a plain "invalid input" (400).
///
/// Statuses as in the service models that AWS publishes for its SDKs.
const CODES: &[(&str, u16, ErrorClass)] = &[
    ("Throttling", 400, ErrorClass::Throttled),
    ("RequestLimitExceeded", 503, ErrorClass::Throttled),
    ("InternalFailure", 500, ErrorClass::Transient),
    ("InternalError", 500, ErrorClass::Transient),
    ("AccessDenied", 403, ErrorClass::Denied),
    ("UnauthorizedOperation", 403, ErrorClass::Denied),
    ("MissingAuthenticationToken", 403, ErrorClass::Denied),
    ("InvalidClientTokenId", 403, ErrorClass::Denied),
    ("ExpiredToken", 403, ErrorClass::Denied),
    ("NotModelled", 501, ErrorClass::Invalid),
    ("DBInstanceNotFound", 404, ErrorClass::NotFound),
    ("DBParameterGroupNotFound", 404, ErrorClass::NotFound),
    ("DBSubnetGroupNotFoundFault", 404, ErrorClass::NotFound),
    ("DBSnapshotNotFound", 404, ErrorClass::NotFound),
    ("CertificateNotFound", 404, ErrorClass::NotFound),
    ("InvalidVpcID.NotFound", 400, ErrorClass::NotFound),
    ("InvalidSubnetID.NotFound", 400, ErrorClass::NotFound),
    ("DBInstanceAlreadyExists", 400, ErrorClass::AlreadyExists),
    ("DBParameterGroupAlreadyExists", 400, ErrorClass::AlreadyExists),
    ("DBSubnetGroupAlreadyExists", 400, ErrorClass::AlreadyExists),
    ("DBSnapshotAlreadyExists", 400, ErrorClass::AlreadyExists),
    ("InvalidDBInstanceState", 400, ErrorClass::NotReady),
    ("InvalidDBParameterGroupState", 400, ErrorClass::NotReady),
    ("InvalidDBSubnetGroupStateFault", 400, ErrorClass::NotReady),
];

impl Refusal {
    /// Makes the answer of a code.
    pub(super) fn new(code: &'static str, message: impl Into<String>) -> Self {
        let (status, class) = CODES
            .iter()
            .find(|(known, ..)| *known == code)
            .map_or((400, ErrorClass::Invalid), |(_, status, class)| (*status, *class));
        Self { code: Cow::Borrowed(code), message: message.into(), class, status }
    }

    /// Refuses a value.
    pub(super) fn value(message: impl Into<String>) -> Self {
        Self::new("InvalidParameterValue", message)
    }

    /// Refuses parameters that do not go together.
    pub(super) fn combination(message: impl Into<String>) -> Self {
        Self::new("InvalidParameterCombination", message)
    }

    /// Refuses a call in the resource's present state.
    pub(super) fn state(message: impl Into<String>) -> Self {
        Self::new("InvalidDBInstanceState", message)
    }

    /// Says that a modify call changes nothing.
    ///
    /// AWS uses the code of any bad combination for it, so only the class tells them apart.
    pub(super) fn no_effect() -> Self {
        Self { class: ErrorClass::NoEffect, ..Self::combination("No modifications were requested") }
    }

    /// Says that no answer comes.
    pub(super) fn lost() -> Self {
        Self {
            code: Cow::Borrowed("Timeout"),
            message: "the connection was lost before an answer came".to_owned(),
            class: ErrorClass::Ambiguous,
            status: 0,
        }
    }

    /// Tells whether the answer never arrives.
    pub(super) fn is_lost(&self) -> bool {
        self.status == 0
    }

    /// Turns the answer into what a caller in process sees.
    pub(super) fn into_error(self, call: &Call) -> CallError {
        CallError {
            class: self.class,
            operation: call.operation.to_string(),
            code: self.code.into_owned(),
            message: self.message,
        }
    }
}
