//! The figures that nobody else keeps: what calls are spent on, how full the budgets are, how long the
//! queue is, what the guards hold.
//!
//! In: the ledger and the levels of the budgets, the queue, the engine. Out: metrics, and pages of the store,
//! from which `levelset budget` answers and the next agent starts.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::cloud::Spending;
use crate::model::{Freeze, Spent};
use crate::reconcile::engine::Engine;
use crate::reconcile::work_queue::WorkQueue;
use crate::status::{Metrics, Page, StoreError};

/// How often figures are set.
const EVERY: Duration = Duration::from_secs(1);

/// How often a page is written, if anything was spent.
const PAGE: Duration = Duration::from_secs(10);

/// The longest that the write of a page may take.
const WRITE_LIMIT: Duration = Duration::from_secs(10);

/// Keeps the figures of one agent.
pub(super) struct Figures {
    /// What a pass works with: the guards, the store, the right to write, the time of day.
    pub(super) engine: Arc<Engine>,
    /// The keys that wait for a pass.
    pub(super) queue: Arc<WorkQueue>,
    /// Where the figures are exposed.
    pub(super) metrics: Arc<Metrics>,
    /// What every call passes.
    pub(super) spending: Arc<Spending>,
    /// What has been spent since the last page.
    pub(super) unwritten: Mutex<Vec<Spent>>,
}

impl Figures {
    /// Lets the budgets start from what the last agent left.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub(super) async fn restore(&self) -> Result<(), StoreError> {
        let levels = self.engine.store.levels().await?;
        self.spending.restore(&levels, self.engine.clock.now());
        Ok(())
    }

    /// Sets the figures and writes pages until `stop`.
    pub(super) async fn follow(self: Arc<Self>, stop: CancellationToken) {
        let mut written = Instant::now();
        loop {
            self.set().await;
            if written.elapsed() >= PAGE {
                written = Instant::now();
                self.write().await;
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    /// Writes what is left when nothing is called any more.
    pub(super) async fn close(&self) {
        self.set().await;
        self.write().await;
    }

    async fn set(&self) {
        self.queue.read(|queue, now| {
            self.metrics.queue_depth(queue.ready_depth(now));
            self.metrics.queue_oldest(queue.oldest_age(now));
            self.metrics.queue_added(queue.counters().adds);
        });
        guards(&self.engine, &self.metrics);
        for level in self.spending.levels(self.engine.clock.now()) {
            self.metrics.aws_budget(&level);
        }
        let mut unwritten = self.unwritten.lock().await;
        for entry in self.spending.take_ledger() {
            let (line, calls) = (entry.line, entry.calls);
            let outcome = entry.outcome.word();
            self.metrics.aws_calls(&line.service, &line.operation, line.cause, &outcome, calls);
            unwritten.push(Spent {
                scope: line.scope,
                service: line.service,
                operation: line.operation,
                cause: line.cause,
                count: entry.outcome.count(calls),
            });
        }
    }

    /// Writes a page; what cannot be written now goes with the next one.
    async fn write(&self) {
        let mut unwritten = self.unwritten.lock().await;
        if unwritten.is_empty() {
            return;
        }
        let at = self.engine.clock.now();
        let levels = self.spending.levels(at);
        let page = Page { at, spent: std::mem::take(&mut *unwritten), levels };
        if let Err(error) = self.put(&page).await {
            tracing::warn!(%error, "what calls were spent on could not be recorded");
            *unwritten = page.spent;
        }
    }

    async fn put(&self, page: &Page) -> Result<(), StoreError> {
        let token = self.engine.fence.check(WRITE_LIMIT);
        let token = token.map_err(|lost| StoreError::Withheld(lost.to_string()))?;
        self.engine.store.spend(page, token).await
    }
}

/// Says how much the guards of the fleet hold, and whether Git is stale.
fn guards(engine: &Engine, metrics: &Metrics) {
    let snapshot = engine.desired.snapshot();
    let vanished = snapshot.frozen.as_ref().map_or(0, |frozen| frozen.keys.len());
    metrics.frozen(Freeze::VANISHING, vanished);
    metrics.frozen(Freeze::DRIFT, engine.mass_drift().frozen().len());
    metrics.source_stale(engine.staleness(&snapshot).is_some());
    metrics.source_unverified(snapshot.source.refused.is_some());
}
