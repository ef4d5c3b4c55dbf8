//! How one resource is read.
//!
//! Source: the API reference of the Cloud Control API, and "Identifying resources" in its User Guide:
//! an identifier of several properties joins their values with `|`.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::schema::{self, listed, tag_property};
use super::{Custom, facts};
use crate::model::desired::ownership;
use crate::model::handle::Receipt;
use crate::model::singly::{Singly, Stage};
use crate::model::{Bound, Call, ResourceId};

const SERVICE: &str = "cloudcontrolapi";

/// Returns the type that a resource's name begins with.
pub(super) fn type_of(id: &ResourceId) -> &str {
    id.name.split_once('/').map_or(&*id.name, |(type_name, _)| type_name)
}

impl Singly for Custom {
    fn read_type(&self, id: &ResourceId) -> Call {
        Call::new("cloudformation", "DescribeType")
            .with("Type", "RESOURCE")
            .with("TypeName", type_of(id))
    }

    fn facts(&self, answer: &Value) -> Option<Value> {
        schema::facts(answer)
    }

    fn without_facts(&self, reason: &str, exists: bool) -> Value {
        json!({ (if exists { "unknown" } else { "missing" }): reason })
    }

    fn read_request(&self, request: &str) -> Call {
        Call::new(SERVICE, "GetResourceRequestStatus").with("RequestToken", request)
    }

    fn request(&self, answer: &Value) -> Option<Value> {
        let event = answer.get("ProgressEvent")?;
        event.get("OperationStatus")?.as_str()?;
        Some(event.clone())
    }

    fn stage(&self, request: &Value) -> (Stage, bool) {
        (facts::stage(request), request.get("Operation") == Some(&"CREATE".into()))
    }

    fn read(&self, id: &ResourceId, identifier: &str) -> Call {
        Call::new(SERVICE, "GetResource")
            .with("TypeName", type_of(id))
            .with("Identifier", identifier)
    }

    fn resource(&self, answer: &Value) -> Option<(String, Map<String, Value>)> {
        let description = answer.get("ResourceDescription")?;
        let identifier = description.get("Identifier")?.as_str()?.to_owned();
        let properties = match description.get("Properties")? {
            Value::String(text) => serde_json::from_str(text).ok()?,
            Value::Object(members) => members.clone(),
            _ => return None,
        };
        Some((identifier, properties))
    }

    fn identifier(&self, declared: &Bound, facts: &Value) -> Option<String> {
        let properties = declared.declared("properties")?;
        let assigned: Vec<&str> = listed(facts, "readOnly").collect();
        let value = |path: &str| {
            let is_ours = !assigned.contains(&path);
            let found = path.split('.').try_fold(properties, |value, part| value.get(part));
            match found.filter(|_| is_ours)? {
                Value::String(text) if !text.is_empty() => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            }
        };
        let parts: Option<Vec<String>> = listed(facts, "primary").map(value).collect();
        parts.filter(|parts| !parts.is_empty()).map(|parts| parts.join("|"))
    }

    fn tags(
        &self,
        properties: &Map<String, Value>,
        facts: &Value,
    ) -> Option<BTreeMap<String, String>> {
        let (property, _) = tag_property(facts)?;
        Some(facts::tags(properties.get(property)))
    }

    fn prepare(&self, declared: &mut Bound, facts: &Value) {
        let Some((property, is_map)) = tag_property(facts) else { return };
        let owner = ownership(&declared.owner);
        let Some(Value::Object(properties)) = declared.fields.get_mut("properties") else { return };
        let there = properties.get(property).cloned().unwrap_or(Value::Null);
        properties.insert(property.to_owned(), facts::with_tags(&there, &owner, is_map));
    }

    fn receipt(&self, answer: &Value) -> Option<Receipt> {
        let event = answer.get("ProgressEvent")?;
        let text = |name: &str| event.get(name)?.as_str().map(str::to_owned);
        Some(Receipt { request: text("RequestToken")?, identifier: text("Identifier") })
    }
}
