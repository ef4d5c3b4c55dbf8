//! The workers: take a key, make a pass, say when the next one is due.
//!
//! A pass that panics or cannot be recorded is a failure of that key alone; the worker goes on. A key
//! whose account has no API budget left for another pass goes back into the queue.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt;
use jiff::{SignedDuration, Timestamp};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::dependents::Dependents;
use super::engine::Engine;
use super::looks;
use super::pass::{Passed, pass};
use super::turns::{Turn, Turns};
use super::work_queue::WorkQueue;
use crate::model::Key;
use crate::queue::{Lane, Taken, backoff};
use crate::status::metrics::{Metrics, PassResult};

/// The wait after a pass that left no record: the store is in trouble, or the pass is.
const UNRECORDED: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(60));

/// How long a key waits whose account has no budget left.
const NO_BUDGET: SignedDuration = SignedDuration::from_millis(250);

/// Starts `count` workers, which end when `stop` is set and their pass has ended, and what writes
/// their looks.
pub fn start(
    count: usize,
    engine: &Arc<Engine>,
    queue: &Arc<WorkQueue>,
    metrics: &Arc<Metrics>,
    stop: &CancellationToken,
    tasks: &TaskTracker,
) {
    let dependents = Arc::new(Dependents::default());
    let turns = Arc::new(Turns::default());
    let (looking, stopping) = (engine.clone(), stop.clone());
    tasks.spawn(async move { looks::run(&looking, stopping).await });
    for _ in 0..count.max(1) {
        let worker = Worker {
            engine: engine.clone(),
            queue: queue.clone(),
            metrics: metrics.clone(),
            dependents: dependents.clone(),
            turns: turns.clone(),
        };
        let stop = stop.clone();
        tasks.spawn(async move {
            while let Some(taken) = worker.queue.take(&stop).await {
                worker.work(taken).await;
            }
        });
    }
}

struct Worker {
    engine: Arc<Engine>,
    queue: Arc<WorkQueue>,
    metrics: Arc<Metrics>,
    dependents: Arc<Dependents>,
    turns: Arc<Turns>,
}

impl Worker {
    async fn work(&self, taken: Taken<Key>) {
        let Taken { key, lane, waited } = taken;
        let Ok(_turn) = self.turn(&key, lane) else { return self.put_back(&key, lane) };
        self.metrics.queue_waited(waited);
        let working = self.metrics.begin();
        let started = tokio::time::Instant::now();
        let span = tracing::info_span!("pass", object = %key, ?lane);
        let ended =
            AssertUnwindSafe(tracing::Instrument::instrument(pass(&self.engine, &key), span))
                .catch_unwind()
                .await;
        let took = started.elapsed();
        let now = self.engine.clock.now();
        match ended {
            Ok(Ok(passed)) => self.finish(&key, &passed, took, now),
            Ok(Err(error)) => {
                self.engine.is_amnesic.store(true, Ordering::Relaxed);
                self.unrecorded(&key, &error, now);
            }
            Err(_) => self.unrecorded(&key, &Panicked, now),
        }
        drop(working);
    }

    /// Begins the turn of a key at its account; none is needed for one without a place.
    fn turn(&self, key: &Key, lane: Lane) -> Result<Option<Turn<'_>>, NoBudget> {
        let snapshot = self.engine.desired.snapshot();
        let entry = snapshot.get(key);
        let Some(scope) = entry.and_then(|entry| self.engine.scope(&entry.object)) else {
            return Ok(None);
        };
        let is_waited_for = self.engine.cloud.is_waited_for(&scope.account);
        let turn = self.turns.begin(scope.account.clone(), lane, is_waited_for);
        turn.map(Some).ok_or(NoBudget)
    }

    /// Nothing was looked at and nothing has failed: the key only waits.
    fn put_back(&self, key: &Key, lane: Lane) {
        self.queue.put_back(key, lane, NO_BUDGET);
    }

    fn finish(&self, key: &Key, passed: &Passed, took: Duration, now: Timestamp) {
        self.metrics.reconciled(passed.result, took);
        self.metrics.object(passed.before.as_ref(), passed.status.as_ref());
        // Of an object at rest nothing is told anew; who listens was told at the latest by the pass
        // after the start, which goes the whole way.
        if passed.is_news || passed.status.is_some() {
            self.engine.listener.passed(key, passed.status.as_ref());
        }
        if passed.result == PassResult::Failed {
            self.metrics.queue_retried();
        }
        let not_before = passed.next.not_before.max(now);
        self.queue.done(key, passed.next.due, not_before);
        for dependent in self.dependents.pass_ended(key, &passed.needs) {
            tracing::debug!(object = %dependent, after = %key, "what it waited for is settled");
            self.queue.add_now(dependent, Lane::Change);
        }
    }

    /// Comes back after a while; nothing about the pass is known.
    fn unrecorded(&self, key: &Key, error: &(dyn std::error::Error + 'static), now: Timestamp) {
        tracing::error!(object = %key, error, "the pass left no record; it is made again");
        self.metrics.reconcile_error();
        self.metrics.queue_retried();
        let (shortest, longest) = UNRECORDED;
        let delay = backoff::delay(4, shortest, longest, self.engine.jitter.next());
        let delay = SignedDuration::try_from(delay).unwrap_or(SignedDuration::from_secs(60));
        let at = now.checked_add(delay).unwrap_or(Timestamp::MAX);
        // Only its own follow-up waits so long: what Git or a person wants meanwhile starts at once.
        let not_before = now.checked_add(self.engine.pace.interval).unwrap_or(Timestamp::MAX);
        self.queue.done(key, Some((Lane::Change, at)), not_before);
    }
}

/// Says that a key has to wait for its account's budget.
struct NoBudget;

/// Says that a pass ended in a panic; its message went to the log.
#[derive(Debug, thiserror::Error)]
#[error("the pass panicked")]
struct Panicked;
