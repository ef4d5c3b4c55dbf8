//! Resolves the references of a resource with what was observed of the resources it names.

use serde_json::Value;

use crate::model::{Bound, Input, Observed, Resource, ResourceId};

/// Makes every value of a resource known.
///
/// `present` returns a resource that exists and is settled.
///
/// # Errors
///
/// The first resource that has to exist and settle before this one is known.
pub fn bind<'a>(
    resource: &Resource,
    present: &dyn Fn(&ResourceId) -> Option<&'a Observed>,
) -> Result<Bound, ResourceId> {
    let mut fields = std::collections::BTreeMap::new();
    for (field, input) in &resource.fields {
        fields.insert(field.clone(), value(input, present)?);
    }
    Ok(Bound {
        id: resource.id.clone(),
        fields,
        initial: resource.initial.clone(),
        owner: resource.owner.clone(),
        adopt: resource.adopt,
    })
}

fn value<'a>(
    input: &Input,
    present: &dyn Fn(&ResourceId) -> Option<&'a Observed>,
) -> Result<Value, ResourceId> {
    match input {
        Input::Known(value) => Ok(value.clone()),
        Input::Output { of, member } => present(of)
            .and_then(|observed| observed.member(member))
            .filter(|value| !is_empty(value))
            .cloned()
            .ok_or_else(|| of.clone()),
    }
}

/// An output that is there but empty (a VPC without subnets) is not there yet.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}
