//! The calls that make, change, take over, leave and delete a record set, as data.
//!
//! Source: the API reference of `ChangeResourceRecordSets`. There is one call: a batch of changes to
//! one zone, all of which are made, or none. A `CREATE` fails where the record set exists, and a
//! `DELETE` where it is not exactly as it was read, so neither can hit what somebody else made
//! meanwhile. What says whose a record set is is changed in the same batch.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::alias::zone_for;
use super::marker;
use super::names::Named;
use super::routing::POLICIES;
use super::rules::RULES;
use crate::model::kind::Deletion;
use crate::model::{Bound, Call, Delta, Observed, ResourceId, dns};

/// The time to live of a new record that declares none, in seconds.
const TTL: u32 = 300;

/// The most changes of a batch, of which an `UPSERT` counts twice.
const LARGEST_BATCH: usize = 1000;

/// The most characters of all values in a batch, of which those of an `UPSERT` count twice.
const LONGEST_BATCH: usize = 32_000;

/// The members that a record set has in a call.
const MEMBERS: [&str; 15] = [
    "Name",
    "Type",
    "SetIdentifier",
    "Weight",
    "Region",
    "GeoLocation",
    "Failover",
    "MultiValueAnswer",
    "TTL",
    "ResourceRecords",
    "AliasTarget",
    "HealthCheckId",
    "TrafficPolicyInstanceId",
    "CidrRoutingConfig",
    "GeoProximityLocation",
];

fn change(action: &str, record_set: impl Into<Value>) -> Value {
    json!({"Action": action, "ResourceRecordSet": record_set.into()})
}

fn batch(zone: &str, changes: Vec<Value>) -> Call {
    Call::new("route53", "ChangeResourceRecordSets")
        .with("HostedZoneId", zone)
        .with("ChangeBatch", json!({ "Changes": changes }))
}

/// Returns a record set exactly as AWS answered it.
pub(super) fn as_answered(actual: &Observed) -> Map<String, Value> {
    let member = |name: &&str| Some(((*name).to_owned(), actual.members.get(*name)?.clone()));
    MEMBERS.iter().filter_map(member).collect()
}

fn zone_of(actual: &Observed) -> &str {
    actual.text("HostedZoneId").unwrap_or_default()
}

/// Returns the call that makes the record set in the place of those of ours that exclude it.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let zone = desired.declared("zoneId").and_then(Value::as_str).unwrap_or_default();
    let Some(named) = Named::read(&desired.id.name) else { return Vec::new() };
    let mut record_set = Map::new();
    for rule in RULES {
        if let Some(value) = desired.declared(rule.field) {
            set(rule.field, rule.parameter, value, desired, &mut record_set);
        }
    }
    record_set.insert("Name".to_owned(), format!("{}.", named.name).into());
    complete(&mut record_set, desired);
    let replaced = desired.declared("replaces").and_then(Value::as_array).into_iter().flatten();
    let mut changes: Vec<Value> = replaced.map(|it| change("DELETE", it.clone())).collect();
    changes.push(change("CREATE", record_set));
    changes.push(change("UPSERT", marker::record_set(&named, &desired.owner)));
    vec![batch(zone, changes)]
}

/// Returns the call that mends exactly these differences; what they do not name stays as AWS has it.
///
/// A record set of another routing policy is another one to AWS, though its name stays.
pub(super) fn update(desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
    if deltas.is_empty() {
        return Vec::new();
    }
    let before = as_answered(actual);
    let mut after = before.clone();
    let has_other_policy = deltas.iter().any(|delta| delta.field == "routing");
    if has_other_policy {
        POLICIES.iter().for_each(|(_, member, _)| drop(after.remove(*member)));
        for (field, member, _) in POLICIES {
            if let Some(value) = desired.declared(field) {
                set(field, member, value, desired, &mut after);
            }
        }
    }
    for delta in deltas {
        set(&delta.field, &delta.parameter, &delta.to, desired, &mut after);
    }
    complete(&mut after, desired);
    complete_zone(&mut after, actual);
    let changes = match has_other_policy {
        true => vec![change("DELETE", before), change("CREATE", after)],
        false => vec![change("UPSERT", after)],
    };
    vec![batch(zone_of(actual), changes)]
}

/// Sets one field of a record set.
fn set(field: &str, member: &str, value: &Value, desired: &Bound, into: &mut Map<String, Value>) {
    match field {
        "routing" => {}
        "values" => {
            into.remove("AliasTarget");
            into.insert(member.to_owned(), records(value, desired));
        }
        "alias" => {
            into.remove("ResourceRecords");
            let before = into.remove(member);
            into.insert(member.to_owned(), alias(value, before.as_ref()));
        }
        "healthCheckId" if value.as_str() == Some("") => drop(into.remove(member)),
        _ => drop(into.insert(member.to_owned(), value.clone())),
    }
}

/// Returns a declared alias, with what it does not declare as AWS has it: the zone of the same target,
/// and whether its health is heeded.
fn alias(declared: &Value, before: Option<&Value>) -> Value {
    let target = |alias: &Value| alias.get("DNSName").and_then(Value::as_str).map(dns::name);
    let is_same = before.is_some_and(|before| target(before) == target(declared));
    let mut alias = declared.clone();
    for (member, stays) in [("HostedZoneId", is_same), ("EvaluateTargetHealth", true)] {
        let there = before.and_then(|before| before.get(member)).filter(|_| stays);
        if let (Some(there), Value::Object(members)) = (there, &mut alias) {
            members.entry(member).or_insert_with(|| there.clone());
        }
    }
    alias
}

