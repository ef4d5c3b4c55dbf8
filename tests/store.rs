//! The SQLite store: migrations, crashes, contention; and the contract of every store.

use std::path::{Path, PathBuf};
use std::time::Duration;

use levelset::model::{Ask, Key, Shard};
use levelset::status::{InMemory, Sqlite, Store, StoreError};
use sqlx::Connection;
use sqlx::migrate::Migrator;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tempfile::TempDir;

mod contract;
mod crash;
mod outbox;

use contract::record;

fn file(folder: &TempDir) -> PathBuf {
    folder.path().join("levelset.db")
}

async fn raw(path: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    SqliteConnection::connect_with(&options).await.unwrap()
}

async fn refused(path: &Path) -> String {
    let Err(error) = Sqlite::open(path).await else { panic!("{} was opened", path.display()) };
    error.to_string()
}

#[tokio::test]
async fn the_store_in_memory_keeps_the_contract() {
    contract::check(&InMemory::new()).await;
    outbox::check(&InMemory::new()).await;
}

#[tokio::test]
async fn the_store_on_sqlite_keeps_the_contract() {
    let folder = TempDir::new().unwrap();
    contract::check(&Sqlite::open(&file(&folder)).await.unwrap()).await;
    let folder = TempDir::new().unwrap();
    outbox::check(&Sqlite::open(&file(&folder)).await.unwrap()).await;
}

#[tokio::test]
async fn what_was_written_is_there_after_reopening_and_tokens_go_on_growing() {
    let folder = TempDir::new().unwrap();
    let key = Key::workspace("a");
    let store = Sqlite::open(&file(&folder)).await.unwrap();
    let first = store.grant(Shard(0)).await.unwrap();
    store.put(&record("a", 7), &[contract::event(&key, 1)], &[], first).await.unwrap();
    store.close().await;

    let store = Sqlite::open(&file(&folder)).await.unwrap();
    assert_eq!(store.get(&key).await.unwrap(), Some(record("a", 7)));
    assert_eq!(store.history(&key, 10).await.unwrap().len(), 1);
    assert!(store.grant(Shard(0)).await.unwrap().number > first.number);
    assert!(store.put(&record("a", 8), &[], &[], first).await.is_err());
}

#[tokio::test]
async fn an_intent_that_the_first_version_wrote_is_kept() {
    let folder = TempDir::new().unwrap();
    let mut first = Migrator::new(Path::new("src/status/migrations")).await.unwrap();
    first.migrations.to_mut().truncate(1);
    let mut connection = raw(&file(&folder)).await;
    first.run(&mut connection).await.unwrap();
    let intent = "INSERT INTO intent VALUES \
        ('012345678901', 'eu-west-1', 'db_instance', 'a', 'Workspace/a', 'CreateDBInstance', 1)";
    sqlx::query(intent).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();

    let store = Sqlite::open(&file(&folder)).await.unwrap();
    let kept = store.intents(&Key::workspace("a")).await.unwrap();
    assert_eq!((kept.len(), &*kept[0].resource.name), (1, "a"));
}

#[tokio::test]
async fn a_schema_of_a_newer_version_is_left_alone() {
    let folder = TempDir::new().unwrap();
    Sqlite::open(&file(&folder)).await.unwrap().close().await;
    let mut connection = raw(&file(&folder)).await;
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
        VALUES (9999, 'of tomorrow', TRUE, x'00', 0)";
    sqlx::query(newer).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let before = std::fs::read(file(&folder)).unwrap();

    let error = refused(&file(&folder)).await;
    let expected = "it was written by a newer version of levelset; run that version or choose another state directory";
    assert!(error.ends_with(expected), "{error}");
    assert!(error.contains(&file(&folder).display().to_string()), "{error}");
    let Err(reading) = Sqlite::open_read_only(&file(&folder)).await else { panic!("opened") };
    assert!(reading.to_string().ends_with(expected), "{reading}");
    assert_eq!(std::fs::read(file(&folder)).unwrap(), before);
}

