//! The storage of a database, which takes one change in a while.
//!
//! The status shows the lock only while AWS works on the storage (the rules' holds); the rest of it
//! is known from when the storage changed. A refusal all the same may have another cause, of which
//! the error code tells nothing; it is tried again when a lock would be over.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::Request;
use super::holds::{End, Held, held};
use crate::model::outcome::{Attempt, StepOutcome};
use crate::model::status::{ResourceMemory, StorageMemory};
use crate::model::{Delta, Disruption, ErrorClass, Kind, Observed, Timing};

/// How long AWS takes no further change of storage.
///
/// "You can't make further storage modifications for either six (6) hours or until storage
/// optimization has completed on the instance, whichever is longer" ("Working with storage for
/// Amazon RDS DB instances", RDS User Guide).
const LOCK: SignedDuration = SignedDuration::from_hours(6);

/// Holds a change of storage until AWS takes one.
pub(super) fn hold(
    request: &Request<'_>,
    memory: Option<&ResourceMemory>,
    delta: &Delta,
) -> Option<Held> {
    let storage = &memory.filter(|_| is_storage(delta))?.storage;
    let until = storage.locked_at?.checked_add(LOCK).unwrap_or(Timestamp::MAX);
    let reason = match &storage.refusal {
        None => "AWS takes no further change so soon after the last one of the storage".to_owned(),
        Some(said) => format!("AWS refused it, as it does soon after another change: {said}"),
    };
    (until > request.now).then(|| held(delta, "StorageLock", &reason, End::At(until)))
}

/// Notes how the storage looks, and whether it has changed or does not take a change.
pub(super) fn note(
    memory: &mut StorageMemory,
    kind: &dyn Kind,
    actual: &Observed,
    attempt: &Attempt,
    now: Timestamp,
) {
    let seen = seen(kind, actual);
    if !memory.seen.is_empty() && memory.seen != seen {
        (memory.locked_at, memory.refusal) = (Some(now), None);
    }
    memory.seen = seen;
    let step = &attempt.step;
    let is_sent = step.calls.iter().any(|call| step.changes_storage(call));
    match &attempt.outcome {
        StepOutcome::Postponed { error } if is_sent && error.class == ErrorClass::Invalid => {
            let said = format!("{}: {}", error.code, error.message);
            (memory.locked_at, memory.refusal) = (Some(now), Some(said));
        }
        // What waits for the maintenance window locks the storage there, which is seen.
        StepOutcome::Accepted { .. } if is_sent && step.deltas.iter().any(is_at_once) => {
            (memory.locked_at, memory.refusal) = (Some(now), None);
        }
        _ => {}
    }
}

fn is_storage(delta: &Delta) -> bool {
    delta.disruption == Disruption::StorageLock
}

fn is_at_once(delta: &Delta) -> bool {
    is_storage(delta) && delta.timing == Timing::Immediate
}

/// Returns the members that lock the storage when they change.
fn seen(kind: &dyn Kind, actual: &Observed) -> BTreeMap<String, Value> {
    let rules = kind.rules().iter().filter(|rule| rule.disruption == Disruption::StorageLock);
    let value = |member: &'static str| Some((member.to_owned(), actual.member(member)?.clone()));
    rules.filter_map(|rule| value(rule.member)).collect()
}
