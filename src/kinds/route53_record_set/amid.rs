//! What a record set meets in its zone: others that exclude it, and whether they are ours.
//!
//! Source: "Supported DNS record types" (a CNAME bears no other record of its name) and the API
//! reference of `ResourceRecordSet` (sets of one name and type have one routing policy).
//!
//! What is ours and excludes what Git declares now was declared before, and takes its leave in the
//! batch that makes the new one: one name cannot have both, so the deletion policy does not hold it.

use serde_json::Value;

use super::alias::zone_for;
use super::calls::as_answered;
use super::marker;
use super::names::{Named, Zone, bare};
use crate::model::desired::OWNER_TAG;
use crate::model::within::Surroundings;
use crate::model::{Bound, Observed, Refusal, dns};

fn refusal(field: &str, code: &str, message: String, help: &str) -> Refusal {
    Refusal { field: field.to_owned(), code: code.to_owned(), message, help: help.to_owned() }
}

fn text<'a>(declared: &'a Bound, field: &str) -> &'a str {
    declared.declared(field).and_then(Value::as_str).unwrap_or_default()
}

/// Adds to a new record set its zone and what it takes the place of, and says why it cannot be made.
pub(super) fn prepare(declared: &mut Bound, around: &Surroundings) -> Vec<Refusal> {
    let id = declared.id.clone();
    let Some(named) = Named::read(&id.name) else { return Vec::new() };
    let Some(container) = &around.container else { return vec![no_zone(named.zone)] };
    let zone_id = bare(container.text("Id").unwrap_or_default()).to_owned();
    let zone = dns::name(container.text("Name").unwrap_or_default());
    let mut refusals = values(declared);
    if !dns::is_in(named.name, &zone) {
        let message = format!("{} is not in the zone {zone}", named.name);
        let help = "correct the name or the zone";
        refusals.push(refusal("name", "NameOutsideZone", message, help));
    }
    refusals.extend(alias_zone(declared, (&zone, &zone_id)));
    let mut replaced = Vec::new();
    for (name, other) in &around.beside {
        let Some(there) = Named::read(name) else { continue };
        if there.name != named.name {
            refusals.extend(marked_by_another(declared, other));
        } else if excludes(declared, &named, &there, other) {
            match is_ours(declared, other) {
                true => replaced.push(other),
                false => refusals.push(excluded(&named, &there, other)),
            }
        }
    }
    let gone: Vec<Value> = replaced
        .into_iter()
        .flat_map(|it| [Some(as_answered(it).into()), it.member("Marker").cloned()])
        .flatten()
        .collect();
    if !gone.is_empty() {
        declared.fields.insert("replaces".into(), gone.into());
    }
    declared.fields.insert("zoneId".into(), zone_id.into());
    refusals
}

fn no_zone(zone: &str) -> Refusal {
    let (message, help) = match Zone::read(zone) {
        Zone::Public(name) => (
            format!("there is no public hosted zone {name}"),
            "make the zone, correct the name, or add private: true for a private one",
        ),
        Zone::Private(name) => (
            format!("there is no private hosted zone {name}"),
            "make the zone, correct the name, or remove private: true for a public one",
        ),
        Zone::Vpc(vpc, name) => (
            format!("there is no private hosted zone {name} that belongs to {vpc}"),
            "associate the VPC with the zone, or correct one of them",
        ),
        Zone::Id(id) => (format!("there is no hosted zone {id}"), "correct the id"),
    };
    refusal("zone", "ZoneNotFound", message, help)
}

/// Looks at values that came from elsewhere.
fn values(declared: &Bound) -> Vec<Refusal> {
    let record_type = text(declared, "type");
    let values = declared.declared("values").and_then(Value::as_array).into_iter().flatten();
    let malformed = |text| dns::Value::read(record_type, text).err();
    let wrong = values.filter_map(Value::as_str).filter_map(malformed);
    let help = "correct the value, or what it refers to";
    wrong.map(|it| refusal("values", "InvalidRecordValue", it.to_string(), help)).collect()
}

/// Adds the zone of an alias's target, or says that it is not known.
fn alias_zone(declared: &mut Bound, own: (&str, &str)) -> Option<Refusal> {
    let Value::Object(alias) = declared.fields.get_mut("alias")? else { return None };
    if alias.contains_key("HostedZoneId") {
        return None;
    }
    let target = alias.get("DNSName").and_then(Value::as_str).unwrap_or_default().to_owned();
    match zone_for(&target, own) {
        Some(zone) => {
            alias.insert("HostedZoneId".to_owned(), zone.into());
            None
        }
        None => Some(unknown_zone(&target)),
    }
}

