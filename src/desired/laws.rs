//! The laws of the cache, over random histories of a folder with restarts in between.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::folder::{Doc, Scene};
use super::*;
use crate::manifest::{Object, Parsed};
use crate::model::{Generation, Key};

#[derive(Debug, Clone)]
enum Edit {
    Write(usize, Vec<(usize, u32)>),
    Break(usize),
    Spoil(usize, usize),
    Delete(usize),
}

#[derive(Debug, Clone)]
enum Step {
    Commit(Vec<Edit>),
    /// The source lists the folder anew, perhaps after edits that it missed.
    Relist(Vec<Edit>),
    Restart,
    Confirm,
    /// Forgets the n-th removed object.
    Forget(usize),
}

const PATHS: [&str; 5] = ["a.yaml", "b.yaml", "c/d.yaml", "e.yaml", "z.yaml"];
const NAMES: [&str; 8] = ["n0", "n1", "n2", "n3", "n4", "n5", "n6", "n7"];

fn edit() -> impl Strategy<Value = Edit> {
    let path = || 0..PATHS.len();
    let docs = prop::collection::vec((0..NAMES.len(), 1u32..4), 0..5);
    prop_oneof![
        6 => (path(), docs).prop_map(|(path, docs)| Edit::Write(path, docs)),
        1 => path().prop_map(Edit::Break),
        1 => (path(), 0..NAMES.len()).prop_map(|(path, name)| Edit::Spoil(path, name)),
        2 => path().prop_map(Edit::Delete),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let edits = || prop::collection::vec(edit(), 0..4);
    prop_oneof![
        8 => edits().prop_map(Step::Commit),
        2 => edits().prop_map(Step::Relist),
        1 => Just(Step::Restart),
        1 => Just(Step::Confirm),
        2 => (0usize..8).prop_map(Step::Forget),
    ]
}

/// A scene, what a store would hold, and what each file declared when it was last good.
struct History {
    scene: Scene,
    store: BTreeMap<Key, Known>,
    /// The last generations of objects that were forgotten.
    forgotten: BTreeMap<Key, Generation>,
    good: BTreeMap<Arc<str>, BTreeSet<Key>>,
    /// What each file says since the last read.
    parsed: BTreeMap<Arc<str>, Parsed>,
    listed: bool,
}

impl History {
    fn new() -> Self {
        Self {
            scene: Scene::new(),
            store: BTreeMap::new(),
            forgotten: BTreeMap::new(),
            good: BTreeMap::new(),
            parsed: BTreeMap::new(),
            listed: false,
        }
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Commit(edits) if self.listed => {
                self.edit(edits);
                self.read(Scene::commit);
            }
            Step::Commit(edits) | Step::Relist(edits) => {
                self.edit(edits);
                self.read(Scene::list);
            }
            Step::Restart => {
                let records = self.store.values().cloned().collect::<Vec<_>>();
                self.scene = Scene::restarted(self.scene.folder.clone(), records);
                self.scene.cache.restore_generations(self.forgotten.clone());
                self.good.clear();
                self.listed = false;
            }
            Step::Confirm => self.confirm(),
            Step::Forget(nth) => self.forget(nth),
        }
    }

    fn edit(&mut self, edits: Vec<Edit>) {
        let folder = &mut self.scene.folder;
        for edit in edits {
            match edit {
                Edit::Write(path, docs) => {
                    let docs =
                        docs.into_iter().map(|(n, content)| Doc::workspace(NAMES[n], content));
                    folder.write(PATHS[path], docs)
                }
                Edit::Break(path) => folder.break_file(PATHS[path], "broken"),
                Edit::Spoil(path, name) => folder.spoil_file(PATHS[path], NAMES[name]),
                Edit::Delete(path) => folder.delete(PATHS[path]),
            };
        }
    }

    fn read(&mut self, how: fn(&mut Scene) -> Changes) {
        let before = self.scene.cache.snapshot();
        let changes = how(&mut self.scene);
        self.listed = true;
        self.parsed = self.scene.folder.parsed();
        self.good.retain(|path, _| self.parsed.contains_key(path));
        for (path, parsed) in self.parsed.iter().filter(|(_, parsed)| !parsed.is_broken()) {
            let keys = parsed.objects.iter().map(|object| object.key.clone());
            self.good.insert(Arc::clone(path), keys.collect());
        }
        self.absorb(&before, changes);
    }

    fn confirm(&mut self) {
        let before = self.scene.cache.snapshot();
        if let Some(frozen) = before.frozen.clone() {
            let changes = self.scene.cache.confirm(&frozen.digest).unwrap();
            assert!(frozen.keys.iter().all(|key| changes.keys.contains_key(key)));
            self.absorb(&before, changes);
        }
    }

    fn forget(&mut self, nth: usize) {
        let removed = removed_keys(&self.scene.cache.snapshot());
        if let Some(key) = removed.get(nth) {
            assert!(self.scene.cache.forget(key));
            let known = self.store.remove(key).unwrap();
            self.forgotten.insert(key.clone(), known.generation);
        }
    }

    /// Persists what is to be persisted and holds the step against the laws.
    fn absorb(&mut self, before: &Snapshot, changes: Changes) {
        let after = self.scene.cache.snapshot();
        for known in &changes.persist {
            let last = self.store.get(&known.key);
            // What is back as it was is persisted too.
            let is_same = last.is_some_and(|last| last.digest == known.digest);
            let last = last.map(|last| last.generation);
            let last = last.or(self.forgotten.get(&known.key).copied()).map_or(0, |last| last.0);
            let next = Generation(if is_same { last } else { last + 1 });
            assert_eq!(known.generation, next, "{} skipped or went back", known.key);
            self.store.insert(known.key.clone(), known.clone());
        }
        self.the_store_and_the_snapshot_agree(&after);
        self.what_good_files_declare_is_in_force(&after);
        self.what_is_removed_was_gone_for_certain(before, &after);
        self.every_key_has_one_fate(&after);
        every_difference_is_reported(before, &after, &changes);
    }

    fn the_store_and_the_snapshot_agree(&self, after: &Snapshot) {
        for (key, known) in &self.store {
            let (generation, digest) = match after.get(key) {
                Some(entry) => (entry.generation, &entry.object.digest),
                None => (after.orphans[key].generation, &after.orphans[key].digest),
            };
            assert_eq!((generation, digest), (known.generation, &known.digest), "{key}");
        }
        assert_eq!(after.objects.len() + after.orphans.len(), self.store.len());
    }

    fn what_good_files_declare_is_in_force(&self, after: &Snapshot) {
        if self.parsed.values().any(Parsed::is_broken) {
            return;
        }
        for (key, object) in uncontested(&self.parsed) {
            let entry = after.get(&key).unwrap();
            assert_eq!((&entry.object, &entry.removed), (&object, &None));
        }
    }

    fn what_is_removed_was_gone_for_certain(&self, before: &Snapshot, after: &Snapshot) {
        let new = removed_keys(after).into_iter().filter(|key| before.removed(key).is_none());
        let unconfirmed: Vec<Key> =
            new.filter(|key| !after.removed(key).unwrap().confirmed).collect();
        assert!(unconfirmed.len() <= 5 && (self.listed || unconfirmed.is_empty()));
        let unsure = self.parsed.values().any(|parsed| parsed.unsure);
        assert!(unconfirmed.is_empty() || (!unsure && !self.good.is_empty()));
        for key in removed_keys(after) {
            let named = self.parsed.values().any(|parsed| parsed.named.contains(&key));
            assert!(!named && !self.is_held(&key), "{key} is in a file");
        }
    }

    fn every_key_has_one_fate(&self, after: &Snapshot) {
        let frozen = |key| after.frozen.as_ref().is_some_and(|frozen| frozen.keys.contains(key));
        for key in self.store.keys() {
            let fates = [after.removed(key).is_some(), after.kept.contains(key), frozen(key)];
            let fates = fates.into_iter().filter(|fate| *fate).count();
            assert!(fates == 1 || (fates == 0 && self.is_held(key)), "{key} has {fates} fates");
        }
    }

    /// Tells whether a file that is still there declared the key when it was last good.
    fn is_held(&self, key: &Key) -> bool {
        self.good.values().any(|keys| keys.contains(key))
    }
}

