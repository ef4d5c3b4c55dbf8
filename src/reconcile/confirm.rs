//! Confirmations: what a guard froze is told to people, and released when they say that it is meant.
//!
//! In: what the guards hold, and the confirmations that stand in the store. Out: the store's list of
//! what is frozen, kept level with the guards, and the release of exactly the set whose digest was
//! confirmed.
//!
//! Invariant: a confirmation is written to the store before it is acted on, and its request goes in
//! the same transaction, so that a death in between neither loses nor repeats it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::mass_drift::{MASS_DRIFT, MassDrift, released};
use super::triggers::Triggers;
use crate::desired::{Change, Frozen};
use crate::model::{Ask, Asked, Difference, Freeze, Key};
use crate::status::{Settlement, StoreError};

/// Holds a set that a guard froze and a person confirmed.
enum Held {
    /// Of the guard on vanishing.
    Vanished(Arc<Frozen>),
    /// Of the guard on mass drift.
    Drifted(BTreeMap<Key, BTreeSet<Difference>>),
}

impl Held {
    fn guard(&self) -> &'static str {
        match self {
            Self::Vanished(_) => Freeze::VANISHING,
            Self::Drifted(_) => Freeze::DRIFT,
        }
    }

    /// Says what becomes of the request.
    fn settlement(&self, request: Asked) -> Settlement {
        let nothing = Settlement::of_nothing(request);
        let released = Some(self.guard().to_owned());
        match self {
            Self::Vanished(frozen) => {
                Settlement { released, removed: frozen.keys.clone(), ..nothing }
            }
            Self::Drifted(reverted) => {
                Settlement { released, reverted: reverted.clone(), ..nothing }
            }
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
        let asked = self.engine.store.asked_since(0).await?;
        for request in &asked {
            if let Ask::Confirm { digest } = &request.ask {
                self.answer(request.clone(), digest, &asked).await?;
            }
        }
        Ok(())
    }

    async fn answer(
        &mut self,
        request: Asked,
        digest: &str,
        asked: &[Asked],
    ) -> Result<(), StoreError> {
        let held = self.offer(digest, asked);
        if held.is_none() && self.is_told_frozen(digest).await? {
            // Its guard has not looked since the start; it will be offered this again.
            return Ok(());
        }
        let settlement = match &held {
            Some(held) => held.settlement(request),
            None => Settlement::of_nothing(request),
        };
        self.engine.store.settle(&settlement, self.engine.token()?).await?;
        let by = settlement.request.by;
        match held {
            Some(held) => {
                tracing::info!(digest, by, guard = held.guard(), "a person confirmed");
                self.release(&held).await;
            }
            None => tracing::warn!(digest, by, "nothing of this digest is frozen (any more)"),
        }
        Ok(())
    }

    /// Offers a digest to each guard, one after the other: this is where a confirmation meets them.
    fn offer(&self, digest: &str, asked: &[Asked]) -> Option<Held> {
        let vanished = self.cache.snapshot().frozen.clone();
        if let Some(frozen) = vanished.filter(|frozen| frozen.digest == digest) {
            return Some(Held::Vanished(frozen));
        }
        let guard = self.engine.mass_drift();
        let is_meant = !guard.frozen().is_empty() && guard.digest() == digest;
        is_meant.then(|| Held::Drifted(with_earlier(guard.frozen(), asked)))
    }

    async fn release(&mut self, held: &Held) {
        self.told.remove(held.guard());
        match held {
            Held::Vanished(frozen) => match self.cache.confirm(&frozen.digest) {
                Ok(changes) => {
                    self.persist(&changes).await;
                    self.wake(changes.keys);
                }
                Err(error) => tracing::error!(%error, "a confirmed set was not released"),
            },
            Held::Drifted(reverted) => {
                self.engine.mass_drift().release(reverted);
                self.wake(reverted.keys().map(|key| (key.clone(), Change::Frozen)).collect());
            }
        }
    }

    async fn is_told_frozen(&self, digest: &str) -> Result<bool, StoreError> {
        let frozen = self.engine.store.freezes().await?;
        Ok(frozen.iter().any(|freeze| freeze.digest == digest))
    }

    /// Brings what the store tells of the guards level with what they hold.
    ///
    /// Before the first full list they hold nothing yet, and what was told stands.
    pub async fn tell_frozen(&mut self) {
        let (snapshot, now) = (self.cache.snapshot(), self.engine.clock.now());
        if !snapshot.synced {
            return;
        }
        let vanished = snapshot.frozen.as_deref().map(|held| vanished(held, now));
        let drifted = drifted(&self.engine.mass_drift(), now);
        for (guard, freeze) in [(Freeze::VANISHING, vanished), (Freeze::DRIFT, drifted)] {
            if is_same(self.told.get(guard), freeze.as_ref()) {
                continue;
            }
            match self.write_frozen(guard, freeze.as_ref()).await {
                Ok(()) => self.tell(guard, freeze),
                Err(error) => tracing::error!(%error, guard, "people cannot see what is frozen"),
            }
        }
    }

    fn tell(&mut self, guard: &'static str, freeze: Option<Freeze>) {
        match &freeze {
            Some(it) => {
                tracing::warn!(guard, reason = it.reason, digest = it.digest, "{}", it.message);
            }
            None => tracing::info!(guard, "nothing is frozen any more"),
        }
        self.told.remove(guard);
        self.told.extend(freeze.map(|freeze| (guard.to_owned(), freeze)));
    }

    async fn write_frozen(&self, guard: &str, freeze: Option<&Freeze>) -> Result<(), StoreError> {
        let token = self.engine.token()?;
        match freeze {
            Some(freeze) => self.engine.store.freeze(freeze, token).await,
            None => self.engine.store.thaw(guard, token).await,
        }
    }
}

fn is_same(told: Option<&Freeze>, held: Option<&Freeze>) -> bool {
    let name = |freeze: &Freeze| (freeze.digest.clone(), freeze.reason.clone());
    told.map(name) == held.map(name)
}

/// An object has one word about its drift: a later one says again what is not done yet.
fn with_earlier(
    frozen: &BTreeMap<Key, BTreeSet<Difference>>,
    asked: &[Asked],
) -> BTreeMap<Key, BTreeSet<Difference>> {
    let of = |key: &Key| released(asked.iter().filter(|it| it.ask.object() == Some(key)));
    frozen.iter().map(|(key, differences)| (key.clone(), differences | &of(key))).collect()
}

fn vanished(held: &Frozen, now: Timestamp) -> Freeze {
    Freeze {
        guard: Freeze::VANISHING.to_owned(),
        digest: held.digest.clone(),
        reason: held.reason.as_str().to_owned(),
        message: held.told(),
        objects: held.keys.clone(),
        revision: Some(held.revision.clone()),
        since: now,
    }
}

fn drifted(held: &MassDrift, now: Timestamp) -> Option<Freeze> {
    let objects: BTreeSet<Key> = held.frozen().keys().cloned().collect();
    (!objects.is_empty()).then(|| Freeze {
        guard: Freeze::DRIFT.to_owned(),
        digest: held.digest().to_owned(),
        reason: MASS_DRIFT.to_owned(),
        message: held.told(),
        objects,
        revision: None,
        since: now,
    })
}

#[cfg(test)]
mod tests;
