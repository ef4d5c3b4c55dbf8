//! The smallest JSON Patch (RFC 6902) that gives a resource what is declared.
//!
//! Only declared properties are named, objects member by member, so that what Git does not speak of
//! stays. Lists are replaced whole: their items have no names. Properties that AWS never shows
//! travel with every patch, since the service would otherwise lose them.
//!
//! Source: "Updating a resource" in the Cloud Control API User Guide.

use serde_json::{Map, Value, json};

use super::facts::with_tags;
use super::schema::{listed, tag_property};
use crate::model::problem::pointer_part;
use crate::model::singly::member;
use crate::model::{Bound, Delta, Observed};

/// Returns the operations that mend the differences.
pub(super) fn of(desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Value> {
    let nothing = Value::Null;
    let facts = actual.member(member::TYPE).unwrap_or(&nothing);
    let wanted = desired.declared("properties").and_then(Value::as_object);
    let differs = |name: &str| deltas.iter().any(|it| it.field == format!("properties.{name}"));
    let mut patch = Patch { facts, operations: Vec::new() };
    for (name, want) in wanted.into_iter().flatten() {
        let have = actual.member(member::PROPERTIES).and_then(|it| it.get(name));
        if patch.is(name, "writeOnly") {
            patch.put("add", &pointer(&[name]), want);
        } else if !differs(name) {
            continue;
        } else if let Some(is_map) = are_tags(facts, name, want) {
            patch.operations.extend(tags(actual, name, is_map, &set(want)));
        } else {
            patch.value(&[name], want, have);
        }
    }
    patch.operations
}

/// Tells whether a property holds tags, and whether they are a mapping; without a schema, by what
/// they look like.
fn are_tags(facts: &Value, name: &str, want: &Value) -> Option<bool> {
    if facts.get("tags").is_some() {
        return tag_property(facts).filter(|it| it.0 == name).map(|(_, is_map)| is_map);
    }
    let is_tag = |item: &Value| item.get("Key").is_some() && item.get("Value").is_some();
    let are_tags = name == "Tags" && want.as_array().is_some_and(|it| it.iter().all(is_tag));
    are_tags.then_some(false)
}

/// Returns the operation that sets these tags and leaves all others.
pub(super) fn tags(
    actual: &Observed,
    property: &str,
    is_map: bool,
    set: &Map<String, Value>,
) -> Vec<Value> {
    let there = actual.member(member::PROPERTIES).and_then(|it| it.get(property));
    let all = with_tags(there.unwrap_or(&Value::Null), set, is_map);
    let operation = if there.is_some() { "replace" } else { "add" };
    vec![json!({"op": operation, "path": pointer(&[property]), "value": all})]
}

/// Reads declared tags, in either form.
fn set(want: &Value) -> Map<String, Value> {
    super::facts::tags(Some(want)).into_iter().map(|(key, value)| (key, value.into())).collect()
}

struct Patch<'a> {
    facts: &'a Value,
    operations: Vec<Value>,
}

impl Patch<'_> {
    fn is(&self, path: &str, what: &str) -> bool {
        listed(self.facts, what).any(|listed| listed == path)
    }

    fn put(&mut self, operation: &str, path: &str, value: &Value) {
        self.operations.push(json!({"op": operation, "path": path, "value": value}));
    }

    fn value(&mut self, path: &[&str], want: &Value, have: Option<&Value>) {
        let name = path.join(".");
        if self.is(&name, "createOnly") || self.is(&name, "readOnly") {
            return;
        }
        let have = have.filter(|have| !have.is_null());
        match (want, have) {
            (Value::Null, None) => {}
            (Value::Null, Some(_)) => {
                self.operations.push(json!({"op": "remove", "path": pointer(path)}));
            }
            (Value::Object(members), Some(Value::Object(there))) => {
                for (key, member) in members {
                    let path = [path, &[key.as_str()]].concat();
                    self.value(&path, member, there.get(key));
                }
            }
            (want, Some(have)) if written(want) == written(have) => {}
            (want, Some(_)) => self.put("replace", &pointer(path), want),
            (want, None) => self.put("add", &pointer(path), want),
        }
    }
}

/// Writes a value so that a number and its text are the same.
fn written(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn pointer(path: &[&str]) -> String {
    path.iter().map(|part| format!("/{}", pointer_part(part))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::model::{AccountId, Region, ResourceId, Scope};

    fn bound(properties: Value) -> Bound {
        let scope = Scope { account: AccountId::new("1"), region: Region::new("eu-west-1") };
        let id = ResourceId { kind: super::super::NAME, scope, name: "AWS::X::Y/a-b".into() };
        Bound {
            id,
            fields: BTreeMap::from([("properties".into(), properties)]),
            initial: BTreeMap::new(),
            owner: "o".into(),
            adopt: false,
        }
    }

    fn observed(properties: Value, facts: Value) -> Observed {
        let members = [("Properties", properties), ("Type", facts)];
        let members = members.into_iter().map(|(name, it)| (name.to_owned(), it)).collect();
        Observed { members, tags: None, at: jiff::Timestamp::UNIX_EPOCH }
    }

    fn delta(name: &str) -> Delta {
        serde_json::from_value(json!({
            "field": format!("properties.{name}"), "parameter": "PatchDocument", "from": null,
            "to": null, "why": "", "disruption": "None", "security": false,
        }))
        .unwrap()
    }

    #[test]
    fn a_patch_names_what_differs_and_nothing_else() {
        let want = json!({
            "Size": 5, "Same": "1", "Gone": null, "New": [1], "Deep": {"A": 1, "B": {"C": 2}, "x/y": 3},
            "Secret": "s",
        });
        let have = json!({
            "Size": 4, "Same": 1, "Gone": {}, "Deep": {"A": "1", "B": {"C": 3, "D": 4}}, "Other": 9,
        });
        let facts = json!({"writeOnly": ["Secret"]});
        let deltas: Vec<Delta> = ["Size", "Gone", "New", "Deep"].map(delta).into();
        let made = of(&bound(want), &observed(have, facts), &deltas);
        let expected = json!([
            {"op": "replace", "path": "/Deep/B/C", "value": 2},
            {"op": "add", "path": "/Deep/x~1y", "value": 3},
            {"op": "remove", "path": "/Gone"},
            {"op": "add", "path": "/New", "value": [1]},
            {"op": "add", "path": "/Secret", "value": "s"},
            {"op": "replace", "path": "/Size", "value": 5},
        ]);
        assert_eq!(Value::from(made), expected);
    }

    #[test]
    fn other_tags_stay_when_one_is_set() {
        let facts = json!({"tags": {"property": "Tags", "map": false}});
        let have = json!({"Tags": [{"Key": "levelset:owner", "Value": "o"}, {"Key": "a", "Value": "1"}]});
        let want = json!({"Tags": [{"Key": "a", "Value": "2"}]});
        let made = of(&bound(want), &observed(have, facts), &[delta("Tags")]);
        let all = json!([{"Key": "a", "Value": "2"}, {"Key": "levelset:owner", "Value": "o"}]);
        assert_eq!(made, [json!({"op": "replace", "path": "/Tags", "value": all})]);
    }
}
