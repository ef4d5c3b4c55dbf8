//! Subnets of a VPC that a network declares as its own.
//!
//! [`spec`] is what a network declares, `rules` the field rules, `calls` the calls as data, `facts` what
//! answers mean.
//!
//! AWS names a subnet by an id that it gives itself; here it goes by the name of its VPC and its `Name`
//! tag, `shared-prod/a`, and what Levelset made by a tag of its own too, so that a new `Name` in the
//! console is drift, and no reason to make a second subnet. Should all of that fail, AWS refuses a second
//! subnet with the same addresses (`InvalidSubnet.Conflict`).
//!
//! Two lists hold every subnet and VPC of a region with their tags and attributes, 1,000 a page, so a pass
//! costs 1 call per 1,000 subnets and 1 per 1,000 VPCs. IPv6 blocks, route tables and network ACLs are not
//! declared, and stay.

mod calls;
mod facts;
mod permissions;
mod rules;
pub(crate) mod sdk;
pub mod spec;

use serde_json::{Map, Value};

use crate::model::kind::{Deletion, List, Lists};
use crate::model::{
    Bound, Call, Delta, ErrorClass, Kind, KindName, Observed, Offer, Permission, Readiness,
    ResourceId, Rule, Usage,
};

/// The name of the kind.
pub const NAME: KindName = KindName::new("subnet");

/// The kind.
pub const KIND: Subnet = Subnet;

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct Subnet;

impl Kind for Subnet {
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
            list("DescribeSubnets", "Subnets", "SubnetId"),
            list("DescribeVpcs", "Vpcs", "VpcId"),
        ];
        LISTS
    }

    fn assemble(&self, lists: Lists) -> Vec<(String, Map<String, Value>)> {
        facts::assemble(lists)
    }

    /// EC2 describes a subnet by its id; what Levelset made is searched for by its tag.
    fn confirm(&self, name: &str) -> Option<Call> {
        Some(calls::find(name))
    }

    /// The search answers no VPCs, and nothing that only a person named so.
    fn is_whole_by_name(&self) -> bool {
        false
    }

    fn is_found_by_search(&self) -> bool {
        true
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

    fn create(&self, desired: &Bound) -> Vec<Call> {
        calls::create(desired)
    }

    fn update(&self, _desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
        calls::update(actual, deltas)
    }

    fn own(&self, _id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
        calls::own(actual, owner)
    }

    /// A subnet of anybody is a reason not to delete its VPC.
    fn usages(&self) -> &'static [Usage] {
        const USAGES: &[Usage] = &[Usage::by("VpcId", "vpc", &["VpcId"])];
        USAGES
    }

    fn delete(&self, _id: &ResourceId, actual: &Observed, _snapshot: Option<&str>) -> Deletion {
        calls::delete(actual)
    }

    fn permissions(&self) -> &'static [Permission] {
        permissions::PERMISSIONS
    }

    fn classify(&self, code: &str) -> ErrorClass {
        facts::classify(code)
    }
}
