//! Which other objects ask for what leaves an object: they declare it, or use it.
//!
//! In: everything that Git declares, and what leaves. Out: a [`Claim`] on each that somebody asks for.
//!
//! Invariants: the answer follows from the snapshot alone. What is kept between passes is which
//! objects may be concerned, so that many objects can leave at once and the others are not expanded for
//! each of them; who may be concerned is expanded again before anything is concluded.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::engine::Engine;
use super::neighbours::{Around, Users};
use crate::desired::{Entry, Snapshot};
use crate::kinds;
use crate::manifest::Object;
use crate::manifest::expand::expand;
use crate::model::status::Owned;
use crate::model::{Key, Kind, Resource, ResourceId};
use crate::plan::removal::Claim;

/// Keeps who may ask for what.
#[derive(Debug, Default)]
pub struct Claims(Mutex<Arc<Index>>);

/// Says which objects may ask for a resource.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// The objects that were expanded.
    expanded: BTreeMap<Key, Weak<Object>>,
    /// Their keys by the hashes of what they ask for.
    by_hash: BTreeMap<u64, Vec<Key>>,
}

impl Claims {
    /// Says which object but `key` asks for a resource, if any does.
    pub(super) fn on(
        &self,
        engine: &Engine,
        snapshot: &Snapshot,
        key: &Key,
        owned: &Owned,
    ) -> Option<Claim> {
        let index = self.index(engine, snapshot);
        let users = Users(Around { engine, snapshot });
        let concerned = index.by_hash.get(&hash(&owned.id)).into_iter().flatten();
        concerned.filter(|other| *other != key).find_map(|other| {
            let entry = snapshot.get(other)?;
            let place = engine.place(&entry.object).ok()?;
            let asked = expand(&entry.object, &place, &users);
            asked.iter().find_map(|resource| claim(other, entry, resource, owned))
        })
    }

    /// Returns an index that holds everything that is declared, and perhaps more.
    pub(super) fn index(&self, engine: &Engine, snapshot: &Snapshot) -> Arc<Index> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !kept.covers(snapshot) {
            *kept = Arc::new(Index::of(engine, snapshot));
        }
        Arc::clone(&kept)
    }
}

impl Index {
    fn of(engine: &Engine, snapshot: &Snapshot) -> Self {
        let mut index = Self::default();
        let users = Users(Around { engine, snapshot });
        for (key, entry) in snapshot.objects.iter() {
            index.expanded.insert(key.clone(), Arc::downgrade(&entry.object));
            let Ok(place) = engine.place(&entry.object) else { continue };
            for resource in expand(&entry.object, &place, &users) {
                for id in [&resource.id].into_iter().chain(resource.references()) {
                    let keys = index.by_hash.entry(hash(id)).or_default();
                    if keys.last() != Some(key) {
                        keys.push(key.clone());
                    }
                }
            }
        }
        index
    }

    /// Tells whether nothing is declared but what was expanded. An object that has been forgotten since
    /// only takes something away from what others ask for.
    fn covers(&self, snapshot: &Snapshot) -> bool {
        snapshot.objects.iter().all(|(key, entry)| {
            let known = self.expanded.get(key);
            known.is_some_and(|known| known.as_ptr() == Arc::as_ptr(&entry.object))
        })
    }
}

fn hash(id: &ResourceId) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// An object that is removed itself takes nothing over, and uses what it used until it is forgotten;
/// where things may use each other in a circle, AWS alone says when that is.
fn claim(key: &Key, entry: &Entry, resource: &Resource, owned: &Owned) -> Option<Claim> {
    let may_be_circular = kinds::find(&owned.id.kind).is_some_and(Kind::may_be_circular);
    if entry.removed.is_some() && may_be_circular {
        return None;
    }
    let is_same = resource.id == owned.id;
    if is_same && resource.owner != owned.owner {
        return entry.removed.is_none().then(|| Claim::Declares(key.clone()));
    }
    let uses = is_same || resource.references().contains(&&owned.id);
    uses.then(|| Claim::Uses(key.clone()))
}
