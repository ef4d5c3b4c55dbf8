//! Hosted zones and their record sets, as Route 53 keeps them.
//!
//! Names are stored in lower case, with a dot at the end and escapes (`\052`); values as they were sent.
//! A batch of changes is made whole or not at all, and is held against what excludes what.
//!
//! Not modelled, on purpose: making zones by calls, health checks, DNS itself, and how long a change
//! takes to reach the name servers: as on AWS, it is listed at once.

mod rules;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::args::Args;
use super::refusal::{Answer, Refusal};
use super::services::{Operation, Site};
use crate::model::dns;

/// How many record sets a page has at most.
const PAGE: usize = 300;

/// Holds the zones by id.
#[derive(Debug, Default)]
pub(super) struct State {
    zones: BTreeMap<String, Zone>,
}

#[derive(Debug, Clone)]
struct Zone {
    name: String,
    vpcs: Vec<String>,
    record_sets: RecordSets,
}

/// The record sets of a zone in the order of the list: labels from the right, type, set identifier.
type RecordSets = BTreeMap<Place, Map<String, Value>>;

/// Where a record set stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    labels: Vec<String>,
    record_type: String,
    set: String,
}

impl Place {
    fn new(name: &str, record_type: &str, set: &str) -> Self {
        let labels = dns::name(name).rsplit('.').map(str::to_owned).collect();
        Self { labels, record_type: record_type.to_owned(), set: set.to_owned() }
    }

    fn of(record_set: &Map<String, Value>) -> Self {
        let text =
            |member: &str| record_set.get(member).and_then(Value::as_str).unwrap_or_default();
        Self::new(text("Name"), text("Type"), text("SetIdentifier"))
    }
}

impl State {
    /// Adds a zone with its name servers; it is private when it belongs to VPCs.
    pub(super) fn seed(&mut self, name: &str, vpcs: &[&str]) -> String {
        let id = format!("Z{:013}", self.zones.len() + 1);
        let name = stored(name);
        let mut zone = Zone {
            name: name.clone(),
            vpcs: vpcs.iter().map(|vpc| (*vpc).to_owned()).collect(),
            record_sets: RecordSets::new(),
        };
        let servers = json!({"Name": name, "Type": "NS", "TTL": 172_800,
            "ResourceRecords": [{"Value": "ns-1.awsdns-01.org."}]});
        let authority = json!({"Name": name, "Type": "SOA", "TTL": 900, "ResourceRecords":
            [{"Value": "ns-1.awsdns-01.org. hostmaster.example. 1 7200 900 1209600 86400"}]});
        for record_set in [servers, authority] {
            let Value::Object(record_set) = record_set else { continue };
            zone.record_sets.insert(Place::of(&record_set), record_set);
        }
        self.zones.insert(id.clone(), zone);
        id
    }

    /// Lists the record sets of a zone.
    pub(super) fn all(&self, zone: &str) -> Vec<Map<String, Value>> {
        self.zones
            .get(zone)
            .map_or_else(Vec::new, |zone| zone.record_sets.values().cloned().collect())
    }

    fn zone(&mut self, id: &str) -> Result<&mut Zone, Refusal> {
        let id = id.strip_prefix("/hostedzone/").unwrap_or(id);
        self.zones.get_mut(id).ok_or_else(|| {
            let text = format!("No hosted zone found with ID: {id}");
            Refusal::new("NoSuchHostedZone", text)
        })
    }
}

/// Returns a name as it is stored.
fn stored(name: &str) -> String {
    format!("{}.", dns::name(name).replace('*', "\\052"))
}

impl Zone {
    fn describe(&self, id: &str) -> Value {
        json!({
            "Id": format!("/hostedzone/{id}"),
            "Name": self.name,
            "CallerReference": id,
            "Config": {"PrivateZone": !self.vpcs.is_empty()},
            "ResourceRecordSetCount": self.record_sets.len(),
        })
    }
}

const fn operation(
    name: &'static str,
    accepts: &'static [&'static str],
    run: fn(&mut Site<'_>, Args<'_>) -> Answer,
) -> Operation {
    Operation { service: "route53", name, accepts, run }
}

/// The operations.
pub(super) const OPERATIONS: &[Operation] = &[
    operation("ListHostedZones", &["Marker", "MaxItems"], list_zones),
    operation("GetHostedZone", &["Id"], get_zone),
    operation(
        "ListResourceRecordSets",
        &[
            "HostedZoneId",
            "StartRecordName",
            "StartRecordType",
            "StartRecordIdentifier",
            "MaxItems",
        ],
        list_record_sets,
    ),
    operation("ChangeResourceRecordSets", &["HostedZoneId", "ChangeBatch"], change),
];

