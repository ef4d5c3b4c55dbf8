//! Objects at rest: a pass that would find what the last one found does not look into it again.
//!
//! In: what a pass was shown that left the record of its object as it was. Out: whether this pass is
//! shown the same.
//!
//! A pass is a function of what is declared, remembered and observed. One that left its record as it
//! was, but for the times, does so again when it is shown the same. So what it was shown is kept: the
//! [`Ground`] on this side, and a [`Mark`] for each answer of AWS. As long as a pass is shown the same,
//! the way from there to the status is left out; AWS is read either way.
//!
//! Invariants: it changes no result (a law holds the short way against the whole one). Nothing is at
//! rest that depends on the time (something waits or leaves, a hold, a guard, a stale Git), on what
//! people ask, on another object but its network, or on a read beyond the lists. It is in memory and may
//! be lost: then the next pass goes the whole way.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;

use super::causes::vanished;
use super::engine::Engine;
use super::neighbours::is_network;
use super::next::Next;
use super::pass::{Passed, follow};
use super::sight::Needs;
use super::traces::has_news;
use crate::desired::{Entry, Snapshot};
use crate::kinds;
use crate::model::status::{DriftMemory, Memory};
use crate::model::{Asked, Holds, Key, Observed, ResourceId, Token};
use crate::observe::Mark;
use crate::status::metrics::PassResult;
use crate::status::{Look, Record};

/// Keeps what the last pass of each object at rest was shown.
#[derive(Debug, Default)]
pub struct Rests(Mutex<HashMap<Key, Arc<Rest>>>);

#[derive(Debug)]
struct Rest {
    ground: Ground,
    marks: Box<[(ResourceId, Mark)]>,
}

/// Holds what a pass of a plain object rests on beside AWS and the record, which the passes of this
/// agent alone write.
#[derive(Debug, Clone)]
pub(super) struct Ground {
    entry: Arc<Entry>,
    is_in_network: bool,
    token: Token,
}

impl PartialEq for Ground {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.entry, &other.entry)
            && self.is_in_network == other.is_in_network
            && self.token == other.token
    }
}

impl Ground {
    /// Returns the ground of an object; `None` where a pass depends on more.
    pub(super) fn of(
        engine: &Engine,
        snapshot: &Snapshot,
        key: &Key,
        asked: &[Asked],
    ) -> Option<Self> {
        let entry = snapshot.get(key)?;
        let is_plain = asked.is_empty()
            && entry.removed.is_none()
            && entry.object.holds() == Holds::default()
            && entry.object.named().next().is_none()
            && snapshot.problems_of(key).is_empty()
            && vanished(snapshot, key).is_none()
            && !has_news(engine, key)
            && engine.staleness(snapshot).is_none()
            && snapshot.source.refused.is_none();
        let scope = engine.scope(&entry.object).filter(|_| is_plain)?;
        let is_network = |name| is_network(engine, snapshot, scope, name);
        Some(Self {
            entry: Arc::clone(entry),
            is_in_network: entry.object.network().is_some_and(is_network),
            token: engine.token().ok()?,
        })
    }
}

/// Makes a pass the short way, if the object is still at rest.
pub(super) async fn rested(engine: &Engine, ground: &Ground) -> Option<Passed> {
    let object = &ground.entry.object;
    let rest = engine.rests.lock().get(&object.key).cloned()?;
    if rest.ground != *ground {
        return None;
    }
    let mut shown = Vec::with_capacity(rest.marks.len());
    shown.extend(rest.marks.iter().map(|known| is_shown(engine, known)));
    if join_all(shown).await.contains(&false) {
        return None;
    }
    let pace = engine.pace_of(object);
    let next = follow(engine, (object.policy(), pace), &Memory::default(), &[]);
    engine.looks.note(look(engine, &object.key, &next));
    let settled = rest.marks.iter().map(|(id, _)| id.clone()).collect();
    let needs = Needs { settled, missed: BTreeSet::new() };
    let result = PassResult::Converged;
    Some(Passed { next, result, is_news: false, before: None, status: None, needs })
}

/// Tells whether AWS answers of a resource what it answered before.
async fn is_shown(engine: &Engine, (id, mark): &(ResourceId, Mark)) -> bool {
    match kinds::find(&id.kind) {
        Some(kind) => engine.observer.mark(kind, id).await == Some(*mark),
        None => false,
    }
}

/// Returns the look of a pass that found nothing new.
fn look(engine: &Engine, key: &Key, next: &Next) -> Look {
    let (key, at) = (key.clone(), engine.clock.now());
    Look { key, at, next_run: next.due.map(|(_, at)| at), not_before: next.not_before }
}

impl Rests {
    /// Notes what a pass was shown that found nothing new.
    pub(super) fn note(
        &self,
        engine: &Engine,
        ground: Ground,
        read: &[(ResourceId, Arc<Observed>)],
    ) {
        let mark = |(id, observed): &(ResourceId, Arc<Observed>)| {
            Some((id.clone(), engine.observer.mark_of(kinds::find(&id.kind)?, observed)))
        };
        let Some(marks) = read.iter().map(mark).collect() else { return };
        let key = ground.entry.object.key.clone();
        self.lock().insert(key, Arc::new(Rest { ground, marks }));
    }

    /// Forgets an object, whose pass goes the whole way.
    pub(super) fn forget(&self, key: &Key) {
        self.lock().remove(key);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Arc<Rest>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells whether a pass left a record of an object that is as declared as it was, but for the times,
/// and the record holds nothing that ends by itself.
pub(super) fn is_old_news(before: Option<&Record>, after: &Record) -> bool {
    after.status.is_ready()
        && after.memory.drift == DriftMemory::default()
        && after.memory.owned.iter().all(|owned| owned.left.is_none())
        && before.is_some_and(|before| before.is_same_but_for_times(after))
}

#[cfg(test)]
mod laws;
