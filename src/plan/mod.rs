//! Decides what one pass does: from differences to an immutable plan.
//!
//! In: for each resource of an object what is declared, what was observed and how they differ; the
//! object's policy and memory; the time. Out: a [`Plan`] in which everything that does not happen
//! has a reason.
//!
//! Invariants: pure; no step for a resource that is not ours; no call that a step's differences do
//! not name; doubt leads to waiting, never to a call. It sends nothing and compares nothing.

pub mod bind;
mod effect;
pub mod handle;
mod holds;
mod memory;
mod ownership;
mod present;
pub mod removal;
mod reverts;
mod storage;
pub mod three_way;
mod turns;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

pub use memory::{owned, remember};
pub use reverts::{Frozen, Reverts};

use crate::model::desired::{Field, Unresolved};
use crate::model::plan::{Action, Plan, Step, Verdict};
use crate::model::policy::DriftPolicy;
use crate::model::status::{Memory, ResourceMemory};
use crate::model::{
    Apply, Bound, Delta, Diff, Disruption, Doubt, Holds, Input, Key, Kind, Notice, Observed,
    Origin, Policy, Readiness, Resource, ResourceId, Revision, Timing, Wait,
};

/// How long a create that was sent may stay unseen before it is sent again.
///
/// Sending it again is safe, because names are given and AWS refuses a second one; waiting keeps a
/// slow answer from looking like a failure.
pub const CREATE_GRACE: SignedDuration = SignedDuration::from_mins(2);

/// The code of a wait for another resource.
const DEPENDENCY: &str = "Dependency";

/// Holds what the planner decides on.
pub struct Request<'a> {
    /// The object.
    pub key: &'a Key,
    /// The commit it comes from.
    pub revision: Option<&'a Revision>,
    /// How it wants to be reconciled.
    pub policy: &'a Policy,
    /// What holds it: while it is suspended, everything is reported and nothing is done; while it
    /// is snoozed, drift is not reverted.
    pub holds: &'a Holds,
    /// True when too many attempts have failed: everything is reported and nothing is done.
    pub exhausted: bool,
    /// Drift that the guard of the fleet holds until a person confirms it.
    pub frozen: Option<&'a Frozen>,
    /// What is remembered of earlier passes.
    pub memory: &'a Memory,
    /// When a create was sent whose resource has not been read since.
    pub intents: BTreeMap<ResourceId, Timestamp>,
    /// The client tokens of those creates, where they had one; `None` for somebody who only looks,
    /// and sends nothing that could be repeated.
    pub tokens: Option<BTreeMap<ResourceId, String>>,
    /// The time of this pass.
    pub now: Timestamp,
    /// The resources, in the order of their dependencies.
    pub subjects: Vec<Subject<'a>>,
}

impl Request<'_> {
    /// Tells whether the object is only looked at.
    fn is_idle(&self) -> bool {
        self.exhausted || self.holds.is_suspended()
    }

    /// Returns the token by which AWS knows a repeated create from a second one: that of the create
    /// whose outcome is not known, or a new one.
    fn token(&self, resource: &ResourceId) -> Option<String> {
        let open = self.tokens.as_ref()?.get(resource).cloned();
        let seed = format!("{} {resource} {}", resource.scope, self.now);
        let new = || hex::encode(Sha256::digest(seed)).chars().take(32).collect();
        Some(open.unwrap_or_else(new))
    }

    /// Returns until when drift is left, and why.
    fn snooze(&self) -> Option<(Timestamp, String)> {
        let snooze = self.holds.snoozed.as_ref().filter(|snooze| snooze.until > self.now)?;
        Some((snooze.until, format!("the revert is snoozed by {}", snooze.by)))
    }
}

/// Holds one resource as the planner sees it.
pub struct Subject<'a> {
    /// The facts of its type.
    pub kind: &'a dyn Kind,
    /// What is declared.
    pub resource: &'a Resource,
    /// How it stands.
    pub state: &'a State,
}

/// Says how a resource stands.
pub enum State {
    /// It does not exist, and a value that it needs is not there yet.
    Unbound(Unresolved),
    /// Nothing is known.
    Unknown(Doubt),
    /// It does not exist.
    Absent(Bound),
    /// It exists.
    Present(Box<Present>),
}

