//! The Cloud Control API with a few types, and CloudFormation's registry of them.
//!
//! A request is answered at once and carried out a while later; until then the resource is as it was
//! before. What a service would object to fails with the request and not with the call.
//!
//! Not modelled, on purpose: listing, cancelling, hooks, and what the resources do.

mod patch;
mod types;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use self::types::Type;
use super::args::Args;
use super::refusal::{Answer, Refusal};
use super::services::{Operation, Site};

/// How long a request is under way.
const UNDER_WAY: SignedDuration = SignedDuration::from_secs(20);

/// Holds resources by type and identifier, and every request.
#[derive(Debug, Default)]
pub(super) struct State {
    resources: BTreeMap<(String, String), Map<String, Value>>,
    requests: Vec<Request>,
}

/// Is one request.
#[derive(Debug, Clone)]
struct Request {
    token: String,
    client_token: Option<String>,
    operation: &'static str,
    type_name: String,
    identifier: String,
    /// What was asked for.
    asked: String,
    ends: Timestamp,
    is_done: bool,
    /// What the resource has afterwards; nothing when it is deleted.
    result: Result<Option<Map<String, Value>>, (&'static str, String)>,
}

impl State {
    /// Carries out what is due.
    pub(super) fn advance(&mut self, now: Timestamp) {
        for request in self.requests.iter_mut().filter(|it| !it.is_done && it.ends <= now) {
            request.is_done = true;
            let key = (request.type_name.clone(), request.identifier.clone());
            match &request.result {
                Ok(Some(properties)) => drop(self.resources.insert(key, properties.clone())),
                Ok(None) => drop(self.resources.remove(&key)),
                Err(_) => {}
            }
        }
    }

    fn found(&self, type_name: &str, identifier: &str) -> Result<&Map<String, Value>, Refusal> {
        let key = (type_name.to_owned(), identifier.to_owned());
        self.resources.get(&key).ok_or_else(|| {
            let text = format!(
                "Resource of type '{type_name}' with identifier '{identifier}' was not found."
            );
            Refusal::new("ResourceNotFoundException", text)
        })
    }

    fn is_busy(&self, type_name: &str, identifier: &str) -> bool {
        self.requests.iter().any(|request| {
            !request.is_done && request.type_name == type_name && request.identifier == identifier
        })
    }

    /// Returns what is there, past requests.
    pub(super) fn all(&self) -> impl Iterator<Item = (&str, &Map<String, Value>)> {
        self.resources.iter().map(|((_, identifier), properties)| (identifier.as_str(), properties))
    }
}

impl Request {
    fn event(&self) -> Value {
        let mut event = json!({
            "TypeName": self.type_name,
            "RequestToken": self.token,
            "Operation": self.operation,
            "OperationStatus": "IN_PROGRESS",
        });
        let mut set = |name: &str, value: Value| {
            if let Some(members) = event.as_object_mut() {
                members.insert(name.to_owned(), value);
            }
        };
        match (&self.result, self.is_done) {
            (Err((code, message)), true) => {
                set("OperationStatus", "FAILED".into());
                set("ErrorCode", (*code).into());
                set("StatusMessage", message.as_str().into());
            }
            (Ok(_), true) => {
                set("OperationStatus", "SUCCESS".into());
                set("Identifier", self.identifier.as_str().into());
            }
            _ => {}
        }
        json!({ "ProgressEvent": event })
    }
}

/// The operations.
pub(super) const OPERATIONS: &[Operation] = &[
    operation("CreateResource", &["TypeName", "DesiredState", "ClientToken"], create),
    operation("GetResource", &["TypeName", "Identifier"], get),
    operation("UpdateResource", &["TypeName", "Identifier", "PatchDocument"], update),
    operation("DeleteResource", &["TypeName", "Identifier"], delete),
    operation("GetResourceRequestStatus", &["RequestToken"], status),
    Operation {
        service: "cloudformation",
        name: "DescribeType",
        accepts: &["Type", "TypeName"],
        run: describe_type,
    },
];

const fn operation(
    name: &'static str,
    accepts: &'static [&'static str],
    run: fn(&mut Site<'_>, Args<'_>) -> Answer,
) -> Operation {
    Operation { service: "cloudcontrolapi", name, accepts, run }
}

fn type_of(name: &str) -> Result<&'static Type, Refusal> {
    types::find(name).ok_or_else(|| {
        Refusal::new("TypeNotFoundException", format!("The type '{name}' cannot be found."))
    })
}

