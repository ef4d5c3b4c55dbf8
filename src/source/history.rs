//! What a folder was in the commits before one.
//!
//! In: a repository on this machine that holds history, and a commit of it. Out: what differs in each
//! commit before that one, newest first, until somebody has seen enough; and, of a merge, what differs in
//! each commit that it brought in.
//!
//! Invariants: [`walk_back`] follows first parents, which is what the branch was at, and [`brought_in`] all
//! the others. A commit without the folder is passed over, as the agent passes it over. Where a shallow
//! clone ends, its history ends.

use git2::Repository;

use super::folder::Folder;
use super::proposal::{MAX_FILE_BYTES, commit, corrupt, unusable};
use super::snapshot::{Cost, Snapshot};
use super::{Checkout, SourceError};
use crate::model::Revision;
use crate::model::tree::ChangeSet;

/// Shows how the folder was before a commit, one commit after the other; returns the first thing that
/// `look` finds. A change set goes back in time: what it holds as changed is what was there before.
///
/// # Errors
///
/// `NotARepository`, `RevisionNotFound`, or why the repository cannot be read.
pub fn walk_back<T>(
    checkout: &Checkout,
    from: &Revision,
    look: impl FnMut(&ChangeSet) -> Option<T>,
) -> Result<Option<T>, SourceError> {
    let path = &checkout.repository;
    let repository = Repository::open(path).map_err(|error| unusable(path, &error))?;
    let from = commit(&repository, path, from.as_str())?;
    let walk = Walk::of(&repository, checkout);
    walk.back(from, look).map_err(|error| corrupt(path, &error))
}

/// Shows every step on the lines that a merge brought in, up to the merge itself: what was there before
/// and otherwise after, and what was there after and otherwise before. A commit that is no merge brought
/// nothing in.
///
/// # Errors
///
/// Those of [`walk_back`].
pub fn brought_in(
    checkout: &Checkout,
    merge: &Revision,
    look: impl FnMut(&ChangeSet, &ChangeSet),
) -> Result<(), SourceError> {
    let path = &checkout.repository;
    let repository = Repository::open(path).map_err(|error| unusable(path, &error))?;
    let merge = commit(&repository, path, merge.as_str())?;
    let walk = Walk::of(&repository, checkout);
    walk.aside(merge, look).map_err(|error| corrupt(path, &error))
}

struct Walk<'a> {
    repository: &'a Repository,
    folder: Folder,
    cost: Cost,
}

impl<'a> Walk<'a> {
    fn of(repository: &'a Repository, checkout: &Checkout) -> Self {
        let folder = Folder { path: checkout.folder.clone(), max_file_bytes: MAX_FILE_BYTES };
        Self { repository, folder, cost: Cost::default() }
    }

    fn back<T>(
        mut self,
        from: git2::Oid,
        mut look: impl FnMut(&ChangeSet) -> Option<T>,
    ) -> Result<Option<T>, git2::Error> {
        let mut newer = self.snapshot(from, None)?;
        let mut next = self.before(from)?;
        while let Some(id) = next {
            if let Some(older) = self.snapshot(id, newer.as_ref())? {
                let differences = older.differences(newer.as_ref());
                let (revision, is_full) = (Revision::new(id.to_string()), newer.is_none());
                let Self { repository, folder, cost } = &mut self;
                let changes = folder.load(repository, &revision, differences, is_full, cost)?;
                let found = look(&changes);
                if found.is_some() {
                    return Ok(found);
                }
                newer = Some(older);
            }
            next = self.before(id)?;
        }
        Ok(None)
    }

    fn aside(
        mut self,
        merge: git2::Oid,
        mut look: impl FnMut(&ChangeSet, &ChangeSet),
    ) -> Result<(), git2::Error> {
        let Some(first) = self.before(merge)? else { return Ok(()) };
        let mut lines = self.repository.revwalk()?;
        lines.push(merge)?;
        lines.hide(first)?;
        for id in lines {
            let id = id?;
            let Some(after) = self.snapshot(id, None)? else { continue };
            let parents: Vec<git2::Oid> = self.repository.find_commit(id)?.parent_ids().collect();
            for parent in parents.into_iter().filter(|parent| id != merge || *parent != first) {
                if self.repository.find_commit(parent).is_err() {
                    continue;
                }
                let Some(before) = self.snapshot(parent, Some(&after))? else { continue };
                let was = self.differences(parent, &before, &after)?;
                look(&was, &self.differences(id, &after, &before)?);
            }
        }
        Ok(())
    }

