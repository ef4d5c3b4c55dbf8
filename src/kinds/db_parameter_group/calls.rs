//! The calls that make, change, take over, leave and delete a DB parameter group, as data.
//!
//! Source: the API reference of `ModifyDBParameterGroup` (at most 20 parameters a call; `immediate`
//! for dynamic parameters only) and of `ResetDBParameterGroup` (which resets *all* parameters
//! unless told otherwise).

use serde_json::{Map, Value};

use crate::model::desired::{ownership, tag_list};
use crate::model::kind::Deletion;
use crate::model::{Bound, Call, Delta, Observed, ResourceId};

/// The most parameters that one call takes.
const PER_CALL: usize = 20;

const IMMEDIATE: &str = "immediate";
const PENDING_REBOOT: &str = "pending-reboot";

/// Returns the calls that make the group and set its parameters.
///
/// No database uses a new group, so that every parameter is set for the next start.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let name = desired.id.name.as_ref();
    let family = desired.declared("family").cloned().unwrap_or_default();
    let make = Call::new("rds", "CreateDBParameterGroup")
        .with("DBParameterGroupName", name)
        .with("DBParameterGroupFamily", family)
        .with("Description", format!("Parameters of {}", desired.owner))
        .with("Tags", tag_list(&desired.tags_at_creation()));
    let settings = desired.declared("parameters").and_then(Value::as_object);
    let parameters: Vec<Value> = settings
        .into_iter()
        .flatten()
        .filter_map(|(parameter, setting)| {
            let value = value_of(setting)?;
            Some(entry(parameter, Some(value), method(desired, parameter, None)))
        })
        .collect();
    let set = parameters.chunks(PER_CALL).map(|chunk| change("ModifyDBParameterGroup", name, chunk));
    std::iter::once(make).chain(set).collect()
}

/// Returns the calls that mend exactly these differences.
pub(super) fn update(desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
    let name = desired.id.name.as_ref();
    let (mut set, mut reset, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for delta in deltas {
        if delta.field == "tags" {
            calls.push(add_tags(&desired.id, actual, &tags_of(delta)));
            continue;
        }
        let parameter = delta.parameter.as_str();
        let method = method(desired, parameter, described(actual, parameter));
        if delta.to.is_null() {
            reset.push(entry(parameter, None, method));
        } else {
            set.push(entry(parameter, Some(&delta.to), method));
        }
    }
    calls.extend(set.chunks(PER_CALL).map(|chunk| change("ModifyDBParameterGroup", name, chunk)));
    calls.extend(reset.chunks(PER_CALL).map(|chunk| {
        change("ResetDBParameterGroup", name, chunk).with("ResetAllParameters", false)
    }));
    calls
}

fn change(operation: &'static str, name: &str, parameters: &[Value]) -> Call {
    Call::new("rds", operation)
        .with("DBParameterGroupName", name)
        .with("Parameters", parameters.to_vec())
}

fn entry(name: &str, value: Option<&Value>, method: &str) -> Value {
    let mut entry = Map::new();
    entry.insert("ParameterName".to_owned(), name.into());
    if let Some(value) = value {
        entry.insert("ParameterValue".to_owned(), value.clone());
    }
    entry.insert("ApplyMethod".to_owned(), method.into());
    Value::Object(entry)
}

/// Returns the value of a setting, or `None` where the engine's default is wanted.
fn value_of(setting: &Value) -> Option<&Value> {
    match setting {
        Value::Object(detailed) => detailed.get("value"),
        plain => Some(plain),
    }
}

/// Chooses when AWS applies a change: a static parameter only with a reboot, whatever is declared;
/// a dynamic one of SQL Server only at once.
fn method(desired: &Bound, name: &str, described: Option<&Value>) -> &'static str {
    let family = desired.declared("family").and_then(Value::as_str).unwrap_or_default();
    let is_sql_server = family.to_ascii_lowercase().starts_with("sqlserver");
    let setting = desired.declared("parameters").and_then(|settings| settings.get(name));
    let declared = setting.and_then(|setting| setting.get("applyMethod")).and_then(Value::as_str);
    let apply_type = described.and_then(|parameter| parameter.get("ApplyType")?.as_str());
    match (apply_type, declared) {
        (Some("static"), _) => PENDING_REBOOT,
        (_, _) if is_sql_server => IMMEDIATE,
        (Some("dynamic"), Some(PENDING_REBOOT)) => PENDING_REBOOT,
        (Some("dynamic"), _) | (None, Some(IMMEDIATE)) if described.is_some() => IMMEDIATE,
        _ => PENDING_REBOOT,
    }
}

fn described<'a>(actual: &'a Observed, name: &str) -> Option<&'a Value> {
    actual.member("Parameters")?.as_array()?.iter().find(|parameter| {
        parameter
            .get("ParameterName")
            .and_then(Value::as_str)
            .is_some_and(|there| there.eq_ignore_ascii_case(name))
    })
}

/// Returns the call that sets the ownership tag.
pub(super) fn own(id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
    vec![add_tags(id, actual, &ownership(owner))]
}

/// Returns the call that deletes the group, which AWS refuses while an instance uses it.
pub(super) fn delete(id: &ResourceId) -> Deletion {
    let call = Call::new("rds", "DeleteDBParameterGroup").with("DBParameterGroupName", id.name.as_ref());
    Deletion { calls: vec![call], notices: Vec::new() }
}

fn add_tags(id: &ResourceId, actual: &Observed, tags: &Map<String, Value>) -> Call {
    let arn = actual.text("DBParameterGroupArn").map(str::to_owned);
    let arn = arn.unwrap_or_else(|| id.arn("rds", "pg"));
    Call::new("rds", "AddTagsToResource").with("ResourceName", arn).with("Tags", tag_list(tags))
}

/// Returns the tags that a difference sets.
fn tags_of(delta: &Delta) -> Map<String, Value> {
    delta.to.as_object().cloned().unwrap_or_default()
}
