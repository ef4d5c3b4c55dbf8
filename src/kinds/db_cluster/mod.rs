//! RDS DB clusters of Aurora.
//!
//! [`spec`] is what a cluster is to be and the resource of it, `rules` the field rules, `calls` the
//! calls as data, `deletion` how one is deleted, `facts` what its describe answer means.
//!
//! The instances in a cluster are resources of their own. A cluster knows them as AWS lists them:
//! by name, and which of them is the writer.

mod calls;
mod deletion;
mod facts;
mod import;
mod permissions;
mod rules;
pub(crate) mod sdk;
pub mod spec;

use serde_json::{Map, Value};

use crate::model::kind::{Deletion, List, Lists};
use crate::model::{Bound, Call, Delta, ErrorClass, Import, Kind, KindName, Notice, Observed, Offer, Permission, Readiness, Refusal, ResourceId, Rule, Usage};

/// The name of the kind.
pub const NAME: KindName = KindName::new("db_cluster");

/// The kind.
pub const KIND: DbCluster = DbCluster;

/// The key of the tag that records the snapshot from which a cluster was made.
pub const RESTORED_FROM: &str = "levelset:restored-from";

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct DbCluster;

impl Kind for DbCluster {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "rds"
    }

    fn lists(&self) -> &'static [List] {
        &[List {
            operation: "DescribeDBClusters",
            answer: "DBClusters",
            identifier: "DBClusterIdentifier",
            only: None,
            flag: None,
            region: None,
            page_size: ("MaxRecords", 100),
            marker: ("Marker", "Marker"),
        }]
    }

    fn assemble(&self, lists: Lists) -> Vec<(String, Map<String, Value>)> {
        facts::assemble(lists)
    }

    fn confirm(&self, name: &str) -> Option<Call> {
        Some(Call::new("rds", "DescribeDBClusters").with("DBClusterIdentifier", name))
    }

    fn details(&self, desired: &Bound, actual: &Observed) -> Vec<Call> {
        facts::details(desired, actual)
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

    fn notices(&self, desired: &Bound, actual: &Observed) -> Vec<Notice> {
        facts::notices(desired, actual)
    }

    fn window<'a>(&self, desired: &'a Bound, actual: &'a Observed) -> Option<&'a str> {
        let declared = || desired.declared("maintenanceWindow").and_then(Value::as_str);
        actual.text("PreferredMaintenanceWindow").or_else(declared)
    }

    fn turns(&self, actual: &Observed) -> Vec<String> {
        facts::turns(actual)
    }

    fn offers(&self) -> &'static [Offer] {
        spec::OFFERS
    }

    fn create(&self, desired: &Bound) -> Vec<Call> {
        calls::create(desired)
    }

    fn update(&self, desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
        calls::update(desired, actual, deltas)
    }

    fn own(&self, id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
        calls::own(id, actual, owner)
    }

    fn protection(&self, actual: &Observed) -> Option<Refusal> {
        deletion::protection(actual)
    }

    fn usages(&self) -> &'static [Usage] {
        deletion::USAGES
    }

    fn delete(&self, id: &ResourceId, actual: &Observed, snapshot: Option<&str>) -> Deletion {
        deletion::delete(id, actual, snapshot)
    }

    fn permissions(&self) -> &'static [Permission] {
        permissions::PERMISSIONS
    }

    fn classify(&self, code: &str) -> ErrorClass {
        facts::classify(code)
    }
}
