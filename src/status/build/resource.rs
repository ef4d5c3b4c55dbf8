//! What is told about each resource.

use jiff::Timestamp;

use super::{Found, row, state};
use crate::model::{
    Action, Attempt, Delta, Disruption, ObjectStatus, ResourceStatus, Step, StepOutcome, Verdict,
    Wait,
};

/// The planner's code for a resource that could not be read.
const UNREADABLE: &str = "Unknown";

/// The planner's codes for a resource that is not there, or needs one that is not there.
const MISSING: [&str; 2] = ["NotFound", "Dependency"];

/// Longer texts of AWS are cut: a status is read by people.
const LONGEST_MESSAGE: usize = 600;

/// What AWS puts behind a message and is another at each attempt, so that it would look like news.
const UNSTEADY: [&str; 3] = ["Encoded authorization failure message:", "(Service:", "Request ID:"];

pub(super) fn resources(previous: &ObjectStatus, found: &Found) -> Vec<ResourceStatus> {
    if !found.looked() && !found.removed {
        return previous.resources.clone();
    }
    let mut rows: Vec<ResourceStatus> =
        found.attempts.iter().map(|attempt| looked_at(previous, found, attempt)).collect();
    let undeclared = previous.resources.iter().filter(|old| {
        exists(old) && !found.attempts.iter().any(|attempt| attempt.step.resource == old.id)
    });
    rows.extend(undeclared.map(|old| retained(old, found.now)));
    rows
}

/// Tells whether a resource of ours is there, as far as the last look showed.
fn exists(old: &ResourceStatus) -> bool {
    match old.action {
        Action::Read => false,
        Action::Create => old.state == state::CREATED || old.state == state::RETAINED,
        Action::Nothing | Action::Update | Action::Adopt => true,
    }
}

fn retained(old: &ResourceStatus, now: Timestamp) -> ResourceStatus {
    ResourceStatus {
        id: old.id.clone(),
        action: Action::Nothing,
        state: state::RETAINED.to_owned(),
        message: "Git declares it no longer; it stays in AWS".to_owned(),
        since: if old.state == state::RETAINED { old.since } else { now },
        disruption: Disruption::None,
        deltas: Vec::new(),
        waits: Vec::new(),
        refusals: Vec::new(),
        notices: Vec::new(),
        outputs: old.outputs.clone(),
    }
}

fn looked_at(previous: &ObjectStatus, found: &Found, attempt: &Attempt) -> ResourceStatus {
    let step = &attempt.step;
    let old = row(previous, &step.resource);
    let (state, message) = told(attempt, found.removed);
    let since = old.filter(|old| old.state == state).map_or(found.now, |old| old.since);
    let outputs = found.outputs.get(&step.resource).or_else(|| old.map(|old| &old.outputs));
    ResourceStatus {
        id: step.resource.clone(),
        action: step.action,
        state: state.to_owned(),
        message: steady(&message),
        since,
        disruption: step.disruption,
        deltas: step.deltas.clone(),
        waits: step.waits.clone(),
        refusals: step.refusals.clone(),
        notices: step.notices.clone(),
        outputs: outputs.cloned().unwrap_or_default(),
    }
}

fn told(attempt: &Attempt, removed: bool) -> (&'static str, String) {
    match &attempt.outcome {
        StepOutcome::Failed { error, .. } => (state::FAILED, error.to_string()),
        StepOutcome::Postponed { error } => (state::WAITING, error.to_string()),
        StepOutcome::Withheld { reason } => (state::WAITING, reason.clone()),
        StepOutcome::Unneeded | StepOutcome::Accepted { .. } if removed => {
            (state::RETAINED, "Git declares it no longer; it stays in AWS".to_owned())
        }
        StepOutcome::Accepted { .. } => accepted(&attempt.step),
        StepOutcome::Unneeded => planned(&attempt.step),
    }
}

fn accepted(step: &Step) -> (&'static str, String) {
    match step.action {
        Action::Create => (state::CREATED, "AWS accepted the creation".to_owned()),
        Action::Adopt => (state::UPDATED, "it was adopted: it carries our tag now".to_owned()),
        _ => {
            let effect = step.effective.map(|at| format!("; it takes effect from {at} on"));
            let message = format!("AWS accepted the change of {}", fields(&step.deltas));
            (state::UPDATED, message + &effect.unwrap_or_default())
        }
    }
}

fn planned(step: &Step) -> (&'static str, String) {
    match &step.verdict {
        Verdict::Go if step.is_settled() => (state::CONVERGED, "it is as declared".to_owned()),
        Verdict::Go => unsettled(step),
        Verdict::Waiting { code, on } if code == UNREADABLE => (state::UNKNOWN, on.clone()),
        Verdict::Waiting { code, on } if MISSING.contains(&code.as_str()) => {
            (state::BLOCKED, on.clone())
        }
        Verdict::Waiting { code, on } if code == Wait::FROZEN => (state::FROZEN, on.clone()),
        Verdict::Waiting { on, .. } => (state::WAITING, on.clone()),
        Verdict::Deferred { until, why } => (state::DEFERRED, format!("{why}; due at {until}")),
        Verdict::Reported => (state::REPORTED, reported(step)),
        Verdict::Blocked { by } => (state::BLOCKED, format!("it needs {by}, which is not there")),
        Verdict::Refused => (state::REFUSED, refused(step)),
    }
}

fn unsettled(step: &Step) -> (&'static str, String) {
    if !step.refusals.is_empty() {
        return (state::REFUSED, refused(step));
    }
    let wait = step.waits.first().map(|wait| wait.reason.clone());
    (state::WAITING, wait.unwrap_or_else(|| "the change has not been sent".to_owned()))
}

fn reported(step: &Step) -> String {
    match step.action {
        Action::Create => "it does not exist and is not made".to_owned(),
        Action::Adopt => "it exists without our tag and is left".to_owned(),
        _ => format!("{} differ from Git and are left", fields(&step.deltas)),
    }
}

fn refused(step: &Step) -> String {
    let Some(refusal) = step.refusals.first() else {
        return "it is never changed by itself".to_owned();
    };
    let subject =
        if refusal.field.is_empty() { String::new() } else { format!("{}: ", refusal.field) };
    let help = if refusal.help.is_empty() { String::new() } else { format!("; {}", refusal.help) };
    format!("{subject}{}{help}", refusal.message)
}

/// Names fields in the order of the plan, `a, b and 3 more`.
pub(super) fn fields(deltas: &[Delta]) -> String {
    listed(deltas.iter().map(|delta| delta.field.clone()))
}

pub(super) fn listed(names: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 4;
    let names: Vec<String> = names.collect();
    let shown = names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// Cuts what would be different at the next attempt though nothing has changed, and what is long.
fn steady(message: &str) -> String {
    let end = UNSTEADY.iter().filter_map(|marker| message.find(marker)).min();
    let kept = message[..end.unwrap_or(message.len())].trim_end();
    match kept.char_indices().nth(LONGEST_MESSAGE) {
        Some((at, _)) => format!("{}...", &kept[..at]),
        None => kept.to_owned(),
    }
}
