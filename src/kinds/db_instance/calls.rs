//! The calls that make, change, take over and leave a DB instance, as data.
//!
//! In: what is declared, what was observed and the differences to mend. Out: calls that carry
//! exactly these differences and what AWS demands to travel with them.
//!
//! When `ApplyImmediately` is sent, [`modification`] says. Wanted now is what the policy
//! `disruption: immediate` says, and the growth of full storage.

use serde_json::{Map, Value, json};

use super::engine::Engine;
use super::rules::RULES;
use super::RESTORED_FROM;
use crate::kinds::modification;
use crate::model::desired::{ownership, tag_list};
use crate::model::version::same_major;
use crate::model::{Apply, Bound, Call, Compare, Delta, Observed, ResourceId, Timing};

/// The fields that `RestoreDBInstanceFromDBSnapshot` takes from the defaults too; of the storage it
/// takes what is declared, the rest comes with the snapshot. Everything else follows as an update.
const RESTORED: [&str; 17] = [
    "sizeClass",
    "port",
    "availabilityZone",
    "subnetGroup",
    "multiAz",
    "publiclyAccessible",
    "autoMinorVersionUpgrade",
    "licenseModel",
    "optionGroup",
    "securityGroups",
    "iamAuthentication",
    "logExports",
    "deletionProtection",
    "caCertificate",
    "manageMasterPassword",
    "backups.copyTagsToSnapshots",
    "backups.retentionDays",
];
const RESTORED_IF_DECLARED: [&str; 4] =
    ["storage.type", "storage.sizeGiB", "storage.iops", "storage.throughputMiBps"];

/// Returns the call that makes the instance, empty or from a snapshot.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let snapshot = desired.declared("restoreFrom.snapshot");
    let operation =
        if snapshot.is_some() { "RestoreDBInstanceFromDBSnapshot" } else { "CreateDBInstance" };
    let mut call =
        Call::new("rds", operation).with("DBInstanceIdentifier", desired.id.name.as_ref());
    for rule in RULES.iter().filter(|rule| is_created(rule.compare)) {
        let taken = match snapshot {
            None => desired.value(rule.field),
            Some(_) if RESTORED.contains(&rule.field) => desired.value(rule.field),
            Some(_) if RESTORED_IF_DECLARED.contains(&rule.field) => desired.declared(rule.field),
            Some(_) => None,
        };
        if let Some(value) = taken.filter(|value| has_effect(rule.field, value, desired)) {
            call = call.with(created_as(rule.field, rule.parameter), value.clone());
        }
    }
    if let Some(snapshot) = snapshot {
        call = call.with("DBSnapshotIdentifier", snapshot.clone());
    }
    vec![call.with("Tags", tags_at_creation(desired))]
}

fn is_created(compare: Compare) -> bool {
    !matches!(compare, Compare::Tags | Compare::WriteOnly | Compare::CreationTag(_))
}

/// Two parameters have other names in the calls that make an instance than in the one that
/// changes it.
fn created_as<'a>(field: &str, parameter: &'a str) -> &'a str {
    match field {
        "port" => "Port",
        "logExports" => "EnableCloudwatchLogsExports",
        _ => parameter,
    }
}

/// Leaves out what AWS would refuse because another field makes it meaningless.
fn has_effect(field: &str, value: &Value, desired: &Bound) -> bool {
    let is_on = |field: &str| desired.value(field).is_some_and(|value| *value == json!(true));
    match field {
        "performanceInsights.retentionDays" | "performanceInsights.kmsKey" => {
            is_on("performanceInsights.enabled")
        }
        "storage.kmsKey" => is_on("storage.encrypted"),
        // A bound at the size means that the storage does not grow by itself.
        "storage.maxSizeGiB" => {
            value.as_u64() > desired.value("storage.sizeGiB").and_then(Value::as_u64)
        }
        _ => !value.as_array().is_some_and(Vec::is_empty),
    }
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
    let is_now = |delta: &Delta| is_wanted_now(delta, actual);
    let parts = modification::calls((RULES, actual), fields, is_queued, is_now);
    calls.extend(parts.into_iter().filter_map(|(part, now)| modify(desired, actual, &part, now)));
    calls
}

/// Tells whether AWS queues the change unless it is told to apply it at once.
///
/// Turning backups on or off is queued, another number of days is not.
fn is_queued(delta: &Delta) -> bool {
    let is_zero = |value: &Value| value.as_u64().unwrap_or(0) == 0;
    match delta.field.as_str() {
        "backups.retentionDays" if delta.apply == Apply::AtOnce => {
            is_zero(&delta.from) != is_zero(&delta.to)
        }
        _ => delta.apply == Apply::Queued,
    }
}

