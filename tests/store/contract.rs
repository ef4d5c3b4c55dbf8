//! What every store has to do, whatever it is made of.

use std::collections::{BTreeMap, BTreeSet};
use std::slice;

use jiff::{SignedDuration, Timestamp};
use levelset::model::budget::{Count, Fill, Level};
use levelset::model::policy::DeletionPolicy;
use levelset::model::status::{Memory, ResourceMemory};
use levelset::model::{
    AccountId, Ask, Asked, Budget, Cause, Difference, Freeze, Generation, Key, KindName,
    ObjectStatus, Region, ResourceId, Revision, Scope, Shard, Spent, Token,
};
use levelset::status::store::{HISTORY_DAYS, HISTORY_PER_OBJECT};
use levelset::status::{
    Declared, Event, Intent, Look, Page, Record, Settlement, Store, StoreError,
};
use serde_json::json;

/// Makes a record in which everything follows from the number, so that a mix of two shows.
pub(super) fn record(name: &str, number: u64) -> Record {
    let revision = Revision::new(format!("{number:040x}"));
    let converged =
        BTreeMap::from([("text".to_owned(), json!("x".repeat(20_000) + &number.to_string()))]);
    let memory = ResourceMemory { converged, ..ResourceMemory::default() };
    Record {
        key: Key::workspace(name),
        generation: Generation(number),
        digest: format!("{number:064x}"),
        deletion: DeletionPolicy::Snapshot,
        status: ObjectStatus {
            observed_generation: Generation(number),
            revision: Some(revision),
            ..ObjectStatus::default()
        },
        memory: Memory {
            failures: u32::try_from(number).unwrap(),
            resources: BTreeMap::from([("db_instance/a".to_owned(), memory)]),
            ..Memory::default()
        },
    }
}

pub(super) fn event(key: &Key, second: i64) -> Event {
    Event {
        key: key.clone(),
        at: Timestamp::from_second(second).unwrap(),
        reason: "Updated".to_owned(),
        message: format!("event {second}"),
    }
}

fn intent(name: &str, region: &str, of: &Key) -> Intent {
    let scope = Scope { account: AccountId::new("012345678901"), region: Region::new(region) };
    Intent {
        key: of.clone(),
        resource: ResourceId { kind: KindName::new("db_instance"), scope, name: name.into() },
        operation: "CreateDBInstance".to_owned(),
        deletion: DeletionPolicy::Snapshot,
        at: Timestamp::from_millisecond(1_795_910_400_123).unwrap(),
    }
}

/// Checks the whole contract on an empty store.
pub(super) async fn check(store: &dyn Store) {
    records(store).await;
    declarations(store).await;
    forgetting(store).await;
    looks(store).await;
    intents(store).await;
    spending(store).await;
    history(store).await;
    age(store).await;
    fencing(store).await;
    asking(store).await;
    answering(store).await;
    freezing(store).await;
    confirming(store).await;
}

async fn records(store: &dyn Store) {
    let token = store.grant(Shard(0)).await.unwrap();
    assert!(store.all().await.unwrap().is_empty());
    assert_eq!(store.get(&Key::workspace("a")).await.unwrap(), None);
    for (name, number) in [("b", 1), ("a", 2), ("b", 3)] {
        store.put(&record(name, number), &[], &[], token).await.unwrap();
    }
    let mut network = record("z", 4);
    network.key = "Network/z".parse().unwrap();
    store.put(&network, &[], &[], token).await.unwrap();
    assert_eq!(store.all().await.unwrap(), [network.clone(), record("a", 2), record("b", 3)]);
    assert_eq!(store.get(&network.key).await.unwrap(), Some(network.clone()));
    store.remove(&network.key, token).await.unwrap();
    store.remove(&network.key, token).await.unwrap();
    assert_eq!(store.get(&network.key).await.unwrap(), None);
}

