//! The laws of the cache, over random histories of a folder with restarts in between.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::folder::{Doc, Scene};
use super::*;
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

/// A scene, and what a store would hold.
struct History {
    scene: Scene,
    store: BTreeMap<Key, Known>,
    listed: bool,
}

impl History {
    fn run(&mut self, step: Step) {
        match step {
            Step::Commit(edits) if self.listed => {
                self.edit(edits);
                let before = self.scene.cache.snapshot();
                let changes = self.scene.commit();
                self.absorb(&before, changes);
            }
            Step::Commit(edits) | Step::Relist(edits) => {
                self.edit(edits);
                self.relist();
            }
            Step::Restart => {
                let records = self.store.values().cloned().collect::<Vec<_>>();
                self.scene = Scene::restarted(self.scene.folder.clone(), records);
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
                Edit::Spoil(path, name) => folder.spoil_file(PATHS[path], &[NAMES[name]]),
                Edit::Delete(path) => folder.delete(PATHS[path]),
            };
        }
    }

    fn relist(&mut self) {
        let before = self.scene.cache.snapshot();
        let changes = self.scene.list();
        self.listed = true;
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
            self.store.remove(key);
        }
    }

    /// Persists what is to be persisted and holds the step against the laws.
    fn absorb(&mut self, before: &Snapshot, changes: Changes) {
        let after = self.scene.cache.snapshot();
        for known in &changes.persist {
            let last = self.store.get(&known.key).map_or(0, |last| last.generation.0);
            assert_eq!(
                known.generation,
                Generation(last + 1),
                "{} skipped or went back",
                known.key
            );
            self.store.insert(known.key.clone(), known.clone());
        }
        self.the_store_and_the_snapshot_agree(&after);
        self.what_the_folder_declares_is_in_force(&after);
        self.what_is_removed_was_gone_for_certain(before, &after);
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

    fn what_the_folder_declares_is_in_force(&self, after: &Snapshot) {
        for (key, object) in self.scene.folder.objects() {
            let entry = after.get(&key).unwrap();
            assert_eq!(entry.object, object);
            assert_eq!(entry.removed, None);
        }
    }

    fn what_is_removed_was_gone_for_certain(&self, before: &Snapshot, after: &Snapshot) {
        let declared = self.scene.folder.objects();
        let new = removed_keys(after).into_iter().filter(|key| before.removed(key).is_none());
        let (confirmed, new): (Vec<Key>, Vec<Key>) =
            new.partition(|key| after.removed(key).unwrap().confirmed);
        assert!(confirmed.iter().chain(&new).all(|key| !declared.contains_key(key)));
        if !new.is_empty() {
            assert!(self.listed && !declared.is_empty() && new.len() <= 5);
        }
        let unsure = after.kept.iter().chain(after.frozen.iter().flat_map(|frozen| &frozen.keys));
        assert!(unsure.clone().all(|key| after.removed(key).is_none()));
        let missing = self.store.keys().filter(|key| !declared.contains_key(*key)).count();
        assert_eq!(missing, removed_keys(after).len() + unsure.count(), "every key has a fate");
        assert!(!self.scene.folder.is_readable() || after.kept.is_empty());
    }
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
        let same = same && before.problems_of(key) == after.problems_of(key);
        assert_eq!(!same, changes.keys.contains_key(key), "{key}: {:?}", changes.keys.get(key));
    }
}

proptest! {
    #[test]
    fn no_history_loses_an_object_or_removes_one_without_certainty(
        steps in prop::collection::vec(step(), 1..40),
    ) {
        let mut history =
            History { scene: Scene::new(), store: BTreeMap::new(), listed: false };
        for step in steps {
            history.run(step);
        }
    }

    #[test]
    fn a_history_and_its_last_tree_read_at_once_declare_the_same_objects(
        steps in prop::collection::vec(prop::collection::vec(edit(), 0..4), 1..20),
    ) {
        let mut history =
            History { scene: Scene::new(), store: BTreeMap::new(), listed: false };
        for edits in steps {
            history.run(Step::Commit(edits));
        }
        let mut fresh = Scene::restarted(history.scene.folder.clone(), []);
        let _ = fresh.list();
        let (long, short) = (history.scene.cache.snapshot(), fresh.cache.snapshot());
        for (key, entry) in short.objects.iter() {
            prop_assert_eq!(&long.get(key).unwrap().object, &entry.object);
        }
        for (key, entry) in long.objects.iter().filter(|(key, _)| short.get(key).is_none()) {
            let undecided = long.kept.contains(key)
                || long.frozen.as_ref().is_some_and(|frozen| frozen.keys.contains(key));
            prop_assert!(entry.removed.is_some() || undecided);
        }
        prop_assert_eq!(&long.problems, &short.problems);
    }
}
