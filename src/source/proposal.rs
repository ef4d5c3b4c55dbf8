//! What a merge would make of a folder: base and head merged in memory.
//!
//! In: a repository on this machine and two revisions. Out: a [`Proposal`]: the files of the base,
//! and what the merge changes in them, or why it cannot be made.
//!
//! Invariants: nothing is written to the repository (objects that the merge makes live in memory);
//! a conflict is a value and no error; a file that only moved is one path less and one more with the
//! same blob, never an object that is gone (that is decided by who parses them).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use git2::{ErrorCode, Index, MergeOptions, ObjectType, Oid, Repository};

use super::SourceError;
use super::folder::Folder;
use super::snapshot::{Cost, Snapshot};
use crate::model::Revision;
use crate::model::tree::ChangeSet;

/// The limit of a manifest, as for the agent.
pub(super) const MAX_FILE_BYTES: u64 = 1 << 20;

/// Before every other store of objects (the loose and the packed ones have 1 and 2).
const FIRST: i32 = 1000;

/// Conflicts beyond this many are not named.
const MAX_CONFLICTS: usize = 100;

/// Names a folder of a repository on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkout {
    /// The work tree, or the bare repository.
    pub repository: PathBuf,
    /// The folder with the manifests, from the root of the repository; empty for the root.
    pub folder: String,
}

/// Says what a merge does to a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    /// What is merged into: every file of the folder.
    pub base: ChangeSet,
    /// What is merged.
    pub head: Revision,
    /// What comes of it.
    pub merged: Merged,
}

/// Says what comes of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// What differs from the base; its revision is the head's.
    Files(ChangeSet),
    /// Both sides changed the same places of these files (any of the repository, at most 100).
    Conflicts(Vec<Arc<str>>),
    /// The result is one that the agent does not take: no folder, or no manifest in it.
    Refused(SourceError),
}

impl Checkout {
    /// Finds the repository that a folder belongs to.
    ///
    /// # Errors
    ///
    /// `ReadFailed` when the folder is not there, `NotARepository` or `NotOwned` when it belongs to
    /// no repository that may be read.
    pub fn of(path: &Path) -> Result<Self, SourceError> {
        let failed = |error: std::io::Error| SourceError::ReadFailed {
            path: path.to_owned(),
            detail: error.to_string(),
        };
        let path = path.canonicalize().map_err(failed)?;
        let found = Repository::discover(&path).map_err(|error| unusable(&path, &error))?;
        let root = found.workdir().unwrap_or_else(|| found.path());
        let root = root.canonicalize().map_err(failed)?;
        let folder = path.strip_prefix(&root).unwrap_or(Path::new(""));
        let folder = folder.to_string_lossy().into_owned();
        Ok(Self { repository: root, folder })
    }

    /// Tells whether a file of the work tree differs from what it is in a commit; one that is not in
    /// the work tree never does.
    ///
    /// # Errors
    ///
    /// Those of [`propose`], or `ReadFailed` when the file cannot be read.
    pub fn differs(&self, revision: &str, file: &Path) -> Result<bool, SourceError> {
        let failed = |error: std::io::Error| SourceError::ReadFailed {
            path: file.to_owned(),
            detail: error.to_string(),
        };
        let file = file.canonicalize().map_err(failed)?;
        let Ok(path) = file.strip_prefix(&self.repository) else { return Ok(false) };
        let bytes = std::fs::read(&file).map_err(failed)?;
        let place = &self.repository;
        let repository = Repository::open(place).map_err(|error| unusable(place, &error))?;
        let commit = commit(&repository, place, revision)?;
        let there = repository.find_commit(commit).and_then(|it| it.tree());
        let blob = there.and_then(|tree| tree.get_path(path)).map(|entry| entry.id());
        let here = Oid::hash_object(ObjectType::Blob, &bytes).map_err(|it| corrupt(place, &it))?;
        Ok(blob.ok() != Some(here))
    }
}

/// Merges `head` into `base` in memory; both are whatever Git takes for a commit.
///
/// # Errors
///
/// `RevisionNotFound`, `NoCommonHistory`, or why the repository cannot be read.
pub fn propose(checkout: &Checkout, base: &str, head: &str) -> Result<Proposal, SourceError> {
    merged(checkout, base, head, true)
}

/// Does what [`propose`] does for somebody who has the files of the base: they are not read again,
/// and [`Proposal::base`] is empty.
///
/// # Errors
///
/// Those of [`propose`].
pub fn merge(checkout: &Checkout, base: &str, head: &str) -> Result<Proposal, SourceError> {
    merged(checkout, base, head, false)
}

fn merged(
    checkout: &Checkout,
    base: &str,
    head: &str,
    with_base: bool,
) -> Result<Proposal, SourceError> {
    let path = &checkout.repository;
    let repository = Repository::open(path).map_err(|error| unusable(path, &error))?;
    let merge = Merge {
        repository: &repository,
        shown: path.display().to_string(),
        base: commit(&repository, path, base)?,
        head: commit(&repository, path, head)?,
        folder: Folder { path: checkout.folder.clone(), max_file_bytes: MAX_FILE_BYTES },
        with_base,
    };
    merge.make().map_err(|failure| match failure {
        Failure::Git(error) => corrupt(path, &error),
        Failure::Unrelated => SourceError::NoCommonHistory {
            url: path.display().to_string(),
            base: base.to_owned(),
            head: head.to_owned(),
        },
    })
}

