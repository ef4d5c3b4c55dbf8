//! How the generation of an object goes on: it grows when the object declares something else, and only
//! then.
//!
//! In: an object, and what the cache or the store knows of it. Out: its next [`Entry`], what changed,
//! and whether the generation is new. Pure.

use std::sync::Arc;

use super::{Change, Entry, Orphan};
use crate::manifest::Object;
use crate::model::{Generation, Revision};

/// Makes the entry that follows `entry`; says what changed and whether its generation is new.
pub(super) fn succeed(
    entry: &Entry,
    object: Arc<Object>,
    revision: &Revision,
) -> (Entry, Option<Change>, bool) {
    let is_new = entry.object.digest != object.digest;
    let change = if entry.removed.is_some() {
        Some(Change::Returned)
    } else if is_new {
        Some(Change::Spec)
    } else if entry.object.annotations != object.annotations {
        Some(Change::Annotations)
    } else {
        None
    };
    let (generation, revision) = match is_new {
        true => (Generation(entry.generation.0 + 1), revision),
        false => (entry.generation, &entry.revision),
    };
    let next = Entry { object, generation, revision: revision.clone(), removed: None };
    (next, change, is_new)
}

/// Makes the first entry of an object, from what the store remembers of it; `last` is the
/// generation with which it was forgotten, or zero.
pub(super) fn appear(
    orphan: Option<Orphan>,
    last: Generation,
    object: Arc<Object>,
    revision: &Revision,
) -> (Entry, Option<Change>, bool) {
    let (generation, since, is_new) = match orphan {
        Some(orphan) if orphan.digest == object.digest => {
            (orphan.generation, orphan.revision.unwrap_or_else(|| revision.clone()), false)
        }
        Some(orphan) => (Generation(orphan.generation.0 + 1), revision.clone(), true),
        None => (Generation(last.0 + 1), revision.clone(), true),
    };
    let entry = Entry { object, generation, revision: since, removed: None };
    (entry, Some(Change::Appeared), is_new)
}
