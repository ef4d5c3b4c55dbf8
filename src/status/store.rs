//! The port to the store, and what is kept in it.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::spending::Page;
use crate::model::budget::Level;
use crate::model::policy::DeletionPolicy;
use crate::model::status::Memory;
use crate::model::{
    Ask, Asked, Difference, Freeze, Generation, Key, ObjectStatus, ResourceId, Shard, Spent, Token,
};

/// How many events of one object are kept: the newest ones.
pub const HISTORY_PER_OBJECT: u32 = 200;

/// How long an event is kept, in days, counted back from the newest event that is written.
pub const HISTORY_DAYS: i64 = 90;

/// Holds everything that is kept about one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The object.
    pub key: Key,
    /// How often its spec has changed.
    pub generation: Generation,
    /// The digest of the spec that this generation stands for.
    pub digest: String,
    /// What this generation says about deletion.
    pub deletion: DeletionPolicy,
    /// What is told about it.
    pub status: ObjectStatus,
    /// What the next pass has to know.
    pub memory: Memory,
}

impl Record {
    /// Tells whether two records say the same but for when a pass ended and when the next one is due.
    pub fn is_same_but_for_times(&self, other: &Self) -> bool {
        let Self { key, generation, digest, deletion, status, memory } = self;
        let is_same_object = *key == other.key
            && *generation == other.generation
            && *digest == other.digest
            && *deletion == other.deletion;
        is_same_object
            && status.is_same_but_for_times(&other.status)
            && memory.is_same_but_for_times(&other.memory)
    }

    /// Takes over the times of a later look.
    pub(super) fn looked(&mut self, look: &Look) {
        if self.status.last_reconciled_time.is_some_and(|at| at < look.at) {
            self.status.last_reconciled_time = Some(look.at);
            self.status.last_converged_time = Some(look.at);
            self.status.next_run_time = look.next_run;
            self.memory.not_before = Some(look.not_before);
        }
    }
}

/// Says that a pass found an object as declared and as its record says: only the times are new.
///
/// They are kept to the millisecond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The object.
    pub key: Key,
    /// When the pass ended.
    pub at: Timestamp,
    /// When the next one is due.
    pub next_run: Option<Timestamp>,
    /// Not before this time may the object be worked on, whatever wakes it.
    pub not_before: Timestamp,
}

impl Look {
    /// Takes the times of a record.
    pub fn of(record: &Record) -> Self {
        let at = record.status.last_reconciled_time.unwrap_or_default();
        Self {
            key: record.key.clone(),
            at,
            next_run: record.status.next_run_time,
            not_before: record.memory.not_before.unwrap_or(at),
        }
    }
}

/// Holds the generation of an object, written when Git declares it and before it is worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declared {
    /// The object.
    pub key: Key,
    /// How often its spec has changed.
    pub generation: Generation,
    /// The digest of the spec that this generation stands for.
    pub digest: String,
    /// What this generation says about deletion.
    pub deletion: DeletionPolicy,
}

/// Remembers how far the generations of a removed object had come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forgotten {
    /// The object.
    pub key: Key,
    /// The last generation that it had; should it return, its next one is higher.
    pub generation: Generation,
}

/// Records that a create is about to be sent, so that a crash cannot make a second one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intent {
    /// The object.
    pub key: Key,
    /// The resource that is to be made.
    pub resource: ResourceId,
    /// The operation.
    pub operation: String,
    /// What Git said about the deletion of the resource when it was about to be made.
    #[serde(default)]
    pub deletion: DeletionPolicy,
    /// When it was recorded, kept to the millisecond.
    pub at: Timestamp,
}

/// Records something that happened to an object, for `levelset history`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// The object.
    pub key: Key,
    /// When it happened, kept to the millisecond.
    pub at: Timestamp,
    /// One word: `Created`, `Updated`, `Reverted`, `Drifted`, `Converged`, `Refused`, `Failed`, ...
    pub reason: String,
    /// A sentence for people.
    pub message: String,
}

/// Says what became of a confirmation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settlement {
    /// The request, which is thereby done with.
    pub request: Asked,
    /// The guard whose set is released; `None` when no guard holds a set of this digest.
    pub released: Option<String>,
    /// The objects whose removal is confirmed from now on.
    pub removed: BTreeSet<Key>,
    /// The drift that is reverted from now on.
    pub reverted: BTreeMap<Key, BTreeSet<Difference>>,
}

impl Settlement {
    /// Makes the settlement of a request by which nothing is released.
    pub fn of_nothing(request: Asked) -> Self {
        Self { request, released: None, removed: BTreeSet::new(), reverted: BTreeMap::new() }
    }

    /// Returns the levels that follow from it.
    pub(super) fn levels(&self) -> Vec<Ask> {
        let Ask::Confirm { digest } = &self.request.ask else { return Vec::new() };
        let remove = |object: &Key| Ask::Remove { object: object.clone(), digest: digest.clone() };
        let revert = |(object, differences): (&Key, &BTreeSet<Difference>)| Ask::Revert {
            object: object.clone(),
            differences: differences.clone(),
            digest: digest.clone(),
        };
        self.removed.iter().map(remove).chain(self.reverted.iter().map(revert)).collect()
    }
}

