//! The store on one disk: SQLite in a file of the state directory.
//!
//! Invariants: one connection writes, in WAL mode with `synchronous=FULL`, so that a write whose
//! future is done survives the loss of power; a schema from a newer program is never touched.
//! It does not keep a second agent away: the lock on the state directory does ([`crate::lease`]).

mod open;
mod rows;

use std::path::{Path, PathBuf};

use sqlx::SqlitePool;

use super::change::Change;
use super::store::{Declared, Event, Intent, Record, Store, StoreError, StoreFuture};
use crate::model::{Key, ResourceId, Shard, Token};

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

    /// Closes the connections and folds the write-ahead log into the file.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }

    fn write<'a>(&'a self, change: Change<'a>, token: Token) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let failed = |source| self.failed(change.to_string(), source);
            let begun = self.writer.begin_with("BEGIN IMMEDIATE").await;
            let mut transaction = begun.map_err(failed)?;
            let seen = rows::see(&mut transaction, token).await.map_err(failed)?;
            if seen > token.number {
                let action = change.to_string();
                return Err(StoreError::Fenced { action, held: token, seen });
            }
            rows::apply(&mut transaction, change, token).await.map_err(failed)?;
            transaction.commit().await.map_err(failed)
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

impl Store for Sqlite {
    fn grant(&self, shard: Shard) -> StoreFuture<'_, Token> {
        self.read(move || format!("grant the right to write to {shard}"), async move {
            let mut transaction = self.writer.begin_with("BEGIN IMMEDIATE").await?;
            let number = rows::grant(&mut transaction, shard).await?;
            transaction.commit().await?;
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
        token: Token,
    ) -> StoreFuture<'a, ()> {
        self.write(Change::Put(record, events), token)
    }

    fn declare<'a>(&'a self, declared: &'a [Declared], token: Token) -> StoreFuture<'a, ()> {
        self.write(Change::Declare(declared), token)
    }

    fn remove<'a>(&'a self, key: &'a Key, token: Token) -> StoreFuture<'a, ()> {
        self.write(Change::Remove(key), token)
    }

    fn intend<'a>(&'a self, intent: &'a Intent, token: Token) -> StoreFuture<'a, ()> {
        self.write(Change::Intend(intent), token)
    }

    fn intent<'a>(&'a self, resource: &'a ResourceId) -> StoreFuture<'a, Option<Intent>> {
        let action = move || format!("read the intent for {resource}");
        self.read(action, rows::intent(&self.readers, resource))
    }

    fn intents<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Vec<Intent>> {
        self.read(move || format!("read the intents of {key}"), rows::intents(&self.readers, key))
    }

    fn resolve<'a>(&'a self, resource: &'a ResourceId, token: Token) -> StoreFuture<'a, ()> {
        self.write(Change::Resolve(resource), token)
    }

    fn history<'a>(&'a self, key: &'a Key, limit: u32) -> StoreFuture<'a, Vec<Event>> {
        let action = move || format!("read the history of {key}");
        self.read(action, rows::history(&self.readers, key, limit))
    }
}
