//! What a person should know of an object without having asked.
//!
//! In: what was known before, and the status after a pass. Out: an [`Alert`]; and of two of them, the
//! [`News`]. Pure; it holds no duration, so that the same state is the same text and is told once.
//!
//! It is a level: drift that stays, conditions that a person has to end, and what was reverted last. A
//! revert is over before anybody reads of it, so its time makes it another one.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::status::{DriftStatus, Traced, Truth};
use super::trail::Changed;
use super::{Condition, ObjectStatus, ResourceStatus};

/// The conditions that end only when a person does something.
const TROUBLES: [&str; 4] =
    [Condition::FAILED, Condition::STALLED, Condition::CONTESTED, Condition::FROZEN];

/// The states of a resource of which AWS accepted a change.
const ACCEPTED: [&str; 2] = ["Updated", "Created"];

/// What is done about a difference that is left as it is.
const LEFT: [&str; 3] = ["Reported", "Frozen", "Refused"];

/// The state of a resource that has to settle first.
const WAITING: &str = "Waiting";

/// So many reverts are remembered, so that whoever could not be told has them later.
const MOST_REVERTS: usize = 20;

/// How long a revert is remembered.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(24 * 30);

/// Holds what stands about an object.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Alert {
    /// The differences that nobody declared and that are not being reverted.
    pub drift: Vec<Drift>,
    /// The conditions that only a person ends.
    pub conditions: Vec<Trouble>,
    /// What was reverted last, the oldest first.
    pub reverted: Vec<Reverted>,
}

/// Describes a difference that stays for now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// The resource, as reports name it: `db_instance/team-search-prod`.
    pub resource: String,
    /// The field of the manifest.
    pub field: String,
    /// What AWS has.
    pub actual: Value,
    /// What Git declares.
    pub declared: Value,
    /// When it was first seen.
    pub first_seen: Timestamp,
    /// What is done about it, as [`DriftStatus::disposition`] has it.
    pub disposition: String,
    /// Who made it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub changed_by: Option<Changed>,
}

/// Describes a condition that holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Trouble {
    /// The type of the condition.
    #[serde(rename = "type")]
    pub kind: String,
    /// One word that says why.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
    /// Since when it holds.
    pub since: Timestamp,
}

/// Describes what was put back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reverted {
    /// The resource, as reports name it.
    pub resource: String,
    /// The field of the manifest.
    pub field: String,
    /// What somebody had made of it.
    pub actual: Value,
    /// What Git declares, and it is again.
    pub declared: Value,
    /// When AWS accepted the change.
    pub at: Timestamp,
    /// Who had made it, where that is known: it may become known after the revert was told.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub changed_by: Option<Changed>,
}

impl Alert {
    /// Finds what stands after a pass.
    pub fn of(before: &Self, status: &ObjectStatus) -> Self {
        let mut reverted = reverted(before, status);
        reverted.iter_mut().for_each(|it| it.trace(&status.traced));
        let is_answered = |row: &DriftStatus| reverted.iter().any(|it| it.answers(row));
        let stays = status.drift.iter().filter(|row| !is_answered(row));
        let stays = stays.map(|row| Drift::from(row).after(&before.drift));
        let mut drift: Vec<Drift> = stays.collect();
        drift.extend(undecided(before, status));
        let held = TROUBLES.into_iter().filter_map(|kind| status.condition(kind));
        let held = held.filter(|condition| condition.status == Truth::True).map(Trouble::from);
        Self { drift, conditions: held.collect(), reverted }
    }

    /// Tells whether something stands that a person should know.
    pub fn is_open(&self) -> bool {
        !self.drift.is_empty() || !self.conditions.is_empty()
    }

    /// Tells whether a person has to do something, because nothing of it ends by itself.
    pub fn is_lasting(&self) -> bool {
        let stays = |row: &Drift| LEFT.contains(&row.disposition.as_str());
        !self.conditions.is_empty() || self.drift.iter().any(stays)
    }

    /// Leaves out what was reverted before a time.
    #[must_use]
    pub fn since(mut self, time: Timestamp) -> Self {
        self.reverted.retain(|it| it.at >= time);
        self
    }

    /// Leaves out what was reverted before a time, unless it was told.
    #[must_use]
    pub fn told_or_since(mut self, told: &Self, time: Timestamp) -> Self {
        self.reverted.retain(|it| it.at >= time || told.has_told(it));
        self
    }

    fn has_told(&self, revert: &Reverted) -> bool {
        self.reverted.iter().any(|it| it.is_same(revert))
    }

    /// Writes it as the outbox keeps it: nothing when there is nothing.
    pub fn to_text(&self) -> String {
        if *self == Self::default() {
            return String::new();
        }
        // Texts, times and JSON are always written.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads what the outbox keeps.
    pub fn from_text(text: &str) -> Option<Self> {
        if text.is_empty() { Some(Self::default()) } else { serde_json::from_str(text).ok() }
    }
}

/// Says what is new about an object since it was told last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct News<'a> {
    /// What stands.
    pub drift: &'a [Drift],
    /// What only a person ends.
    pub conditions: &'a [Trouble],
    /// What was reverted since then.
    pub reverted: Vec<&'a Reverted>,
    /// True when something stood and nothing does any more.
    pub is_resolved: bool,
}

