//! What a merge is found to change, over repositories made with libgit2.

use std::collections::BTreeMap;

use git2::build::TreeUpdateBuilder;
use git2::{FileMode, Signature};
use tempfile::TempDir;

use super::*;
use crate::model::tree::Content;

type Files<'a> = &'a [(&'a str, Option<&'a str>)];

struct World {
    repository: Repository,
    folder: TempDir,
}

impl World {
    /// A bare repository whose branch `main` has one commit.
    fn new(files: Files<'_>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Self { repository: Repository::init_bare(folder.path()).unwrap(), folder };
        world.commit("main", None, files);
        world
    }

    /// Commits onto a branch, which begins at `from` if it is new.
    fn commit(&self, branch: &str, from: Option<&str>, files: Files<'_>) -> Oid {
        let name = format!("refs/heads/{branch}");
        let start = from.map_or(name.clone(), |from| format!("refs/heads/{from}"));
        let parent = self.repository.refname_to_id(&name);
        let parent = parent.or_else(|_| self.repository.refname_to_id(&start)).ok();
        let parent = parent.map(|id| self.repository.find_commit(id).unwrap());
        let mut update = TreeUpdateBuilder::new();
        for (path, text) in files {
            match text {
                Some(text) => {
                    let blob = self.repository.blob(text.as_bytes()).unwrap();
                    update.upsert(*path, blob, FileMode::Blob);
                }
                None => drop(update.remove(*path)),
            }
        }
        let empty = || self.repository.treebuilder(None).unwrap().write().unwrap();
        let base = parent.as_ref().map_or_else(empty, |commit| commit.tree_id());
        let base = self.repository.find_tree(base).unwrap();
        let tree = update.create_updated(&self.repository, &base).unwrap();
        let tree = self.repository.find_tree(tree).unwrap();
        let author = Signature::new("a", "a@example.com", &git2::Time::new(0, 0)).unwrap();
        let parents: Vec<_> = parent.iter().collect();
        self.repository.commit(Some(&name), &author, &author, "c", &tree, &parents).unwrap()
    }

    fn propose(&self, folder: &str) -> Proposal {
        self.try_propose(folder, "main", "change").unwrap()
    }

    fn try_propose(&self, folder: &str, base: &str, head: &str) -> Result<Proposal, SourceError> {
        let repository = self.folder.path().to_owned();
        propose(&Checkout { repository, folder: folder.to_owned() }, base, head)
    }

    fn objects(&self) -> usize {
        let mut count = 0;
        self.repository
            .odb()
            .unwrap()
            .foreach(|_| {
                count += 1;
                true
            })
            .unwrap();
        count
    }
}