async fn declarations(store: &dyn Store) {
    let token = store.grant(Shard(0)).await.unwrap();
    let declared = |name: &str| Declared {
        key: Key::workspace(name),
        generation: Generation(9),
        digest: "nine".to_owned(),
        deletion: DeletionPolicy::Delete,
    };
    let batch = [declared("b"), declared("new")];
    store.declare(&batch, token).await.unwrap();
    let old = store.get(&batch[0].key).await.unwrap().unwrap();
    let expected = Record {
        generation: Generation(9),
        digest: "nine".to_owned(),
        deletion: DeletionPolicy::Delete,
        ..record("b", 3)
    };
    assert_eq!(old, expected, "a declaration keeps the status and the memory");
    let new = store.get(&batch[1].key).await.unwrap().unwrap();
    assert_eq!((new.generation, new.status), (Generation(9), ObjectStatus::default()));
    let overtaken = Record { generation: Generation(8), ..record("b", 5) };
    store.put(&overtaken, &[], &[], token).await.unwrap();
    let kept = Record {
        generation: Generation(9),
        digest: "nine".to_owned(),
        deletion: DeletionPolicy::Delete,
        ..overtaken
    };
    let after = store.get(&kept.key).await.unwrap().unwrap();
    assert_eq!(after, kept, "a pass that was overtaken takes no generation back");
    let older = Declared {
        generation: Generation(8),
        digest: "eight".to_owned(),
        deletion: DeletionPolicy::Retain,
        ..declared("b")
    };
    store.declare(std::slice::from_ref(&older), token).await.unwrap();
    let after = store.get(&kept.key).await.unwrap().unwrap();
    assert_eq!(after, kept, "nor does a declaration that was overtaken");
    let mut removed = kept.clone();
    removed.memory.removed = Some(at(7));
    store.put(&removed, &[], &[], token).await.unwrap();
    store.declare(&[older], token).await.unwrap();
    assert_eq!(store.get(&kept.key).await.unwrap().unwrap(), removed);
    store.declare(&[declared("b")], token).await.unwrap();
    let mut back = removed;
    back.memory.removed = None;
    assert_eq!(
        store.get(&kept.key).await.unwrap().unwrap(),
        back,
        "what is declared is not removed"
    );
    store.remove(&batch[1].key, token).await.unwrap();
}

async fn looks(store: &dyn Store) {
    let token = store.grant(Shard(0)).await.unwrap();
    let seen = |second: i64| {
        let mut record = record("seen", 1);
        record.status.last_reconciled_time = Some(at(second));
        record
    };
    let key = seen(0).key;
    let look = |key: &Key, second: i64| Look {
        key: key.clone(),
        at: at(second),
        next_run: Some(at(second + 300)),
        not_before: at(second + 1),
    };
    let stored = async || store.get(&key).await.unwrap().unwrap();
    store.put(&seen(10), &[], &[], token).await.unwrap();
    let unknown = Key::workspace("unknown");
    store.looked(&[look(&key, 20), look(&unknown, 20)], token).await.unwrap();
    store.looked(&[look(&key, 30)], token).await.unwrap();
    let mut expected = seen(30);
    expected.status.last_converged_time = Some(at(30));
    expected.status.next_run_time = Some(at(330));
    expected.memory.not_before = Some(at(31));
    assert_eq!(stored().await, expected);
    assert!(store.all().await.unwrap().contains(&expected));
    assert_eq!(store.get(&unknown).await.unwrap(), None);
    store.put(&seen(40), &[], &[], token).await.unwrap();
    assert_eq!(stored().await, seen(40), "a record is newer than the looks before it");
    store.looked(&[look(&key, 35)], token).await.unwrap();
    assert_eq!(stored().await, seen(40), "a look that comes late changes nothing");
    store.looked(&[look(&key, 50)], token).await.unwrap();
    store.remove(&key, token).await.unwrap();
    store.put(&seen(1), &[], &[], token).await.unwrap();
    assert_eq!(stored().await, seen(1), "an object that returns was never looked at");
    store.remove(&key, token).await.unwrap();
}

async fn forgetting(store: &dyn Store) {
    let token = store.grant(Shard(0)).await.unwrap();
    let key = Key::workspace("left");
    let last = || async {
        let forgotten = store.forgotten().await.unwrap();
        forgotten.into_iter().find(|it| it.key == key).map(|it| it.generation.0)
    };
    store.remove(&key, token).await.unwrap();
    assert_eq!(last().await, None, "an object that was never there has no generation");
    for generation in [4, 7] {
        store.put(&record("left", generation), &[], &[], token).await.unwrap();
        store.remove(&key, token).await.unwrap();
        store.remove(&key, token).await.unwrap();
        assert_eq!(last().await, Some(generation));
    }
}