/// Returns the objects that exactly one good file declares.
fn uncontested(files: &BTreeMap<Arc<str>, Parsed>) -> BTreeMap<Key, Arc<Object>> {
    let mut found: BTreeMap<Key, Vec<&Arc<Object>>> = BTreeMap::new();
    for object in files.values().flat_map(|parsed| &parsed.objects) {
        found.entry(object.key.clone()).or_default().push(object);
    }
    let single = found.into_iter().filter(|(_, objects)| objects.len() == 1);
    single.map(|(key, objects)| (key, Arc::clone(objects[0]))).collect()
}

fn removed_keys(snapshot: &Snapshot) -> Vec<Key> {
    let keys = snapshot.objects.keys().chain(snapshot.orphans.keys());
    keys.filter(|key| snapshot.removed(key).is_some()).cloned().collect()
}

fn every_difference_is_reported(before: &Snapshot, after: &Snapshot, changes: &Changes) {
    for (key, entry) in after.objects.iter() {
        let same = before.get(key).is_some_and(|old| {
            old.generation == entry.generation
                && old.removed == entry.removed
                && old.object.annotations == entry.object.annotations
        });
        let frozen = |snapshot: &Snapshot| {
            snapshot.frozen.as_ref().is_some_and(|frozen| frozen.keys.contains(key))
        };
        let same = same && frozen(before) == frozen(after);
        let same = same && before.problems_of(key) == after.problems_of(key);
        assert_eq!(!same, changes.keys.contains_key(key), "{key}: {:?}", changes.keys.get(key));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_history_loses_an_object_or_removes_one_without_certainty(
        steps in prop::collection::vec(step(), 1..25),
    ) {
        let mut history = History::new();
        for step in steps {
            history.run(step);
        }
    }

    #[test]
    fn a_history_and_its_last_tree_read_at_once_declare_the_same_objects(
        steps in prop::collection::vec(prop::collection::vec(edit(), 0..4), 1..12),
    ) {
        let mut history = History::new();
        for edits in steps {
            history.run(Step::Commit(edits));
        }
        for (path, _) in history.parsed.iter().filter(|(_, file)| file.is_broken()) {
            history.scene.folder.write(path, []);
        }
        history.run(Step::Commit(Vec::new()));
        let mut fresh = Scene::restarted(history.scene.folder.clone(), []);
        let _ = fresh.list();
        let (long, short) = (history.scene.cache.snapshot(), fresh.cache.snapshot());
        for (key, entry) in short.objects.iter() {
            prop_assert_eq!(&long.get(key).unwrap().object, &entry.object);
        }
        for (key, object) in uncontested(&history.parsed) {
            prop_assert_eq!(&short.get(&key).unwrap().object, &object);
        }
    }
}
