//! What AWS's answers about subnets mean.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::kinds::name_tag::{self, own_name, tag, text};
use crate::model::kind::Lists;
use crate::model::{ErrorClass, Observed, Readiness};

/// Names each subnet by its VPC and its `Name` tag; one without a name goes by its id.
pub(super) fn assemble(mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
    let vpcs = lists.remove("Vpcs").unwrap_or_default();
    let vpcs = vpc_names(&vpcs);
    let named = lists.remove("Subnets").unwrap_or_default().into_iter().filter_map(|subnet| {
        let Value::Object(subnet) = subnet else { return None };
        let id = text(&subnet, "SubnetId")?;
        let within = text(&subnet, "VpcId").and_then(|vpc| vpcs.get(vpc));
        let shown = tag(&subnet, name_tag::NAME);
        let joined = shown.into_iter().flat_map(|name| {
            within.into_iter().flatten().map(move |vpc| format!("{vpc}/{name}"))
        });
        let mut names: BTreeSet<String> = joined.collect();
        names.extend(own_name(&subnet).map(str::to_owned));
        if names.is_empty() {
            names.insert(id.to_owned());
        }
        Some((names, subnet))
    });
    name_tag::by_name(named, "SubnetId", &[])
}

/// Lists the names of each VPC by its id.
fn vpc_names(vpcs: &[Value]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut found = BTreeMap::new();
    for vpc in vpcs.iter().filter_map(Value::as_object) {
        let Some(id) = text(vpc, "VpcId") else { continue };
        let names: BTreeSet<&str> =
            tag(vpc, name_tag::NAME).into_iter().chain(own_name(vpc)).collect();
        found.insert(id, names);
    }
    found
}

/// Says whether it is known which subnet is meant, and whether it can be used.
///
/// Source: the API reference of `Subnet`, member `State`.
pub(super) fn readiness(actual: &Observed) -> Readiness {
    if let Some(broken) = name_tag::ambiguous(actual, "subnets of the VPC") {
        return broken;
    }
    match actual.text("State") {
        Some("pending") => Readiness::Waiting {
            code: "Creating".to_owned(),
            reason: "AWS is making the subnet".to_owned(),
        },
        Some(state @ ("unavailable" | "failed" | "failed-insufficient-capacity")) => {
            Readiness::Broken {
                code: "SubnetUnusable".to_owned(),
                reason: format!("AWS says that the subnet is {state}"),
            }
        }
        _ => Readiness::Ready,
    }
}

/// Says what an error code of EC2 means.
///
/// Source: "Error codes for the Amazon EC2 API". A subnet of ours that is there already is found by its
/// tag, so `InvalidSubnet.Conflict` is about another one, which stays.
pub(super) fn classify(code: &str) -> ErrorClass {
    if let Some(class) = ErrorClass::of_common(code) {
        return class;
    }
    match code {
        "InvalidSubnetID.NotFound" | "InvalidVpcID.NotFound" => ErrorClass::NotFound,
        "DependencyViolation" | "IncorrectState" | "InvalidVpcState" => ErrorClass::NotReady,
        _ => ErrorClass::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(pairs: &[(&str, &str)]) -> Value {
        pairs.iter().map(|(key, value)| json!({"Key": key, "Value": value})).collect()
    }

    fn names(subnets: &[Value]) -> BTreeMap<String, Map<String, Value>> {
        let vpcs = vec![
            json!({"VpcId": "vpc-1", "Tags": named(&[("Name", "prod")])}),
            json!({"VpcId": "vpc-2", "Tags": []}),
        ];
        let lists = Lists::from([("Vpcs", vpcs), ("Subnets", subnets.to_vec())]);
        assemble(lists).into_iter().collect()
    }

    fn subnet(id: &str, vpc: &str, tags: &[(&str, &str)]) -> Value {
        json!({"SubnetId": id, "VpcId": vpc, "Tags": named(tags)})
    }

    #[test]
    fn a_subnet_goes_by_its_vpc_and_its_name_and_what_has_none_by_its_id() {
        let found = names(&[
            subnet("subnet-1", "vpc-1", &[("Name", "a")]),
            subnet("subnet-2", "vpc-2", &[("Name", "a")]),
            subnet("subnet-3", "vpc-1", &[]),
        ]);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["prod/a", "subnet-2", "subnet-3"]);
    }

    #[test]
    fn ours_is_found_whatever_somebody_called_it() {
        let own = [("levelset:owner", "x/Network/prod"), ("levelset:name", "prod/a"), ("Name", "z")];
        let found = names(&[subnet("subnet-1", "vpc-1", &own)]);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["prod/a", "prod/z"]);
    }

    #[test]
    fn two_subnets_of_one_name_in_a_vpc_are_broken() {
        let found = names(&[
            subnet("subnet-1", "vpc-1", &[("Name", "a")]),
            subnet("subnet-2", "vpc-1", &[("Name", "a")]),
        ]);
        let members = found["prod/a"].clone();
        let actual = Observed { members, tags: None, at: jiff::Timestamp::UNIX_EPOCH };
        let Readiness::Broken { code, reason } = readiness(&actual) else {
            panic!("an ambiguous name is not broken")
        };
        assert_eq!(code, "AmbiguousName");
        assert!(reason.contains("subnet-1, subnet-2"), "{reason}");
    }
}
