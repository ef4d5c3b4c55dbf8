//! What is told about each resource.

use super::{Found, row, state};
use crate::model::{
    Action, Attempt, Delta, ObjectStatus, ResourceStatus, Step, StepOutcome, Verdict, Wait,
};

/// The planner's code for a resource that could not be read.
const UNREADABLE: &str = "Unknown";

/// The planner's codes for a resource that is not there, or needs one that is not there.
const MISSING: [&str; 2] = ["NotFound", "Dependency"];

const LEFT: &str = "Git declares it no longer; it stays in AWS, and its ownership tag says so";

/// Longer texts of AWS are cut: a status is read by people.
const LONGEST_MESSAGE: usize = 600;

/// What AWS puts behind a message and is another at each attempt, so that it would look like news.
const UNSTEADY: [&str; 3] = ["Encoded authorization failure message:", "(Service:", "Request ID:"];

pub(super) fn resources(previous: &ObjectStatus, found: &Found) -> Vec<ResourceStatus> {
    if !found.looked() && !found.removed {
        return previous.resources.clone();
    }
    found.attempts.iter().map(|attempt| looked_at(previous, found, attempt)).collect()
}

fn looked_at(previous: &ObjectStatus, found: &Found, attempt: &Attempt) -> ResourceStatus {
    let step = &attempt.step;
    let old = row(previous, &step.resource);
    let (state, message) = told(attempt);
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

fn told(attempt: &Attempt) -> (&'static str, String) {
    match &attempt.outcome {
        StepOutcome::Failed { error, .. } => (state::FAILED, error.to_string()),
        StepOutcome::Postponed { error } => (state::WAITING, error.to_string()),
        StepOutcome::Withheld { reason } => (state::WAITING, reason.clone()),
        StepOutcome::Accepted { .. } => accepted(&attempt.step),
        StepOutcome::Unneeded => planned(&attempt.step),
    }
}

fn accepted(step: &Step) -> (&'static str, String) {
    match step.action {
        Action::Create => (state::CREATED, "AWS accepted the creation".to_owned()),
        Action::Adopt => (state::UPDATED, "it was adopted: it carries our tag now".to_owned()),
        Action::Retain => (state::RETAINED, LEFT.to_owned()),
        Action::Delete => (state::DELETING, noted("AWS accepted the deletion", step)),
        Action::Nothing | Action::Read | Action::Update => {
            let effect = step.effective.map(|at| format!("; it takes effect from {at} on"));
            let message = format!("AWS accepted the change of {}", fields(step.sent()));
            (state::UPDATED, message + &effect.unwrap_or_default())
        }
    }
}

/// Says what became of a resource that is done with.
fn let_go(step: &Step) -> (&'static str, String) {
    match (step.action, step.notices.first()) {
        (Action::Delete, Some(notice)) => (state::DELETED, notice.message.clone()),
        (Action::Delete, None) => (state::DELETED, "it does not exist in AWS".to_owned()),
        (_, Some(notice)) => (state::RETAINED, notice.message.clone()),
        (_, None) => (state::RETAINED, LEFT.to_owned()),
    }
}

/// Adds to a message what the step says beside.
fn noted(message: &str, step: &Step) -> String {
    let notices = step.notices.iter().map(|notice| notice.message.as_str());
    std::iter::once(message).chain(notices).collect::<Vec<_>>().join("; ")
}

fn planned(step: &Step) -> (&'static str, String) {
    match &step.verdict {
        Verdict::Go if step.is_settled() && step.is_farewell() => let_go(step),
        Verdict::Go if step.is_settled() => (state::CONVERGED, "it is as declared".to_owned()),
        Verdict::Go => unsettled(step),
        Verdict::Waiting { code, on } if code == UNREADABLE => (state::UNKNOWN, on.clone()),
        Verdict::Waiting { code, on } if MISSING.contains(&code.as_str()) => {
            (state::BLOCKED, on.clone())
        }
        Verdict::Waiting { code, on } if code == Wait::FROZEN => (state::FROZEN, on.clone()),
        Verdict::Waiting { on, .. } => (state::WAITING, on.clone()),
        Verdict::Deferred { until, why } => (state::DEFERRED, format!("{why}; due at {until:.0}")),
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
        Action::Retain | Action::Delete => {
            "Git declares it no longer; nothing is done while the object is suspended or given up"
                .to_owned()
        }
        _ => {
            let verbs = if step.deltas.len() == 1 {
                "differs from Git and is"
            } else {
                "differ from Git and are"
            };
            format!("{} {verbs} left", fields(step.deltas.iter()))
        }
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
pub(super) fn fields<'a>(deltas: impl Iterator<Item = &'a Delta>) -> String {
    listed(deltas.map(|delta| delta.field.clone()))
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
