//! The differences that nobody declared.

use super::{Found, row, state};
use crate::model::status::{DriftStatus, Traced};
use crate::model::{
    Action, Attempt, Difference, Notice, ObjectStatus, Origin, ResourceStatus, Step, Verdict, Wait,
};

pub(super) fn rows(
    previous: &ObjectStatus,
    found: &Found,
    resources: &[ResourceStatus],
) -> Vec<DriftStatus> {
    if !found.looked() {
        return if found.removed { Vec::new() } else { previous.drift.clone() };
    }
    let unread = |row: &&DriftStatus| {
        resources.iter().any(|found| found.id == row.resource && found.state == state::UNKNOWN)
    };
    let kept = previous.drift.iter().filter(unread).cloned();
    let seen = found.attempts.iter().flat_map(|attempt| of_attempt(previous, found, attempt));
    kept.chain(seen).collect()
}

/// So many answers are kept of who made drift.
const MOST_TRACED: usize = 10;

/// Adds who is known by now to have made drift.
pub(super) fn trace(
    previous: &[Traced],
    found: &[Traced],
    drift: &mut [DriftStatus],
) -> Vec<Traced> {
    let mut traced: Vec<Traced> = previous.iter().chain(found).cloned().collect();
    traced.drain(..traced.len().saturating_sub(MOST_TRACED));
    for row in drift {
        let is_it = |it: &&Traced| {
            it.resource == row.resource && it.field == row.field && it.seen == row.first_seen
        };
        if let Some(known) = traced.iter().rfind(is_it) {
            row.changed_by = Some(known.changed.clone());
        }
    }
    traced
}

fn of_attempt<'a>(
    previous: &'a ObjectStatus,
    found: &'a Found,
    attempt: &'a Attempt,
) -> impl Iterator<Item = DriftStatus> + 'a {
    let step = &attempt.step;
    let first_seen = move |field: &str| {
        let earlier = |row: &&DriftStatus| row.resource == step.resource && row.field == field;
        previous.drift.iter().find(earlier).map_or(found.now, |row| row.first_seen)
    };
    let drifted = step.deltas.iter().filter(|delta| delta.origin == Origin::Drift);
    let fields = drifted.map(move |delta| DriftStatus {
        resource: step.resource.clone(),
        field: delta.field.clone(),
        actual: delta.from.clone(),
        declared: delta.to.clone(),
        first_seen: first_seen(&delta.field),
        disposition: disposition(step, &delta.field).to_owned(),
        changed_by: None,
    });
    let vanished = step.notices.iter().filter(|notice| notice.code == Notice::VANISHED);
    let whole = vanished.map(move |_| DriftStatus {
        resource: step.resource.clone(),
        field: Difference::EXISTENCE.to_owned(),
        actual: Difference::DELETED.into(),
        declared: "present".into(),
        first_seen: first_seen(Difference::EXISTENCE),
        disposition: disposition(step, Difference::EXISTENCE).to_owned(),
        changed_by: None,
    });
    fields.chain(whole)
}

/// Says what is done about drift: what its own field waits for, or else what becomes of the step.
fn disposition(step: &Step, field: &str) -> &'static str {
    if let Some(wait) = step.waits.iter().find(|wait| wait.field == field) {
        return held(&wait.code);
    }
    match &step.verdict {
        Verdict::Go if step.is_held(field) => "Refused",
        Verdict::Go => "Reverting",
        Verdict::Reported => "Reported",
        Verdict::Deferred { .. } => "Deferred",
        Verdict::Waiting { code, .. } if code == Wait::FROZEN => Wait::FROZEN,
        Verdict::Waiting { .. } | Verdict::Blocked { .. } => "Waiting",
        Verdict::Refused => "Refused",
    }
}

fn held(code: &str) -> &'static str {
    match code {
        Wait::FROZEN => Wait::FROZEN,
        Wait::REPORTED => "Reported",
        Wait::WINDOW_UNKNOWN | Wait::READBACK => "Waiting",
        _ => "Deferred",
    }
}

/// Tells whether a row is known to be gone, rather than out of sight.
pub(in crate::status) fn is_gone(gone: &DriftStatus, new: &ObjectStatus) -> bool {
    let still =
        new.drift.iter().any(|row| row.resource == gone.resource && row.field == gone.field);
    !still
        && row(new, &gone.resource)
            .is_some_and(|found| !matches!(found.action, Action::Retain | Action::Delete))
}