async fn intents(store: &dyn Store) {
    let token = store.grant(Shard(0)).await.unwrap();
    let (a, b) = (Key::workspace("a"), Key::workspace("b"));
    let here = intent("db", "eu-west-1", &a);
    let there = intent("db", "us-east-1", &a);
    for intent in [&there, &here, &here] {
        store.intend(intent, token).await.unwrap();
    }
    store.intend(&intent("other", "eu-west-1", &b), token).await.unwrap();
    assert_eq!(store.intents_for(&here.resource).await.unwrap(), slice::from_ref(&here));
    assert_eq!(store.intents(&a).await.unwrap(), [here.clone(), there.clone()]);
    shared_intents(store, &here, token).await;
    store.resolve(&a, &here.resource, token).await.unwrap();
    assert!(store.intents_for(&here.resource).await.unwrap().is_empty());
    assert_eq!(store.intents_for(&there.resource).await.unwrap(), slice::from_ref(&there));
    let later = Intent { operation: "CreateDBCluster".to_owned(), ..there.clone() };
    store.intend(&later, token).await.unwrap();
    assert_eq!(store.intents(&a).await.unwrap(), [later]);
    store.remove(&a, token).await.unwrap();
    assert!(store.intents(&a).await.unwrap().is_empty());
    assert_eq!(store.intents(&b).await.unwrap().len(), 1);
}

/// Two objects make the same resource: what becomes of the one says nothing about the other.
async fn shared_intents(store: &dyn Store, mine: &Intent, token: Token) {
    let theirs = Intent { key: Key::workspace("b"), ..mine.clone() };
    store.intend(&theirs, token).await.unwrap();
    let both = store.intents_for(&mine.resource).await.unwrap();
    assert_eq!(both, [mine.clone(), theirs.clone()]);
    store.resolve(&theirs.key, &theirs.resource, token).await.unwrap();
    assert_eq!(store.intents_for(&mine.resource).await.unwrap(), slice::from_ref(mine));
}

async fn history(store: &dyn Store) {
    let token = store.grant(Shard(0)).await.unwrap();
    let (a, b) = (Key::workspace("a"), Key::workspace("b"));
    store.put(&record("b", 1), &[event(&b, 1)], &[], token).await.unwrap();
    let kept = i64::from(HISTORY_PER_OBJECT);
    for second in (1..=kept + 20).step_by(2) {
        let events = [event(&a, second), event(&a, second + 1)];
        store.put(&record("a", 1), &events, &[], token).await.unwrap();
    }
    let newest = store.history(&a, 3).await.unwrap();
    let expected = [event(&a, kept + 20), event(&a, kept + 19), event(&a, kept + 18)];
    assert_eq!(newest, expected);
    let all = store.history(&a, u32::MAX).await.unwrap();
    assert_eq!(all.len(), usize::try_from(kept).unwrap());
    assert_eq!(all.last(), Some(&event(&a, 21)));
    assert_eq!(store.history(&b, 10).await.unwrap(), [event(&b, 1)]);
    store.remove(&a, token).await.unwrap();
    assert_eq!(store.history(&a, 1).await.unwrap().len(), 1, "history outlives the record");
}

async fn age(store: &dyn Store) {
    let token = store.grant(Shard(0)).await.unwrap();
    let (old, new) = (Key::workspace("old"), Key::workspace("new"));
    let second = 1_795_910_400;
    store
        .put(&record("old", 1), &[event(&old, second), event(&old, second + 1)], &[], token)
        .await
        .unwrap();
    let mut last = event(&new, second + 1);
    last.at += SignedDuration::from_hours(24 * HISTORY_DAYS);
    store.put(&record("new", 1), &[last], &[], token).await.unwrap();
    assert_eq!(store.history(&old, 10).await.unwrap(), [event(&old, second + 1)]);
}

