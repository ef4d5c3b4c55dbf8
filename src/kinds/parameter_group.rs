//! What DB parameter groups and DB cluster parameter groups have in common.
//!
//! In: what is declared, what was observed, the differences to mend, and the [`Naming`] of one of the
//! two kinds: AWS gives the same calls with the same meaning under two sets of names. Out: calls as
//! data, and the resource that a manifest asks for. It knows neither kind.
//!
//! Source: the API reference of `ModifyDBParameterGroup` (at most 20 parameters a call; `immediate`
//! for dynamic parameters only) and of `ResetDBParameterGroup` (which resets *all* parameters
//! unless told otherwise); those of the cluster's groups say the same.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::model::desired::{ownership, tag_list};
use crate::model::import::{Draft, Section};
use crate::model::kind::{Deletion, Lists};
use crate::model::{
    Bound, Call, Delta, ErrorClass, Input, KindName, Observed, Resource, ResourceId, Scope,
};

/// Says how AWS names the calls and members of one kind of group.
pub(super) struct Naming {
    /// The list of the describe answer.
    pub(super) list: &'static str,
    /// The parameter and member that hold the name.
    pub(super) name: &'static str,
    /// The member that holds the ARN.
    pub(super) arn: &'static str,
    /// The type of resource in the ARN.
    pub(super) arn_type: &'static str,
    /// The operation that makes a group.
    pub(super) create: &'static str,
    /// The operation that sets parameters.
    pub(super) modify: &'static str,
    /// The operation that puts parameters back to the engine's defaults.
    pub(super) reset: &'static str,
    /// The operation that deletes a group.
    pub(super) delete: &'static str,
    /// The operation that lists parameters.
    pub(super) parameters: &'static str,
    /// The operation that sets tags.
    pub(super) tag: &'static str,
}

/// The most parameters that one call takes.
const PER_CALL: usize = 20;

/// How many names one filter is given.
const NAMES_PER_FILTER: usize = 100;

const IMMEDIATE: &str = "immediate";
const PENDING_REBOOT: &str = "pending-reboot";

/// Returns the calls that make the group and set its parameters.
///
/// No database uses a new group, so that every parameter is set for the next start.
pub(super) fn create(naming: &Naming, desired: &Bound) -> Vec<Call> {
    let name = desired.id.name.as_ref();
    let family = desired.declared("family").cloned().unwrap_or_default();
    let make = Call::new("rds", naming.create)
        .with(naming.name, name)
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
    let set = parameters.chunks(PER_CALL).map(|chunk| change(naming, naming.modify, name, chunk));
    std::iter::once(make).chain(set).collect()
}

