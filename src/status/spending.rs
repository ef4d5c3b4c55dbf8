//! What is kept of the calls that were made: exactly for an hour, by the hour for a day.
//!
//! In: [`Page`]s, each what was spent since the one before. Out: sums since a time, and the last
//! known level of each bucket. The sizes of the slots are here, so that every store keeps the same.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::model::Spent;
use crate::model::budget::{Count, Level};

/// How long the finest slot lasts, in milliseconds.
const SLOT: i64 = 10_000;

/// How long a slot lasts into which what is older than an hour is folded, in milliseconds.
pub(super) const HOUR: i64 = 3_600_000;

/// Holds what was spent since the page before, and how full the buckets are.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// When it was written.
    pub at: Timestamp,
    /// What was spent.
    pub spent: Vec<Spent>,
    /// How every bucket stands.
    pub levels: Vec<Level>,
}

/// Returns the beginning of the slot that a time is in.
pub(super) fn slot(at: Timestamp) -> i64 {
    at.as_millisecond() - at.as_millisecond().rem_euclid(SLOT)
}

/// Returns the hour before which slots are folded when a page of this time is written.
pub(super) fn folded_before(at: Timestamp) -> i64 {
    let hour_ago = before(at, SignedDuration::from_hours(1));
    hour_ago - hour_ago.rem_euclid(HOUR)
}

/// Returns the hour before which slots are dropped when a page of this time is written.
pub(super) fn dropped_before(at: Timestamp) -> i64 {
    let day_ago = before(at, SignedDuration::from_hours(24));
    day_ago - day_ago.rem_euclid(HOUR)
}

fn before(at: Timestamp, age: SignedDuration) -> i64 {
    at.checked_sub(age).unwrap_or(Timestamp::MIN).as_millisecond()
}

/// Keeps pages in memory.
#[derive(Debug, Default)]
pub(super) struct Spending {
    slots: BTreeMap<(i64, Spent), Count>,
    levels: BTreeMap<(crate::model::Scope, String), Level>,
}

impl Spending {
    pub(super) fn write(&mut self, page: &Page) {
        for spent in &page.spent {
            self.add(slot(page.at), spent.clone());
        }
        for level in &page.levels {
            self.levels.insert((level.scope.clone(), level.service.clone()), level.clone());
        }
        let (folded, dropped) = (folded_before(page.at), dropped_before(page.at));
        let old: Vec<(i64, Spent)> =
            self.slots.keys().filter(|(at, _)| *at < folded).cloned().collect();
        for key in old {
            let Some(count) = self.slots.remove(&key) else { continue };
            let hour = key.0 - key.0.rem_euclid(HOUR);
            if hour >= dropped {
                self.add(hour, Spent { count, ..key.1 });
            }
        }
    }

    fn add(&mut self, at: i64, spent: Spent) {
        let count = spent.count;
        let line = Spent { count: Count::default(), ..spent };
        self.slots.entry((at, line)).or_default().add(count);
    }

    pub(super) fn since(&self, since: Timestamp) -> Vec<Spent> {
        let mut sums: BTreeMap<&Spent, Count> = BTreeMap::new();
        for ((at, line), count) in &self.slots {
            if *at >= since.as_millisecond() {
                sums.entry(line).or_default().add(*count);
            }
        }
        sums.into_iter().map(|(line, count)| Spent { count, ..line.clone() }).collect()
    }

    pub(super) fn levels(&self) -> Vec<Level> {
        self.levels.values().cloned().collect()
    }
}
