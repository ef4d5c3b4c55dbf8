//! What the schema says of every field.

use super::*;

/// The keywords that a [`Shape`] understands, or that only guide editors.
const UNDERSTOOD: [&str; 20] = [
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "default",
    "description",
    "enum",
    "examples",
    "format",
    "items",
    "maxLength",
    "maximum",
    "minLength",
    "minimum",
    "oneOf",
    "pattern",
    "properties",
    "required",
    "title",
    "type",
];

/// Calls `see` with the path of every schema and the schema.
fn visit(schema: &Value, path: &str, see: &mut dyn FnMut(&str, &Map<String, Value>)) {
    let Value::Object(members) = schema else { return };
    see(path, members);
    for (keyword, value) in members {
        match (keyword.as_str(), value) {
            ("properties" | "$defs", Value::Object(named)) => {
                named
                    .iter()
                    .for_each(|(name, schema)| visit(schema, &format!("{path}/{name}"), see));
            }
            ("anyOf" | "oneOf", Value::Array(branches)) => {
                branches.iter().for_each(|schema| visit(schema, path, see));
            }
            ("items" | "additionalProperties", schema) => visit(schema, path, see),
            _ => {}
        }
    }
}

fn documents() -> Vec<Value> {
    let (specs, defs) = specs();
    let with_defs = |spec: &Value| {
        let mut document = envelope(spec);
        merge(&mut document, json!({"$defs": defs}));
        document
    };
    specs.iter().map(|(_, spec)| with_defs(spec)).collect()
}

#[test]
fn every_keyword_of_the_schema_is_understood_by_the_checks() {
    let mut seen = 0;
    for document in documents() {
        visit(&document, "", &mut |path, members| {
            for keyword in members.keys().filter(|keyword| *keyword != "$defs") {
                seen += 1;
                assert!(UNDERSTOOD.contains(&keyword.as_str()), "{path} uses {keyword}");
            }
        });
    }
    assert!(seen > 100);
}

#[test]
fn every_field_has_a_description_and_every_optional_one_says_what_leaving_it_out_means() {
    let mut bare = Vec::new();
    for document in documents() {
        visit(&document, "", &mut |path, members| {
            let Some(Value::Object(fields)) = members.get("properties") else { return };
            let required = members.get("required").and_then(Value::as_array);
            let is_required =
                |name: &str| required.is_some_and(|list| list.iter().any(|field| field == name));
            for (name, field) in fields {
                let text = field.get("description").and_then(Value::as_str).unwrap_or_default();
                let says_default = ["efault", "not managed"].iter().any(|word| text.contains(word));
                if text.is_empty()
                    || !(is_required(name)
                        || says_default
                        || field.get("default").is_some_and(|value| !value.is_null()))
                {
                    bare.push(format!("{path}/{name}: {text}"));
                }
            }
        });
    }
    assert!(bare.is_empty(), "{bare:#?}");
}

#[test]
fn a_value_that_equals_its_default_is_no_part_of_the_canonical_form() {
    let shape = shape(ObjectKind::Workspace).member("spec").unwrap();
    let written_out = json!({"environment": "e", "resources": {"database": null},
        "reconcilePolicy": {"resyncIntervalSeconds": 300, "drift": "report", "ignore": []}});
    let short =
        json!({"environment": "e", "resources": {}, "reconcilePolicy": {"drift": "report"}});
    assert_eq!(shape.canonical(&written_out), shape.canonical(&short));
    let other = json!({"environment": "e", "resources": {}, "reconcilePolicy": {}});
    assert_ne!(shape.canonical(&written_out), shape.canonical(&other));
}
