//! The last list of one kind in one scope, and what was written since it was read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};

use super::within::Shelf;
use super::{Mark, lock};
use crate::model::{Doubt, Observed};

/// How many names may be read one by one before a new list is the cheaper read.
const SINGLE_READS: usize = 2;

/// Holds the last list of one kind in one scope; its lock lets one reader at a time fill it.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) listing: tokio::sync::Mutex<Option<Listing>>,
    pub(super) written: Mutex<BTreeSet<Arc<str>>>,
    /// What was read by container, for a kind that is read so; the list is that of the containers.
    pub(super) shelves: Mutex<BTreeMap<String, Arc<Shelf>>>,
}

pub(super) struct Listing {
    /// When its last page was read.
    pub(super) read: Timestamp,
    /// How long it may be shared.
    pub(super) lasts: SignedDuration,
    pub(super) resources: Result<BTreeMap<Arc<str>, Item>, Doubt>,
}

/// Holds one resource of a list.
pub(super) struct Item {
    pub(super) observed: Arc<Observed>,
    /// Made when it is first asked for.
    pub(super) mark: Option<Mark>,
}

impl From<Arc<Observed>> for Item {
    fn from(observed: Arc<Observed>) -> Self {
        Self { observed, mark: None }
    }
}

impl Slot {
    pub(super) fn note_write(&self, name: &Arc<str>) {
        lock(&self.written).insert(Arc::clone(name));
    }

    pub(super) fn was_written(&self, name: &str) -> bool {
        lock(&self.written).contains(name)
    }

    pub(super) fn writes(&self) -> BTreeSet<Arc<str>> {
        lock(&self.written).clone()
    }

    pub(super) fn written_too_much(&self) -> bool {
        lock(&self.written).len() > SINGLE_READS
    }

    pub(super) fn forget_write(&self, name: &str) {
        lock(&self.written).remove(name);
    }

    pub(super) fn forget_writes(&self) {
        lock(&self.written).clear();
    }
}
