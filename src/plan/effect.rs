//! What came of the changes that AWS accepted: whether they are to be seen, field by field.
//!
//! In: the changes that were accepted and not seen yet, a difference. Out: why the same change is not
//! sent again now. Pure.
//!
//! Each field is counted by itself, whatever is sent beside it: a field that never takes stays slow
//! however often its neighbours change. It is counted on for a while when its value shows up before
//! it was known to be in force: two fields of which AWS holds only one at a time are no loop.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::holds::{End, Held, held};
use crate::model::outcome::{Attempt, StepOutcome};
use crate::model::plan::Action;
use crate::model::status::{AcceptedChange, ResourceMemory};
use crate::model::{Delta, Refusal, Step, Wait};

/// How long an accepted change may stay unseen: a describe answer lags behind a modify.
///
/// AWS states no bound; the case that this rests on saw seconds.
const READBACK_GRACE: SignedDuration = SignedDuration::from_secs(60);

/// After so many accepted changes without effect the field is stalled.
const FUTILE_CHANGES: u32 = 3;

/// A stalled change is sent once in this time.
const STALLED_INTERVAL: SignedDuration = SignedDuration::from_hours(1);

/// The code of a change that AWS queued: it is to be seen, and takes effect later.
const QUEUED: &str = "Pending";

/// Keeps the same change from being sent while it may still take effect, or again and again.
pub(super) fn hold(memory: Option<&ResourceMemory>, delta: &Delta, now: Timestamp) -> Option<Held> {
    let accepted = same(memory?, delta)?;
    let age = now.duration_since(accepted.at);
    let reason = "AWS accepted this change and does not show it yet";
    if accepted.times >= FUTILE_CHANGES && age < STALLED_INTERVAL {
        let refusal = no_effect(delta, accepted.times);
        Some(held(delta, &refusal.code.clone(), reason, End::Stalled(refusal)))
    } else {
        (age < READBACK_GRACE).then(|| held(delta, Wait::READBACK, reason, End::Open))
    }
}

/// Tells whether AWS accepted a change again and again without effect.
pub(super) fn is_stalled(memory: &ResourceMemory, delta: &Delta) -> bool {
    same(memory, delta).is_some_and(|accepted| accepted.times >= FUTILE_CHANGES)
}

fn same<'a>(memory: &'a ResourceMemory, delta: &Delta) -> Option<&'a AcceptedChange> {
    memory.accepted_changes.get(&delta.field).filter(|accepted| accepted.value == delta.to)
}

fn no_effect(delta: &Delta, times: u32) -> Refusal {
    Refusal {
        field: delta.field.clone(),
        code: "NoEffect".to_owned(),
        message: format!(
            "AWS accepted {} = {} {times} times and the value did not change",
            delta.field, delta.to
        ),
        help: "declare the value that AWS answers, or list the field under reconcilePolicy.ignore"
            .to_owned(),
    }
}

/// Tells whether AWS accepted the change of what exists.
pub(super) fn is_accepted(attempt: &Attempt) -> bool {
    attempt.step.action == Action::Update && matches!(attempt.outcome, StepOutcome::Accepted { .. })
}

/// Notes, after a pass that compared, what was accepted and what of it is not to be seen yet.
pub(super) fn note(
    changes: &mut BTreeMap<String, AcceptedChange>,
    attempt: &Attempt,
    is_in_force: impl Fn(&str) -> bool,
    now: Timestamp,
) {
    let step = &attempt.step;
    changes.retain(|field, change| {
        let is_shown = step.deltas.iter().all(|delta| delta.field != *field);
        let is_young = now.duration_since(change.at) < STALLED_INTERVAL;
        is_unseen(step, field, change) || (is_shown && is_young && !is_in_force(field))
    });
    if !is_accepted(attempt) {
        return;
    }
    for delta in step.sent() {
        let times = changes.get(&delta.field).map_or(0, |change| change.times) + 1;
        let change = AcceptedChange { value: delta.to.clone(), at: now, times };
        changes.insert(delta.field.clone(), change);
    }
}

