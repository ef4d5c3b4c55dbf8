//! The store on one disk: SQLite in a file of the state directory.
//!
//! Invariants: one connection writes, in WAL mode with `synchronous=FULL`, so that a write whose
//! future is done survives the loss of power; a schema from a newer program is never touched.
//! It does not keep a second agent away: the lock on the state directory does ([`crate::lease`]).

mod asked;
mod looks;
mod open;
mod outbox;
mod rows;
mod spending;

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use sqlx::pool::PoolConnection;
use sqlx::{Sqlite as Driver, SqlitePool};

use super::change::Change;
use super::spending::Page;
use super::store::{
    Declared, Event, Forgotten, Intent, Look, Record, Settlement, Store, StoreError, StoreFuture,
};
use crate::model::budget::Level;
use crate::model::{Ask, Asked, Freeze, Key, ResourceId, Shard, Spent, Token};

/// Keeps everything in one SQLite file.
///
/// Cloning shares the connections.
#[derive(Debug, Clone)]
pub struct Sqlite {
    path: PathBuf,
    /// One connection, so that writers queue in the program and not at the file's lock.
    writer: SqlitePool,
    readers: SqlitePool,
}

impl Sqlite {
    /// Opens the store at `path` for reading and writing; makes the file and its tables as needed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Open`], whose reason says what to do.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        open::for_writing(path).await
    }

    /// Opens the store of an agent, running or not, for reading alone; every write fails.
    ///
    /// # Errors
    ///
    /// [`StoreError::Open`] when there is no store, or its schema is not this program's.
    pub async fn open_read_only(path: &Path) -> Result<Self, StoreError> {
        open::for_reading(path).await
    }

    /// Opens the store of an agent, running or not, for a person who asks something of it; makes
    /// nothing and migrates nothing, so that a running agent keeps the schema that it knows.
    ///
    /// # Errors
    ///
    /// [`StoreError::Open`] when there is no store, or its schema is not this program's.
    pub async fn open_beside(path: &Path) -> Result<Self, StoreError> {
        open::for_asking(path).await
    }

    /// Closes the connections and folds the write-ahead log into the file.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    fn write<'a>(&'a self, change: Change<'a>, token: Token) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let written = async {
                let mut connection = self.writer.acquire().await?;
                let written = rows::write(&mut connection, change, token).await;
                keep(connection, written).await
            };
            let action = || change.to_string();
            match written.await.map_err(|source| self.failed(action(), source))? {
                Ok(()) => Ok(()),
                Err(seen) => Err(StoreError::Fenced { action: action(), held: token, seen }),
            }
        })
    }

    fn read<'a, T: Send + 'a>(
        &'a self,
        action: impl Fn() -> String + Send + 'a,
        rows: impl Future<Output = Result<T, sqlx::Error>> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move { rows.await.map_err(|source| self.failed(action(), source)) })
    }

    fn failed(&self, action: String, source: sqlx::Error) -> StoreError {
        StoreError::Query {
            action,
            path: self.path.display().to_string(),
            help: open::help(&source),
            source: Box::new(source),
        }
    }
}

/// Gives a connection back to its pool, or closes it when it failed.
///
/// Of some errors, such as a full disk, SQLite rolls back by itself; the driver does not notice and
/// would take every later transaction for one inside the lost one.
async fn keep<T>(
    connection: PoolConnection<Driver>,
    result: Result<T, sqlx::Error>,
) -> Result<T, sqlx::Error> {
    if result.is_err() {
        // The error that is told is the one that came first.
        let _ = connection.close().await;
    }
    result
}

