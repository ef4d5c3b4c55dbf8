//! The resource that a database with `parameters` asks for: a parameter group of its own.
//!
//! The name holds the family, so that a major upgrade makes a new group beside the old one and the
//! database moves over in the same call that upgrades it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::{Input, Resource, ResourceId, Scope};

/// Returns the name of the group of a database: `orders-postgres15`, `orders-mysql8-0`.
pub fn group_name(database: &str, family: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("{database}-{family}").chars().map(allowed).collect()
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
    let mut fields = BTreeMap::from([
        (Cow::Borrowed("family"), Input::Known(family.into())),
        (
            Cow::Borrowed("parameters"),
            Input::Known(Value::Object(parameters.into_iter().collect())),
        ),
    ]);
    if let Some(tags) = tags {
        fields.insert(Cow::Borrowed("tags"), Input::Known(json!(tags)));
    }
    Resource {
        id: ResourceId {
            kind: super::NAME,
            scope: scope.clone(),
            name: name.to_ascii_lowercase().into(),
        },
        section: Cow::Borrowed("database"),
        fields,
        initial: BTreeMap::new(),
        owner: owner.to_owned(),
        adopt: false,
        notices: Vec::new(),
        refusals: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_holds_only_what_rds_allows_in_it() {
        assert_eq!(group_name("orders", "postgres15"), "orders-postgres15");
        assert_eq!(group_name("Orders", "mysql8.0"), "orders-mysql8-0");
        assert_eq!(group_name("orders", "sqlserver-se-15.0"), "orders-sqlserver-se-15-0");
    }
}
