//! The keyed work queue: which key is worked on next, and when.
//!
//! In: wake-ups (a key, a lane, a time) and the ends of passes. Out: one key at a time, and the
//! time at which the driver should ask again.
//!
//! Invariants:
//!
//! - A key is in the queue at most once. Of two wake-ups of one key the more urgent lane and the
//!   earlier time count.
//! - A key is in flight at most once. What wakes it meanwhile brings it back after [`Queue::done`].
//! - A key is never taken before its not-before, whatever wakes it, and even if it was forgotten
//!   in between.
//! - [`Lane::Change`] goes before [`Lane::Resync`], and neither starves: a resync that has been
//!   ready for [`AGEING`] gets one take after every [`CHANGES_PER_AGED_RESYNC`] changes. A change
//!   therefore waits for at most one resync, however many are queued.
//! - Within a lane the key that became ready first goes first: one that is woken without end takes
//!   one turn like every other, and never more than one worker.
//! - The cost of an operation grows with the logarithm of the depth, also in the worst case: no
//!   operation moves keys in bulk when many become due at once.
//!
//! A pass that failed has two ways to wait. With `next` at the end of the backoff and `not_before`
//! at the end of the minimum interval, a change cuts the backoff short and not the interval; with
//! `not_before` at the end of the backoff, nothing does.
//!
//! It does not sleep, spawn, lock or read a clock: `now` is an argument, and should come from a
//! clock that does not go back (if it does, keys wait longer, and nothing else breaks). How many
//! keys are in flight at once is the driver's business.

pub mod backoff;
mod lanes;

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use jiff::Timestamp;

pub use lanes::{AGEING, CHANGES_PER_AGED_RESYNC, Lane};
use lanes::{Lanes, Place};

/// Holds keys that are to be worked on; see the [module](self) for what it guarantees.
#[derive(Debug, Clone)]
pub struct Queue<K> {
    slots: BTreeMap<K, Slot>,
    lanes: Lanes<K>,
    /// Keys in flight by the time at which they were taken.
    running: BTreeSet<(Timestamp, K)>,
    /// Keys that are neither queued nor in flight, by the not-before that is still remembered.
    resting: BTreeSet<(Timestamp, K)>,
    counters: Counters,
}

/// Hands out a key; the driver owes a [`Queue::done`] for it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "the key stays in flight until `done` is called for it"]
pub struct Taken<K> {
    /// The key.
    pub key: K,
    /// The lane that it was in.
    pub lane: Lane,
    /// How long it was ready: one sample of `workqueue_queue_duration_seconds`.
    pub waited: Duration,
}

/// Counts what happened to a queue since it was made, in the terms of client-go's workqueue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Wake-ups and follow-ups that put a key into the queue (`workqueue_adds_total`).
    pub adds: u64,
    /// Wake-ups that found their key in the queue already.
    pub deduplicated: u64,
    /// Keys that were taken from the change lane.
    pub changes_taken: u64,
    /// Keys that were taken from the resync lane.
    pub resyncs_taken: u64,
    /// Of those, the ones that went before a change that was ready.
    pub aged_taken: u64,
}

/// Holds what the queue knows about one key.
#[derive(Debug, Clone)]
struct Slot {
    not_before: Timestamp,
    state: State,
}

#[derive(Debug, Clone)]
enum State {
    /// Neither queued nor in flight; remembered for its not-before alone.
    Resting,
    /// In its lane.
    Queued(Lane, Place),
    /// In flight.
    Running(Run),
}

#[derive(Debug, Clone)]
struct Run {
    since: Timestamp,
    /// What woke the key since it was taken.
    again: Option<Wake>,
    /// True when the key was forgotten since it was taken: the end of the pass brings nothing back.
    forgotten: bool,
}

/// Asks for a key to be worked on.
#[derive(Debug, Clone, Copy)]
struct Wake {
    lane: Lane,
    at: Timestamp,
}

impl Wake {
    /// Joins two wake-ups of one key: the more urgent lane, the earlier time.
    fn join(self, other: Option<Self>) -> Self {
        other.map_or(self, |other| Self {
            lane: self.lane.min(other.lane),
            at: self.at.min(other.at),
        })
    }
}

