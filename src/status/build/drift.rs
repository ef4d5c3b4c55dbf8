//! The differences that nobody declared.

use super::{Found, row, state};
use crate::model::status::DriftStatus;
use crate::model::{
    Action, Attempt, Delta, Difference, Notice, ObjectStatus, Origin, ResourceStatus, Step,
    Verdict, Wait,
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
        disposition: match is_frozen(step, delta) {
            true => Wait::FROZEN.to_owned(),
            false => disposition(step, is_left_out(step, delta)).to_owned(),
        },
    });
    let vanished = step.notices.iter().filter(|notice| notice.code == Notice::VANISHED);
    let whole = vanished.map(move |_| DriftStatus {
        resource: step.resource.clone(),
        field: Difference::EXISTENCE.to_owned(),
        actual: Difference::DELETED.into(),
        declared: "present".into(),
        first_seen: first_seen(Difference::EXISTENCE),
        disposition: disposition(step, false).to_owned(),
    });
    fields.chain(whole)
}

fn disposition(step: &Step, is_left_out: bool) -> &'static str {
    match &step.verdict {
        Verdict::Go if is_left_out => "Reported",
        Verdict::Go => "Reverting",
        Verdict::Reported => "Reported",
        Verdict::Deferred { .. } => "Deferred",
        Verdict::Waiting { code, .. } if code == Wait::FROZEN => Wait::FROZEN,
        Verdict::Waiting { .. } | Verdict::Blocked { .. } => "Waiting",
        Verdict::Refused => "Refused",
    }
}

/// Tells whether a guard of the fleet holds this drift, whatever else the step does.
fn is_frozen(step: &Step, delta: &Delta) -> bool {
    step.waits.iter().any(|wait| wait.field == delta.field && wait.code == Wait::FROZEN)
}

/// Tells whether a step that goes ahead for the sake of Git's changes leaves this drift alone:
/// none of its calls carries the parameter.
fn is_left_out(step: &Step, delta: &Delta) -> bool {
    step.deltas.iter().any(|other| other.origin == Origin::Git)
        && !step.calls.iter().any(|call| call.params.contains_key(&delta.parameter))
}

/// Tells whether a row is known to be gone, rather than out of sight.
pub(in crate::status) fn is_gone(gone: &DriftStatus, new: &ObjectStatus) -> bool {
    let still =
        new.drift.iter().any(|row| row.resource == gone.resource && row.field == gone.field);
    !still
        && row(new, &gone.resource)
            .is_some_and(|found| !matches!(found.action, Action::Retain | Action::Delete))
}
