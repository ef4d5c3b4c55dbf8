//! The order of the queued keys: two lanes, each sorted by the time at which a key is due.
//!
//! In: keys with a lane and a due time. Out: the one whose turn it is. A key that is not due yet
//! stands in its lane already, behind those that are: nothing has to be moved when time passes.
//!
//! It does not know whether a key is in it twice; that is the queue's.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::time::Duration;

use jiff::Timestamp;

/// How long a resync has to be ready before a change lets it pass.
pub const AGEING: Duration = Duration::from_secs(60);

/// How many changes go first, each time, while an aged resync is ready.
pub const CHANGES_PER_AGED_RESYNC: u32 = 8;

/// Says how urgent a key is; the order is the order of urgency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// Git moved, or a person asked.
    Change,
    /// Time passed.
    Resync,
}

impl Lane {
    /// Returns the word for logs and metric labels.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Resync => "resync",
        }
    }
}

/// Names a place in a lane: by due time, then in the order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    due: Timestamp,
    ticket: u64,
}

impl Place {
    pub(super) fn due(self) -> Timestamp {
        self.due
    }
}

/// Holds the queued keys.
#[derive(Debug, Clone)]
pub(super) struct Lanes<K> {
    change: BTreeMap<Place, K>,
    resync: BTreeMap<Place, K>,
    /// Changes taken since the last resync was taken, while an aged resync was ready.
    passed_over: u32,
    next_ticket: u64,
    /// How many keys are due at `counted_at` or before.
    ready: usize,
    counted_at: Timestamp,
}

/// Holds the key whose turn it is.
pub(super) struct Next<K> {
    pub(super) key: K,
    pub(super) lane: Lane,
    pub(super) place: Place,
    /// True when a resync went before a change that was ready.
    pub(super) aged: bool,
}

impl<K> Default for Lanes<K> {
    fn default() -> Self {
        Self {
            change: BTreeMap::new(),
            resync: BTreeMap::new(),
            passed_over: 0,
            next_ticket: 0,
            ready: 0,
            counted_at: Timestamp::MIN,
        }
    }
}

impl<K> Lanes<K> {
    pub(super) fn insert(&mut self, lane: Lane, due: Timestamp, key: K) -> Place {
        let place = Place { due, ticket: self.next_ticket };
        self.next_ticket += 1;
        self.lane(lane).insert(place, key);
        self.ready += usize::from(due <= self.counted_at);
        place
    }

    pub(super) fn remove(&mut self, lane: Lane, place: Place) {
        if self.lane(lane).remove(&place).is_some() {
            self.left(place);
        }
    }

    fn left(&mut self, place: Place) {
        self.ready -= usize::from(place.due <= self.counted_at);
    }

    /// Takes the key whose turn it is at `now`.
    pub(super) fn take(&mut self, now: Timestamp) -> Option<Next<K>> {
        let change = ready_since(&self.change, now);
        let resync = ready_since(&self.resync, now);
        let lane = match (change, resync) {
            (None, None) => return None,
            (Some(_), None) => Lane::Change,
            (None, Some(_)) => Lane::Resync,
            (Some(_), Some(since)) => self.contended(super::elapsed(since, now)),
        };
        if lane == Lane::Resync {
            self.passed_over = 0;
        }
        let (place, key) = self.lane(lane).pop_first()?;
        self.left(place);
        Some(Next { key, lane, place, aged: lane == Lane::Resync && change.is_some() })
    }

    /// Decides between a change and a resync that are both ready.
    fn contended(&mut self, resync_waited: Duration) -> Lane {
        if resync_waited < AGEING {
            return Lane::Change;
        }
        if self.passed_over >= CHANGES_PER_AGED_RESYNC {
            return Lane::Resync;
        }
        self.passed_over += 1;
        Lane::Change
    }

    /// Returns when the first key of both lanes is due.
    pub(super) fn first_due(&self) -> Option<Timestamp> {
        let firsts = [self.change.first_key_value(), self.resync.first_key_value()];
        firsts.into_iter().flatten().map(|(place, _)| place.due).min()
    }

    pub(super) fn len(&self) -> usize {
        self.change.len() + self.resync.len()
    }

    /// Counts the keys that are due at `now`.
    ///
    /// It walks over those alone that became due since it was last asked, so that a key costs one
    /// step in its life, however many are ready and however often it is asked.
    pub(super) fn ready(&mut self, now: Timestamp) -> usize {
        if now >= self.counted_at {
            self.ready += self.due_between(self.counted_at, now);
        } else {
            self.ready -= self.due_between(now, self.counted_at);
        }
        self.counted_at = now;
        self.ready
    }

    /// Counts the keys that are due after `from` and not after `to`.
    fn due_between(&self, from: Timestamp, to: Timestamp) -> usize {
        let last = |due| Place { due, ticket: u64::MAX };
        let range = (Bound::Excluded(last(from)), Bound::Included(last(to)));
        self.change.range(range).count() + self.resync.range(range).count()
    }

    fn lane(&mut self, lane: Lane) -> &mut BTreeMap<Place, K> {
        match lane {
            Lane::Change => &mut self.change,
            Lane::Resync => &mut self.resync,
        }
    }
}

/// Returns since when the first key of a lane has been ready, if it is.
fn ready_since<K>(lane: &BTreeMap<Place, K>, now: Timestamp) -> Option<Timestamp> {
    let (place, _) = lane.first_key_value()?;
    (place.due <= now).then_some(place.due)
}
