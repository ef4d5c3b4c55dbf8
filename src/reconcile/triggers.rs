//! From change sets to keys: what the source delivers goes into the cache, and what that changed
//! goes to the queue.
//!
//! In: change sets, the health of the source, confirmations ([`confirm`](super::confirm)). Out: keys. A trigger carries no content beyond
//! the key; whoever works on it reads the cache.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{Notify, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::engine::Engine;
use super::work_queue::WorkQueue;
use crate::desired::{Cache, Change, Changes, Known};
use crate::model::tree::{ChangeSet, SourceHealth};
use crate::model::{Ask, Freeze, Key};
use crate::queue::Lane;
use crate::status::metrics::Metrics;
use crate::status::{Declared, Record, StoreError};

/// Feeds the queue from the source.
pub struct Triggers {
    pub(super) cache: Cache,
    pub(super) engine: Arc<Engine>,
    queue: Arc<WorkQueue>,
    metrics: Arc<Metrics>,
    /// What the store remembered at the start, of objects that have not been seen since.
    remembered: BTreeMap<Key, Remembered>,
    /// What the store tells of the guard on vanishing.
    pub(super) told: Option<Freeze>,
    /// Wakes this task for confirmations.
    confirmations: Arc<Notify>,
    /// True when a confirmation could not be carried out for the store's sake.
    pub(super) is_owing: bool,
}

/// How long it takes until a confirmation is tried again that the store was in the way of.
const AGAIN: Duration = Duration::from_secs(1);

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
        let asked = engine.store.asked_since(0).await?;
        cache.restore_confirmed(asked.into_iter().filter_map(|asked| match asked.ask {
            Ask::Remove { object, .. } => Some(object),
            _ => None,
        }));
        let freezes = engine.store.freezes().await?;
        let told = freezes.into_iter().find(|freeze| freeze.guard == Freeze::VANISHING);
        let confirmations = Arc::default();
        let is_owing = false;
        Ok(Self { cache, engine, queue, metrics, remembered, told, confirmations, is_owing })
    }

    /// Returns what wakes this task when somebody confirmed something.
    pub fn confirmations(&self) -> Arc<Notify> {
        Arc::clone(&self.confirmations)
    }

    /// Runs until `stop` is set or the source ends.
    pub async fn run(
        mut self,
        mut changes: mpsc::Receiver<ChangeSet>,
        mut health: watch::Receiver<SourceHealth>,
        stop: CancellationToken,
    ) {
        let confirmations = self.confirmations();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = confirmations.notified() => self.confirm_asked().await,
                () = tokio::time::sleep(AGAIN), if self.is_owing => self.confirm_asked().await,
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
        let changes = self.cache.apply(change);
        self.tell_frozen().await;
        tracing::info!(
            revision = change.revision.short(),
            objects = changes.keys.len(),
            "commit read"
        );
        self.persist(&changes).await;
        self.wake(changes.keys);
    }

    /// Hands what changed to the queue.
    pub(super) fn wake(&mut self, keys: BTreeMap<Key, Change>) {
        let now = self.engine.clock.now();
        for (key, change) in keys {
            let (lane, at) = self.urgency(&key, change, now);
            self.queue.add(key, lane, at);
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
