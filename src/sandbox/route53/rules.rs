//! What Route 53 refuses of a record set, and of record sets together.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::model::dns;

/// The members of which one says the routing policy.
const POLICIES: [&str; 7] = [
    "Weight",
    "Region",
    "Failover",
    "GeoLocation",
    "GeoProximityLocation",
    "CidrRoutingConfig",
    "MultiValueAnswer",
];

fn text<'a>(record_set: &'a Map<String, Value>, member: &str) -> &'a str {
    record_set.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn policy(record_set: &Map<String, Value>) -> Option<&'static str> {
    POLICIES.into_iter().find(|member| record_set.contains_key(*member))
}

/// Holds one record set against what it may be in a zone.
pub(super) fn fit(record_set: &Map<String, Value>, zone: &str) -> Result<(), String> {
    let (name, record_type) = (dns::name(text(record_set, "Name")), text(record_set, "Type"));
    let is_alias = record_set.contains_key("AliasTarget");
    let records = record_set.get("ResourceRecords").and_then(Value::as_array);
    let records = records.map_or(0, Vec::len);
    if !dns::is_in(&name, &dns::name(zone)) {
        return Err(format!("RRSet with DNS name {name}. is not permitted in zone {zone}"));
    }
    if is_alias == (records > 0) {
        return Err(
            "Invalid request: expected exactly one of AliasTarget and ResourceRecords".to_owned()
        );
    }
    if is_alias == record_set.contains_key("TTL") {
        return Err("Invalid request: a TTL belongs to records and not to an alias".to_owned());
    }
    if policy(record_set).is_some() != record_set.contains_key("SetIdentifier") {
        return Err("Missing field 'SetIdentifier'".to_owned());
    }
    if record_type == "CNAME" && (records > 1 || name == dns::name(zone)) {
        return Err(format!("RRSet of type CNAME with DNS name {name}. is not permitted"));
    }
    values(record_set, record_type)
}

/// A text has to be in quotes, in strings of at most 255 bytes; no value may be there twice.
fn values(record_set: &Map<String, Value>, record_type: &str) -> Result<(), String> {
    let records = record_set.get("ResourceRecords").and_then(Value::as_array).into_iter().flatten();
    let mut seen: Vec<&str> = Vec::new();
    for value in records.filter_map(|record| record.get("Value")?.as_str()) {
        let read = dns::Value::read(record_type, value);
        if record_type != "SOA" && read.is_err() {
            return Err(format!("Invalid Resource Record: '{value}'"));
        }
        if record_type == "TXT" && !value.starts_with('"') {
            return Err(format!(
                "InvalidCharacterString: Value should be enclosed in quotation marks: {value}"
            ));
        }
        if record_type == "TXT" && value.split("\" \"").any(|string| string.len() > 4 * 255 + 2) {
            return Err("CharacterStringTooLong".to_owned());
        }
        if seen.contains(&value) {
            return Err(format!("Duplicate Resource Record: '{value}'"));
        }
        seen.push(value);
    }
    Ok(())
}

/// Holds record sets against each other.
pub(super) fn together<'a>(
    all: impl Iterator<Item = &'a Map<String, Value>>,
) -> Result<(), String> {
    let mut names: BTreeMap<&str, Vec<&Map<String, Value>>> = BTreeMap::new();
    for record_set in all {
        names.entry(text(record_set, "Name")).or_default().push(record_set);
    }
    for (name, record_sets) in names {
        for one in &record_sets {
            for other in &record_sets {
                let is_same_type = text(one, "Type") == text(other, "Type");
                if !is_same_type && text(one, "Type") == "CNAME" {
                    return Err(format!(
                        "RRSet of type CNAME with DNS name {name} is not permitted as it conflicts \
                         with other records with the same DNS name"
                    ));
                }
                if is_same_type && policy(one) != policy(other) {
                    return Err(format!(
                        "RRSet with DNS name {name} cannot be created as other RRSets exist with the \
                         same name and type"
                    ));
                }
            }
        }
    }
    Ok(())
}

/// Tells whether a deletion names a record set as it is; the order of its values does not matter.
pub(super) fn same(there: &Map<String, Value>, named: &Map<String, Value>) -> bool {
    let records = |record_set: &Map<String, Value>| {
        let list = record_set.get("ResourceRecords").and_then(Value::as_array).cloned();
        let mut values: Vec<String> =
            list.unwrap_or_default().iter().map(Value::to_string).collect();
        values.sort();
        values
    };
    let rest = |record_set: &Map<String, Value>| {
        let mut rest = record_set.clone();
        rest.remove("ResourceRecords");
        rest
    };
    records(there) == records(named) && rest(there) == rest(named)
}
