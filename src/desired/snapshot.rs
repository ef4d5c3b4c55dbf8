//! What Git declares at one moment, as the other parts read it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use super::Frozen;
use crate::manifest::Object;
use crate::model::tree::SourceHealth;
use crate::model::{Generation, Key, ObjectKind, Problem, Revision};

/// Holds the last good object of every key, and how well it is known.
///
/// Cheap to clone: the maps are shared.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The commit of the last change set.
    pub revision: Option<Revision>,
    /// True when a full list has been read since the start.
    pub synced: bool,
    /// The last good objects, removed ones included.
    pub objects: Arc<BTreeMap<Key, Arc<Entry>>>,
    /// Objects that the store remembers and no manifest has declared since the start.
    pub orphans: Arc<BTreeMap<Key, Orphan>>,
    /// Everything that is wrong with the files now, by path.
    pub problems: Arc<BTreeMap<Arc<str>, Vec<Problem>>>,
    /// True when a file that cannot be read may declare any object, also one that is removed.
    pub unsure: bool,
    /// Objects that no readable file declares, and that a file which cannot be read may hold.
    pub kept: Arc<BTreeSet<Key>>,
    /// Objects that vanished together and wait for a person.
    pub frozen: Option<Arc<Frozen>>,
    /// How the repository stands.
    pub source: SourceHealth,
}

/// Holds one object and its history.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The object as its last good manifest declares it.
    pub object: Arc<Object>,
    /// How often its spec has changed.
    pub generation: Generation,
    /// The commit in which this generation appeared; after a restart without that knowledge, the
    /// commit in which it was first read.
    pub revision: Revision,
    /// Set when its manifest is gone for certain.
    pub removed: Option<Removed>,
}

/// Remembers an object of which the manifest has not been seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Orphan {
    /// How often its spec had changed.
    pub generation: Generation,
    /// The digest of its last spec.
    pub digest: Arc<str>,
    /// The commit in which that generation appeared, if it is known.
    pub revision: Option<Revision>,
    /// Set when its manifest is gone for certain.
    pub removed: Option<Removed>,
    /// True when the last pass before the start found its manifest gone.
    pub was_removed: bool,
}

/// Says since when an object is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The commit in which it was first found to be gone.
    pub revision: Revision,
    /// True when a person confirmed it.
    pub confirmed: bool,
}

impl Snapshot {
    /// Returns the last good object of a key, removed or not.
    pub fn get(&self, key: &Key) -> Option<&Arc<Entry>> {
        self.objects.get(key)
    }

    /// Says whether a key's manifest is gone for certain, and since when.
    pub fn removed(&self, key: &Key) -> Option<&Removed> {
        match self.objects.get(key) {
            Some(entry) => entry.removed.as_ref(),
            None => self.orphans.get(key)?.removed.as_ref(),
        }
    }

    /// Returns what is wrong now with the file of a key's last good object.
    pub fn problems_of(&self, key: &Key) -> &[Problem] {
        let path = self.objects.get(key).map(|entry| &entry.object.path);
        path.and_then(|path| self.problems.get(path)).map_or(&[], Vec::as_slice)
    }

    /// Returns the `Network` of this name, if the repository holds one.
    ///
    /// One that is removed counts until it is forgotten, so that its workspaces do not change
    /// their meaning while it leaves.
    pub fn network(&self, name: &str) -> Option<&Object> {
        Some(&self.objects.get(&Key::new(ObjectKind::Network, name))?.object)
    }
}

/// Hands out the newest snapshot; cheap to clone, for any number of threads.
#[derive(Debug, Clone, Default)]
pub struct Reader(Arc<RwLock<Arc<Snapshot>>>);

impl Reader {
    /// Returns the newest snapshot; it stays as it is while it is held.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn publish(&self, snapshot: Snapshot) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(snapshot);
    }
}
