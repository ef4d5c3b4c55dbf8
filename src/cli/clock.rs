//! The time of day: the machine's, or one that a person names.

use std::sync::Arc;

use jiff::Timestamp;

use crate::model::Clock;

/// Tells the machine's time.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock that everyone else is given")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Returns the machine's clock as everyone else is given it.
pub(super) fn system_clock() -> Arc<dyn Clock> {
    Arc::new(SystemClock)
}

/// Returns the clock that stands still at the time that a person names, or else the machine's.
pub(super) fn chosen(at: Option<Timestamp>) -> Arc<dyn Clock> {
    match at {
        Some(at) => Arc::new(At(at)),
        None => system_clock(),
    }
}

/// Returns the time at which a person asks.
pub(super) fn now() -> Timestamp {
    SystemClock.now()
}

/// Tells one time for ever, so that a plan can be made again.
#[derive(Debug, Clone, Copy)]
struct At(Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}