/// Writes values as Route 53 takes them; what says the same is sent once.
fn records(values: &Value, desired: &Bound) -> Value {
    let record_type = desired.declared("type").and_then(Value::as_str).unwrap_or_default();
    let texts = values.as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut seen = BTreeSet::new();
    let values = texts.map(|text| dns::Value::answered(record_type, text));
    let values = values.filter(|value| seen.insert(value.canonical().to_owned()));
    values.map(|value| json!({"Value": value.wire()})).collect()
}

/// Adds what AWS needs and nobody declared: a time to live for values, and whether an alias heeds the
/// health of its target.
fn complete(record_set: &mut Map<String, Value>, desired: &Bound) {
    if record_set.contains_key("AliasTarget") {
        // A time to live of an alias is that of its target, whatever is declared.
        record_set.remove("TTL");
    } else if !record_set.contains_key("TTL") {
        let ttl = desired.declared("ttl").cloned().unwrap_or_else(|| TTL.into());
        record_set.insert("TTL".to_owned(), ttl);
    }
    if let Some(Value::Object(alias)) = record_set.get_mut("AliasTarget") {
        alias.entry("EvaluateTargetHealth").or_insert(false.into());
    }
}

/// Adds the zone of an alias whose target was not known when Git was read.
fn complete_zone(record_set: &mut Map<String, Value>, actual: &Observed) {
    let Some(Value::Object(alias)) = record_set.get_mut("AliasTarget") else { return };
    let target = alias.get("DNSName").and_then(Value::as_str).unwrap_or_default();
    let own = (actual.text("Zone").unwrap_or_default(), zone_of(actual));
    if !alias.contains_key("HostedZoneId")
        && let Some(zone) = zone_for(target, own)
    {
        alias.insert("HostedZoneId".to_owned(), zone.into());
    }
}

/// Returns the call that says that the record set is this owner's.
pub(super) fn own(id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
    let Some(named) = Named::read(&id.name) else { return Vec::new() };
    vec![batch(zone_of(actual), vec![change("UPSERT", marker::record_set(&named, owner))])]
}

/// Returns the call that deletes the record set as it was read, with what says whose it is.
pub(super) fn delete(actual: &Observed) -> Deletion {
    let marker = actual.member("Marker").cloned();
    let mut changes = vec![change("DELETE", as_answered(actual))];
    changes.extend(marker.map(|marker| change("DELETE", marker)));
    Deletion { calls: vec![batch(zone_of(actual), changes)], notices: Vec::new() }
}

/// Returns one batch of all changes to one zone, deletions first; `None` where AWS takes less.
pub(super) fn join(calls: &[&Call]) -> Option<Call> {
    let zone = calls.first()?.text("HostedZoneId")?;
    let mut changes: Vec<Value> = Vec::new();
    for call in calls {
        if call.text("HostedZoneId") != Some(zone) {
            return None;
        }
        for change in call.params.get("ChangeBatch")?.get("Changes")?.as_array()? {
            // Two new records may take the place of one.
            if !changes.contains(change) {
                changes.push(change.clone());
            }
        }
    }
    changes.sort_by_key(|change| action(change) != "DELETE");
    is_taken(&changes).then(|| batch(zone, changes))
}

fn action(change: &Value) -> &str {
    change.get("Action").and_then(Value::as_str).unwrap_or_default()
}

/// Tells whether AWS takes so much in one batch.
fn is_taken(changes: &[Value]) -> bool {
    let weight = |change: &Value| if action(change) == "UPSERT" { 2 } else { 1 };
    let values = |change: &Value| {
        let records = change.get("ResourceRecordSet")?.get("ResourceRecords")?.as_array()?;
        let texts = records.iter().filter_map(|record| record.get("Value")?.as_str());
        Some((texts.clone().count(), texts.map(str::len).sum::<usize>()))
    };
    let (mut count, mut length) = (0, 0);
    for change in changes {
        let (records, characters) = values(change).unwrap_or((1, 0));
        count += records.max(1) * weight(change);
        length += characters * weight(change);
    }
    count <= LARGEST_BATCH && length <= LONGEST_BATCH
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upsert(name: &str, value: &str) -> Value {
        change("UPSERT", json!({"Name": name, "ResourceRecords": [{"Value": value}]}))
    }

    #[test]
    fn the_changes_of_one_zone_are_one_batch_with_its_deletions_first() {
        let gone = change("DELETE", json!({"Name": "c."}));
        let one = batch("Z1", vec![upsert("a.", "1")]);
        let two = batch("Z1", vec![gone.clone(), upsert("b.", "2")]);
        let three = batch("Z1", vec![gone.clone(), upsert("d.", "3")]);
        let both = join(&[&one, &two]).unwrap();
        let all = join(&[&both, &three]).unwrap();
        let changes = [gone, upsert("a.", "1"), upsert("b.", "2"), upsert("d.", "3")];
        assert_eq!(all, batch("Z1", changes.into()));
        assert_eq!(join(&[&one, &batch("Z2", vec![upsert("a.", "1")])]), None);
    }

    #[test]
    fn a_batch_is_no_larger_than_aws_takes() {
        let many = |count: usize| {
            batch("Z1", (0..count).map(|at| upsert(&format!("n{at}."), "1")).collect())
        };
        let one = batch("Z1", vec![upsert("a.", "1")]);
        assert!(join(&[&many(499), &one]).is_some());
        assert_eq!(join(&[&many(500), &one]), None);
        let long = |length| batch("Z1", vec![upsert("l.", &"x".repeat(length))]);
        assert!(join(&[&long(15_999), &one]).is_some());
        assert_eq!(join(&[&long(16_000), &one]), None);
    }
}
