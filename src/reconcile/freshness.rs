//! How long ago Git was last confirmed, and what follows from it.
//!
//! In: the moments at which a look at the repository succeeded, whether or not it found something
//! new. Out: a [`Freshness`]: what is declared is acted on, acted on and called stale, or only
//! observed any more.
//!
//! Age is measured on the monotonic clock: a time of day that jumps makes nothing stale and keeps
//! nothing fresh. An agent that follows no repository (one commit for `sync`) is never stale. An
//! agent that has just started, and has read nothing yet, is as old as its start.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Says how long Git may stay unconfirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// After this the agent says that it is stale.
    pub stale_after: Duration,
    /// After this it writes nothing any more; not less than `stale_after`.
    pub stop_after: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { stale_after: Duration::from_secs(900), stop_after: Duration::from_secs(21_600) }
    }
}

/// Says whether what is declared may be acted on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freshness {
    /// It was confirmed lately.
    #[default]
    Fresh,
    /// It was not; it is still acted on.
    Stale,
    /// It was not for so long that nothing is changed any more.
    Stopped,
}

/// Keeps the moment of the last confirmation.
#[derive(Debug)]
pub struct Confirmation {
    patience: Patience,
    /// `None` while no repository is followed.
    last: Mutex<Option<Instant>>,
}

impl Confirmation {
    /// Makes one of an agent that follows no repository yet.
    pub fn new(patience: Patience) -> Self {
        Self { patience, last: Mutex::default() }
    }

    /// Notes that the repository was confirmed, or begins to be followed.
    pub fn note(&self, at: Instant) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(at);
    }

    /// Returns how fresh Git is.
    pub fn freshness(&self, now: Instant) -> Freshness {
        let Some(last) = self.last() else { return Freshness::Fresh };
        let age = now.saturating_duration_since(last);
        if age >= self.patience.stop_after {
            Freshness::Stopped
        } else if age >= self.patience.stale_after {
            Freshness::Stale
        } else {
            Freshness::Fresh
        }
    }

    /// Returns when that changes next, should nothing be confirmed before.
    pub fn next_turn(&self, now: Instant) -> Option<Instant> {
        let last = self.last()?;
        let turns = [self.patience.stale_after, self.patience.stop_after].map(|age| last + age);
        turns.into_iter().find(|turn| *turn > now)
    }

    fn last(&self) -> Option<Instant> {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn git_turns_stale_and_then_stops_writing_unless_it_is_confirmed() {
        let confirmation = Confirmation::new(Patience::default());
        let start = Instant::now();
        let at = |minutes: u32| start + minutes * MINUTE;
        assert_eq!(confirmation.freshness(at(6000)), Freshness::Fresh, "nothing is followed");
        assert_eq!(confirmation.next_turn(start), None);
        confirmation.note(start);
        for (minutes, expected) in [
            (14, Freshness::Fresh),
            (15, Freshness::Stale),
            (359, Freshness::Stale),
            (360, Freshness::Stopped),
        ] {
            assert_eq!(confirmation.freshness(at(minutes)), expected, "{minutes}");
        }
        assert_eq!(confirmation.next_turn(at(14)), Some(at(15)));
        assert_eq!(confirmation.next_turn(at(15)), Some(at(360)));
        assert_eq!(confirmation.next_turn(at(360)), None);
        confirmation.note(at(400));
        assert_eq!(confirmation.freshness(at(414)), Freshness::Fresh);
    }
}
