//! The files of a repository, parsed: a pure cache that follows change sets.
//!
//! In: a [`ChangeSet`]. Out: the object in force of every key, all problems, and the keys that were
//! touched.
//!
//! Invariants: only what changed is parsed; a file that breaks, is not read, or makes the reader panic
//! keeps the objects of its last good version and costs no other file its own; a file that is removed loses them; an object that two files declare stays
//! the one that was in force before, and when there was none, neither is taken. It does not decide
//! whether a vanished object is removed: [`Files::claims`] and [`Files::is_unsure`] say what the files
//! that cannot be read may hold.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use super::Object;
use super::neighbours::strangers;
use super::parse::{Parsed, failed, parse, refused};
use super::placed::at_finding;
use super::references::across::{Told, across};
use super::rivals::{Twin, duplicate, twins};
use crate::model::tree::Content;
use crate::model::{ChangeSet, Entry, Finding, Key, Problem};

/// From this many changed files on, they are parsed by several threads.
const MANY: usize = 64;

/// Follows the manifest files of a repository.
#[derive(Debug, Clone, Default)]
pub struct Files {
    files: BTreeMap<Arc<str>, File>,
    /// The files whose last good version declares a key, in their order.
    holders: BTreeMap<Key, Vec<Arc<str>>>,
    /// The file whose object is in force.
    in_force: BTreeMap<Key, Arc<str>>,
    /// What is told of keys that several files declare.
    contested: BTreeMap<Key, Vec<Problem>>,
}

#[derive(Debug, Clone)]
struct File {
    entry: Entry,
    /// What the file says now.
    now: Parsed,
    /// The objects of its last good version.
    good: Vec<Arc<Object>>,
}

impl File {
    fn object(&self, key: &Key) -> Option<&Arc<Object>> {
        self.good.iter().find(|object| object.key == *key)
    }

    fn keys(&self) -> impl Iterator<Item = &Key> {
        self.good.iter().map(|object| &object.key)
    }
}

impl Files {
    /// Takes over what a commit changed and returns the keys whose object appeared, changed or
    /// vanished.
    #[must_use = "the keys are what is to be looked at"]
    pub fn apply(&mut self, changes: &ChangeSet) -> BTreeSet<Key> {
        self.apply_with(changes, &parse)
    }

    fn apply_with(&mut self, changes: &ChangeSet, parse: &Parse) -> BTreeSet<Key> {
        let gone = self.gone(changes);
        let changed: Vec<(&Arc<str>, &Entry)> =
            changes.changed.iter().filter(|(path, entry)| self.differs(path, entry)).collect();
        let parsed = parse_all(&changed, parse);
        let keys =
            self.concerned(gone.iter().chain(changed.iter().map(|(path, _)| *path)), &parsed);
        let in_force = |key: &Key| Some((key.clone(), Arc::clone(self.object(key)?)));
        let before: BTreeMap<Key, Arc<Object>> = keys.iter().filter_map(in_force).collect();
        for path in gone {
            self.release(&path);
            self.files.remove(&path);
        }
        for ((path, entry), now) in changed.into_iter().zip(parsed) {
            self.replace(path, entry, now);
        }
        self.settle(&keys, &before)
    }

    /// Iterates over the objects in force, in the order of their keys.
    pub fn objects(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.in_force.keys().filter_map(|key| self.object(key))
    }

    /// Returns the object in force of a key.
    pub fn object(&self, key: &Key) -> Option<&Arc<Object>> {
        self.files.get(self.in_force.get(key)?)?.object(key)
    }

    /// Returns every problem, in the order of the files.
    pub fn problems(&self) -> Vec<Problem> {
        let of_files = self.files.values().flat_map(|file| &file.now.problems);
        let mut all: Vec<Problem> =
            of_files.chain(self.contested.values().flatten()).cloned().collect();
        all.extend(twins(self.objects()).iter().filter_map(|found| self.tell_twin(found)));
        let across = across(self.objects(), |key| self.object(key)).into_iter();
        all.extend(across.filter_map(|told| self.tell_reference(told)));
        let strangers = strangers(self.objects());
        all.extend(strangers.iter().filter_map(|it| it.problem(self.bytes_of(it.object)?)));
        all.sort();
        all.dedup();
        all
    }

