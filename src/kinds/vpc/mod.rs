//! Amazon VPCs: one that a network declares as its own, and any other, only read.
//!
//! [`spec`] is what a network declares, `rules` the field rules, `calls` the calls as data, `facts` what
//! answers mean.
//!
//! A VPC goes by its `Name` tag, which AWS does not keep unique: two of one name are one resource that is
//! broken until a person renames one. What Levelset made goes by a tag of its own too, so that a new
//! `Name` in the console is drift, and no reason to make a second VPC. One that lost all its tags is known
//! by the subnets of ours in it, and refused until a person gives it back, or adopts it.
//!
//! Two lists hold every VPC and subnet of a region, 1,000 a page: a pass costs 1 call per 1,000 VPCs and
//! 1 per 1,000 subnets. Whether DNS answers in a VPC stands in no list and takes a call for each of the two
//! attributes that is declared, in every third look; 1,000 VPCs that declare both cost 667 calls a pass.
//!
//! Nothing is known here of secondary and IPv6 blocks, route tables, gateways and endpoints: they are
//! not declared, and stay.

mod calls;
mod facts;
mod import;
mod permissions;
mod rules;
pub(crate) mod sdk;
pub mod spec;

use serde_json::{Map, Value};

use crate::model::kind::{Deletion, List, Lists};
use crate::model::{
    Bound, Call, Delta, ErrorClass, Import, Kind, KindName, Observed, Offer, Permission, Readiness, Refusal,
    Resource, ResourceId, Rule,
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

    fn assemble(&self, lists: Lists) -> Vec<(String, Map<String, Value>)> {
        facts::assemble(lists)
    }

    /// EC2 describes a VPC by its id; what Levelset made is searched for by its tag.
    fn confirm(&self, name: &str) -> Option<Call> {
        Some(calls::find(name))
    }

    /// The search answers no subnets, and nothing that only a person named so.
    fn is_whole_by_name(&self) -> bool {
        false
    }

    fn is_found_by_search(&self) -> bool {
        true
    }

    fn details(&self, desired: &Bound, actual: &Observed) -> Vec<Call> {
        calls::attributes(desired, actual)
    }

    fn reads_of_each(&self) -> &'static [&'static str] {
        &["DescribeVpcAttribute"]
    }

    fn import(&self) -> Option<&'static dyn Import> {
        Some(&KIND)
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    /// Of a VPC that a network does not declare as its own, nothing is declared.
    fn only_reads(&self, resource: &Resource) -> bool {
        resource.fields.is_empty()
    }

    fn readiness(&self, actual: &Observed) -> Readiness {
        facts::readiness(actual)
    }

    fn objections(&self, desired: &Bound, actual: &Observed) -> Vec<Refusal> {
        facts::objections(desired, actual)
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