/// Says why the store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be opened as it is.
    #[error("cannot open the store {path}: {reason}")]
    Open {
        /// Where it is.
        path: String,
        /// Why, and what to do.
        reason: String,
    },
    /// A read or write failed.
    #[error("cannot {action} in the store {path}{help}")]
    Query {
        /// What was attempted, on which object.
        action: String,
        /// Where the store is.
        path: String,
        /// What to do, with its separator; empty where the cause says enough.
        help: &'static str,
        /// What the database said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The right to write is not held; nothing was written.
    #[error("nothing was written: {0}")]
    Withheld(String),
    /// The write carries a token that has been overtaken; nothing was written.
    #[error(
        "cannot {action}: another agent took over {shard} with token {seen}, after our token {held}",
        shard = held.shard, held = held.number
    )]
    Fenced {
        /// What was attempted, on which object.
        action: String,
        /// The token that was carried.
        held: Token,
        /// The number of the newest token.
        seen: u64,
    },
}

/// The future of an answer of the store.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// Keeps records, intents, events, what guards froze and what people ask, across restarts.
///
/// Every write is one transaction that is on the disk when its future is done. It carries the
/// fencing token of the writer and is refused when a later token has been seen for its shard; what
/// a person writes beside the agent ([`Store::ask`]) carries none and changes nothing of the agent's.
pub trait Store: Send + Sync {
    /// Grants the right to write to a shard, and thereby ends every earlier grant.
    ///
    /// The number is higher than every number that the store has seen for any shard.
    fn grant(&self, shard: Shard) -> StoreFuture<'_, Token>;

    /// Returns every record, ordered by key.
    fn all(&self) -> StoreFuture<'_, Vec<Record>>;

    /// Returns the record of one object.
    fn get<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Option<Record>>;

    /// Writes a record and the events that led to it, and removes what people asked and the pass
    /// carried out, by its numbers. What was asked since then has another number and stays.
    ///
    /// A pass may end after a newer generation than its own has been declared: then generation,
    /// digest and deletion policy stay as declared, and the status and memory of the pass are written.
    ///
    /// Of an object, the newest [`HISTORY_PER_OBJECT`] events stay; events older than
    /// [`HISTORY_DAYS`] before the newest one given go, whatever object they belong to.
    fn put<'a>(
        &'a self,
        record: &'a Record,
        events: &'a [Event],
        answered: &'a [u64],
        token: Token,
    ) -> StoreFuture<'a, ()>;

    /// Writes looks, all or none. Nothing is written of an object without a record, or whose record
    /// is of a later pass.
    fn looked<'a>(&'a self, looks: &'a [Look], token: Token) -> StoreFuture<'a, ()>;

    /// Writes the generations of objects, all or none; their status and memory stay as they are, but
    /// that they are not removed (any more); a generation that is newer stays too.
    fn declare<'a>(&'a self, declared: &'a [Declared], token: Token) -> StoreFuture<'a, ()>;

    /// Forgets an object: its record, its intents and what was asked of it, not its history and not
    /// its generation.
    fn remove<'a>(&'a self, key: &'a Key, token: Token) -> StoreFuture<'a, ()>;

    /// Returns the last generation of every object that was ever forgotten, ordered by key.
    fn forgotten(&self) -> StoreFuture<'_, Vec<Forgotten>>;

    /// Records an intent; an object holds at most one per resource, the latest.
    fn intend<'a>(&'a self, intent: &'a Intent, token: Token) -> StoreFuture<'a, ()>;

    /// Returns the unresolved intents of every object for a resource, ordered by object.
    fn intents_for<'a>(&'a self, resource: &'a ResourceId) -> StoreFuture<'a, Vec<Intent>>;

    /// Returns the unresolved intents of an object, ordered by resource.
    fn intents<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Vec<Intent>>;

    /// Resolves the intent of an object for a resource: it has been read, or certainly not made.
    /// The intents of others for the same resource stay.
    fn resolve<'a>(
        &'a self,
        key: &'a Key,
        resource: &'a ResourceId,
        token: Token,
    ) -> StoreFuture<'a, ()>;

    /// Writes what calls were spent on; what is older than a day is dropped.
    fn spend<'a>(&'a self, page: &'a Page, token: Token) -> StoreFuture<'a, ()>;

    /// Returns what calls were spent on since a time, summed up, ordered by place, operation and
    /// cause. What is older than an hour is kept by the hour, and counts when all of its hour does.
    fn spent(&self, since: Timestamp) -> StoreFuture<'_, Vec<Spent>>;

    /// Returns how the buckets stood when they were last written, ordered by place and service.
    fn levels(&self) -> StoreFuture<'_, Vec<Level>>;

    /// Writes what a person asks, all or none; the same of the same subject is replaced, and what
    /// it lifts goes.
    fn ask<'a>(&'a self, asks: &'a [Ask], by: &'a str, at: Timestamp) -> StoreFuture<'a, ()>;

    /// Returns what was asked since a number and still stands, in the order of the numbers.
    fn asked_since(&self, number: u64) -> StoreFuture<'_, Vec<Asked>>;

    /// Returns what is asked of one object, in the order of the numbers.
    fn asked_of<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Vec<Asked>>;

    /// Writes what became of a confirmation.
    fn settle<'a>(&'a self, settlement: &'a Settlement, token: Token) -> StoreFuture<'a, ()>;

    /// Writes what a guard freezes, in the place of what it froze before.
    fn freeze<'a>(&'a self, freeze: &'a Freeze, token: Token) -> StoreFuture<'a, ()>;

    /// Notes that a guard freezes nothing.
    fn thaw<'a>(&'a self, guard: &'a str, token: Token) -> StoreFuture<'a, ()>;

    /// Returns what is frozen, ordered by guard.
    fn freezes(&self) -> StoreFuture<'_, Vec<Freeze>>;

    /// Returns the newest events of an object, newest first.
    fn history<'a>(&'a self, key: &'a Key, limit: u32) -> StoreFuture<'a, Vec<Event>>;
}
