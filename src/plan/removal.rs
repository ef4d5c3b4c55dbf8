//! Decides what becomes of resources that Git declares no longer.
//!
//! In: what an object owned, in the order of dependencies, how it stands in AWS now, and what Git
//! said about its deletion before. Out: one [`Step`] for each, in the reverse order.
//!
//! Invariants: what does not carry our tag is left; a deletion follows only from a policy that was in
//! Git before, after the grace period and from a removal that is on record; deletion protection is
//! never taken away; what is used by something that is still there waits for it, and stays if that
//! stays. A removal waits for no maintenance window (the window is for the restart of a database that
//! goes on living) and heeds no snooze (which is about reverts): the grace period is its delay. The
//! exception is a part of a resource that goes on living: the writer of a cluster waits for the window,
//! and its only member for another one.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{CREATE_GRACE, nothing, waiting};
use crate::model::desired::{OWNER_TAG, retained};
use crate::model::plan::{Action, Step, Verdict};
use crate::model::policy::DeletionPolicy;
use crate::model::status::Owned;
use crate::model::{
    Bound, Doubt, Key, Kind, Notice, Observation, Observed, Readiness, Refusal, ResourceId, Wait,
    Window,
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
    /// Why its going is felt in a resource that is still declared and that it is a part of.
    pub part: Option<&'a Part>,
    /// What the object still declares and is seen to use it.
    pub user: Option<&'a ResourceId>,
    /// What is seen to use it, whoever declares that; looked for when it would be deleted now.
    pub used: Result<Option<&'a ResourceId>, &'a Doubt>,
}

/// Says why the going of a part is felt in a resource that stays, as that of the writer in a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Nothing is known of the resource now.
    Unseen(ResourceId),
    /// Another part has to take over from it.
    Last(ResourceId),
    /// No other part is there.
    Only(ResourceId),
}

/// Says how another object that Git declares needs a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// It declares the resource as its own.
    Declares(Key),
    /// It uses the resource, whoever owns it.
    Uses(Key),
}