/// Returns the calls that mend exactly these differences.
pub(super) fn update(
    naming: &Naming,
    desired: &Bound,
    actual: &Observed,
    deltas: &[Delta],
) -> Vec<Call> {
    let name = desired.id.name.as_ref();
    let (mut set, mut reset, mut calls) = (Vec::new(), Vec::new(), Vec::new());
    for delta in deltas {
        if delta.field == "tags" {
            calls.push(add_tags(naming, &desired.id, actual, &tags_of(delta)));
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
    calls.extend(set.chunks(PER_CALL).map(|chunk| change(naming, naming.modify, name, chunk)));
    calls.extend(
        reset.chunks(PER_CALL).map(|chunk| {
            change(naming, naming.reset, name, chunk).with("ResetAllParameters", false)
        }),
    );
    calls
}

fn change(naming: &Naming, operation: &'static str, name: &str, parameters: &[Value]) -> Call {
    Call::new("rds", operation).with(naming.name, name).with("Parameters", parameters.to_vec())
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
pub(super) fn own(naming: &Naming, id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
    vec![add_tags(naming, id, actual, &ownership(owner))]
}

/// Returns the call that deletes the group, which AWS refuses while a database uses it.
pub(super) fn delete(naming: &Naming, id: &ResourceId) -> Deletion {
    let call = Call::new("rds", naming.delete).with(naming.name, id.name.as_ref());
    Deletion { calls: vec![call], notices: Vec::new() }
}

fn add_tags(
    naming: &Naming,
    id: &ResourceId,
    actual: &Observed,
    tags: &Map<String, Value>,
) -> Call {
    let arn = actual.text(naming.arn).map(str::to_owned);
    let arn = arn.unwrap_or_else(|| id.arn("rds", naming.arn_type));
    Call::new("rds", naming.tag).with("ResourceName", arn).with("Tags", tag_list(tags))
}

/// Returns the tags that a difference sets.
fn tags_of(delta: &Delta) -> Map<String, Value> {
    delta.to.as_object().cloned().unwrap_or_default()
}

/// Names each group as AWS keeps it, in lower case.
pub(super) fn assemble(naming: &Naming, mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
    let groups = lists.remove(naming.list).into_iter().flatten();
    groups
        .filter_map(|item| match item {
            Value::Object(members) => {
                let name = members.get(naming.name)?.as_str()?.to_ascii_lowercase();
                Some((name, members))
            }
            _ => None,
        })
        .collect()
}

/// Returns the reads of the declared parameters from every source, so that one that equals the
/// engine's default counts as set.
///
/// Source: the API reference of `DescribeDBParameters`, whose only filter is `parameter-name`.
pub(super) fn details(naming: &Naming, desired: &Bound) -> Vec<Call> {
    let declared = desired.declared("parameters").and_then(Value::as_object);
    let names: Vec<&String> = declared.into_iter().flatten().map(|(name, _)| name).collect();
    names
        .chunks(NAMES_PER_FILTER)
        .map(|names| {
            Call::new("rds", naming.parameters)
                .with(naming.name, desired.id.name.as_ref())
                .with("Filters", json!([{ "Name": "parameter-name", "Values": names }]))
                .with("MaxRecords", 100)
        })
        .collect()
}

/// Returns the name of the group of a database: `orders-postgres15`, `orders-mysql8-0`.
///
/// It holds the family, so that a major upgrade makes a new group beside the old one and the
/// database moves over in the same call that upgrades it.
pub(super) fn group_name(database: &str, family: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("{database}-{family}").chars().map(allowed).collect()
}

/// Makes the resource of a group of the kind, in its section of the manifest.
///
/// A parameter is a text, or an object with `value` and `applyMethod`, or one with `reset: true`.
pub(super) fn resource(
    (kind, section): (KindName, &'static str),
    (scope, name, owner): (&Scope, &str, &str),
    family: &str,
    parameters: BTreeMap<String, Value>,
    tags: Option<&BTreeMap<String, String>>,
) -> Resource {
    let parameters = Value::Object(parameters.into_iter().collect());
    let mut fields = BTreeMap::from([
        (Cow::Borrowed("family"), Input::Known(family.into())),
        (Cow::Borrowed("parameters"), Input::Known(parameters)),
    ]);
    if let Some(tags) = tags {
        fields.insert(Cow::Borrowed("tags"), Input::Known(json!(tags)));
    }
    Resource {
        id: ResourceId { kind, scope: scope.clone(), name: name.to_ascii_lowercase().into() },
        section: Cow::Borrowed(section),
        fields,
        initial: BTreeMap::new(),
        owner: owner.to_owned(),
        adopt: false,
        notices: Vec::new(),
        refusals: Vec::new(),
    }
}

/// Classifies a code. The cluster's operations answer the codes of DB parameter groups too, and name a
/// missing group either way (API reference of `DescribeDBClusterParameterGroups` and
/// `DescribeDBClusterParameters`).
pub(super) fn classify(code: &str) -> ErrorClass {
    if let Some(class) = ErrorClass::of_common(code) {
        return class;
    }
    match code.strip_suffix("Fault").unwrap_or(code) {
        "DBParameterGroupNotFound" | "DBClusterParameterGroupNotFound" => ErrorClass::NotFound,
        "DBParameterGroupAlreadyExists" => ErrorClass::AlreadyExists,
        "InvalidDBParameterGroupState" => ErrorClass::NotReady,
        _ => ErrorClass::Invalid,
    }
}

/// Says where the parameters of a group stand in a manifest.
pub(super) struct Place {
    pub(super) section: &'static str,
    pub(super) group: &'static str,
    pub(super) parameters: &'static str,
}

/// Says why nobody declares a group: AWS's own cannot be changed.
pub(super) fn passed_over(name: &str) -> Option<String> {
    name.starts_with("default.").then(|| "it is AWS's own, and nobody changes it".to_owned())
}

/// Returns the read of the parameters that somebody has set.
pub(super) fn reads(naming: &Naming, actual: &Observed) -> Vec<Call> {
    let Some(name) = actual.text(naming.name) else { return Vec::new() };
    let read = Call::new("rds", naming.parameters)
        .with(naming.name, name)
        .with("Source", "user")
        .with("MaxRecords", 100);
    vec![read]
}

/// Makes the part of the database that uses the group, and nobody else.
pub(super) fn draft(
    naming: &Naming,
    place: &Place,
    name: &str,
    actual: &Observed,
) -> Option<Draft> {
    let mut draft = Draft::new(Section::Part(place.section));
    let read = actual.member("Parameters").and_then(Value::as_array);
    let set = read.into_iter().flatten().filter_map(|parameter| {
        let source = parameter.get("Source").and_then(Value::as_str);
        let is_set = source.is_none_or(|source| source == "user");
        let value = parameter.get("ParameterValue").filter(|_| is_set)?.as_str()?;
        Some((parameter.get("ParameterName")?.as_str()?.to_owned(), written(value)))
    });
    let set: Map<String, Value> = set.collect();
    draft.sheet.put(place.group, actual.text(naming.name).unwrap_or(name));
    draft.sheet.put(place.parameters, Value::Object(set));
    Some(draft)
}

/// Writes a value as a person would: a number without quotes where that says the same.
fn written(value: &str) -> Value {
    let number = value.parse::<i64>().ok().filter(|number| number.to_string() == value);
    number.map_or_else(|| value.into(), Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_holds_only_what_rds_allows_in_it() {
        assert_eq!(group_name("orders", "postgres15"), "orders-postgres15");
        assert_eq!(group_name("Orders", "mysql8.0"), "orders-mysql8-0");
        assert_eq!(group_name("orders", "sqlserver-se-15.0"), "orders-sqlserver-se-15-0");
    }
}
