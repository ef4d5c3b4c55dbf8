//! The queue with a driver: the pure [`Queue`] behind a lock, and a wait for its next key.
//!
//! Invariant: a ready key is taken as soon as a worker is free: every add and every done wakes one,
//! and a worker that leaves a ready key behind wakes the next.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::model::{Clock, Key};
use crate::queue::{Lane, Queue, Taken};

/// The longest sleep: the time of day may jump, and the queue's deadlines are in it.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

/// Holds the keys that wait for a pass.
pub struct WorkQueue {
    queue: Mutex<Queue<Key>>,
    woken: Notify,
    clock: Arc<dyn Clock>,
}

impl WorkQueue {
    /// Makes an empty queue.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { queue: Mutex::default(), woken: Notify::new(), clock }
    }

    /// Asks for a pass at `at`, or now if that has passed.
    pub fn add(&self, key: Key, lane: Lane, at: Timestamp) {
        self.lock().add(key, lane, at, self.clock.now());
        self.woken.notify_one();
    }

    /// Asks for a pass now.
    pub fn add_now(&self, key: Key, lane: Lane) {
        self.add(key, lane, self.clock.now());
    }

    /// Keeps a key from being taken before `until`.
    pub fn hold(&self, key: Key, until: Timestamp) {
        self.lock().hold(key, until);
    }

    /// Takes the next key, waiting for one; `None` when the agent stops.
    pub async fn take(&self, stop: &CancellationToken) -> Option<Taken<Key>> {
        loop {
            if stop.is_cancelled() {
                return None;
            }
            let now = self.clock.now();
            let (taken, due) = {
                let mut queue = self.lock();
                (queue.take(now), queue.next_due(now))
            };
            if taken.is_some() {
                if due.is_some_and(|due| due <= now) {
                    self.woken.notify_one();
                }
                return taken;
            }
            let sleep = due.map_or(LONGEST_SLEEP, |due| until(now, due));
            tokio::select! {
                biased;
                () = stop.cancelled() => return None,
                () = self.woken.notified() => {}
                () = tokio::time::sleep(sleep) => {}
            }
        }
    }

    /// Ends the pass of a key.
    pub fn done(&self, key: &Key, next: Option<(Lane, Timestamp)>, not_before: Timestamp) {
        self.lock().done(key, self.clock.now(), next, Some(not_before));
        self.woken.notify_one();
    }

    /// Puts a key back that was taken and not worked on; it is taken again after `wait`, which has to
    /// be longer than nothing.
    pub fn put_back(&self, key: &Key, lane: Lane, wait: SignedDuration) {
        let now = self.clock.now();
        let at = now.checked_add(wait).unwrap_or(Timestamp::MAX);
        self.lock().done(key, now, Some((lane, at)), None);
        self.woken.notify_one();
    }

    /// Takes a key out for good.
    pub fn forget(&self, key: &Key) {
        self.lock().forget(key);
    }

    /// Reads the queue, for metrics and status.
    pub fn read<T>(&self, look: impl FnOnce(&mut Queue<Key>, Timestamp) -> T) -> T {
        let now = self.clock.now();
        look(&mut self.lock(), now)
    }

    fn lock(&self) -> MutexGuard<'_, Queue<Key>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The wait for a deadline, at least a millisecond so that a rounding error cannot spin.
fn until(now: Timestamp, due: Timestamp) -> Duration {
    let wait = Duration::try_from(due.duration_since(now)).unwrap_or_default();
    wait.clamp(Duration::from_millis(1), LONGEST_SLEEP)
}
