//! EC2 security groups: the one that a workspace's `network.ingress` and `network.egress` make.
//!
//! [`spec`] is a rule of the manifest, `reading` what it means, `check` what it alone proves wrong,
//! `expand` the resource that the rules ask for, `rules` the field rules, `calls` the calls as data,
//! `facts` what answers mean.
//!
//! AWS knows a group by an id that it gives itself; here it goes by its name, which says nothing of
//! the VPC: names are unique in a VPC only, and of several groups of one name the one with an
//! ownership tag is meant. One list holds every group of a region with its rules and tags, 1,000 a
//! page, so a pass costs 1 call per 1,000 groups.
//!
//! The group is made first and its rules after it, in another pass: two workspaces can let each other
//! in, and neither has to be first.

mod calls;
mod check;
mod expand;
mod facts;
mod import;
mod permissions;
mod reading;
mod rules;
pub(crate) mod sdk;
pub mod spec;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::model::kind::{Deletion, List, Lists};
use crate::model::{Bound, Call, Delta, ErrorClass, Import, Kind, KindName, Observed, Offer, Permission, Readiness, ResourceId, Rule};

/// The name of the kind.
pub const NAME: KindName = KindName::new("security_group");

/// The kind.
pub const KIND: SecurityGroup = SecurityGroup;

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct SecurityGroup;

impl Kind for SecurityGroup {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "ec2"
    }

    fn lists(&self) -> &'static [List] {
        const LISTS: &[List] = &[List {
            operation: "DescribeSecurityGroups",
            answer: "SecurityGroups",
            identifier: "GroupName",
            only: None,
            flag: None,
            region: None,
            page_size: ("MaxResults", 1000),
            marker: ("NextToken", "NextToken"),
        }];
        LISTS
    }

    fn assemble(&self, lists: Lists) -> Vec<(String, Map<String, Value>)> {
        facts::assemble(lists)
    }

    /// EC2 takes names only as a filter, which finds nothing where no group has the name.
    fn confirm(&self, name: &str) -> Option<Call> {
        let filter = json!([{"Name": "group-name", "Values": [name]}]);
        Some(Call::new("ec2", "DescribeSecurityGroups").with("Filters", filter))
    }

    fn is_found_by_search(&self) -> bool {
        true
    }

    fn import(&self) -> Option<&'static dyn Import> {
        Some(&KIND)
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    fn readiness(&self, actual: &Observed) -> Readiness {
        facts::readiness(actual)
    }

    fn offers(&self) -> &'static [Offer] {
        spec::OFFERS
    }

    fn trail_events(&self, field: &str) -> &'static [&'static str] {
        match field.split('.').next() {
            Some("ingress") => &[
                "AuthorizeSecurityGroupIngress",
                "RevokeSecurityGroupIngress",
                "ModifySecurityGroupRules",
            ],
            Some("egress") => &[
                "AuthorizeSecurityGroupEgress",
                "RevokeSecurityGroupEgress",
                "ModifySecurityGroupRules",
            ],
            _ => &[],
        }
    }

    fn trail_name(&self, id: &ResourceId, outputs: &BTreeMap<String, Value>) -> String {
        let known = outputs.get("groupId").and_then(Value::as_str);
        known.unwrap_or(&id.name).to_owned()
    }

    fn create(&self, desired: &Bound) -> Vec<Call> {
        calls::create(desired)
    }

    fn update(&self, _desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
        calls::update(actual, deltas)
    }

    fn own(&self, _id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
        calls::own(actual, owner)
    }

    fn delete(&self, _id: &ResourceId, actual: &Observed, _snapshot: Option<&str>) -> Deletion {
        calls::delete(actual)
    }

    fn may_be_circular(&self) -> bool {
        true
    }

    fn permissions(&self) -> &'static [Permission] {
        permissions::PERMISSIONS
    }

    fn classify(&self, code: &str) -> ErrorClass {
        facts::classify(code)
    }
}
