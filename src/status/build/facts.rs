//! The conditions' facts: what the states of the resources add up to.

use super::resource::listed;
use super::{Cause, Found, state};
use crate::model::status::{DriftStatus, Truth};
use crate::model::{Condition, Holder, ObjectStatus, Problem, ResourceStatus, Severity, Snooze};
use crate::status::conditions::Fact;

/// The planner's code for a field whose changes AWS accepts without effect.
const NO_EFFECT: &str = "NoEffect";

/// The planner's code for a field that somebody else sets as often as it is reverted.
const CONTESTED: &str = "Contested";

/// What leads out of the ceiling of failures.
const ANOTHER_TRY: &str = "a change in Git or `levelset retry` tries again";

/// The reason of an object whose manifest is gone.
pub(in crate::status) const REMOVED: &str = "Removed";

/// States in which a resource is not as declared, the worst first. `Unknown` is last, because
/// beside any other of them it is known that the object is not as declared.
const UNREADY: [&str; 11] = [
    state::FAILED,
    state::REFUSED,
    state::BLOCKED,
    state::FROZEN,
    state::REPORTED,
    state::DEFERRED,
    state::WAITING,
    state::UPDATED,
    state::CREATED,
    state::DELETING,
    state::UNKNOWN,
];

/// States in which the agent goes on by itself, the most telling first.
const MOVING: [&str; 8] = [
    state::CREATED,
    state::DELETING,
    state::UPDATED,
    state::WAITING,
    state::DEFERRED,
    state::BLOCKED,
    state::FAILED,
    state::UNKNOWN,
];

pub(super) fn facts(
    previous: &ObjectStatus,
    found: &Found,
    resources: &[ResourceStatus],
    drift: &[DriftStatus],
) -> [Fact; 11] {
    [
        ready(found, resources),
        drifted(resources, drift),
        progressing(found, resources),
        valid(found),
        failed(previous, found, resources),
        stalled(resources),
        contested(resources),
        suspended(found),
        snoozed(found),
        frozen(found),
        stale(found),
    ]
}

fn first_in<'a>(
    states: &[&'static str],
    resources: &'a [ResourceStatus],
) -> Option<&'a ResourceStatus> {
    states.iter().find_map(|state| resources.iter().find(|resource| resource.state == *state))
}

/// The reason of a condition is one of our own words, also when the state came from a store.
fn word(text: &str) -> &'static str {
    UNREADY.into_iter().find(|state| *state == text).unwrap_or(state::UNKNOWN)
}

fn about(resource: &ResourceStatus) -> String {
    format!("{}: {}", resource.id, resource.message)
}

fn ready(found: &Found, resources: &[ResourceStatus]) -> Fact {
    let fact = |truth, reason, message| Fact::new(Condition::READY, truth, reason, message);
    if found.removed {
        return fact(Truth::False, REMOVED, removed(resources));
    }
    if let Some(why) = &found.unplaced {
        return fact(Truth::False, "EnvironmentUnknown", why.clone());
    }
    if found.undeclared {
        let message = "no file that can be read declares it since the agent started; AWS has not \
                       been looked at";
        return fact(Truth::Unknown, "NotObserved", message.to_owned());
    }
    let Some(worst) = first_in(&UNREADY, resources) else {
        return match (found.looked(), resources.is_empty()) {
            (false, true) => {
                fact(Truth::Unknown, "NotObserved", "AWS has not been looked at".to_owned())
            }
            _ => fact(Truth::True, state::CONVERGED, "everything is as declared".to_owned()),
        };
    };
    let others = resources.iter().filter(|row| UNREADY.contains(&row.state.as_str())).count() - 1;
    let more = if others == 0 { String::new() } else { format!("; {others} more not as declared") };
    let truth = if worst.state == state::UNKNOWN { Truth::Unknown } else { Truth::False };
    fact(truth, word(&worst.state), format!("{}{more}", about(worst)))
}

fn removed(resources: &[ResourceStatus]) -> String {
    match first_in(&UNREADY, resources) {
        Some(open) => format!("the manifest was removed; {}", about(open)),
        None => "the manifest was removed, and nothing is left to do".to_owned(),
    }
}

fn drifted(resources: &[ResourceStatus], drift: &[DriftStatus]) -> Fact {
    let fact = |truth, reason, message| Fact::new(Condition::DRIFTED, truth, reason, message);
    if !drift.is_empty() {
        let names = listed(drift.iter().map(|row| format!("{} {}", row.resource, row.field)));
        return fact(Truth::True, "Drifted", format!("changed outside Git: {names}"));
    }
    match first_in(&[state::UNKNOWN], resources) {
        Some(unknown) => fact(Truth::Unknown, state::UNKNOWN, about(unknown)),
        None => fact(Truth::False, "NoDrift", "nothing was changed outside Git".to_owned()),
    }
}

