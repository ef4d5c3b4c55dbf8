//! Opening the file: what is found there decides what is said.

use std::path::Path;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{SqlitePool, query_scalar};

use super::Sqlite;
use crate::status::store::StoreError;

/// The schema, embedded; append to it, never change what has been released.
static MIGRATIONS: Migrator = sqlx::migrate!("src/status/migrations");

/// "LVST", set by the first migration.
const APPLICATION_ID: i64 = 0x4C56_5354;

/// How long a statement waits for another process, such as a backup, to let go of the file.
const BUSY: Duration = Duration::from_secs(10);

/// SQLite's primary result codes (<https://www.sqlite.org/rescode.html>) that a person can act on.
mod code {
    pub(super) const PERM: i32 = 3;
    pub(super) const BUSY: i32 = 5;
    pub(super) const READONLY: i32 = 8;
    pub(super) const IOERR: i32 = 10;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANTOPEN: i32 = 14;
    pub(super) const NOTADB: i32 = 26;
}

const NEWER: &str = "it was written by a newer version of levelset; run that version or choose another state directory";
const FOREIGN: &str = "it is the database of another program; choose another state directory";

/// Says why opening failed before a path is put to it.
enum Refusal {
    Database(sqlx::Error),
    Migration(MigrateError),
    Reason(&'static str),
}

impl From<sqlx::Error> for Refusal {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(error)
    }
}

pub(super) async fn for_writing(path: &Path) -> Result<Sqlite, StoreError> {
    let opened = async {
        let options = options(path).create_if_missing(true);
        let writer = pool(1).connect_with(options).await?;
        claim(&writer).await?;
        MIGRATIONS.run(&writer).await.map_err(Refusal::Migration)?;
        let readers = pool(4).connect_with(self::options(path).read_only(true)).await?;
        Ok(Sqlite { path: path.to_owned(), writer, readers })
    };
    opened.await.map_err(|refusal| error(path, &refusal))
}

pub(super) async fn for_reading(path: &Path) -> Result<Sqlite, StoreError> {
    let opened = async {
        let readers = known(path).await?;
        let writer = readers.clone();
        Ok(Sqlite { path: path.to_owned(), writer, readers })
    };
    opened.await.map_err(|refusal| error(path, &refusal))
}

pub(super) async fn for_asking(path: &Path) -> Result<Sqlite, StoreError> {
    let opened = async {
        let readers = known(path).await?;
        let writer = pool(1).connect_with(options(path)).await?;
        Ok(Sqlite { path: path.to_owned(), writer, readers })
    };
    opened.await.map_err(|refusal| error(path, &refusal))
}

/// Opens a store that is there and has the schema of this program, for reading.
async fn known(path: &Path) -> Result<SqlitePool, Refusal> {
    if !path.exists() {
        return Err(Refusal::Reason(
            "there is none yet; has the agent run with this state directory?",
        ));
    }
    let readers = pool(4).connect_with(options(path).read_only(true)).await?;
    same_schema(&readers).await?;
    Ok(readers)
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY)
}

fn pool(connections: u32) -> SqlitePoolOptions {
    // A file needs no fresh connections; a lifetime would only cost a reopen at a bad moment.
    SqlitePoolOptions::new()
        .max_connections(connections)
        .max_lifetime(None)
        .idle_timeout(None)
        .test_before_acquire(false)
        .acquire_timeout(3 * BUSY)
}

/// Makes sure that the file is empty or ours before anything of it is changed.
async fn claim(writer: &SqlitePool) -> Result<(), Refusal> {
    let id: i64 = query_scalar("PRAGMA application_id").fetch_one(writer).await?;
    let tables: i64 = query_scalar("SELECT count(*) FROM sqlite_schema").fetch_one(writer).await?;
    // The migrations' own table is made just before the first migration sets the id.
    let begun: i64 =
        query_scalar("SELECT count(*) FROM sqlite_schema WHERE tbl_name = '_sqlx_migrations'")
            .fetch_one(writer)
            .await?;
    if id != APPLICATION_ID && tables != begun {
        return Err(Refusal::Reason(FOREIGN));
    }
    let _: String = query_scalar("PRAGMA journal_mode = WAL").fetch_one(writer).await?;
    Ok(())
}

async fn same_schema(readers: &SqlitePool) -> Result<(), Refusal> {
    let id: i64 = query_scalar("PRAGMA application_id").fetch_one(readers).await?;
    if id != APPLICATION_ID {
        return Err(Refusal::Reason(FOREIGN));
    }
    let found: i64 = query_scalar("SELECT max(version) FROM _sqlx_migrations WHERE success")
        .fetch_one(readers)
        .await?;
    let known = MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or_default();
    match found.cmp(&known) {
        std::cmp::Ordering::Equal => Ok(()),
        std::cmp::Ordering::Greater => Err(Refusal::Reason(NEWER)),
        std::cmp::Ordering::Less => Err(Refusal::Reason(
            "it was written by an older version of levelset; run this version's agent once, which updates it",
        )),
    }
}

fn error(path: &Path, refusal: &Refusal) -> StoreError {
    let reason = match refusal {
        Refusal::Reason(reason) => (*reason).to_owned(),
        Refusal::Migration(MigrateError::VersionMissing(_)) => NEWER.to_owned(),
        Refusal::Migration(MigrateError::VersionMismatch(version)) => format!(
            "its schema {version} is not this version's; run the version that wrote it or choose another state directory"
        ),
        Refusal::Migration(
            MigrateError::Execute(source) | MigrateError::ExecuteMigration(source, _),
        )
        | Refusal::Database(source) => format!("{}{}", cause(source), help(source)),
        Refusal::Migration(other) => other.to_string(),
    };
    StoreError::Open { path: path.display().to_string(), reason }
}

fn cause(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        other => other.to_string(),
    }
}

/// Returns what a person can do about a database error, with its separator, or nothing.
pub(super) fn help(error: &sqlx::Error) -> &'static str {
    let sqlx::Error::Database(error) = error else { return "" };
    let Some(code) = error.code().and_then(|code| code.parse::<i32>().ok()) else { return "" };
    match code & 0xff {
        code::FULL => "; the disk is full: free space on it, the agent goes on by itself",
        code::READONLY | code::PERM => {
            "; it may only be read: let the agent's user write the file and its directory"
        }
        code::CANTOPEN => {
            "; the directory must exist and the agent's user must be able to write in it"
        }
        code::NOTADB => {
            "; another program's file is in the way: move it or choose another state directory"
        }
        code::CORRUPT => {
            "; the file is damaged: move it away, and the agent rebuilds the status from Git and AWS"
        }
        code::IOERR => "; the disk failed: look at the system's log",
        code::BUSY => "; another process holds the file: let it finish",
        _ => "",
    }
}
