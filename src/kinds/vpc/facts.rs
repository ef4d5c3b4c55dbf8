//! What AWS's answers about VPCs mean.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::kinds::name_tag::{self, own_name, tag, text};
use crate::model::kind::Lists;
use crate::model::{Bound, ErrorClass, Observed, Readiness, Refusal};

/// What is joined to a VPC from the list of subnets.
const JOINED: [&str; 2] = ["Subnets", "SubnetIds"];

/// Joins the VPCs with their subnets.
///
/// Adds to each VPC `Subnets` and `SubnetIds`, ordered by id, and to VPCs that share a name
/// `Ambiguous`: their ids. A VPC without a name goes by its id, or, where somebody took all its tags
/// away, by the network whose subnets are in it: no second one is made in its place.
pub(super) fn assemble(mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
    let mut subnets = by_vpc(lists.remove("Subnets").unwrap_or_default());
    let joined = lists.remove("Vpcs").unwrap_or_default().into_iter().filter_map(|vpc| {
        let Value::Object(mut vpc) = vpc else { return None };
        let id = text(&vpc, "VpcId")?.to_owned();
        let own = subnets.remove(&id).unwrap_or_default();
        let names = names(&vpc, &id, &own);
        vpc.insert("SubnetIds".to_owned(), own.keys().cloned().collect());
        vpc.insert("Subnets".to_owned(), own.into_values().collect());
        Some((names, vpc))
    });
    name_tag::by_name(joined, "VpcId", &JOINED)
}

fn names(
    vpc: &Map<String, Value>,
    id: &str,
    subnets: &BTreeMap<String, Value>,
) -> BTreeSet<String> {
    let named: BTreeSet<&str> =
        tag(vpc, name_tag::NAME).into_iter().chain(own_name(vpc)).collect();
    let network = || {
        let own = subnets.values().filter_map(|subnet| own_name(subnet.as_object()?));
        own.filter_map(|name| Some(name.split_once('/')?.0)).next()
    };
    let named = match named.is_empty() {
        true => BTreeSet::from([network().unwrap_or(id)]),
        false => named,
    };
    named.into_iter().map(str::to_owned).collect()
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

/// Says whether it is known which VPC is meant, and whether it can be used.
pub(super) fn readiness(actual: &Observed) -> Readiness {
    if let Some(broken) = name_tag::ambiguous(actual, "VPCs") {
        return broken;
    }
    match actual.text("State") {
        Some("pending") => Readiness::Waiting {
            code: "Creating".to_owned(),
            reason: "AWS is making the VPC".to_owned(),
        },
        _ => Readiness::Ready,
    }
}

/// A VPC that another account shares is that account's to change.
pub(super) fn objections(desired: &Bound, actual: &Observed) -> Vec<Refusal> {
    let own = desired.id.scope.account.as_str();
    let owner = actual.text("OwnerId").filter(|owner| *owner != own);
    let refusal = owner.map(|owner| Refusal {
        field: String::new(),
        code: "SharedByAnotherAccount".to_owned(),
        message: format!("the VPC belongs to the account {owner}"),
        help: "leave out vpc, so that it is only read".to_owned(),
    });
    refusal.into_iter().collect()
}

/// Says what an error code of EC2 means.
///
/// Source: "Error codes for the Amazon EC2 API". `DependencyViolation` is the answer to the deletion of
/// a VPC in which something is left.
pub(super) fn classify(code: &str) -> ErrorClass {
    if let Some(class) = ErrorClass::of_common(code) {
        return class;
    }
    match code {
        "InvalidVpcID.NotFound" | "InvalidSubnetID.NotFound" => ErrorClass::NotFound,
        "DependencyViolation" | "IncorrectState" | "InvalidVpcState" => ErrorClass::NotReady,
        _ => ErrorClass::Invalid,
    }
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
        assemble(lists).into_iter().map(|(name, vpc)| (name, observe(vpc))).collect()
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
        assert_eq!(readiness(shared), Readiness::Ready);
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
        let Readiness::Broken { code, reason } = readiness(shared) else {
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

    #[test]
    fn ours_is_found_whatever_somebody_called_it() {
        let own = json!([
            {"Key": "levelset:owner", "Value": "level/Network/shared"},
            {"Key": "levelset:name", "Value": "shared"},
            {"Key": "Name", "Value": "renamed"},
        ]);
        let found = assembled(vec![json!({"VpcId": "vpc-1", "Tags": own})], Vec::new());
        assert_eq!(found.keys().collect::<Vec<_>>(), ["renamed", "shared"]);
        let stranger = json!({"VpcId": "vpc-1", "Tags": [own[1], own[2]]});
        let found = assembled(vec![stranger], Vec::new());
        assert_eq!(found.keys().collect::<Vec<_>>(), ["renamed"], "a copied tag is no name");
    }
    #[test]
    fn one_that_lost_its_tags_is_that_in_which_our_subnets_are() {
        let own = json!([
            {"Key": "levelset:owner", "Value": "level/Network/shared"},
            {"Key": "levelset:name", "Value": "shared/a"},
        ]);
        let within = json!({"SubnetId": "subnet-1", "VpcId": "vpc-1", "Tags": own});
        let found = assembled(vec![json!({"VpcId": "vpc-1", "Tags": []})], vec![within.clone()]);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["shared"]);
        let found = assembled(vec![vpc("vpc-1", "named")], vec![within]);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["named"]);
    }
}
