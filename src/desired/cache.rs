//! Folds change sets into the snapshot.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::generation::{appear, succeed};
use super::guard::Census;
use super::{
    Change, Changes, Entry, Frozen, Guard, Known, NotFrozen, Orphan, Reader, Removed, Snapshot,
};
use crate::manifest::{Files, Object, holdings};
use crate::model::policy::DeletionPolicy;
use crate::model::tree::SourceHealth;
use crate::model::{ChangeSet, Generation, Key, ObjectKind, Revision};

/// Keeps the last good object of every key; see the [module](super) for what it guarantees.
#[derive(Debug, Clone)]
pub struct Cache {
    files: Files,
    guard: Guard,
    /// Keys in the snapshot that have no object in the files now.
    absent: BTreeSet<Key>,
    /// What objects held at the last pass before the start, of what would be deleted.
    held: BTreeMap<Key, BTreeSet<String>>,
    /// Keys whose newest version is not taken yet, because sections left it.
    losing: BTreeMap<Key, BTreeSet<String>>,
    /// Keys whose removal a person confirmed before the start.
    confirmed: BTreeSet<Key>,
    /// The last generation of objects that have been forgotten.
    forgotten: BTreeMap<Key, Generation>,
    working: Snapshot,
    reader: Reader,
}

impl Cache {
    /// Makes an empty cache.
    pub fn new(guard: Guard) -> Self {
        Self {
            files: Files::default(),
            guard,
            absent: BTreeSet::new(),
            held: BTreeMap::new(),
            losing: BTreeMap::new(),
            confirmed: BTreeSet::new(),
            forgotten: BTreeMap::new(),
            working: Snapshot::default(),
            reader: Reader::default(),
        }
    }

    /// Returns a cache of its own that begins where this one is; neither sees what the other takes over.
    #[must_use]
    pub fn fork(&self) -> Self {
        let fork = Self { reader: Reader::default(), ..self.clone() };
        fork.publish();
        fork
    }

    /// Takes over what the store remembers; called once, before the first change set.
    pub fn restore(&mut self, records: impl IntoIterator<Item = Known>) {
        let orphans = Arc::make_mut(&mut self.working.orphans);
        orphans.extend(records.into_iter().map(|known| {
            let Known { key, generation, digest, revision, was_removed } = known;
            (key, Orphan { generation, digest, revision, removed: None, was_removed })
        }));
        self.publish();
    }

    /// Takes over whose removal a person has confirmed: if they are still gone from the first full
    /// list, nobody is asked again.
    pub fn restore_confirmed(&mut self, keys: impl IntoIterator<Item = Key>) {
        self.confirmed.extend(keys);
    }

    /// Takes over what objects own that would be deleted if their sections left, so that sections
    /// that left while no agent ran are counted too.
    pub fn restore_holdings(&mut self, held: impl IntoIterator<Item = (Key, BTreeSet<String>)>) {
        self.held.extend(held);
    }

    /// Takes over how far the generations of forgotten objects had come.
    pub fn restore_generations(&mut self, last: impl IntoIterator<Item = (Key, Generation)>) {
        self.forgotten.extend(last);
    }

    /// Returns the handle through which others read the newest snapshot.
    pub fn reader(&self) -> Reader {
        self.reader.clone()
    }

