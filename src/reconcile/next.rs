//! When an object is looked at again, and whether a pass counts as a failure.
//!
//! In: what became of the steps. Out: a [`Next`]. Pure: the time and the randomness are arguments.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::model::outcome::{Attempt, StepOutcome};
use crate::model::plan::Verdict;
use crate::model::status::Memory;
use crate::model::{ErrorClass, Policy, Scope, Wait};
use crate::queue::{Lane, backoff};

/// How many times within a resync interval the objects of an account and region meet. A list is read
/// once for all that come at a time, so this bounds what resyncs cost, however many objects there are.
pub const MEETINGS: u32 = 10;

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
    /// By how much the resyncs of its account and region come after those of others.
    pub phase: Duration,
}

impl Pace {
    /// Returns the pace of objects in an account and region: all of them meet at the same times, and
    /// those of another account at others.
    #[must_use]
    pub fn of(self, scope: &Scope) -> Self {
        let mut hasher = DefaultHasher::new();
        scope.hash(&mut hasher);
        Self { phase: Duration::from_millis(hasher.finish() >> 32), ..self }
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            interval: SignedDuration::from_secs(1),
            settle: SignedDuration::from_secs(10),
            backoff: Duration::from_secs(1),
            phase: Duration::ZERO,
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

    /// Returns a memory of nothing but this.
    pub(super) fn memory(&self) -> Memory {
        Memory {
            failures: self.failures,
            waits: self.waits,
            not_before: Some(self.not_before),
            ..Memory::default()
        }
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
    let resync = policy.resync_interval();
    let (lane, delay) = match standing {
        Standing::Settled => {
            (Lane::Resync, until_resync(attempts, (resync, pace.phase), now, random))
        }
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

/// The time of a meeting, or the time at which something deferred is due.
fn until_resync(
    attempts: &[Attempt],
    (resync, phase): (SignedDuration, Duration),
    now: Timestamp,
    random: u64,
) -> SignedDuration {
    let meeting = until_meeting((resync, phase), now, random);
    let due = attempts.iter().filter_map(|attempt| match attempt.step.verdict {
        Verdict::Deferred { until, .. } => Some(until.duration_since(now)),
        _ => None,
    });
    due.min().map_or(meeting, |due| due.max(SignedDuration::ZERO).min(meeting))
}

/// One of the two times, a tenth of the interval apart, at which objects meet that many seconds from
/// now, give or take a tenth.
fn until_meeting(
    (resync, phase): (SignedDuration, Duration),
    now: Timestamp,
    random: u64,
) -> SignedDuration {
    let apart = (resync.as_millis() / i128::from(MEETINGS)).max(1);
    let earliest = i128::from(now.as_millisecond()) + resync.as_millis() - apart;
    let since = (earliest - phase.as_millis().cast_signed()).rem_euclid(apart);
    let delay = resync.as_millis() - since + apart * i128::from(random % 2);
    SignedDuration::from_millis(i64::try_from(delay).unwrap_or(i64::MAX))
}

fn later(now: Timestamp, delay: SignedDuration) -> Timestamp {
    now.checked_add(delay).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{AccountId, Region};

    fn scope(region: &'static str) -> Scope {
        Scope { account: AccountId::new("123456789012"), region: Region::new(region) }
    }

    proptest! {
        #[test]
        fn a_resync_comes_after_its_interval_give_or_take_a_tenth_when_its_account_meets(
            seconds in 1_u32..=86_400, now in 0_i64..4_000_000_000_000, random in any::<u64>(),
        ) {
            let now = Timestamp::from_millisecond(now).unwrap();
            let policy = Policy { resync_interval_seconds: seconds, ..Policy::default() };
            let pace = Pace::default().of(&scope("eu-west-1"));
            let next = next(&[], &policy, &Memory::default(), pace, now, random);
            let (lane, at) = next.due.unwrap();
            prop_assert_eq!(lane, Lane::Resync);
            let (delay, apart) = (at.duration_since(now).as_millis(), i128::from(seconds) * 100);
            prop_assert!((9 * apart..=11 * apart).contains(&delay) || delay == 1000, "{}", delay);
            let phase = pace.phase.as_millis().cast_signed();
            let is_met = (i128::from(at.as_millisecond()) - phase).rem_euclid(apart) == 0;
            prop_assert!(is_met || delay == 1000, "{}", at);
        }
    }

    #[test]
    fn accounts_and_regions_do_not_meet_at_the_same_times() {
        let phase = |region| Pace::default().of(&scope(region)).phase;
        assert_ne!(phase("eu-west-1"), phase("eu-west-2"));
        assert_eq!(phase("eu-west-1"), phase("eu-west-1"));
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
