//! The guard on vanishing: how many objects may disappear from Git before a person is asked.
//!
//! In: the keys that are about to count as removed, and those of which sections are that would be
//! deleted. Out: nothing, or why they are frozen.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::model::{Key, Revision};

/// Says how many objects may be on their way out at once without a person's word.
///
/// The larger of the two bounds counts, so that small repositories are not held by the share and
/// large ones not by the number. Removals that wait for their end count; confirmed ones do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// As a number of objects. Default 5.
    pub max_objects: usize,
    /// As a share of all known objects, in percent, rounded down. Default 20.
    pub max_percent: u8,
}

impl Default for Guard {
    fn default() -> Self {
        Self { max_objects: 5, max_percent: 20 }
    }
}

/// Says why objects that vanished are not taken as removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FreezeReason {
    /// More vanished than the guard allows.
    TooMany,
    /// No object is left: an empty folder is more often a mistake than a wish.
    NothingLeft,
}

impl FreezeReason {
    /// Returns the word for conditions and metric labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TooMany => "TooMany",
            Self::NothingLeft => "NothingLeft",
        }
    }
}

/// Names objects that vanished together, or lost sections whose resources would be deleted, and are
/// kept as they were until a person confirms or they return.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frozen {
    /// Names exactly this set of keys: what a person confirms.
    pub digest: String,
    /// The objects that vanished, and those of which sections left.
    pub keys: BTreeSet<Key>,
    /// What the latter would have deleted.
    #[serde(default)]
    pub losing: BTreeMap<Key, BTreeSet<String>>,
    /// Why they are frozen.
    pub reason: FreezeReason,
    /// The commit in which exactly this set was first missing.
    pub revision: Revision,
}

impl Frozen {
    pub(super) fn new(
        vanished: BTreeSet<Key>,
        losing: BTreeMap<Key, BTreeSet<String>>,
        reason: FreezeReason,
        revision: Revision,
    ) -> Self {
        let digest = digest(&vanished, &losing);
        let keys = vanished.into_iter().chain(losing.keys().cloned()).collect();
        Self { digest, keys, losing, reason, revision }
    }

    /// Says what happened and what is held back, without a duration.
    pub fn told(&self) -> String {
        let commit = self.revision.short();
        let what = match self.reason {
            FreezeReason::TooMany if self.losing.is_empty() => {
                format!("{} objects vanished from Git together", self.keys.len())
            }
            FreezeReason::TooMany => {
                let (lost, vanished) = (self.losing.len(), self.keys.len() - self.losing.len());
                let lost = format!("{lost} objects lost sections that would be deleted");
                match vanished {
                    0 => lost,
                    _ => format!("{vanished} objects vanished from Git and {lost}"),
                }
            }
            FreezeReason::NothingLeft => "no object is left in Git".to_owned(),
        };
        format!("{what}, seen in commit {commit}; none of it counts as removed")
    }
}

/// Counts the objects, as the guard needs it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Census {
    /// Every object that is known, removed ones included.
    pub(super) known: usize,
    /// Those that a manifest declares now.
    pub(super) listed: usize,
    /// Those that are removed, not confirmed by a person, and not forgotten yet.
    pub(super) leaving: usize,
}

impl Guard {
    /// Returns how many objects may be on their way out at once among `known`.
    pub fn limit(self, known: usize) -> usize {
        self.max_objects.max(known.saturating_mul(usize::from(self.max_percent)) / 100)
    }

    /// Says whether `vanished` more objects may be taken as removed, wholly or in sections.
    pub(super) fn objects_to(self, vanished: usize, census: Census) -> Option<FreezeReason> {
        if vanished == 0 {
            None
        } else if census.leaving + vanished > self.limit(census.known) {
            Some(FreezeReason::TooMany)
        } else if census.listed == 0 {
            Some(FreezeReason::NothingLeft)
        } else {
            None
        }
    }
}

/// Returns twelve hexadecimal digits that stand for what vanished.
fn digest(vanished: &BTreeSet<Key>, losing: &BTreeMap<Key, BTreeSet<String>>) -> String {
    let mut hash = Sha256::new();
    for key in vanished {
        hash.update(key.to_string());
        hash.update("\n");
    }
    for (key, lost) in losing.iter().flat_map(|(key, all)| all.iter().map(move |one| (key, one))) {
        hash.update(format!("{key} {lost}\n"));
    }
    let mut digits = hex::encode(hash.finalize());
    digits.truncate(12);
    digits
}