    /// Returns the newest snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.reader.snapshot()
    }

    /// Notes how the repository stands.
    pub fn source(&mut self, health: SourceHealth) {
        self.working.source = health;
        self.publish();
    }

    /// Takes the set of frozen removals that `digest` names as meant.
    ///
    /// # Errors
    ///
    /// When something else, or nothing, is frozen by now.
    pub fn confirm(&mut self, digest: &str) -> Result<Changes, NotFrozen> {
        let digest = digest.to_owned();
        let frozen = match self.working.frozen.take() {
            Some(frozen) if frozen.digest == digest => frozen,
            Some(other) => {
                let current = other.digest.clone();
                self.working.frozen = Some(other);
                return Err(NotFrozen::Other { digest, current });
            }
            None => return Err(NotFrozen::Nothing { digest }),
        };
        let mut changes = Changes::default();
        let removed = Removed { revision: frozen.revision.clone(), confirmed: true };
        let is_gone = |key: &&Key| !frozen.losing.contains_key(*key);
        let gone = frozen.keys.iter().filter(is_gone).cloned().collect();
        self.remove(&gone, &removed, &mut changes);
        let newest = self.working.revision.clone().unwrap_or_else(|| frozen.revision.clone());
        self.take_newest(&newest, &mut changes);
        self.wake_dependents(&mut changes);
        self.publish();
        Ok(changes)
    }

    /// Forgets a removed object: what it asked for has been dealt with.
    ///
    /// Returns false, and keeps it, when it is not removed (any more).
    pub fn forget(&mut self, key: &Key) -> bool {
        if self.working.removed(key).is_none() {
            return false;
        }
        let entry = Arc::make_mut(&mut self.working.objects).remove(key);
        let generation = match entry {
            Some(entry) => Some(entry.generation),
            None => Arc::make_mut(&mut self.working.orphans).remove(key).map(|o| o.generation),
        };
        self.forgotten.extend(generation.map(|generation| (key.clone(), generation)));
        self.absent.remove(key);
        self.held.remove(key);
        self.publish();
        true
    }

    /// Takes over what a commit changed.
    pub fn apply(&mut self, change_set: &ChangeSet) -> Changes {
        let touched = self.files.apply(change_set);
        let revision = &change_set.revision;
        let mut changes = Changes::default();
        self.working.revision = Some(revision.clone());
        self.working.synced |= change_set.full;
        for key in &touched {
            self.losing.remove(key);
            if let Some(object) = self.files.object(key).cloned() {
                match self.lost(&object) {
                    lost if lost.is_empty() => self.list(object, revision, &mut changes),
                    lost => drop(self.losing.insert(key.clone(), lost)),
                }
            } else if self.working.objects.contains_key(key) {
                self.absent.insert(key.clone());
            }
        }
        let frozen = self.working.frozen.clone();
        self.settle(revision, &mut changes);
        self.tell_frozen(frozen.as_deref(), &mut changes);
        self.tell_problems(&touched, &mut changes);
        self.wake_dependents(&mut changes);
        self.publish();
        changes
    }

    /// Takes an object that a file declares.
    fn list(&mut self, object: Arc<Object>, revision: &Revision, changes: &mut Changes) {
        let key = object.key.clone();
        let is_back = self.is_back(&key);
        self.absent.remove(&key);
        self.confirmed.remove(&key);
        let (entry, change, is_new) = match self.working.objects.get(&key) {
            Some(entry) if entry.removed.is_none() && entry.object == object => return,
            Some(entry) => succeed(entry, object, revision),
            None => {
                let orphan = match self.working.orphans.contains_key(&key) {
                    true => Arc::make_mut(&mut self.working.orphans).remove(&key),
                    false => None,
                };
                let last = self.forgotten.remove(&key).unwrap_or_default();
                appear(orphan, last, object, revision)
            }
        };
        if is_new || is_back {
            changes.persist.push(Known {
                key: key.clone(),
                generation: entry.generation,
                digest: Arc::clone(&entry.object.digest),
                revision: Some(entry.revision.clone()),
                was_removed: false,
            });
        }
        if let Some(change) = change {
            changes.keys.insert(key.clone(), change);
        }
        Arc::make_mut(&mut self.working.objects).insert(key, Arc::new(entry));
    }

    /// Tells whether an object comes back that was found gone: the store has to know before a pass does,
    /// which may not come to its end.
    fn is_back(&self, key: &Key) -> bool {
        let orphan = self.working.orphans.get(key);
        self.working.removed(key).is_some() || orphan.is_some_and(|orphan| orphan.was_removed)
    }

    /// Decides about every known object that has none in the files.
    fn settle(&mut self, revision: &Revision, changes: &mut Changes) {
        if !self.working.synced {
            return self.take_newest(revision, changes);
        }
        let (unsure, claims) = (self.files.is_unsure(), self.files.claims());
        self.working.unsure = unsure;
        self.reinstate(&claims, changes);
        let missing = self.absent.iter().chain(self.working.orphans.keys());
        let is_open =
            |key: &&Key| self.working.removed(key).is_none() && !self.losing.contains_key(*key);
        let open = missing.filter(is_open).cloned();
        let (kept, vanished): (BTreeSet<Key>, BTreeSet<Key>) =
            open.partition(|key| unsure || claims.contains(key));
        if *self.working.kept != kept {
            self.working.kept = Arc::new(kept);
        }
        let (confirmed, vanished): (BTreeSet<Key>, BTreeSet<Key>) =
            vanished.into_iter().partition(|key| self.confirmed.contains(key));
        self.remove(&confirmed, &Removed { revision: revision.clone(), confirmed: true }, changes);
        self.judge(vanished, revision, changes);
    }

    /// Takes what vanished as removed, and what lost sections as it is now, or neither.
    fn judge(&mut self, vanished: BTreeSet<Key>, revision: &Revision, changes: &mut Changes) {
        let leaving = vanished.len() + self.losing.len();
        let before = self.working.frozen.take();
        let Some(reason) = self.guard.objects_to(leaving, self.census()) else {
            let removed = Removed { revision: revision.clone(), confirmed: false };
            self.remove(&vanished, &removed, changes);
            return self.take_newest(revision, changes);
        };
        let frozen = Frozen::new(vanished, self.losing.clone(), reason, revision.clone());
        let is_same =
            |before: &Arc<Frozen>| before.digest == frozen.digest && before.reason == frozen.reason;
        self.working.frozen = Some(before.filter(is_same).unwrap_or_else(|| Arc::new(frozen)));
    }

    /// Takes the versions that were held back.
    fn take_newest(&mut self, revision: &Revision, changes: &mut Changes) {
        for key in std::mem::take(&mut self.losing).into_keys() {
            if let Some(object) = self.files.object(&key).cloned() {
                self.list(object, revision, changes);
            }
        }
    }

    /// Returns what would be deleted if an object were taken as it is declared now.
    ///
    /// What a policy retains is not lost, and what a person confirmed is meant.
    fn lost(&self, object: &Object) -> BTreeSet<String> {
        let key = &object.key;
        let retains = |object: &Object| object.policy().deletion == DeletionPolicy::Retain;
        let before = match self.working.objects.get(key) {
            Some(entry) if entry.removed.is_some() || retains(&entry.object) => BTreeSet::new(),
            Some(entry) => holdings(&entry.object),
            None => self.held.get(key).cloned().unwrap_or_default(),
        };
        match retains(object) || self.confirmed.contains(key) {
            true => BTreeSet::new(),
            false => &before - &holdings(object),
        }
    }

    fn census(&self) -> Census {
        let (objects, orphans) = (&self.working.objects, &self.working.orphans);
        let missing = self.absent.iter().chain(orphans.keys());
        let removed = missing.filter_map(|key| self.working.removed(key));
        Census {
            known: objects.len() + orphans.len(),
            listed: objects.len() - self.absent.len(),
            leaving: removed.filter(|removed| !removed.confirmed).count(),
        }
    }

    /// Cancels the removal of keys that a file names again, even if it cannot be taken.
    fn reinstate(&mut self, claims: &BTreeSet<Key>, changes: &mut Changes) {
        let back = claims.iter().filter(|key| self.working.removed(key).is_some());
        for key in back.cloned().collect::<Vec<_>>() {
            self.mark(&key, None);
            changes.keys.insert(key, Change::Returned);
        }
    }

    fn remove(&mut self, keys: &BTreeSet<Key>, removed: &Removed, changes: &mut Changes) {
        for key in keys {
            self.mark(key, Some(removed.clone()));
            changes.keys.insert(key.clone(), Change::Vanished);
        }
    }

    fn mark(&mut self, key: &Key, removed: Option<Removed>) {
        if let Some(entry) = self.working.objects.get(key) {
            let entry = Entry { removed, ..Entry::clone(entry) };
            Arc::make_mut(&mut self.working.objects).insert(key.clone(), Arc::new(entry));
        } else if let Some(orphan) = Arc::make_mut(&mut self.working.orphans).get_mut(key) {
            orphan.removed = removed;
        }
    }

    /// Adds the keys that are frozen and were not, or the other way round.
    fn tell_frozen(&self, before: Option<&Frozen>, changes: &mut Changes) {
        let none = BTreeSet::new();
        let before = before.map_or(&none, |frozen| &frozen.keys);
        let now = self.working.frozen.as_ref().map_or(&none, |frozen| &frozen.keys);
        for key in before.symmetric_difference(now) {
            changes.keys.entry(key.clone()).or_insert(Change::Frozen);
        }
    }

    /// Replaces the problems, and adds the keys whose file has others than before.
    fn tell_problems(&mut self, touched: &BTreeSet<Key>, changes: &mut Changes) {
        let (before, now) = (self.snapshot(), self.files.problems_by_path());
        let differ = *before.problems != now;
        if differ {
            self.working.problems = Arc::new(now);
        }
        // An object that moved to another file has the problems of that file, even if they are old.
        let keys: Vec<&Key> =
            if differ { self.working.objects.keys().collect() } else { touched.iter().collect() };
        for key in keys {
            if before.problems_of(key) != self.working.problems_of(key) {
                changes.keys.entry(key.clone()).or_insert(Change::Problems);
            }
        }
    }

    /// Adds the objects that name one which changed.
    fn wake_dependents(&self, changes: &mut Changes) {
        let changed: BTreeSet<Key> = changes
            .keys
            .iter()
            .filter(|(_, change)| {
                !matches!(change, Change::Annotations | Change::Problems | Change::Frozen)
            })
            .map(|(key, _)| key.clone())
            .collect();
        if changed.is_empty() {
            return;
        }
        for (key, entry) in self.working.objects.iter() {
            let names_one = entry.object.named().any(|other| changed.contains(other));
            if names_one || network_of(&entry.object).is_some_and(|it| changed.contains(&it)) {
                changes.keys.entry(key.clone()).or_insert(Change::Dependency);
            }
        }
    }

    fn publish(&self) {
        self.reader.publish(self.working.clone());
    }
}

/// Returns the network that an object lives in.
fn network_of(object: &Object) -> Option<Key> {
    Some(Key::new(ObjectKind::Network, object.network()?))
}
