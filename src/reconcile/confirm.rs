//! Confirmations: what a guard froze is told to people, and released when they say that it is meant.
//!
//! In: what the guards hold, and the confirmations that stand in the store. Out: the store's list of
//! what is frozen, kept level with the guards, and the release of exactly the set whose digest was
//! confirmed.
//!
//! Invariant: a confirmation is written to the store before it is acted on, and its request goes in
//! the same transaction, so that a death in between neither loses nor repeats it.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::triggers::Triggers;
use crate::desired::{FreezeReason, Frozen};
use crate::model::{Ask, Asked, Freeze, Key};
use crate::status::{Settlement, StoreError};

/// Holds a set that a guard froze and a person confirmed.
enum Held {
    /// Of the guard on vanishing.
    Vanished(Arc<Frozen>),
}

impl Held {
    fn guard(&self) -> &'static str {
        match self {
            Self::Vanished(_) => Freeze::VANISHING,
        }
    }

    /// The objects whose removal is thereby confirmed.
    fn removed(&self) -> BTreeSet<Key> {
        match self {
            Self::Vanished(frozen) => frozen.keys.clone(),
        }
    }
}

impl Triggers {
    /// Carries out the confirmations that stand in the store; after trouble it is tried again.
    pub async fn confirm_asked(&mut self) {
        let answered = self.answer_all().await;
        if let Err(error) = &answered {
            tracing::error!(%error, "a confirmation could not be carried out; it is tried again");
        }
        self.is_owing = answered.is_err();
    }

    async fn answer_all(&mut self) -> Result<(), StoreError> {
        for request in self.engine.store.asked_since(0).await? {
            if let Ask::Confirm { digest } = request.ask.clone() {
                self.answer(request, &digest).await?;
            }
        }
        Ok(())
    }

    async fn answer(&mut self, request: Asked, digest: &str) -> Result<(), StoreError> {
        let held = self.offer(digest);
        if held.is_none() && self.is_told_frozen(digest).await? {
            // Its guard has not looked since the start; it will be offered this again.
            return Ok(());
        }
        let removed = held.as_ref().map(Held::removed).unwrap_or_default();
        let released = held.as_ref().map(|held| held.guard().to_owned());
        let settlement = Settlement { request, released, removed };
        self.engine.store.settle(&settlement, self.engine.token()?).await?;
        let by = settlement.request.by;
        match held {
            Some(held) => {
                tracing::info!(digest, by, guard = held.guard(), "a person confirmed");
                self.release(&held);
            }
            None => tracing::warn!(digest, by, "nothing of this digest is frozen (any more)"),
        }
        Ok(())
    }

    /// Offers a digest to each guard, one after the other: this is where a confirmation meets them.
    fn offer(&self, digest: &str) -> Option<Held> {
        let vanished = self.cache.snapshot().frozen.clone();
        vanished.filter(|frozen| frozen.digest == digest).map(Held::Vanished)
    }

    fn release(&mut self, held: &Held) {
        match held {
            Held::Vanished(frozen) => {
                self.told = None;
                match self.cache.confirm(&frozen.digest) {
                    Ok(changes) => self.wake(changes.keys),
                    Err(error) => tracing::error!(%error, "a confirmed set was not released"),
                }
            }
        }
    }

    async fn is_told_frozen(&self, digest: &str) -> Result<bool, StoreError> {
        let frozen = self.engine.store.freezes().await?;
        Ok(frozen.iter().any(|freeze| freeze.digest == digest))
    }

    /// Brings what the store tells of the guard on vanishing level with what it holds.
    pub(super) async fn tell_frozen(&mut self) {
        let snapshot = self.cache.snapshot();
        let held = snapshot.frozen.as_deref();
        let is_told = match (&self.told, held) {
            (Some(told), Some(held)) => told.digest == held.digest && is_same_reason(told, held),
            (told, held) => told.is_none() && held.is_none(),
        };
        if is_told {
            return;
        }
        let freeze = held.map(|held| freeze(held, self.engine.clock.now()));
        match &freeze {
            Some(freeze) => {
                tracing::warn!(
                    reason = freeze.reason,
                    digest = freeze.digest,
                    "{}",
                    freeze.message
                );
            }
            None => tracing::info!("the vanished objects are back or confirmed"),
        }
        match self.write_frozen(freeze.as_ref()).await {
            Ok(()) => self.told = freeze,
            Err(error) => tracing::error!(%error, "people cannot see what is frozen"),
        }
    }

    async fn write_frozen(&self, freeze: Option<&Freeze>) -> Result<(), StoreError> {
        let token = self.engine.token()?;
        match freeze {
            Some(freeze) => self.engine.store.freeze(freeze, token).await,
            None => self.engine.store.thaw(Freeze::VANISHING, token).await,
        }
    }
}

fn is_same_reason(told: &Freeze, held: &Frozen) -> bool {
    told.reason == held.reason.as_str()
}

fn freeze(held: &Frozen, now: Timestamp) -> Freeze {
    let commit = held.revision.short();
    let what = match held.reason {
        FreezeReason::TooMany => format!("{} objects vanished from Git together", held.keys.len()),
        FreezeReason::NothingLeft => "no object is left in Git".to_owned(),
    };
    Freeze {
        guard: Freeze::VANISHING.to_owned(),
        digest: held.digest.clone(),
        reason: held.reason.as_str().to_owned(),
        message: format!("{what}, seen in commit {commit}; none counts as removed"),
        objects: held.keys.clone(),
        revision: Some(held.revision.clone()),
        since: now,
    }
}

#[cfg(test)]
mod tests;
