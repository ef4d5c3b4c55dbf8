//! From change sets to keys: what the source delivers goes into the cache, and what that changed
//! goes to the queue.
//!
//! In: change sets, the health of the source, confirmations ([`confirm`](super::confirm)). Out: keys. A trigger carries no content beyond
//! the key; whoever works on it reads the cache.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::engine::Engine;
use super::freshness::Freshness;
use super::work_queue::WorkQueue;
use crate::desired::{Cache, Change, Changes, Known, Snapshot};
use crate::manifest::holding;
use crate::model::policy::DeletionPolicy;
use crate::model::status::Owned;
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
    /// What the store tells of the guards, by guard.
    pub(super) told: BTreeMap<String, Freeze>,
    /// Wakes this task for confirmations.
    confirmations: Arc<Notify>,
    /// True when a confirmation could not be carried out for the store's sake.
    pub(super) is_owing: bool,
    /// How fresh Git is, as it was last told.
    freshness: Freshness,
}

/// How long it takes until a confirmation is tried again that the store was in the way of, and until
/// people are told of drift that a pass found too much.
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
        cache.restore_holdings(records.iter().map(held));
        let asked = engine.store.asked_since(0).await?;
        engine.mass_drift().restore(&records, &asked);
        let forgotten = engine.store.forgotten().await?;
        cache.restore_generations(forgotten.into_iter().map(|last| (last.key, last.generation)));
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
        cache.restore_confirmed(asked.into_iter().filter_map(|asked| match asked.ask {
            Ask::Remove { object, .. } => Some(object),
            _ => None,
        }));
        let freezes = engine.store.freezes().await?;
        let told = freezes.into_iter().map(|freeze| (freeze.guard.clone(), freeze)).collect();
        Ok(Self {
            cache,
            engine,
            queue,
            metrics,
            remembered,
            told,
            confirmations: Arc::default(),
            is_owing: false,
            freshness: Freshness::Fresh,
        })
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
        let mut looks = tokio::time::interval(AGAIN);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        self.engine.confirmation.note(Instant::now());
        let engine = Arc::clone(&self.engine);
        loop {
            let turn = self.engine.confirmation.next_turn(Instant::now());
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = confirmations.notified() => self.confirm_asked().await,
                () = tokio::time::sleep(AGAIN), if self.is_owing => self.confirm_asked().await,
                () = engine.departures.news() => self.dismiss().await,
                Ok(()) = health.changed() => {
                    let health = health.borrow_and_update().clone();
                    self.note_health(health);
                }
                change = changes.recv() => match change {
                    Some(change) => self.take(&change).await,
                    None => return,
                },
                () = until(turn) => self.tell_freshness(),
                _ = looks.tick() => self.tell_frozen().await,
            }
        }
    }

    /// The same trouble is told once, however often the source meets it and at whatever commit.
    fn note_health(&mut self, health: SourceHealth) {
        let before = self.cache.snapshot().source.trouble.clone().map(|(code, _)| code);
        match (&before, &health.trouble) {
            (before, Some((code, message))) if before.as_ref() != Some(code) => {
                tracing::warn!(code, "{message}");
            }
            (Some(_), None) => tracing::info!("the repository can be read again"),
            _ => {}
        }
        if health.refused != self.cache.snapshot().source.refused {
            match &health.refused {
                Some(refused) => tracing::warn!(code = refused.code, "{}", refused.message),
                None => tracing::info!("the newest commit counts as signed again"),
            }
        }
        // A success may be seen only together with the failure that followed it.
        let is_new = health.confirmed_at != self.cache.snapshot().source.confirmed_at;
        if health.confirmed_at.is_some() && (is_new || health.trouble.is_none()) {
            self.engine.confirmation.note(Instant::now());
        }
        match (&health.trouble, health.confirmed_at) {
            (Some(_), _) => self.metrics.source_failed(),
            (None, Some(at)) => self.metrics.source_succeeded(at),
            (None, None) => {}
        }
        self.cache.source(health);
        self.tell_freshness();
    }

    /// Says once that Git went stale, that nothing is written any more, and that it is fresh again.
    fn tell_freshness(&mut self) {
        let staleness = self.engine.staleness(&self.cache.snapshot());
        let before = self.freshness;
        self.freshness = staleness.as_ref().map_or(Freshness::Fresh, |(freshness, _)| *freshness);
        match staleness {
            Some((freshness, why)) if freshness != before => tracing::warn!("{why}"),
            None if before != Freshness::Fresh => tracing::info!("Git is confirmed again"),
            _ => {}
        }
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
        let snapshot = self.cache.snapshot();
        for (key, change) in keys {
            if change == Change::Vanished && snapshot.get(&key).is_some() {
                self.engine.absences.note(key.clone(), now);
            }
            let (lane, at) = self.urgency(&key, change, now);
            self.queue.add(key, lane, at);
        }
    }

    /// Forgets the removed objects that are done with, unless they are back.
    pub async fn dismiss(&mut self) {
        for (key, told) in self.engine.departures.take() {
            if !self.cache.forget(&key) {
                continue;
            }
            if let Err(error) = self.erase(&key).await {
                // The next start finds the record, and its first pass asks for this again.
                tracing::error!(object = %key, %error, "a removed object could not be forgotten");
            }
            self.queue.forget(&key);
            self.engine.absences.forget(&key);
            self.engine.words.forget(&key);
            self.metrics.object(told.as_ref(), None);
            tracing::info!(object = %key, "a removed object is done with and forgotten");
        }
    }

    async fn erase(&self, key: &Key) -> Result<(), StoreError> {
        self.engine.store.remove(key, self.engine.token()?).await
    }

    /// Generations are on the disk before they are worked on; a store in trouble does not stop
    /// the work, whose pass will say so.
    pub(super) async fn persist(&self, changes: &Changes) {
        if changes.persist.is_empty() {
            return;
        }
        let snapshot = self.cache.snapshot();
        let declared: Vec<Declared> =
            changes.persist.iter().map(|known| declared(known, &snapshot)).collect();
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

/// Waits until a time, or for ever.
async fn until(time: Option<Instant>) {
    match time {
        Some(time) => tokio::time::sleep_until(time).await,
        None => std::future::pending().await,
    }
}

fn known(record: &Record) -> Known {
    Known {
        key: record.key.clone(),
        generation: record.generation,
        digest: record.digest.as_str().into(),
        revision: record.status.revision.clone(),
        was_removed: record.memory.removed.is_some(),
    }
}

/// Returns what an object owns of what would be deleted if its section left.
fn held(record: &Record) -> (Key, BTreeSet<String>) {
    let is_kept = |owned: &&Owned| owned.policy == DeletionPolicy::Retain || owned.left.is_some();
    let owned = record.memory.owned.iter().filter(|owned| !is_kept(owned));
    (record.key.clone(), owned.filter_map(|owned| holding(&owned.id)).collect())
}

fn declared(known: &Known, snapshot: &Snapshot) -> Declared {
    let policy = snapshot.get(&known.key).map(|entry| entry.object.policy().deletion);
    Declared {
        key: known.key.clone(),
        generation: known.generation,
        digest: known.digest.to_string(),
        deletion: policy.unwrap_or_default(),
    }
}