/// The files that the merge leaves with other bytes than the base.
fn changed(proposal: &Proposal) -> BTreeMap<String, String> {
    let Merged::Files(changes) = &proposal.merged else { panic!("{:?}", proposal.merged) };
    let text = |content: &Content| match content {
        Content::Bytes(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
        Content::Refused(reason) => reason.clone(),
    };
    let entries = changes.changed.iter();
    entries.map(|(path, entry)| (path.to_string(), text(&entry.content))).collect()
}

fn one(path: &str, text: &str) -> BTreeMap<String, String> {
    BTreeMap::from([(path.to_owned(), text.to_owned())])
}

const LINES: &str = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

#[test]
fn both_sides_of_a_merge_are_in_its_result_and_nothing_is_written() {
    let world = World::new(&[("env/a.yaml", Some(LINES)), ("env/b.yaml", Some("b"))]);
    world.commit("change", Some("main"), &[("env/a.yaml", Some(&LINES.replace('9', "nine")))]);
    world.commit("main", None, &[("env/a.yaml", Some(&LINES.replace('1', "one")))]);
    let before = world.objects();
    let proposal = world.propose("env");
    assert_eq!(world.objects(), before, "the merge made objects in the repository");
    assert_eq!(proposal.base.changed.len(), 2);
    let both = LINES.replace('1', "one").replace('9', "nine");
    assert_eq!(changed(&proposal), one("env/a.yaml", &both));
}

#[test]
fn what_the_base_did_meanwhile_is_no_change_of_the_merge() {
    let world = World::new(&[("a.yaml", Some("a")), ("b.yaml", Some("b"))]);
    world.commit("change", Some("main"), &[("a.yaml", Some("changed"))]);
    world.commit("main", None, &[("b.yaml", Some("elsewhere")), ("c.yaml", Some("new"))]);
    assert_eq!(changed(&world.propose("")), one("a.yaml", "changed"));
}

#[test]
fn a_conflict_names_its_files_and_is_no_error() {
    let world = World::new(&[("a.yaml", Some(LINES)), ("b.yaml", Some("b"))]);
    world.commit("change", Some("main"), &[("a.yaml", Some("x")), ("b.yaml", None)]);
    world.commit("main", None, &[("a.yaml", Some("y")), ("b.yaml", Some("c"))]);
    let conflicts = Merged::Conflicts(vec!["a.yaml".into(), "b.yaml".into()]);
    assert_eq!(world.propose("").merged, conflicts);
}

#[test]
fn a_head_that_is_merged_already_changes_nothing() {
    let world = World::new(&[("a.yaml", Some("a"))]);
    world.commit("change", Some("main"), &[("a.yaml", Some("b"))]);
    let merged = world.try_propose("", "change", "main").unwrap();
    assert!(changed(&merged).is_empty());
}

#[test]
fn a_moved_file_is_one_path_less_and_one_more_with_the_same_blob() {
    let world = World::new(&[("a.yaml", Some(LINES)), ("z.yaml", Some("z"))]);
    world.commit("change", Some("main"), &[("a.yaml", None), ("teams/a.yaml", Some(LINES))]);
    let proposal = world.propose("");
    let Merged::Files(changes) = &proposal.merged else { panic!() };
    assert_eq!(changes.removed, ["a.yaml".into()]);
    assert_eq!(changes.changed["teams/a.yaml"], proposal.base.changed["a.yaml"]);
}

#[test]
fn a_file_that_the_base_changed_and_the_head_moved_is_merged_in_its_new_place() {
    let world = World::new(&[("a.yaml", Some(LINES))]);
    world.commit("change", Some("main"), &[("a.yaml", None), ("teams/a.yaml", Some(LINES))]);
    world.commit("main", None, &[("a.yaml", Some(&LINES.replace('5', "five")))]);
    let merged = LINES.replace('5', "five");
    assert_eq!(changed(&world.propose("")), one("teams/a.yaml", &merged));
}

#[test]
fn an_emptied_folder_is_refused_and_no_removal_of_everything() {
    let world = World::new(&[("env/a.yaml", Some("a")), ("README", Some("r"))]);
    world.commit("change", Some("main"), &[("env/a.yaml", None)]);
    let proposal = world.propose("env");
    let Merged::Refused(error) = &proposal.merged else { panic!("{:?}", proposal.merged) };
    assert_eq!(error.code(), "FolderEmpty");
}

#[test]
fn the_first_files_of_a_folder_are_all_of_it() {
    let world = World::new(&[("README", Some("r"))]);
    world.commit("change", Some("main"), &[("env/a.yaml", Some("a"))]);
    let proposal = world.propose("env");
    assert!(proposal.base.changed.is_empty() && proposal.base.full);
    let Merged::Files(changes) = &proposal.merged else { panic!() };
    assert!(changes.full);
}

#[test]
fn what_is_not_there_or_not_related_is_told() {
    let world = World::new(&[("a.yaml", Some("a"))]);
    world.commit("change", None, &[("b.yaml", Some("b"))]);
    let code = |base, head| world.try_propose("", base, head).unwrap_err().code();
    assert_eq!(code("main", "nowhere"), "RevisionNotFound");
    assert_eq!(code("main", "change"), "NoCommonHistory");
}

#[test]
fn a_checkout_is_found_from_any_folder_in_it() {
    let place = tempfile::tempdir().unwrap();
    Repository::init(place.path().join("r")).unwrap();
    std::fs::create_dir_all(place.path().join("r/env/teams")).unwrap();
    let checkout = Checkout::of(&place.path().join("r/env/teams")).unwrap();
    assert_eq!(checkout.folder, "env/teams");
    assert_eq!(checkout.repository, place.path().join("r").canonicalize().unwrap());
    assert_eq!(Checkout::of(place.path()).unwrap_err().code(), "NotARepository");
}
