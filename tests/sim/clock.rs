//! Virtual time: how much of it has passed, and what time of day the agent sees.
//!
//! Time that has passed only grows and is what tokio's timers wait for. The time of day is that plus
//! the jumps that the clock has made.

use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use levelset::model::Clock;
use tokio::time::Instant;

/// Tells both times; one life of the agent lends it tokio's.
pub(super) struct SimClock(Mutex<State>);

struct State {
    start: Timestamp,
    /// What had passed when the present life began.
    before: Duration,
    life: Option<Instant>,
    jumped: SignedDuration,
}

impl SimClock {
    pub(super) fn new(start: Timestamp) -> Self {
        let jumped = SignedDuration::ZERO;
        Self(Mutex::new(State { start, before: Duration::ZERO, life: None, jumped }))
    }

    /// Follows tokio's clock from now on.
    pub(super) fn begin_life(&self) {
        self.state().life = Some(Instant::now());
    }

    /// Stands still from now on.
    pub(super) fn end_life(&self) {
        let passed = self.passed();
        let mut state = self.state();
        (state.before, state.life) = (passed, None);
    }

    /// Lets time pass while no agent runs.
    pub(super) fn set_passed(&self, passed: Duration) {
        let mut state = self.state();
        assert!(state.life.is_none(), "tokio moves the time of a running agent");
        state.before = state.before.max(passed);
    }

    /// Returns how much time has passed since the start of the simulation.
    pub(super) fn passed(&self) -> Duration {
        let state = self.state();
        state.before + state.life.map_or(Duration::ZERO, |life| life.elapsed())
    }

    /// Puts the time of day forward.
    pub(super) fn jump(&self, by: SignedDuration) {
        self.state().jumped += by;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        let passed = SignedDuration::try_from(self.passed()).unwrap();
        let state = self.state();
        state.start + passed + state.jumped
    }
}
