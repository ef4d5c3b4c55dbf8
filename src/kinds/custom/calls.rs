//! The calls that make, change, take over, leave and delete a resource, as data.
//!
//! Source: the API reference of the Cloud Control API. Properties and patches are JSON texts.

use serde_json::{Value, json};

use super::patch;
use super::schema::tag_property;
use super::single::type_of;
use crate::model::desired::ownership;
use crate::model::kind::Deletion;
use crate::model::singly::member;
use crate::model::{Bound, Call, Delta, Observed, ResourceId};

fn call(operation: &'static str, id: &ResourceId) -> Call {
    Call::new("cloudcontrolapi", operation).with("TypeName", type_of(id))
}

/// Returns the call that makes the resource; what is declared as nothing is left out.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let mut properties = desired.declared("properties").cloned().unwrap_or_else(|| json!({}));
    drop_nulls(&mut properties);
    vec![call("CreateResource", &desired.id).with("DesiredState", properties.to_string())]
}

fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Returns the call that mends exactly these differences.
pub(super) fn update(desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
    let patch = patch::of(desired, actual, deltas);
    patched(&desired.id, actual, &patch).into_iter().collect()
}

/// Returns the call that sets the ownership tag; none for a type that carries no tags, whose owner
/// stands in the agent's store.
pub(super) fn own(id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
    let patch = actual
        .member(member::TYPE)
        .and_then(tag_property)
        .map(|(property, is_map)| patch::tags(actual, property, is_map, &ownership(owner)));
    patched(id, actual, &patch.unwrap_or_default()).into_iter().collect()
}

fn patched(id: &ResourceId, actual: &Observed, patch: &[Value]) -> Option<Call> {
    let identifier = actual.text(member::IDENTIFIER).filter(|_| !patch.is_empty())?;
    let document = Value::from(patch).to_string();
    let update = call("UpdateResource", id).with("Identifier", identifier);
    Some(update.with("PatchDocument", document))
}

/// Returns the call that deletes the resource.
pub(super) fn delete(id: &ResourceId, actual: &Observed) -> Deletion {
    let delete = |identifier| call("DeleteResource", id).with("Identifier", identifier);
    let calls = actual.text(member::IDENTIFIER).map(delete).into_iter().collect();
    Deletion { calls, notices: Vec::new() }
}
