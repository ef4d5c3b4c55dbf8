//! How a DB subnet group that exists is declared: as a `Network` object of its VPC.
//!
//! Its subnets are every one of the VPC, those that some tags tell from all others, or, where neither
//! is so, those of some ids.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use crate::model::import::{Around, Draft, Import, Section};
use crate::model::{ObjectKind, Observed};

/// No more tags than so many tell subnets apart, in the eyes of people.
const MOST_TAGS: usize = 2;

impl Import for super::DbSubnetGroup {
    fn passed_over(&self, name: &str, _actual: &Observed) -> Option<String> {
        (name == "default").then(|| "it is the one of the account's default VPC".to_owned())
    }

    fn draft(&self, name: &str, actual: &Observed, around: &dyn Around) -> Option<Draft> {
        let id = actual.text("VpcId")?;
        let mut draft = Draft::new(Section::Object(ObjectKind::Network));
        draft.vpc = Some(id.to_owned());
        draft.name = Some(("subnetGroup", name.to_owned()));
        let Some((vpc, answer)) = around.find(id) else {
            draft.sheet.remark("", format!("the VPC {id} was not found"));
            return Some(draft);
        };
        draft.sheet.put("vpcName", &*vpc.name);
        let own = subnets_of(actual);
        let all = tagged(answer);
        if own.len() == all.len() && all.iter().all(|(subnet, _)| own.contains(subnet)) {
            return Some(draft);
        }
        match telling(&own, &all) {
            Some(tags) => draft.sheet.put("subnetTags", json!(tags)),
            None => draft.sheet.put("subnetIds", json!(own)),
        }
        Some(draft)
    }
}

type Tags<'a> = BTreeSet<(&'a str, &'a str)>;

fn subnets_of(actual: &Observed) -> BTreeSet<&str> {
    let subnets = actual.member("Subnets").and_then(Value::as_array).into_iter().flatten();
    subnets.filter_map(|subnet| subnet.get("SubnetIdentifier")?.as_str()).collect()
}

/// Returns the subnets of a VPC with their tags; AWS's own tell nothing that a person would say.
fn tagged(vpc: &Observed) -> Vec<(&str, Tags<'_>)> {
    let subnets = vpc.member("Subnets").and_then(Value::as_array).into_iter().flatten();
    subnets.filter_map(|subnet| Some((subnet.get("SubnetId")?.as_str()?, tags_of(subnet)))).collect()
}

fn tags_of(subnet: &Value) -> Tags<'_> {
    let tags = subnet.get("Tags").and_then(Value::as_array).into_iter().flatten();
    tags.filter_map(|tag| Some((tag.get("Key")?.as_str()?, tag.get("Value")?.as_str()?)))
        .filter(|(key, _)| !key.starts_with("aws:"))
        .collect()
}

/// Returns the fewest tags that all of these subnets have, and no other one.
fn telling<'a>(own: &BTreeSet<&str>, all: &[(&'a str, Tags<'a>)]) -> Option<BTreeMap<&'a str, &'a str>> {
    let is_own = |subnet: &&(&str, Tags<'_>)| own.contains(subnet.0);
    let mut mine = all.iter().filter(is_own).map(|(_, tags)| tags.clone());
    let first = mine.next()?;
    let common: Vec<(&str, &str)> =
        mine.fold(first, |common, tags| common.intersection(&tags).copied().collect()).into_iter().collect();
    let others: Vec<&Tags<'_>> =
        all.iter().filter(|subnet| !is_own(subnet)).map(|(_, tags)| tags).collect();
    let tells = |tags: &[(&str, &str)]| {
        !others.iter().any(|other| tags.iter().all(|tag| other.contains(tag)))
    };
    let one = common.iter().map(|tag| vec![*tag]);
    let two = common.iter().enumerate().flat_map(|(at, tag)| {
        common.iter().skip(at + 1).map(move |other| vec![*tag, *other])
    });
    let found = one.chain(two).find(|tags| tags.len() <= MOST_TAGS && tells(tags))?;
    Some(found.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set<'a>(tags: &[(&'a str, &'a str)]) -> Tags<'a> {
        tags.iter().copied().collect()
    }

    #[test]
    fn the_fewest_tags_that_tell_subnets_from_all_others_are_found() {
        let all = vec![
            ("a", set(&[("tier", "data"), ("zone", "1")])),
            ("b", set(&[("tier", "data"), ("zone", "2")])),
            ("c", set(&[("tier", "web"), ("zone", "1")])),
        ];
        let found = |own: &[&'static str]| telling(&own.iter().copied().collect(), &all);
        assert_eq!(found(&["a", "b"]), Some(BTreeMap::from([("tier", "data")])));
        assert_eq!(found(&["a"]), Some(BTreeMap::from([("tier", "data"), ("zone", "1")])));
        assert_eq!(found(&["b", "c"]), None, "they have nothing in common");
    }
}