impl<'a> News<'a> {
    /// Compares two alerts; `None` when a person would read the same.
    pub fn of(before: &Alert, now: &'a Alert) -> Option<Self> {
        let reverted: Vec<&Reverted> =
            now.reverted.iter().filter(|it| !before.has_told(it)).collect();
        let is_same = before.drift == now.drift && same(&before.conditions, &now.conditions);
        let is_resolved = before.is_open() && !now.is_open();
        let news = Self { drift: &now.drift, conditions: &now.conditions, reverted, is_resolved };
        (!is_same || !news.reverted.is_empty()).then_some(news)
    }
}

/// Returns the differences that are out of sight while their resource has to settle: AWS makes a backup,
/// for example, and nothing is compared meanwhile.
fn undecided(before: &Alert, status: &ObjectStatus) -> impl Iterator<Item = Drift> {
    let settles = |drift: &&Drift| {
        let is_it = |it: &&ResourceStatus| it.id.to_string() == drift.resource;
        status.resources.iter().find(is_it).is_some_and(|it| it.state == WAITING)
    };
    let is_seen = |drift: &&Drift| {
        let seen = |row: &DriftStatus| (row.resource.to_string(), row.field.clone());
        let known = (drift.resource.clone(), drift.field.clone());
        status.drift.iter().any(|row| seen(row) == known)
    };
    before.drift.iter().filter(settles).filter(move |drift| !is_seen(drift)).cloned()
}

/// The words of a condition may change with each attempt; that it holds, and why, is what counts.
fn same(before: &[Trouble], now: &[Trouble]) -> bool {
    let cause = |it: &Trouble| (it.kind.clone(), it.reason.clone(), it.since);
    before.iter().map(cause).eq(now.iter().map(cause))
}

/// Returns what was reverted last, that of this pass included.
fn reverted(before: &Alert, status: &ObjectStatus) -> Vec<Reverted> {
    let now = status.last_reconciled_time.unwrap_or_default();
    let mut found = before.clone().since(now - REMEMBERED).reverted;
    for row in &status.drift {
        let Some(since) = accepted(status, row) else { continue };
        // The same change sent again is no other revert.
        if found.iter().any(|it| it.is_of(row) && it.at >= since) {
            continue;
        }
        found.push(Reverted {
            resource: row.resource.to_string(),
            field: row.field.clone(),
            actual: row.actual.clone(),
            declared: row.declared.clone(),
            at: now,
            changed_by: row.changed_by.clone(),
        });
    }
    let mut surplus = found.len().saturating_sub(MOST_REVERTS);
    found.retain(|it| {
        // What is still there would be found, and told, anew.
        let goes = surplus > 0 && !status.drift.iter().any(|row| it.is_of(row));
        surplus -= usize::from(goes);
        !goes
    });
    found
}

/// Returns since when AWS has accepted to revert a difference, if it has.
fn accepted(status: &ObjectStatus, row: &DriftStatus) -> Option<Timestamp> {
    let resource = status.resources.iter().find(|resource| resource.id == row.resource)?;
    let is_accepted = row.disposition == "Reverting" && ACCEPTED.contains(&&*resource.state);
    is_accepted.then_some(resource.since)
}

impl Reverted {
    /// Tells whether it is the same revert, whether or not it is known who is to blame.
    fn is_same(&self, other: &Self) -> bool {
        let of = |it: &Self| Self { changed_by: None, ..it.clone() };
        of(self) == of(other)
    }

    fn trace(&mut self, traced: &[Traced]) {
        let is_it = |it: &&Traced| {
            it.resource.to_string() == self.resource && it.field == self.field && it.seen <= self.at
        };
        if self.changed_by.is_none() {
            self.changed_by = traced.iter().rfind(is_it).map(|it| it.changed.clone());
        }
    }

    fn is_of(&self, row: &DriftStatus) -> bool {
        self.resource == row.resource.to_string()
            && self.field == row.field
            && self.actual == row.actual
            && self.declared == row.declared
    }

    /// Tells whether a difference is there only until AWS has done what it accepted.
    fn answers(&self, row: &DriftStatus) -> bool {
        let goes_on = matches!(row.disposition.as_str(), "Reverting" | WAITING);
        goes_on && self.is_of(row) && self.at >= row.first_seen
    }
}

impl Drift {
    /// Takes over since when it is known, and what is done about it while it only waits: a backup, for
    /// example, decides nothing.
    fn after(self, before: &[Self]) -> Self {
        let Some(old) = before.iter().find(|old| old.is_same_difference(&self)) else {
            return self;
        };
        let is_waiting = self.disposition == WAITING;
        let disposition = if is_waiting { old.disposition.clone() } else { self.disposition };
        Self { first_seen: old.first_seen, disposition, ..self }
    }

    fn is_same_difference(&self, other: &Self) -> bool {
        self.resource == other.resource
            && self.field == other.field
            && self.actual == other.actual
            && self.declared == other.declared
    }
}

impl From<&DriftStatus> for Drift {
    fn from(row: &DriftStatus) -> Self {
        Self {
            resource: row.resource.to_string(),
            field: row.field.clone(),
            actual: row.actual.clone(),
            declared: row.declared.clone(),
            first_seen: row.first_seen,
            disposition: row.disposition.clone(),
            changed_by: row.changed_by.clone(),
        }
    }
}

impl From<&Condition> for Trouble {
    fn from(condition: &Condition) -> Self {
        Self {
            kind: condition.kind.clone(),
            reason: condition.reason.clone(),
            message: condition.message.clone(),
            since: condition.last_transition_time,
        }
    }
}

#[cfg(test)]
mod tests;
