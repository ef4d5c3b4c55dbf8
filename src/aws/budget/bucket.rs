//! One token bucket over tokio's time, and the two lines that wait at it.
//!
//! Invariants: reads leave the reserve to writes; within each line, calls leave in the order in which
//! they came.

use std::sync::Mutex;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::lock;
use crate::model::Budget;
use crate::model::budget::Fill;

/// Holds the tokens of one account, region and service, and the two lines that wait for them.
pub(super) struct Bucket {
    budget: Budget,
    level: Mutex<Level>,
    reads: tokio::sync::Mutex<()>,
    writes: tokio::sync::Mutex<()>,
}

impl Bucket {
    pub(super) fn new(budget: Budget, fill: Fill) -> Self {
        let level = Level { fill, at: Instant::now(), halved_at: None };
        Self {
            budget,
            level: Mutex::new(level),
            reads: Default::default(),
            writes: Default::default(),
        }
    }

    pub(super) fn budget(&self) -> Budget {
        self.budget
    }

    /// Returns how full it is now.
    pub(super) fn fill(&self) -> Fill {
        let mut level = lock(&self.level);
        level.refill(&self.budget, Instant::now());
        level.fill
    }

    /// Hears that AWS throttled a call.
    pub(super) fn throttled(&self) {
        lock(&self.level).throttled(&self.budget, Instant::now());
    }

    /// Takes a token if nobody waits in the line and there is one.
    pub(super) fn try_take(&self, read: bool) -> bool {
        let (line, floor) = self.line(read);
        line.try_lock().is_ok_and(|_first_in_line| self.take_above(floor).is_ok())
    }

    /// Waits for a token. Only the first of each line looks at the level (tokio's mutex is fair).
    pub(super) async fn take(&self, read: bool) {
        let (line, floor) = self.line(read);
        let _first_in_line = line.lock().await;
        while let Err(when) = self.take_above(floor) {
            sleep_until(when).await;
        }
    }

    /// Returns the line of a call and how many tokens it leaves; a read leaves the reserve alone, so
    /// no read passes while a write waits.
    fn line(&self, read: bool) -> (&tokio::sync::Mutex<()>, u32) {
        if read { (&self.reads, self.budget.write_reserve) } else { (&self.writes, 0) }
    }

    fn take_above(&self, floor: u32) -> Result<(), Instant> {
        lock(&self.level).take(&self.budget, f64::from(floor), Instant::now())
    }
}

/// The share of the configured rate below which throttling does not push it.
const FLOOR: f64 = 1.0 / 16.0;

/// Within this time of a halving, further throttling is the same event: the calls were in flight.
const SAME_EVENT: Duration = Duration::from_secs(1);

/// Holds the state of a bucket at a moment.
#[derive(Debug)]
struct Level {
    fill: Fill,
    at: Instant,
    halved_at: Option<Instant>,
}

impl Level {
    /// Takes one token above `floor`, or says when to look again.
    fn take(&mut self, budget: &Budget, floor: f64, now: Instant) -> Result<(), Instant> {
        self.refill(budget, now);
        let missing = floor + 1.0 - self.fill.tokens;
        if missing <= 0.0 {
            self.fill.tokens -= 1.0;
            return Ok(());
        }
        // The rate may grow meanwhile: this is the latest moment. Timers tick in milliseconds.
        let wait = Duration::from_secs_f64((missing / self.fill.per_second).clamp(0.001, 3_600.0));
        Err(now + wait)
    }

    /// Adds what was gained since the last look.
    fn refill(&mut self, budget: &Budget, now: Instant) {
        self.fill = self.fill.after(budget, now.saturating_duration_since(self.at));
        self.at = now;
    }

    /// Halves the rate and ends the burst, once per event.
    ///
    /// The reserve stays: without it, reads would wait until it is whole again (at the defaults of
    /// RDS, for ten seconds and more), which is a standstill and no slower pace.
    fn throttled(&mut self, budget: &Budget, now: Instant) {
        self.refill(budget, now);
        if self.halved_at.is_some_and(|at| now.saturating_duration_since(at) < SAME_EVENT) {
            return;
        }
        let fill = &mut self.fill;
        fill.per_second = (fill.per_second / 2.0).max(budget.per_second * FLOOR);
        fill.tokens = fill.tokens.min(f64::from(budget.write_reserve));
        self.halved_at = Some(now);
    }
}
