//! Reads AWS: one complete list per kind and scope, shared by every object that needs it.
//!
//! In: a kind and a resource's name. Out: an [`Observation`]. N resources cost as many calls as
//! their lists have pages, not N.
//!
//! Invariants: a list is complete or it is nothing (a failed page makes the whole read a
//! [`Doubt`]); "absent" takes a complete list *and* a read of that one name; what was written since
//! the list was read is read again before it is believed; a list that nobody may share any more is
//! not held. It writes nothing and decides nothing.

mod details;
mod doubts;
mod every;
mod list;
mod mark;
mod once;
pub mod saved;
mod search;
pub mod singly;
mod slot;
pub mod trail;
mod within;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub use every::Seen;
pub use once::Once;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use self::details::Shared;
use self::doubts::{doubt, lacking, partial};
pub use self::mark::Mark;
use self::mark::Marker;
use self::slot::{Item, Listing, Slot};
use self::within::Sought;
use crate::model::kind::Lists;
use crate::model::{
    Cause, Clock, Cloud, Doubt, ErrorClass, Kind, KindName, Observation, Observed, ResourceId,
    Scope, Target,
};

/// A list is shared for so many times as long as it took to be read, if that is longer than any list
/// is shared: with a long list, reading takes a sixth of the time, and of the budget.
const SHARED_PER_READING: i32 = 5;

/// No list is shared for longer, so that no pass acts on what is much older than its reading; a clock
/// that jumps while a list is read makes its reading look like hours.
const LONGEST_SHARED: SignedDuration = SignedDuration::from_secs(40);

/// Reads resources and shares what it read.
pub struct Observer {
    cloud: Arc<dyn Cloud>,
    clock: Arc<dyn Clock>,
    freshness: SignedDuration,
    slots: Mutex<BTreeMap<(Scope, KindName), Arc<Slot>>>,
    /// What is known of types of resources, and until when that is believed.
    types: Mutex<BTreeMap<(Scope, String), (Timestamp, Value)>>,
    /// When lists were last looked through for those that are no longer fresh.
    swept: Mutex<Timestamp>,
    marker: Marker,
    /// What was read of single resources beyond their lists.
    shared: Shared,
}

impl Observer {
    /// Makes an observer that shares a list for `freshness` after it was read, and a list that took
    /// long to be read for longer.
    pub fn new(cloud: Arc<dyn Cloud>, clock: Arc<dyn Clock>, freshness: SignedDuration) -> Self {
        let swept = Mutex::new(clock.now());
        let (slots, types) = (Mutex::default(), Mutex::default());
        let (marker, shared) = (Marker::default(), Shared::default());
        Self { cloud, clock, freshness, slots, types, swept, marker, shared }
    }

    /// Reads one resource, from the shared list where that is fresh enough.
    pub async fn observe(&self, kind: &dyn Kind, id: &ResourceId) -> Observation {
        if let Some(within) = kind.within() {
            return self.look_within(Sought { kind, within, id }).await;
        }
        let slot = self.slot(&id.scope, &id.kind);
        let mut listing = slot.listing.lock().await;
        self.look(kind, id, &slot, &mut listing).await
    }

    /// Reads one resource in the same way, and returns what stands for the answer; `None` where it is
    /// not known to exist.
    pub async fn mark(&self, kind: &dyn Kind, id: &ResourceId) -> Option<Mark> {
        if kind.within().is_some() {
            let Observation::Present(actual) = self.observe(kind, id).await else { return None };
            return Some(self.marker.mark(kind, &actual));
        }
        let slot = self.slot(&id.scope, &id.kind);
        let mut listing = slot.listing.lock().await;
        let Observation::Present(_) = self.look(kind, id, &slot, &mut listing).await else {
            return None;
        };
        let item = listing.as_mut()?.resources.as_mut().ok()?.get_mut(&id.name)?;
        Some(*item.mark.get_or_insert_with(|| self.marker.mark(kind, &item.observed)))
    }

    /// Returns what stands for an answer.
    pub fn mark_of(&self, kind: &dyn Kind, observed: &Observed) -> Mark {
        self.marker.mark(kind, observed)
    }

