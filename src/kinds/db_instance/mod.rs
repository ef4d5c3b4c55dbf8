//! RDS DB instances.
//!
//! [`spec`] is the manifest section, `check` what it alone proves wrong, `expand` the resource that
//! it asks for, `rules` the field rules, `calls` the calls as data, `deletion` how one is deleted,
//! `engine` facts about engines; `cluster` is the part of the section that an Aurora database has,
//! `check_cluster` what that proves wrong, `member` the instance that a member of a cluster is.
//!
//! A cluster is another resource; what it owns of its members is left to it. Multi-AZ DB clusters of
//! other engines are not there.

mod calls;
mod check;
mod check_cluster;
mod check_storage;
mod cluster;
mod deletion;
pub mod engine;
mod expand;
mod facts;
mod import;
mod member;
mod offers;
mod permissions;
mod rules;
pub(crate) mod sdk;
pub mod spec;

use serde_json::{Map, Value};

use crate::model::kind::{Deletion, List, Lists};
use crate::model::{Bound, Call, Delta, ErrorClass, Import, Kind, KindName, Notice, Observed, Offer, Permission, Readiness, Refusal, ResourceId, Rule, Usage};

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

    /// Point-in-time recovery follows the log every five minutes.
    fn restless(&self) -> &'static [&'static str] {
        &["LatestRestorableTime"]
    }

    fn lists(&self) -> &'static [List] {
        &[List {
            operation: "DescribeDBInstances",
            answer: "DBInstances",
            identifier: "DBInstanceIdentifier",
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
        Some(Call::new("rds", "DescribeDBInstances").with("DBInstanceIdentifier", name))
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

    fn part_of<'a>(&self, actual: &'a Observed) -> Option<&'a str> {
        actual.text("DBClusterIdentifier")
    }

    fn offers(&self) -> &'static [Offer] {
        spec::OFFERS
    }

    /// The data of a member are its cluster's.
    fn starts_empty(&self, desired: &Bound) -> bool {
        desired.declared("cluster").is_none()
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::model::{AccountId, Region, ResourceId, Scope};

    #[test]
    fn the_declared_window_counts_where_aws_answers_none() {
        let scope = Scope { account: AccountId::new("123456789012"), region: Region::new("r") };
        let desired = Bound {
            id: ResourceId { kind: KIND.name(), scope, name: "a".into() },
            fields: BTreeMap::from([("maintenanceWindow".into(), json!("sun:05:00-sun:06:00"))]),
            initial: BTreeMap::new(),
            owner: String::new(),
            adopt: false,
        };
        let window = |members: Value| {
            let members = members.as_object().unwrap().clone();
            let actual = Observed { members, tags: None, at: jiff::Timestamp::UNIX_EPOCH };
            KIND.window(&desired, &actual).map(str::to_owned)
        };
        let expected = |text: &str| Some(text.to_owned());
        assert_eq!(window(json!({})), expected("sun:05:00-sun:06:00"));
        let answered = json!({"PreferredMaintenanceWindow": "mon:01:00-mon:02:00"});
        assert_eq!(window(answered), expected("mon:01:00-mon:02:00"));
    }
}