fn unknown_zone(target: &str) -> Refusal {
    let message = format!("the hosted zone of {target} is not known");
    let help = "add zoneId: to the alias, with the id that its service documents";
    refusal("alias", "AliasZoneUnknown", message, help)
}

/// Tells whether two record sets of one name cannot be there together.
fn excludes(declared: &Bound, named: &Named<'_>, there: &Named<'_>, other: &Observed) -> bool {
    if there.record_type != named.record_type {
        return there.record_type == "CNAME" || named.record_type == "CNAME";
    }
    other.text("Routing") != Some(text(declared, "routing"))
}

fn tag(other: &Observed) -> Option<&str> {
    other.tags.as_ref().and_then(|tags| tags.get(OWNER_TAG)).map(String::as_str)
}

fn is_ours(declared: &Bound, other: &Observed) -> bool {
    tag(other).is_some_and(|tag| marker::is_of(tag, &declared.owner))
}

fn excluded(named: &Named<'_>, there: &Named<'_>, other: &Observed) -> Refusal {
    let whose = match tag(other) {
        Some(owner) => format!("belongs to {owner}"),
        None => "was made by somebody else".to_owned(),
    };
    let (name, record_type) = (there.name, there.record_type);
    if record_type == named.record_type {
        let set = there.set.unwrap_or("the one without a set identifier");
        let policy = other.text("Routing").unwrap_or_default();
        let message =
            format!("{name} {record_type} has the routing policy {policy} in {set}, which {whose}");
        return other_policy(message);
    }
    let code = if record_type == "CNAME" { "CnameExists" } else { "OtherTypeExists" };
    let message = format!("{name} {record_type} {whose}, and a CNAME stands alone");
    refusal("type", code, message, "remove the other record, or declare another name")
}

fn other_policy(message: String) -> Refusal {
    let help = "all records of a name and type have one routing policy: declare that one, or let \
        whoever made the others change them";
    refusal("routing", "OtherRoutingPolicyExists", message, help)
}

/// What somebody else's agent made and is gone is for that agent to make again.
fn marked_by_another(declared: &Bound, other: &Observed) -> Option<Refusal> {
    let Some(owner) = marker::owner(&other.members) else { return Some(marker_taken(declared)) };
    if marker::is_of(&owner, &declared.owner) || declared.adopt {
        return None;
    }
    let message = format!("{} belongs to {owner}, not to {}", declared.id, declared.owner);
    let help = "remove it from one of the two manifests, or set adopt: true on this record";
    Some(refusal("", "OwnedByAnother", message, help))
}

/// What somebody else wrote where it would stand whose the record set is, stays.
fn marker_taken(declared: &Bound) -> Refusal {
    let name = Named::read(&declared.id.name).map(|named| marker::name(&named)).unwrap_or_default();
    let message = format!("{name} is there and does not say whose the record is, as it would have to");
    let help = "remove that record, or declare another name";
    refusal("", "MarkerNameTaken", message, help)
}

/// Returns why a record set that exists cannot become what is declared.
pub(super) fn objections(declared: &Bound, actual: &Observed) -> Vec<Refusal> {
    let mut found = values(declared);
    let marker = actual.member("Marker").and_then(Value::as_object);
    let is_taken = marker.is_some_and(|marker| marker::owner(marker).is_none());
    found.extend(is_taken.then(|| marker_taken(declared)));
    let policy = text(declared, "routing");
    let siblings = actual.member("Siblings").and_then(Value::as_array).into_iter().flatten();
    found.extend(siblings.filter_map(|sibling| {
        let part = |name: &str| sibling.get(name).and_then(Value::as_str);
        let is_ours = part("Owner").is_some_and(|owner| marker::is_of(owner, &declared.owner));
        (part("Routing") != Some(policy) && !is_ours).then(|| {
            let (set, policy) = (part("SetIdentifier"), part("Routing").unwrap_or_default());
            let set = set.unwrap_or("a record without a set identifier");
            other_policy(format!("the routing policy is {policy} in {set}, which is not ours"))
        })
    }));
    if let Some(alias) = declared.declared("alias")
        && alias.get("HostedZoneId").is_none()
    {
        let target = alias.get("DNSName").and_then(Value::as_str).unwrap_or_default();
        let own = (actual.text("Zone").unwrap_or_default(), actual.text("HostedZoneId"));
        let is_there = actual.text("AliasTarget.DNSName").map(dns::name) == Some(dns::name(target));
        if !is_there && zone_for(target, (own.0, own.1.unwrap_or_default())).is_none() {
            found.push(unknown_zone(target));
        }
    }
    found
}
