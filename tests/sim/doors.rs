//! The doors through which the agent reaches the world: each takes time, may be where the agent
//! dies, and shows the checker what went through.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use levelset::model::budget::Level;
use levelset::model::cloud::CallFuture;
use levelset::model::fence::Lost;
use levelset::model::{
    Ask, Asked, Call, CallError, Clock, Cloud, Fence, Freeze, Key, ResourceId, Revision, Shard,
    Spent, Target, Token,
};
use levelset::reconcile::annals::{Annals, Last, LastWord};
use levelset::status::store::StoreFuture;
use levelset::status::{
    Declared, Event, Forgotten, Intent, Look, Page, Record, Settlement, Store, StoreError,
};
use serde_json::Value;

use super::checker::{
    Portrait, began, called, declared as declarations, forgotten, frozen, recorded, recording,
    settled,
};
use super::mutant::Mutant;
use super::world::World;

/// The door to the cloud.
pub(super) struct CloudDoor(pub(super) Arc<World>);

impl CloudDoor {
    async fn send(&self, target: &Target, call: &Call) -> Result<Value, CallError> {
        let mutant = self.0.mutant;
        if mutant.swallows(call) {
            return Ok(Value::default());
        }
        let call = mutant.call(call);
        let mut answer = self.once(target, &call).await;
        if let Some(further) = mutant.further(&call, &answer) {
            answer = self.once(target, &further).await;
        }
        mutant.answer(target, &call, answer)
    }

    async fn once(&self, target: &Target, call: &Call) -> Result<Value, CallError> {
        let world = &*self.0;
        world.point().await;
        let portrait = (!call.is_read()).then(|| Portrait::take(world, &target.scope, call));
        let answer = world.sandbox.call(target, call).await;
        called(world, portrait);
        world.point().await;
        answer
    }
}

impl Cloud for CloudDoor {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(self.send(target, call))
    }
}

/// The door to the history of the branch.
pub(super) struct AnnalsDoor(pub(super) Arc<World>);

impl Annals for AnnalsDoor {
    fn last_word<'a>(&'a self, key: &'a Key, revision: &'a Revision) -> LastWord<'a> {
        let world = &*self.0;
        Box::pin(async move {
            world.point().await;
            let is_cut = world.is_cut.load(Ordering::Relaxed);
            let commits = revision.as_str().parse().unwrap();
            let found = world.repository().last_word(key, commits).map(|(doc, number)| Last {
                deletion: doc.deletion().policy(),
                suspended: doc.annotations.holders(),
                gone_in: Revision::new(format!("{number:040}")),
            });
            world.point().await;
            if is_cut { Err("Unreachable".to_owned()) } else { Ok(found) }
        })
    }
}

/// The door to the right to write.
pub(super) struct FenceDoor(pub(super) Arc<World>);

impl Fence for FenceDoor {
    fn check(&self, needed: Duration) -> Result<Token, Lost> {
        let lease = &self.0.lease;
        match lease.last_token().filter(|_| self.0.mutant == Mutant::DeafFence) {
            Some(token) => Ok(token),
            None => lease.check(needed),
        }
    }
}

/// The time of day as the queue sees it.
pub(super) struct QueueClock(pub(super) Arc<World>);

impl Clock for QueueClock {
    fn now(&self) -> jiff::Timestamp {
        self.0.clock.now() + self.0.mutant.queue_is_ahead_by()
    }
}

/// Takes every confirmation for one of what is frozen now.
fn meant(world: &World, mut asked: Vec<Asked>) -> Vec<Asked> {
    let shown = world.freezes().pop();
    for asked in &mut asked {
        if let (Ask::Confirm { digest }, Some(freeze)) = (&mut asked.ask, &shown) {
            digest.clone_from(&freeze.digest);
        }
    }
    asked
}

/// The door to the store.
pub(super) struct StoreDoor(pub(super) Arc<World>);

impl StoreDoor {
    /// Takes an answer of the store through the door.
    async fn through<T>(
        &self,
        answer: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.0.point().await;
        let answer = answer.await;
        self.0.point().await;
        answer
    }
}

