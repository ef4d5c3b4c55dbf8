//! From change sets to keys: what the source delivers goes into the cache, and what that changed
//! goes to the queue.
//!
//! In: change sets and the health of the source. Out: keys. A trigger carries no content beyond
//! the key; whoever works on it reads the cache.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::engine::Engine;
use super::work_queue::WorkQueue;
use crate::desired::{Cache, Change, Changes, Frozen, Known};
use crate::model::Key;
use crate::model::tree::{ChangeSet, SourceHealth};
use crate::queue::Lane;
use crate::status::metrics::Metrics;
use crate::status::{Declared, Record, StoreError};

/// Feeds the queue from the source.
pub struct Triggers {
    cache: Cache,
    engine: Arc<Engine>,
    queue: Arc<WorkQueue>,
    metrics: Arc<Metrics>,
    /// What the store remembered at the start, of objects that have not been seen since.
    remembered: BTreeMap<Key, Remembered>,
}

struct Remembered {
    digest: String,
    due: Option<Timestamp>,
}

impl Triggers {
    /// Takes over what the store remembers.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn restore(
        mut cache: Cache,
        engine: Arc<Engine>,
        queue: Arc<WorkQueue>,
        metrics: Arc<Metrics>,
    ) -> Result<Self, StoreError> {
        let records = engine.store.all().await?;
        cache.restore(records.iter().map(known));
        let mut remembered = BTreeMap::new();
        for record in records {
            if record.status.last_reconciled_time.is_some() {
                metrics.object(None, Some(&record.status));
            }
            if let Some(not_before) = record.memory.not_before {
                queue.hold(record.key.clone(), not_before);
            }
            let due = record.status.next_run_time;
            remembered.insert(record.key, Remembered { digest: record.digest, due });
        }
        Ok(Self { cache, engine, queue, metrics, remembered })
    }

    /// Runs until `stop` is set or the source ends.
    pub async fn run(
        mut self,
        mut changes: mpsc::Receiver<ChangeSet>,
        mut health: watch::Receiver<SourceHealth>,
        stop: CancellationToken,
    ) {
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                Ok(()) = health.changed() => {
                    let health = health.borrow_and_update().clone();
                    self.note_health(health);
                }
                change = changes.recv() => match change {
                    Some(change) => self.take(&change).await,
                    None => return,
                },
            }
        }
    }

    /// The same trouble is told once, however often the source meets it.
    fn note_health(&mut self, health: SourceHealth) {
        let before = self.cache.snapshot().source.trouble.clone();
        match (&before, &health.trouble) {
            (before, Some((code, message))) if *before != health.trouble => {
                tracing::warn!(code, "{message}");
            }
            (Some(_), None) => tracing::info!("the repository can be read again"),
            _ => {}
        }
        match (&health.trouble, health.confirmed_at) {
            (Some(_), _) => self.metrics.source_failed(),
            (None, Some(at)) => self.metrics.source_succeeded(at),
            (None, None) => {}
        }
        self.cache.source(health);
    }

    /// Folds a change set into the cache and wakes what it changed.
    pub async fn take(&mut self, change: &ChangeSet) {
        let before = self.cache.snapshot().frozen.clone();
        let changes = self.cache.apply(change);
        self.tell_frozen(before.as_deref());
        tracing::info!(
            revision = change.revision.short(),
            objects = changes.keys.len(),
            "commit read"
        );
        self.persist(&changes).await;
        let now = self.engine.clock.now();
        for (key, change) in changes.keys {
            let (lane, at) = self.urgency(&key, change, now);
            self.metrics.queue_added();
            self.queue.add(key, lane, at);
        }
    }

    /// Says once that objects vanished together and are kept.
    fn tell_frozen(&self, before: Option<&Frozen>) {
        let snapshot = self.cache.snapshot();
        match snapshot.frozen.as_deref() {
            Some(frozen) if before != Some(frozen) => tracing::warn!(
                reason = frozen.reason.as_str(),
                digest = frozen.digest,
                "{} objects vanished from Git together; none counts as removed",
                frozen.keys.len()
            ),
            None if before.is_some() => {
                tracing::info!("the vanished objects are back or confirmed")
            }
            _ => {}
        }
    }

    /// Generations are on the disk before they are worked on; a store in trouble does not stop
    /// the work, whose pass will say so.
    async fn persist(&self, changes: &Changes) {
        if changes.persist.is_empty() {
            return;
        }
        let declared: Vec<Declared> = changes.persist.iter().map(declared).collect();
        let written = match self.engine.token() {
            Ok(token) => self.engine.store.declare(&declared, token).await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            tracing::error!(%error, "new generations could not be recorded");
        }
    }

    /// An object that is as it was before a restart waits for its turn; all others are changes.
    fn urgency(&mut self, key: &Key, change: Change, now: Timestamp) -> (Lane, Timestamp) {
        let remembered = self.remembered.remove(key);
        let unchanged = self.cache.snapshot().get(key).is_some_and(|entry| {
            remembered.as_ref().is_some_and(|known| *known.digest == *entry.object.digest)
        });
        match (change, remembered) {
            (Change::Appeared, Some(known)) if unchanged => {
                (Lane::Resync, known.due.unwrap_or(now))
            }
            _ => (Lane::Change, now),
        }
    }
}

fn known(record: &Record) -> Known {
    Known {
        key: record.key.clone(),
        generation: record.generation,
        digest: record.digest.as_str().into(),
        revision: record.status.revision.clone(),
    }
}

fn declared(known: &Known) -> Declared {
    Declared {
        key: known.key.clone(),
        generation: known.generation,
        digest: known.digest.to_string(),
    }
}
