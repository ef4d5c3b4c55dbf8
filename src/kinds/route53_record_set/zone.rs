//! How a hosted zone is found, and the record sets in it are read.
//!
//! Source: the API reference of `ListHostedZones`, `GetHostedZone` and `ListResourceRecordSets`.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::names::{Named, Zone, bare};
use super::{RecordSet, amid, facts, marker};
use crate::model::kind::Lists;
use crate::model::within::{Choice, Page, Surroundings, Within};
use crate::model::{Bound, Call, Observed, Refusal, dns};

/// How many record sets AWS answers in a page at most.
const PAGE: u32 = 300;

/// The members of an answer that say where the next page begins, and their parameters.
const NEXT: [(&str, &str); 3] = [
    ("NextRecordName", "StartRecordName"),
    ("NextRecordType", "StartRecordType"),
    ("NextRecordIdentifier", "StartRecordIdentifier"),
];

/// Sorts hosted zones by their ids.
pub(super) fn assemble(mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
    let zones = lists.remove("HostedZones").unwrap_or_default().into_iter();
    let named = zones.filter_map(|zone| {
        let Value::Object(members) = zone else { return None };
        Some((bare(members.get("Id")?.as_str()?).to_owned(), members))
    });
    named.collect()
}

fn list(zone: &Observed) -> Call {
    let id = bare(zone.text("Id").unwrap_or_default());
    Call::new("route53", "ListResourceRecordSets").with("HostedZoneId", id)
}

impl Within for RecordSet {
    /// Each of ours takes two places: its own, and that of what says whose it is.
    fn content(&self) -> (&'static str, usize) {
        ("ListResourceRecordSets", PAGE as usize / 2)
    }

    fn container<'a>(&self, name: &'a str) -> &'a str {
        name.split_once('/').map_or(name, |(zone, _)| zone)
    }

    fn called(&self, container: &Observed, all: &[Arc<Observed>]) -> Option<String> {
        let name = dns::name(container.text("Name")?);
        let zone = if is_private(container) { Zone::Private(name) } else { Zone::Public(name) };
        let is_alone = all.iter().filter(|other| is_like(other, &zone)).count() == 1;
        let id = || bare(container.text("Id").unwrap_or_default()).to_owned();
        Some(format!("{}/", if is_alone { zone.to_string() } else { id() }))
    }

    fn candidates(&self, container: &str, all: &[Arc<Observed>]) -> Vec<Arc<Observed>> {
        let wanted = Zone::read(container);
        all.iter().filter(|zone| is_like(zone, &wanted)).cloned().collect()
    }

    /// The list does not say to which VPCs a zone belongs.
    fn proof(&self, container: &str, candidate: &Observed) -> Option<Call> {
        let is_known = candidate.member("VPCs").is_some();
        let Zone::Vpc(..) = Zone::read(container) else { return None };
        let id = bare(candidate.text("Id")?);
        (!is_known).then(|| Call::new("route53", "GetHostedZone").with("Id", id))
    }

    fn choose(&self, container: &str, candidates: &[Arc<Observed>]) -> Choice {
        let wanted = Zone::read(container);
        let mut meant =
            candidates.iter().enumerate().filter(|(_, zone)| belongs(zone, &wanted));
        match (meant.next(), meant.next()) {
            (None, _) => Choice::None,
            (Some((at, _)), None) => Choice::This(at),
            (Some(_), Some(_)) => {
                let ids: Vec<&str> =
                    candidates.iter().filter_map(|zone| Some(bare(zone.text("Id")?))).collect();
                let name = wanted.name().unwrap_or(container);
                Choice::Several(format!(
                    "several hosted zones are called {name}: {}; name one by its id in the manifest",
                    ids.join(", ")
                ))
            }
        }
    }

    fn first(&self, container: &Observed) -> Call {
        list(container).with("MaxItems", PAGE)
    }

    fn page(&self, call: &Call, answer: &Value) -> Result<Page, String> {
        let items = answer.get("ResourceRecordSets").and_then(Value::as_array);
        let Some(items) = items else { return Err("holds no ResourceRecordSets".to_owned()) };
        let has = |item: &Value, name: &str| item.get(name).and_then(Value::as_str).is_some();
        if !items.iter().all(|item| has(item, "Name") && has(item, "Type")) {
            return Err("holds a record set without its name or type".to_owned());
        }
        let goes_on = answer.get("IsTruncated") == Some(&Value::Bool(true));
        if !goes_on {
            return Ok((items.clone(), None));
        }
        let mut next = call.clone();
        for (member, parameter) in NEXT {
            next.params.remove(parameter);
            if let Some(value) = answer.get(member).and_then(Value::as_str) {
                next.params.insert(parameter.to_owned(), value.into());
            }
        }
        match next.params.contains_key("StartRecordName") {
            true => Ok((items.clone(), Some(next))),
            false => Err("goes on and does not say where".to_owned()),
        }
    }

    fn sort(
        &self,
        name: &str,
        container: &Observed,
        items: Vec<Value>,
    ) -> Vec<(String, Map<String, Value>)> {
        facts::sort(name, container, items)
    }

    fn look(&self, container: &Observed, name: &str) -> Call {
        let call = list(container).with("MaxItems", 1);
        let Some(named) = Named::read(name) else { return call };
        let call = call
            .with("StartRecordName", format!("{}.", named.name))
            .with("StartRecordType", named.record_type);
        match named.set {
            Some(set) => call.with("StartRecordIdentifier", set),
            None => call,
        }
    }

    /// The list begins with the first record set that is not before the one that is asked for: what it
    /// answers may be another one.
    fn shows(&self, name: &str, answer: &Value) -> bool {
        let Some(named) = Named::read(name) else { return false };
        let items = answer.get("ResourceRecordSets").and_then(Value::as_array);
        items.into_iter().flatten().any(|item| {
            let text = |member: &str| item.get(member).and_then(Value::as_str);
            text("Name").map(dns::name).as_deref() == Some(named.name)
                && text("Type") == Some(named.record_type)
                && text("SetIdentifier") == named.set
        })
    }

    fn beside(&self, name: &str) -> Vec<String> {
        let Some(named) = Named::read(name) else { return Vec::new() };
        let Named { zone, name, .. } = &named;
        vec![format!("{zone}/{name}/"), format!("{zone}/{}/TXT", marker::name(&named))]
    }

    fn prepare(&self, declared: &mut Bound, around: &Surroundings) -> Vec<Refusal> {
        amid::prepare(declared, around)
    }
}

