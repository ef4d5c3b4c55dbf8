//! A store without a disk, for the simulation and for tests of the stages.
//!
//! It keeps the contract of [`Store`] and forgets everything when it is dropped: a crash is modelled
//! by keeping the value and dropping its users.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use super::change::Change;
use super::store::{
    Declared, Event, HISTORY_DAYS, HISTORY_PER_OBJECT, Intent, Record, Store, StoreError,
    StoreFuture,
};
use crate::model::status::Memory;
use crate::model::{Key, ObjectStatus, ResourceId, Shard, Token};

/// Keeps everything in memory.
#[derive(Debug, Default)]
pub struct InMemory {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    records: BTreeMap<Key, Record>,
    intents: BTreeMap<(ResourceId, Key), Intent>,
    /// Oldest first.
    events: BTreeMap<Key, VecDeque<Event>>,
    seen: BTreeMap<Shard, u64>,
}

impl InMemory {
    /// Makes an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No method leaves the state half changed, so a panic elsewhere does no harm here.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write<'a>(&'a self, change: Change<'a>, token: Token) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let mut state = self.state();
            let seen = state.seen.entry(token.shard).or_default();
            if *seen > token.number {
                let (action, seen) = (change.to_string(), *seen);
                return Err(StoreError::Fenced { action, held: token, seen });
            }
            *seen = token.number;
            state.apply(change);
            Ok(())
        })
    }

    fn read<'a, T: Send>(&'a self, of: impl FnOnce(&State) -> T + Send + 'a) -> StoreFuture<'a, T> {
        Box::pin(async move { Ok(of(&self.state())) })
    }
}

impl State {
    fn apply(&mut self, change: Change<'_>) {
        match change {
            Change::Put(record, events) => {
                self.put(record);
                self.append(events);
            }
            Change::Declare(declared) => declared.iter().for_each(|object| self.declare(object)),
            Change::Remove(key) => {
                self.records.remove(key);
                self.intents.retain(|_, intent| intent.key != *key);
            }
            Change::Intend(intent) => {
                let kept = Intent { at: truncate(intent.at), ..intent.clone() };
                self.intents.insert((kept.resource.clone(), kept.key.clone()), kept);
            }
            Change::Resolve(key, resource) => {
                self.intents.remove(&(resource.clone(), key.clone()));
            }
        }
    }

    fn put(&mut self, record: &Record) {
        let mut record = record.clone();
        if let Some(newer) =
            self.records.get(&record.key).filter(|there| there.generation > record.generation)
        {
            record.generation = newer.generation;
            record.digest.clone_from(&newer.digest);
        }
        self.records.insert(record.key.clone(), record);
    }

    fn declare(&mut self, object: &Declared) {
        let record = self.records.entry(object.key.clone()).or_insert_with(|| Record {
            key: object.key.clone(),
            generation: object.generation,
            digest: String::new(),
            status: ObjectStatus::default(),
            memory: Memory::default(),
        });
        record.generation = object.generation;
        record.digest.clone_from(&object.digest);
    }

    fn append(&mut self, events: &[Event]) {
        for event in events {
            let kept = self.events.entry(event.key.clone()).or_default();
            kept.push_back(millisecond(event));
            while kept.len() > HISTORY_PER_OBJECT as usize {
                kept.pop_front();
            }
        }
        let Some(newest) = events.iter().map(|event| event.at).max() else { return };
        let oldest = oldest_kept(newest);
        for kept in self.events.values_mut() {
            kept.retain(|event| event.at >= oldest);
        }
    }
}

/// Returns the time before which events go, in whole milliseconds.
pub(super) fn oldest_kept(newest: Timestamp) -> Timestamp {
    let age = SignedDuration::from_hours(24 * HISTORY_DAYS);
    truncate(newest.checked_sub(age).unwrap_or(Timestamp::MIN))
}

fn millisecond(event: &Event) -> Event {
    Event { at: truncate(event.at), ..event.clone() }
}

fn truncate(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}

impl Store for InMemory {
    fn grant(&self, shard: Shard) -> StoreFuture<'_, Token> {
        Box::pin(async move {
            let mut state = self.state();
            let number = state.seen.values().max().map_or(1, |highest| highest + 1);
            state.seen.insert(shard, number);
            Ok(Token { shard, number })
        })
    }

    fn all(&self) -> StoreFuture<'_, Vec<Record>> {
        self.read(|state| state.records.values().cloned().collect())
    }

    fn get<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Option<Record>> {
        self.read(|state| state.records.get(key).cloned())
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

    fn intents_for<'a>(&'a self, resource: &'a ResourceId) -> StoreFuture<'a, Vec<Intent>> {
        self.read(|state| {
            state.intents.values().filter(|intent| intent.resource == *resource).cloned().collect()
        })
    }

    fn intents<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Vec<Intent>> {
        self.read(|state| {
            state.intents.values().filter(|intent| intent.key == *key).cloned().collect()
        })
    }

    fn resolve<'a>(
        &'a self,
        key: &'a Key,
        resource: &'a ResourceId,
        token: Token,
    ) -> StoreFuture<'a, ()> {
        self.write(Change::Resolve(key, resource), token)
    }

    fn retry<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let mut state = self.state();
            let record = state.records.get_mut(key);
            Ok(record.map(|record| record.memory.failures = 0).is_some())
        })
    }

    fn history<'a>(&'a self, key: &'a Key, limit: u32) -> StoreFuture<'a, Vec<Event>> {
        self.read(move |state| {
            let events = state.events.get(key).into_iter().flatten();
            events.rev().take(limit as usize).cloned().collect()
        })
    }
}