    fn tell_twin(&self, found: &Twin<'_>) -> Option<Problem> {
        found.problem(self.bytes_of(found.object)?)
    }

    fn tell_reference(&self, told: Told<'_>) -> Option<Problem> {
        let object = told.object;
        let finding = told.placed(|object, finding| {
            let problem = self.problem_at(object, finding.clone())?;
            Some(problem.position)
        });
        self.problem_at(object, finding)
    }

    fn problem_at(&self, object: &Object, finding: Finding) -> Option<Problem> {
        at_finding(&object.path, self.bytes_of(object)?, &object.key, finding)
    }

    /// Returns what the file of an object holds now.
    fn bytes_of(&self, object: &Object) -> Option<&[u8]> {
        match &self.files.get(&object.path)?.entry.content {
            Content::Bytes(bytes) => Some(bytes),
            Content::Refused(_) => None,
        }
    }

    /// Returns every problem by file.
    pub fn problems_by_path(&self) -> BTreeMap<Arc<str>, Vec<Problem>> {
        let mut found: BTreeMap<Arc<str>, Vec<Problem>> = BTreeMap::new();
        for problem in self.problems() {
            found.entry(Arc::clone(&problem.position.path)).or_default().push(problem);
        }
        found
    }

    /// Returns the keys that a file names which cannot be taken, or that several files declare:
    /// none of them is removed from Git, whether or not an object is in force.
    pub fn claims(&self) -> BTreeSet<Key> {
        let broken = self.files.values().filter(|file| file.now.is_broken());
        let named = broken.flat_map(|file| file.now.named.iter().chain(file.keys()));
        named.chain(self.contested.keys()).cloned().collect()
    }

    /// Tells whether a file that cannot be read may declare any object.
    pub fn is_unsure(&self) -> bool {
        self.files.values().any(|file| file.now.unsure)
    }

    fn differs(&self, path: &Arc<str>, entry: &Entry) -> bool {
        self.files.get(path).is_none_or(|file| file.entry != *entry)
    }

    fn gone(&self, changes: &ChangeSet) -> Vec<Arc<str>> {
        let absent = |path: &&Arc<str>| changes.full && !changes.changed.contains_key(*path);
        let mut gone: Vec<_> = self.files.keys().filter(absent).cloned().collect();
        gone.extend(changes.removed.iter().cloned());
        gone
    }

