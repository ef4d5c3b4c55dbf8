//! The JSON Schema of manifests, for editors, and compiled for the checks.

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::annotations::KNOWN;
use super::envelope::{API_VERSION, KINDS};
use super::name;
use super::network::NetworkSpec;
use super::shape::Shape;
use super::workspace::WorkspaceSpec;
use crate::model::ObjectKind;

/// Returns the JSON Schema (draft 2020-12) of a manifest of any kind.
pub fn json_schema() -> Value {
    let (specs, defs) = specs();
    let mut schema = envelope(&json!({"type": "object"}));
    let conditions = specs.iter().map(|(kind, spec)| {
        json!({
            "if": {"properties": {"kind": {"const": kind.as_str()}}, "required": ["kind"]},
            "then": {"properties": {"spec": spec}},
        })
    });
    let extra = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": format!("https://{API_VERSION}/schema.json"),
        "title": "Levelset manifest",
        "allOf": conditions.collect::<Vec<_>>(),
        "$defs": defs,
    });
    merge(&mut schema, extra);
    schema
}

/// Returns the shape of a whole manifest of a kind.
pub(super) fn shape(kind: ObjectKind) -> &'static Shape {
    static SHAPES: LazyLock<Vec<(ObjectKind, Shape)>> = LazyLock::new(|| {
        let (specs, defs) = specs();
        let compile = |spec: &Value| Shape::compile(&envelope(spec), &defs);
        specs.iter().map(|(kind, spec)| (*kind, compile(spec))).collect()
    });
    static ANY: Shape = Shape::ANY;
    SHAPES.iter().find(|(known, _)| *known == kind).map_or(&ANY, |(_, shape)| shape)
}

/// Returns the schema of each kind's `spec`, and the definitions that they refer to.
fn specs() -> (Vec<(ObjectKind, Value)>, Map<String, Value>) {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let specs = KINDS
        .into_iter()
        .map(|kind| {
            let spec = match kind {
                ObjectKind::Workspace => generator.subschema_for::<WorkspaceSpec>(),
                ObjectKind::Network => generator.subschema_for::<NetworkSpec>(),
            };
            (kind, spec.to_value())
        })
        .collect();
    (specs, generator.take_definitions(true))
}

fn envelope(spec: &Value) -> Value {
    let mut spec = spec.clone();
    merge(
        &mut spec,
        json!({"description": "What is declared. Fields that are left out are not managed."}),
    );
    json!({
        "description": "Declares one object that Levelset keeps AWS level with.",
        "type": "object",
        "properties": {
            "apiVersion": {"description": "The version of the format.", "const": API_VERSION},
            "kind": {"description": "The kind of the object.", "oneOf": [
                {"const": "Workspace", "description": "One environment of one team."},
                {"const": "Network", "description": "An existing VPC and its subnets for databases."},
            ]},
            "metadata": metadata(),
            "spec": spec,
            "status": {"description": "Ignored: the status is what the agent reports. Default: left out."},
        },
        "required": ["apiVersion", "kind", "metadata", "spec"],
        "additionalProperties": false,
    })
}

fn metadata() -> Value {
    let annotations: Map<String, Value> = KNOWN
        .iter()
        .map(|(key, about)| ((*key).to_owned(), json!({"type": "string", "description": about})))
        .collect();
    json!({
        "description": "Names the object.",
        "type": "object",
        "properties": {
            "name": {
                "description": "The name, unique among the objects of its kind in the repository. It \
                    becomes part of the names in AWS and cannot be changed: another name is another \
                    object. Lower-case letters, digits and single hyphens; starts with a letter.",
                "type": "string",
                "maxLength": name::LONGEST,
                "pattern": name::PATTERN,
                "examples": ["team-payments-prod"],
            },
            "annotations": {
                "description": "Texts by key; those of other tools are left alone. Default: none.",
                "type": "object",
                "properties": annotations,
                "additionalProperties": {"type": "string"},
                "default": {},
            },
        },
        "required": ["name"],
        "additionalProperties": false,
    })
}

fn merge(into: &mut Value, extra: Value) {
    if let (Value::Object(into), Value::Object(extra)) = (into, extra) {
        into.extend(extra);
    }
}

#[cfg(test)]
mod tests;
