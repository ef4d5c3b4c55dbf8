//! Decides what becomes of resources that Git declares no longer.
//!
//! In: what an object owned, in the order of dependencies, how it stands in AWS now, and what Git
//! said about its deletion before. Out: one [`Step`] for each, in the reverse order.
//!
//! Invariants: what does not carry our tag is left; a deletion follows only from a policy that was in
//! Git before, after the grace period and from a removal that is on record; deletion protection is
//! never taken away; what is used by something that is still there waits for it, and stays if that
//! stays. A removal waits for no maintenance window (the window is for the restart of a database that
//! goes on living) and heeds no snooze (which is about reverts): the grace period is its delay.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{CREATE_GRACE, nothing, waiting};
use crate::model::desired::{OWNER_TAG, retained};
use crate::model::plan::{Action, Step, Verdict};
use crate::model::policy::DeletionPolicy;
use crate::model::status::Owned;
use crate::model::{
    Key, Kind, Notice, Observation, Observed, Readiness, Refusal, ResourceId, Wait,
};

/// Holds what the planner decides a removal on.
pub struct Departure<'a> {
    /// What the newest generation said about deletion; of this and of what each resource remembers,
    /// the more careful one counts.
    pub policy: DeletionPolicy,
    /// True when an annotation suspended the object, or its attempts have failed too often:
    /// everything is reported and nothing is done.
    pub suspended: bool,
    /// How long a deletion waits for the manifest to come back.
    pub grace: SignedDuration,
    /// Why nothing may be deleted now, if anything speaks against it.
    pub halt: Option<Wait>,
    /// The time of this pass.
    pub now: Timestamp,
    /// The resources, in the order of their dependencies.
    pub leaving: Vec<Leaving<'a>>,
}

/// Holds one resource that Git declares no longer.
pub struct Leaving<'a> {
    /// The facts of its type.
    pub kind: &'a dyn Kind,
    /// What is remembered of it.
    pub owned: &'a Owned,
    /// Since when it is not declared.
    pub since: Timestamp,
    /// True when that is on record: nothing is deleted before.
    pub is_recorded: bool,
    /// What AWS answered right before this, with its tags.
    pub seen: &'a Observation,
    /// When its creation was sent, if it has not been seen since.
    pub created: Option<Timestamp>,
    /// Who else asks for it.
    pub claim: Option<&'a Claim>,
}

/// Says how another object that Git declares needs a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// It declares the resource as its own.
    Declares(Key),
    /// It uses the resource, whoever owns it.
    Uses(Key),
}

/// Makes one step for each resource, those first that others depend on last.
pub fn steps(departure: &Departure<'_>) -> Vec<Step> {
    let mut steps = Vec::with_capacity(departure.leaving.len());
    for leaving in departure.leaving.iter().rev() {
        steps.push(step(departure, leaving, &steps));
    }
    steps
}

fn step(departure: &Departure<'_>, leaving: &Leaving<'_>, dependents: &[Step]) -> Step {
    let mut step = nothing(&leaving.owned.id, &leaving.owned.section);
    step.action = Action::Delete;
    match leaving.seen {
        Observation::Unknown(doubt) => step.verdict = waiting("Unknown", doubt.to_string()),
        Observation::Absent => {
            let is_fresh = |sent| departure.now.duration_since(sent) < CREATE_GRACE;
            if leaving.created.is_some_and(is_fresh) {
                let on = "a create was sent and its resource is not to be seen yet".to_owned();
                step.verdict = waiting("CreateOutcomeUnknown", on);
            }
        }
        Observation::Present(actual) => {
            return present(departure, leaving, actual, dependents, step);
        }
    }
    step
}

fn present(
    departure: &Departure<'_>,
    leaving: &Leaving<'_>,
    actual: &Arc<Observed>,
    dependents: &[Step],
    mut step: Step,
) -> Step {
    let Some(tags) = &actual.tags else {
        step.verdict = waiting("OwnershipUnknown", format!("the tags of {}", step.resource));
        return step;
    };
    let (tag, ours) = (tags.get(OWNER_TAG), &leaving.owned.owner);
    let is_retained = tag.is_some_and(|tag| *tag == retained(ours));
    if tag != Some(ours) && !is_retained {
        step.action = Action::Retain;
        step.notices.push(not_ours(&step.resource, tag));
        return step;
    }
    match (policy(departure, leaving, dependents), leaving.claim) {
        (DeletionPolicy::Retain, Some(Claim::Uses(by))) => {
            step.action = Action::Retain;
            step.notices.push(notice("StillUsed", format!("{by} uses it, so it stays as it is")));
            step
        }
        (DeletionPolicy::Retain, _) if is_retained => {
            step.action = Action::Retain;
            step
        }
        (DeletionPolicy::Retain, _) => retain(departure, leaving, actual, step),
        (policy, claim) => {
            let by = claim.map(|(Claim::Uses(by) | Claim::Declares(by))| by);
            delete(departure, leaving, actual, (policy, by, dependents), step)
        }
    }
}