    /// Returns the keys that files declared before they change, and those that they declare then.
    fn concerned<'a>(
        &self,
        paths: impl Iterator<Item = &'a Arc<str>>,
        parsed: &[Parsed],
    ) -> BTreeSet<Key> {
        let files = paths.filter_map(|path| self.files.get(path));
        let before = files.flat_map(File::keys);
        let after = parsed.iter().flat_map(|parsed| parsed.named.iter());
        before.chain(after).cloned().collect()
    }

    /// Takes a file's objects away from it.
    fn release(&mut self, path: &Arc<str>) -> Vec<Arc<Object>> {
        let held = self.files.get_mut(path).map(|file| std::mem::take(&mut file.good));
        let held = held.unwrap_or_default();
        for object in &held {
            if let Some(holders) = self.holders.get_mut(&object.key) {
                holders.retain(|holder| holder != path);
            }
        }
        held
    }

    fn replace(&mut self, path: &Arc<str>, entry: &Entry, now: Parsed) {
        let old = self.release(path);
        let good = if now.is_broken() { old } else { now.objects.clone() };
        for object in &good {
            self.hold(&object.key, path);
        }
        self.files.insert(Arc::clone(path), File { entry: entry.clone(), now, good });
    }

    /// Notes that a file declares a key; nearly every key has one file.
    fn hold(&mut self, key: &Key, path: &Arc<str>) {
        let holders = self.holders.entry(key.clone()).or_insert_with(|| Vec::with_capacity(1));
        if let Err(place) = holders.binary_search(path) {
            holders.insert(place, Arc::clone(path));
        }
    }

    /// Decides for every key that may have changed which file's object is in force.
    fn settle(
        &mut self,
        keys: &BTreeSet<Key>,
        before: &BTreeMap<Key, Arc<Object>>,
    ) -> BTreeSet<Key> {
        let mut touched = BTreeSet::new();
        for key in keys {
            let was_contested = self.contested.contains_key(key);
            self.settle_one(key);
            let same = match (before.get(key), self.object(key)) {
                (Some(old), Some(new)) => old == new,
                (None, None) => true,
                _ => false,
            };
            if !same || was_contested != self.contested.contains_key(key) {
                touched.insert(key.clone());
            }
        }
        touched
    }

    fn settle_one(&mut self, key: &Key) {
        let holders = self.holders.get(key).cloned().unwrap_or_default();
        if holders.is_empty() {
            self.holders.remove(key);
        }
        let sure: Vec<&Arc<str>> = holders.iter().filter(|path| self.declares(path, key)).collect();
        let contenders: Vec<&Arc<str>> =
            if sure.is_empty() { holders.iter().collect() } else { sure };
        let current = self.in_force.get(key).filter(|path| contenders.contains(path)).cloned();
        let winner = match (current, contenders.as_slice()) {
            (Some(current), _) => Some(current),
            (None, [one]) => Some(Arc::clone(one)),
            (None, _) => None,
        };
        let told = match contenders.as_slice() {
            [] | [_] => Vec::new(),
            several => self.contest(key, several, winner.as_ref()),
        };
        match told.is_empty() {
            true => self.contested.remove(key),
            false => self.contested.insert(key.clone(), told),
        };
        match winner {
            Some(path) => self.in_force.insert(key.clone(), path),
            None => self.in_force.remove(key),
        };
    }

    /// Tells whether a file declares a key now, as far as it can be read.
    fn declares(&self, path: &Arc<str>, key: &Key) -> bool {
        self.files.get(path).is_some_and(|file| {
            !file.now.is_broken() || file.now.unsure || file.now.named.contains(key)
        })
    }

    fn contest(&self, key: &Key, paths: &[&Arc<str>], winner: Option<&Arc<str>>) -> Vec<Problem> {
        let place = |path: &&Arc<str>| {
            let others: Vec<&str> =
                paths.iter().filter(|other| *other != path).map(|other| &***other).collect();
            let Content::Bytes(bytes) = &self.files.get(*path)?.entry.content else { return None };
            duplicate(path, bytes, key, &others, winner.map(|path| &**path))
        };
        paths.iter().filter_map(place).collect()
    }
}

/// Reads one file, given its path and its bytes.
type Parse = dyn Fn(&str, &[u8]) -> Parsed + Sync;

fn parse_all(changed: &[(&Arc<str>, &Entry)], parse: &Parse) -> Vec<Parsed> {
    let read = |(path, entry): &(&Arc<str>, &Entry)| match &entry.content {
        // The reader holds nothing that outlives a call, so a panic leaves nothing half done.
        Content::Bytes(bytes) => {
            catch_unwind(AssertUnwindSafe(|| parse(path, bytes))).unwrap_or_else(|_| failed(path))
        }
        Content::Refused(reason) => refused(path, reason),
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    if changed.len() < MANY || threads == 1 {
        return changed.iter().map(read).collect();
    }
    let share = changed.len().div_ceil(threads);
    std::thread::scope(|scope| {
        let workers: Vec<_> = changed
            .chunks(share)
            .map(|chunk| scope.spawn(move || chunk.iter().map(read).collect::<Vec<_>>()))
            .collect();
        let results = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        results.flatten().collect()
    })
}

#[cfg(test)]
mod tests;
