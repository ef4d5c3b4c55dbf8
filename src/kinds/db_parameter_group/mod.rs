//! RDS DB parameter groups.
//!
//! [`spec`] makes the resource that a database with `parameters` asks for, `rules` are the field
//! rules, `calls` the calls as data.

mod calls;
mod permissions;
mod rules;
pub(crate) mod sdk;
pub mod spec;

use serde_json::{Map, Value, json};

use crate::model::kind::{Deletion, List, Lists};
use crate::model::{
    Bound, Call, Delta, ErrorClass, Kind, KindName, Observed, Permission, Readiness, ResourceId, Rule,
};

/// The name of the kind.
pub const NAME: KindName = KindName::new("db_parameter_group");

/// The kind.
pub const KIND: DbParameterGroup = DbParameterGroup;

/// How many names one filter is given.
const NAMES_PER_FILTER: usize = 100;

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct DbParameterGroup;

impl Kind for DbParameterGroup {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "rds"
    }

    fn lists(&self) -> &'static [List] {
        &[List {
            operation: "DescribeDBParameterGroups",
            answer: "DBParameterGroups",
            identifier: "DBParameterGroupName",
            only: None,
            page_size: ("MaxRecords", 100),
            marker: ("Marker", "Marker"),
        }]
    }

    /// Names each group as AWS keeps it, in lower case.
    fn assemble(&self, mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
        lists
            .remove("DBParameterGroups")
            .into_iter()
            .flatten()
            .filter_map(|item| match item {
                Value::Object(members) => {
                    let name = members.get("DBParameterGroupName")?.as_str()?.to_ascii_lowercase();
                    Some((name, members))
                }
                _ => None,
            })
            .collect()
    }

    fn confirm(&self, name: &str) -> Option<Call> {
        Some(Call::new("rds", "DescribeDBParameterGroups").with("DBParameterGroupName", name))
    }

    /// Reads the declared parameters from every source, so that one that equals the engine's
    /// default counts as set.
    ///
    /// Source: the API reference of `DescribeDBParameters`, whose only filter is `parameter-name`.
    fn details(&self, desired: &Bound, _actual: &Observed) -> Vec<Call> {
        let declared = desired.declared("parameters").and_then(Value::as_object);
        let names: Vec<&String> = declared.into_iter().flatten().map(|(name, _)| name).collect();
        names
            .chunks(NAMES_PER_FILTER)
            .map(|names| {
                Call::new("rds", "DescribeDBParameters")
                    .with("DBParameterGroupName", desired.id.name.as_ref())
                    .with("Filters", json!([{ "Name": "parameter-name", "Values": names }]))
                    .with("MaxRecords", 100)
            })
            .collect()
    }

    /// The tags are read where the manifest declares some.
    fn reads_of_each(&self) -> &'static [&'static str] {
        &["DescribeDBParameters", "ListTagsForResource"]
    }

    fn read_tags(&self, actual: &Observed) -> Option<Call> {
        let arn = actual.text("DBParameterGroupArn")?;
        Some(Call::new("rds", "ListTagsForResource").with("ResourceName", arn))
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    /// A parameter group has no states.
    fn readiness(&self, _actual: &Observed) -> Readiness {
        Readiness::Ready
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

    fn delete(&self, id: &ResourceId, _actual: &Observed, _snapshot: Option<&str>) -> Deletion {
        calls::delete(id)
    }

    fn permissions(&self) -> &'static [Permission] {
        permissions::PERMISSIONS
    }

    fn classify(&self, code: &str) -> ErrorClass {
        if let Some(class) = ErrorClass::of_common(code) {
            return class;
        }
        match code {
            "DBParameterGroupNotFound" | "DBParameterGroupNotFoundFault" => ErrorClass::NotFound,
            "DBParameterGroupAlreadyExists" | "DBParameterGroupAlreadyExistsFault" => {
                ErrorClass::AlreadyExists
            }
            "InvalidDBParameterGroupState" => ErrorClass::NotReady,
            _ => ErrorClass::Invalid,
        }
    }
}
