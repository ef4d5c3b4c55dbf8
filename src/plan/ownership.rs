//! Whose a resource is, by its ownership tag.

use std::collections::BTreeMap;

use crate::model::desired::{OWNER_TAG, retained_by};
use crate::model::{Bound, Refusal};

/// Says whose a resource is.
pub(super) enum Ownership {
    /// It carries our tag.
    Ours,
    /// It is to be taken over: the manifest says so, or it is back where it was left.
    ToAdopt,
    /// Its tags were not read.
    Unknown,
    /// It is somebody else's.
    Foreign(Refusal),
}

/// Reads the ownership tag.
pub(super) fn ownership(bound: &Bound, tags: Option<&BTreeMap<String, String>>) -> Ownership {
    let Some(tags) = tags else { return Ownership::Unknown };
    match tags.get(OWNER_TAG) {
        Some(owner) if *owner == bound.owner => Ownership::Ours,
        Some(owner) => match retained_by(owner) {
            Some(before) => left(bound, before),
            None => Ownership::Foreign(refusal(
                "OwnedByAnother",
                format!("{} belongs to {owner}, not to {}", bound.id, bound.owner),
                format!(
                    "remove it from one of the two manifests, or remove the tag {OWNER_TAG} in AWS"
                ),
            )),
        },
        None if bound.adopt => Ownership::ToAdopt,
        None => Ownership::Foreign(refusal(
            "NotOwned",
            format!("{} exists and does not carry the tag {OWNER_TAG}={}", bound.id, bound.owner),
            "to take it over, set adopt: true on this resource in the manifest".to_owned(),
        )),
    }
}

/// What an object left in AWS is its own again when its manifest is back; another object has to say
/// that it wants it.
fn left(bound: &Bound, before: &str) -> Ownership {
    if before == bound.owner || bound.adopt {
        return Ownership::ToAdopt;
    }
    Ownership::Foreign(refusal(
        "RetainedByAnother",
        format!("{} was left in AWS when {before} was removed from Git", bound.id),
        "to take it over, set adopt: true on this resource in the manifest".to_owned(),
    ))
}

fn refusal(code: &str, message: String, help: String) -> Refusal {
    Refusal { field: String::new(), code: code.to_owned(), message, help }
}
