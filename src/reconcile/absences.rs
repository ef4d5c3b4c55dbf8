//! When this agent saw manifests go that it had read before.
//!
//! In: the keys that a commit took away. Out: the time before which no grace period of theirs began.
//!
//! The store says since when an object is gone. It is behind where a file named the object again and
//! no pass that saw this could be recorded; this is not. It is lost with the agent, and the next one
//! believes the store.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;

use crate::model::Key;

/// Remembers when manifests went.
#[derive(Debug, Default)]
pub struct Absences(Mutex<BTreeMap<Key, Timestamp>>);

impl Absences {
    /// Notes that the manifest of an object has gone.
    pub(super) fn note(&self, key: Key, at: Timestamp) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(key, at);
    }

    /// Returns when the manifest of an object went last, if this agent had read it.
    pub(super) fn since(&self, key: &Key) -> Option<Timestamp> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(key).copied()
    }

    /// Forgets an object.
    pub(super) fn forget(&self, key: &Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }
}