impl Store for StoreDoor {
    fn grant(&self, shard: Shard) -> StoreFuture<'_, Token> {
        self.0.store.grant(shard)
    }

    fn all(&self) -> StoreFuture<'_, Vec<Record>> {
        Box::pin(async {
            let records = self.through(self.0.store.all()).await?;
            Ok(if self.0.mutant == Mutant::Amnesia { Vec::new() } else { records })
        })
    }

    fn get<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        Box::pin(self.through(self.0.store.get(key)))
    }

    fn put<'a>(
        &'a self,
        record: &'a Record,
        events: &'a [Event],
        answered: &'a [u64],
        token: Token,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let record = self.0.mutant.record(record);
            recording(&self.0, &record, events);
            self.0.point().await;
            let answer = self.0.store.put(&record, events, answered, token).await;
            if answer.is_ok() {
                recorded(&self.0, &record.key);
            }
            self.0.point().await;
            answer
        })
    }

    fn looked<'a>(&'a self, looks: &'a [Look], token: Token) -> StoreFuture<'a, ()> {
        Box::pin(self.through(self.0.store.looked(looks, token)))
    }

    fn declare<'a>(&'a self, declared: &'a [Declared], token: Token) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.0.point().await;
            for object in declared.iter().filter(|_| self.0.mutant == Mutant::Amnesia) {
                self.0.store.remove(&object.key, token).await?;
            }
            let answer = self.0.store.declare(declared, token).await;
            if answer.is_ok() {
                declarations(&self.0, declared);
            }
            self.0.point().await;
            answer
        })
    }

    fn remove<'a>(&'a self, key: &'a Key, token: Token) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.through(self.0.store.remove(key, token)).await?;
            forgotten(&self.0, key);
            Ok(())
        })
    }

    fn forgotten(&self) -> StoreFuture<'_, Vec<Forgotten>> {
        Box::pin(self.through(self.0.store.forgotten()))
    }

    fn intend<'a>(&'a self, intent: &'a Intent, token: Token) -> StoreFuture<'a, ()> {
        if self.0.mutant == Mutant::DropsIntents {
            return Box::pin(async { Ok(()) });
        }
        Box::pin(self.through(self.0.store.intend(intent, token)))
    }

    fn intents_for<'a>(&'a self, resource: &'a ResourceId) -> StoreFuture<'a, Vec<Intent>> {
        Box::pin(self.through(self.0.store.intents_for(resource)))
    }

    fn intents<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Vec<Intent>> {
        Box::pin(self.through(self.0.store.intents(key)))
    }

    fn resolve<'a>(
        &'a self,
        key: &'a Key,
        resource: &'a ResourceId,
        token: Token,
    ) -> StoreFuture<'a, ()> {
        Box::pin(self.through(self.0.store.resolve(key, resource, token)))
    }

    fn spend<'a>(&'a self, page: &'a Page, token: Token) -> StoreFuture<'a, ()> {
        Box::pin(self.through(self.0.store.spend(page, token)))
    }

    fn spent(&self, since: jiff::Timestamp) -> StoreFuture<'_, Vec<Spent>> {
        Box::pin(self.through(self.0.store.spent(since)))
    }

    fn levels(&self) -> StoreFuture<'_, Vec<Level>> {
        Box::pin(self.through(self.0.store.levels()))
    }

    fn ask<'a>(&'a self, asks: &'a [Ask], by: &'a str, at: jiff::Timestamp) -> StoreFuture<'a, ()> {
        self.0.store.ask(asks, by, at)
    }

    fn asked_since(&self, number: u64) -> StoreFuture<'_, Vec<Asked>> {
        let mutant = self.0.mutant;
        Box::pin(async move {
            let asked = self.0.store.asked_since(number).await?;
            Ok(if mutant == Mutant::Gullible { meant(&self.0, asked) } else { asked })
        })
    }

    fn asked_of<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Vec<Asked>> {
        began(&self.0, key);
        if self.0.mutant == Mutant::Deaf {
            return Box::pin(async { Ok(Vec::new()) });
        }
        self.0.store.asked_of(key)
    }

    fn settle<'a>(&'a self, settlement: &'a Settlement, token: Token) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.through(self.0.store.settle(settlement, token)).await?;
            settled(&self.0, settlement);
            Ok(())
        })
    }

    fn freeze<'a>(&'a self, freeze: &'a Freeze, token: Token) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.through(self.0.store.freeze(freeze, token)).await?;
            frozen(&self.0);
            Ok(())
        })
    }

    fn thaw<'a>(&'a self, guard: &'a str, token: Token) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.through(self.0.store.thaw(guard, token)).await?;
            frozen(&self.0);
            Ok(())
        })
    }

    fn freezes(&self) -> StoreFuture<'_, Vec<Freeze>> {
        self.0.store.freezes()
    }

    fn history<'a>(&'a self, key: &'a Key, limit: u32) -> StoreFuture<'a, Vec<Event>> {
        Box::pin(self.through(self.0.store.history(key, limit)))
    }
}
