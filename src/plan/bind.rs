//! Makes the values of a resource known, with what was observed of the resources it names.

use std::collections::BTreeMap;

use crate::model::desired::{Field, Unresolved};
use crate::model::{Bound, Observed, Resource, ResourceId};

/// Resolves the references of a resource; `present` returns one that exists and is settled.
///
/// Returns what is known, and why the other fields are not: a resource that exists is compared in
/// what is known, one that does not is made only when everything is.
pub fn bind<'a>(
    resource: &Resource,
    present: impl Fn(&ResourceId) -> Option<&'a Observed>,
) -> (Bound, BTreeMap<Field, Unresolved>) {
    let mut fields = BTreeMap::new();
    let mut unresolved = BTreeMap::new();
    for (field, input) in &resource.fields {
        match input.resolve(&present) {
            Ok(value) => drop(fields.insert(field.clone(), value)),
            Err(why) => drop(unresolved.insert(field.clone(), why)),
        }
    }
    let bound = Bound {
        id: resource.id.clone(),
        fields,
        initial: resource.initial.clone(),
        owner: resource.owner.clone(),
        adopt: resource.adopt,
    };
    (bound, unresolved)
}