fn page_size(args: Args<'_>, most: usize) -> Result<usize, Refusal> {
    let asked = args.integer("MaxItems")?.and_then(|size| usize::try_from(size).ok());
    Ok(asked.unwrap_or(most).clamp(1, most))
}

fn list_zones(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let (size, start) = (page_size(args, 100)?, args.text("Marker")?.unwrap_or_default());
    let mut rest = site.state.route53.zones.range(start.to_owned()..);
    let page: Vec<Value> = rest.by_ref().take(size).map(|(id, zone)| zone.describe(id)).collect();
    let next = rest.next().map(|(id, _)| id);
    let mut answer = json!({"HostedZones": page, "IsTruncated": next.is_some()});
    if let Some(next) = next {
        answer["NextMarker"] = next.as_str().into();
    }
    Ok(answer)
}

fn get_zone(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let id = args.required("Id")?;
    let zone = site.state.route53.zone(id)?;
    let vpcs: Vec<Value> = zone.vpcs.iter().map(|vpc| json!({"VPCId": vpc})).collect();
    Ok(json!({"HostedZone": zone.describe(id), "VPCs": vpcs}))
}

/// The list begins at the first record set that is not before the one that is named.
fn list_record_sets(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let size = page_size(args, PAGE)?;
    let start = args.text("StartRecordName")?;
    let record_type = args.text("StartRecordType")?.unwrap_or_default();
    let set = args.text("StartRecordIdentifier")?.unwrap_or_default();
    let zone = site.state.route53.zone(args.required("HostedZoneId")?)?;
    let start = start.map(|name| Place::new(name, record_type, set));
    let mut rest = zone
        .record_sets
        .iter()
        .skip_while(|(place, _)| start.as_ref().is_some_and(|it| *place < it));
    let page: Vec<&Map<String, Value>> = rest.by_ref().take(size).map(|(_, it)| it).collect();
    let mut answer = json!({"ResourceRecordSets": page, "IsTruncated": false});
    if let Some((_, next)) = rest.next() {
        answer["IsTruncated"] = true.into();
        let members = [
            ("NextRecordName", "Name"),
            ("NextRecordType", "Type"),
            ("NextRecordIdentifier", "SetIdentifier"),
        ];
        for (member, of) in members {
            if let Some(value) = next.get(of) {
                answer[member] = value.clone();
            }
        }
    }
    Ok(answer)
}

fn change(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let batch = args.object("ChangeBatch")?.ok_or_else(|| Refusal::value("no ChangeBatch"))?;
    let now = site.now.to_string();
    let zone = site.state.route53.zone(args.required("HostedZoneId")?)?;
    let mut after = zone.record_sets.clone();
    for change in batch.objects("Changes")? {
        let record_set = change.get("ResourceRecordSet").and_then(Value::as_object).cloned();
        let record_set = record_set.ok_or_else(|| invalid("no ResourceRecordSet".to_owned()))?;
        rules::fit(&record_set, &zone.name).map_err(invalid)?;
        make(&mut after, change.required("Action")?, record_set).map_err(invalid)?;
    }
    rules::together(after.values()).map_err(invalid)?;
    zone.record_sets = after;
    Ok(json!({"ChangeInfo": {"Id": "/change/C1", "Status": "INSYNC", "SubmittedAt": now}}))
}

fn invalid(text: String) -> Refusal {
    Refusal::new("InvalidChangeBatch", format!("[{text}]"))
}

/// Makes one change.
fn make(
    record_sets: &mut RecordSets,
    action: &str,
    mut record_set: Map<String, Value>,
) -> Result<(), String> {
    let place = Place::of(&record_set);
    let name = record_set.get("Name").and_then(Value::as_str).map(stored).unwrap_or_default();
    let what = format!("resource record set [name='{name}', type='{}']", place.record_type);
    record_set.insert("Name".to_owned(), name.into());
    match (action, record_sets.get(&place)) {
        ("CREATE", Some(_)) => Err(format!("Tried to create {what} but it already exists")),
        ("DELETE", None) => Err(format!("Tried to delete {what} but it was not found")),
        ("DELETE", Some(there)) if !rules::same(there, &record_set) => Err(format!(
            "Tried to delete {what} but the values provided do not match the current values"
        )),
        ("DELETE", Some(_)) => {
            record_sets.remove(&place);
            Ok(())
        }
        ("CREATE" | "UPSERT", _) => {
            record_sets.insert(place, record_set);
            Ok(())
        }
        (other, _) => Err(format!("{other} is no action")),
    }
}
