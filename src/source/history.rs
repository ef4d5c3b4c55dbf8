//! What a folder was in the commits before one.
//!
//! In: a repository on this machine that holds history, and a commit of it. Out: what differs in each
//! commit before that one, newest first, until somebody has seen enough.
//!
//! Invariants: a change set goes back in time: what it holds as changed is what was there before. Only
//! first parents are followed, which is what the branch was at. A commit without the folder is passed
//! over, as the agent passes it over. Where a shallow clone ends, its history ends.

use git2::Repository;

use super::folder::Folder;
use super::proposal::{MAX_FILE_BYTES, commit, corrupt, unusable};
use super::snapshot::{Cost, Snapshot};
use super::{Checkout, SourceError};
use crate::model::Revision;
use crate::model::tree::ChangeSet;

/// Shows how the folder was before a commit, one commit after the other; returns the first thing that
/// `look` finds.
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
    let folder = Folder { path: checkout.folder.clone(), max_file_bytes: MAX_FILE_BYTES };
    let walk = Walk { repository: &repository, folder, cost: Cost::default() };
    walk.back(from, look).map_err(|error| corrupt(path, &error))
}

struct Walk<'a> {
    repository: &'a Repository,
    folder: Folder,
    cost: Cost,
}

impl Walk<'_> {
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
        let tip = world.commit(&[("b.yaml", Some("c"))]);
        let repository = &world.repository;
        let (tip, side) =
            (repository.find_commit(tip).unwrap(), repository.find_commit(side).unwrap());
        let mut update = git2::build::TreeUpdateBuilder::new();
        let tree = update.remove("a.yaml").create_updated(repository, &tip.tree().unwrap());
        let tree = repository.find_tree(tree.unwrap()).unwrap();
        let who = tip.author();
        repository
            .commit(Some("refs/heads/main"), &who, &who, "merge", &tree, &[&tip, &side])
            .unwrap();
        assert_eq!(last(&world, "a.yaml").as_deref(), Some("main"));
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
