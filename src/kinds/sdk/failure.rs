//! What became of a call that did not succeed, before anybody says what it means.

use std::error::Error;

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use hyper_util::client::legacy::Error as HttpError;

use super::Misfit;
use crate::model::ErrorClass;

/// Tells how far a call came. Its class follows from this, from the code, and from whether the call
/// writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// AWS answered with an error.
    Refused {
        /// The HTTP status.
        status: u16,
        /// AWS's code; absent when the answer is not one of AWS's (a proxy, a load balancer).
        code: Option<String>,
        /// AWS's text, for people.
        message: String,
    },
    /// The request certainly did not leave.
    Unsent {
        /// What stopped it.
        reason: String,
    },
    /// The request may have arrived, and no answer that could be read came back.
    Lost {
        /// `Timeout`, `Connection` or `UnreadableAnswer`.
        code: &'static str,
        /// What happened.
        reason: String,
    },
    /// There are no credentials to sign with, so the request did not leave.
    NoCredentials {
        /// What it means.
        class: ErrorClass,
        /// AWS's code where a role was refused, or our own.
        code: String,
        /// What happened.
        reason: String,
    },
    /// The call cannot be turned into a request.
    Unsendable {
        /// `UnknownAccount`, `UnknownOperation`, `UnknownParameter` or `InvalidParameterType`.
        code: &'static str,
        /// What does not fit.
        reason: String,
    },
}

impl Failure {
    /// Says that a kind does not know an operation.
    pub(crate) fn unknown_operation(operation: &str) -> Self {
        Self::Unsendable {
            code: "UnknownOperation",
            reason: format!("the operation {operation} is not known here"),
        }
    }
}

impl From<Misfit> for Failure {
    fn from(misfit: Misfit) -> Self {
        let code = match misfit {
            Misfit::Unknown { .. } => "UnknownParameter",
            Misfit::Type { .. } => "InvalidParameterType",
        };
        Self::Unsendable { code, reason: misfit.to_string() }
    }
}

impl<E> From<SdkError<E, HttpResponse>> for Failure
where
    E: ProvideErrorMetadata + Error + 'static,
{
    fn from(error: SdkError<E, HttpResponse>) -> Self {
        let reason = chain(&error);
        match &error {
            SdkError::ConstructionFailure(_) => Self::Unsent { reason },
            SdkError::TimeoutError(_) => Self::Lost { code: "Timeout", reason },
            SdkError::DispatchFailure(_) if never_connected(&error) => {
                Self::Unsent { reason: format!("no connection to the endpoint: {}", root(&error)) }
            }
            SdkError::DispatchFailure(dispatch) if dispatch.is_timeout() => {
                Self::Lost { code: "Timeout", reason }
            }
            // The SDK says so of a success that holds no answer of AWS.
            SdkError::ServiceError(service) if service.raw().status().is_success() => {
                Self::Lost { code: "UnreadableAnswer", reason }
            }
            SdkError::ServiceError(service) => Self::Refused {
                status: service.raw().status().as_u16(),
                code: service.err().code().map(str::to_owned),
                message: service.err().message().map_or(reason, str::to_owned),
            },
            SdkError::ResponseError(_) => Self::Lost { code: "UnreadableAnswer", reason },
            _ => Self::Lost { code: "Connection", reason },
        }
    }
}

/// Tells whether the connection was never made, which is the one proof that nothing was sent.
fn never_connected(error: &(dyn Error + 'static)) -> bool {
    sources(error).filter_map(<dyn Error>::downcast_ref::<HttpError>).any(HttpError::is_connect)
}

/// Joins an error and what is behind it to one line, for people.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut parts: Vec<String> = sources(error).map(ToString::to_string).collect();
    parts.dedup();
    // Some errors of the SDK are several lines long.
    parts.join(": ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns what is behind everything.
fn root(error: &(dyn Error + 'static)) -> String {
    sources(error).last().map(ToString::to_string).unwrap_or_default()
}

/// Walks an error and everything behind it.
fn sources<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}