pub(super) fn unusable(path: &Path, error: &git2::Error) -> SourceError {
    let (url, detail) = (path.display().to_string(), error.message().to_owned());
    match error.code() {
        ErrorCode::Owner => SourceError::NotOwned { url },
        _ => SourceError::NotARepository { url, detail },
    }
}

pub(super) fn corrupt(path: &Path, error: &git2::Error) -> SourceError {
    SourceError::ReadFailed { path: path.to_owned(), detail: error.message().to_owned() }
}

pub(super) fn commit(
    repository: &Repository,
    path: &Path,
    revision: &str,
) -> Result<Oid, SourceError> {
    let found = repository.revparse_single(revision).and_then(|it| it.peel_to_commit());
    found.map(|commit| commit.id()).map_err(|_| SourceError::RevisionNotFound {
        url: path.display().to_string(),
        revision: revision.to_owned(),
    })
}

/// Holds the two sides of a merge.
struct Merge<'a> {
    repository: &'a Repository,
    shown: String,
    base: Oid,
    head: Oid,
    folder: Folder,
    with_base: bool,
}

enum Failure {
    Git(git2::Error),
    /// There is no common ancestor.
    Unrelated,
}

impl From<git2::Error> for Failure {
    fn from(error: git2::Error) -> Self {
        Self::Git(error)
    }
}

impl Merge<'_> {
    fn make(&self) -> Result<Proposal, Failure> {
        let odb = self.repository.odb()?;
        let _in_memory = odb.add_new_mempack_backend(FIRST)?;
        let mut cost = Cost::default();
        let base = self.snapshot(self.tree(self.base)?, None, &mut cost)?;
        let revision = Revision::new(self.base.to_string());
        let files = match base.as_ref().filter(|_| self.with_base) {
            Some(base) => base.differences(None),
            None => Default::default(),
        };
        let files = self.folder.load(self.repository, &revision, files, true, &mut cost)?;
        let head = Revision::new(self.head.to_string());
        let merged = match self.root()? {
            Ok(root) => self.files(root, base.as_ref(), &head, &mut cost)?,
            Err(conflicts) => Merged::Conflicts(conflicts),
        };
        Ok(Proposal { base: files, head, merged })
    }

    /// Returns the root of the merge result, or the files in conflict.
    fn root(&self) -> Result<Result<Oid, Vec<Arc<str>>>, Failure> {
        let ancestor = match self.repository.merge_base(self.base, self.head) {
            Ok(ancestor) => ancestor,
            Err(error) if error.code() == ErrorCode::NotFound => return Err(Failure::Unrelated),
            Err(error) => return Err(Failure::Git(error)),
        };
        if ancestor == self.base {
            return Ok(Ok(self.tree(self.head)?));
        }
        if ancestor == self.head {
            return Ok(Ok(self.tree(self.base)?));
        }
        let side = |id| self.repository.find_commit(id);
        let (ours, theirs) = (side(self.base)?, side(self.head)?);
        let options = MergeOptions::new();
        let mut index = self.repository.merge_commits(&ours, &theirs, Some(&options))?;
        match index.has_conflicts() {
            true => Ok(Err(conflicts(&index)?)),
            false => Ok(Ok(index.write_tree_to(self.repository)?)),
        }
    }

    fn tree(&self, commit: Oid) -> Result<Oid, git2::Error> {
        Ok(self.repository.find_commit(commit)?.tree_id())
    }

    /// Reads the folder under a root; `None` when it is not there or holds no manifest.
    fn snapshot(
        &self,
        root: Oid,
        before: Option<&Snapshot>,
        cost: &mut Cost,
    ) -> Result<Option<Snapshot>, git2::Error> {
        let Some(tree) = self.folder.tree(self.repository, root)? else { return Ok(None) };
        let snapshot = Snapshot::read(self.repository, tree, before, cost)?;
        Ok(Some(snapshot).filter(|snapshot| snapshot.manifests() > 0))
    }

    /// Returns what the merge changes.
    fn files(
        &self,
        root: Oid,
        base: Option<&Snapshot>,
        head: &Revision,
        cost: &mut Cost,
    ) -> Result<Merged, git2::Error> {
        let Some(merged) = self.snapshot(root, base, cost)? else {
            return Ok(Merged::Refused(SourceError::FolderEmpty {
                url: self.shown.clone(),
                folder: self.folder.shown(),
                revision: head.as_str().to_owned(),
            }));
        };
        let differences = merged.differences(base);
        let full = base.is_none();
        let changes = self.folder.load(self.repository, head, differences, full, cost)?;
        Ok(Merged::Files(changes))
    }
}

/// Names the files in conflict once each, by the name of whichever side has one.
fn conflicts(index: &Index) -> Result<Vec<Arc<str>>, git2::Error> {
    let mut paths = std::collections::BTreeSet::new();
    for conflict in index.conflicts()? {
        let conflict = conflict?;
        let sides = [conflict.our, conflict.their, conflict.ancestor];
        let name = sides.into_iter().flatten().next().map(|entry| entry.path);
        paths.extend(name.map(|path| String::from_utf8_lossy(&path).into_owned()));
    }
    Ok(paths.into_iter().take(MAX_CONFLICTS).map(Arc::from).collect())
}

#[cfg(test)]
mod tests;
