//! A store without a disk, for the simulation and for tests of the stages.
//!
//! It keeps the contract of [`Store`] and forgets everything when it is dropped: a crash is modelled
//! by keeping the value and dropping its users.

mod outbox;

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};

use super::change::Change;
use super::spending::{Page, Spending};
use super::store::{
    Declared, Event, Forgotten, HISTORY_DAYS, HISTORY_PER_OBJECT, Intent, Look, Record, Settlement,
    Store, StoreError, StoreFuture,
};
use crate::model::budget::Level;
use crate::model::outbox::{Post, Topic};
use crate::model::status::Memory;
use crate::model::{
    Ask, Asked, Freeze, Generation, Key, ObjectStatus, ResourceId, Shard, Spent, Token,
};

/// Keeps everything in memory.
#[derive(Debug, Default)]
pub struct InMemory {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    records: BTreeMap<Key, Record>,
    intents: BTreeMap<(ResourceId, Key), Intent>,
    /// Oldest first; at most so many of an object, however old.
    events: BTreeMap<Key, VecDeque<Event>>,
    /// Events from before this time are gone for every reader.
    oldest: Option<Timestamp>,
    seen: BTreeMap<Shard, u64>,
    /// By number.
    asked: BTreeMap<u64, Asked>,
    /// The highest number that was ever given.
    numbered: u64,
    /// By guard.
    freezes: BTreeMap<String, Freeze>,
    forgotten: BTreeMap<Key, Generation>,
    spending: Spending,
    posts: BTreeMap<Topic, Post>,
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
            Change::Put(record, events, answered) => {
                self.put(record);
                self.append(events);
                self.asked.retain(|number, _| !answered.contains(number));
            }
            Change::Looked(looks) => looks.iter().for_each(|look| self.looked(look)),
            Change::Declare(declared) => declared.iter().for_each(|object| self.declare(object)),
            Change::Remove(key) => {
                if let Some(record) = self.records.remove(key) {
                    self.forgotten.insert(record.key, record.generation);
                }
                self.intents.retain(|_, intent| intent.key != *key);
                self.asked.retain(|_, asked| asked.ask.object() != Some(key));
            }
            Change::Intend(intent) => {
                let kept = Intent { at: truncate(intent.at), ..intent.clone() };
                self.intents.insert((kept.resource.clone(), kept.key.clone()), kept);
            }
            Change::Resolve(key, resource) => {
                self.intents.remove(&(resource.clone(), key.clone()));
            }
            Change::Settle(settlement) => self.settle(settlement),
            Change::Freeze(freeze) => {
                let kept = Freeze { since: truncate(freeze.since), ..freeze.clone() };
                self.freezes.insert(kept.guard.clone(), kept);
            }
            Change::Thaw(guard) => {
                self.freezes.remove(guard);
            }
            Change::Spend(page) => self.spending.write(page),
            Change::Want(wanted) => self.want(wanted),
            Change::Posted(tried) => self.posted(tried),
            Change::ForgetPosts(before) => self.forget_posts(before),
        }
    }

    fn ask(&mut self, asks: &[Ask], by: &str, at: Timestamp) {
        for ask in asks {
            let is_same = |old: &Ask| old.verb() == ask.verb() && old.subject() == ask.subject();
            self.asked.retain(|_, old| !is_same(&old.ask) && !ask.lifts(&old.ask));
            self.numbered += 1;
            let (number, ask, by) = (self.numbered, ask.clone(), by.to_owned());
            self.asked.insert(number, Asked { number, ask, by, at: truncate(at) });
        }
    }

    fn settle(&mut self, settlement: &Settlement) {
        let Settlement { request, released, .. } = settlement;
        self.asked.remove(&request.number);
        if let Some(guard) = released {
            self.freezes.remove(guard);
        }
        self.ask(&settlement.levels(), &request.by, request.at);
    }

    fn put(&mut self, record: &Record) {
        let mut record = record.clone();
        if let Some(newer) =
            self.records.get(&record.key).filter(|there| there.generation > record.generation)
        {
            record.generation = newer.generation;
            record.digest.clone_from(&newer.digest);
            record.deletion = newer.deletion;
        }
        self.records.insert(record.key.clone(), record);
    }

    fn looked(&mut self, look: &Look) {
        let times = Look {
            at: truncate(look.at),
            next_run: look.next_run.map(truncate),
            not_before: truncate(look.not_before),
            ..look.clone()
        };
        if let Some(record) = self.records.get_mut(&look.key) {
            record.looked(&times);
        }
    }

    fn declare(&mut self, object: &Declared) {
        let record = self.records.entry(object.key.clone()).or_insert_with(|| Record {
            key: object.key.clone(),
            generation: object.generation,
            digest: String::new(),
            deletion: object.deletion,
            status: ObjectStatus::default(),
            memory: Memory::default(),
        });
        if record.generation <= object.generation {
            record.generation = object.generation;
            record.digest.clone_from(&object.digest);
            record.deletion = object.deletion;
            record.memory.removed = None;
        }
    }

    fn append(&mut self, events: &[Event]) {
        for event in events {
            let kept = self.events.entry(event.key.clone()).or_default();
            kept.push_back(millisecond(event));
            while kept.len() > HISTORY_PER_OBJECT as usize {
                kept.pop_front();
            }
        }
        let newest = events.iter().map(|event| event.at).max();
        self.oldest = self.oldest.max(newest.map(oldest_kept));
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
        self.read(|state| {
            let forgotten = state.forgotten.iter();
            forgotten
                .map(|(key, generation)| Forgotten { key: key.clone(), generation: *generation })
                .collect()
        })
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

    fn spend<'a>(&'a self, page: &'a Page, token: Token) -> StoreFuture<'a, ()> {
        self.write(Change::Spend(page), token)
    }

    fn spent(&self, since: Timestamp) -> StoreFuture<'_, Vec<Spent>> {
        self.read(move |state| state.spending.since(since))
    }

    fn levels(&self) -> StoreFuture<'_, Vec<Level>> {
        self.read(|state| state.spending.levels())
    }

    fn ask<'a>(&'a self, asks: &'a [Ask], by: &'a str, at: Timestamp) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.state().ask(asks, by, at);
            Ok(())
        })
    }

    fn asked_since(&self, number: u64) -> StoreFuture<'_, Vec<Asked>> {
        self.read(move |state| {
            state.asked.values().filter(|asked| asked.number > number).cloned().collect()
        })
    }

    fn asked_of<'a>(&'a self, key: &'a Key) -> StoreFuture<'a, Vec<Asked>> {
        self.read(|state| {
            let is_of = |asked: &&Asked| asked.ask.object() == Some(key);
            state.asked.values().filter(is_of).cloned().collect()
        })
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
        self.read(|state| state.freezes.values().cloned().collect())
    }

    fn history<'a>(&'a self, key: &'a Key, limit: u32) -> StoreFuture<'a, Vec<Event>> {
        self.read(move |state| {
            let events = state.events.get(key).into_iter().flatten();
            let kept = events.filter(|event| Some(event.at) >= state.oldest);
            kept.rev().take(limit as usize).cloned().collect()
        })
    }
}
