//! What to do about a resource that exists.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::holds::{self, End, Held};
use super::memory::was_in_force;
use super::ownership::{Ownership, ownership};
use super::{
    DEPENDENCY, Present, Request, Subject, both, is_only_read, is_shared, named, remembered,
    waiting,
};
use crate::model::desired::Unresolved;
use crate::model::plan::{Action, Step, Verdict};
use crate::model::policy::DisruptionPolicy;
use crate::model::status::ResourceMemory;
use crate::model::{
    Apply, Delta, Disruption, Input, Kind, Notice, Observed, Origin, Readiness, Refusal, Timing,
    Wait, Window,
};

/// How long an accepted change may stay unseen: a describe answer lags behind a modify.
///
/// AWS states no bound; the case that this rests on saw seconds.
const READBACK_GRACE: SignedDuration = SignedDuration::from_secs(60);

/// After so many accepted changes without effect the field is stalled.
const FUTILE_CHANGES: u32 = 3;

/// A stalled change is sent once in this time.
const STALLED_INTERVAL: SignedDuration = SignedDuration::from_hours(1);

/// Completes the step of a resource that exists.
pub(super) fn step(
    request: &Request<'_>,
    subject: &Subject<'_>,
    present: &Present,
    mut step: Step,
) -> Step {
    step.notices.extend(subject.kind.notices(&present.bound, &present.actual));
    if let Some(verdict) = unsettled(&present.readiness, &mut step) {
        step.verdict = verdict;
        return step;
    }
    if is_only_read(subject.kind) {
        step.action = Action::Read;
        return step;
    }
    step.notices.extend(present.diff.notices.iter().cloned());
    step.waits.clone_from(&present.diff.waits);
    step.waits.extend(present.unresolved.iter().map(|(field, why)| Wait {
        field: field.to_string(),
        code: DEPENDENCY.to_owned(),
        reason: unknown_yet(subject, present, field, why),
    }));
    step.refusals.clone_from(&present.diff.refusals);
    step.deltas = judged(request, subject, present);
    hold_companions(subject.kind, present, &mut step);
    step.disruption = step.deltas.iter().map(|delta| delta.disruption).max().unwrap_or_default();
    decide(request, subject, present, step)
}

/// Says what becomes of a field whose value is not known yet, and after what.
fn unknown_yet(subject: &Subject<'_>, present: &Present, field: &str, why: &Unresolved) -> String {
    let Some(input @ Input::Template { value, .. }) = subject.resource.fields.get(field) else {
        return why.to_string();
    };
    let rule = subject.kind.rules().iter().find(|rule| rule.field == field);
    let from = rule.and_then(|rule| present.actual.member(rule.member));
    let change = match (from.unwrap_or(&Value::Null), value) {
        (from @ (Value::String(_) | Value::Null), Value::String(_)) => {
            format!("{from} -> {value}, ")
        }
        _ => String::new(),
    };
    format!("{change}known after {} created: {why}", both(&named(input)))
}

/// Returns the verdict on a resource that is in no state to be compared.
fn unsettled(readiness: &Readiness, step: &mut Step) -> Option<Verdict> {
    match readiness {
        Readiness::Ready | Readiness::Limited { .. } => None,
        Readiness::Waiting { code, reason } => Some(waiting(code, reason.clone())),
        Readiness::Broken { code, reason } => {
            step.refusals.push(Refusal {
                field: String::new(),
                code: code.clone(),
                message: reason.clone(),
                help: "mend it in AWS; it is looked at again on the next pass".to_owned(),
            });
            Some(Verdict::Refused)
        }
    }
}

/// Says of each difference where it comes from and when AWS may apply it.
fn judged(request: &Request<'_>, subject: &Subject<'_>, present: &Present) -> Vec<Delta> {
    if present.diff.deltas.is_empty() {
        return Vec::new();
    }
    let memory = remembered(request, subject);
    let timing = match request.policy.disruption {
        DisruptionPolicy::Window => Timing::Window,
        DisruptionPolicy::Immediate => Timing::Immediate,
    };
    let origin = |delta: &Delta| match memory {
        Some(memory) if was_in_force(&delta.field, memory, &present.bound) => Origin::Drift,
        _ => Origin::Git,
    };
    let judge = |delta: &Delta| Delta { origin: origin(delta), timing, ..delta.clone() };
    present.diff.deltas.iter().map(judge).collect()
}

/// What changes together with a value that is not known yet waits for it: a major upgrade for the
/// parameter group of its family.
fn hold_companions(kind: &dyn Kind, present: &Present, step: &mut Step) {
    for (field, why) in &present.unresolved {
        let rule = kind.rules().iter().find(|rule| rule.field == *field);
        let Some(companion) = rule.and_then(|rule| rule.with) else { continue };
        let before = step.deltas.len();
        step.deltas.retain(|delta| delta.field != companion);
        if step.deltas.len() < before {
            step.waits.push(Wait {
                field: companion.to_owned(),
                code: DEPENDENCY.to_owned(),
                reason: format!("it changes together with {field}: {why}"),
            });
        }
    }
}

