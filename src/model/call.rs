//! One AWS API call as data, and what can become of it.
//!
//! A [`Call`] names the operation and its parameters under the API's own member names. A plan is
//! made of calls; only a kind's `sdk.rs` turns one into a request.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Describes one AWS API call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The service's endpoint prefix: `rds`, `ec2`, `sts`.
    pub service: Cow<'static, str>,
    /// The operation as the API names it, for example `ModifyDBInstance`.
    pub operation: Cow<'static, str>,
    /// The parameters under the API's member names; lists are arrays, structures are objects.
    pub params: Map<String, Value>,
}

impl Call {
    /// Makes a call without parameters.
    pub fn new(service: &'static str, operation: &'static str) -> Self {
        Self {
            service: Cow::Borrowed(service),
            operation: Cow::Borrowed(operation),
            params: Map::new(),
        }
    }

    /// Adds one parameter.
    #[must_use]
    pub fn with(mut self, member: &str, value: impl Into<Value>) -> Self {
        self.params.insert(member.to_owned(), value.into());
        self
    }

    /// Returns a parameter's text, if it is there and is text.
    pub fn text(&self, member: &str) -> Option<&str> {
        self.params.get(member).and_then(Value::as_str)
    }

    /// Tells whether the call only reads.
    ///
    /// AWS names every read of the services in use `Describe…`, `List…`, `Get…` or `Lookup…`.
    pub fn is_read(&self) -> bool {
        ["Describe", "List", "Get", "Lookup"]
            .iter()
            .any(|prefix| self.operation.starts_with(prefix))
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.service, self.operation)
    }
}

/// Says what a refused or failed call means for whoever sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum ErrorClass {
    /// AWS asked to slow down: wait, halve the budget, count nothing.
    Throttled,
    /// The resource is in a state that takes no such call now: wait and look again.
    NotReady,
    /// The resource does not exist. Of a read, this is the only proof of absence.
    NotFound,
    /// The name is taken: read it and see whose it is.
    AlreadyExists,
    /// The credentials may not do this.
    Denied,
    /// The request can never succeed as it is; only a new input helps.
    Invalid,
    /// A fault on the way or at AWS, and the call certainly did not apply.
    Transient,
    /// The answer was lost: the call may or may not have applied. Read before anything else.
    Ambiguous,
}

impl ErrorClass {
    /// Says what an error code means that any AWS service may answer; `None` for all others.
    ///
    /// Source: the pages "Common Errors" of the RDS and EC2 API references. An internal failure
    /// says nothing about whether the call applied.
    pub fn of_common(code: &str) -> Option<Self> {
        Some(match code {
            "Throttling"
            | "ThrottlingException"
            | "Throttled"
            | "ThrottledException"
            | "RequestThrottled"
            | "RequestThrottledException"
            | "RequestLimitExceeded"
            | "TooManyRequestsException"
            | "BandwidthLimitExceeded"
            | "PriorRequestNotComplete"
            | "SlowDown" => Self::Throttled,
            "AccessDenied"
            | "AccessDeniedException"
            | "NotAuthorized"
            | "UnauthorizedOperation"
            | "AuthFailure"
            | "OptInRequired"
            | "Blocked"
            | "ExpiredToken"
            | "ExpiredTokenException"
            | "RequestExpired"
            | "InvalidClientTokenId"
            | "UnrecognizedClientException"
            | "MissingAuthenticationToken"
            | "MissingAuthenticationTokenException"
            | "IncompleteSignature"
            | "SignatureDoesNotMatch" => Self::Denied,
            "ServiceUnavailable" | "ServiceUnavailableException" | "Unavailable" => Self::Transient,
            "InternalFailure"
            | "InternalError"
            | "InternalServerError"
            | "InternalServiceError"
            | "Timeout"
            | "RequestTimeout"
            | "RequestTimeoutException"
            | "Connection" => Self::Ambiguous,
            _ => return None,
        })
    }
}

/// Reports a call that did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{operation} failed: {code}: {message}")]
pub struct CallError {
    /// What it means.
    pub class: ErrorClass,
    /// The operation that was called.
    pub operation: String,
    /// AWS's error code, or `Timeout`, `Connection` where there was no answer.
    pub code: String,
    /// AWS's text, for people; never looked at by code.
    pub message: String,
}