/// Holds a resource that exists.
pub struct Present {
    /// What is declared.
    pub bound: Bound,
    /// What AWS answered.
    pub actual: Arc<Observed>,
    /// Whether it is settled.
    pub readiness: Readiness,
    /// How the two differ, in what is known of the declared values.
    pub diff: Diff,
    /// The declared values that are not known yet, and why.
    pub unresolved: BTreeMap<Field, Unresolved>,
}

/// Makes the plan of one object.
pub fn plan(request: &Request<'_>) -> Plan {
    let mut steps: Vec<Step> =
        request.subjects.iter().map(|subject| step(request, subject)).collect();
    turns::take(request, &mut steps);
    Plan {
        key: request.key.clone(),
        revision: request.revision.cloned(),
        holds: request.holds.clone().at(request.now),
        steps,
        traced: Vec::new(),
    }
}

fn step(request: &Request<'_>, subject: &Subject<'_>) -> Step {
    let mut step = blank(subject.resource);
    if !subject.resource.refusals.is_empty() {
        step.refusals.clone_from(&subject.resource.refusals);
        step.verdict = Verdict::Refused;
        return step;
    }
    match subject.state {
        State::Unknown(doubt) => {
            step.verdict = waiting("Unknown", doubt.to_string());
            step
        }
        State::Unbound(why) => {
            step.action = Action::Create;
            step.deltas = known_values(subject);
            step.verdict = match why {
                _ if request.is_idle() => Verdict::Reported,
                Unresolved::Unseen(by) => Verdict::Blocked { by: by.clone() },
                why => waiting(DEPENDENCY, why.to_string()),
            };
            step
        }
        State::Absent(bound) => absent(request, subject, bound, step),
        State::Present(present) => present::step(request, subject, present, step),
    }
}

/// A step that does nothing yet.
fn blank(resource: &Resource) -> Step {
    Step { notices: resource.notices.clone(), ..nothing(&resource.id, &resource.section) }
}

fn nothing(resource: &ResourceId, section: &str) -> Step {
    Step {
        resource: resource.clone(),
        section: section.to_owned(),
        action: Action::Nothing,
        verdict: Verdict::Go,
        deltas: Vec::new(),
        calls: Vec::new(),
        disruption: Disruption::None,
        effective: None,
        waits: Vec::new(),
        refusals: Vec::new(),
        notices: Vec::new(),
    }
}

fn absent(request: &Request<'_>, subject: &Subject<'_>, bound: &Bound, mut step: Step) -> Step {
    if is_only_read(subject) {
        step.action = Action::Read;
        step.verdict = waiting(
            "NotFound",
            format!("{} does not exist in {}", step.resource, step.resource.scope),
        );
        return step;
    }
    step.action = Action::Create;
    step.deltas = creation(subject.kind, bound);
    // What is set when it exists, since it refers to that, is a part of the plan.
    let is_later = |delta: &Delta| !bound.fields.contains_key(delta.field.as_str());
    step.deltas.extend(known_values(subject).into_iter().filter(is_later));
    let is_gone = remembered(request, subject).is_some_and(|known| !known.converged.is_empty());
    if is_gone && let Some(verdict) = vanished(request, subject.kind.starts_empty(bound), &mut step)
    {
        step.verdict = verdict;
        return step;
    }
    if let Some(sent) = request.intents.get(&step.resource)
        && request.now.duration_since(*sent) < CREATE_GRACE
    {
        let on = "a create was sent and its resource is not to be seen yet".to_owned();
        step.verdict = waiting("CreateOutcomeUnknown", on);
        return step;
    }
    step.calls = subject.kind.create(bound);
    if let Some((parameter, token)) = subject.kind.client_token().zip(request.token(&step.resource))
        && let Some(create) = step.calls.first_mut()
    {
        *create = create.clone().with(parameter, token);
    }
    if request.is_idle() {
        step.verdict = Verdict::Reported;
    }
    step
}

/// A resource that was as declared and is gone was deleted outside Git: that is drift, said loudly,
/// because what is made anew is empty, unless its data are kept elsewhere.
fn vanished(request: &Request<'_>, is_empty: bool, step: &mut Step) -> Option<Verdict> {
    let loss = if is_empty { "; what is made anew is empty" } else { "" };
    step.notices.push(Notice {
        field: String::new(),
        code: Notice::VANISHED.to_owned(),
        message: format!("{} was deleted outside Git{loss}", step.resource),
    });
    if request.policy.drift == DriftPolicy::Report {
        return Some(Verdict::Reported);
    }
    if let Some((until, why)) = request.snooze() {
        return Some(Verdict::Deferred { until, why });
    }
    let frozen = request.frozen.filter(|frozen| frozen.holds_gone(&step.resource))?;
    Some(waiting(Wait::FROZEN, frozen.why.clone()))
}

