//! The JSON protocols of AWS as tables: a call's parameters are the request's document.
//!
//! A kind states its operations as [`Operation`]s, and whoever can sign and send implements
//! [`Json`]. Times are numbers on the wire and are written as the AWS CLI shows them.

use aws_smithy_types::DateTime;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::query::Body;
use super::{Answer, Failure, Misfit};
use crate::model::Call;

/// Describes how a service is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Protocol {
    /// The endpoint prefix, which is also the name that requests are signed for.
    pub(crate) service: &'static str,
    /// What stands before the operation in the header `X-Amz-Target`.
    pub(crate) target: &'static str,
    /// The content type, which names the version of the protocol.
    pub(crate) content_type: &'static str,
}

/// The protocol of the Cloud Control API.
pub(crate) const CLOUD_CONTROL: Protocol = Protocol {
    service: "cloudcontrolapi",
    target: "CloudApiService",
    content_type: "application/x-amz-json-1.0",
};

/// The protocol of Secrets Manager.
pub(crate) const SECRETS_MANAGER: Protocol = Protocol {
    service: "secretsmanager",
    target: "secretsmanager",
    content_type: "application/x-amz-json-1.1",
};

/// The protocol of CloudTrail.
pub(crate) const CLOUD_TRAIL: Protocol = Protocol {
    service: "cloudtrail",
    target: "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101",
    content_type: "application/x-amz-json-1.1",
};

/// The one operation of CloudTrail, which no kind calls.
pub(crate) const LOOKUP: &[Operation] = &[Operation {
    name: "LookupEvents",
    parameters: &["LookupAttributes", "EndTime", "MaxResults"],
}];

/// Signs and sends the document of one request, and returns that of a success.
pub(crate) trait Json: Send + Sync {
    /// Sends the document once; it may hold a secret.
    fn post<'a>(&'a self, operation: &'a str, body: SecretString) -> Body<'a>;
}

/// Describes one operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operation {
    /// The operation's name.
    pub(crate) name: &'static str,
    /// Its parameters.
    pub(crate) parameters: &'static [&'static str],
}

/// The members of any answer that are times.
const TIMES: [&str; 9] = [
    "CreatedDate",
    "DeletedDate",
    "DeletionDate",
    "EventTime",
    "LastAccessedDate",
    "LastChangedDate",
    "LastRotatedDate",
    "NextRotationDate",
    "RetryAfter",
];

/// Sends one call to one of these operations.
pub(crate) async fn ask(
    json: &dyn Json,
    operations: &[Operation],
    call: &Call,
) -> Result<Value, Failure> {
    let operation = known(operations, call)?;
    let body = Value::Object(call.params.clone()).to_string();
    answered(json, operation.name, body.into()).await
}

/// Sends one call with a parameter that is no part of it, because it is secret.
pub(crate) async fn ask_with(
    json: &dyn Json,
    operations: &[Operation],
    call: &Call,
    (parameter, secret): (&str, &SecretString),
) -> Result<Value, Failure> {
    let operation = known(operations, call)?;
    let mut body = call.params.clone();
    body.insert(parameter.to_owned(), secret.expose_secret().into());
    answered(json, operation.name, Value::Object(body).to_string().into()).await
}

/// Finds the operation of a call, all of whose parameters it has to know.
fn known<'a>(operations: &'a [Operation], call: &Call) -> Result<&'a Operation, Failure> {
    let operation = operations
        .iter()
        .find(|operation| operation.name == call.operation)
        .ok_or_else(|| Failure::unknown_operation(&call.operation))?;
    let unknown = call.params.keys().find(|name| !operation.parameters.contains(&name.as_str()));
    match unknown {
        Some(name) => Err(Misfit::unknown(operation.name, name).into()),
        None => Ok(operation),
    }
}

async fn answered(
    json: &dyn Json,
    operation: &'static str,
    body: SecretString,
) -> Result<Value, Failure> {
    let body = json.post(operation, body).await?;
    let unreadable = |reason: String| Failure::Lost { code: "UnreadableAnswer", reason };
    let mut answer: Value =
        serde_json::from_str(&body).map_err(|error| unreadable(error.to_string()))?;
    if !answer.is_object() {
        return Err(unreadable(format!("{operation} was answered with no object")));
    }
    show_times(&mut answer);
    Ok(answer)
}

fn show_times(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(show_times),
        Value::Object(members) => {
            for (name, member) in members {
                match member.as_f64().filter(|_| TIMES.contains(&name.as_str())) {
                    Some(seconds) => *member = DateTime::from_secs_f64(seconds).json(),
                    None => show_times(member),
                }
            }
        }
        _ => {}
    }
}
