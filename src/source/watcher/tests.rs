//! The triggers on paused time, with a fetcher without processes.

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use rand::SeedableRng as _;
use sha2::Sha256;
use tokio::task::JoinHandle;

use super::*;
use crate::forge::webhook::{Followed, Receiver, Secrets};
use crate::model::webhook::{Bell, Host, Receipt, Webhook, Webhooks as _};
use crate::source::testing::{Broken, DirectFetcher, World, location};

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

struct Running {
    world: World,
    fetcher: DirectFetcher,
    watched: Watched,
    cancel: CancellationToken,
    task: JoinHandle<()>,
}

fn start(world: World) -> Running {
    let fetcher = world.fetcher();
    let (engine, watched) = Engine::new(
        fetcher.clone(),
        location(""),
        world.access.clone(),
        Pace::default(),
        Arc::new(Fixed),
        StdRng::seed_from_u64(7),
    );
    let cancel = CancellationToken::new();
    #[expect(clippy::disallowed_methods, reason = "the test awaits the task itself")]
    let task = tokio::spawn(engine.run(cancel.clone()));
    Running { world, fetcher, watched, cancel, task }
}

/// Starts on a repository with one file and takes the first delivery.
async fn started() -> Running {
    let world = World::new();
    world.commit(&[("a.yaml", Some("1"))]);
    let mut running = start(world);
    assert!(running.watched.changes.recv().await.unwrap().full);
    running
}

impl Running {
    async fn next(&mut self) -> ChangeSet {
        self.watched.changes.recv().await.unwrap()
    }

    fn trouble(&self) -> Option<String> {
        self.watched.health.borrow().trouble.clone().map(|(code, _)| code)
    }
}

async fn minutes(count: u64) {
    tokio::time::sleep(Duration::from_secs(60 * count)).await;
}

#[tokio::test(start_paused = true)]
async fn the_first_delivery_is_the_whole_folder_and_the_next_only_what_changed() {
    let world = World::new();
    world.commit(&[("a.yaml", Some("1")), ("b/c.yaml", Some("2")), ("b/d.txt", Some("3"))]);
    let mut running = start(world);
    let first = running.next().await;
    assert!(first.full);
    assert_eq!(first.changed.keys().map(AsRef::as_ref).collect::<Vec<_>>(), ["a.yaml", "b/c.yaml"]);
    let commit = running.world.commit(&[("a.yaml", None), ("b/c.yaml", Some("4"))]);
    running.watched.poke.poke();
    let second = running.next().await;
    assert!(!second.full);
    assert_eq!(second.revision.as_str(), commit.to_string());
    assert_eq!(second.changed.keys().map(AsRef::as_ref).collect::<Vec<_>>(), ["b/c.yaml"]);
    assert_eq!(second.removed, [Arc::from("a.yaml")]);
}

#[tokio::test(start_paused = true)]
async fn a_thousand_pokes_lead_to_at_most_two_fetches() {
    let running = started().await;
    tokio::task::yield_now().await;
    let before = running.fetcher.count();
    for _ in 0..1000 {
        running.watched.poke.poke();
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_secs(30)).await;
    let fetches = running.fetcher.count() - before;
    assert!((1..=2).contains(&fetches), "{fetches}");
}

/// Rings a watcher.
struct Ringing(Poke);

impl Bell for Ringing {
    fn branch(&self) {
        self.0.poke();
    }

    fn pull_request(&self, _: u64) {
        panic!("a push is no pull request");
    }
}