fn is_wanted_now(delta: &Delta, actual: &Observed) -> bool {
    let is_full = actual.text("DBInstanceStatus") == Some("storage-full");
    delta.timing == Timing::Immediate || (is_full && delta.field.starts_with("storage."))
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
        let value = match delta.field.as_str() {
            "logExports" => modification::log_exports(actual, &delta.to),
            _ => delta.to.clone(),
        };
        params.insert(delta.parameter.clone(), value);
    }
    storage_travels(desired, actual, &mut params);
    version_travels(desired, actual, &mut params);
    insights_travel(desired, &mut params);
    monitoring_travels(desired, actual, &mut params);
    if immediately {
        params.insert("ApplyImmediately".to_owned(), true.into());
    }
    let mut call =
        Call::new("rds", "ModifyDBInstance").with("DBInstanceIdentifier", desired.id.name.as_ref());
    call.params.extend(params);
    Some(call)
}

/// Provisioned storage grows only together with its IOPS, and IOPS only together with the size.
///
/// What travels is what somebody queued, where there is something: the present value would take it
/// back.
fn storage_travels(desired: &Bound, actual: &Observed, params: &mut Map<String, Value>) {
    let number = |value: Option<&Value>| value.and_then(Value::as_u64);
    let kind = params.get("StorageType").or_else(|| actual.member("StorageType"));
    let kind = kind.and_then(Value::as_str).unwrap_or_default().to_ascii_lowercase();
    let coming = |member: &str| {
        let queued = number(actual.member(&format!("PendingModifiedValues.{member}")));
        (queued, number(actual.member(member)))
    };
    let (queued_size, present_size) = coming("AllocatedStorage");
    let size = number(params.get("AllocatedStorage")).or(queued_size).or(present_size);
    let changes = params.contains_key("AllocatedStorage") || params.contains_key("StorageType");
    if changes && !params.contains_key("Iops") {
        let (queued, present) = coming("Iops");
        let current = queued.or(number(desired.declared("storage.iops"))).or(present);
        let iops = match kind.as_str() {
            "io1" | "io2" => current,
            "gp3" => gp3_baseline(actual, size).map(|least| current.unwrap_or(0).max(least)),
            "standard" if params.contains_key("StorageType") => current.map(|_| 0),
            _ => None,
        };
        if let Some(iops) = iops {
            params.insert("Iops".to_owned(), iops.into());
        }
    }
    if params.contains_key("Iops") && !params.contains_key("AllocatedStorage") {
        params.extend(size.map(|size| ("AllocatedStorage".to_owned(), size.into())));
    }
}

fn gp3_baseline(actual: &Observed, size: Option<u64>) -> Option<u64> {
    Engine::of(actual.text("Engine")?)?.gp3_baseline(size?)
}

fn version_travels(desired: &Bound, actual: &Observed, params: &mut Map<String, Value>) {
    let allowed = desired.declared("allowMajorVersionUpgrade") == Some(&json!(true));
    let Some(version) = params.get("EngineVersion").and_then(Value::as_str) else { return };
    let engine = actual.text("Engine").unwrap_or_default();
    let current = actual.text("EngineVersion").unwrap_or_default();
    if allowed && !same_major(engine, version, current) {
        params.insert("AllowMajorVersionUpgrade".to_owned(), true.into());
    }
}

/// The key and the retention are chosen when Performance Insights is turned on.
fn insights_travel(desired: &Bound, params: &mut Map<String, Value>) {
    if params.get("EnablePerformanceInsights") != Some(&json!(true)) {
        return;
    }
    for (field, parameter) in [
        ("performanceInsights.kmsKey", "PerformanceInsightsKMSKeyId"),
        ("performanceInsights.retentionDays", "PerformanceInsightsRetentionPeriod"),
    ] {
        if let Some(value) = desired.declared(field) {
            params.entry(parameter).or_insert_with(|| value.clone());
        }
    }
}

/// An interval and a role are taken only together.
fn monitoring_travels(desired: &Bound, actual: &Observed, params: &mut Map<String, Value>) {
    let interval = params.get("MonitoringInterval").and_then(Value::as_u64);
    if interval.is_some_and(|seconds| seconds > 0) {
        let role = desired.declared("monitoring.roleArn");
        if let Some(role) = role.or_else(|| actual.member("MonitoringRoleArn")) {
            params.entry("MonitoringRoleArn").or_insert_with(|| role.clone());
        }
    }
    if params.contains_key("MonitoringRoleArn")
        && let Some(interval) = actual.member("MonitoringInterval")
    {
        params.entry("MonitoringInterval").or_insert_with(|| interval.clone());
    }
}

/// Returns the call that sets the ownership tag.
pub(super) fn own(id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
    vec![add_tags(id, actual, &ownership(owner))]
}

fn add_tags(id: &ResourceId, actual: &Observed, tags: &Map<String, Value>) -> Call {
    let arn = actual.text("DBInstanceArn").map(str::to_owned);
    let arn = arn.unwrap_or_else(|| id.arn("rds", "db"));
    Call::new("rds", "AddTagsToResource").with("ResourceName", arn).with("Tags", tag_list(tags))
}

/// Returns the tags that a difference sets.
fn tags_of(delta: &Delta) -> Map<String, Value> {
    delta.to.as_object().cloned().unwrap_or_default()
}