fn is_private(zone: &Observed) -> bool {
    zone.member("Config.PrivateZone").and_then(Value::as_bool).unwrap_or_default()
}

/// Tells whether what the list says of a zone is what is wanted.
fn is_like(zone: &Observed, wanted: &Zone) -> bool {
    let has_name = |name: &str| zone.text("Name").map(dns::name).as_deref() == Some(name);
    match wanted {
        Zone::Id(id) => zone.text("Id").map(bare) == Some(id),
        Zone::Public(name) => has_name(name) && !is_private(zone),
        Zone::Private(name) | Zone::Vpc(_, name) => has_name(name) && is_private(zone),
    }
}

/// Tells whether a zone belongs to the VPC, where one is wanted.
fn belongs(zone: &Observed, wanted: &Zone) -> bool {
    let Zone::Vpc(vpc, _) = wanted else { return true };
    let vpcs = zone.member("VPCs").and_then(Value::as_array).into_iter().flatten();
    vpcs.filter_map(|it| it.get("VPCId")?.as_str()).any(|id| id == vpc)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn zone(members: Value) -> Arc<Observed> {
        let Value::Object(members) = members else { unreachable!() };
        Arc::new(Observed { members, tags: None, at: jiff::Timestamp::UNIX_EPOCH })
    }

    #[test]
    fn a_zone_is_found_by_its_name_and_kind_or_its_id() {
        let kind = RecordSet;
        let private = json!({"PrivateZone": true});
        let all = [
            zone(json!({"Id": "/hostedzone/Z1111111111", "Name": "example.com."})),
            zone(json!({"Id": "/hostedzone/Z2222222222", "Name": "example.com.", "Config": private,
                "VPCs": [{"VPCId": "vpc-1"}]})),
            zone(json!({"Id": "/hostedzone/Z3333333333", "Name": "example.com.", "Config": private,
                "VPCs": [{"VPCId": "vpc-2"}]})),
        ];
        for (container, expected) in [
            ("example.com", "Z1111111111"),
            ("vpc-2:example.com", "Z3333333333"),
            ("Z2222222222", "Z2222222222"),
            ("example.org", "none"),
            ("vpc-3:example.com", "none"),
            ("private:example.com", "several"),
        ] {
            let candidates = kind.candidates(container, &all);
            let found = match kind.choose(container, &candidates) {
                Choice::None => "none",
                Choice::Several(_) => "several",
                Choice::This(at) => bare(candidates[at].text("Id").unwrap()),
            };
            assert_eq!(found, expected, "{container}");
        }
    }

    #[test]
    fn a_list_goes_on_where_its_page_says() {
        let first = Call::new("route53", "ListResourceRecordSets").with("HostedZoneId", "Z1");
        let page = json!({"ResourceRecordSets": [], "IsTruncated": true, "NextRecordName": "b.",
            "NextRecordType": "A", "NextRecordIdentifier": "east"});
        let (_, next) = RecordSet.page(&first, &page).unwrap();
        let next = next.unwrap();
        let start = |name: &str| next.text(name).map(str::to_owned);
        assert_eq!(start("StartRecordName").as_deref(), Some("b."));
        assert_eq!(start("StartRecordIdentifier").as_deref(), Some("east"));
        let last = json!({"ResourceRecordSets": [], "IsTruncated": true, "NextRecordName": "c.",
            "NextRecordType": "A"});
        let (_, after) = RecordSet.page(&next, &last).unwrap();
        assert_eq!(after.unwrap().text("StartRecordIdentifier"), None);
        for broken in [json!({}), json!({"ResourceRecordSets": [{"Name": "a."}]}),
            json!({"ResourceRecordSets": [], "IsTruncated": true})]
        {
            assert!(RecordSet.page(&first, &broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn the_next_record_set_is_not_taken_for_the_one_that_is_asked_for() {
        let answer = json!({"ResourceRecordSets": [{"Name": "c.example.com.", "Type": "A"}]});
        assert!(!RecordSet.shows("example.com/b.example.com/A", &answer));
        assert!(RecordSet.shows("example.com/c.example.com/A", &answer));
        assert!(!RecordSet.shows("example.com/c.example.com/A/east", &answer));
        let wild = json!({"ResourceRecordSets": [{"Name": "\\052.example.com.", "Type": "A"}]});
        assert!(RecordSet.shows("example.com/*.example.com/A", &wild));
    }
}
