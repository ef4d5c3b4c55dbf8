//! Amazon VPCs with their subnets, only read.
//!
//! A VPC goes by its `Name` tag, which AWS does not keep unique: two of one name are one resource
//! that is broken until a person renames one.

use std::collections::BTreeMap;

mod permissions;
pub(crate) mod sdk;
pub mod spec;

use serde_json::{Map, Value};

use crate::model::kind::{Deletion, List, Lists};
use crate::model::{
    Bound, Call, Delta, ErrorClass, Kind, KindName, Observed, Offer, Permission, Readiness, ResourceId, Rule,
};

/// The name of the kind.
pub const NAME: KindName = KindName::new("vpc");

/// The kind.
pub const KIND: Vpc = Vpc;

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct Vpc;

impl Kind for Vpc {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "ec2"
    }

    /// Whoever starts or stops a machine in a subnet moves it.
    fn restless(&self) -> &'static [&'static str] {
        &["AvailableIpAddressCount"]
    }

    fn lists(&self) -> &'static [List] {
        const fn list(
            operation: &'static str,
            answer: &'static str,
            identifier: &'static str,
        ) -> List {
            let (page_size, marker) = (("MaxResults", 1000), ("NextToken", "NextToken"));
            List { operation, answer, identifier, only: None, flag: None, region: None, page_size, marker }
        }
        const LISTS: &[List] = &[
            list("DescribeVpcs", "Vpcs", "VpcId"),
            list("DescribeSubnets", "Subnets", "SubnetId"),
        ];
        LISTS
    }

    /// Joins the VPCs with their subnets.
    ///
    /// Adds to each VPC `Subnets` and `SubnetIds`, ordered by id, and to VPCs that share a name
    /// `Ambiguous`: their ids. A VPC without a name goes by its id.
    fn assemble(&self, mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
        let mut subnets = by_vpc(lists.remove("Subnets").unwrap_or_default());
        let mut found: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
        for vpc in lists.remove("Vpcs").unwrap_or_default() {
            let Value::Object(mut vpc) = vpc else { continue };
            let Some(id) = text(&vpc, "VpcId").map(str::to_owned) else { continue };
            let name = name_tag(&vpc).unwrap_or(&id).to_owned();
            if let Some(other) = found.get_mut(&name) {
                note_ambiguity(other, &id);
                continue;
            }
            let own = subnets.remove(&id).unwrap_or_default();
            vpc.insert("SubnetIds".to_owned(), own.keys().cloned().collect());
            vpc.insert("Subnets".to_owned(), own.into_values().collect());
            found.insert(name, vpc);
        }
        found.into_iter().collect()
    }

    /// EC2 describes a VPC by its id, not by its name; a complete list is the proof of absence.
    fn confirm(&self, _name: &str) -> Option<Call> {
        None
    }

    fn rules(&self) -> &'static [Rule] {
        &[]
    }

    fn readiness(&self, actual: &Observed) -> Readiness {
        if let Some(ids) = actual.member("Ambiguous").and_then(Value::as_array) {
            let ids: Vec<&str> = ids.iter().filter_map(Value::as_str).collect();
            let reason = format!(
                "{} VPCs have this name ({}); give all but one another Name tag",
                ids.len(),
                ids.join(", ")
            );
            return Readiness::Broken { code: "AmbiguousName".to_owned(), reason };
        }
        match actual.text("State") {
            Some("pending") => Readiness::Waiting {
                code: "Creating".to_owned(),
                reason: "AWS is making the VPC".to_owned(),
            },
            _ => Readiness::Ready,
        }
    }

    fn offers(&self) -> &'static [Offer] {
        spec::OFFERS
    }

    fn create(&self, _desired: &Bound) -> Vec<Call> {
        Vec::new()
    }

    fn update(&self, _desired: &Bound, _actual: &Observed, _deltas: &[Delta]) -> Vec<Call> {
        Vec::new()
    }

    fn own(&self, _id: &ResourceId, _actual: &Observed, _owner: &str) -> Vec<Call> {
        Vec::new()
    }

    fn delete(&self, _id: &ResourceId, _actual: &Observed, _snapshot: Option<&str>) -> Deletion {
        Deletion::default()
    }

    fn permissions(&self) -> &'static [Permission] {
        permissions::PERMISSIONS
    }

    fn classify(&self, code: &str) -> ErrorClass {
        if let Some(class) = ErrorClass::of_common(code) {
            return class;
        }
        match code {
            "InvalidVpcID.NotFound" | "InvalidSubnetID.NotFound" => ErrorClass::NotFound,
            _ => ErrorClass::Invalid,
        }
    }
}

