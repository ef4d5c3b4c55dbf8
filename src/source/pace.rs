//! When the repository is asked next: poll, full re-list, and waiting after failures.
//!
//! In: settings, how often a fetch failed in a row, and random numbers. Out: durations.
//!
//! Invariants: every interval is jittered, so that many agents do not ask at the same moment; a
//! trigger shortens a wait after a failure at most to the poll interval, so that a storm of
//! webhooks never hammers a server that is down.

use std::time::Duration;

use rand::RngExt as _;
use rand::rngs::StdRng;

/// Says how often the repository is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Between two fetches without a trigger.
    pub poll: Duration,
    /// Between two readings of the whole folder.
    pub relist: Duration,
    /// Between two fetches, whatever triggers them.
    pub min_gap: Duration,
    /// After the first failure; doubled by each further one.
    pub first_backoff: Duration,
    /// The longest wait after failures, in poll intervals.
    pub max_backoff_polls: u32,
    /// How long the files of a local repository have to be quiet before they trigger.
    pub debounce: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            poll: Duration::from_secs(60),
            relist: Duration::from_secs(20 * 60),
            min_gap: Duration::from_secs(1),
            first_backoff: Duration::from_secs(2),
            max_backoff_polls: 5,
            debounce: Duration::from_millis(100),
        }
    }
}

impl Pace {
    /// Returns the wait before the next fetch without a trigger, after `failures` in a row.
    pub(crate) fn next_fetch(&self, failures: u32, rng: &mut StdRng) -> Duration {
        if failures == 0 { jitter(self.poll, rng) } else { self.backoff(failures, rng) }
    }

    /// Returns the wait before a fetch that a trigger asks for, given the wait without one.
    pub(crate) fn triggered(&self, failures: u32, next_fetch: Duration) -> Duration {
        let wait = if failures == 0 { self.min_gap } else { next_fetch.min(self.poll) };
        wait.max(self.min_gap)
    }

    /// Returns the time until the next reading of the whole folder.
    pub(crate) fn next_relist(&self, rng: &mut StdRng) -> Duration {
        jitter(self.relist, rng)
    }

    /// Half of it is fixed, so that a failure is never tried again at once.
    fn backoff(&self, failures: u32, rng: &mut StdRng) -> Duration {
        let longest = self.poll * self.max_backoff_polls.max(1);
        let doubled = self.first_backoff.saturating_mul(1 << (failures - 1).min(20));
        let full = doubled.min(longest).max(self.min_gap);
        full.mul_f64(rng.random_range(0.5..=1.0))
    }
}

/// Moves an interval by up to 10 % in both directions.
fn jitter(interval: Duration, rng: &mut StdRng) -> Duration {
    interval.mul_f64(rng.random_range(0.9..=1.1))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;

    #[test]
    fn a_poll_is_jittered_by_a_tenth_and_differs_between_agents() {
        let pace = Pace::default();
        let mut first = StdRng::seed_from_u64(1);
        let waits: Vec<Duration> = (0..100).map(|_| pace.next_fetch(0, &mut first)).collect();
        let range = Duration::from_secs(54)..=Duration::from_secs(66);
        assert!(waits.iter().all(|wait| range.contains(wait)));
        assert_ne!(waits[0], pace.next_fetch(0, &mut StdRng::seed_from_u64(2)));
    }

    #[test]
    fn waits_after_failures_double_up_to_a_multiple_of_the_poll() {
        let pace = Pace::default();
        let mut rng = StdRng::seed_from_u64(1);
        for (failures, full) in [(1, 2), (2, 4), (3, 8), (8, 256), (9, 300), (500, 300)] {
            let wait = pace.next_fetch(failures, &mut rng);
            let full = Duration::from_secs(full);
            assert!(wait >= full / 2 && wait <= full, "{failures}: {wait:?}");
        }
    }

    #[test]
    fn a_trigger_shortens_a_long_wait_to_the_poll_interval_and_no_further() {
        let pace = Pace::default();
        let seconds = Duration::from_secs;
        assert_eq!(pace.triggered(0, seconds(60)), seconds(1));
        assert_eq!(pace.triggered(9, seconds(200)), seconds(60));
        assert_eq!(pace.triggered(1, seconds(2)), seconds(2));
    }
}
