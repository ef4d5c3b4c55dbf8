//! What the `dns` section alone proves wrong, before AWS is asked.
//!
//! Sources: "Supported DNS record types", "Choosing a routing policy" and "Values that you specify"
//! in the Route 53 Developer Guide, and the API reference of `ResourceRecordSet`.

use std::collections::BTreeMap;

use super::alias::zone_of;
use super::check_values;
use super::marker::{self, PREFIX};
use super::names::{Misplaced, Named, Zone, whole};
use super::routing::{POLICIES, SIMPLE};
use super::spec::{Alias, Dns, Record, RecordType};
use crate::model::problem::pointer_part;
use crate::model::reference::has_marker;
use crate::model::{Finding, dns};

/// Is what one record says about itself.
struct Checked<'a> {
    place: String,
    record: &'a Record,
    zone: Zone,
    name: String,
}

/// Finds what the section alone proves wrong.
pub fn check(dns: &Dns) -> Vec<Finding> {
    let mut found = Vec::new();
    if dns.vpc.is_some() && !dns.private {
        found.push(vpc_of_public(""));
    }
    let mut checked = Vec::with_capacity(dns.records.len());
    for (key, record) in &dns.records {
        let place = format!("/records/{}", pointer_part(key));
        name_in_manifest(key, &place, &mut found);
        let place_of_name = match record.name {
            Some(_) => format!("{place}/name"),
            None => place.clone(),
        };
        let named = named(dns, key, record, &place, &place_of_name, &mut found);
        content(record, &place, &mut found);
        routing(record, &place, &mut found);
        if let Some((zone, name)) = named {
            at_the_top(record, &zone, &name, &place, &mut found);
            target(record, &zone, &place, &mut found);
            checked.push(Checked { place, record, zone, name });
        }
    }
    together(&checked, &mut found);
    found
}

fn vpc_of_public(place: &str) -> Finding {
    let message = "only a private zone belongs to a VPC";
    Finding::error(&format!("{place}/vpc"), "VpcOfPublicZone", message).hint("add private: true")
}

fn name_in_manifest(key: &str, place: &str, found: &mut Vec<Finding>) {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if key.is_empty() || key.len() > 63 || !key.chars().all(is_plain) {
        let message = format!("\"{key}\" is no name for a record of the manifest");
        let hint = "up to 63 lower-case letters, digits and hyphens; the DNS name goes in name:";
        found.push(Finding::error(place, "InvalidRecordName", message).hint(hint));
    }
}

/// Finds the zone and the whole name of a record.
fn named(
    dns: &Dns,
    key: &str,
    record: &Record,
    place: &str,
    place_of_name: &str,
    found: &mut Vec<Finding>,
) -> Option<(Zone, String)> {
    let Some((text, is_private, vpc)) = dns.zone_of(record) else {
        let message = "the record is in no zone";
        let hint = "add zone: with the name or the id of a hosted zone, here or beside records:";
        found.push(Finding::error(place, "ZoneRequired", message).hint(hint));
        return None;
    };
    if vpc.is_some() && !is_private {
        found.push(vpc_of_public(place));
    }
    let zone = Zone::declared(text, is_private, vpc);
    if let Some(fault) = zone.name().and_then(dns::fault) {
        let at = if record.zone.is_some() { format!("{place}/zone") } else { "/zone".to_owned() };
        let message = format!("\"{text}\" is neither a name nor an id of a zone: {fault}");
        found.push(Finding::error(&at, "InvalidZone", message));
        return None;
    }
    match whole(record.name_or(key), &zone) {
        Ok(name) => {
            let named = Named {
                zone: "",
                name: &name,
                record_type: record.record_type.as_str(),
                set: record.set_identifier.as_deref(),
            };
            let of_marker = || dns::fault(&marker::name(&named)).map(|_| "with the record that says whose it is, it has more than 253 characters");
            if let Some(fault) = dns::fault(&name).or_else(of_marker) {
                let message = format!("\"{name}\" is no DNS name: {fault}");
                found.push(Finding::error(place_of_name, "InvalidDnsName", message));
                return None;
            }
            if name.starts_with(PREFIX) {
                let message = format!("names that begin with {PREFIX} say whose records are");
                found.push(Finding::error(place_of_name, "ReservedName", message));
            }
            Some((zone, name))
        }
        Err(Misplaced::Outside) => {
            let message = format!("{} is not in the zone {zone}", record.name_or(key));
            found.push(Finding::error(place_of_name, "NameOutsideZone", message));
            None
        }
        Err(Misplaced::Nameless) => {
            let message = "@ stands for the name of the zone, of which only the id is known";
            found.push(Finding::error(place_of_name, "NameOfZoneUnknown", message));
            None
        }
    }
}

/// Checks values, alias and time to live.
fn content(record: &Record, place: &str, found: &mut Vec<Finding>) {
    let error = |field: &str, code, message: &str| {
        Finding::error(&format!("{place}/{field}"), code, message)
    };
    match (&record.values, &record.alias) {
        (None, None) => {
            let message = "the record has neither values nor an alias";
            found.push(Finding::error(place, "ValuesRequired", message).hint("add values:"));
        }
        (Some(_), Some(_)) => {
            let message = "a record has values or an alias, not both";
            found.push(error("alias", "ValuesAndAlias", message));
        }
        (Some(values), None) => {
            check_values::values(record.record_type, values, &format!("{place}/values"), found);
        }
        (None, Some(_)) => {}
    }
    if record.alias.is_some() && record.ttl.is_some_and(|ttl| ttl > 0) {
        let message = "an alias has the time to live of its target";
        found.push(error("ttl", "TtlNotAllowedOnAlias", message).hint("remove ttl"));
    }
}

