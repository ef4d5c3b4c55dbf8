//! RDS DB instances.
//!
//! [`spec`] is the manifest section, `check` what it alone proves wrong, `expand` the resource that
//! it asks for, `rules` the field rules, `calls` the calls as data, `deletion` how one is deleted,
//! `engine` facts about engines.
//!
//! Aurora and Multi-AZ DB clusters are other resources; fields that a cluster owns are left to it.

mod calls;
mod check;
mod check_storage;
mod deletion;
pub mod engine;
mod expand;
mod facts;
mod permissions;
mod rules;
pub(crate) mod sdk;
pub mod spec;

use serde_json::{Map, Value};

use crate::model::kind::{Deletion, List, Lists};
use crate::model::{
    Bound, Call, Delta, ErrorClass, Kind, KindName, Notice, Observed, Offer, Permission, Readiness, Refusal, ResourceId,
    Rule,
};

/// The name of the kind.
pub const NAME: KindName = KindName::new("db_instance");

/// The kind.
pub const KIND: DbInstance = DbInstance;

/// The key of the tag that records the snapshot from which a database was made.
pub const RESTORED_FROM: &str = "levelset:restored-from";

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct DbInstance;

impl Kind for DbInstance {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "rds"
    }

    fn lists(&self) -> &'static [List] {
        &[List {
            operation: "DescribeDBInstances",
            answer: "DBInstances",
            identifier: "DBInstanceIdentifier",
            only: None,
            page_size: ("MaxRecords", 100),
            marker: ("Marker", "Marker"),
        }]
    }

    fn assemble(&self, lists: Lists) -> Vec<(String, Map<String, Value>)> {
        facts::assemble(lists)
    }

    fn confirm(&self, name: &str) -> Option<Call> {
        Some(Call::new("rds", "DescribeDBInstances").with("DBInstanceIdentifier", name))
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

    fn window<'a>(&self, actual: &'a Observed) -> Option<&'a str> {
        actual.text("PreferredMaintenanceWindow")
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