impl Store for Sqlite {
    fn grant(&self, shard: Shard) -> StoreFuture<'_, Token> {
        self.read(move || format!("grant the right to write to {shard}"), async move {
            let mut connection = self.writer.acquire().await?;
            let granted = rows::grant(&mut connection, shard).await;
            let number = keep(connection, granted).await?;
            Ok(Token { shard, number })
        })
    }

    fn all(&self) -> StoreFuture<'_, Vec<Record>> {
        self.read(|| "read every record".to_owned(), rows::all(&self.readers))
    }

    fn get<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        self.read(move || format!("read the record of {key}"), rows::get(&self.readers, key))
    }

    fn put<'a>(
        &'a self,
        record: &'a Record,
        events: &'a [Event],
        answered: &'a [u64],
        token: Token,
    ) -> StoreFuture<'a, ()> {
        self.write(Change::Put(record, events, answered), token)
    }

    fn looked<'a>(&'a self, looks: &'a [Look], token: Token) -> StoreFuture<'a, ()> {
        self.write(Change::Looked(looks), token)
    }

    fn declare<'a>(&'a self, declared: &'a [Declared], token: Token) -> StoreFuture<'a, ()> {
        self.write(Change::Declare(declared), token)
    }

    fn remove<'a>(&'a self, key: &'a Key, token: Token) -> StoreFuture<'a, ()> {
        self.write(Change::Remove(key), token)
    }

    fn forgotten(&self) -> StoreFuture<'_, Vec<Forgotten>> {
        let action = || "read the generations of forgotten objects".to_owned();
        self.read(action, rows::forgotten(&self.readers))
    }

    fn intend<'a>(&'a self, intent: &'a Intent, token: Token) -> StoreFuture<'a, ()> {
        self.write(Change::Intend(intent), token)
    }

    fn intents_for<'a>(&'a self, resource: &'a ResourceId) -> StoreFuture<'a, Vec<Intent>> {
        let action = move || format!("read the intents for {resource}");
        self.read(action, rows::intents_for(&self.readers, resource))
    }

    fn intents<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Vec<Intent>> {
        self.read(move || format!("read the intents of {key}"), rows::intents(&self.readers, key))
    }

    fn resolve<'a>(
        &'a self,
        key: &'a Key,
        resource: &'a ResourceId,
        token: Token,
    ) -> StoreFuture<'a, ()> {
        self.write(Change::Resolve(key, resource), token)
    }

    fn spend<'a>(&'a self, page: &'a Page, token: Token) -> StoreFuture<'a, ()> {
        self.write(Change::Spend(page), token)
    }

    fn spent(&self, since: Timestamp) -> StoreFuture<'_, Vec<Spent>> {
        let action = || "read what calls were spent on".to_owned();
        self.read(action, spending::since(&self.readers, since))
    }

    fn levels(&self) -> StoreFuture<'_, Vec<Level>> {
        let action = || "read how full the API budgets are".to_owned();
        self.read(action, spending::levels(&self.readers))
    }

    fn ask<'a>(&'a self, asks: &'a [Ask], by: &'a str, at: Timestamp) -> StoreFuture<'a, ()> {
        let action = || "record what is asked".to_owned();
        self.read(action, async move {
            let mut connection = self.writer.acquire().await?;
            let asked = asked::ask(&mut connection, asks, by, at).await;
            keep(connection, asked).await
        })
    }

    fn asked_since(&self, number: u64) -> StoreFuture<'_, Vec<Asked>> {
        let action = || "read what is asked".to_owned();
        self.read(action, asked::since(&self.readers, number))
    }

    fn asked_of<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Vec<Asked>> {
        let action = move || format!("read what is asked of {key}");
        self.read(action, asked::of(&self.readers, key))
    }

    fn settle<'a>(&'a self, settlement: &'a Settlement, token: Token) -> StoreFuture<'a, ()> {
        self.write(Change::Settle(settlement), token)
    }

    fn freeze<'a>(&'a self, freeze: &'a Freeze, token: Token) -> StoreFuture<'a, ()> {
        self.write(Change::Freeze(freeze), token)
    }

    fn thaw<'a>(&'a self, guard: &'a str, token: Token) -> StoreFuture<'a, ()> {
        self.write(Change::Thaw(guard), token)
    }

    fn freezes(&self) -> StoreFuture<'_, Vec<Freeze>> {
        self.read(|| "read what is frozen".to_owned(), asked::freezes(&self.readers))
    }

    fn history<'a>(&'a self, key: &'a Key, limit: u32) -> StoreFuture<'a, Vec<Event>> {
        let action = move || format!("read the history of {key}");
        self.read(action, rows::history(&self.readers, key, limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::policy::DeletionPolicy;
    use crate::model::status::Memory;
    use crate::model::{Generation, ObjectStatus};

    fn record(digest: String) -> Record {
        Record {
            key: Key::workspace("a"),
            generation: Generation(1),
            digest,
            deletion: DeletionPolicy::Retain,
            status: ObjectStatus::default(),
            memory: Memory::default(),
        }
    }

    #[tokio::test]
    async fn a_full_disk_is_named_and_the_store_goes_on_when_there_is_space() {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(&folder.path().join("levelset.db")).await.unwrap();
        let token = store.grant(Shard(0)).await.unwrap();
        let limit = |pages: &'static str| sqlx::query(pages).execute(&store.writer);
        limit("PRAGMA max_page_count = 1").await.unwrap();
        let large = record("x".repeat(1 << 20));
        let error = store.put(&large, &[], &[], token).await.unwrap_err().to_string();
        assert!(
            error.starts_with("cannot write the record of Workspace/a in the store"),
            "{error}"
        );
        assert!(error.ends_with("the disk is full: free space on it, the agent goes on by itself"));
        limit("PRAGMA max_page_count = 100000").await.unwrap();
        store.put(&large, &[], &[], token).await.unwrap();
        assert_eq!(store.get(&large.key).await.unwrap(), Some(large));
    }

    #[tokio::test]
    async fn every_write_waits_for_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let store = Sqlite::open(&folder.path().join("levelset.db")).await.unwrap();
        let pragma = |text: &'static str| sqlx::query_scalar(text).fetch_one(&store.writer);
        let synchronous: i64 = pragma("PRAGMA synchronous").await.unwrap();
        assert_eq!(synchronous, 2, "2 is FULL");
        let journal: String =
            sqlx::query_scalar("PRAGMA journal_mode").fetch_one(&store.writer).await.unwrap();
        assert_eq!(journal, "wal");
    }
}
