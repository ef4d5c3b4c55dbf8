//! What is known of an object when its pass begins.
//!
//! In: what Git declares, the record of the passes before, what people ask. Out: the memory that this
//! pass works on. Pure.

use super::heed;
use crate::desired::Entry;
use crate::model::status::Memory;
use crate::model::{Asked, ObjectStatus};
use crate::status::{Declared, Record};

/// Holds what is known of an object from before this pass.
pub(super) struct History {
    /// The generation that this pass works on.
    pub(super) declared: Declared,
    /// The record as the pass found it.
    pub(super) record: Option<Record>,
    pub(super) memory: Memory,
    /// What people ask of it.
    pub(super) asked: Vec<Asked>,
}

impl History {
    /// Reads a record; a new generation starts with a clean slate of failures, and so does a pass
    /// that somebody asked to retry.
    pub(super) fn of(declared: Declared, record: Option<Record>, asked: Vec<Asked>) -> Self {
        let mut memory = record.as_ref().map(|record| record.memory.clone()).unwrap_or_default();
        let is_new = |record: &Record| record.status.observed_generation != declared.generation;
        if record.as_ref().is_some_and(is_new) {
            memory.failures = 0;
            memory.waits = 0;
            memory.resources.values_mut().for_each(|known| known.accepted_changes.clear());
        }
        heed::forgive(&mut memory, &asked);
        Self { declared, record, memory, asked }
    }

    /// Returns how many generations have been declared since the last pass on record.
    pub(super) fn unseen(&self) -> u64 {
        let observed = self.record.as_ref().map(|record| record.status.observed_generation.0);
        observed.map_or(0, |observed| self.declared.generation.0.saturating_sub(observed))
    }

    /// Returns the status that was told; a record that was only declared has none.
    pub(super) fn told(&self) -> Option<&ObjectStatus> {
        let status = self.record.as_ref().map(|record| &record.status);
        status.filter(|status| status.last_reconciled_time.is_some())
    }

    pub(super) fn into_told(self) -> Option<ObjectStatus> {
        let status = self.record.map(|record| record.status);
        status.filter(|status| status.last_reconciled_time.is_some())
    }
}

/// Returns what an object was declared to be at its last record.
pub(super) fn as_recorded(record: &Record) -> Declared {
    Declared {
        key: record.key.clone(),
        generation: record.generation,
        digest: record.digest.clone(),
        deletion: record.deletion,
    }
}

/// Returns what Git declares an object to be, as the store keeps it.
pub(super) fn declared(entry: &Entry) -> Declared {
    Declared {
        key: entry.object.key.clone(),
        generation: entry.generation,
        digest: entry.object.digest.to_string(),
        deletion: entry.object.policy().deletion,
    }
}