    async fn look(
        &self,
        kind: &dyn Kind,
        id: &ResourceId,
        slot: &Slot,
        listing: &mut Option<Listing>,
    ) -> Observation {
        if !kind.is_whole_by_name() && slot.was_written(&id.name) {
            *listing = None;
        }
        self.refresh(kind, &id.scope, slot, listing).await;
        let Some(current) = listing.as_mut() else {
            return Observation::Unknown(Doubt::Failed("nothing was read".to_owned()));
        };
        let resources = match &mut current.resources {
            Ok(resources) => resources,
            Err(doubt) => return Observation::Unknown(doubt.clone()),
        };
        if let Some(found) = resources.get(&id.name)
            && !slot.was_written(&id.name)
        {
            return Observation::Present(found.observed.clone());
        }
        let observation = self.confirm(kind, id).await;
        match &observation {
            Observation::Present(found) => {
                slot.forget_write(&id.name);
                resources.insert(id.name.clone(), found.clone().into());
            }
            Observation::Absent => {
                slot.forget_write(&id.name);
                resources.remove(&id.name);
            }
            // The list may lag behind; the next look is at a new one.
            Observation::Unknown(_) if !kind.is_whole_by_name() => slot.note_write(&id.name),
            Observation::Unknown(_) => {}
        }
        observation
    }

    /// Reads the list anew, unless it may still be shared.
    async fn refresh(
        &self,
        kind: &dyn Kind,
        scope: &Scope,
        slot: &Slot,
        listing: &mut Option<Listing>,
    ) {
        // A list that lags says nothing of what was written, however many names that is.
        let lags = kind.do_lists_lag();
        if self.is_fresh(listing.as_ref()) && (lags || !slot.written_too_much()) {
            return;
        }
        if !lags {
            slot.forget_writes();
        }
        let target = Target { scope: scope.clone(), kind: kind.name(), cause: Cause::List };
        *listing = Some(self.list(kind, &target).await);
        self.drop_stale();
    }

    /// Reads one resource by its name, whatever the lists say of it.
    pub async fn observe_by_name(&self, kind: &dyn Kind, id: &ResourceId) -> Observation {
        self.written(id);
        self.observe(kind, id).await
    }

    /// Reads one resource and its tags anew, whatever was read before: what a deletion rests on.
    ///
    /// What is read by container is shared nevertheless: AWS deletes a record set only as it was read.
    pub async fn observe_anew(&self, kind: &dyn Kind, id: &ResourceId) -> Observation {
        if kind.within().is_none() {
            self.written(id);
        }
        match self.observe(kind, id).await {
            Observation::Present(actual) => match self.tags(kind, id, actual).await {
                Ok(tagged) => Observation::Present(tagged),
                Err(doubt) => Observation::Unknown(doubt),
            },
            other => other,
        }
    }

    /// Says that a resource was written, so that the next look at it is a new read.
    pub fn written(&self, id: &ResourceId) {
        self.slot(&id.scope, &id.kind).note_write(&id.name);
        self.shared.forget(id);
    }

    fn slot(&self, scope: &Scope, kind: &KindName) -> Arc<Slot> {
        lock(&self.slots).entry((scope.clone(), kind.clone())).or_default().clone()
    }

    fn is_fresh(&self, listing: Option<&Listing>) -> bool {
        listing.is_some_and(|listing| {
            let age = self.clock.now().duration_since(listing.read);
            age >= SignedDuration::ZERO && age <= listing.lasts
        })
    }

    /// Drops the lists that are no longer fresh, once in the time that a list stays so: with many
    /// accounts they would be most of the agent's memory.
    fn drop_stale(&self) {
        let now = self.clock.now();
        let mut swept = lock(&self.swept);
        if now.duration_since(*swept) <= self.freshness {
            return;
        }
        *swept = now;
        for slot in lock(&self.slots).values() {
            slot.drop_stale_shelves(|listing| self.is_fresh(Some(listing)));
            // One that is in use is fresh, or about to be.
            if let Ok(mut listing) = slot.listing.try_lock()
                && !self.is_fresh(listing.as_ref())
            {
                *listing = None;
            }
        }
    }

    async fn list(&self, kind: &dyn Kind, target: &Target) -> Listing {
        let begun = self.clock.now();
        let resources = self.resources(kind, target, begun).await;
        self.listing(begun, resources)
    }

