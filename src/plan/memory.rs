//! What a pass leaves for the next one to know.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::holds::CONTEST_REVERTS;
use super::{Present, Request, State, Subject, effect, is_only_read, is_shared, storage};
use crate::model::handle::Handle;
use crate::model::outcome::{Attempt, StepOutcome};
use crate::model::plan::Action;
use crate::model::status::{Owned, ResourceMemory, StorageMemory};
use crate::model::{Bound, Origin, Readiness, Step};

/// Returns what is to be remembered per resource after a pass.
///
/// A resource that could not be looked at keeps what was known of it.
pub fn remember(request: &Request<'_>, attempts: &[Attempt]) -> BTreeMap<String, ResourceMemory> {
    let mut remembered = BTreeMap::new();
    for (subject, attempt) in request.subjects.iter().zip(attempts) {
        let name = subject.resource.id.to_string();
        let before = request.memory.resources.get(&name).cloned().unwrap_or_default();
        let after = resource(before, subject, attempt, request.now);
        if after != ResourceMemory::default() {
            remembered.insert(name, after);
        }
    }
    remembered
}

/// Returns what the object owns after a pass: of what it declares, that which is known to be its own.
///
/// What was known to be its own stays so until it is let go of, whatever a read shows meanwhile.
pub fn owned(request: &Request<'_>, attempts: &[Attempt]) -> Vec<Owned> {
    let is_own = |(subject, _): &(&Subject<'_>, &Attempt)| {
        !is_only_read(subject) && !is_shared(request, &subject.resource.owner)
    };
    let is_known = |(subject, attempt): &(&Subject<'_>, &Attempt)| {
        let known = &request.memory.owned;
        known.iter().any(|owned| owned.id == subject.resource.id) || is_settled(subject, attempt)
    };
    let subjects = request.subjects.iter().zip(attempts).filter(is_own).filter(is_known);
    subjects
        .map(|(subject, _)| Owned {
            id: subject.resource.id.clone(),
            section: subject.resource.section.to_string(),
            owner: subject.resource.owner.clone(),
            policy: request.policy.deletion,
            left: None,
            handle: Handle::default(),
            needs: subject.resource.references().into_iter().cloned().collect(),
        })
        .collect()
}

/// Tells whether a resource carries our tag, as far as this pass read or wrote it.
fn is_settled(subject: &Subject<'_>, attempt: &Attempt) -> bool {
    let is_tagged = match subject.state {
        State::Present(present) => present.bound.is_owned(&present.actual),
        State::Absent(_) | State::Unbound(_) | State::Unknown(_) => false,
    };
    let is_tagging = matches!(attempt.step.action, Action::Create | Action::Adopt);
    let is_done = match attempt.outcome {
        StepOutcome::Accepted { .. } => true,
        StepOutcome::Failed { accepted, .. } => accepted > 0,
        _ => false,
    };
    is_tagged || (is_tagging && is_done)
}

fn resource(
    mut memory: ResourceMemory,
    subject: &Subject<'_>,
    attempt: &Attempt,
    now: Timestamp,
) -> ResourceMemory {
    if matches!(subject.state, State::Absent(_)) {
        memory.storage = StorageMemory::default();
    }
    let State::Present(present) = subject.state else { return memory };
    if matches!(present.readiness, Readiness::Ready | Readiness::Limited { .. }) {
        note_converged(&mut memory, present, &attempt.step);
        let mut changes = std::mem::take(&mut memory.accepted_changes);
        let is_in_force = |field: &str| was_in_force(field, &memory, &present.bound);
        effect::note(&mut changes, attempt, is_in_force, now);
        memory.accepted_changes = changes;
    }
    note_reverts(&mut memory, attempt, now);
    storage::note(&mut memory.storage, subject.kind, &present.actual, attempt, now);
    memory
}

/// The fields that are as declared were in force; a later difference in them is drift.
fn note_converged(memory: &mut ResourceMemory, present: &Present, step: &Step) {
    let fields = &present.bound.fields;
    let differs = |field: &str| {
        step.deltas.iter().any(|delta| within(&delta.field, field).is_some())
            || step.waits.iter().any(|wait| wait.field == field || wait.field.is_empty())
            || step
                .refusals
                .iter()
                .any(|refusal| within(&refusal.field, field).is_some() || refusal.field.is_empty())
    };
    if !matches!(step.action, Action::Nothing | Action::Update) {
        return;
    }
    memory.converged.retain(|field, _| {
        let field = field.as_str();
        fields.contains_key(field) || present.unresolved.contains_key(field)
    });
    for (field, value) in fields {
        if memory.converged.get(&**field) != Some(value) && !differs(field) {
            memory.converged.insert(field.to_string(), value.clone());
        }
    }
}

/// Tells whether what is declared of a field now was in force before: a difference is drift then.
///
/// The field may be one of a group (`parameters.work_mem`), which is remembered whole; then the one
/// value counts, declared or not.
pub(super) fn was_in_force(field: &str, memory: &ResourceMemory, bound: &Bound) -> bool {
    memory.converged.iter().any(|(group, before)| {
        let Some(now) = bound.declared(group) else { return false };
        match within(field, group) {
            Some("") => before == now,
            Some(part) => before.get(part) == now.get(part),
            None => false,
        }
    })
}

/// Returns the part of a group that a field is: empty for the group itself.
fn within<'a>(field: &'a str, group: &str) -> Option<&'a str> {
    let rest = field.strip_prefix(group)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.') }
}

/// Remembers the latest reverts of each field, as many as tell a contest.
fn note_reverts(memory: &mut ResourceMemory, attempt: &Attempt, now: Timestamp) {
    if !effect::is_accepted(attempt) {
        return;
    }
    for delta in attempt.step.sent().filter(|delta| delta.origin == Origin::Drift) {
        let reverts = memory.reverted.entry(delta.field.clone()).or_default();
        reverts.push(now);
        let surplus = reverts.len().saturating_sub(CONTEST_REVERTS);
        reverts.drain(..surplus);
    }
}
