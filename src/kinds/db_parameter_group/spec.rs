//! The resource that a database with `parameters` asks for: a parameter group of its own.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::kinds::parameter_group;
use crate::model::{Resource, Scope};

/// Returns the name of the group of a database: `orders-postgres15`, `orders-mysql8-0`.
pub fn group_name(database: &str, family: &str) -> String {
    parameter_group::group_name(database, family)
}

/// Makes the resource of a parameter group.
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
    let kind = (super::NAME, "database");
    parameter_group::resource(kind, (scope, name, owner), family, parameters, tags)
}
