//! The calls that make, change, take over and leave a DB cluster, as data.
//!
//! In: what is declared, what was observed and the differences to mend. Out: calls that carry
//! exactly these differences and what AWS demands to travel with them. When `ApplyImmediately` is
//! sent, [`modification`] says.

use serde_json::{Map, Value, json};

use super::RESTORED_FROM;
use super::rules::RULES;
use crate::kinds::modification;
use crate::model::desired::{ownership, tag_list};
use crate::model::version::same_major;
use crate::model::{Apply, Bound, Call, Compare, Delta, Observed, ResourceId, Timing};

/// The parameter that holds the whole range of Aurora Serverless v2, and what it holds.
const SERVERLESS: &str = "ServerlessV2ScalingConfiguration";
const RANGE: [(&str, &str); 3] = [
    ("cluster.serverless.minCapacity", "MinCapacity"),
    ("cluster.serverless.maxCapacity", "MaxCapacity"),
    ("cluster.serverless.autoPauseSeconds", "SecondsUntilAutoPause"),
];

/// The fields that `RestoreDBClusterFromSnapshot` takes. Everything else comes with the snapshot or
/// follows as an update.
///
/// The version is one of them: without it AWS takes its own default, and not the snapshot's.
const RESTORED: [&str; 16] = [
    "engine",
    "version",
    "port",
    "subnetGroup",
    "securityGroups",
    "iamAuthentication",
    "logExports",
    "deletionProtection",
    "backups.copyTagsToSnapshots",
    "backups.retentionDays",
    "cluster.backtrackSeconds",
    "cluster.parameterGroup",
    "cluster.serverless.minCapacity",
    "cluster.serverless.maxCapacity",
    "cluster.serverless.autoPauseSeconds",
    "storage.type",
];
const RESTORED_IF_DECLARED: [&str; 2] = ["storage.kmsKey", "backups.window"];

/// Returns the call that makes the cluster, empty or from a snapshot.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let snapshot = desired.declared("restoreFrom.snapshot");
    let operation =
        if snapshot.is_some() { "RestoreDBClusterFromSnapshot" } else { "CreateDBCluster" };
    let mut call =
        Call::new("rds", operation).with("DBClusterIdentifier", desired.id.name.as_ref());
    for rule in RULES.iter().filter(|rule| is_created(rule.compare)) {
        let taken = match snapshot {
            None => desired.value(rule.field),
            Some(_) if RESTORED.contains(&rule.field) => desired.value(rule.field),
            Some(_) if RESTORED_IF_DECLARED.contains(&rule.field) => desired.declared(rule.field),
            Some(_) => None,
        };
        if let Some(value) = taken.filter(|value| has_effect(rule.field, value, desired)) {
            let value = if rule.parameter == SERVERLESS { range(desired) } else { value.clone() };
            call = call.with(created_as(rule.field, rule.parameter), value);
        }
    }
    if let Some(snapshot) = snapshot {
        call = call.with("SnapshotIdentifier", snapshot.clone());
    }
    vec![call.with("Tags", tags_at_creation(desired))]
}

fn is_created(compare: Compare) -> bool {
    !matches!(compare, Compare::Tags | Compare::WriteOnly | Compare::CreationTag(_))
}

fn created_as<'a>(field: &str, parameter: &'a str) -> &'a str {
    if field == "logExports" { "EnableCloudwatchLogsExports" } else { parameter }
}

/// Leaves out what AWS would refuse because another field makes it meaningless.
fn has_effect(field: &str, value: &Value, desired: &Bound) -> bool {
    match field {
        "storage.kmsKey" => desired.value("storage.encrypted") != Some(&json!(false)),
        _ => !value.as_array().is_some_and(Vec::is_empty),
    }
}

/// Returns the declared range of Serverless v2, which AWS takes whole.
fn range(desired: &Bound) -> Value {
    let declared = |(field, member): (&str, &str)| {
        desired.declared(field).map(|value| (member.to_owned(), value.clone()))
    };
    Value::Object(RANGE.into_iter().filter_map(declared).collect())
}

fn tags_at_creation(desired: &Bound) -> Value {
    let mut tags = desired.tags_at_creation();
    if let Some(snapshot) = desired.declared("restoreFrom.snapshot") {
        tags.insert(RESTORED_FROM.to_owned(), snapshot.clone());
    }
    tag_list(&tags)
}

/// Returns the calls that mend exactly these differences.
pub(super) fn update(desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
    let (tags, fields): (Vec<&Delta>, Vec<&Delta>) =
        deltas.iter().partition(|delta| delta.field == "tags");
    let mut calls: Vec<Call> =
        tags.into_iter().map(|delta| add_tags(&desired.id, actual, &tags_of(delta))).collect();
    let is_queued = |delta: &Delta| delta.apply == Apply::Queued;
    let is_now = |delta: &Delta| delta.timing == Timing::Immediate;
    let parts = modification::calls((RULES, actual), fields, is_queued, is_now);
    calls.extend(parts.into_iter().filter_map(|(part, now)| modify(desired, actual, &part, now)));
    calls
}

fn modify(
    desired: &Bound,
    actual: &Observed,
    deltas: &[&Delta],
    immediately: bool,
) -> Option<Call> {
    if deltas.is_empty() {
        return None;
    }
    let mut params = Map::new();
    for delta in deltas {
        let value = match delta.parameter.as_str() {
            "CloudwatchLogsExportConfiguration" => modification::log_exports(actual, &delta.to),
            SERVERLESS => range(desired),
            _ => delta.to.clone(),
        };
        params.insert(delta.parameter.clone(), value);
    }
    major_version_travels(desired, actual, &mut params);
    if immediately {
        params.insert("ApplyImmediately".to_owned(), true.into());
    }
    let mut call =
        Call::new("rds", "ModifyDBCluster").with("DBClusterIdentifier", desired.id.name.as_ref());
    call.params.extend(params);
    Some(call)
}

/// A major upgrade needs consent, and takes the members to a parameter group of its family.
///
/// Source: the API reference of `ModifyDBCluster`, `DBInstanceParameterGroupName`.
fn major_version_travels(desired: &Bound, actual: &Observed, params: &mut Map<String, Value>) {
    let allowed = desired.declared("allowMajorVersionUpgrade") == Some(&json!(true));
    let Some(version) = params.get("EngineVersion").and_then(Value::as_str) else { return };
    let engine = actual.text("Engine").unwrap_or_default();
    let current = actual.text("EngineVersion").unwrap_or_default();
    if !allowed || same_major(engine, version, current) {
        return;
    }
    params.insert("AllowMajorVersionUpgrade".to_owned(), true.into());
    if let Some(group) = desired.declared("parameterGroup") {
        params.insert("DBInstanceParameterGroupName".to_owned(), group.clone());
    }
}

/// Returns the call that sets the ownership tag.
pub(super) fn own(id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
    vec![add_tags(id, actual, &ownership(owner))]
}

fn add_tags(id: &ResourceId, actual: &Observed, tags: &Map<String, Value>) -> Call {
    let arn = actual.text("DBClusterArn").map(str::to_owned);
    let arn = arn.unwrap_or_else(|| id.arn("rds", "cluster"));
    Call::new("rds", "AddTagsToResource").with("ResourceName", arn).with("Tags", tag_list(tags))
}

/// Returns the tags that a difference sets.
fn tags_of(delta: &Delta) -> Map<String, Value> {
    delta.to.as_object().cloned().unwrap_or_default()
}
