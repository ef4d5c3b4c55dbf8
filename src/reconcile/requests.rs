//! Looks for what people asked since the last look, and wakes what it is about.
//!
//! In: the store, once a second; one query while nothing was asked. Out: keys in the change lane
//! (their not-before holds), and a nudge for whoever carries out confirmations. It carries out
//! nothing and removes nothing: the pass reads for itself what is asked of its object.
//!
//! Nothing is looked for before the first full list of the repository, because no pass could record
//! what it carries out; what was asked before the start is found then.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::engine::Engine;
use super::work_queue::WorkQueue;
use crate::queue::Lane;
use crate::status::StoreError;

/// How often it is looked.
pub const EVERY: Duration = Duration::from_secs(1);

/// Finds what people asked.
pub struct Requests {
    engine: Arc<Engine>,
    queue: Arc<WorkQueue>,
    /// Wakes whoever carries out confirmations.
    confirmations: Arc<Notify>,
    /// The number of the last thing that was found.
    seen: u64,
    /// True while the store cannot be read: that is told once.
    in_trouble: bool,
}

impl Requests {
    /// Makes one that has found nothing yet.
    pub fn new(engine: Arc<Engine>, queue: Arc<WorkQueue>, confirmations: Arc<Notify>) -> Self {
        Self { engine, queue, confirmations, seen: 0, in_trouble: false }
    }

    /// Looks again and again until `stop` is set.
    pub async fn run(mut self, stop: CancellationToken) {
        loop {
            if self.engine.desired.snapshot().synced {
                let looked = self.look().await;
                self.tell(looked);
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => return,
                () = tokio::time::sleep(EVERY) => {}
            }
        }
    }

    async fn look(&mut self) -> Result<(), StoreError> {
        for asked in self.engine.store.asked_since(self.seen).await? {
            self.seen = asked.number;
            match asked.ask.object() {
                Some(key) => self.queue.add_now(key.clone(), Lane::Change),
                None => self.confirmations.notify_one(),
            }
        }
        Ok(())
    }

    fn tell(&mut self, looked: Result<(), StoreError>) {
        match &looked {
            Err(error) if !self.in_trouble => {
                tracing::error!(%error, "what people ask cannot be read");
            }
            Ok(()) if self.in_trouble => tracing::info!("what people ask can be read again"),
            _ => {}
        }
        self.in_trouble = looked.is_err();
    }
}

#[cfg(test)]
mod tests;