/// The code of what stays because something uses it.
pub const STILL_USED: &str = "StillUsed";

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
    if let Some(notice) = leaving.kind.passing(actual) {
        step.notices.push(notice);
        return step;
    }
    if let Some(verdict) = within(departure, leaving, actual) {
        step.verdict = verdict;
        return step;
    }
    let policy = policy(departure, leaving, dependents);
    if let Some(user) = leaving.user.filter(|_| policy != DeletionPolicy::Retain) {
        step.action = Action::Retain;
        step.notices
            .push(notice(STILL_USED, format!("{user} uses it, so it stays until that is gone")));
        return step;
    }
    match (policy, leaving.claim) {
        (DeletionPolicy::Retain, Some(Claim::Uses(by))) => {
            step.action = Action::Retain;
            step.notices.push(notice(STILL_USED, format!("{by} uses it, so it stays as it is")));
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

/// Says why a part stays while the resource leaves that it is a part of: that one is not deleted
/// now, or has parts of others, which would be left alone in it.
fn within(departure: &Departure<'_>, part: &Leaving<'_>, actual: &Observed) -> Option<Verdict> {
    let of = part.kind.part_of(actual)?;
    let is_named = |it: &&Leaving<'_>| *it.owned.id.name == *of && it.owned.id != part.owned.id;
    let unseen = |it: &&Leaving<'_>| matches!(it.seen, Observation::Unknown(_));
    if let Some(whole) = departure.leaving.iter().filter(is_named).find(unseen) {
        return Some(waiting("Unknown", format!("{}, of which nothing is known", whole.owned.id)));
    }
    let (whole, actual, parts) = departure.leaving.iter().find_map(|whole| {
        let Observation::Present(actual) = whole.seen else { return None };
        let parts = whole.kind.turns(actual);
        let is_whole =
            *whole.owned.id.name == *of && parts.iter().any(|name| **name == *part.owned.id.name);
        is_whole.then_some((whole, actual, parts))
    })?;
    let policy = departure.policy.min(whole.owned.policy);
    if policy == DeletionPolicy::Retain {
        return None;
    }
    let id = &whole.owned.id;
    if let Some(refusal) = objection(whole, actual, policy) {
        return Some(waiting("PartOfAnother", format!("{id}, which stays: {}", refusal.message)));
    }
    let is_leaving =
        |name: &&String| departure.leaving.iter().any(|it| *it.owned.id.name == ***name);
    let foreign = parts.iter().find(|name| !is_leaving(name))?;
    Some(waiting("PartOfAnother", format!("{id}, which is not deleted while {foreign} is in it")))
}

/// Returns what Git said before, or `Retain` where another object takes the resource over, or
/// something that may use it stays.
fn policy(departure: &Departure<'_>, leaving: &Leaving<'_>, dependents: &[Step]) -> DeletionPolicy {
    let stays = |step: &Step| step.action == Action::Retain && !is_held(departure, step);
    if dependents.iter().any(stays) || matches!(leaving.claim, Some(Claim::Declares(_))) {
        return DeletionPolicy::Retain;
    }
    match departure.policy.min(leaving.owned.policy) {
        DeletionPolicy::Snapshot if leaving.kind.has_no_snapshot() => DeletionPolicy::Retain,
        policy => policy,
    }
}

/// True for what stays only until the object itself does not use it any more.
fn is_held(departure: &Departure<'_>, step: &Step) -> bool {
    let goes = |it: &Leaving<'_>| departure.policy.min(it.owned.policy) != DeletionPolicy::Retain;
    let is_it = |it: &&Leaving<'_>| it.owned.id == step.resource && it.user.is_some();
    let is_used = step.notices.iter().any(|notice| notice.code == STILL_USED);
    is_used && departure.leaving.iter().find(is_it).is_some_and(goes)
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
    let is_user = |step: &&Step| !step.is_settled() || is_held(departure, step);
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
    let used_by = match leaving.used {
        Ok(used) => used_by.or_else(|| used.map(ToString::to_string)),
        Err(doubt) => return waiting("Unknown", format!("what uses it: {doubt}")),
    };
    if let Some(by) = used_by {
        return waiting("InUse", format!("{by} uses it and is still there"));
    }
    if let Some(verdict) = leaving.part.and_then(|part| take_over(departure, leaving, part, actual))
    {
        return verdict;
    }
    match leaving.kind.readiness(actual) {
        Readiness::Waiting { code, reason } => waiting(&code, reason),
        Readiness::Ready | Readiness::Limited { .. } | Readiness::Broken { .. } => Verdict::Go,
    }
}

/// Says why a part that others depend on does not go now. Its going interrupts them as a restart
/// does, so that it waits for the maintenance window; the only one never goes.
fn take_over(
    departure: &Departure<'_>,
    leaving: &Leaving<'_>,
    part: &Part,
    actual: &Observed,
) -> Option<Verdict> {
    match part {
        Part::Unseen(of) => Some(waiting("Unknown", format!("{of}, of which nothing is known"))),
        Part::Only(of) => {
            let on = format!("another member of {of}: this is the only one");
            Some(waiting("OnlyMember", on))
        }
        Part::Last(_) => {
            let undeclared = Bound {
                id: leaving.owned.id.clone(),
                fields: BTreeMap::new(),
                initial: BTreeMap::new(),
                owner: leaving.owned.owner.clone(),
                adopt: false,
            };
            let window = leaving.kind.window(&undeclared, actual).and_then(Window::weekly);
            let Some(window) = window else {
                let on = "another member has to take over, and no maintenance window is known";
                return Some(waiting(Wait::WINDOW_UNKNOWN, on.to_owned()));
            };
            let why = "the maintenance window, because another member has to take over".to_owned();
            let until = window.next_start(departure.now);
            (!window.is_open(departure.now)).then_some(Verdict::Deferred { until, why })
        }
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
