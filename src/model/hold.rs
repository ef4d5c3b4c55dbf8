//! What keeps the agent's hands off an object: suspensions and snoozes, and whose they are.
//!
//! In: what the annotations of a manifest say, joined with what people asked. Out: [`Holds`].

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ask::{Ask, Asked};

/// Says what holds an object: either of the two, or both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holds {
    /// Who suspends it. Nothing is written while there is anybody.
    pub suspended: Vec<Holder>,
    /// The snooze that ends last.
    pub snoozed: Option<Snooze>,
}

/// Says until when drift is reported and not reverted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snooze {
    /// When reverting begins again.
    pub until: Timestamp,
    /// Whose it is.
    pub by: Holder,
}

/// Says whose a hold is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "holder", rename_all = "camelCase")]
pub enum Holder {
    /// An annotation of the manifest: it is lifted in Git.
    Annotation {
        /// The file.
        path: Arc<str>,
        /// The line of the annotation, counted from 1.
        line: u32,
    },
    /// A person with a command: it is lifted with `levelset resume`.
    Person {
        /// Who.
        name: String,
        /// Since when.
        since: Timestamp,
        /// Why, in the person's words.
        reason: Option<String>,
    },
}

impl Holds {
    /// Adds what people asked for: either suspends, and the later snooze counts.
    #[must_use]
    pub fn and(mut self, asked: &[Asked]) -> Self {
        for asked in asked {
            match &asked.ask {
                Ask::Suspend { reason, .. } => self.suspended.push(Holder::of(asked, reason)),
                Ask::Snooze { until, reason, .. } => {
                    let snooze = Snooze { until: *until, by: Holder::of(asked, reason) };
                    self.snoozed = later(self.snoozed, Some(snooze));
                }
                Ask::Resume { .. }
                | Ask::Retry { .. }
                | Ask::Confirm { .. }
                | Ask::Remove { .. }
                | Ask::Revert { .. } => {}
            }
        }
        self
    }

    /// Tells whether anybody suspends the object.
    pub fn is_suspended(&self) -> bool {
        !self.suspended.is_empty()
    }

    /// Leaves out a snooze that has ended.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        self.snoozed = self.snoozed.filter(|snooze| snooze.until > now);
        self
    }

    /// Names everybody who suspends the object.
    pub fn suspenders(&self) -> String {
        self.suspended.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and by ")
    }
}

fn later(one: Option<Snooze>, other: Option<Snooze>) -> Option<Snooze> {
    one.into_iter().chain(other).max_by_key(|snooze| snooze.until)
}

impl Holder {
    fn of(asked: &Asked, reason: &Option<String>) -> Self {
        Self::Person { name: asked.by.clone(), since: asked.at, reason: reason.clone() }
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Annotation { path, line } => write!(f, "the annotation at {path}:{line}"),
            Self::Person { name, since, reason } => {
                write!(f, "{name} since {since:.0}")?;
                reason.as_ref().map_or(Ok(()), |reason| write!(f, " ({reason})"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Key;

    fn asked(number: u64, ask: Ask) -> Asked {
        Asked { number, ask, by: "alice".to_owned(), at: Timestamp::UNIX_EPOCH }
    }

    fn snooze(second: i64) -> Ask {
        let until = Timestamp::from_second(second).unwrap();
        Ask::Snooze { object: Key::workspace("a"), until, reason: None }
    }

    fn annotated(second: i64) -> Holds {
        let by = Holder::Annotation { path: "a.yaml".into(), line: 6 };
        let until = Timestamp::from_second(second).unwrap();
        Holds { suspended: vec![by.clone()], snoozed: Some(Snooze { until, by }) }
    }

    #[test]
    fn the_snooze_that_ends_later_counts_whoever_set_it() {
        for (git, person, counts) in [(5, 9, 9), (9, 5, 9)] {
            let holds = annotated(git).and(&[asked(1, snooze(person))]);
            assert_eq!(holds.snoozed.unwrap().until.as_second(), counts);
        }
    }

    #[test]
    fn a_snooze_ends_at_its_time() {
        let at = |second| annotated(9).at(Timestamp::from_second(second).unwrap()).snoozed;
        assert!(at(8).is_some() && at(9).is_none());
    }

    #[test]
    fn everybody_who_suspends_is_named() {
        let reason = Some("failover test".to_owned());
        let ask = Ask::Suspend { object: Key::workspace("a"), reason };
        let holds = annotated(9).and(&[asked(1, ask)]);
        let expected =
            "the annotation at a.yaml:6 and by alice since 1970-01-01T00:00:00Z (failover test)";
        assert_eq!(holds.suspenders(), expected);
    }
}