async fn fencing(store: &dyn Store) {
    let stale = store.grant(Shard(1)).await.unwrap();
    let other = store.grant(Shard(2)).await.unwrap();
    let current = store.grant(Shard(1)).await.unwrap();
    assert!(stale.number < other.number && other.number < current.number);
    let key = Key::workspace("f");
    let intent = intent("f", "eu-west-1", &key);
    store.put(&record("f", 1), &[], &[], current).await.unwrap();
    store.put(&record("f", 2), &[], &[], other).await.unwrap();
    store.intend(&intent, current).await.unwrap();
    let refused = [
        store.put(&record("f", 3), &[event(&key, 1)], &[], stale).await,
        store.remove(&key, stale).await,
        store.intend(&intent, stale).await,
        store.resolve(&key, &intent.resource, stale).await,
        store.declare(&[], stale).await,
        store.freeze(&freeze("drift", "two"), stale).await,
        store.thaw("drift", stale).await,
        store.spend(&Page { at: intent.at, spent: vec![], levels: vec![] }, stale).await,
    ];
    for result in refused {
        let Err(StoreError::Fenced { held, seen, .. }) = result else { panic!("{result:?}") };
        assert_eq!((held, seen), (stale, current.number));
    }
    assert_eq!(store.get(&key).await.unwrap(), Some(record("f", 2)));
    assert_eq!(store.intents_for(&intent.resource).await.unwrap(), [intent]);
    assert!(store.history(&key, 1).await.unwrap().is_empty());
    let mut foreign = current;
    foreign.number += 5;
    store.put(&record("f", 4), &[], &[], foreign).await.unwrap();
    assert!(store.put(&record("f", 5), &[], &[], current).await.is_err(), "a later token was seen");
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn suspend(name: &str, reason: &str) -> Ask {
    Ask::Suspend { object: Key::workspace(name), reason: Some(reason.to_owned()) }
}

fn snooze(name: &str, second: i64) -> Ask {
    Ask::Snooze { object: Key::workspace(name), until: at(second), reason: None }
}

fn retry(name: &str) -> Ask {
    Ask::Retry { object: Key::workspace(name) }
}

/// What stands, without its numbers.
fn asks(asked: &[Asked]) -> Vec<Ask> {
    asked.iter().map(|asked| asked.ask.clone()).collect()
}

async fn asking(store: &dyn Store) {
    assert!(store.asked_since(0).await.unwrap().is_empty());
    let batch = [suspend("a", "one"), snooze("a", 50), retry("a"), retry("b")];
    store.ask(&batch, "alice", Timestamp::from_nanosecond(1_999_999).unwrap()).await.unwrap();
    let asked = store.asked_since(0).await.unwrap();
    assert_eq!(asks(&asked), batch);
    let expected = ("alice", Timestamp::from_millisecond(1).unwrap());
    assert!(asked.iter().all(|asked| (asked.by.as_str(), asked.at) == expected), "{asked:?}");
    let last = asked.last().unwrap().number;
    assert!(store.asked_since(last).await.unwrap().is_empty());
    assert_eq!(asks(&store.asked_of(&Key::workspace("a")).await.unwrap()), batch[..3]);

    store.ask(&[suspend("a", "two"), retry("b")], "bob", at(2)).await.unwrap();
    let again = store.asked_since(last).await.unwrap();
    assert_eq!(asks(&again), [suspend("a", "two"), retry("b")], "asked again, it is news");
    assert_eq!(again[0].by, "bob");
    let all = [snooze("a", 50), retry("a"), suspend("a", "two"), retry("b")];
    assert_eq!(asks(&store.asked_since(0).await.unwrap()), all, "and stands once");

    let resume = Ask::Resume { object: Key::workspace("a") };
    store.ask(slice::from_ref(&resume), "bob", at(3)).await.unwrap();
    let left = asks(&store.asked_since(0).await.unwrap());
    assert_eq!(left, [retry("a"), retry("b"), resume], "levels are lifted, requests stay");
}

async fn answering(store: &dyn Store) {
    let token = store.grant(Shard(0)).await.unwrap();
    let (a, b) = (Key::workspace("a"), Key::workspace("b"));
    let read: Vec<u64> =
        store.asked_of(&a).await.unwrap().iter().map(|asked| asked.number).collect();
    let before = store.asked_since(0).await.unwrap().last().unwrap().number;
    store.ask(&[retry("a"), suspend("a", "three")], "alice", at(4)).await.unwrap();
    store.put(&record("a", 1), &[], &read, token).await.unwrap();
    let left = asks(&store.asked_of(&a).await.unwrap());
    assert_eq!(left, [retry("a"), suspend("a", "three")], "what a pass did not read stays");
    assert_eq!(asks(&store.asked_of(&b).await.unwrap()), [retry("b")]);
    let stale = store.grant(Shard(3)).await.unwrap();
    store.grant(Shard(3)).await.unwrap();
    let numbers: Vec<u64> =
        store.asked_since(0).await.unwrap().iter().map(|it| it.number).collect();
    assert!(store.put(&record("a", 2), &[], &numbers, stale).await.is_err());
    assert_eq!(store.asked_since(0).await.unwrap().len(), 3, "a stale pass answers nothing");
    store.remove(&a, token).await.unwrap();
    assert!(store.asked_of(&a).await.unwrap().is_empty());
    store.ask(&[retry("a")], "alice", at(5)).await.unwrap();
    let number = store.asked_of(&a).await.unwrap()[0].number;
    assert!(number > before && number > *numbers.last().unwrap(), "no number comes twice");
    for key in [&a, &b] {
        store.remove(key, token).await.unwrap();
    }
}

fn freeze(guard: &str, digest: &str) -> Freeze {
    Freeze {
        guard: guard.to_owned(),
        digest: digest.to_owned(),
        reason: "TooMany".to_owned(),
        message: "objects vanished".to_owned(),
        objects: [Key::workspace("a"), Key::workspace("b")].into(),
        revision: Some(Revision::new("0123")),
        since: at(7),
    }
}

async fn freezing(store: &dyn Store) {
    let token = store.grant(Shard(0)).await.unwrap();
    assert!(store.freezes().await.unwrap().is_empty());
    for (guard, digest) in [("vanishing", "one"), ("drift", "two"), ("vanishing", "three")] {
        store.freeze(&freeze(guard, digest), token).await.unwrap();
    }
    let both = [freeze("drift", "two"), freeze("vanishing", "three")];
    assert_eq!(store.freezes().await.unwrap(), both);
    store.thaw("drift", token).await.unwrap();
    store.thaw("drift", token).await.unwrap();
    assert_eq!(store.freezes().await.unwrap(), both[1..]);
}

async fn confirming(store: &dyn Store) {
    let token = store.grant(Shard(0)).await.unwrap();
    let confirm = |digest: &str| Ask::Confirm { digest: digest.to_owned() };
    store.ask(&[confirm("three"), confirm("other")], "alice", at(8)).await.unwrap();
    let mut pending = store.asked_since(0).await.unwrap();
    let unknown = Settlement::of_nothing(pending.pop().unwrap());
    store.settle(&unknown, token).await.unwrap();
    assert_eq!(store.freezes().await.unwrap().len(), 1, "nothing is released");
    let differences = BTreeSet::from([Difference::gone(
        &intent("a", "eu-west-1", &Key::workspace("a")).resource,
    )]);
    let settlement = Settlement {
        released: Some("vanishing".to_owned()),
        removed: freeze("vanishing", "three").objects,
        reverted: [(Key::workspace("a"), differences.clone())].into(),
        ..Settlement::of_nothing(pending.pop().unwrap())
    };
    store.settle(&settlement, token).await.unwrap();
    assert!(store.freezes().await.unwrap().is_empty());
    let left = store.asked_since(0).await.unwrap();
    let remove =
        |name: &str| Ask::Remove { object: Key::workspace(name), digest: "three".to_owned() };
    let (object, digest) = (Key::workspace("a"), "three".to_owned());
    let revert = Ask::Revert { object, differences, digest };
    assert_eq!(asks(&left), [remove("a"), remove("b"), revert], "it is confirmed for good");
    assert!(left.iter().all(|asked| asked.by == "alice" && asked.at == at(8)));
}

fn spent(operation: &str, cause: Cause, sent: u64) -> Spent {
    let scope = Scope { account: AccountId::new("012345678901"), region: Region::new("eu-west-1") };
    let (service, operation) = ("rds".to_owned(), operation.to_owned());
    Spent { scope, service, operation, cause, count: Count { sent, throttled: 1, withheld: 2 } }
}

fn level(tokens: f64, at: Timestamp) -> Level {
    let line = spent("", Cause::List, 0);
    let budget = Budget { burst: 150, per_second: 6.0, write_reserve: 30 };
    let fill = Fill { tokens, per_second: 3.5 };
    Level { scope: line.scope, service: line.service, fill, budget, at }
}

/// Exact for an hour, by the hour for a day, and then no more.
async fn spending(store: &dyn Store) {
    let token = store.grant(Shard(0)).await.unwrap();
    let noon: Timestamp = "2026-11-25T12:00:00Z".parse().unwrap();
    let at = |minutes: i64| noon + SignedDuration::from_mins(minutes);
    let page = async |minutes: i64, sent: u64| {
        let spent = vec![spent("DescribeDBInstances", Cause::List, sent)];
        let page = Page { at: at(minutes), spent, levels: vec![level(7.25, at(minutes))] };
        store.spend(&page, token).await.unwrap();
    };
    let sent = async |since: i64| -> u64 {
        store.spent(at(since)).await.unwrap().iter().map(|spent| spent.count.sent).sum()
    };
    page(5, 1).await;
    page(20, 10).await;
    page(20, 100).await;
    assert_eq!((sent(6).await, sent(0).await), (110, 111), "to the minute");
    page(150, 1000).await;
    assert_eq!((sent(6).await, sent(0).await), (1000, 1111), "the first hour is one now");
    page(24 * 60 + 59, 10_000).await;
    assert_eq!(sent(0).await, 11_111);
    page(25 * 60, 100_000).await;
    assert_eq!(sent(0).await, 111_000, "what is older than a day is gone");
    assert_eq!(store.levels().await.unwrap(), [level(7.25, at(25 * 60))]);

    let other = vec![spent("CreateDBInstance", Cause::Create, 3)];
    store.spend(&Page { at: at(1500), spent: other.clone(), levels: vec![] }, token).await.unwrap();
    let lines = store.spent(at(1500)).await.unwrap();
    assert_eq!(lines, [other[0].clone(), spent("DescribeDBInstances", Cause::List, 100_000)]);
}
