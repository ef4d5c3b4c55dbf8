//! What to do about a resource that exists.

use jiff::Timestamp;
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
use crate::model::{
    Apply, Delta, Disruption, Input, Kind, Notice, Origin, Readiness, Refusal, Timing, Wait, Window,
};

/// Completes the step of a resource that exists.
pub(super) fn step(
    request: &Request<'_>,
    subject: &Subject<'_>,
    present: &Present,
    mut step: Step,
) -> Step {
    let mut notices = subject.kind.notices(&present.bound, &present.actual);
    // What is declared and not known yet is no silence of Git.
    notices.retain(|notice| !present.unresolved.contains_key(notice.field.as_str()));
    step.notices.extend(notices);
    if let Some(verdict) = unsettled(&present.readiness, &mut step) {
        step.verdict = verdict;
        return step;
    }
    if is_only_read(subject) {
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
    format!("{change}known when {} settled: {why}", both(&named(input)))
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
    }
    keep_back(held, &mut step);
    if due.is_empty() {
        return step;
    }
    step.calls = subject.kind.update(&present.bound, &present.actual, &due);
    step.effective = effective(request, subject.kind, present, &due);
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
        return match next_window(kind, present, request.now) {
            Some(until) if queued => deferred(until, &wait.reason),
            _ => waiting(&wait.code, wait.reason.clone()),
        };
    }
    if step.refusals.is_empty() { Verdict::Go } else { Verdict::Refused }
}

/// Says of each difference that is held why; where all of them are only reported, the verdict does.
fn keep_back(held: Vec<Held>, step: &mut Step) {
    let is_reported = step.verdict == Verdict::Reported;
    for Held { wait, end } in held {
        match end {
            End::Stalled(refusal) => step.refusals.push(refusal),
            End::Never if is_reported => {}
            End::At(_) | End::Open | End::Never => step.waits.push(wait),
        }
    }
}

/// The verdict when every difference is held: until a person or AWS does something, until the first
/// of them is due, or for good.
fn nothing_due(held: &[Held]) -> Verdict {
    let open = |held: &&Held| held.end == End::Open;
    let is_frozen = |held: &&Held| held.wait.code == Wait::FROZEN;
    let first = held.iter().filter(open).find(is_frozen).or_else(|| held.iter().find(open));
    if let Some(Held { wait, .. }) = first {
        return waiting(&wait.code, wait.reason.clone());
    }
    let times = held.iter().filter_map(|held| match held.end {
        End::At(until) => Some((until, &held.wait.reason)),
        End::Open | End::Never | End::Stalled(_) => None,
    });
    match times.min() {
        Some((until, why)) => deferred(until, why),
        None if held.iter().any(|held| held.end != End::Never) => Verdict::Refused,
        None => Verdict::Reported,
    }
}

fn deferred(until: Timestamp, why: &str) -> Verdict {
    Verdict::Deferred { until, why: why.to_owned() }
}

fn effective(
    request: &Request<'_>,
    kind: &dyn Kind,
    present: &Present,
    due: &[Delta],
) -> Option<Timestamp> {
    let queued = |delta: &Delta| {
        delta.apply == Apply::Window
            || (delta.apply == Apply::Queued && delta.timing == Timing::Window)
    };
    due.iter().any(queued).then(|| next_window(kind, present, request.now))?
}

fn next_window(kind: &dyn Kind, present: &Present, now: Timestamp) -> Option<Timestamp> {
    let text = kind.window(&present.bound, &present.actual)?;
    Window::weekly(text).map(|window| window.next_start(now))
}

/// An object that is only looked at is reported and left.
fn hold_back(request: &Request<'_>, step: &mut Step) {
    if request.is_idle() {
        step.verdict = Verdict::Reported;
    }
}
