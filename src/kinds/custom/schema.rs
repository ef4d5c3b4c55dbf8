//! What the schema of a type says, as far as comparing and changing its resources need it.
//!
//! In: the answer of `DescribeType`. Out: a small document that stands in observations:
//!
//! | member | what it holds |
//! |---|---|
//! | `primary` | the properties that the identifier is made of |
//! | `readOnly`, `writeOnly`, `createOnly` | paths of properties, with dots; `*` is any item |
//! | `sets` | paths of lists whose order means nothing |
//! | `tags` | `property`, and `map` when tags are a mapping; null for a type without tags |
//! | `unknown` | why the schema could not be read |
//! | `missing` | why there is no such type |
//!
//! Source: "Resource type definition schema" in the CloudFormation CLI User Guide.

use serde_json::{Map, Value, json};

/// How deep definitions are followed; some of them contain themselves.
const DEEPEST: usize = 6;

/// Reads the answer of `DescribeType`.
pub(super) fn facts(answer: &Value) -> Option<Value> {
    let schema: Value = match answer.get("Schema")? {
        Value::String(text) => serde_json::from_str(text).ok()?,
        other => other.clone(),
    };
    let properties = schema.get("properties")?.as_object()?;
    let paths = |member: &str| paths(&schema, member);
    let mut sets = Vec::new();
    for (name, property) in properties {
        find_sets(property, name.clone(), (&schema, DEEPEST), &mut sets);
    }
    Some(json!({
        "primary": paths("primaryIdentifier"),
        "readOnly": paths("readOnlyProperties"),
        "writeOnly": paths("writeOnlyProperties"),
        "createOnly": paths("createOnlyProperties"),
        "sets": sets,
        "tags": tags(&schema, properties),
    }))
}

/// Lists the pointers `/properties/A/B` of a member as `A.B`.
fn paths(schema: &Value, member: &str) -> Vec<String> {
    let pointers = schema.get(member).and_then(Value::as_array).into_iter().flatten();
    pointers.filter_map(Value::as_str).map(path).collect()
}

fn path(pointer: &str) -> String {
    pointer.trim_start_matches("/properties/").replace('/', ".").replace(".items.", ".*.")
}

/// Returns where tags stand, if the type takes them and shows them.
fn tags(schema: &Value, properties: &Map<String, Value>) -> Value {
    let tagging = schema.get("tagging");
    let flag = |value: Option<&Value>| value.and_then(Value::as_bool);
    let takes = flag(tagging.and_then(|it| it.get("taggable"))).or(flag(schema.get("taggable")));
    let named = tagging.and_then(|it| it.get("tagProperty")).and_then(Value::as_str).map(path);
    let property = named.unwrap_or_else(|| "Tags".to_owned());
    let Some(definition) = properties.get(&property) else { return Value::Null };
    let is_hidden = paths(schema, "writeOnlyProperties").contains(&property);
    if takes == Some(false) || is_hidden {
        return Value::Null;
    }
    let form = resolve(definition, schema).get("type").and_then(Value::as_str);
    json!({"property": property, "map": form == Some("object")})
}

/// Follows a reference to a definition.
fn resolve<'a>(property: &'a Value, schema: &'a Value) -> &'a Value {
    let target = property.get("$ref").and_then(Value::as_str);
    let pointer = target.and_then(|target| target.strip_prefix('#'));
    pointer.and_then(|pointer| schema.pointer(pointer)).unwrap_or(property)
}

fn find_sets(
    property: &Value,
    path: String,
    (schema, deep): (&Value, usize),
    found: &mut Vec<String>,
) {
    if deep == 0 {
        return;
    }
    let property = resolve(property, schema);
    let is = |member: &str, wanted: bool| property.get(member) == Some(&Value::Bool(wanted));
    let below = (schema, deep - 1);
    if let Some(items) = property.get("items") {
        if is("insertionOrder", false) || is("uniqueItems", true) {
            found.push(path.clone());
        }
        find_sets(items, format!("{path}.*"), below, found);
    }
    let members = property.get("properties").and_then(Value::as_object);
    for (name, member) in members.into_iter().flatten() {
        find_sets(member, format!("{path}.{name}"), below, found);
    }
}

/// Returns the property that carries tags, and whether they are a mapping.
pub(super) fn tag_property(facts: &Value) -> Option<(&str, bool)> {
    let tags = facts.get("tags")?;
    Some((tags.get("property")?.as_str()?, tags.get("map") == Some(&Value::Bool(true))))
}

/// Lists the paths of a member of the facts.
pub(super) fn listed<'a>(facts: &'a Value, member: &str) -> impl Iterator<Item = &'a str> {
    facts.get(member).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_read_for_what_comparisons_need() {
        let schema = json!({
            "typeName": "AWS::X::Y",
            "properties": {
                "Name": {"type": "string"},
                "Rules": {"type": "array", "insertionOrder": false, "items": {"$ref": "#/definitions/Rule"}},
                "Steps": {"type": "array", "items": {"type": "string"}},
                "Tags": {"type": "array", "uniqueItems": true, "items": {"type": "object"}},
            },
            "definitions": {"Rule": {"type": "object", "properties": {
                "Ports": {"type": "array", "uniqueItems": true, "items": {"type": "integer"}},
                "Again": {"$ref": "#/definitions/Rule"},
            }}},
            "primaryIdentifier": ["/properties/Name"],
            "createOnlyProperties": ["/properties/Name", "/properties/Rules/Ports"],
            "readOnlyProperties": ["/properties/Arn"],
            "tagging": {"taggable": true, "tagProperty": "/properties/Tags"},
        });
        let facts = facts(&json!({"Schema": schema.to_string()})).unwrap();
        assert_eq!(facts["primary"], json!(["Name"]));
        assert_eq!(facts["createOnly"], json!(["Name", "Rules.Ports"]));
        assert_eq!(facts["readOnly"], json!(["Arn"]));
        let sets: Vec<&str> = listed(&facts, "sets").collect();
        assert!(["Rules", "Rules.*.Ports", "Tags"].iter().all(|it| sets.contains(it)), "{sets:?}");
        assert!(!sets.contains(&"Steps"));
        assert_eq!(tag_property(&facts), Some(("Tags", false)));
    }

    #[test]
    fn a_type_whose_tags_are_not_shown_carries_none() {
        let of = |more: Value| {
            let mut schema = json!({"properties": {"Tags": {"type": "object"}}});
            schema.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            facts(&json!({ "Schema": schema })).unwrap()
        };
        assert_eq!(tag_property(&of(json!({}))), Some(("Tags", true)));
        assert_eq!(tag_property(&of(json!({"taggable": false}))), None);
        assert_eq!(tag_property(&of(json!({"writeOnlyProperties": ["/properties/Tags"]}))), None);
        assert_eq!(facts(&json!({"Schema": "no json"})), None);
    }
}