/// Sorts subnets by VPC and id.
fn by_vpc(subnets: Vec<Value>) -> BTreeMap<String, BTreeMap<String, Value>> {
    let mut found: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    for subnet in subnets {
        let member = |name: &str| subnet.get(name).and_then(Value::as_str).map(str::to_owned);
        if let (Some(vpc), Some(id)) = (member("VpcId"), member("SubnetId")) {
            found.entry(vpc).or_default().insert(id, subnet);
        }
    }
    found
}

/// Makes it visible that a name stands for several VPCs; no subnet of any of them can be meant.
fn note_ambiguity(vpc: &mut Map<String, Value>, other: &str) {
    let first = vpc.get("VpcId").cloned().unwrap_or_default();
    vpc.remove("Subnets");
    vpc.remove("SubnetIds");
    let ids = vpc.entry("Ambiguous").or_insert_with(|| Value::Array(vec![first]));
    if let Value::Array(ids) = ids {
        ids.push(other.into());
        ids.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    }
}

fn text<'a>(members: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    members.get(name)?.as_str()
}

fn name_tag(vpc: &Map<String, Value>) -> Option<&str> {
    let tags = vpc.get("Tags")?.as_array()?;
    let name = tags.iter().find(|tag| tag.get("Key").and_then(Value::as_str) == Some("Name"))?;
    name.get("Value")?.as_str().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn vpc(id: &str, name: &str) -> Value {
        json!({"VpcId": id, "State": "available", "Tags": [{"Key": "Name", "Value": name}]})
    }

    fn subnet(id: &str, vpc: &str) -> Value {
        json!({"SubnetId": id, "VpcId": vpc})
    }

    fn assembled(vpcs: Vec<Value>, subnets: Vec<Value>) -> BTreeMap<String, Observed> {
        let lists = Lists::from([("Vpcs", vpcs), ("Subnets", subnets)]);
        let observe = |members| Observed { members, tags: None, at: jiff::Timestamp::UNIX_EPOCH };
        KIND.assemble(lists).into_iter().map(|(name, vpc)| (name, observe(vpc))).collect()
    }

    #[test]
    fn a_vpc_has_its_own_subnets_in_order() {
        let found = assembled(
            vec![vpc("vpc-1", "shared"), vpc("vpc-2", "other")],
            vec![subnet("subnet-b", "vpc-1"), subnet("subnet-x", "vpc-2"), subnet("subnet-a", "vpc-1")],
        );
        let shared = &found["shared"];
        assert_eq!(shared.member("SubnetIds"), Some(&json!(["subnet-a", "subnet-b"])));
        assert_eq!(shared.text("Subnets.0.SubnetId"), Some("subnet-a"));
        assert_eq!(KIND.readiness(shared), Readiness::Ready);
    }

    #[test]
    fn two_vpcs_of_one_name_are_broken_and_have_no_subnets() {
        let found = assembled(
            vec![vpc("vpc-2", "shared"), vpc("vpc-1", "shared"), vpc("vpc-3", "shared")],
            vec![subnet("subnet-a", "vpc-1"), subnet("subnet-b", "vpc-2")],
        );
        let shared = &found["shared"];
        assert_eq!(shared.member("Ambiguous"), Some(&json!(["vpc-1", "vpc-2", "vpc-3"])));
        assert_eq!(shared.member("SubnetIds"), None);
        let Readiness::Broken { code, reason } = KIND.readiness(shared) else {
            panic!("an ambiguous name is not broken")
        };
        assert_eq!(code, "AmbiguousName");
        assert!(reason.contains("vpc-1, vpc-2, vpc-3"), "{reason}");
    }

    #[test]
    fn a_vpc_without_a_name_goes_by_its_id() {
        let found = assembled(vec![json!({"VpcId": "vpc-9"})], Vec::new());
        assert_eq!(found["vpc-9"].member("SubnetIds"), Some(&json!([])));
    }
}