fn progressing(found: &Found, resources: &[ResourceStatus]) -> Fact {
    let fact = |truth, reason, message| Fact::new(Condition::PROGRESSING, truth, reason, message);
    let idle = |reason, message: &str| fact(Truth::False, reason, message.to_owned());
    if found.holds.is_suspended() {
        return idle("Suspended", &format!("suspended by {}", found.holds.suspenders()));
    }
    if found.failed {
        return idle("RetriesExhausted", "nothing more is tried");
    }
    match first_in(&MOVING, resources) {
        Some(moving) if moving.state == state::FAILED => {
            fact(Truth::True, "Retrying", about(moving))
        }
        Some(moving) => fact(Truth::True, word(&moving.state), about(moving)),
        None => match first_in(&UNREADY, resources) {
            Some(held) => fact(Truth::False, word(&held.state), about(held)),
            None if found.removed => idle(REMOVED, "the manifest was removed"),
            None => idle("Settled", "there is nothing to do"),
        },
    }
}

fn valid(found: &Found) -> Fact {
    let errors: Vec<&Problem> =
        found.problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
    let Some(first) = errors.first() else {
        return Fact::new(Condition::VALID, Truth::True, "Accepted", "the manifest is good");
    };
    let at = &first.position;
    let more = match errors.len() - 1 {
        0 => String::new(),
        more => format!("; {more} more in the manifest"),
    };
    let message = format!(
        "{}:{}:{}: {}{more}; generation {} stays in force",
        at.path, at.line, at.column, first.message, found.generation.0
    );
    Fact::new(Condition::VALID, Truth::False, "Invalid", message)
}

fn failed(previous: &ObjectStatus, found: &Found, resources: &[ResourceStatus]) -> Fact {
    if !found.failed {
        let message = "the ceiling of failed attempts is not reached";
        return Fact::new(Condition::FAILED, Truth::False, "BelowCeiling", message);
    }
    let fact = |message| Fact::new(Condition::FAILED, Truth::True, "RetriesExhausted", message);
    if let Some(row) = first_in(&[state::FAILED], resources) {
        return fact(format!("{}; {ANOTHER_TRY}", about(row)));
    }
    // Nothing was tried: the last attempt was told before.
    let told = previous.condition(Condition::FAILED).filter(|told| told.status == Truth::True);
    let unknown = || format!("too many attempts failed in a row; {ANOTHER_TRY}");
    fact(told.map_or_else(unknown, |told| told.message.clone()))
}

fn stalled(resources: &[ResourceStatus]) -> Fact {
    let futile = resources.iter().find_map(|row| {
        row.refusals.iter().find(|refusal| refusal.code == NO_EFFECT).map(|found| (row, found))
    });
    match futile {
        Some((row, refusal)) => {
            let message = format!("{} {}: {}", row.id, refusal.field, refusal.message);
            Fact::new(Condition::STALLED, Truth::True, NO_EFFECT, message)
        }
        None => {
            let message = "no change was without effect";
            Fact::new(Condition::STALLED, Truth::False, "Effective", message)
        }
    }
}

fn contested(resources: &[ResourceStatus]) -> Fact {
    let fought = resources.iter().find_map(|row| {
        row.waits.iter().find(|wait| wait.code == CONTESTED).map(|found| (row, found))
    });
    match fought {
        Some((row, wait)) => {
            let message = format!("{} {}: {}", row.id, wait.field, wait.reason);
            Fact::new(Condition::CONTESTED, Truth::True, "Reverted", message)
        }
        None => {
            let message = "nobody fights over a field";
            Fact::new(Condition::CONTESTED, Truth::False, "Uncontested", message)
        }
    }
}

fn suspended(found: &Found) -> Fact {
    if !found.holds.is_suspended() {
        let message = "the object is reconciled";
        return Fact::new(Condition::SUSPENDED, Truth::False, "Active", message);
    }
    let is_annotation = |holder: &Holder| matches!(holder, Holder::Annotation { .. });
    let holders = &found.holds.suspended;
    let reason = match (holders.iter().any(is_annotation), holders.iter().all(is_annotation)) {
        (true, true) => Condition::BY_ANNOTATION,
        (true, false) => Condition::BY_BOTH,
        (false, _) => Condition::BY_COMMAND,
    };
    let message = format!("suspended by {}; nothing is changed", found.holds.suspenders());
    Fact::new(Condition::SUSPENDED, Truth::True, reason, message)
}

fn snoozed(found: &Found) -> Fact {
    let snooze = found.holds.snoozed.as_ref().filter(|snooze| snooze.until > found.now);
    let Some(Snooze { until, by }) = snooze else {
        let message = "drift is handled as the policy says";
        return Fact::new(Condition::SNOOZED, Truth::False, "Awake", message);
    };
    let reason = match by {
        Holder::Annotation { .. } => Condition::BY_ANNOTATION,
        Holder::Person { .. } => Condition::BY_COMMAND,
    };
    let message = format!("drift is reported and not reverted until {until:.0}, by {by}");
    Fact::new(Condition::SNOOZED, Truth::True, reason, message)
}

fn frozen(found: &Found) -> Fact {
    caused(Condition::FROZEN, &found.frozen, "Free", "no guard of the fleet holds the object")
}

fn stale(found: &Found) -> Fact {
    caused(Condition::STALE, &found.stale, "Confirmed", "Git was confirmed lately")
}

fn caused(
    kind: &'static str,
    cause: &Option<Cause>,
    usual: &'static str,
    message: &'static str,
) -> Fact {
    match cause {
        Some(cause) => Fact::new(kind, Truth::True, cause.reason, cause.message.clone()),
        None => Fact::new(kind, Truth::False, usual, message),
    }
}
