//! When an object is looked at again, and whether a pass counts as a failure.
//!
//! In: what became of the steps. Out: a [`Next`]. Pure: the time and the randomness are arguments.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::model::outcome::{Attempt, StepOutcome};
use crate::model::plan::Verdict;
use crate::model::status::Memory;
use crate::model::{ErrorClass, Policy, Wait};
use crate::queue::{Lane, backoff};

/// Says how fast passes of one object may follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// No two passes of one object are closer than this, whatever wakes it; a change is looked
    /// after this soon.
    pub interval: SignedDuration,
    /// The first wait for something that settles.
    pub settle: SignedDuration,
    /// The first wait after a failure; doubles with each further one.
    pub backoff: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            interval: SignedDuration::from_secs(1),
            settle: SignedDuration::from_secs(10),
            backoff: Duration::from_secs(1),
        }
    }
}

/// Says what follows a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    /// When the next pass is due, and in which lane; `None` when only a change or a person can
    /// bring the object back.
    pub due: Option<(Lane, Timestamp)>,
    /// The earliest time for a next pass, whatever wakes the object.
    pub not_before: Timestamp,
    /// Failed attempts in a row, this one included.
    pub failures: u32,
    /// Passes in a row that waited, this one included.
    pub waits: u32,
}

impl Next {
    /// Tells whether the ceiling of failures has been reached.
    pub fn is_terminal(&self, policy: &Policy) -> bool {
        self.failures >= policy.max_retries
    }
}

/// Says that only a change or a person brings the object back.
pub fn nothing_follows(memory: &Memory, pace: Pace, now: Timestamp) -> Next {
    Next {
        due: None,
        not_before: later(now, pace.interval),
        failures: memory.failures,
        waits: memory.waits,
    }
}

/// Ranks how a pass ended; the worst of its resources counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// Nothing is to be done before the next resync.
    Settled,
    /// Something settles by itself.
    Waiting,
    /// A change was made and has to be looked after.
    Worked,
    /// An attempt failed.
    Failed,
}

/// Says what follows a pass with these attempts.
pub fn next(
    attempts: &[Attempt],
    policy: &Policy,
    memory: &Memory,
    pace: Pace,
    now: Timestamp,
    random: u64,
) -> Next {
    let standing = attempts.iter().map(standing).max().unwrap_or(Standing::Settled);
    let failures = match standing {
        Standing::Failed => memory.failures.saturating_add(1),
        // Waiting says nothing about whether the next attempt will fail again.
        Standing::Waiting => memory.failures,
        Standing::Worked | Standing::Settled => 0,
    };
    let waits = if standing == Standing::Waiting { memory.waits.saturating_add(1) } else { 0 };
    let resync = SignedDuration::from_secs(i64::from(policy.resync_interval_seconds));
    let (lane, delay) = match standing {
        Standing::Settled => (Lane::Resync, until_resync(attempts, resync, now, random)),
        Standing::Waiting => (Lane::Resync, waiting(pace, waits, resync)),
        Standing::Worked => (Lane::Change, pace.interval),
        // Past the ceiling the object is only looked at.
        Standing::Failed if failures >= policy.max_retries => (Lane::Resync, resync),
        Standing::Failed => (Lane::Change, after_failure(policy, pace, failures, random)),
    };
    Next {
        due: Some((lane, later(now, delay.max(pace.interval)))),
        not_before: later(now, pace.interval),
        failures,
        waits,
    }
}

fn standing(attempt: &Attempt) -> Standing {
    match &attempt.outcome {
        StepOutcome::Failed { .. } => Standing::Failed,
        StepOutcome::Accepted { .. } => Standing::Worked,
        StepOutcome::Postponed { error } if error.class == ErrorClass::AlreadyExists => {
            Standing::Worked
        }
        StepOutcome::Postponed { .. } | StepOutcome::Withheld { .. } => Standing::Waiting,
        StepOutcome::Unneeded => match &attempt.step.verdict {
            // Nothing settles it but a person, whose word wakes the object.
            Verdict::Waiting { code, .. } if code == Wait::FROZEN => Standing::Settled,
            Verdict::Waiting { .. } | Verdict::Blocked { .. } => Standing::Waiting,
            _ => Standing::Settled,
        },
    }
}

/// A wait doubles after every fourth look, up to the resync interval.
fn waiting(pace: Pace, waits: u32, resync: SignedDuration) -> SignedDuration {
    let doublings = (waits / 4).min(16);
    pace.settle.saturating_mul(1 << doublings).min(resync)
}

fn after_failure(policy: &Policy, pace: Pace, failures: u32, random: u64) -> SignedDuration {
    let longest = Duration::from_secs(u64::from(policy.max_backoff_seconds));
    let delay = backoff::delay(failures, pace.backoff, longest, random);
    SignedDuration::try_from(delay).unwrap_or(SignedDuration::MAX)
}

/// The resync interval give or take a tenth, or the time at which something deferred is due.
fn until_resync(
    attempts: &[Attempt],
    resync: SignedDuration,
    now: Timestamp,
    random: u64,
) -> SignedDuration {
    let tenth = resync / 10;
    let share = i32::try_from(random % 2001).unwrap_or(1000) - 1000;
    let spread = resync + tenth * share / 1000;
    let due = attempts.iter().filter_map(|attempt| match attempt.step.verdict {
        Verdict::Deferred { until, .. } => Some(until.duration_since(now)),
        _ => None,
    });
    due.min().map_or(spread, |due| due.max(SignedDuration::ZERO).min(spread))
}

fn later(now: Timestamp, delay: SignedDuration) -> Timestamp {
    now.checked_add(delay).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_without_resources_comes_back_after_the_resync_interval_give_or_take_a_tenth() {
        let now: Timestamp = "2026-11-29T12:00:00Z".parse().unwrap();
        for random in [0, 1000, 2000, u64::MAX] {
            let next =
                next(&[], &Policy::default(), &Memory::default(), Pace::default(), now, random);
            let (lane, at) = next.due.unwrap();
            assert_eq!(lane, Lane::Resync);
            let seconds = at.duration_since(now).as_secs();
            assert!((270..=330).contains(&seconds), "{seconds}");
        }
    }

    #[test]
    fn a_wait_grows_to_the_resync_interval_and_no_further() {
        let pace = Pace::default();
        let resync = SignedDuration::from_secs(300);
        assert_eq!(waiting(pace, 1, resync).as_secs(), 10);
        assert_eq!(waiting(pace, 4, resync).as_secs(), 20);
        assert_eq!(waiting(pace, 4000, resync).as_secs(), 300);
    }
}