/// Checks that the fields of one routing policy are there, or none.
fn routing(record: &Record, place: &str, found: &mut Vec<Finding>) {
    let policies = record.policies();
    let error = |field: &str, code, message: String| {
        Finding::error(&format!("{place}/{field}"), code, message)
    };
    match (policies.as_slice(), &record.set_identifier) {
        ([], None) => {
            if record.health_check_id.as_deref().is_some_and(|id| !id.is_empty()) {
                let message = "a health check has an effect beside a routing policy only".to_owned();
                let found_at = format!("{place}/healthCheckId");
                found.push(Finding::notice(&found_at, "HealthCheckWithoutPolicy", message));
            }
        }
        ([], Some(_)) => {
            let message = "a set identifier tells apart the records of a routing policy".to_owned();
            let hint = "add weight:, region:, failover:, geolocation:, … or multivalue: true";
            found.push(error("setIdentifier", "RoutingPolicyRequired", message).hint(hint));
        }
        ([policy], None) => {
            let message = format!("{policy} needs a set identifier");
            let hint = "add setIdentifier: with a name that no other record of this name and type has";
            found.push(error(policy, "SetIdentifierRequired", message).hint(hint));
        }
        ([_], Some(_)) => {}
        ([first, second, ..], _) => {
            let message = format!("{first} and {second} are two routing policies");
            found.push(error(second, "SeveralRoutingPolicies", message).hint("keep one of them"));
        }
    }
    if record.multivalue && record.alias.is_some() {
        let message = "an alias cannot be answered with several others".to_owned();
        found.push(error("multivalue", "MultivalueAlias", message));
    }
    if let Some(geo) = &record.geolocation
        && geo.continent.is_some() == geo.country.is_some()
    {
        let message = "a geolocation is a continent or a country".to_owned();
        found.push(error("geolocation", "InvalidGeolocation", message));
    }
}

/// The top of a zone bears no CNAME, and its name servers are the zone's.
fn at_the_top(record: &Record, zone: &Zone, name: &str, place: &str, found: &mut Vec<Finding>) {
    if zone.name() != Some(name) {
        return;
    }
    let place = format!("{place}/type");
    match record.record_type {
        RecordType::Cname => {
            let message = "the name of the zone itself cannot be a CNAME";
            let hint = "use an alias, with type: A";
            found.push(Finding::error(&place, "CnameAtZone", message).hint(hint));
        }
        RecordType::Ns => {
            let message = "the name servers of the zone itself are Route 53's";
            found.push(Finding::error(&place, "NameServersOfZone", message));
        }
        _ => {}
    }
}

/// The zone of an alias's target has to be known.
fn target(record: &Record, zone: &Zone, place: &str, found: &mut Vec<Finding>) {
    let Some(Alias { target, zone_id: None, .. }) = &record.alias else { return };
    let name = dns::name(target);
    let is_own = zone.name().is_none_or(|zone| dns::is_in(&name, zone));
    if has_marker(target) || is_own || zone_of(target).is_some() {
        return;
    }
    let message = format!("the hosted zone of {target} is not known");
    let hint = "add zoneId: with the id of the zone that its service documents";
    found.push(Finding::error(&format!("{place}/alias"), "AliasZoneRequired", message).hint(hint));
}

/// Finds records that cannot be there together.
fn together(all: &[Checked<'_>], found: &mut Vec<Finding>) {
    let mut names: BTreeMap<(&Zone, &str), Vec<&Checked<'_>>> = BTreeMap::new();
    for checked in all {
        let others = names.entry((&checked.zone, &checked.name)).or_default();
        if let Some(finding) = others.iter().find_map(|other| conflict(checked, other)) {
            found.push(finding);
        }
        others.push(checked);
    }
}

fn conflict(one: &Checked<'_>, other: &Checked<'_>) -> Option<Finding> {
    let (record, there) = (one.record, other.record);
    let at = other.place.trim_start_matches("/records/");
    let error = |code, message: String| Some(Finding::error(&one.place, code, message));
    let name = &one.name;
    if record.record_type != there.record_type {
        let is_cname = |record: &Record| record.record_type == RecordType::Cname;
        return match is_cname(record) || is_cname(there) {
            true => error("CnameNotAlone", format!("{name} is a CNAME and more, as {at} says")),
            false => None,
        };
    }
    let policy = |record: &Record| {
        let field = record.policies().first().copied();
        POLICIES.iter().find(|(it, ..)| Some(*it) == field).map_or(SIMPLE, |(.., name)| name)
    };
    let what = format!("{name} {}", record.record_type);
    if record.set_identifier == there.set_identifier {
        error("DuplicateRecord", format!("{what} is declared by {at} too"))
    } else if policy(record) != policy(there) {
        error("MixedRoutingPolicies", format!("{what} has another routing policy in {at}"))
    } else {
        None
    }
}
