//! Whether an answer can be read: a member that is missing or of another type is doubt.
//!
//! Guessing would turn a broken answer into a change: a size that is text into a shrink, a queue that
//! is no object into nothing queued.

use serde_json::Value;

use crate::model::{Compare, Observed, Rule};

/// Returns why the members that a rule reads cannot be compared.
pub(super) fn objection(rule: &Rule, actual: &Observed) -> Option<String> {
    if rule.pending.is_some()
        && let Some(queue) = actual.member("PendingModifiedValues").filter(|it| !it.is_object())
    {
        return Some(format!("PendingModifiedValues is {} and no object", kind(queue)));
    }
    let member = rule.member;
    match (actual.member(member), Shape::of(rule.compare)) {
        (None, _) if rule.always => Some(format!("AWS answered no {member}")),
        (Some(value), Some(shape)) if !shape.is_of(value) => {
            Some(format!("{member} is {} and not {}", kind(value), shape.name()))
        }
        _ => None,
    }
}

/// Says what a comparison can read.
#[derive(Clone, Copy)]
enum Shape {
    Text,
    WholeNumber,
    List,
    Structure,
    Plain,
}

impl Shape {
    /// Returns the shape that a comparison needs; `None` where it reads any, or the tags.
    fn of(compare: Compare) -> Option<Self> {
        Some(match compare {
            Compare::Version { .. }
            | Compare::Window
            | Compare::ArnTail
            | Compare::DnsName
            | Compare::Certificate => Self::Text,
            Compare::Storage { .. } | Compare::Rounded | Compare::Ceiling { .. } => {
                Self::WholeNumber
            }
            Compare::Set
            | Compare::List
            | Compare::OfItem { .. }
            | Compare::SetOf(_)
            | Compare::SetWithQueue { .. }
            | Compare::Membership { .. }
            | Compare::Parameters
            | Compare::Permissions(_)
            | Compare::DnsValues { .. }
            | Compare::LifecycleRules
            | Compare::PolicyDocuments { .. } => Self::List,
            Compare::Members { .. } => Self::Structure,
            Compare::Exact | Compare::FoldCase | Compare::Guard(_) => Self::Plain,
            Compare::CreationTag(_)
            | Compare::TagValue { .. }
            | Compare::Schedule
            | Compare::Tags
            | Compare::Presence
            | Compare::PolicyDocument
            | Compare::Properties
            | Compare::WriteOnly => return None,
        })
    }

    fn is_of(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::WholeNumber => value.is_u64(),
            Self::List => value.is_array(),
            Self::Structure => value.is_object(),
            Self::Plain => !value.is_array() && !value.is_object(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Text => "a text",
            Self::WholeNumber => "a whole number",
            Self::List => "a list",
            Self::Structure => "a structure",
            Self::Plain => "a plain value",
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nothing",
        Value::Bool(_) => "a flag",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
