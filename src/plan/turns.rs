//! Resources that take turns: what restarts one of them waits while another is at it.
//!
//! In: the steps of a plan. Out: the same, with the differences held whose turn has not come. Which
//! resources take turns and in which order, a kind reads from an answer ([`Kind::turns`]): the members
//! of a cluster, its writer last. A change that AWS would queue for the maintenance window is kept
//! here until the window is open, since AWS would restart all members in it at the same time; then
//! it is sent for one, and for the next when that is settled.

use super::{Present, Request, State, Subject};
use crate::model::plan::{Action, Step, Verdict};
use crate::model::{Apply, Delta, Disruption, Readiness, ResourceId, Wait};

/// The code of a wait for one's turn.
const TURN: &str = "Turn";

/// Tells whether a resource takes turns with others, so that its restarts are not left to AWS.
pub(super) fn is_taken(request: &Request<'_>, resource: &ResourceId) -> bool {
    groups(request)
        .iter()
        .any(|group| group.members.iter().any(|at| *id(request, *at) == *resource))
}

/// Tells whether AWS would queue a restart that has its turn here.
pub(super) fn is_kept_from_queue(delta: &Delta) -> bool {
    delta.apply == Apply::Queued && delta.disruption.needs_window()
}

/// Holds every difference whose turn has not come.
pub(super) fn take(request: &Request<'_>, steps: &mut [Step]) {
    for group in groups(request) {
        name_failover(&group, steps);
        let ahead = ahead_of_all(request, &group, steps);
        for (order, at) in group.members.iter().copied().enumerate() {
            let busy = group.members.iter().copied().filter(|other| *other != at);
            let reason = ahead
                .clone()
                .or_else(|| busy.clone().find_map(|other| unsettled(request, other, steps)))
                .or_else(|| {
                    let before = group.members[..order].iter().copied();
                    before.clone().find_map(|other| is_first(steps, other))
                });
            if let Some(reason) = reason {
                let is_restart = |delta: &Delta| delta.disruption.needs_window();
                hold(&request.subjects[at], &mut steps[at], &reason, is_restart);
            }
            hold_companions(request, &group, at, steps);
        }
    }
}

/// Holds the positions of the resources that take turns, in their order, and of the one that says so.
struct Group {
    holder: usize,
    members: Vec<usize>,
    /// How many there are in AWS, declared or not.
    size: usize,
}

fn groups(request: &Request<'_>) -> Vec<Group> {
    let group = |(holder, subject): (usize, &Subject<'_>)| {
        let State::Present(present) = subject.state else { return None };
        let names = subject.kind.turns(&present.actual);
        let position = |name: &String| {
            request.subjects.iter().position(|other| {
                *other.resource.id.name == **name
                    && other.resource.references().contains(&&subject.resource.id)
            })
        };
        let members = names.iter().filter_map(position).collect();
        (!names.is_empty()).then_some(Group { holder, members, size: names.len() })
    };
    request.subjects.iter().enumerate().filter_map(group).collect()
}

fn id<'a>(request: &Request<'a>, at: usize) -> &'a ResourceId {
    &request.subjects[at].resource.id
}

/// The restart of the last in the order makes another one take over.
fn name_failover(group: &Group, steps: &mut [Step]) {
    let Some(last) = group.members.last().filter(|_| group.size > 1) else { return };
    let step = &mut steps[*last];
    for delta in step.deltas.iter_mut().filter(|it| it.disruption == Disruption::Reboot) {
        delta.disruption = Disruption::Failover;
    }
    step.disruption = step.deltas.iter().map(|delta| delta.disruption).max().unwrap_or_default();
}

/// Says what of the holder comes before any of them: its own restart restarts all.
fn ahead_of_all(request: &Request<'_>, group: &Group, steps: &[Step]) -> Option<String> {
    let name = id(request, group.holder);
    unsettled(request, group.holder, steps)
        .or_else(|| restarts(&steps[group.holder]).then(|| format!("{name} changes first")))
}

