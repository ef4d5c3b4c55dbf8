//! What Route 53's answers about record sets mean.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::names::{Named, bare};
use super::{marker, routing};
use crate::model::desired::ownership;
use crate::model::desired::tag_list;
use crate::model::{ErrorClass, Observed, Readiness, dns};

/// Says whether somebody else makes the record set.
///
/// What a traffic policy made cannot be changed by itself (API reference of `ResourceRecordSet`,
/// member `TrafficPolicyInstanceId`).
pub(super) fn readiness(actual: &Observed) -> Readiness {
    match actual.text("TrafficPolicyInstanceId") {
        Some(instance) => Readiness::Broken {
            code: "ManagedByTrafficPolicy".to_owned(),
            reason: format!("the traffic policy instance {instance} makes the record"),
        },
        None => Readiness::Ready,
    }
}

/// Is one record set of a zone.
struct Entry {
    name: String,
    members: Map<String, Value>,
}

impl Entry {
    fn read(item: Value) -> Option<Self> {
        let Value::Object(members) = item else { return None };
        let name = dns::name(members.get("Name")?.as_str()?);
        Some(Self { name, members })
    }

    fn text(&self, member: &str) -> Option<&str> {
        self.members.get(member).and_then(Value::as_str)
    }

    fn named<'a>(&'a self, zone: &'a str) -> Option<Named<'a>> {
        let record_type = self.text("Type")?;
        Some(Named { zone, name: &self.name, record_type, set: self.text("SetIdentifier") })
    }
}

/// Sorts the record sets of a zone to resources. To what AWS answers of each are added the zone, the
/// routing policy, the others of its name and type, and whose it is.
pub(super) fn sort(
    zone: &str,
    container: &Observed,
    items: Vec<Value>,
) -> Vec<(String, Map<String, Value>)> {
    let entries: Vec<Entry> = items.into_iter().filter_map(Entry::read).collect();
    let mut markers: BTreeMap<&str, &Entry> = BTreeMap::new();
    let mut alike: BTreeMap<(&str, Option<&str>), Vec<&Entry>> = BTreeMap::new();
    for entry in &entries {
        if entry.name.starts_with(marker::PREFIX) && entry.text("Type") == Some("TXT") {
            markers.insert(&entry.name, entry);
        }
        alike.entry((&entry.name, entry.text("Type"))).or_default().push(entry);
    }
    let owner = |entry: &Entry| {
        let marker = markers.get(&*marker::name(&entry.named(zone)?))?;
        Some((marker.members.clone(), marker::owner(&marker.members)))
    };
    let resource = |entry: &Entry| {
        let named = entry.named(zone)?;
        let mut members = entry.members.clone();
        let mut tags = Map::new();
        if let Some((marker, owner)) = owner(entry) {
            tags.extend(owner.iter().flat_map(|owner| ownership(owner)));
            members.insert("Marker".to_owned(), marker.into());
        }
        let others = alike.get(&(&*entry.name, entry.text("Type"))).into_iter().flatten();
        let siblings: Vec<Value> = others
            .filter(|other| other.text("SetIdentifier") != entry.text("SetIdentifier"))
            .map(|other| {
                json!({
                    "SetIdentifier": other.text("SetIdentifier"),
                    "Routing": routing::of(&other.members),
                    "Owner": owner(other).and_then(|(_, owner)| owner),
                })
            })
            .collect();
        members.extend(within(container));
        members.insert("Routing".to_owned(), routing::of(&entry.members).into());
        members.insert("Siblings".to_owned(), siblings.into());
        members.insert("Tags".to_owned(), tag_list(&tags));
        Some((named.to_string(), members))
    };
    entries.iter().filter_map(resource).collect()
}

/// Returns what a record set says of its zone.
fn within(zone: &Observed) -> [(String, Value); 2] {
    let text = |member: &str| zone.text(member).unwrap_or_default();
    [
        ("HostedZoneId".to_owned(), bare(text("Id")).into()),
        ("Zone".to_owned(), dns::name(text("Name")).into()),
    ]
}

/// Says what an error code of Route 53 means.
///
/// Source: the errors of `ChangeResourceRecordSets` and `ListResourceRecordSets` in the API reference.
/// An invalid batch changed nothing: a record set was made or changed meanwhile, which the next pass
/// sees, or the batch can never be right. `PriorRequestNotComplete` is the answer to a change while
/// another one of the same zone is under way, and is waited for as throttling is.
pub(super) fn classify(code: &str) -> ErrorClass {
    if let Some(class) = ErrorClass::of_common(code) {
        return class;
    }
    match code {
        "NoSuchHostedZone" => ErrorClass::NotFound,
        _ => ErrorClass::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_by_itself_is_waited_for() {
        for (code, class) in [
            ("PriorRequestNotComplete", ErrorClass::Throttled),
            ("Throttling", ErrorClass::Throttled),
            ("ThrottlingException", ErrorClass::Throttled),
            ("NoSuchHostedZone", ErrorClass::NotFound),
            ("InvalidChangeBatch", ErrorClass::Invalid),
            ("NoSuchHealthCheck", ErrorClass::Invalid),
            ("InvalidInput", ErrorClass::Invalid),
            ("AccessDenied", ErrorClass::Denied),
            ("ServiceUnavailable", ErrorClass::Transient),
            ("InternalError", ErrorClass::Ambiguous),
        ] {
            assert_eq!(classify(code), class, "{code}");
        }
    }
}