/// Returns what Git said before, or `Retain` where another object takes the resource over, or
/// something that may use it stays.
fn policy(departure: &Departure<'_>, leaving: &Leaving<'_>, dependents: &[Step]) -> DeletionPolicy {
    let stays = dependents.iter().any(|step| step.action == Action::Retain);
    if stays || matches!(leaving.claim, Some(Claim::Declares(_))) {
        return DeletionPolicy::Retain;
    }
    departure.policy.min(leaving.owned.policy)
}

fn retain(
    departure: &Departure<'_>,
    leaving: &Leaving<'_>,
    actual: &Observed,
    mut step: Step,
) -> Step {
    let owned = leaving.owned;
    step.action = Action::Retain;
    step.calls = leaving.kind.own(&owned.id, actual, &retained(&owned.owner));
    if departure.suspended {
        step.verdict = Verdict::Reported;
    }
    step
}

fn delete(
    departure: &Departure<'_>,
    leaving: &Leaving<'_>,
    actual: &Observed,
    (policy, used_by, dependents): (DeletionPolicy, Option<&Key>, &[Step]),
    mut step: Step,
) -> Step {
    if let Some(refusal) = objection(leaving, actual, policy) {
        step.refusals.push(refusal);
        step.verdict = Verdict::Refused;
        return step;
    }
    let id = &leaving.owned.id;
    let snapshot = (policy == DeletionPolicy::Snapshot).then(|| snapshot_name(id, leaving.since));
    let deletion = leaving.kind.delete(id, actual, snapshot.as_deref());
    step.notices.extend(deletion.notices);
    let is_user = |step: &&Step| !step.is_settled();
    let used_by = used_by.map(ToString::to_string);
    let used_by =
        used_by.or_else(|| dependents.iter().find(is_user).map(|s| s.resource.to_string()));
    step.verdict = verdict(departure, leaving, actual, used_by);
    if matches!(step.verdict, Verdict::Go | Verdict::Deferred { .. } | Verdict::Reported) {
        step.calls = deletion.calls;
    }
    step
}

/// Returns what stands against a deletion until a person changes it.
fn objection(leaving: &Leaving<'_>, actual: &Observed, policy: DeletionPolicy) -> Option<Refusal> {
    let protection = leaving.kind.protection(actual);
    protection.or_else(|| match leaving.kind.readiness(actual) {
        Readiness::Broken { code, reason } if policy == DeletionPolicy::Snapshot => Some(Refusal {
            field: String::new(),
            code,
            message: format!("no final snapshot can be taken: {reason}"),
            help: "mend it in AWS, or delete it there; it is looked at again on the next pass"
                .to_owned(),
        }),
        _ => None,
    })
}

/// Says whether a deletion happens now; what lasts longest is told first.
fn verdict(
    departure: &Departure<'_>,
    leaving: &Leaving<'_>,
    actual: &Observed,
    used_by: Option<String>,
) -> Verdict {
    if departure.suspended {
        return Verdict::Reported;
    }
    let until = leaving.since.checked_add(departure.grace).unwrap_or(Timestamp::MAX);
    if until > departure.now || !leaving.is_recorded {
        let why = "it is deleted then, unless Git declares it again before".to_owned();
        return Verdict::Deferred { until, why };
    }
    if let Some(halt) = &departure.halt {
        return waiting(&halt.code, halt.reason.clone());
    }
    if let Some(by) = used_by {
        return waiting("InUse", format!("{by} uses it and is still there"));
    }
    match leaving.kind.readiness(actual) {
        Readiness::Waiting { code, reason } => waiting(&code, reason),
        Readiness::Ready | Readiness::Limited { .. } | Readiness::Broken { .. } => Verdict::Go,
    }
}

/// Names the final snapshot after the resource and the time of its removal, so that a deletion that
/// is sent again names the same one.
fn snapshot_name(id: &ResourceId, since: Timestamp) -> String {
    format!("{}-final-{}", id.name, since.strftime("%Y%m%d-%H%M%S"))
}

fn not_ours(id: &ResourceId, tag: Option<&String>) -> Notice {
    let message = match tag {
        Some(owner) => format!("{id} belongs to {owner} by now; it is left as it is"),
        None => format!("{id} does not carry our tag any more; it is left as it is"),
    };
    notice("NotOurs", message)
}

fn notice(code: &str, message: String) -> Notice {
    Notice { field: String::new(), code: code.to_owned(), message }
}

#[cfg(test)]
mod tests;
