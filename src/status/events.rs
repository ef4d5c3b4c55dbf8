//! What is worth a line of history: the difference between two statuses.
//!
//! In: the status before a pass and after it. Out: events. A pass that changed nothing yields none,
//! so that a history of bounded length reaches far back.

use jiff::Timestamp;
use serde_json::Value;

use super::build::{REMOVED, drift_is_gone, state};
use super::store::Event;
use crate::model::status::{DriftStatus, Traced, Truth};
use crate::model::{Condition, Delta, Key, ObjectStatus, Origin, ResourceStatus};

/// The reason of an object whose environment is not configured.
const UNPLACED: &str = "EnvironmentUnknown";

/// Values longer than this are cut in a line of history.
const LONGEST_VALUE: usize = 80;

/// Lists what happened to an object between two statuses, in the order in which it is told.
pub fn events(key: &Key, at: Timestamp, previous: &ObjectStatus, new: &ObjectStatus) -> Vec<Event> {
    let mut lines = Vec::new();
    lines.extend(declared(previous, new));
    lines.extend(removed(previous, new));
    lines.extend(new.drift.iter().filter(|row| !has(previous, row)).map(drift_seen));
    lines.extend(new.resources.iter().filter_map(|row| resource(previous, row)));
    lines.extend(previous.drift.iter().filter_map(|row| drift_ended(row, new)));
    let is_new = |it: &&Traced| !previous.traced.contains(it);
    lines.extend(new.traced.iter().filter(is_new).map(traced));
    lines.extend(turned(previous, new));
    lines.extend(unplaced(previous, new));
    let event = |(reason, message): Line| Event {
        key: key.clone(),
        at,
        reason: reason.to_owned(),
        message,
    };
    lines.into_iter().map(event).collect()
}

type Line = (&'static str, String);

fn declared(previous: &ObjectStatus, new: &ObjectStatus) -> Option<Line> {
    let generation = new.observed_generation;
    if generation == previous.observed_generation {
        return None;
    }
    let commit = new.revision.as_ref().map(|revision| format!(" by commit {}", revision.short()));
    let message = format!("generation {} declared{}", generation.0, commit.unwrap_or_default());
    Some(("Declared", message))
}

/// Tells once that the manifest left, and once that it is back.
fn removed(previous: &ObjectStatus, new: &ObjectStatus) -> Option<Line> {
    let is_removed = |status: &ObjectStatus| {
        status.condition(Condition::READY).is_some_and(|ready| ready.reason == REMOVED)
    };
    match (is_removed(previous), is_removed(new)) {
        (false, true) => Some((REMOVED, "the manifest was removed from Git".to_owned())),
        (true, false)
            if new.condition(Condition::READY).is_some_and(|it| it.status != Truth::Unknown) =>
        {
            Some(("Returned", "the manifest is back in Git; its removal is cancelled".to_owned()))
        }
        _ => None,
    }
}

fn has(status: &ObjectStatus, row: &DriftStatus) -> bool {
    status.drift.iter().any(|other| other.resource == row.resource && other.field == row.field)
}

fn drift_seen(row: &DriftStatus) -> Line {
    let message = format!(
        "{} {} is {}, Git declares {}",
        row.resource,
        row.field,
        shown(&row.actual),
        shown(&row.declared)
    );
    ("Drifted", message)
}

fn traced(it: &Traced) -> Line {
    ("Traced", format!("{} {} was changed: {}", it.resource, it.field, it.changed))
}

/// The end of a drift that was being reverted is told by the change that reverted it.
fn drift_ended(row: &DriftStatus, new: &ObjectStatus) -> Option<Line> {
    let told = row.disposition == "Reverting" || !drift_is_gone(row, new);
    (!told).then(|| ("DriftGone", format!("{} {} is no drift any more", row.resource, row.field)))
}

fn resource(previous: &ObjectStatus, row: &ResourceStatus) -> Option<Line> {
    let old = previous.resources.iter().find(|old| old.id == row.id);
    let same_state = old.is_some_and(|old| old.state == row.state);
    // The same change sent again is no news; another one is.
    let same_change = old.is_some_and(|old| old.sent().eq(row.sent()));
    if same_state && (row.state != state::UPDATED || same_change) {
        return None;
    }
    let reason = reason(row)?;
    let message = match reason {
        "Updated" | "Reverted" if row.sent().next().is_some() => changes(row.sent()),
        _ => row.message.clone(),
    };
    Some((reason, format!("{}: {message}", row.id)))
}

/// Returns the word for a state that was entered; none where the conditions or the drift say more.
fn reason(row: &ResourceStatus) -> Option<&'static str> {
    match row.state.as_str() {
        state::UPDATED if is_drift(row.sent()) => Some("Reverted"),
        state::REPORTED if is_drift(row.deltas.iter()) => None,
        text => [
            state::CREATED,
            state::UPDATED,
            state::REPORTED,
            state::DEFERRED,
            state::REFUSED,
            state::BLOCKED,
            state::FAILED,
            state::UNKNOWN,
            state::RETAINED,
            state::DELETING,
            state::DELETED,
        ]
        .into_iter()
        .find(|state| *state == text),
    }
}

