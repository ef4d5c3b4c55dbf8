//! What a pass asks of, and learns from, the trail of who made drift.
//!
//! In: the status after a pass. Out: questions about drift of which nobody knows yet who made it. A pass
//! waits for no answer: a later one tells it.

use std::collections::BTreeMap;

use super::engine::Engine;
use crate::kinds;
use crate::model::status::{DriftStatus, Traced};
use crate::model::{Difference, Key, Kind, ObjectStatus};
use crate::observe::trail::Question;

/// Returns who is known by now to have changed an object, once.
pub(super) fn known(engine: &Engine, key: &Key) -> Vec<Traced> {
    engine.trail.as_ref().map(|trail| trail.passed(key)).unwrap_or_default()
}

/// Tells whether a pass of an object has to tell who changed it.
pub(super) fn has_news(engine: &Engine, key: &Key) -> bool {
    engine.trail.as_ref().is_some_and(|trail| trail.is_due(key))
}

/// Asks who made the drift of which that is not known.
pub(super) fn ask(engine: &Engine, key: &Key, status: &ObjectStatus) {
    if let Some(trail) = &engine.trail {
        trail.ask(questions(key, status));
    }
}

/// Makes one question for each resource and time at which drift of it was first seen.
fn questions(key: &Key, status: &ObjectStatus) -> Vec<Question> {
    let mut found = BTreeMap::new();
    for row in status.drift.iter().filter(|row| row.changed_by.is_none()) {
        let Some(kind) = kinds::find(&row.resource.kind) else { continue };
        let question = found
            .entry((row.resource.clone(), row.first_seen))
            .or_insert_with(|| question(key, kind, status, row));
        question.fields.insert(row.field.clone(), members(kind, &row.field));
    }
    found.into_values().collect()
}

fn question(key: &Key, kind: &dyn Kind, status: &ObjectStatus, row: &DriftStatus) -> Question {
    let told = status.resources.iter().find(|it| it.id == row.resource);
    let outputs = told.map(|it| (*it.outputs).clone()).unwrap_or_default();
    Question {
        key: key.clone(),
        resource: row.resource.clone(),
        name: kind.trail_name(&row.resource, &outputs),
        seen: row.first_seen,
        fields: BTreeMap::new(),
        known: kind.rules().iter().flat_map(|rule| named(rule.member, rule.parameter)).collect(),
    }
}

/// Returns how the API names what a field stands for: members and parameters, and the field's own last
/// word, which is the name of a parameter of a group.
fn members(kind: &dyn Kind, field: &str) -> Vec<String> {
    if field == Difference::EXISTENCE {
        return Vec::new();
    }
    let is_it = |rule: &&crate::model::Rule| {
        field == rule.field || field.strip_prefix(rule.field).is_some_and(|it| it.starts_with('.'))
    };
    let mut found: Vec<String> =
        kind.rules().iter().filter(is_it).flat_map(|it| named(it.member, it.parameter)).collect();
    found.push(field.rsplit('.').next().unwrap_or(field).to_owned());
    found
}

fn named(member: &str, parameter: &str) -> impl Iterator<Item = String> {
    let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
    let first = |path: &str| path.split('.').next().unwrap_or(path).to_owned();
    [last(member), first(member), last(parameter)].into_iter().filter(|name| !name.is_empty())
}