/// Says why a resource is in no state in which another may restart.
fn unsettled(request: &Request<'_>, at: usize, steps: &[Step]) -> Option<String> {
    let subject = &request.subjects[at];
    let name = &subject.resource.id;
    let present = match subject.state {
        State::Present(present) => present,
        State::Unknown(_) => return Some(format!("nothing is known of {name}")),
        State::Absent(_) | State::Unbound(_) => return None,
    };
    match &present.readiness {
        Readiness::Waiting { reason, .. } | Readiness::Broken { reason, .. } => {
            Some(format!("{name}: {reason}"))
        }
        Readiness::Ready | Readiness::Limited { .. } => {
            let is_restart = |wait: &&Wait| {
                let rule = subject.kind.rules().iter().find(|rule| rule.field == wait.field);
                wait.code == "Pending" && rule.is_some_and(|it| it.disruption.needs_window())
            };
            let pending = steps[at].waits.iter().find(is_restart)?;
            Some(format!("{name} restarts in its maintenance window: {}", pending.reason))
        }
    }
}

/// Says that a resource that comes before has a restart before it, now or in its window.
fn is_first(steps: &[Step], at: usize) -> Option<String> {
    let step = &steps[at];
    restarts(step).then(|| format!("{} changes first, and only one at a time", step.resource))
}

/// Tells whether a step restarts its resource, now or in its window. What is reported, snoozed or
/// fought over restarts nothing.
fn restarts(step: &Step) -> bool {
    let is_coming = |delta: &Delta| {
        let wait = step.waits.iter().find(|wait| wait.field == delta.field);
        wait.map_or(step.is_work(), |wait| ["Window", TURN].contains(&wait.code.as_str()))
    };
    step.deltas.iter().any(|delta| delta.disruption.needs_window() && is_coming(delta))
}

/// Holds what changes together with a field that the holder has still to change.
fn hold_companions(request: &Request<'_>, group: &Group, at: usize, steps: &mut [Step]) {
    let holder = &steps[group.holder];
    let deltas = holder.deltas.iter().map(|delta| &delta.field);
    let waits = holder.waits.iter().map(|wait| &wait.field);
    let refusals = holder.refusals.iter().map(|refusal| &refusal.field);
    let open: Vec<String> = deltas.chain(waits).chain(refusals).cloned().collect();
    let rules = request.subjects[at].kind.rules();
    let companion = |delta: &Delta| {
        let rule = rules.iter().find(|rule| rule.field == delta.field);
        rule.and_then(|rule| rule.with).is_some_and(|with| open.iter().any(|field| field == with))
    };
    let reason = format!("it changes after {}", holder.resource);
    hold(&request.subjects[at], &mut steps[at], &reason, companion);
}

/// Turns differences of a step that would be mended now into waits, and makes the calls of the rest.
fn hold(subject: &Subject<'_>, step: &mut Step, reason: &str, is_held: impl Fn(&Delta) -> bool) {
    let State::Present(present) = subject.state else { return };
    if !step.is_work() || step.action != Action::Update {
        return;
    }
    let is_due = |delta: &&Delta| step.waits.iter().all(|wait| wait.field != delta.field);
    let due = step.deltas.iter().filter(is_due).cloned();
    let (held, rest): (Vec<Delta>, Vec<Delta>) = due.partition(|delta| is_held(delta));
    if held.is_empty() {
        return;
    }
    let wait = |delta: &Delta| Wait {
        field: delta.field.clone(),
        code: TURN.to_owned(),
        reason: reason.to_owned(),
    };
    step.waits.extend(held.iter().map(wait));
    step.effective = None;
    send(subject, present, step, &rest);
    if rest.is_empty() {
        step.verdict = Verdict::Waiting { code: TURN.to_owned(), on: reason.to_owned() };
    }
}

fn send(subject: &Subject<'_>, present: &Present, step: &mut Step, rest: &[Delta]) {
    step.calls = match rest {
        [] => Vec::new(),
        rest => subject.kind.update(&present.bound, &present.actual, rest),
    };
}

#[cfg(test)]
mod tests;
