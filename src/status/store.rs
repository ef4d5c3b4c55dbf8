//! The port to the store, and what is kept in it.

use std::future::Future;
use std::pin::Pin;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::status::Memory;
use crate::model::{Generation, Key, ObjectStatus, ResourceId, Shard, Token};

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
    /// What is told about it.
    pub status: ObjectStatus,
    /// What the next pass has to know.
    pub memory: Memory,
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

/// Keeps records, intents and events across restarts.
///
/// Every write is one transaction that is on the disk when its future is done. It carries the
/// fencing token of the writer and is refused when a later token has been seen for its shard.
pub trait Store: Send + Sync {
    /// Grants the right to write to a shard, and thereby ends every earlier grant.
    ///
    /// The number is higher than every number that the store has seen for any shard.
    fn grant(&self, shard: Shard) -> StoreFuture<'_, Token>;

    /// Returns every record, ordered by key.
    fn all(&self) -> StoreFuture<'_, Vec<Record>>;

    /// Returns the record of one object.
    fn get<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Option<Record>>;

    /// Writes a record, and the events that led to it.
    ///
    /// A pass may end after a newer generation than its own has been declared: then generation and
    /// digest stay as declared, and the status and memory of the pass are written.
    ///
    /// Of an object, the newest [`HISTORY_PER_OBJECT`] events stay; events older than
    /// [`HISTORY_DAYS`] before the newest one given go, whatever object they belong to.
    fn put<'a>(
        &'a self,
        record: &'a Record,
        events: &'a [Event],
        token: Token,
    ) -> StoreFuture<'a, ()>;

    /// Writes the generations of objects, all or none; their status and memory stay as they are.
    fn declare<'a>(&'a self, declared: &'a [Declared], token: Token) -> StoreFuture<'a, ()>;

    /// Forgets an object: its record and its intents, not its history.
    fn remove<'a>(&'a self, key: &'a Key, token: Token) -> StoreFuture<'a, ()>;

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

    /// Forgets the failures of an object, so that its next pass tries again; tells whether it is
    /// known. A person asks for it, beside the agent, so it carries no token.
    fn retry<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, bool>;

    /// Returns the newest events of an object, newest first.
    fn history<'a>(&'a self, key: &'a Key, limit: u32) -> StoreFuture<'a, Vec<Event>>;
}
