//! The manifests of a folder, as the verbs that work offline read them.
//!
//! In: a path. Out: the objects and every problem, found in the way in which the agent finds them.

use std::path::Path;
use std::sync::Arc;

use super::error::Error;
use crate::desired::{Cache, Entry, Guard, Reader, Snapshot};
use crate::manifest::unknown_environment;
use crate::model::tree::Content;
use crate::model::{ChangeSet, Problem, Severity, Tree};
use crate::source::read_worktree;

/// Holds what a folder declares.
pub(super) struct Manifests {
    /// The objects, as the stages read them.
    pub(super) desired: Reader,
    /// Everything that is wrong, in the order of the files.
    pub(super) problems: Vec<Problem>,
    /// How many files there are.
    pub(super) files: usize,
}

impl Manifests {
    /// Tells whether something is not taken.
    pub(super) fn is_broken(&self) -> bool {
        self.problems.iter().any(|problem| problem.severity == Severity::Error)
    }

    /// Returns the objects.
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        self.desired.snapshot()
    }
}

/// Reads and checks the manifests of a folder, or one file.
///
/// # Errors
///
/// When the folder cannot be read as a whole, or holds no manifest at all.
pub(super) fn read(path: &Path) -> Result<Manifests, Error> {
    read_for(path, &[])
}

/// Does the same, and holds the environments of the objects against the known ones, if there are any.
///
/// # Errors
///
/// Those of [`read`].
pub(super) fn read_for(path: &Path, environments: &[&str]) -> Result<Manifests, Error> {
    let changes = commit(path)?;
    let files = changes.changed.len();
    let mut cache = Cache::new(Guard::default());
    // Which keys are new is the agent's interest; here all of them are.
    let _ = cache.apply(&changes);
    let snapshot = cache.snapshot();
    let mut problems = snapshot.problems.values().flatten().cloned().collect::<Vec<_>>();
    problems.extend(unknown_environments(&snapshot, &changes, environments));
    problems.sort();
    let problems = problems.into_iter().map(|problem| placed(path, problem)).collect();
    Ok(Manifests { desired: cache.reader(), problems, files })
}

fn unknown_environments(snapshot: &Snapshot, changes: &ChangeSet, known: &[&str]) -> Vec<Problem> {
    if known.is_empty() {
        return Vec::new();
    }
    let of = |entry: &Arc<Entry>| {
        let object = &entry.object;
        let Content::Bytes(bytes) = &changes.changed.get(&object.path)?.content else {
            return None;
        };
        unknown_environment(object, bytes, known)
    };
    snapshot.objects.values().filter_map(of).collect()
}

/// Reads the manifests of a folder, or one file, as if they were a commit.
///
/// # Errors
///
/// Those of [`read`].
pub(super) fn commit(path: &Path) -> Result<ChangeSet, Error> {
    let tree = read_worktree(path)
        .map_err(|error| Error::Manifests { path: path.to_owned(), source: Box::new(error) })?;
    match tree.entries.is_empty() {
        true => Err(Error::NoManifests { path: path.to_owned() }),
        false => Ok(whole(tree)),
    }
}

/// Takes a tree for a change set that holds everything.
pub(super) fn whole(tree: Tree) -> ChangeSet {
    let Tree { revision, entries } = tree;
    ChangeSet { revision, changed: entries, removed: Vec::new(), full: true }
}

/// Names the file as the person at the terminal would, so that an editor or a code host finds it.
fn placed(root: &Path, mut problem: Problem) -> Problem {
    let file = Path::new(&*problem.position.path);
    let folder = if root.is_dir() { root } else { root.parent().unwrap_or(Path::new("")) };
    let joined = folder.strip_prefix(".").unwrap_or(folder).join(file);
    problem.position.path = joined.to_string_lossy().into();
    problem
}
