//! Conditions, rebuilt from facts on each pass.
//!
//! In: the conditions that were told before, and what is found now. Out: the conditions to tell.
//! The only thing taken over is the time of the last transition, and only while the status stays.

use jiff::Timestamp;

use crate::model::Condition;
use crate::model::status::Truth;

/// States one condition, without a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fact {
    /// The type: one of the constants of [`Condition`].
    pub kind: &'static str,
    /// Whether it holds.
    pub status: Truth,
    /// One word in CamelCase that says why.
    pub reason: &'static str,
    /// A clause for people, without a duration.
    pub message: String,
}

impl Fact {
    /// States that a condition holds or does not.
    pub fn new(
        kind: &'static str,
        status: Truth,
        reason: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self { kind, status, reason, message: message.into() }
    }
}

/// Turns facts into conditions, in the order of the facts.
pub fn conditions(
    previous: &[Condition],
    now: Timestamp,
    facts: impl IntoIterator<Item = Fact>,
) -> Vec<Condition> {
    facts.into_iter().map(|fact| condition(previous, now, fact)).collect()
}

fn condition(previous: &[Condition], now: Timestamp, fact: Fact) -> Condition {
    let unchanged = previous
        .iter()
        .find(|condition| condition.kind == fact.kind && condition.status == fact.status);
    Condition {
        kind: fact.kind.to_owned(),
        status: fact.status,
        reason: fact.reason.to_owned(),
        message: fact.message,
        last_transition_time: unchanged.map_or(now, |condition| condition.last_transition_time),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn told(second: i64, status: Truth, reason: &'static str) -> Vec<Condition> {
        conditions(&[], at(second), [Fact::new(Condition::READY, status, reason, "x")])
    }

    #[test]
    fn the_time_stays_while_the_status_stays_even_if_the_reason_changes() {
        let before = told(1, Truth::False, "Waiting");
        let fact = Fact::new(Condition::READY, Truth::False, "Refused", "y");
        let after = conditions(&before, at(2), [fact]);
        assert_eq!(after[0].last_transition_time, at(1));
        assert_eq!((after[0].reason.as_str(), after[0].message.as_str()), ("Refused", "y"));
    }

    #[test]
    fn the_time_moves_when_the_status_changes() {
        let before = told(1, Truth::False, "Waiting");
        let fact = Fact::new(Condition::READY, Truth::Unknown, "Unknown", "y");
        assert_eq!(conditions(&before, at(2), [fact])[0].last_transition_time, at(2));
    }

    #[test]
    fn a_condition_that_is_no_longer_stated_is_gone() {
        let before = told(1, Truth::True, "Converged");
        let fact = Fact::new(Condition::VALID, Truth::True, "Accepted", "y");
        let after = conditions(&before, at(2), [fact]);
        assert_eq!(after.len(), 1);
        assert_eq!(after[0].kind, Condition::VALID);
    }
}
