//! What every store has to do, whatever it is made of.

use std::collections::BTreeMap;
use std::slice;

use jiff::{SignedDuration, Timestamp};
use levelset::model::status::{Memory, ResourceMemory};
use levelset::model::{
    AccountId, Generation, Key, KindName, ObjectStatus, Region, ResourceId, Revision, Scope, Shard,
    Token,
};
use levelset::status::store::{HISTORY_DAYS, HISTORY_PER_OBJECT};
use levelset::status::{Declared, Event, Intent, Record, Store, StoreError};
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
        at: Timestamp::from_millisecond(1_795_910_400_123).unwrap(),
    }
}

/// Checks the whole contract on an empty store.
pub(super) async fn check(store: &dyn Store) {
    records(store).await;
    declarations(store).await;
    intents(store).await;
    history(store).await;
    age(store).await;
    fencing(store).await;
    retrying(store).await;
}

async fn records(store: &dyn Store) {
    let token = store.grant(Shard(0)).await.unwrap();
    assert!(store.all().await.unwrap().is_empty());
    assert_eq!(store.get(&Key::workspace("a")).await.unwrap(), None);
    for (name, number) in [("b", 1), ("a", 2), ("b", 3)] {
        store.put(&record(name, number), &[], token).await.unwrap();
    }
    let mut network = record("z", 4);
    network.key = "Network/z".parse().unwrap();
    store.put(&network, &[], token).await.unwrap();
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
    };
    let batch = [declared("b"), declared("new")];
    store.declare(&batch, token).await.unwrap();
    let old = store.get(&batch[0].key).await.unwrap().unwrap();
    let expected =
        Record { generation: Generation(9), digest: "nine".to_owned(), ..record("b", 3) };
    assert_eq!(old, expected, "a declaration keeps the status and the memory");
    let new = store.get(&batch[1].key).await.unwrap().unwrap();
    assert_eq!((new.generation, new.status), (Generation(9), ObjectStatus::default()));
    let overtaken = Record { generation: Generation(8), ..record("b", 5) };
    store.put(&overtaken, &[], token).await.unwrap();
    let kept = Record { generation: Generation(9), digest: "nine".to_owned(), ..overtaken };
    let after = store.get(&kept.key).await.unwrap().unwrap();
    assert_eq!(after, kept, "a pass that was overtaken takes no generation back");
    store.remove(&batch[1].key, token).await.unwrap();
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
    store.put(&record("b", 1), &[event(&b, 1)], token).await.unwrap();
    let kept = i64::from(HISTORY_PER_OBJECT);
    for second in (1..=kept + 20).step_by(2) {
        let events = [event(&a, second), event(&a, second + 1)];
        store.put(&record("a", 1), &events, token).await.unwrap();
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
        .put(&record("old", 1), &[event(&old, second), event(&old, second + 1)], token)
        .await
        .unwrap();
    let mut last = event(&new, second + 1);
    last.at += SignedDuration::from_hours(24 * HISTORY_DAYS);
    store.put(&record("new", 1), &[last], token).await.unwrap();
    assert_eq!(store.history(&old, 10).await.unwrap(), [event(&old, second + 1)]);
}

async fn fencing(store: &dyn Store) {
    let stale = store.grant(Shard(1)).await.unwrap();
    let other = store.grant(Shard(2)).await.unwrap();
    let current = store.grant(Shard(1)).await.unwrap();
    assert!(stale.number < other.number && other.number < current.number);
    let key = Key::workspace("f");
    let intent = intent("f", "eu-west-1", &key);
    store.put(&record("f", 1), &[], current).await.unwrap();
    store.put(&record("f", 2), &[], other).await.unwrap();
    store.intend(&intent, current).await.unwrap();
    let refused = [
        store.put(&record("f", 3), &[event(&key, 1)], stale).await,
        store.remove(&key, stale).await,
        store.intend(&intent, stale).await,
        store.resolve(&key, &intent.resource, stale).await,
        store.declare(&[], stale).await,
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
    store.put(&record("f", 4), &[], foreign).await.unwrap();
    assert!(store.put(&record("f", 5), &[], current).await.is_err(), "a later token was seen");
}

async fn retrying(store: &dyn Store) {
    let token = store.grant(Shard(0)).await.unwrap();
    let mut failed = record("failed", 1);
    failed.memory.failures = 9;
    store.put(&failed, &[], token).await.unwrap();
    assert!(store.retry(&failed.key).await.unwrap());
    assert!(!store.retry(&Key::workspace("nobody")).await.unwrap());
    failed.memory.failures = 0;
    assert_eq!(store.get(&failed.key).await.unwrap(), Some(failed));
}
