//! The resource that a cluster with `parameters` asks for: a cluster parameter group of its own.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::kinds::parameter_group;
use crate::model::{Resource, Scope};

/// Returns the name of the group of a cluster: `orders-cluster-aurora-postgresql16`.
///
/// It differs from that of the group of its members, which consoles list beside it.
pub fn group_name(database: &str, family: &str) -> String {
    parameter_group::group_name(&format!("{database}-cluster"), family)
}

/// Makes the resource of a cluster parameter group.
///
/// A parameter is a text, or an object with `value` and `applyMethod`, or one with `reset: true`.
pub fn resource(
    scope: &Scope,
    name: &str,
    owner: &str,
    family: &str,
    parameters: BTreeMap<String, Value>,
    tags: Option<&BTreeMap<String, String>>,
) -> Resource {
    let kind = (super::NAME, "database.cluster");
    parameter_group::resource(kind, (scope, name, owner), family, parameters, tags)
}
