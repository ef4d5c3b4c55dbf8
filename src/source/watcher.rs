//! The task that follows a branch.
//!
//! In: triggers (poll, full re-list, file watch, pokes). Out: change sets over a channel, and the
//! health of the source in a watch.
//!
//! Invariants: one fetch at a time and at most one waiting, whatever the number of triggers; a
//! change set is remembered as delivered only when the channel took it; the first one is full, and
//! so is every re-list; a failed fetch delivers nothing and keeps what was delivered.

use std::sync::Arc;

use futures_util::FutureExt as _;
use rand::rngs::StdRng;
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::access::Access;
use super::fetch::{ChildFetcher, Fetcher};
use super::files::FileWatch;
use super::location::Transport;
use super::read::{Delivered, Outcome, fetch_and_read};
use super::{Location, Pace, SourceError, Unverified};
use crate::model::tree::{ChangeSet, RefusedRevision, SourceHealth};
use crate::model::{Clock, Revision};

/// Change sets wait here while the receiver is busy; a full channel stops fetching.
const CHANNEL: usize = 4;

/// Asks for a fetch soon; any number of pokes while one waits count as one.
#[derive(Debug, Clone)]
pub struct Poke(Arc<Notify>);

impl Poke {
    /// Asks for a fetch soon, and returns at once.
    pub fn poke(&self) {
        self.0.notify_one();
    }
}

/// Holds the ends that the rest of the program keeps.
#[derive(Debug)]
pub struct Watched {
    /// What changed; the first one is full.
    pub changes: mpsc::Receiver<ChangeSet>,
    /// How the source stands.
    pub health: watch::Receiver<SourceHealth>,
    /// Asks for a fetch.
    pub poke: Poke,
}

/// Follows a folder of a branch; [`Watcher::run`] is its task.
pub struct Watcher {
    engine: Engine<ChildFetcher>,
}

impl Watcher {
    /// Makes the task and the ends of its channels; nothing is fetched yet.
    pub fn new(
        location: Location,
        access: Access,
        pace: Pace,
        clock: Arc<dyn Clock>,
        rng: StdRng,
    ) -> (Self, Watched) {
        let (engine, watched) = Engine::new(ChildFetcher, location, access, pace, clock, rng);
        (Self { engine }, watched)
    }

    /// Follows the branch until it is cancelled or nobody takes the change sets any more.
    pub async fn run(self, cancel: CancellationToken) {
        self.engine.run(cancel).await;
    }
}

/// Does the work of a [`Watcher`], with any fetcher, so that time can be tested without processes.
struct Engine<F> {
    fetcher: F,
    location: Location,
    access: Access,
    pace: Pace,
    clock: Arc<dyn Clock>,
    rng: StdRng,
    changes: mpsc::Sender<ChangeSet>,
    health: watch::Sender<SourceHealth>,
    poke: Arc<Notify>,
    files: Arc<Notify>,
    watch: Option<FileWatch>,
    delivered: Option<Delivered>,
    failures: u32,
}

/// Says what ended a wait.
enum Wake {
    Fetch,
    Relist,
}

/// Says that the channel is closed.
struct Closed;

impl<F: Fetcher> Engine<F> {
    fn new(
        fetcher: F,
        location: Location,
        access: Access,
        pace: Pace,
        clock: Arc<dyn Clock>,
        rng: StdRng,
    ) -> (Self, Watched) {
        let (changes, receiver) = mpsc::channel(CHANNEL);
        let start = SourceHealth::default();
        let (health, health_receiver) = watch::channel(start);
        let poke = Arc::new(Notify::new());
        let watched =
            Watched { changes: receiver, health: health_receiver, poke: Poke(Arc::clone(&poke)) };
        let engine = Self {
            fetcher,
            location,
            access,
            pace,
            clock,
            rng,
            changes,
            health,
            poke,
            files: Arc::new(Notify::new()),
            watch: None,
            delivered: None,
            failures: 0,
        };
        (engine, watched)
    }

    async fn run(mut self, cancel: CancellationToken) {
        // Dropping the loop in the middle of a fetch kills the child.
        let _ = cancel.run_until_cancelled_owned(self.follow()).await;
    }

