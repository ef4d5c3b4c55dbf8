//! Who changed a resource, as CloudTrail has it.
//!
//! In: events of CloudTrail, and the drift that they are to explain. Out: a [`Changed`], or nothing: an
//! event that may not be the one is not told.
//!
//! Invariants: of an event only who, when and what it is called are kept: its parameters may hold what
//! people wrote, and an address is nobody's business. A call that failed changed nothing; our own calls
//! are nobody else's.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The clocks of the services may differ, and what is seen may be older than the look.
const SLACK: SignedDuration = SignedDuration::from_secs(60);

/// Says who changed something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// The principal: an ARN, or the name of a service of AWS that acted by itself.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// The event, for example `ModifyDBInstance`.
    pub event: String,
}

impl Changed {
    /// Returns the name of a person or a service, without the account and the role.
    pub fn name(&self) -> &str {
        self.by.rsplit(['/', ':']).next().unwrap_or(&self.by)
    }
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {} at {:.0}", self.event, self.by, self.at)
    }
}

/// Says by what the event that made a difference is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Clue {
    /// The resource is gone: an event that deletes.
    Gone,
    /// A field differs.
    Field {
        /// The names in the API of what differs, one of which the event names: members, parameters, the
        /// names of parameters of a group and of tags. None where the name of the event says enough.
        members: Vec<String>,
        /// The events that can change it; none where any can.
        events: &'static [&'static str],
    },
}

/// Describes the drift of one resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace<'a> {
    /// What differs.
    pub clue: &'a Clue,
    /// What an event has to name so that it is of this resource at all, where CloudTrail knows only what
    /// the resource is in.
    pub part: Option<&'a str>,
    /// The names in the API of everything that is known of the kind.
    pub known: &'a [String],
    /// When the drift was first seen.
    pub seen: Timestamp,
    /// Who the agent is: the ARN of its own credentials.
    pub own: Option<&'a str>,
}

impl Trace<'_> {
    /// Finds the event that made the drift, among those of the resource.
    ///
    /// It is the last one before the drift was seen whose parameters name what differs; or, where no event
    /// names anything that is known of the kind, the only one there is.
    pub fn blame(&self, events: &[Value]) -> Option<Changed> {
        let mut found: Vec<Event> = events.iter().filter_map(Event::read).collect();
        let is_of_part = |event: &Event| self.part.is_none_or(|part| event.names(part));
        found.retain(|event| {
            event.at <= self.seen + SLACK && !self.is_own(event) && is_of_part(event)
        });
        found.sort_by_key(|event| std::cmp::Reverse(event.at));
        let names = |event: &Event, names: &[String]| names.iter().any(|name| event.names(name));
        let made = found.iter().position(|event| match self.clue {
            Clue::Gone => event.is_deletion(),
            Clue::Field { members, events } => {
                (events.is_empty() || events.contains(&event.name.as_str()))
                    && (members.is_empty() || names(event, members))
            }
        });
        if let Some(at) = made {
            return Some(found.swap_remove(at).told());
        }
        if matches!(self.clue, Clue::Field { events, .. } if events.is_empty()) {
            found.retain(|event| {
                !names(event, self.known) && !event.is_deletion() && !event.is_of_tags()
            });
        } else {
            found.clear();
        }
        let mut unclear = found.into_iter();
        match (unclear.next(), unclear.next()) {
            (Some(only), None) => Some(only.told()),
            _ => None,
        }
    }

    /// Sessions of the agent's role are the agent's, whatever they are called.
    fn is_own(&self, event: &Event) -> bool {
        self.own.is_some_and(|own| role(own) == role(&event.by))
    }
}

/// Returns an ARN without the name of the session.
fn role(arn: &str) -> &str {
    match arn.split_once(":assumed-role/") {
        Some((_, rest)) => match rest.split_once('/') {
            Some((_, session)) => &arn[..arn.len() - session.len()],
            None => arn,
        },
        None => arn,
    }
}

/// Holds what is read of an event, for as long as it is judged.
struct Event {
    by: String,
    at: Timestamp,
    name: String,
    /// The names of its parameters at any depth, in lower case.
    parameters: Vec<String>,
}

impl Event {
    /// Reads one event; `None` when it changed nothing or cannot be read.
    fn read(event: &Value) -> Option<Self> {
        let text = event.get("CloudTrailEvent")?.as_str()?;
        let record: Value = serde_json::from_str(text).ok()?;
        let has = |name: &str| record.get(name).is_some_and(|value| !value.is_null());
        let is_read = record.get("readOnly").is_some_and(|it| it == true || it == "true");
        if has("errorCode") || has("errorMessage") || is_read {
            return None;
        }
        let mut parameters = Vec::new();
        names(record.get("requestParameters").unwrap_or(&Value::Null), &mut parameters);
        Some(Self {
            by: principal(&record)?,
            at: record.get("eventTime")?.as_str()?.parse().ok()?,
            name: record.get("eventName")?.as_str()?.to_owned(),
            parameters,
        })
    }

    fn told(self) -> Changed {
        Changed { by: self.by, at: self.at, event: self.name }
    }

    fn names(&self, member: &str) -> bool {
        let member = plain(member);
        self.parameters.contains(&member)
    }

    fn is_deletion(&self) -> bool {
        ["Delete", "Terminate", "Remove"].iter().any(|verb| self.name.starts_with(verb))
            && !self.is_of_tags()
    }

    fn is_of_tags(&self) -> bool {
        ["Tag", "Untag", "AddTags", "RemoveTags", "CreateTags", "DeleteTags"]
            .iter()
            .any(|verb| self.name.starts_with(verb))
    }
}

/// Names who acted. A service of AWS that acts by itself has no ARN and a name.
fn principal(record: &Value) -> Option<String> {
    let identity = record.get("userIdentity")?;
    let text = |name: &str| identity.get(name).and_then(Value::as_str).map(str::to_owned);
    text("arn").or_else(|| text("invokedBy")).or_else(|| text("principalId"))
}

fn names(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                found.push(plain(name));
                names(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, found)),
        // The name of a parameter of a group is a value in the call that sets it.
        Value::String(text) => found.push(plain(text)),
        _ => {}
    }
}

/// Writes a name as it is compared: CloudTrail has its own ideas of capitals, and DNS of dots.
fn plain(name: &str) -> String {
    name.trim_end_matches('.').to_lowercase()
}

#[cfg(test)]
mod tests;