/// Lists every value that a creation sets.
fn creation(kind: &dyn Kind, bound: &Bound) -> Vec<Delta> {
    let declared = bound.fields.iter().map(|(field, value)| (field, value, "declared"));
    let initial = bound.initial.iter().map(|(field, value)| (field, value, "default at creation"));
    declared
        .filter(|(_, value, _)| !is_nothing(value))
        .chain(initial.filter(|(field, ..)| !bound.fields.contains_key(*field)))
        .map(|(field, value, why)| new_value(kind, field, value.clone(), why))
        .collect()
}

/// Tells whether a value says that there is none, or says so of each of its members.
fn is_nothing(value: &serde_json::Value) -> bool {
    value.is_null()
        || value.as_object().is_some_and(|members| {
            !members.is_empty() && members.values().all(serde_json::Value::is_null)
        })
}

/// Lists the values of a creation that are known before its references are.
fn known_values(subject: &Subject<'_>) -> Vec<Delta> {
    let fields = subject.resource.fields.iter();
    fields
        .filter_map(|(field, input)| {
            let (value, why) = match input {
                Input::Known(value) if is_nothing(value) => return None,
                Input::Known(value) => (value.clone(), "declared".to_owned()),
                Input::Template { value, .. } => {
                    let named = named(input);
                    let after = || format!("known after {} created", both(&named));
                    let is_known = named.is_empty();
                    (value.clone(), if is_known { "declared".to_owned() } else { after() })
                }
                Input::Output { of, member } | Input::Select { of, member, .. } => {
                    (format!("{member} of {of}").into(), format!("known when {of} exists"))
                }
            };
            Some(new_value(subject.kind, field, value, &why))
        })
        .collect()
}

/// Lists what a value with references needs, as the manifest spells it.
fn named(input: &Input) -> Vec<String> {
    let resource = |marker: &str| marker.rsplit_once('.').map(|(resource, _)| resource.to_owned());
    let mut names: Vec<String> = input.markers().into_iter().filter_map(resource).collect();
    if names.is_empty() {
        names.extend(input.references().into_iter().map(ToString::to_string));
    }
    names.sort();
    names.dedup();
    names
}

/// Joins names, with the verb that belongs to as many.
fn both(names: &[String]) -> String {
    match names {
        [] => "everything that it needs is".to_owned(),
        [one] => format!("{one} is"),
        [many @ .., last] => format!("{} and {last} are", many.join(", ")),
    }
}

fn new_value(kind: &dyn Kind, field: &str, to: serde_json::Value, why: &str) -> Delta {
    let rule = kind.rules().iter().find(|rule| rule.field == field);
    Delta {
        field: field.to_owned(),
        parameter: rule.map_or(field, |rule| rule.parameter).to_owned(),
        from: serde_json::Value::Null,
        to,
        why: why.to_owned(),
        disruption: Disruption::None,
        security: false,
        apply: rule.map_or(Apply::AtOnce, |rule| rule.apply),
        origin: Origin::Git,
        timing: Timing::default(),
    }
}

/// Tells whether the resource is only looked at: it has nothing that could differ.
fn is_only_read(subject: &Subject<'_>) -> bool {
    subject.kind.only_reads(subject.resource)
}

/// Tells whether the resource is another object's: this one may make it, and never changes it, since
/// it knows only its own wishes and not the owner's.
fn is_shared(request: &Request<'_>, owner: &str) -> bool {
    !owner.ends_with(&format!("/{}", request.key))
}

/// Returns what is remembered of a resource.
fn remembered<'a>(request: &'a Request<'_>, subject: &Subject<'_>) -> Option<&'a ResourceMemory> {
    request.memory.resources.get(&subject.resource.id.to_string())
}

fn waiting(code: &str, on: String) -> Verdict {
    Verdict::Waiting { code: code.to_owned(), on }
}

#[cfg(test)]
mod tests;
