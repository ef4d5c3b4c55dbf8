//! The files of the fetched commit: what changed since the last delivery, with its bytes.
//!
//! In: a mirror, a commit, and what was delivered before. Out: a [`ChangeSet`], or the reason why
//! there is none.
//!
//! Invariants: a folder that is missing or empty is an error and never an empty set, so that a
//! mistake removes nothing. Where commits have to be signed, the files are those of the newest good one
//! ([`Gate`]), which may be an older one than the tip. A mirror that cannot be read is rebuilt once and read again.

use std::path::PathBuf;

use git2::{Oid, Repository};

use super::access::{Access, Fetched};
use super::fetch::Fetcher;
use super::folder::Folder;
use super::mirror::Lock;
use super::signature::{self, Gate, Ruling};
use super::snapshot::{Cost, Snapshot};
use super::{Location, SourceError, Unverified};
use crate::model::Revision;
use crate::model::tree::ChangeSet;

/// Remembers what was delivered last.
#[derive(Debug, Clone)]
pub(crate) struct Delivered {
    pub(crate) revision: Revision,
    snapshot: Snapshot,
}

/// Holds a change set and what to remember once it was taken.
#[derive(Debug)]
pub(crate) struct Delivery {
    pub(crate) changes: ChangeSet,
    pub(crate) delivered: Delivered,
    pub(crate) cost: Cost,
}

/// Holds what a look at the repository came to.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// What is to be delivered; `None` when that is what was delivered last, or nothing may be.
    pub(crate) delivery: Option<Delivery>,
    /// Why the tip is not what is delivered, if it is not.
    pub(crate) refused: Option<Unverified>,
}

/// Fetches, and reads what changed since `before`; everything when `full` or when there is no
/// `before`.
pub(crate) async fn fetch_and_read<F: Fetcher>(
    fetcher: &F,
    location: &Location,
    access: &Access,
    before: Option<&Delivered>,
    full: bool,
) -> Result<Outcome, SourceError> {
    let fetched = fetcher.fetch(location, access, false).await?;
    let same = before.is_some_and(|before| before.revision.as_str() == fetched.commit);
    if same && !full {
        return Ok(Outcome::default());
    }
    let reading = Reading::new(location, access, before.cloned(), full);
    match reading.clone().run(fetched).await {
        Err(SourceError::MirrorCorrupt { .. }) => {
            let fetched = fetcher.fetch(location, access, true).await?;
            reading.run(fetched).await
        }
        result => result,
    }
}

/// Holds what a reading needs, so that it can move to a blocking thread.
#[derive(Debug, Clone)]
struct Reading {
    url: String,
    mirror: PathBuf,
    folder: Folder,
    before: Option<Delivered>,
    full: bool,
    gate: Option<Gate>,
}

/// Says why a commit was not read.
enum Failure {
    Git(git2::Error),
    Io(std::io::Error),
    Known(SourceError),
}

impl From<git2::Error> for Failure {
    fn from(error: git2::Error) -> Self {
        Self::Git(error)
    }
}

impl From<signature::Failure> for Failure {
    fn from(failure: signature::Failure) -> Self {
        match failure {
            signature::Failure::Git(error) => Self::Git(error),
            signature::Failure::Known(error) => Self::Known(error),
        }
    }
}

impl Reading {
    fn new(location: &Location, access: &Access, before: Option<Delivered>, full: bool) -> Self {
        Self {
            url: location.shown().to_owned(),
            mirror: access.mirror(location),
            folder: Folder {
                path: location.folder().to_owned(),
                max_file_bytes: access.max_file_bytes,
            },
            full: full || before.is_none(),
            before,
            gate: Gate::of(location, access),
        }
    }

    async fn run(self, fetched: Fetched) -> Result<Outcome, SourceError> {
        let mirror = self.mirror.clone();
        let corrupt = |detail: String| SourceError::MirrorCorrupt { path: mirror.clone(), detail };
        match tokio::task::spawn_blocking(move || self.read(&fetched.commit)).await {
            Ok(Ok(outcome)) => Ok(outcome),
            Ok(Err(Failure::Known(error))) => Err(error),
            Ok(Err(Failure::Git(error))) => Err(corrupt(error.message().to_owned())),
            Ok(Err(Failure::Io(error))) => {
                Err(SourceError::MirrorUnusable { path: mirror, detail: error.to_string() })
            }
            Err(error) => Err(corrupt(error.to_string())),
        }
    }

    fn read(&self, tip: &str) -> Result<Outcome, Failure> {
        let _lock = Lock::shared(&self.mirror).map_err(Failure::Io)?;
        let repository = Repository::open_bare(&self.mirror)?;
        let tip = Oid::from_str(tip)?;
        let ruling = match &self.gate {
            Some(gate) => gate.rule(&repository, tip)?,
            None => Ruling { good: Some(tip), refused: None },
        };
        let refused = ruling.refused;
        let delivered = self.before.as_ref().map(|before| before.revision.as_str());
        let due = ruling.good.map(|good| good.to_string());
        let due = due.filter(|good| self.full || delivered != Some(good));
        let delivery = due.map(|good| self.deliver(&repository, &good)).transpose()?;
        Ok(Outcome { delivery, refused })
    }

    fn deliver(&self, repository: &Repository, commit: &str) -> Result<Delivery, Failure> {
        let root = repository.find_commit(Oid::from_str(commit)?)?.tree_id();
        let tree = self.folder_tree(repository, root, commit)?;
        let mut cost = Cost::default();
        let before = self.before.as_ref().map(|before| &before.snapshot);
        let reused = before.filter(|_| !self.full);
        let snapshot = Snapshot::read(repository, tree, reused, &mut cost)?;
        if snapshot.manifests() == 0 {
            let (url, revision) = (self.url.clone(), commit.to_owned());
            let folder = self.folder.shown();
            return Err(Failure::Known(SourceError::FolderEmpty { url, folder, revision }));
        }
        let differences = snapshot.differences(reused);
        let revision = Revision::new(commit);
        let mut changes =
            self.folder.load(repository, &revision, differences, self.full, &mut cost)?;
        if self.full {
            let now = before.map(|before| snapshot.differences(Some(before))).unwrap_or_default();
            let gone = now.iter().filter(|(_, leaf)| leaf.is_none());
            changes.removed.extend(gone.map(|(path, _)| self.folder.full_path(path)));
        }
        Ok(Delivery { changes, delivered: Delivered { revision, snapshot }, cost })
    }

    fn folder_tree(
        &self,
        repository: &Repository,
        root: Oid,
        commit: &str,
    ) -> Result<Oid, Failure> {
        self.folder.tree(repository, root)?.ok_or_else(|| {
            Failure::Known(SourceError::FolderMissing {
                url: self.url.clone(),
                folder: self.folder.path.clone(),
                revision: commit.to_owned(),
            })
        })
    }
}

#[cfg(test)]
mod tests;
