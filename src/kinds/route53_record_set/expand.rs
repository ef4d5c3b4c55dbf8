//! From the `dns` section to the resources that it asks for: one per record set.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::alias::zone_of;
use super::names::{Named, Zone, whole};
use super::routing::{POLICIES, SIMPLE};
use super::spec::{Alias, Dns, Failover, Geolocation, Geoproximity, Record};
use crate::model::desired::Field;
use crate::model::reference::has_marker;
use crate::model::{Input, Kind, Resource, ResourceId, Scope};

/// Says where the workspace lives and whose the records are.
#[derive(Debug, Clone)]
pub struct Placement<'a> {
    /// The account and region of the environment.
    pub environment: &'a Scope,
    /// The value of the ownership tag.
    pub owner: &'a str,
    /// Whether existing record sets that are not ours are taken over.
    pub adopt: bool,
}

/// Makes the resources, in the order of their names in the manifest.
pub fn resources(dns: &Dns, placement: &Placement<'_>) -> Vec<Resource> {
    let records = dns.records.iter();
    records.filter_map(|(key, record)| resource(dns, key, record, placement)).collect()
}

/// Makes one resource; a record that is nowhere was told by the check.
fn resource(
    dns: &Dns,
    key: &str,
    record: &Record,
    placement: &Placement<'_>,
) -> Option<Resource> {
    let (zone, is_private, vpc) = dns.zone_of(record)?;
    let zone = Zone::declared(zone, is_private, vpc);
    let name = whole(record.name_or(key), &zone).ok()?;
    let named = Named {
        zone: &zone.to_string(),
        name: &name,
        record_type: record.record_type.as_str(),
        set: record.set_identifier.as_deref(),
    };
    Some(Resource {
        id: ResourceId {
            kind: super::NAME,
            scope: super::KIND.home(placement.environment),
            name: named.to_string().into(),
        },
        section: Cow::Owned(format!("dns.records.{key}")),
        fields: fields(record, &named),
        initial: BTreeMap::new(),
        owner: placement.owner.to_owned(),
        adopt: record.adopt || placement.adopt,
        notices: Vec::new(),
        refusals: Vec::new(),
    })
}

fn fields(record: &Record, named: &Named<'_>) -> BTreeMap<Field, Input> {
    let policy = record.policies().first().copied();
    let routing = POLICIES.iter().find(|(field, ..)| Some(*field) == policy);
    let declared: [(&'static str, Option<Value>); 15] = [
        ("name", Some(named.name.into())),
        ("type", Some(named.record_type.into())),
        ("routing", Some(routing.map_or(SIMPLE, |(.., name)| name).into())),
        ("setIdentifier", record.set_identifier.as_ref().map(|it| json!(it))),
        ("values", record.values.as_ref().map(|it| json!(it))),
        ("alias", record.alias.as_ref().map(alias)),
        ("ttl", record.ttl.map(|it| json!(it))),
        ("weight", record.weight.map(|it| json!(it))),
        ("region", record.region.as_ref().map(|it| json!(it))),
        ("failover", record.failover.map(failover)),
        ("multivalue", record.multivalue.then_some(Value::Bool(true))),
        ("geolocation", record.geolocation.as_ref().map(geolocation)),
        ("geoproximity", record.geoproximity.as_ref().map(geoproximity)),
        (
            "cidr",
            record.cidr.as_ref().map(
                |it| json!({"CollectionId": it.collection_id, "LocationName": it.location}),
            ),
        ),
        ("healthCheckId", record.health_check_id.as_ref().map(|it| json!(it))),
    ];
    let known = declared.into_iter().filter_map(|(field, value)| Some((field, value?)));
    known.map(|(field, value)| (field.into(), Input::Known(value))).collect()
}

/// Makes the alias under the API's names; the zone of a name of AWS is known.
fn alias(alias: &Alias) -> Value {
    let known = || (!has_marker(&alias.target)).then(|| zone_of(&alias.target)).flatten();
    let zone = alias.zone_id.as_deref().or_else(known);
    present([
        ("DNSName", Some(json!(alias.target))),
        ("HostedZoneId", zone.map(|zone| json!(zone))),
        ("EvaluateTargetHealth", alias.evaluate_target_health.map(|it| json!(it))),
    ])
}

fn failover(failover: Failover) -> Value {
    match failover {
        Failover::Primary => "PRIMARY".into(),
        Failover::Secondary => "SECONDARY".into(),
    }
}

fn geolocation(geo: &Geolocation) -> Value {
    let upper = |text: &Option<String>| text.as_ref().map(|text| json!(text.to_ascii_uppercase()));
    present([
        ("ContinentCode", upper(&geo.continent)),
        ("CountryCode", upper(&geo.country)),
        ("SubdivisionCode", upper(&geo.subdivision)),
    ])
}

fn geoproximity(geo: &Geoproximity) -> Value {
    let text = |text: &Option<String>| text.as_ref().map(|text| json!(text));
    let at = geo.latitude.as_ref().zip(geo.longitude.as_ref());
    let at = at.map(|(latitude, longitude)| json!({"Latitude": latitude, "Longitude": longitude}));
    present([
        ("AWSRegion", text(&geo.region)),
        ("LocalZoneGroup", text(&geo.local_zone_group)),
        ("Coordinates", at),
        ("Bias", geo.bias.map(|bias| json!(bias))),
    ])
}

/// Makes a structure of the members that are declared.
fn present<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let declared = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(declared.collect::<Map<String, Value>>())
}
