//! RDS DB subnet groups.
//!
//! [`spec`] makes the resource that a network asks for, `calls` are the calls as data.

mod calls;
mod import;
mod permissions;
pub mod spec;

use std::collections::BTreeMap;

pub(crate) mod sdk;

use serde_json::{Map, Value};

use crate::model::kind::{Deletion, List, Lists};
use crate::model::{
    Bound, Call, Compare, Delta, ErrorClass, Import, Kind, KindName, Observed, Permission, Readiness, ResourceId, Rule,
    Usage,
};

/// The name of the kind.
pub const NAME: KindName = KindName::new("db_subnet_group");

/// The kind.
pub const KIND: DbSubnetGroup = DbSubnetGroup;

/// The field rules. Source: the API reference of `DBSubnetGroup` and `ModifyDBSubnetGroup`; that a
/// group cannot move to another VPC is AWS's answer to the attempt.
const RULES: &[Rule] = &[
    Rule::new("vpcId", "VpcId", "VpcId").immutable("SubnetGroupVpcImmutable").always(),
    Rule::new("subnetIds", "Subnets", "SubnetIds")
        .compare(Compare::SetOf("SubnetIdentifier"))
        .with("vpcId")
        .always(),
    Rule::new("tags", "TagList", "Tags").compare(Compare::Tags),
];

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct DbSubnetGroup;

impl Kind for DbSubnetGroup {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "rds"
    }

    fn lists(&self) -> &'static [List] {
        &[List {
            operation: "DescribeDBSubnetGroups",
            answer: "DBSubnetGroups",
            identifier: "DBSubnetGroupName",
            only: None,
            flag: None,
            region: None,
            page_size: ("MaxRecords", 100),
            marker: ("Marker", "Marker"),
        }]
    }

    /// Names each group as AWS keeps it, in lower case.
    fn assemble(&self, mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
        lists
            .remove("DBSubnetGroups")
            .into_iter()
            .flatten()
            .filter_map(|item| match item {
                Value::Object(members) => {
                    let name = members.get("DBSubnetGroupName")?.as_str()?.to_ascii_lowercase();
                    Some((name, members))
                }
                _ => None,
            })
            .collect()
    }

    fn confirm(&self, name: &str) -> Option<Call> {
        Some(Call::new("rds", "DescribeDBSubnetGroups").with("DBSubnetGroupName", name))
    }

    fn read_tags(&self, actual: &Observed) -> Option<Call> {
        let arn = actual.text("DBSubnetGroupArn")?;
        Some(Call::new("rds", "ListTagsForResource").with("ResourceName", arn))
    }

    fn import(&self) -> Option<&'static dyn Import> {
        Some(&KIND)
    }

    fn rules(&self) -> &'static [Rule] {
        RULES
    }

    /// A subnet group has a status, and none in which it could not be changed.
    fn readiness(&self, _actual: &Observed) -> Readiness {
        Readiness::Ready
    }

    fn outputs(&self, actual: &Observed) -> BTreeMap<String, Value> {
        [("name", "DBSubnetGroupName"), ("arn", "DBSubnetGroupArn"), ("vpcId", "VpcId")]
            .into_iter()
            .filter_map(|(name, member)| Some((name.to_owned(), actual.member(member)?.clone())))
            .collect()
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

    /// AWS deletes neither a subnet nor a VPC in which a database is, and a group without its subnets is
    /// of no use.
    fn usages(&self) -> &'static [Usage] {
        const USAGES: &[Usage] = &[
            Usage::by("SubnetId", "subnet", &["Subnets", "SubnetIdentifier"]),
            Usage::by("VpcId", "vpc", &["VpcId"]),
        ];
        USAGES
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
            "DBSubnetGroupNotFoundFault" | "DBSubnetGroupNotFound" => ErrorClass::NotFound,
            "DBSubnetGroupAlreadyExists" | "DBSubnetGroupAlreadyExistsFault" => {
                ErrorClass::AlreadyExists
            }
            "InvalidDBSubnetGroupStateFault" | "InvalidDBSubnetStateFault" => ErrorClass::NotReady,
            _ => ErrorClass::Invalid,
        }
    }
}
