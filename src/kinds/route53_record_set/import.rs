//! How a record set that exists is declared: the inverse of `expand`.

use serde_json::{Map, Value, json};

use super::alias::zone_for;
use super::marker;
use super::names::{Named, Zone, bare};
use super::rules::RULES;
use crate::model::import::{Around, Draft, Import, Section, Several, Writer};
use crate::model::{Observed, dns};

impl Import for super::RecordSet {
    fn passed_over(&self, name: &str, actual: &Observed) -> Option<String> {
        let named = Named::read(name)?;
        let zone = actual.text("Zone").unwrap_or_default();
        if named.name == zone && matches!(named.record_type, "NS" | "SOA") {
            return Some("it is the zone's own, which Route 53 makes".to_owned());
        }
        if let Some(instance) = actual.text("TrafficPolicyInstanceId") {
            return Some(format!("the traffic policy instance {instance} makes it"));
        }
        let is_marker = named.name.starts_with(marker::PREFIX) && named.record_type == "TXT";
        is_marker.then(|| "it says whose another record is".to_owned())
    }

    fn draft(&self, name: &str, actual: &Observed, _around: &dyn Around) -> Option<Draft> {
        let named = Named::read(name)?;
        let zone = Zone::read(named.zone);
        let relative = relative(named.name, &zone);
        let common = common(&zone, named.zone);
        let section = Section::Several(Several {
            path: "dns.records",
            keys: keys(&relative, &named),
            joint: None,
            end: None,
            common,
        });
        let mut writer = Writer::new(RULES, actual, section);
        writer.draft.name = Some(("name", relative));
        writer.draft.sheet.put("type", named.record_type);
        if !matches!(named.record_type, "SOA") {
            values(&mut writer, &named, actual);
        }
        alias(&mut writer, actual);
        writer.declare(&["ttl", "setIdentifier", "weight", "region"]);
        if let Some(failover) = actual.text("Failover") {
            writer.draft.sheet.put("failover", failover.to_ascii_lowercase());
        }
        geography(&mut writer, actual);
        if actual.member("MultiValueAnswer") == Some(&Value::Bool(true)) {
            writer.draft.sheet.put("multivalue", true);
        }
        writer.declare(&["healthCheckId"]);
        writer.draft.refers.extend(["values", "alias.target"]);
        Some(writer.draft)
    }
}

/// Returns the name as it is written in a zone of a known name.
fn relative(name: &str, zone: &Zone) -> String {
    let Some(zone) = zone.name() else { return name.to_owned() };
    if name == zone {
        return "@".to_owned();
    }
    let rest = name.strip_suffix(zone).and_then(|rest| rest.strip_suffix('.'));
    rest.unwrap_or(name).to_owned()
}

/// Returns what says which zone it is.
fn common(zone: &Zone, text: &str) -> Vec<(&'static str, Value)> {
    match zone {
        Zone::Id(_) => vec![("zone", json!(text))],
        Zone::Public(name) => vec![("zone", json!(name))],
        Zone::Private(name) => vec![("zone", json!(name)), ("private", json!(true))],
        Zone::Vpc(vpc, name) => {
            vec![("zone", json!(name)), ("private", json!(true)), ("vpc", json!(vpc))]
        }
    }
}

/// Returns names for the manifest: that of the record, with its type and set where others have it too.
fn keys(relative: &str, named: &Named<'_>) -> Vec<String> {
    let plain = match relative {
        "@" => "apex".to_owned(),
        name => name.replace('*', "any"),
    };
    let of_type = format!("{plain}-{}", named.record_type);
    match named.set {
        None => vec![plain, of_type],
        Some(set) => vec![format!("{plain}-{set}"), format!("{of_type}-{set}")],
    }
}

fn values(writer: &mut Writer<'_>, named: &Named<'_>, actual: &Observed) {
    let records = actual.member("ResourceRecords").and_then(Value::as_array).into_iter().flatten();
    let values: Vec<String> = records
        .filter_map(|record| record.get("Value")?.as_str())
        .map(|value| match named.record_type {
            "TXT" | "SPF" => dns::text(value),
            _ => value.to_owned(),
        })
        .collect();
    if !values.is_empty() {
        writer.draft.uses.extend(values.iter().map(|value| dns::name(value)));
        writer.draft.sheet.put("values", values);
    }
}

fn alias(writer: &mut Writer<'_>, actual: &Observed) {
    let Some(target) = actual.text("AliasTarget.DNSName") else { return };
    let name = dns::name(target);
    let id = actual.text("AliasTarget.HostedZoneId").map(bare);
    let own = actual.text("Zone").unwrap_or_default();
    let own_id = actual.text("HostedZoneId").map(bare).unwrap_or_default();
    let derived = zone_for(&name, (own, own_id));
    writer.draft.uses.push(name.clone());
    writer.draft.sheet.put("alias.target", name);
    if let Some(id) = id.filter(|id| derived.as_deref() != Some(*id)) {
        writer.draft.sheet.put("alias.zoneId", id);
    }
    if actual.member("AliasTarget.EvaluateTargetHealth") == Some(&Value::Bool(true)) {
        writer.draft.sheet.put("alias.evaluateTargetHealth", true);
    }
}

fn geography(writer: &mut Writer<'_>, actual: &Observed) {
    let members = |from: &str, names: &[(&str, &str)]| {
        let of = |(member, field): &(&str, &str)| {
            Some(((*field).to_owned(), actual.member(&format!("{from}.{member}"))?.clone()))
        };
        names.iter().filter_map(of).collect::<Map<String, Value>>()
    };
    let structures = [
        (
            "geolocation",
            members(
                "GeoLocation",
                &[
                    ("ContinentCode", "continent"),
                    ("CountryCode", "country"),
                    ("SubdivisionCode", "subdivision"),
                ],
            ),
        ),
        (
            "geoproximity",
            members(
                "GeoProximityLocation",
                &[
                    ("AWSRegion", "region"),
                    ("LocalZoneGroup", "localZoneGroup"),
                    ("Coordinates.Latitude", "latitude"),
                    ("Coordinates.Longitude", "longitude"),
                    ("Bias", "bias"),
                ],
            ),
        ),
        (
            "cidr",
            members(
                "CidrRoutingConfig",
                &[("CollectionId", "collectionId"), ("LocationName", "location")],
            ),
        ),
    ];
    for (field, structure) in structures.into_iter().filter(|(_, it)| !it.is_empty()) {
        writer.draft.sheet.put(field, Value::Object(structure));
    }
}
