//! What a pass leaves for the next one to know.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::Value;

use super::present::values;
use super::{Present, Request, State, Subject};
use crate::model::outcome::{Attempt, StepOutcome};
use crate::model::plan::Action;
use crate::model::status::{AcceptedPatch, ResourceMemory};
use crate::model::{Readiness, Step};

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

fn resource(
    mut memory: ResourceMemory,
    subject: &Subject<'_>,
    attempt: &Attempt,
    now: Timestamp,
) -> ResourceMemory {
    let State::Present(present) = subject.state else { return memory };
    if matches!(present.readiness, Readiness::Ready | Readiness::Limited { .. }) {
        note_converged(&mut memory, present, &attempt.step);
    }
    note_accepted(&mut memory, attempt, now);
    memory
}

/// The fields that are as declared were in force; a later difference in them is drift.
fn note_converged(memory: &mut ResourceMemory, present: &Present, step: &Step) {
    let fields = &present.bound.fields;
    let differs = |field: &str| {
        step.deltas.iter().any(|delta| delta.field == field)
            || step.waits.iter().any(|wait| wait.field == field || wait.field.is_empty())
            || step
                .refusals
                .iter()
                .any(|refusal| refusal.field == field || refusal.field.is_empty())
    };
    if !matches!(step.action, Action::Nothing | Action::Update) {
        return;
    }
    memory.converged.retain(|field, _| {
        let field = field.as_str();
        fields.contains_key(field) || present.unresolved.contains_key(field)
    });
    for (field, value) in fields {
        if !differs(field) {
            memory.converged.insert(field.to_string(), value.clone());
        }
    }
}

fn note_accepted(memory: &mut ResourceMemory, attempt: &Attempt, now: Timestamp) {
    let sent = values(&attempt.step.deltas);
    let same = |accepted: &AcceptedPatch| accepted.fields == sent;
    match &attempt.outcome {
        StepOutcome::Accepted { .. } if attempt.step.action == Action::Update => {
            let times = memory.accepted.as_ref().filter(|accepted| same(accepted));
            let times = times.map_or(0, |accepted| accepted.times) + 1;
            memory.accepted = Some(AcceptedPatch { fields: sent, at: now, times });
        }
        _ if memory.accepted.as_ref().is_some_and(|accepted| !still_differs(accepted, &sent)) => {
            memory.accepted = None;
        }
        _ => {}
    }
}

/// An accepted change is remembered as long as all of it is still to be seen.
fn still_differs(accepted: &AcceptedPatch, differences: &BTreeMap<String, Value>) -> bool {
    accepted.fields.iter().all(|(field, value)| differences.get(field) == Some(value))
}
