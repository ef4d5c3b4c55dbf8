//! Whether an object is level; if not why not, what happens next, and what a person can do.
//!
//! In: what is told about the object, what is asked of it, what is frozen. Out: an [`Explanation`],
//! the on-call engineer's one answer. Pure: it reads what the last pass found and compares nothing
//! again.

mod remedies;

use jiff::Timestamp;
use serde::Serialize;

use super::Told;
use crate::model::status::Truth;
use crate::model::{Asked, Condition, Freeze, Key, ResourceStatus};

/// The states of a resource of which nothing is to be told.
const GOOD: [&str; 2] = ["Converged", "Retained"];

/// Holds what is known of one object.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// What the last pass found.
    pub told: Told<'a>,
    /// What is asked of it.
    pub asked: &'a [Asked],
    /// Everything that is frozen.
    pub freezes: &'a [Freeze],
}

/// Answers why an object is as it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The object.
    pub object: Key,
    /// Whether everything is as declared; null when nobody knows.
    pub level: Option<bool>,
    /// The answer in one clause.
    pub summary: String,
    /// What it rests on: the time of the last pass.
    pub seen: Option<Timestamp>,
    /// Why, the object as a whole first.
    pub causes: Vec<Cause>,
    /// What happens next, and when.
    pub next: Next,
    /// What a person can do.
    pub remedies: Vec<Remedy>,
    /// What was asked and stands.
    pub asked: Vec<Asked>,
}

/// Names one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cause {
    /// The resource; null for the object as a whole.
    pub resource: Option<String>,
    /// One word in CamelCase: a condition, or the state of the resource.
    pub code: String,
    /// A sentence for people.
    pub message: String,
    /// The fields that it is about.
    pub fields: Vec<Field>,
}

/// Says what is the matter with one field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Field {
    /// Its path in the section of the manifest; empty for the whole resource.
    pub field: String,
    /// One word: `Drift`, `Change`, or the code of what it waits for or why it is refused.
    pub code: String,
    /// A clause for people.
    pub message: String,
}

/// Says what happens next.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Next {
    /// When the next pass is due, if one is.
    pub at: Option<Timestamp>,
    /// A sentence for people.
    pub message: String,
}

/// Says what a person can do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Remedy {
    /// The command, where there is one.
    pub command: Option<String>,
    /// What it does, or what to do.
    pub what: String,
}

/// Explains an object.
pub fn explain(known: &Known<'_>) -> Explanation {
    let status = known.told.status;
    let mut causes = of_object(known);
    causes.extend(status.resources.iter().filter_map(|row| of_resource(row, known)));
    let ready = status.condition(Condition::READY);
    let level = match ready.map(|ready| ready.status) {
        Some(Truth::True) => Some(true),
        Some(Truth::False) => Some(false),
        Some(Truth::Unknown) | None => None,
    };
    Explanation {
        object: known.told.key.clone(),
        level,
        summary: ready.map_or("no pass has been made yet".to_owned(), |it| it.message.clone()),
        seen: status.last_reconciled_time,
        causes,
        next: next(known),
        remedies: remedies::remedies(known),
        asked: known.asked.to_vec(),
    }
}

/// What concerns the object as a whole: the conditions that are not as usual, what is frozen, what
/// the agent has not seen yet.
fn of_object(known: &Known<'_>) -> Vec<Cause> {
    let cause = |code: &str, message: String| Cause {
        resource: None,
        code: code.to_owned(),
        message,
        fields: Vec::new(),
    };
    let status = known.told.status;
    let mut causes = Vec::new();
    if let Some(freeze) = known.frozen() {
        causes.push(cause("Frozen", freeze.message.clone()));
    }
    for (kind, trouble) in [
        (Condition::VALID, Truth::False),
        (Condition::SUSPENDED, Truth::True),
        (Condition::SNOOZED, Truth::True),
        (Condition::FAILED, Truth::True),
        (Condition::STALLED, Truth::True),
        (Condition::CONTESTED, Truth::True),
        (Condition::STALE, Truth::True),
    ] {
        let condition = status.condition(kind).filter(|condition| condition.status == trouble);
        causes.extend(condition.map(|it| cause(kind, it.message.clone())));
    }
    if status.observed_generation != known.told.generation {
        let message = format!("generation {} is not worked on yet", known.told.generation.0);
        causes.push(cause("NotSeenYet", message));
    }
    let unseen = known.unseen().map(|asked| {
        let message = format!("{} asked for `{}` at {:.0}", asked.by, asked.ask.verb(), asked.at);
        cause("NotActedOnYet", message)
    });
    causes.extend(unseen);
    causes
}

fn of_resource(row: &ResourceStatus, known: &Known<'_>) -> Option<Cause> {
    if GOOD.contains(&row.state.as_str()) {
        return None;
    }
    Some(Cause {
        resource: Some(row.id.to_string()),
        code: row.state.clone(),
        message: row.message.clone(),
        fields: fields(row, known),
    })
}

fn fields(row: &ResourceStatus, known: &Known<'_>) -> Vec<Field> {
    let field = |field: &str, code: &str, message: String| Field {
        field: field.to_owned(),
        code: code.to_owned(),
        message,
    };
    let drift = &known.told.status.drift;
    let deltas = row.deltas.iter().map(|delta| {
        let values = format!("{} is declared, AWS has {}", delta.to, shown(&delta.from));
        let is_it = |drift: &&_| is_about(drift, row, &delta.field);
        match drift.iter().find(is_it) {
            Some(seen) => {
                let who = seen.changed_by.as_ref().map(|it| format!(", {it}"));
                let since = format!(
                    "{}, first seen {:.0}{}",
                    seen.disposition,
                    seen.first_seen,
                    who.unwrap_or_default()
                );
                field(&delta.field, "Drift", format!("{values}; {since}"))
            }
            None => field(&delta.field, "Change", values),
        }
    });
    let refusals = row.refusals.iter().map(|it| field(&it.field, &it.code, it.message.clone()));
    let waits = row.waits.iter().map(|it| field(&it.field, &it.code, it.reason.clone()));
    deltas.chain(refusals).chain(waits).collect()
}

fn is_about(drift: &crate::model::status::DriftStatus, row: &ResourceStatus, field: &str) -> bool {
    drift.resource == row.id && drift.field == field
}

fn shown(value: &serde_json::Value) -> String {
    if value.is_null() { "none".to_owned() } else { value.to_string() }
}

fn next(known: &Known<'_>) -> Next {
    let status = known.told.status;
    let at = status.next_run_time;
    let message = if known.unseen().next().is_some() {
        "a running agent looks within a second or two, and no sooner than its minimum interval \
         allows"
            .to_owned()
    } else {
        match (at, status.last_reconciled_time) {
            (Some(at), _) => format!("the next pass is due at {at:.0}"),
            (None, Some(_)) => {
                "nothing, until its manifest or the settings change, or a person asks".to_owned()
            }
            (None, None) => "the first pass of a running agent".to_owned(),
        }
    };
    Next { at, message }
}

impl<'a> Known<'a> {
    /// Returns what a guard froze that holds the object.
    fn frozen(&self) -> Option<&'a Freeze> {
        self.freezes.iter().find(|freeze| freeze.objects.contains(self.told.key))
    }

    /// Returns what was asked since the last pass.
    fn unseen(&self) -> impl Iterator<Item = &'a Asked> {
        let last = self.told.status.last_reconciled_time;
        self.asked
            .iter()
            .filter(move |asked| asked.ask.is_request() || last.is_none_or(|last| asked.at > last))
    }
}

#[cfg(test)]
mod tests;