/// Tells whether a change that was accepted before still differs, or cannot be told.
fn is_unseen(step: &Step, field: &str, change: &AcceptedChange) -> bool {
    let differs = |delta: &Delta| delta.field == field && delta.to == change.value;
    let is_unclear = step
        .waits
        .iter()
        .any(|wait| (wait.field == field || wait.field.is_empty()) && wait.code != QUEUED);
    match step.deltas.iter().find(|delta| delta.field == field) {
        Some(delta) => differs(delta),
        None => is_unclear,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::model::{Apply, Disruption, Origin, Timing};

    fn delta(field: &str, to: Value) -> Delta {
        Delta {
            field: field.to_owned(),
            parameter: field.to_owned(),
            from: json!("old"),
            to,
            why: "differs".to_owned(),
            disruption: Disruption::None,
            security: false,
            apply: Apply::AtOnce,
            origin: Origin::Git,
            timing: Timing::Window,
        }
    }

    /// An object whose deltas are sent as far as nothing holds them; every call is accepted.
    #[derive(Default)]
    struct Life {
        memory: ResourceMemory,
        sent: BTreeMap<String, usize>,
    }

    impl Life {
        fn pass(&mut self, deltas: Vec<Delta>, now: Timestamp) -> Step {
            let mut step = super::super::nothing(&super::super::tests::bound().id, "lamp");
            step.action = Action::Update;
            for delta in &deltas {
                match hold(Some(&self.memory), delta, now) {
                    Some(Held { end: End::Stalled(refusal), .. }) => step.refusals.push(refusal),
                    Some(held) => step.waits.push(held.wait),
                    None => *self.sent.entry(delta.field.clone()).or_default() += 1,
                }
            }
            step.deltas = deltas;
            let outcome = match step.sent().count() {
                0 => StepOutcome::Unneeded,
                _ => StepOutcome::Accepted { calls: 1 },
            };
            let attempt = Attempt { step, outcome };
            note(&mut self.memory.accepted_changes, &attempt, |_| true, now);
            attempt.step
        }
    }

    fn minute(n: i64) -> Timestamp {
        Timestamp::from_second(60 * n).unwrap()
    }

    #[test]
    fn a_field_that_never_takes_is_stalled_whatever_changes_beside_it() {
        let mut life = Life::default();
        let mut last = Vec::new();
        for n in 0..180 {
            // The neighbour takes at once, and is wanted otherwise in every other pass.
            let neighbour = (n % 2 == 0).then(|| delta("neighbour", json!(n)));
            let deltas = [Some(delta("stuck", json!("new"))), neighbour];
            last = life.pass(deltas.into_iter().flatten().collect(), minute(n)).refusals;
        }
        assert_eq!(life.sent["neighbour"], 90, "it is held by nothing");
        assert_eq!(life.sent["stuck"], 3 + 2, "three hours");
        assert_eq!((&*last[0].field, &*last[0].code), ("stuck", "NoEffect"));
    }

    #[test]
    fn what_is_not_compared_or_unclear_is_not_seen() {
        let mut life = Life::default();
        let _ = life.pass(vec![delta("stuck", json!(1))], minute(0));
        let mut step = super::super::nothing(&super::super::tests::bound().id, "lamp");
        let wait = |code: &str| Wait {
            field: "stuck".to_owned(),
            code: code.to_owned(),
            reason: String::new(),
        };
        step.waits = vec![wait("UnreadableAnswer")];
        let unclear = Attempt { step: step.clone(), outcome: StepOutcome::Unneeded };
        note(&mut life.memory.accepted_changes, &unclear, |_| true, minute(1));
        assert_eq!(life.memory.accepted_changes["stuck"].times, 1);
        step.waits = vec![wait(QUEUED)];
        let queued = Attempt { step, outcome: StepOutcome::Unneeded };
        note(&mut life.memory.accepted_changes, &queued, |_| true, minute(2));
        assert!(life.memory.accepted_changes.is_empty(), "AWS shows it in its queue");
    }
}
