//! Makes every value of a resource known, with what was observed of the resources it names.

use std::collections::BTreeMap;

use crate::model::desired::Unresolved;
use crate::model::{Bound, Observed, Resource, ResourceId};

/// Resolves the references of a resource; `present` returns one that exists and is settled.
///
/// # Errors
///
/// The first reference that has no value yet.
pub fn bind<'a>(
    resource: &Resource,
    present: impl Fn(&ResourceId) -> Option<&'a Observed>,
) -> Result<Bound, Unresolved> {
    let mut fields = BTreeMap::new();
    for (field, input) in &resource.fields {
        fields.insert(field.clone(), input.resolve(&present)?);
    }
    Ok(Bound {
        id: resource.id.clone(),
        fields,
        initial: resource.initial.clone(),
        owner: resource.owner.clone(),
        adopt: resource.adopt,
    })
}