fn is_drift<'a>(deltas: impl Iterator<Item = &'a Delta>) -> bool {
    let mut deltas = deltas.peekable();
    deltas.peek().is_some() && deltas.all(|delta| delta.origin == Origin::Drift)
}

fn changes<'a>(deltas: impl Iterator<Item = &'a Delta>) -> String {
    let change = |delta: &Delta| {
        format!("{} from {} to {}", delta.field, shown(&delta.from), shown(&delta.to))
    };
    deltas.map(change).collect::<Vec<_>>().join(", ")
}

fn turned(previous: &ObjectStatus, new: &ObjectStatus) -> Vec<Line> {
    let turns = [
        (Condition::READY, Some("Converged"), None),
        (Condition::VALID, Some("Valid"), Some("Invalid")),
        (Condition::FAILED, Some("RetriesExhausted"), None),
        (Condition::STALLED, Some("Stalled"), None),
        (Condition::CONTESTED, Some("Contested"), None),
        (Condition::SUSPENDED, Some("Suspended"), Some("Resumed")),
        (Condition::SNOOZED, Some("Snoozed"), Some("SnoozeEnded")),
        (Condition::FROZEN, Some("Frozen"), Some("Released")),
    ];
    turns.into_iter().filter_map(|(kind, on, off)| turn(previous, new, kind, on, off)).collect()
}

/// An object that has no place in AWS has no resources that could tell.
fn unplaced(previous: &ObjectStatus, new: &ObjectStatus) -> Option<Line> {
    let ready = new.condition(Condition::READY)?;
    let is_news = ready.reason == UNPLACED
        && previous.condition(Condition::READY).is_none_or(|before| before.reason != UNPLACED);
    is_news.then(|| (UNPLACED, ready.message.clone()))
}

fn turn(
    previous: &ObjectStatus,
    new: &ObjectStatus,
    kind: &str,
    on: Option<&'static str>,
    off: Option<&'static str>,
) -> Option<Line> {
    let now = new.condition(kind)?;
    let before = previous.condition(kind);
    // A first status tells of trouble and of convergence, not that all is as usual.
    let usual = if matches!(kind, Condition::VALID) { Truth::True } else { Truth::False };
    if before.map_or(usual, |before| before.status) == now.status {
        return None;
    }
    let reason = match now.status {
        Truth::True => on,
        Truth::False => off,
        // That an object is out of sight is news; that its drift is therefore unknown is not.
        Truth::Unknown if kind == Condition::READY && !new.resources.is_empty() => Some("Unknown"),
        Truth::Unknown => None,
    }?;
    Some((reason, now.message.clone()))
}

fn shown(value: &Value) -> String {
    let text = if value.is_null() { "absent".to_owned() } else { value.to_string() };
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests;
