//! What a pass asks of, and learns from, the trail of who made drift.
//!
//! In: the status after a pass. Out: questions about drift of which nobody knows yet who made it. A pass
//! waits for no answer: a later one tells it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::engine::Engine;
use crate::kinds;
use crate::model::status::{DriftStatus, Traced};
use crate::model::trail::Clue;
use crate::model::{Difference, Key, Kind, ObjectStatus, Plan};
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

/// Returns who made the drift that a plan shows, as far as passes have found that out.
pub(super) fn of_plan(plan: &Plan, told: Option<&ObjectStatus>) -> Vec<Traced> {
    let shows = |row: &DriftStatus| {
        let step = plan.steps.iter().find(|step| step.resource == row.resource);
        step.is_some_and(|step| step.has_drift(&row.field))
    };
    let rows = told.into_iter().flat_map(|status| &status.drift).filter(|row| shows(row));
    let traced = |row: &DriftStatus| {
        Some(Traced {
            resource: row.resource.clone(),
            field: row.field.clone(),
            seen: row.first_seen,
            changed: row.changed_by.clone()?,
        })
    };
    rows.filter_map(traced).collect()
}

/// Makes one question for each resource and time at which drift of it was first seen.
fn questions(key: &Key, status: &ObjectStatus) -> Vec<Question> {
    let mut found = BTreeMap::new();
    for row in status.drift.iter().filter(|row| row.changed_by.is_none()) {
        let Some(kind) = kinds::find(&row.resource.kind) else { continue };
        let question = found
            .entry((row.resource.clone(), row.first_seen))
            .or_insert_with(|| question(key, kind, status, row));
        question.fields.insert(row.field.clone(), clue(kind, row));
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
        part: kind.trail_part(&row.resource),
        seen: row.first_seen,
        fields: BTreeMap::new(),
        known: kind.rules().iter().flat_map(|rule| named(rule.member, rule.parameter)).collect(),
    }
}

/// Returns by what the event is known that made a row.
fn clue(kind: &dyn Kind, row: &DriftStatus) -> Clue {
    let field = row.field.as_str();
    if field == Difference::EXISTENCE {
        return Clue::Gone;
    }
    let events = kind.trail_events(field);
    let exact = kind.rules().iter().filter(|rule| rule.field == field);
    let mut members = differing(&row.declared, &row.actual);
    if members.is_empty() && events.is_empty() {
        members = exact.flat_map(|rule| named(rule.member, rule.parameter)).collect();
        let inner = kind.rules().iter().filter_map(|rule| field.strip_prefix(rule.field));
        let inner = inner.filter_map(|rest| rest.strip_prefix('.')).map(str::to_owned);
        members.extend(inner);
        members.push(field.rsplit('.').next().unwrap_or(field).to_owned());
    }
    Clue::Field { members, events }
}

/// Returns the names under which two maps differ: parameters of a group, tags.
fn differing(declared: &Value, actual: &Value) -> Vec<String> {
    let (Value::Object(declared), actual) = (declared, actual.as_object()) else {
        return Vec::new();
    };
    let nothing = Map::new();
    let actual = actual.unwrap_or(&nothing);
    let names: BTreeSet<&String> = declared.keys().chain(actual.keys()).collect();
    names.into_iter().filter(|name| declared.get(*name) != actual.get(*name)).cloned().collect()
}

fn named(member: &str, parameter: &str) -> impl Iterator<Item = String> {
    let last = |path: &str| path.rsplit('.').next().unwrap_or(path).to_owned();
    let first = |path: &str| path.split('.').next().unwrap_or(path).to_owned();
    [last(member), first(member), last(parameter)].into_iter().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::model::{AccountId, KindName, Region, ResourceId, Scope};

    fn row(kind: &KindName, field: &str, declared: Value, actual: Value) -> DriftStatus {
        let scope = Scope { account: AccountId::new("1"), region: Region::new("eu-west-1") };
        DriftStatus {
            resource: ResourceId { kind: kind.clone(), scope, name: "a".into() },
            field: field.to_owned(),
            actual,
            declared,
            first_seen: jiff::Timestamp::UNIX_EPOCH,
            disposition: "Reported".to_owned(),
            changed_by: None,
        }
    }

    #[test]
    fn every_field_of_every_kind_has_a_clue() {
        for kind in kinds::all() {
            for rule in kind.rules() {
                let found = clue(*kind, &row(&kind.name(), rule.field, json!(1), json!(2)));
                let Clue::Field { members, events } = &found else { panic!("{found:?}") };
                assert!(
                    !members.is_empty() || !events.is_empty(),
                    "{} {}",
                    kind.name(),
                    rule.field
                );
            }
        }
    }

    #[test]
    fn of_parameters_and_tags_those_that_differ_are_looked_for() {
        let kind = kinds::find(&KindName::new("db_parameter_group")).unwrap();
        let (declared, actual) =
            (json!({"a": "1", "b": "2"}), json!({"a": "1", "b": "3", "c": "4"}));
        let found = clue(kind, &row(&kind.name(), "parameters", declared, actual));
        let members = vec!["b".to_owned(), "c".to_owned()];
        assert_eq!(found, Clue::Field { members, events: &[] });
    }

    #[test]
    fn a_resource_that_is_gone_was_deleted() {
        let kind = kinds::find(&KindName::new("db_instance")).unwrap();
        let gone = row(&kind.name(), Difference::EXISTENCE, json!("present"), json!("deleted"));
        assert_eq!(clue(kind, &gone), Clue::Gone);
    }
}
