//! The looks of passes that found nothing new, written together a moment later.
//!
//! In: a [`Look`] of each such pass. Out: now and then one write of all of them. A record is written
//! when it says something new; a fleet at rest would else write a record for each pass that says
//! nothing but the time.
//!
//! A crash loses the looks of the last second: their objects are taken for not looked at since the
//! look before, and are looked at again that much earlier. Nothing else rests on them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::engine::Engine;
use crate::model::Key;
use crate::status::{Look, StoreError};

/// How long a look may wait to be written.
pub const EVERY: Duration = Duration::from_secs(1);

/// So many are written at once, so that no other write waits long.
const AT_ONCE: usize = 1_000;

/// Keeps looks until they are written, the latest of each object.
#[derive(Debug, Default)]
pub struct Looks {
    waiting: Mutex<BTreeMap<Key, Look>>,
    news: Notify,
}

impl Looks {
    /// Takes a look.
    pub(super) fn note(&self, look: Look) {
        self.lock().insert(look.key.clone(), look);
        self.news.notify_one();
    }

    /// Drops the look at an object of which more is written now.
    pub(super) fn forget(&self, key: &Key) {
        self.lock().remove(key);
    }

    fn take(&self) -> Vec<Look> {
        let mut waiting = self.lock();
        let rest = waiting.keys().nth(AT_ONCE).cloned();
        let rest = rest.map(|key| waiting.split_off(&key)).unwrap_or_default();
        std::mem::replace(&mut *waiting, rest).into_values().collect()
    }

    /// Takes looks back that could not be written, unless there are later ones.
    fn give_back(&self, looks: Vec<Look>) {
        let mut waiting = self.lock();
        for look in looks {
            waiting.entry(look.key.clone()).or_insert(look);
        }
        self.news.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Look>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the looks of an engine's passes until `stop` is set.
pub(super) async fn run(engine: &Engine, stop: CancellationToken) {
    let mut in_trouble = false;
    while !stop.is_cancelled() {
        tokio::select! {
            biased;
            () = stop.cancelled() => {}
            () = engine.looks.news.notified() => {
                let _ = tokio::time::timeout(EVERY, stop.cancelled()).await;
            }
        }
        let written = write(engine).await;
        match &written {
            Err(error) if !in_trouble => {
                tracing::error!(%error, "when objects were looked at cannot be written");
            }
            _ => {}
        }
        in_trouble = written.is_err();
    }
}

/// Writes all looks that wait.
///
/// # Errors
///
/// When the store does not take them, or the right to write is not held; they wait on.
pub async fn write(engine: &Engine) -> Result<(), StoreError> {
    loop {
        let looks = engine.looks.take();
        if looks.is_empty() {
            return Ok(());
        }
        let written = match engine.token() {
            Ok(token) => engine.store.looked(&looks, token).await,
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            engine.looks.give_back(looks);
            return Err(error);
        }
    }
}
