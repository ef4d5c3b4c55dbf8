//! RDS DB cluster parameter groups.
//!
//! [`spec`] makes the resource that a cluster with `parameters` asks for, `rules` are the field
//! rules; the calls are those of every kind of parameter group.

mod import;
mod permissions;
mod rules;
pub(crate) mod sdk;
pub mod spec;

use serde_json::{Map, Value};

use crate::kinds::parameter_group::{self, Naming};
use crate::model::kind::{Deletion, List, Lists};
use crate::model::{Bound, Call, Delta, ErrorClass, Import, Kind, KindName, Observed, Permission, Readiness, ResourceId, Rule};

/// The name of the kind.
pub const NAME: KindName = KindName::new("db_cluster_parameter_group");

/// The kind.
pub const KIND: DbClusterParameterGroup = DbClusterParameterGroup;

const NAMING: Naming = Naming {
    list: "DBClusterParameterGroups",
    name: "DBClusterParameterGroupName",
    arn: "DBClusterParameterGroupArn",
    arn_type: "cluster-pg",
    create: "CreateDBClusterParameterGroup",
    modify: "ModifyDBClusterParameterGroup",
    reset: "ResetDBClusterParameterGroup",
    delete: "DeleteDBClusterParameterGroup",
    parameters: "DescribeDBClusterParameters",
    tag: "AddTagsToResource",
};

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct DbClusterParameterGroup;

impl Kind for DbClusterParameterGroup {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "rds"
    }

    fn lists(&self) -> &'static [List] {
        &[List {
            operation: "DescribeDBClusterParameterGroups",
            answer: "DBClusterParameterGroups",
            identifier: "DBClusterParameterGroupName",
            only: None,
            flag: None,
            region: None,
            page_size: ("MaxRecords", 100),
            marker: ("Marker", "Marker"),
        }]
    }

    fn assemble(&self, lists: Lists) -> Vec<(String, Map<String, Value>)> {
        parameter_group::assemble(&NAMING, lists)
    }

    fn confirm(&self, name: &str) -> Option<Call> {
        Some(Call::new("rds", "DescribeDBClusterParameterGroups").with("DBClusterParameterGroupName", name))
    }

    fn details(&self, desired: &Bound, _actual: &Observed) -> Vec<Call> {
        parameter_group::details(&NAMING, desired)
    }

    /// The tags are read where the manifest declares some.
    fn reads_of_each(&self) -> &'static [&'static str] {
        &["DescribeDBClusterParameters", "ListTagsForResource"]
    }

    fn read_tags(&self, actual: &Observed) -> Option<Call> {
        let arn = actual.text("DBClusterParameterGroupArn")?;
        Some(Call::new("rds", "ListTagsForResource").with("ResourceName", arn))
    }

    fn import(&self) -> Option<&'static dyn Import> {
        Some(&KIND)
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    /// A parameter group has no states.
    fn readiness(&self, _actual: &Observed) -> Readiness {
        Readiness::Ready
    }

    fn create(&self, desired: &Bound) -> Vec<Call> {
        parameter_group::create(&NAMING, desired)
    }

    fn update(&self, desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
        parameter_group::update(&NAMING, desired, actual, deltas)
    }

    fn own(&self, id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
        parameter_group::own(&NAMING, id, actual, owner)
    }

    fn delete(&self, id: &ResourceId, _actual: &Observed, _snapshot: Option<&str>) -> Deletion {
        parameter_group::delete(&NAMING, id)
    }

    fn permissions(&self) -> &'static [Permission] {
        permissions::PERMISSIONS
    }

    fn classify(&self, code: &str) -> ErrorClass {
        parameter_group::classify(code)
    }
}
