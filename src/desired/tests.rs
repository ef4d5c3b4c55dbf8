//! The cache, commit by commit.

use std::sync::Arc;

use super::folder::{Doc, Scene};
use super::*;
use crate::model::tree::SourceHealth;
use crate::model::{Generation, Key, Revision, Severity};

fn key(name: &str) -> Key {
    Key::workspace(name)
}

/// Starts with one file per name, each with one workspace of content 1, read as a whole.
fn scene(names: &[&str]) -> Scene {
    let mut scene = Scene::new();
    for name in names {
        scene.folder.write(&format!("{name}.yaml"), [Doc::workspace(name, 1)]);
    }
    let _ = scene.list();
    scene
}

/// Starts with `count` workspaces `w000`, `w001`, ... in files of their own.
fn fleet(count: usize) -> Scene {
    let names: Vec<String> = (0..count).map(|n| format!("w{n:03}")).collect();
    scene(&names.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Deletes the files of the first `count` workspaces of a fleet, in one commit.
fn lose(scene: &mut Scene, count: usize) -> Changes {
    for n in 0..count {
        scene.folder.delete(&format!("w{n:03}.yaml"));
    }
    scene.commit()
}

fn generation(scene: &Scene, name: &str) -> u64 {
    scene.cache.snapshot().get(&key(name)).unwrap().generation.0
}

fn is_removed(scene: &Scene, name: &str) -> bool {
    scene.cache.snapshot().removed(&key(name)).is_some()
}

fn causes(changes: &Changes) -> Vec<(String, Change)> {
    changes.keys.iter().map(|(key, change)| (key.name.to_string(), *change)).collect()
}

fn record(name: &str, generation: u64, content: u32) -> Known {
    Known {
        key: key(name),
        generation: Generation(generation),
        digest: Doc::workspace(name, content).digest(),
        revision: Some(Revision::new("commit-old")),
        was_removed: false,
    }
}

#[test]
fn a_first_list_makes_generation_one_of_every_object_and_asks_to_persist_it() {
    let mut scene = Scene::new();
    scene.folder.write("a.yaml", [Doc::workspace("a", 7), Doc::workspace("b", 8)]);
    let changes = scene.list();
    assert_eq!(causes(&changes), [("a".into(), Change::Appeared), ("b".into(), Change::Appeared)]);
    let persist = changes.persist.iter().map(|known| (known.generation.0, known.digest.clone()));
    let digests = [Doc::workspace("a", 7).digest(), Doc::workspace("b", 8).digest()];
    assert_eq!(persist.collect::<Vec<_>>(), digests.map(|digest| (1, digest)));
    assert!(scene.cache.snapshot().synced);
}

#[test]
fn a_generation_grows_with_the_digest_and_keeps_the_commit_in_which_it_appeared() {
    let mut scene = scene(&["a", "b"]);
    scene.folder.write("a.yaml", [Doc::workspace("a", 2)]);
    let changes = scene.commit();
    assert_eq!(causes(&changes), [("a".into(), Change::Spec)]);
    let second = scene.revision();
    scene.folder.write("b.yaml", [Doc::workspace("b", 2)]);
    let _ = scene.commit();
    let snapshot = scene.cache.snapshot();
    let entry = snapshot.get(&key("a")).unwrap();
    assert_eq!((entry.generation, &entry.revision), (Generation(2), &second));
}

#[test]
fn an_annotation_wakes_the_key_and_makes_no_generation() {
    let mut scene = scene(&["a"]);
    scene.folder.write("a.yaml", [Doc::workspace("a", 1).noted("suspend")]);
    let changes = scene.commit();
    assert_eq!(causes(&changes), [("a".into(), Change::Annotations)]);
    assert_eq!((generation(&scene, "a"), changes.persist.len()), (1, 0));
}

#[test]
fn a_renamed_file_is_no_change_and_its_new_path_is_known() {
    let mut scene = scene(&["a", "b"]);
    scene.folder.delete("a.yaml").write("teams/a.yaml", [Doc::workspace("a", 1)]);
    assert_eq!(scene.commit(), Changes::default());
    assert_eq!(&*scene.cache.snapshot().get(&key("a")).unwrap().object.path, "teams/a.yaml");
}

#[test]
fn a_file_that_no_longer_parses_keeps_its_objects_and_tells_the_problem() {
    let mut scene = scene(&["a", "b"]);
    scene.folder.break_file("a.yaml", "key");
    let changes = scene.commit();
    assert_eq!(causes(&changes), [("a".into(), Change::Problems)]);
    let snapshot = scene.cache.snapshot();
    assert_eq!(snapshot.get(&key("a")).unwrap().generation, Generation(1));
    assert_eq!(snapshot.problems_of(&key("a"))[0].severity, Severity::Error);
    assert_eq!(snapshot.problems_of(&key("b")), []);
    assert_eq!(snapshot.removed(&key("a")), None);
}

#[test]
fn a_key_is_woken_when_another_thing_is_wrong_with_its_file_and_when_it_is_mended() {
    let mut scene = scene(&["a", "b"]);
    scene.folder.break_file("a.yaml", "first");
    let _ = scene.commit();
    scene.folder.break_file("a.yaml", "second");
    assert_eq!(causes(&scene.commit()), [("a".into(), Change::Problems)]);
    scene.folder.write("a.yaml", [Doc::workspace("a", 1)]);
    assert_eq!(causes(&scene.commit()), [("a".into(), Change::Problems)]);
    assert_eq!(generation(&scene, "a"), 1);
    assert_eq!(scene.commit(), Changes::default());
}

#[test]
fn an_object_that_leaves_a_readable_tree_is_removed_and_its_last_version_kept() {
    let mut scene = scene(&["a", "b"]);
    scene.folder.delete("a.yaml");
    assert_eq!(causes(&scene.commit()), [("a".into(), Change::Vanished)]);
    let snapshot = scene.cache.snapshot();
    let entry = snapshot.get(&key("a")).unwrap();
    assert_eq!(entry.removed, Some(Removed { revision: scene.revision(), confirmed: false }));
    assert_eq!(entry.object.digest, Doc::workspace("a", 1).digest());
    assert_eq!(scene.commit(), Changes::default());
}

#[test]
fn nothing_is_removed_while_a_file_of_which_nothing_is_known_may_hold_it() {
    let mut scene = scene(&["a", "b", "c"]);
    scene.folder.delete("a.yaml").break_file("moved.yaml", "tab");
    assert_eq!(scene.commit(), Changes::default());
    assert!(scene.cache.snapshot().kept.contains(&key("a")));
    scene.folder.write("moved.yaml", [Doc::workspace("other", 1)]);
    let changes = scene.commit();
    assert_eq!(changes.keys[&key("a")], Change::Vanished);
    assert!(scene.cache.snapshot().kept.is_empty());
}

#[test]
fn a_file_with_a_mistake_keeps_the_keys_that_it_names_and_no_others() {
    let mut scene = scene(&["a", "b", "c"]);
    scene.folder.delete("a.yaml").delete("b.yaml").spoil_file("moved.yaml", "a");
    assert_eq!(causes(&scene.commit()), [("b".into(), Change::Vanished)]);
    assert!(!is_removed(&scene, "a"));
}

#[test]
fn an_object_that_a_broken_file_used_to_hold_stays_even_if_the_file_names_another() {
    let mut scene = scene(&["a", "b"]);
    scene.folder.spoil_file("a.yaml", "other");
    let _ = scene.commit();
    assert!(!is_removed(&scene, "a"));
}

#[test]
fn a_removal_that_was_certain_is_not_undone_by_a_file_that_breaks_later() {
    let mut scene = scene(&["a", "b"]);
    scene.folder.delete("a.yaml");
    let _ = scene.commit();
    scene.folder.break_file("b.yaml", "tab");
    let _ = scene.commit();
    assert!(is_removed(&scene, "a"));
    assert!(!is_removed(&scene, "b"));
}

#[test]
fn an_object_that_returns_is_no_longer_removed_and_cannot_be_forgotten() {
    let mut scene = scene(&["a", "b"]);
    scene.folder.delete("a.yaml");
    let _ = scene.commit();
    scene.folder.write("back.yaml", [Doc::workspace("a", 2)]);
    let changes = scene.commit();
    assert_eq!(causes(&changes), [("a".into(), Change::Returned)]);
    assert_eq!((generation(&scene, "a"), changes.persist.len()), (2, 1));
    assert!(!scene.cache.forget(&key("a")));
    assert!(scene.cache.snapshot().get(&key("a")).is_some());
}

#[test]
fn that_an_object_is_back_as_it_was_is_persisted_also_after_a_restart() {
    let persisted = |changes: Changes| -> Vec<u64> {
        let of_a = changes.persist.iter().filter(|known| known.key == key("a"));
        of_a.map(|known| known.generation.0).collect()
    };
    let mut scene = scene(&["a", "b"]);
    scene.folder.delete("a.yaml");
    let _ = scene.commit();
    scene.folder.write("back.yaml", [Doc::workspace("a", 1)]);
    assert_eq!(persisted(scene.commit()), [1]);
    for (was_removed, expected) in [(true, vec![4]), (false, vec![])] {
        let known = Known { was_removed, ..record("a", 4, 1) };
        let mut scene = Scene::restarted(scene.folder.clone(), [known]);
        assert_eq!(persisted(scene.list()), expected);
    }
}

#[test]
fn an_object_is_no_longer_removed_when_a_file_names_it_that_cannot_be_taken() {
    let mut scene = scene(&["a", "b"]);
    scene.folder.delete("a.yaml");
    let _ = scene.commit();
    scene.folder.spoil_file("back.yaml", "a");
    assert_eq!(causes(&scene.commit()), [("a".into(), Change::Returned)]);
    assert!(!is_removed(&scene, "a") && scene.cache.snapshot().kept.contains(&key("a")));
}

#[test]
fn an_object_that_two_files_declare_stays_as_it_was_and_is_not_removed() {
    let mut scene = scene(&["a", "b"]);
    scene.folder.write("copy.yaml", [Doc::workspace("a", 2)]);
    assert_eq!(causes(&scene.commit()), [("a".into(), Change::Problems)]);
    assert_eq!((generation(&scene, "a"), is_removed(&scene, "a")), (1, false));
    scene.folder.delete("a.yaml");
    assert_eq!(causes(&scene.commit()), [("a".into(), Change::Spec)]);
    assert_eq!((generation(&scene, "a"), is_removed(&scene, "a")), (2, false));
}

#[test]
fn a_forgotten_object_is_gone_and_its_generations_go_on_when_it_is_declared_again() {
    let mut scene = scene(&["a", "b"]);
    scene.folder.write("a.yaml", [Doc::workspace("a", 2)]);
    let _ = scene.commit();
    scene.folder.delete("a.yaml");
    let _ = scene.commit();
    assert!(scene.cache.forget(&key("a")));
    assert!(scene.cache.snapshot().get(&key("a")).is_none());
    scene.folder.write("a.yaml", [Doc::workspace("a", 2)]);
    let changes = scene.commit();
    assert_eq!(causes(&changes), [("a".into(), Change::Appeared)]);
    assert_eq!((generation(&scene, "a"), changes.persist.len()), (3, 1));
}

#[test]
fn the_generations_of_a_forgotten_object_go_on_after_a_restart_too() {
    let mut scene = Scene::restarted(Default::default(), []);
    scene.cache.restore_generations([(key("a"), Generation(7))]);
    scene.folder.write("a.yaml", [Doc::workspace("a", 1)]);
    let _ = scene.list();
    assert_eq!(generation(&scene, "a"), 8);
}

#[test]
fn a_file_that_may_hold_anything_is_told_while_it_cannot_be_read() {
    let mut scene = scene(&["a", "b"]);
    assert!(!scene.cache.snapshot().unsure);
    scene.folder.break_file("c.yaml", "tab");
    let _ = scene.commit();
    assert!(scene.cache.snapshot().unsure);
    scene.folder.delete("c.yaml");
    let _ = scene.commit();
    assert!(!scene.cache.snapshot().unsure);
}

#[test]
fn a_restart_keeps_the_generation_of_what_did_not_change_and_raises_that_of_what_did() {
    let mut scene = Scene::restarted(Default::default(), [record("a", 4, 1), record("b", 6, 1)]);
    scene.folder.write("a.yaml", [Doc::workspace("a", 1)]);
    scene.folder.write("b.yaml", [Doc::workspace("b", 2)]);
    let changes = scene.list();
    assert_eq!((generation(&scene, "a"), generation(&scene, "b")), (4, 7));
    let persisted: Vec<&Key> = changes.persist.iter().map(|known| &known.key).collect();
    assert_eq!(persisted, [&key("b")]);
    let snapshot = scene.cache.snapshot();
    assert_eq!(snapshot.get(&key("a")).unwrap().revision.as_str(), "commit-old");
    assert_eq!(snapshot.get(&key("b")).unwrap().revision, scene.revision());
}

#[test]
fn an_object_of_the_store_is_removed_after_a_full_list_without_it_and_not_before() {
    let mut scene = Scene::restarted(Default::default(), [record("gone", 3, 1)]);
    scene.folder.write("a.yaml", [Doc::workspace("a", 1)]);
    let _ = scene.commit();
    assert!(!is_removed(&scene, "gone") && !scene.cache.snapshot().synced);
    let changes = scene.list();
    assert_eq!(changes.keys[&key("gone")], Change::Vanished);
    assert_eq!(scene.cache.snapshot().orphans[&key("gone")].generation, Generation(3));
    assert!(scene.cache.forget(&key("gone")));
    assert!(scene.cache.snapshot().orphans.is_empty());
}

#[test]
fn an_object_of_the_store_is_kept_while_the_first_list_has_a_file_that_cannot_be_read() {
    let mut scene = Scene::restarted(Default::default(), [record("a", 3, 1)]);
    scene.folder.write("b.yaml", [Doc::workspace("b", 1)]).break_file("a.yaml", "tab");
    let _ = scene.list();
    assert!(!is_removed(&scene, "a") && scene.cache.snapshot().kept.contains(&key("a")));
    scene.folder.write("a.yaml", [Doc::workspace("a", 1)]);
    let _ = scene.commit();
    assert_eq!(generation(&scene, "a"), 3);
}

#[test]
fn five_objects_of_a_small_fleet_may_vanish_at_once_and_six_are_frozen() {
    let mut five = fleet(12);
    assert_eq!(lose(&mut five, 5).keys.len(), 5);
    assert!(five.cache.snapshot().frozen.is_none());

    let mut six = fleet(12);
    let woken = causes(&lose(&mut six, 6));
    assert!(woken.len() == 6 && woken.iter().all(|(_, change)| *change == Change::Frozen));
    let frozen = six.cache.snapshot().frozen.clone().unwrap();
    assert_eq!((frozen.keys.len(), frozen.reason), (6, FreezeReason::TooMany));
    assert!(!is_removed(&six, "w000"));
}

#[test]
fn a_fifth_of_a_large_fleet_may_vanish_at_once_and_one_more_is_frozen() {
    let mut fifth = fleet(100);
    assert_eq!(lose(&mut fifth, 20).keys.len(), 20);
    let mut more = fleet(100);
    let _ = lose(&mut more, 21);
    assert_eq!(more.cache.snapshot().frozen.as_ref().unwrap().keys.len(), 21);
}

#[test]
fn removals_that_are_not_finished_count_when_more_objects_vanish() {
    let mut scene = fleet(12);
    let _ = lose(&mut scene, 5);
    let _ = lose(&mut scene, 6);
    let frozen = scene.cache.snapshot().frozen.clone().unwrap();
    assert_eq!(frozen.keys, [key("w005")].into());
    assert!(is_removed(&scene, "w004") && !is_removed(&scene, "w005"));
    assert!(scene.cache.forget(&key("w000")));
    assert_eq!(causes(&scene.commit()), [("w005".into(), Change::Vanished)]);
}

#[test]
fn an_empty_folder_removes_nothing_not_even_a_single_object() {
    let mut scene = scene(&["only"]);
    scene.folder.delete("only.yaml");
    assert_eq!(causes(&scene.list()), [("only".into(), Change::Frozen)]);
    let frozen = scene.cache.snapshot().frozen.clone().unwrap();
    assert_eq!(frozen.reason, FreezeReason::NothingLeft);
    assert!(!is_removed(&scene, "only"));
}

#[test]
fn a_confirmed_freeze_is_removed_and_does_not_hold_the_next_removal() {
    let mut scene = fleet(12);
    let _ = lose(&mut scene, 8);
    let digest = scene.cache.snapshot().frozen.as_ref().unwrap().digest.clone();
    let changes = scene.cache.confirm(&digest).unwrap();
    assert_eq!(changes.keys.len(), 8);
    let snapshot = scene.cache.snapshot();
    assert!(snapshot.removed(&key("w007")).unwrap().confirmed && snapshot.frozen.is_none());
    let _ = lose(&mut scene, 9);
    assert!(is_removed(&scene, "w008"));
}

#[test]
fn a_digest_confirms_exactly_the_set_that_it_was_shown_for() {
    let mut scene = fleet(12);
    assert!(matches!(scene.cache.confirm("feed"), Err(NotFrozen::Nothing { .. })));
    let _ = lose(&mut scene, 6);
    let shown = scene.cache.snapshot().frozen.as_ref().unwrap().digest.clone();
    let _ = lose(&mut scene, 7);
    let error = scene.cache.confirm(&shown).unwrap_err();
    let current = scene.cache.snapshot().frozen.as_ref().unwrap().digest.clone();
    assert_eq!(error, NotFrozen::Other { digest: shown, current });
    assert!(!is_removed(&scene, "w000"));
}

#[test]
fn a_freeze_keeps_its_digest_and_its_commit_while_other_things_change() {
    let mut scene = fleet(12);
    let _ = lose(&mut scene, 6);
    let before = scene.cache.snapshot().frozen.clone();
    scene.folder.write("w011.yaml", [Doc::workspace("w011", 2)]);
    let _ = scene.commit();
    assert_eq!(scene.cache.snapshot().frozen, before);
}

#[test]
fn a_freeze_ends_when_the_objects_come_back_and_nothing_was_removed() {
    let mut scene = fleet(12);
    let _ = lose(&mut scene, 6);
    for n in 0..6 {
        scene.folder.write(&format!("w{n:03}.yaml"), [Doc::workspace(&format!("w{n:03}"), 1)]);
    }
    let woken = causes(&scene.commit());
    assert!(woken.len() == 6 && woken.iter().all(|(_, change)| *change == Change::Frozen));
    assert!(scene.cache.snapshot().frozen.is_none());
}

#[test]
fn a_freeze_is_found_again_with_the_same_digest_after_a_restart() {
    let mut scene = fleet(12);
    let _ = lose(&mut scene, 6);
    let before = scene.cache.snapshot().frozen.clone().unwrap();
    let records = (0..12).map(|n| record(&format!("w{n:03}"), 1, 1));
    let mut restarted = Scene::restarted(scene.folder.clone(), records);
    let _ = restarted.list();
    assert_eq!(restarted.cache.snapshot().frozen.as_ref().unwrap().digest, before.digest);
}

#[test]
fn a_network_that_changes_wakes_the_workspaces_that_name_it() {
    let mut scene = Scene::new();
    scene.folder.write("n.yaml", [Doc::network("shared", 1)]);
    scene.folder.write("in.yaml", [Doc::workspace("in", 1).within("shared")]);
    scene.folder.write("out.yaml", [Doc::workspace("out", 1).within("other")]);
    let _ = scene.list();
    scene.folder.write("n.yaml", [Doc::network("shared", 2)]);
    let changes = causes(&scene.commit());
    assert_eq!(changes, [("shared".into(), Change::Spec), ("in".into(), Change::Dependency)]);
    scene.folder.delete("n.yaml");
    assert_eq!(scene.commit().keys[&key("in")], Change::Dependency);
    assert!(scene.cache.snapshot().network("shared").is_some(), "it counts until it is forgotten");
}

#[test]
fn a_snapshot_stays_as_it_is_while_it_is_held_and_shares_what_did_not_change() {
    let mut scene = scene(&["a", "b"]);
    let held = scene.cache.snapshot();
    scene.folder.write("a.yaml", [Doc::workspace("a", 2)]);
    let _ = scene.commit();
    assert_eq!(held.get(&key("a")).unwrap().generation, Generation(1));
    let now = scene.cache.snapshot();
    assert!(Arc::ptr_eq(held.get(&key("b")).unwrap(), now.get(&key("b")).unwrap()));
}

#[test]
fn the_health_of_the_source_reaches_readers_without_copying_an_object() {
    let mut scene = scene(&["a"]);
    let (before, reader) = (scene.cache.snapshot(), scene.cache.reader());
    let trouble = Some(("FetchFailed".to_owned(), "the remote does not answer".to_owned()));
    scene.cache.source(SourceHealth { trouble, ..SourceHealth::default() });
    assert!(reader.snapshot().source.trouble.is_some());
    assert!(Arc::ptr_eq(&before.objects, &reader.snapshot().objects));
}
