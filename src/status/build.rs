//! The status of an object, built anew from what a pass found.
//!
//! In: the status that was told before, and [`Found`]. Out: the status to tell. Pure: the same
//! input gives the same output.
//!
//! Invariants: no duration and no secret gets into a text; nothing is told of a resource that could
//! not be read but that it could not be read, and what was known of its drift stays; a time of
//! transition moves only with what it belongs to.

mod drift;
mod facts;
mod resource;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::conditions::conditions;
use crate::model::status::Traced;
use crate::model::{
    Attempt, Generation, Holds, ObjectStatus, Problem, ResourceId, ResourceStatus, Revision,
};
pub(super) use drift::is_gone as drift_is_gone;
pub(super) use facts::REMOVED;

/// The words that a resource's state is told in.
pub mod state {
    /// It is as declared.
    pub const CONVERGED: &str = "Converged";
    /// AWS accepted its creation.
    pub const CREATED: &str = "Created";
    /// AWS accepted a change of it.
    pub const UPDATED: &str = "Updated";
    /// Something has to settle first.
    pub const WAITING: &str = "Waiting";
    /// It is changed when a person confirms it.
    pub const FROZEN: &str = "Frozen";
    /// It is changed later, at a known time.
    pub const DEFERRED: &str = "Deferred";
    /// It differs and is left, as the policy or a suspension says.
    pub const REPORTED: &str = "Reported";
    /// It differs and never changes by itself.
    pub const REFUSED: &str = "Refused";
    /// It is only read and not there, or it needs a resource that is not there.
    pub const BLOCKED: &str = "Blocked";
    /// A call failed.
    pub const FAILED: &str = "Failed";
    /// It could not be read.
    pub const UNKNOWN: &str = "Unknown";
    /// Git declares it no longer, and it stays in AWS.
    pub const RETAINED: &str = "Retained";
    /// Git declares it no longer, and AWS accepted its deletion.
    pub const DELETING: &str = "Deleting";
    /// Git declares it no longer, and it is gone.
    pub const DELETED: &str = "Deleted";
}

/// Says why a condition holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// One word in CamelCase.
    pub reason: &'static str,
    /// A clause for people, without a duration.
    pub message: String,
}

/// Holds what one pass found about an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// When the pass ended.
    pub now: Timestamp,
    /// The generation that it worked on.
    pub generation: Generation,
    /// The commit that the generation came from.
    pub revision: Option<Revision>,
    /// The steps and what became of them. Empty when the pass did not look: the object is
    /// suspended, without a place, past its ceiling of failures, or removed and owns nothing.
    pub attempts: Vec<Attempt>,
    /// What others may refer to, per resource; never a secret. What is missing is taken over from
    /// the previous status.
    pub outputs: BTreeMap<ResourceId, Arc<BTreeMap<String, Value>>>,
    /// What is wrong with the newest version of the manifest.
    pub problems: Vec<Problem>,
    /// Who suspends or snoozes the object.
    pub holds: Holds,
    /// True when the manifest is gone from Git.
    pub removed: bool,
    /// True when no manifest is known, though it is not certain that there is none.
    pub undeclared: bool,
    /// Which guard of the fleet holds the object, if one does.
    pub frozen: Option<Cause>,
    /// Why what is declared may be out of date, if it may.
    pub stale: Option<Cause>,
    /// Why the object has no place in AWS, if it has none: its environment is not configured.
    pub unplaced: Option<String>,
    /// Who is known by now to have made drift.
    pub traced: Vec<Traced>,
    /// True when the failed attempts have reached `maxRetries`.
    pub failed: bool,
    /// When the next pass is due.
    pub next_run: Option<Timestamp>,
}

impl Found {
    /// Makes what is found of an object without trouble; the other fields are set by name.
    pub fn new(now: Timestamp, generation: Generation) -> Self {
        Self {
            now,
            generation,
            revision: None,
            attempts: Vec::new(),
            outputs: BTreeMap::new(),
            problems: Vec::new(),
            holds: Holds::default(),
            removed: false,
            undeclared: false,
            frozen: None,
            stale: None,
            unplaced: None,
            traced: Vec::new(),
            failed: false,
            next_run: None,
        }
    }

    /// Tells whether the resources were looked at.
    fn looked(&self) -> bool {
        !self.attempts.is_empty()
            || !(self.holds.is_suspended()
                || self.removed
                || self.undeclared
                || self.failed
                || self.unplaced.is_some())
    }
}

/// Builds the status to tell after a pass.
pub fn build(previous: &ObjectStatus, found: &Found) -> ObjectStatus {
    let resources = resource::resources(previous, found);
    let mut drift = drift::rows(previous, found, &resources);
    let traced = drift::trace(&previous.traced, &found.traced, &mut drift);
    let facts = facts::facts(previous, found, &resources, &drift);
    let mut status = ObjectStatus {
        observed_generation: found.generation,
        revision: found.revision.clone(),
        last_reconciled_time: Some(found.now),
        last_converged_time: previous.last_converged_time,
        next_run_time: found.next_run,
        conditions: conditions(&previous.conditions, found.now, facts),
        resources,
        drift,
        traced,
    };
    if status.is_ready() {
        status.last_converged_time = Some(found.now);
    }
    status
}

/// Returns the row of a resource in a status.
fn row<'a>(status: &'a ObjectStatus, id: &ResourceId) -> Option<&'a ResourceStatus> {
    status.resources.iter().find(|resource| resource.id == *id)
}

#[cfg(test)]
pub(super) mod tests;