impl<K> Default for Queue<K> {
    fn default() -> Self {
        Self {
            slots: BTreeMap::new(),
            lanes: Lanes::default(),
            running: BTreeSet::new(),
            resting: BTreeSet::new(),
            counters: Counters::default(),
        }
    }
}

impl<K: Ord + Clone> Queue<K> {
    /// Makes an empty queue.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for `key` to be worked on at `at`, or now if that has passed.
    ///
    /// A key in flight comes back after its [`done`](Self::done).
    pub fn add(&mut self, key: K, lane: Lane, at: Timestamp, now: Timestamp) {
        let wake = Wake { lane, at: at.max(now) };
        let (known, not_before) = match self.slots.get_mut(&key) {
            Some(Slot { state: State::Running(run), .. }) => {
                let known = run.again.is_some();
                run.again = Some(wake.join(run.again));
                return self.count_add(known);
            }
            Some(Slot { state: State::Queued(lane, place), not_before }) => {
                (Some((*lane, *place)), *not_before)
            }
            Some(Slot { state: State::Resting, not_before }) => (None, *not_before),
            None => (None, Timestamp::MIN),
        };
        self.count_add(known.is_some());
        match known {
            Some((lane, place)) => self.hasten(&key, lane, place, wake, not_before),
            None => self.enqueue(key, wake, not_before),
        }
    }

    /// Keeps `key` from being taken before `until`; an earlier time than is known has no effect.
    ///
    /// For a not-before that was kept across a restart.
    pub fn hold(&mut self, key: K, until: Timestamp) {
        let Some(slot) = self.slots.get_mut(&key) else {
            return self.rest(key, until);
        };
        if until <= slot.not_before {
            return;
        }
        let before = std::mem::replace(&mut slot.not_before, until);
        match slot.state {
            State::Running(_) => {}
            State::Resting => {
                self.resting.remove(&(before, key.clone()));
                self.resting.insert((until, key));
            }
            State::Queued(lane, place) if place.due() < until => {
                self.lanes.remove(lane, place);
                let place = self.lanes.insert(lane, until, key);
                slot.state = State::Queued(lane, place);
            }
            State::Queued(..) => {}
        }
    }

    /// Takes the key whose turn it is, if one is ready at `now`.
    pub fn take(&mut self, now: Timestamp) -> Option<Taken<K>> {
        self.drop_rested(now);
        let next = self.lanes.take(now)?;
        if let Some(slot) = self.slots.get_mut(&next.key) {
            slot.state = State::Running(Run { since: now, again: None, forgotten: false });
        }
        self.running.insert((now, next.key.clone()));
        match next.lane {
            Lane::Change => self.counters.changes_taken += 1,
            Lane::Resync => self.counters.resyncs_taken += 1,
        }
        self.counters.aged_taken += u64::from(next.aged);
        Some(Taken { key: next.key, lane: next.lane, waited: elapsed(next.place.due(), now) })
    }