    async fn follow(&mut self) {
        let mut relist_at = Instant::now();
        loop {
            let started = Instant::now();
            let full = started >= relist_at;
            self.drain();
            match self.step(full).await {
                Ok(()) if full && self.failures == 0 => {
                    relist_at = started + self.pace.next_relist(&mut self.rng);
                }
                Ok(()) => {}
                Err(Closed) => return,
            }
            let wait = self.pace.next_fetch(self.failures, &mut self.rng);
            let triggered = self.pace.triggered(self.failures, wait);
            match self.wait(started + wait, started + triggered, relist_at).await {
                Wake::Fetch => {}
                Wake::Relist => relist_at = Instant::now(),
            }
        }
    }

    /// Waits until the next fetch is due; triggers make it due earlier, though not before
    /// `triggered_at`.
    async fn wait(&self, poll_at: Instant, triggered_at: Instant, relist_at: Instant) -> Wake {
        // While fetches fail, a re-list that is due does not jump the wait.
        let relist_at = if self.failures == 0 { relist_at } else { poll_at };
        tokio::select! {
            () = self.triggered() => {
                sleep_until(triggered_at).await;
                Wake::Fetch
            }
            () = sleep_until(poll_at) => Wake::Fetch,
            () = sleep_until(relist_at) => Wake::Relist,
        }
    }

    async fn triggered(&self) {
        tokio::select! {
            () = self.poke.notified() => {}
            () = self.files_quiet() => {}
        }
    }

    /// Waits for an event of the file watch, and then until there has been none for a while.
    async fn files_quiet(&self) {
        self.files.notified().await;
        let latest = Instant::now() + self.pace.debounce * 10;
        while Instant::now() < latest
            && tokio::time::timeout(self.pace.debounce, self.files.notified()).await.is_ok()
        {
        }
    }

    async fn step(&mut self, full: bool) -> Result<(), Closed> {
        // Armed before the fetch: a commit during the fetch then triggers the next one.
        self.arm();
        let before = self.delivered.clone();
        let read =
            fetch_and_read(&self.fetcher, &self.location, &self.access, before.as_ref(), full)
                .await;
        match read {
            Ok(outcome) => self.succeeded(outcome).await,
            Err(error) => {
                self.failed(&error);
                Ok(())
            }
        }
    }

    /// Forgets the triggers that came before a fetch, because it answers them.
    fn drain(&self) {
        for trigger in [&self.poke, &self.files] {
            let _ = trigger.notified().now_or_never();
        }
    }

    fn arm(&mut self) {
        let Transport::Local(path) = self.location.transport() else { return };
        if self.watch.is_none() {
            self.watch = FileWatch::start(path, Arc::clone(&self.files));
        }
    }

    async fn succeeded(&mut self, outcome: Outcome) -> Result<(), Closed> {
        if let Some(delivery) = outcome.delivery {
            self.changes.send(delivery.changes).await.map_err(|_| Closed)?;
            self.delivered = Some(delivery.delivered);
        }
        self.failures = 0;
        self.health.send_replace(SourceHealth {
            revision: self.delivered.as_ref().map(|delivered| delivered.revision.clone()),
            // The remote answered, also when its tip is not applied.
            confirmed_at: Some(self.clock.now()),
            trouble: None,
            refused: outcome.refused.as_ref().map(refused),
        });
        Ok(())
    }

    fn failed(&mut self, error: &SourceError) {
        self.failures = self.failures.saturating_add(1);
        // The repository may have been replaced: its watch looks at files that are gone.
        self.watch = None;
        let trouble = error.trouble();
        tracing::debug!(location = %self.location, code = trouble.0, "{}", trouble.1);
        self.health.send_modify(|health| health.trouble = Some(trouble));
    }
}

fn refused(unverified: &Unverified) -> RefusedRevision {
    let (code, message) = SourceError::Unverified(unverified.clone()).trouble();
    let revision = Revision::new(unverified.tip.clone());
    RefusedRevision { revision, code, cause: unverified.cause(), message }
}

#[cfg(test)]
mod tests;