#[tokio::test]
async fn the_database_of_another_program_is_left_alone() {
    let folder = TempDir::new().unwrap();
    let mut connection = raw(&file(&folder)).await;
    sqlx::query("CREATE TABLE bookmarks (url TEXT)").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let before = std::fs::read(file(&folder)).unwrap();
    let error = refused(&file(&folder)).await;
    assert!(error.contains("it is the database of another program"), "{error}");
    assert_eq!(std::fs::read(file(&folder)).unwrap(), before);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_alone() {
    let folder = TempDir::new().unwrap();
    std::fs::write(file(&folder), "my notes, longer than a header of SQLite would be, ".repeat(9))
        .unwrap();
    let before = std::fs::read(file(&folder)).unwrap();
    let error = refused(&file(&folder)).await;
    assert!(error.contains("another program's file is in the way"), "{error}");
    assert_eq!(std::fs::read(file(&folder)).unwrap(), before);
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_named() {
    let folder = TempDir::new().unwrap();
    let error = refused(&folder.path().join("none/levelset.db")).await;
    assert!(error.contains("the directory must exist"), "{error}");
}

#[tokio::test]
async fn a_store_that_is_not_there_cannot_be_read() {
    let folder = TempDir::new().unwrap();
    let Err(error) = Sqlite::open_read_only(&file(&folder)).await else { panic!("opened") };
    assert!(error.to_string().contains("has the agent run with this state directory?"), "{error}");
    assert!(!file(&folder).exists());
}

#[tokio::test]
async fn a_reader_beside_the_agent_sees_what_it_writes_and_writes_nothing() {
    let folder = TempDir::new().unwrap();
    let agent = Sqlite::open(&file(&folder)).await.unwrap();
    let token = agent.grant(Shard(0)).await.unwrap();
    let reader = Sqlite::open_read_only(&file(&folder)).await.unwrap();
    agent.put(&record("a", 1), &[], &[], token).await.unwrap();
    assert_eq!(reader.all().await.unwrap(), [record("a", 1)]);
    let error = reader.put(&record("a", 2), &[], &[], token).await.unwrap_err().to_string();
    assert!(error.contains("it may only be read"), "{error}");
}

#[tokio::test]
async fn a_person_asks_beside_the_agent_and_it_is_there_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let agent = Sqlite::open(&file(&folder)).await.unwrap();
    let beside = Sqlite::open_beside(&file(&folder)).await.unwrap();
    let retry = Ask::Retry { object: Key::workspace("a") };
    let now = jiff::Timestamp::UNIX_EPOCH;
    beside.ask(std::slice::from_ref(&retry), "alice", now).await.unwrap();
    assert_eq!(agent.asked_since(0).await.unwrap()[0].ask, retry);
    beside.close().await;
    agent.close().await;
    let agent = Sqlite::open(&file(&folder)).await.unwrap();
    assert_eq!(agent.asked_since(0).await.unwrap()[0].ask, retry);
}

#[tokio::test]
async fn a_person_makes_no_store_and_migrates_none() {
    let folder = TempDir::new().unwrap();
    let refused = |error: StoreError| error.to_string();
    let none = Sqlite::open_beside(&file(&folder)).await.map_err(refused).unwrap_err();
    assert!(none.contains("has the agent run with this state directory?"), "{none}");
    assert!(!file(&folder).exists());
    Sqlite::open(&file(&folder)).await.unwrap().close().await;
    let mut connection = raw(&file(&folder)).await;
    let older = "DELETE FROM _sqlx_migrations \
        WHERE version = (SELECT max(version) FROM _sqlx_migrations)";
    sqlx::query(older).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let old = Sqlite::open_beside(&file(&folder)).await.map_err(refused).unwrap_err();
    assert!(old.contains("it was written by an older version of levelset"), "{old}");
}

#[tokio::test]
async fn a_write_waits_for_another_process_that_holds_the_file() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(&file(&folder)).await.unwrap();
    let token = store.grant(Shard(0)).await.unwrap();
    let mut other = raw(&file(&folder)).await;
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let record = record("a", 1);
    let write = store.put(&record, &[], &[], token);
    let held = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        sqlx::query("COMMIT").execute(&mut other).await.unwrap();
    };
    let (written, ()) = tokio::join!(write, held);
    written.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn many_writers_at_once_lose_nothing() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(&file(&folder)).await.unwrap();
    let token = store.grant(Shard(0)).await.unwrap();
    let mut writers = tokio::task::JoinSet::new();
    for number in 0..100 {
        let store = store.clone();
        writers.spawn(async move {
            let record = record(&format!("w{number:03}"), number);
            store.put(&record, &[contract::event(&record.key, 1)], &[], token).await.unwrap();
        });
    }
    writers.join_all().await;
    let names: Vec<u64> =
        store.all().await.unwrap().iter().map(|found| found.generation.0).collect();
    assert_eq!(names, (0..100).collect::<Vec<u64>>());
}

#[tokio::test]
async fn a_write_that_is_given_up_half_way_leaves_nothing_behind() {
    let folder = TempDir::new().unwrap();
    let store = Sqlite::open(&file(&folder)).await.unwrap();
    let token = store.grant(Shard(0)).await.unwrap();
    for polls in 1..30 {
        let record = record("a", polls);
        let mut write = store.put(&record, &[], &[], token);
        for _ in 0..polls {
            if futures_util::poll!(&mut write).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(write);
        let found = store.get(&record.key).await.unwrap();
        assert!(found.is_none_or(|found| found == self::record("a", found.generation.0)));
    }
    store.put(&record("a", 99), &[], &[], token).await.unwrap();
    assert_eq!(store.get(&Key::workspace("a")).await.unwrap(), Some(record("a", 99)));
}