fn document(args: Args<'_>, name: &str) -> Result<Value, Refusal> {
    serde_json::from_str(args.required(name)?)
        .map_err(|error| Refusal::new("InvalidRequestException", format!("{name}: {error}")))
}

fn create(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let known = type_of(args.required("TypeName")?)?;
    let asked = args.required("DesiredState")?;
    let Value::Object(desired) = document(args, "DesiredState")? else {
        return Err(Refusal::new("InvalidRequestException", "DesiredState is no object"));
    };
    let state = &mut site.state.cloud_control;
    let client_token = args.text("ClientToken")?;
    let before = client_token.and_then(|token| {
        state.requests.iter().find(|request| request.client_token.as_deref() == Some(token))
    });
    match before {
        Some(before) if before.asked == asked => return Ok(before.event()),
        Some(_) => {
            let text = "The client token has already been used in another resource request.";
            return Err(Refusal::new("ClientTokenConflictException", text));
        }
        None => {}
    }
    let number = state.requests.len() + 1;
    let (identifier, properties) = known.made(&desired, site.scope, number);
    if state.is_busy(known.name, &identifier) {
        return Err(busy());
    }
    let is_taken = state.found(known.name, &identifier).is_ok();
    let result = match known.objection(&desired) {
        Some(text) => Err(("InvalidRequest", text)),
        None if is_taken => Err(("AlreadyExists", format!("{identifier} already exists"))),
        None => Ok(Some(properties)),
    };
    let request = Request {
        token: format!("request-{number}"),
        client_token: client_token.map(str::to_owned),
        operation: "CREATE",
        type_name: known.name.to_owned(),
        identifier,
        asked: asked.to_owned(),
        ends: site.now + UNDER_WAY,
        is_done: false,
        result,
    };
    Ok(sent(state, request))
}

fn busy() -> Refusal {
    let text = "Another resource operation is currently being performed on this resource.";
    Refusal::new("ConcurrentOperationException", text)
}

fn sent(state: &mut State, request: Request) -> Value {
    let event = request.event();
    state.requests.push(request);
    event
}

fn get(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let known = type_of(args.required("TypeName")?)?;
    let identifier = args.required("Identifier")?;
    let mut properties = site.state.cloud_control.found(known.name, identifier)?.clone();
    properties.retain(|name, _| !known.hides(name));
    let text = Value::Object(properties).to_string();
    Ok(json!({
        "TypeName": known.name,
        "ResourceDescription": {"Identifier": identifier, "Properties": text},
    }))
}

fn update(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let known = type_of(args.required("TypeName")?)?;
    let patch = document(args, "PatchDocument")?;
    let before = site.state.cloud_control.found(known.name, args.required("Identifier")?)?.clone();
    let mut after = Value::Object(before.clone());
    let result = match patch::apply(&mut after, &patch) {
        Err(text) => Err(("InvalidRequest", text)),
        Ok(()) => {
            let after = after.as_object().cloned().unwrap_or_default();
            known.fixed(&before, &after).map_or(Ok(Some(after)), |text| Err(("NotUpdatable", text)))
        }
    };
    write(site, args, "UPDATE", result)
}

fn delete(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let known = type_of(args.required("TypeName")?)?;
    site.state.cloud_control.found(known.name, args.required("Identifier")?)?;
    write(site, args, "DELETE", Ok(None))
}

fn write(
    site: &mut Site<'_>,
    args: Args<'_>,
    operation: &'static str,
    result: Result<Option<Map<String, Value>>, (&'static str, String)>,
) -> Answer {
    let (type_name, identifier) = (args.required("TypeName")?, args.required("Identifier")?);
    let state = &mut site.state.cloud_control;
    if state.is_busy(type_name, identifier) {
        return Err(busy());
    }
    let request = Request {
        token: format!("request-{}", state.requests.len() + 1),
        client_token: None,
        operation,
        type_name: type_name.to_owned(),
        identifier: identifier.to_owned(),
        asked: String::new(),
        ends: site.now + UNDER_WAY,
        is_done: false,
        result,
    };
    Ok(sent(state, request))
}

fn status(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let token = args.required("RequestToken")?;
    let found = site.state.cloud_control.requests.iter().find(|request| request.token == token);
    found.map(Request::event).ok_or_else(|| {
        let text = format!("Request token '{token}' was not found.");
        Refusal::new("RequestTokenNotFoundException", text)
    })
}

fn describe_type(_site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let known = type_of(args.required("TypeName")?)?;
    Ok(json!({"Type": "RESOURCE", "TypeName": known.name, "Schema": known.schema().to_string()}))
}
