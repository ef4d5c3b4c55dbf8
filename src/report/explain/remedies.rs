//! What a person can do about an object, from what keeps it.

use std::collections::BTreeSet;

use super::{Known, Remedy};
use crate::model::status::Truth;
use crate::model::{Ask, Condition, Freeze, ObjectStatus, ResourceStatus, Wait};

/// Lists what a person can do, what concerns the object as a whole first; each thing once.
pub(super) fn remedies(known: &Known<'_>) -> Vec<Remedy> {
    let status = known.told.status;
    let mut found: Vec<Remedy> = Vec::new();
    found.extend(frozen(known));
    found.extend(declared(status));
    found.extend(held(known));
    found.extend(given_up(known));
    if !holds(status, Condition::SUSPENDED) && !holds(status, Condition::FAILED) {
        found.extend(status.resources.iter().flat_map(|row| resource(row, known)));
    }
    let mut told = BTreeSet::new();
    found.retain(|remedy| told.insert(remedy.clone()));
    found
}

fn advice(what: impl Into<String>) -> Remedy {
    Remedy { command: None, what: what.into() }
}

fn command(command: String, what: &str) -> Remedy {
    Remedy { command: Some(command), what: what.to_owned() }
}

fn holds(status: &ObjectStatus, kind: &str) -> bool {
    status.condition(kind).is_some_and(|condition| condition.status == Truth::True)
}

fn frozen(known: &Known<'_>) -> Vec<Remedy> {
    let Some(freeze) = known.frozen() else { return Vec::new() };
    let confirm = format!("levelset confirm {}", freeze.digest);
    let (meant, otherwise) = match freeze.guard.as_str() {
        Freeze::DRIFT => (
            "if Git is right: reverts exactly the frozen drift",
            "if AWS is right: declare what it has, and the freeze ends by itself",
        ),
        _ => (
            "if it is meant: releases exactly the frozen set",
            "if it is not meant: put it right in Git, and the freeze ends by itself",
        ),
    };
    vec![command(confirm, meant), advice(otherwise)]
}

/// What is to be mended in Git or in the settings.
fn declared(status: &ObjectStatus) -> Vec<Remedy> {
    let invalid = status.condition(Condition::VALID).filter(|it| it.status == Truth::False);
    let reason = status.condition(Condition::READY).map_or("", |ready| ready.reason.as_str());
    let ready = match reason {
        "Removed" => Some("put the manifest back, if the object is to be managed again"),
        "EnvironmentUnknown" => {
            Some("add the environment to the agent's settings, or mend its name")
        }
        _ => None,
    };
    let mend = invalid.map(|_| "mend the manifest; `levelset validate` tells every mistake");
    mend.into_iter().chain(ready).map(advice).collect()
}

/// Who suspends or snoozes it lifts that: in Git, by command, or both.
fn held(known: &Known<'_>) -> Vec<Remedy> {
    let status = known.told.status;
    let lasting = [Condition::SUSPENDED, Condition::SNOOZED].map(|kind| status.condition(kind));
    let reasons = lasting.into_iter().flatten().filter(|it| it.status == Truth::True);
    let by_git = reasons.clone().any(|it| it.reason != Condition::BY_COMMAND);
    let is_level = |ask: &Ask| matches!(ask, Ask::Suspend { .. } | Ask::Snooze { .. });
    let by_command = known.asked.iter().any(|asked| is_level(&asked.ask));
    let resume = format!("levelset resume {}", known.told.key);
    let mut found = Vec::new();
    if by_command {
        found.push(command(resume, "lifts what was suspended or snoozed by command"));
    }
    if by_git {
        found.push(advice("take the annotation out of the manifest in Git"));
    }
    found
}

/// Failures, changes without effect, contests: another try, once the cause is mended.
fn given_up(known: &Known<'_>) -> Vec<Remedy> {
    let status = known.told.status;
    let retry = || format!("levelset retry {}", known.told.key);
    let mut found = Vec::new();
    if holds(status, Condition::FAILED) {
        found.push(command(retry(), "tries again, once its cause is mended"));
    } else if holds(status, Condition::STALLED) || holds(status, Condition::CONTESTED) {
        found.push(command(retry(), "sends the change again now"));
    }
    if holds(status, Condition::CONTESTED) {
        found.push(advice("find who else sets the field, or list it under reconcilePolicy.ignore"));
    }
    found
}

fn resource(row: &ResourceStatus, known: &Known<'_>) -> Vec<Remedy> {
    let helps = row.refusals.iter().filter(|refusal| !refusal.help.is_empty());
    let mut found: Vec<Remedy> = helps.map(|refusal| advice(refusal.help.clone())).collect();
    let waits_for = |code: &str| row.waits.iter().any(|wait| wait.code == code);
    if waits_for(Wait::WINDOW_UNKNOWN) {
        found.push(advice("declare a maintenance window, in which the restart is done"));
        found.push(advice("to have it at once, declare reconcilePolicy.disruption: immediate"));
    }
    match row.state.as_str() {
        "Reported" => {
            found.push(advice("to have it reverted, declare reconcilePolicy.drift: revert"));
            let accept = format!("levelset accept {}", known.told.key);
            found.push(command(accept, "prints a patch that declares what AWS has, to keep it"));
        }
        "Deferred" if waits_for("Window") || waits_for("Pending") => {
            found.push(advice("nothing: it is done in the maintenance window"));
            found.push(advice("to have it at once, declare reconcilePolicy.disruption: immediate"));
        }
        "Failed" => {
            let retry = format!("levelset retry {}", known.told.key);
            found.push(advice("mend what AWS refuses; it is tried again by itself"));
            found.push(command(retry, "tries again now"));
        }
        "Unknown" => found.push(advice("let the agent's role read it; nothing is done in doubt")),
        "Blocked" => found.push(advice("make what it needs, or mend the reference to it")),
        _ => {}
    }
    found
}