    /// Returns when [`take`](Self::take) will next have something: `now` if it has already.
    ///
    /// `None` when nothing is queued. An [`add`](Self::add) or a [`done`](Self::done) can make it
    /// earlier, so the driver asks again after each of them.
    pub fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        self.lanes.first_due().map(|due| due.max(now))
    }

    /// Ends the pass of a key in flight.
    ///
    /// It comes back at `next`, or earlier if something woke it meanwhile; in no case before
    /// `not_before`. Returns false, and does nothing, when the key is not in flight.
    pub fn done(
        &mut self,
        key: &K,
        now: Timestamp,
        next: Option<(Lane, Timestamp)>,
        not_before: Option<Timestamp>,
    ) -> bool {
        let Some(Slot { state: State::Running(run), not_before: held }) = self.slots.get(key)
        else {
            return false;
        };
        let run = run.clone();
        let not_before = not_before.map_or(*held, |time| time.max(*held));
        self.running.remove(&(run.since, key.clone()));
        let next = next.filter(|_| !run.forgotten);
        let next = next.map(|(lane, at)| Wake { lane, at: at.max(now) });
        if next.is_some() {
            self.count_add(run.again.is_some());
        }
        match next.map(|next| next.join(run.again)).or(run.again) {
            Some(wake) => self.enqueue(key.clone(), wake, not_before),
            None => self.rest(key.clone(), not_before),
        }
        true
    }

    /// Takes `key` out of the queue; if it is in flight, its end brings nothing back.
    ///
    /// A not-before that lies ahead is still kept, should the key return.
    pub fn forget(&mut self, key: &K) {
        let Some(slot) = self.slots.get_mut(key) else { return };
        match &mut slot.state {
            State::Resting => {}
            State::Queued(lane, place) => {
                self.lanes.remove(*lane, *place);
                let not_before = slot.not_before;
                self.rest(key.clone(), not_before);
            }
            State::Running(run) => {
                run.again = None;
                run.forgotten = true;
            }
        }
    }

    /// Counts the queued keys, ready or not, without those in flight.
    pub fn depth(&self) -> usize {
        self.lanes.len()
    }

    /// Counts the keys that are ready at `now`: client-go's `workqueue_depth`.
    ///
    /// A key that became ready since the last count costs a step, all others nothing.
    pub fn ready_depth(&mut self, now: Timestamp) -> usize {
        self.lanes.ready(now)
    }

    /// Returns how long the key that has been ready for the longest time has waited; zero when
    /// none is ready.
    pub fn oldest_age(&self, now: Timestamp) -> Duration {
        self.lanes.first_due().map_or(Duration::ZERO, |due| elapsed(due, now))
    }

    /// Counts the keys in flight.
    pub fn in_flight(&self) -> usize {
        self.running.len()
    }

    /// Returns for how long the oldest pass in flight has run
    /// (`workqueue_longest_running_processor_seconds`); zero when there is none.
    pub fn longest_running(&self, now: Timestamp) -> Duration {
        self.running.first().map_or(Duration::ZERO, |(since, _)| elapsed(*since, now))
    }

    /// Returns the lane of a queued key and when it is due; `None` while it is in flight.
    pub fn due(&self, key: &K) -> Option<(Lane, Timestamp)> {
        match self.slots.get(key)?.state {
            State::Queued(lane, place) => Some((lane, place.due())),
            State::Resting | State::Running(_) => None,
        }
    }

    /// Returns what has been counted so far.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    fn count_add(&mut self, known: bool) {
        if known {
            self.counters.deduplicated += 1;
        } else {
            self.counters.adds += 1;
        }
    }

    /// Moves a queued key forward, if the wake-up asks for more than it has.
    fn hasten(&mut self, key: &K, lane: Lane, place: Place, wake: Wake, not_before: Timestamp) {
        let joined = wake.join(Some(Wake { lane, at: place.due() }));
        if joined.lane != lane || joined.at.max(not_before) != place.due() {
            self.lanes.remove(lane, place);
            self.enqueue(key.clone(), joined, not_before);
        }
    }

    fn enqueue(&mut self, key: K, wake: Wake, not_before: Timestamp) {
        self.resting.remove(&(not_before, key.clone()));
        let place = self.lanes.insert(wake.lane, wake.at.max(not_before), key.clone());
        self.slots.insert(key, Slot { not_before, state: State::Queued(wake.lane, place) });
    }

    fn rest(&mut self, key: K, not_before: Timestamp) {
        self.resting.insert((not_before, key.clone()));
        self.slots.insert(key, Slot { not_before, state: State::Resting });
    }

    /// Forgets keys whose not-before has passed, at most two at a time: each pass adds at most one,
    /// so that their number stays small and no call is slow.
    fn drop_rested(&mut self, now: Timestamp) {
        for _ in 0..2 {
            match self.resting.first() {
                Some((not_before, _)) if *not_before <= now => {}
                _ => return,
            }
            if let Some((_, key)) = self.resting.pop_first() {
                self.slots.remove(&key);
            }
        }
    }
}

/// Returns the time from `since` to `now`; zero when the clock went back.
fn elapsed(since: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(now.duration_since(since)).unwrap_or_default()
}
