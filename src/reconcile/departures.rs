//! Removed objects that are done with, on their way from the passes to the cache that forgets them.
//!
//! In: keys with what was told of them last, from the pass that found nothing left to do. Out: the
//! same, to the one task that owns the cache. A key that is lost on the way (a crash) is found again by its next pass.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

use crate::model::{Key, ObjectStatus};

/// Holds the keys that are to be forgotten.
#[derive(Debug, Default)]
pub struct Departures {
    last: Mutex<BTreeMap<Key, Option<ObjectStatus>>>,
    news: Notify,
}

impl Departures {
    /// Asks for an object to be forgotten, of which this was told last.
    pub(super) fn add(&self, key: Key, told: Option<ObjectStatus>) {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).insert(key, told);
        self.news.notify_one();
    }

    /// Waits until there are keys.
    pub(super) async fn news(&self) {
        self.news.notified().await;
    }

    /// Takes all keys.
    pub(super) fn take(&self) -> BTreeMap<Key, Option<ObjectStatus>> {
        std::mem::take(&mut *self.last.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
