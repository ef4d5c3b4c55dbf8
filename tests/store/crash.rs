//! Processes that are killed while they write, and one that may not write.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use levelset::model::{Key, Shard};
use levelset::status::{Sqlite, Store};
use rand::RngExt;
use tempfile::TempDir;

use super::contract::{event, record};

const STORE: &str = "LEVELSET_TEST_CHILD_STORE";
const NAMES: [&str; 3] = ["a", "b", "c"];
const KILLS: u32 = 25;

/// Starts one test of this binary as a process of its own.
fn child(test: &str, store: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--ignored", "--nocapture", "--test-threads=1"])
        .env(STORE, store)
        .stdin(Stdio::null());
    command
}

#[expect(clippy::disallowed_methods, reason = "the parent test tells its child where the store is")]
fn store_of_parent() -> PathBuf {
    std::env::var(STORE).expect("started by another test").into()
}

#[tokio::test]
#[ignore = "the child process of another test"]
async fn writes_until_it_is_killed() {
    let store = Sqlite::open(&store_of_parent()).await.unwrap();
    let token = store.grant(Shard(0)).await.unwrap();
    let mut number = 0;
    for found in store.all().await.unwrap() {
        number = number.max(found.generation.0);
    }
    loop {
        number += 1;
        let name = NAMES[usize::try_from(number).unwrap() % NAMES.len()];
        let record = record(name, number);
        let events = [event(&record.key, i64::try_from(number).unwrap())];
        store.put(&record, &events, &[], token).await.unwrap();
        println!("{name} {number}");
    }
}

/// Lets a child write for a moment, kills it, and notes what it said was on the disk.
fn write_and_kill(store: &Path, moment: Duration, acknowledged: &mut BTreeMap<String, u64>) {
    let mut writer: Child = child("store::crash::writes_until_it_is_killed", store)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut note = |line: String| {
        let (name, number) = line.split_once(' ')?;
        let number = number.parse().ok()?;
        acknowledged.insert(name.to_owned(), number)
    };
    for line in lines.by_ref().take(6) {
        note(line.unwrap());
    }
    std::thread::sleep(moment);
    writer.kill().unwrap();
    for line in lines {
        note(line.unwrap());
    }
    writer.wait().unwrap();
}

#[tokio::test]
async fn a_kill_at_any_moment_leaves_whole_records_and_every_acknowledged_write() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("levelset.db");
    let mut acknowledged = BTreeMap::new();
    let mut random = rand::make_rng::<rand::rngs::StdRng>();
    for _ in 0..KILLS {
        let moment = Duration::from_micros(random.random_range(0..40_000));
        write_and_kill(&path, moment, &mut acknowledged);
        let store = Sqlite::open(&path).await.unwrap();
        for (name, number) in &acknowledged {
            let key = Key::workspace(name.as_str());
            let found = store.get(&key).await.unwrap().expect("an acknowledged record");
            assert_eq!(found, record(name, found.generation.0), "the record is whole");
            assert!(found.generation.0 >= *number, "{name} {number} was acknowledged");
            let newest = store.history(&key, 1).await.unwrap().remove(0);
            let second = u64::try_from(newest.at.as_second()).unwrap();
            assert_eq!(second, found.generation.0, "record and event are one write");
        }
        store.close().await;
    }
    assert!(acknowledged.values().max().is_some_and(|number| *number > u64::from(KILLS)));
}

#[tokio::test]
#[ignore = "the child process of another test"]
async fn is_refused_by_a_directory_it_may_not_write() {
    let path = store_of_parent();
    let error = Sqlite::open(&path).await.unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot open the store {}: ", path.display())), "{error}");
    assert!(error.contains("the agent's user must be able to write in it"), "{error}");
}

/// Root may write everywhere, so the child becomes somebody else.
#[test]
fn a_directory_that_may_not_be_written_is_named() {
    let folder = TempDir::new().unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o555)).unwrap();
    let path = folder.path().join("levelset.db");
    let mut command = child("store::crash::is_refused_by_a_directory_it_may_not_write", &path);
    if std::os::unix::fs::MetadataExt::uid(&std::fs::metadata("/proc/self").unwrap()) == 0 {
        // A copy of the program, because the folder that it was built in may be closed to others.
        let program = folder.path().join("program");
        std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
        command = Command::new(program);
        command.args(arguments).env(STORE, &path).current_dir("/").uid(65_534).gid(65_534);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