/// Returns the signature of GitHub.
fn signature(key: &[u8], body: &[u8]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(body);
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_webhooks_lead_to_one_fetch_at_a_time_and_at_most_one_that_waits() {
    let running = started().await;
    let secrets = Secrets::new(["k".into()]).unwrap();
    let followed = Followed::new(Some("acme/environments"), Some("main"));
    let bell = Arc::new(Ringing(running.watched.poke.clone()));
    let receiver = Receiver::new([(Host::GitHub, secrets)].into(), followed, bell, Arc::new(Fixed));
    let body = br#"{"ref":"refs/heads/main","repository":{"full_name":"acme/environments"}}"#;
    let signature = signature(b"k", body);
    running.fetcher.set_broken(Some(Broken::Slow));
    minutes(1).await;
    let before = running.fetcher.count();
    let begin = Instant::now();
    for number in 0..10_000 {
        let delivery = number.to_string();
        let headers = vec![
            ("x-github-event", "push"),
            ("x-github-delivery", &delivery),
            ("x-hub-signature-256", &signature),
        ];
        let webhook = Webhook { host: Host::GitHub, headers, body };
        assert_eq!(receiver.receive(&webhook), Receipt::Woken);
        // Ten seconds in all: the fetches go on beside.
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let lasted = begin.elapsed();
    let meanwhile = running.fetcher.count() - before;
    assert!((2..=4).contains(&meanwhile), "{meanwhile} fetches of three seconds in {lasted:?}");
    tokio::time::sleep(Duration::from_secs(30)).await;
    let fetches = running.fetcher.count() - before;
    assert!(fetches <= meanwhile + 2, "{fetches}: one waits at most, and a poll may come");
    assert_eq!(running.fetcher.most_at_once(), 1);
}

#[tokio::test(start_paused = true)]
async fn without_triggers_it_polls_once_a_minute() {
    let running = started().await;
    minutes(15).await;
    let polls = running.fetcher.count() - 1;
    assert!((13..=17).contains(&polls), "{polls}");
}

#[tokio::test(start_paused = true)]
async fn a_relist_delivers_the_whole_folder_though_nothing_changed() {
    let mut running = started().await;
    let begin = Instant::now();
    let relist = running.next().await;
    assert!(relist.full && relist.removed.is_empty());
    assert_eq!(relist.changed.len(), 1);
    let after = begin.elapsed().as_secs() / 60;
    assert!((18..=22).contains(&after), "{after} minutes");
}

#[tokio::test(start_paused = true)]
async fn a_relist_comes_although_pokes_never_stop() {
    let mut running = started().await;
    let poke = running.watched.poke.clone();
    #[expect(clippy::disallowed_methods, reason = "the test aborts the task itself")]
    let storm = tokio::spawn(async move {
        loop {
            poke.poke();
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    });
    assert!(tokio::time::timeout(Duration::from_secs(23 * 60), running.next()).await.unwrap().full);
    storm.abort();
}

#[tokio::test(start_paused = true)]
async fn failures_are_reported_wait_longer_each_time_and_lose_nothing() {
    let mut running = started().await;
    running.fetcher.set_broken(Some(Broken::Fails));
    running.world.commit(&[("b.yaml", Some("2"))]);
    minutes(30).await;
    let fetches = running.fetcher.count();
    assert!(fetches < 25, "{fetches} fetches in 30 minutes of failure");
    assert_eq!(running.trouble().as_deref(), Some("ServerError"));
    assert!(running.watched.changes.try_recv().is_err());
    running.fetcher.set_broken(None);
    // The re-list is overdue, so that the first reading that works is a full one.
    let recovered = running.next().await;
    assert!(recovered.full && recovered.changed.len() == 2);
    minutes(1).await;
    assert_eq!(running.trouble(), None);
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_pokes_does_not_hammer_a_server_that_is_down() {
    let running = started().await;
    running.fetcher.set_broken(Some(Broken::Fails));
    minutes(10).await;
    let before = running.fetcher.count();
    for _ in 0..600 {
        running.watched.poke.poke();
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let fetches = running.fetcher.count() - before;
    assert!((5..=12).contains(&fetches), "{fetches} fetches in 10 minutes");
}

#[tokio::test(start_paused = true)]
async fn an_emptied_folder_is_trouble_and_removes_nothing() {
    let mut running = started().await;
    running.world.commit(&[("a.yaml", None), ("README", Some("x"))]);
    minutes(2).await;
    assert_eq!(running.trouble().as_deref(), Some("FolderEmpty"));
    assert!(running.watched.changes.try_recv().is_err());
    assert!(running.watched.health.borrow().revision.is_some());
    running.world.commit(&[("b.yaml", Some("1"))]);
    let next = running.next().await;
    assert_eq!(next.removed, [Arc::from("a.yaml")]);
}

#[tokio::test(start_paused = true)]
async fn a_receiver_that_is_slow_gets_every_change_set_in_order() {
    let mut running = started().await;
    for n in 0..CHANNEL + 3 {
        running.world.commit(&[(&format!("n{n}.yaml"), Some("x"))]);
        running.watched.poke.poke();
        minutes(2).await;
    }
    let mut seen = std::collections::BTreeSet::new();
    for _ in 0..CHANNEL + 3 {
        let Ok(changes) = tokio::time::timeout(Duration::from_secs(120), running.next()).await
        else {
            break;
        };
        seen.extend(changes.changed.into_keys());
    }
    assert_eq!(seen.len(), CHANNEL + 3);
}

#[tokio::test(start_paused = true)]
async fn it_ends_when_it_is_cancelled_in_the_middle_of_a_fetch() {
    let running = started().await;
    running.fetcher.set_broken(Some(Broken::Hangs));
    minutes(5).await;
    running.cancel.cancel();
    running.task.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn it_ends_when_nobody_takes_the_change_sets() {
    let running = started().await;
    drop(running.watched.changes);
    running.world.commit(&[("a.yaml", Some("2"))]);
    running.task.await.unwrap();
}
