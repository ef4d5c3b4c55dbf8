//! What a guard holds back until a person confirms it, as it is stored and shown.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Key, Revision};

/// Names a set of objects that a guard froze.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Freeze {
    /// The guard, which freezes at most one set at a time: a constant of this type.
    pub guard: String,
    /// Names exactly this set: what a person confirms.
    pub digest: String,
    /// One word in CamelCase that says why.
    pub reason: String,
    /// What happened and what is held back, in a sentence for people without a duration.
    pub message: String,
    /// The objects.
    pub objects: BTreeSet<Key>,
    /// The commit with which it began, where a commit is the cause.
    pub revision: Option<Revision>,
    /// Since when exactly this set is frozen, kept to the millisecond.
    pub since: Timestamp,
}

impl Freeze {
    /// Too many objects, or sections of them, vanished from Git together: none counts as removed.
    pub const VANISHING: &'static str = "vanishing";
    /// Too many objects drifted at once: none of these is reverted.
    pub const DRIFT: &'static str = "drift";

    /// Every guard.
    pub const GUARDS: [&'static str; 2] = [Self::VANISHING, Self::DRIFT];
}