    /// Loads what the folder holds in one commit and otherwise, or not, in another.
    fn differences(
        &mut self,
        of: git2::Oid,
        there: &Snapshot,
        other: &Snapshot,
    ) -> Result<ChangeSet, git2::Error> {
        let (revision, found) = (Revision::new(of.to_string()), there.differences(Some(other)));
        self.folder.load(self.repository, &revision, found, false, &mut self.cost)
    }

    fn snapshot(
        &mut self,
        commit: git2::Oid,
        near: Option<&Snapshot>,
    ) -> Result<Option<Snapshot>, git2::Error> {
        let root = self.repository.find_commit(commit)?.tree_id();
        let Some(tree) = self.folder.tree(self.repository, root)? else { return Ok(None) };
        Snapshot::read(self.repository, tree, near, &mut self.cost).map(Some)
    }

    /// Returns the commit before one, as far as it is here.
    fn before(&self, commit: git2::Oid) -> Result<Option<git2::Oid>, git2::Error> {
        let parent = self.repository.find_commit(commit)?.parent_id(0).ok();
        Ok(parent.filter(|id| self.repository.find_commit(*id).is_ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::tree::Content;
    use crate::source::testing::World;

    /// Returns the bytes of a file in the newest commit that held it otherwise than the one after it.
    fn last(world: &World, path: &str) -> Option<String> {
        let heads = world.fetch_heads()(Vec::new(), false).unwrap();
        let text = |changes: &ChangeSet| {
            let Content::Bytes(bytes) = &changes.changed.get(path)?.content else { return None };
            Some(String::from_utf8(bytes.to_vec()).unwrap())
        };
        walk_back(&heads.checkout, &heads.tip, text).unwrap()
    }

    #[test]
    fn what_is_gone_is_found_as_it_was_last() {
        let world = World::new();
        world.commit(&[("a.yaml", Some("old")), ("b.yaml", Some("b"))]);
        world.commit(&[("a.yaml", Some("new"))]);
        world.commit(&[("a.yaml", None)]);
        world.commit(&[("b.yaml", Some("c"))]);
        assert_eq!(last(&world, "a.yaml").as_deref(), Some("new"));
        assert_eq!(last(&world, "never.yaml"), None);
    }

    #[test]
    fn what_a_merge_brought_in_is_no_part_of_what_the_branch_was() {
        let world = World::new();
        world.commit(&[("a.yaml", Some("main")), ("b.yaml", Some("b"))]);
        let side = world.branch("refs/heads/side", &[("a.yaml", Some("side"))]);
        world.commit(&[("b.yaml", Some("c"))]);
        world.merge(side, &["a.yaml"]);
        assert_eq!(last(&world, "a.yaml").as_deref(), Some("main"));
    }

    #[test]
    fn every_step_that_a_merge_brought_in_is_shown_and_none_of_the_branch_itself() {
        let world = World::new();
        world.commit(&[("a.yaml", Some("main")), ("b.yaml", Some("b"))]);
        let side = world.branch("refs/heads/side", &[("a.yaml", Some("side"))]);
        world.commit(&[("b.yaml", Some("c"))]);
        world.merge(side, &["a.yaml"]);
        let heads = world.fetch_heads()(Vec::new(), false).unwrap();
        let shown = |changes: &ChangeSet| {
            let text = |content: &Content| match content {
                Content::Bytes(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
                other => panic!("{other:?}"),
            };
            let all = changes.changed.iter();
            all.map(|(path, it)| format!("{path}={}", text(&it.content))).collect::<Vec<_>>()
        };
        let mut steps = Vec::new();
        let look = |was: &ChangeSet, is: &ChangeSet| steps.push((shown(was), shown(is)));
        brought_in(&heads.checkout, &heads.tip, look).unwrap();
        let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let of_the_merge = (texts(&["a.yaml=side", "b.yaml=b"]), texts(&["b.yaml=c"]));
        let of_the_side = (texts(&["a.yaml=main"]), texts(&["a.yaml=side"]));
        assert_eq!(steps, [of_the_merge, of_the_side]);
        let first = world.repository.find_commit(side).unwrap().parent_id(0).unwrap();
        let none = |_: &ChangeSet, _: &ChangeSet| panic!("it is no merge");
        brought_in(&heads.checkout, &Revision::new(first.to_string()), none).unwrap();
    }

    #[test]
    fn a_commit_that_is_not_there_is_an_error() {
        let world = World::new();
        world.commit(&[("a.yaml", Some("a"))]);
        let heads = world.fetch_heads()(Vec::new(), false).unwrap();
        let unknown = Revision::new("0123456789012345678901234567890123456789");
        let error = walk_back(&heads.checkout, &unknown, |_| Some(())).unwrap_err();
        assert!(matches!(error, SourceError::RevisionNotFound { .. }), "{error:?}");
    }
}
