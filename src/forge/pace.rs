//! How fast a host is written to.
//!
//! In: what became of the last write. Out: when the next one may be.
//!
//! Invariants: writes are a second apart and at most 400 in an hour, below what GitHub takes ("Best
//! practices" and "Rate limits for the REST API" in its documentation: a second, 80 a minute, 500 an
//! hour); a host that asks to be spared is spared for as long as it says, or for a minute and then twice
//! as long each time; no trigger jumps a wait.

use std::time::Duration;

use tokio::time::Instant;

use super::refusal::Refusal;

/// Between two writes.
const APART: Duration = Duration::from_secs(1);

/// How many writes may follow each other before the hourly rate counts.
const BURST: f64 = 60.0;

/// How many seconds it takes until another write is allowed, beyond the burst: 340 an hour.
const SECONDS_PER_WRITE: f64 = 10.6;

/// The waits after a host did not answer: the first, and the longest.
const UNAVAILABLE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(300));

/// The waits after a host said no to everything: the first, and the longest.
const SPARED: (Duration, Duration) = (Duration::from_secs(60), Duration::from_secs(3600));

/// Says when the host may be written to.
#[derive(Debug, Clone)]
pub(super) struct Pace {
    next: Instant,
    /// Failures in a row that concern the host as a whole.
    failures: u32,
    /// Writes that are allowed at `counted`.
    allowed: f64,
    counted: Instant,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { next: now, failures: 0, allowed: BURST, counted: now }
    }

    /// Returns when the next write may be.
    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Notes a write that was answered with a success, or refused for what it is alone.
    pub(super) fn answered(&mut self, now: Instant) {
        self.failures = 0;
        let gained = now.duration_since(self.counted).as_secs_f64() / SECONDS_PER_WRITE;
        self.allowed = (self.allowed + gained).min(BURST) - 1.0;
        self.counted = now;
        let missing = (1.0 - self.allowed).max(0.0);
        self.next = now + APART.max(Duration::from_secs_f64(missing * SECONDS_PER_WRITE));
    }

    /// Notes that the host as a whole refuses; `random` spreads the agents, from 0 to 1.
    pub(super) fn refused(&mut self, refusal: &Refusal, now: Instant, random: f64) -> Duration {
        let (first, longest) = match refusal {
            Refusal::Unavailable(_) => UNAVAILABLE,
            _ => SPARED,
        };
        let doubled = first.saturating_mul(1 << self.failures.min(20)).min(longest);
        let wait = match refusal {
            // What the host says is the least; a little more spreads the agents.
            Refusal::Throttled { wait: Some(told) } => *told + APART.mul_f64(random),
            Refusal::Unavailable(_) => doubled.mul_f64(0.5 + random / 2.0),
            _ => doubled.mul_f64(1.0 + random / 10.0),
        };
        self.failures = self.failures.saturating_add(1);
        self.next = now + wait;
        wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace() -> (Pace, Instant) {
        let now = Instant::now();
        (Pace::new(now), now)
    }

    #[tokio::test(start_paused = true)]
    async fn writes_are_a_second_apart_and_no_more_than_400_in_an_hour() {
        let (mut pace, start) = pace();
        let mut at = Vec::new();
        while pace.next().duration_since(start) < Duration::from_secs(2 * 3600) {
            at.push(pace.next());
            pace.answered(pace.next());
        }
        assert!(at.windows(2).all(|two| two[1].duration_since(two[0]) >= APART));
        for (index, first) in at.iter().enumerate() {
            let within = at[index..].iter().filter(|it| it.duration_since(*first).as_secs() < 3600);
            assert!(within.count() <= 400, "from write {index} on");
        }
        assert!(at.len() > 700, "{}", at.len());
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_is_spared_as_long_as_it_says_or_longer_each_time() {
        let (mut pace, now) = pace();
        let told = Refusal::Throttled { wait: Some(Duration::from_secs(90)) };
        assert_eq!(pace.refused(&told, now, 0.0), Duration::from_secs(90));
        let (mut pace, now) = self::pace();
        let untold = Refusal::Throttled { wait: None };
        let waits: Vec<u64> = (0..8).map(|_| pace.refused(&untold, now, 0.0).as_secs()).collect();
        assert_eq!(waits, [60, 120, 240, 480, 960, 1920, 3600, 3600]);
        assert_eq!(pace.next(), now + Duration::from_secs(3600));
        pace.answered(now);
        assert_eq!(pace.refused(&untold, now, 0.0).as_secs(), 60);
    }

    #[tokio::test(start_paused = true)]
    async fn a_host_that_does_not_answer_is_asked_again_soon_and_then_every_five_minutes() {
        let (mut pace, now) = pace();
        let down = Refusal::Unavailable("it answers 503".to_owned());
        let waits: Vec<u64> = (0..10).map(|_| pace.refused(&down, now, 1.0).as_secs()).collect();
        assert_eq!(waits, [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        let shortest = pace.refused(&down, now, 0.0);
        assert_eq!(shortest.as_secs(), 150);
    }
}