fn decide(request: &Request<'_>, subject: &Subject<'_>, present: &Present, mut step: Step) -> Step {
    match ownership(&present.bound, present.actual.tags.as_ref()) {
        Ownership::Foreign(refusal) => {
            step.refusals.insert(0, refusal);
            step.verdict = Verdict::Refused;
            step
        }
        Ownership::ToAdopt => {
            step.action = Action::Adopt;
            step.calls = subject.kind.own(&present.bound.id, &present.actual, &present.bound.owner);
            hold_back(request, &mut step);
            step
        }
        Ownership::Unknown if !step.deltas.is_empty() => {
            step.action = Action::Update;
            step.verdict = waiting("OwnershipUnknown", format!("the tags of {}", step.resource));
            step
        }
        Ownership::Ours | Ownership::Unknown => ours(request, subject, present, step),
    }
}

fn ours(request: &Request<'_>, subject: &Subject<'_>, present: &Present, mut step: Step) -> Step {
    if step.deltas.is_empty() {
        step.verdict = rest(request, subject.kind, present, &step);
        return step;
    }
    if is_shared(request, &present.bound.owner) {
        step.notices.extend(step.deltas.drain(..).map(left_to_owner));
        step.disruption = Disruption::None;
        return step;
    }
    step.action = Action::Update;
    let (due, held) = holds::part(request, subject, present, &step.deltas);
    if due.is_empty() {
        step.verdict = nothing_due(&held);
        step.waits
            .extend(held.into_iter().filter(|held| held.end != End::Never).map(|held| held.wait));
        return step;
    }
    step.waits.extend(held.into_iter().map(|held| held.wait));
    if let Some(verdict) = futile(request, subject, &due, &mut step) {
        step.verdict = verdict;
        return step;
    }
    step.calls = subject.kind.update(&present.bound, &present.actual, &due);
    step.effective = effective(request, subject.kind, &present.actual, &due);
    hold_back(request, &mut step);
    step
}

fn left_to_owner(delta: Delta) -> Notice {
    Notice {
        message: format!("{} differs and is left to the object that owns it", delta.field),
        field: delta.field,
        code: "LeftToOwner".to_owned(),
    }
}

/// The verdict on a resource with nothing to mend: settled, waiting, queued or refused.
fn rest(request: &Request<'_>, kind: &dyn Kind, present: &Present, step: &Step) -> Verdict {
    if let Some(wait) = step.waits.first() {
        let queued = step.waits.iter().all(|wait| wait.code == "Pending");
        return match next_window(kind, &present.actual, request.now) {
            Some(until) if queued => deferred(until, &wait.reason),
            _ => waiting(&wait.code, wait.reason.clone()),
        };
    }
    if step.refusals.is_empty() { Verdict::Go } else { Verdict::Refused }
}

/// The verdict when every difference is held: until a person confirms, until the first of them is
/// due, or for good.
fn nothing_due(held: &[Held]) -> Verdict {
    if let Some(frozen) = held.iter().find(|held| held.end == End::Confirmed) {
        return waiting(Wait::FROZEN, frozen.wait.reason.clone());
    }
    let times = held.iter().filter_map(|held| match held.end {
        End::At(until) => Some((until, &held.wait.reason)),
        End::Confirmed | End::Never => None,
    });
    match times.min() {
        Some((until, why)) => deferred(until, why),
        None => Verdict::Reported,
    }
}

fn deferred(until: Timestamp, why: &str) -> Verdict {
    Verdict::Deferred { until, why: why.to_owned() }
}

/// Stops the same change from being sent while it may still take effect, or for ever.
fn futile(
    request: &Request<'_>,
    subject: &Subject<'_>,
    due: &[Delta],
    step: &mut Step,
) -> Option<Verdict> {
    let accepted = remembered(request, subject)?.accepted.as_ref()?;
    if values(due).iter().any(|(field, value)| accepted.fields.get(field) != Some(value)) {
        return None;
    }
    let age = request.now.duration_since(accepted.at);
    if accepted.times >= FUTILE_CHANGES && age < STALLED_INTERVAL {
        step.refusals.extend(due.iter().map(|delta| no_effect(delta, accepted.times)));
        return Some(Verdict::Refused);
    }
    (age < READBACK_GRACE).then(|| {
        waiting("ReadbackLag", "AWS accepted this change and does not show it yet".to_owned())
    })
}

/// Tells whether AWS accepted a change again and again without effect.
pub(super) fn is_stalled(memory: &ResourceMemory, delta: &Delta) -> bool {
    let accepted = memory.accepted.as_ref().filter(|known| known.times >= FUTILE_CHANGES);
    accepted.is_some_and(|accepted| accepted.fields.get(&delta.field) == Some(&delta.to))
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

/// The fields and values of a change, as they are remembered.
pub(super) fn values<'a>(deltas: impl IntoIterator<Item = &'a Delta>) -> BTreeMap<String, Value> {
    deltas.into_iter().map(|delta| (delta.field.clone(), delta.to.clone())).collect()
}

fn effective(
    request: &Request<'_>,
    kind: &dyn Kind,
    actual: &Observed,
    due: &[Delta],
) -> Option<Timestamp> {
    let queued = |delta: &Delta| {
        delta.apply == Apply::Window
            || (delta.apply == Apply::Queued && delta.timing == Timing::Window)
    };
    due.iter().any(queued).then(|| next_window(kind, actual, request.now))?
}

fn next_window(kind: &dyn Kind, actual: &Observed, now: Timestamp) -> Option<Timestamp> {
    Window::weekly(kind.window(actual)?).map(|window| window.next_start(now))
}

/// An object that is only looked at is reported and left.
fn hold_back(request: &Request<'_>, step: &mut Step) {
    if request.is_idle() {
        step.verdict = Verdict::Reported;
    }
}