    /// Makes a listing of what was read since a time.
    fn listing(
        &self,
        begun: Timestamp,
        resources: Result<BTreeMap<Arc<str>, Item>, Doubt>,
    ) -> Listing {
        let read = self.clock.now();
        let lasts = match &resources {
            Ok(_) => (read.duration_since(begun) * SHARED_PER_READING).min(LONGEST_SHARED),
            Err(_) => SignedDuration::ZERO,
        };
        let lasts = lasts.max(self.freshness);
        Listing { read, lasts, resources }
    }

    /// Reads everything of a kind in a scope; what is read is as old as the beginning of the reading.
    async fn resources(
        &self,
        kind: &dyn Kind,
        target: &Target,
        at: Timestamp,
    ) -> Result<BTreeMap<Arc<str>, Item>, Doubt> {
        let mut lists = Lists::new();
        for list in kind.lists() {
            match list::all(&*self.cloud, target, kind.service(), list).await {
                Ok(items) => {
                    lists.insert(list.answer, items);
                }
                Err(error) => return Err(doubt(error)),
            }
        }
        let named = |(name, members)| (Arc::from(name), Arc::new(observed(members, at)).into());
        Ok(kind.assemble(lists).into_iter().map(named).collect())
    }

    async fn confirm(&self, kind: &dyn Kind, id: &ResourceId) -> Observation {
        let Some(call) = kind.confirm(&id.name) else { return Observation::Absent };
        let answer = match self.cloud.call(&target(id, Cause::Confirm), &call).await {
            Ok(answer) => answer,
            Err(error) if error.class == ErrorClass::NotFound => return Observation::Absent,
            Err(error) => return Observation::Unknown(doubt(error)),
        };
        if !kind.is_whole_by_name() {
            if kind.is_found_by_search() && finds_nothing(kind, &answer) {
                return Observation::Absent;
            }
            let text = format!("{id} exists, and the list does not show it yet");
            return Observation::Unknown(Doubt::Failed(text));
        }
        let at = self.clock.now();
        let mut lists = Lists::new();
        for list in kind.lists() {
            let items = match answer.get(list.answer) {
                None if kind.is_bare_by_name() => Some(vec![answer.clone()]),
                items => items.and_then(Value::as_array).cloned(),
            };
            match items {
                Some(items) => match list::check(list, &call, &items) {
                    Ok(()) => lists.insert(list.answer, items),
                    Err(error) => return Observation::Unknown(doubt(error)),
                },
                None => return Observation::Unknown(partial(&call.operation, list.answer)),
            };
        }
        let found = kind.assemble(lists).into_iter().find(|(name, _)| **name == *id.name);
        match found {
            Some((_, members)) => Observation::Present(Arc::new(observed(members, at))),
            None if kind.is_found_by_search() => Observation::Absent,
            None => Observation::Unknown(lacking(&call.operation, &id.name)),
        }
    }
}

/// Tells whether a search answered one of the lists of a kind, with nothing in it.
fn finds_nothing(kind: &dyn Kind, answer: &Value) -> bool {
    let mut lists = kind.lists().iter().filter_map(|list| answer.get(list.answer)?.as_array());
    lists.next().is_some_and(Vec::is_empty)
}

fn target(id: &ResourceId, cause: Cause) -> Target {
    Target { scope: id.scope.clone(), kind: id.kind.clone(), cause }
}

/// Makes an observation of the members of a describe answer.
pub fn observed(members: Map<String, Value>, at: Timestamp) -> Observed {
    let tags = tags_of(&members);
    Observed { members, tags, at }
}

/// Returns the tags that an answer holds: RDS names them `TagList`, EC2 `Tags`, S3 `TagSet`.
fn tags_of(members: &Map<String, Value>) -> Option<BTreeMap<String, String>> {
    let mut names = ["TagList", "Tags", "TagSet"].into_iter();
    let list = names.find_map(|name| members.get(name))?.as_array()?;
    let text = |tag: &Value, name: &str| tag.get(name)?.as_str().map(str::to_owned);
    Some(
        list.iter()
            .filter_map(|tag| Some((text(tag, "Key")?, text(tag, "Value").unwrap_or_default())))
            .collect(),
    )
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
