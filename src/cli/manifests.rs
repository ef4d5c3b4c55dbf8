//! The manifests of a folder, as the verbs that work offline read them.
//!
//! In: a path. Out: the objects and every problem, found in the way in which the agent finds them.

use std::path::Path;
use std::sync::Arc;

use super::error::Error;
use crate::manifest::{Files, Object};
use crate::model::{ChangeSet, Problem, Severity};
use crate::source::read_worktree;

/// Holds what a folder declares.
pub(super) struct Manifests {
    /// The objects in force, in the order of their keys.
    pub(super) objects: Vec<Arc<Object>>,
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
}

/// Reads and checks the manifests of a folder, or one file.
///
/// # Errors
///
/// When the folder cannot be read as a whole, or holds no manifest at all.
pub(super) fn read(path: &Path) -> Result<Manifests, Error> {
    let tree = read_worktree(path)
        .map_err(|error| Error::Manifests { path: path.to_owned(), source: Box::new(error) })?;
    if tree.entries.is_empty() {
        return Err(Error::NoManifests { path: path.to_owned() });
    }
    let count = tree.entries.len();
    let changes = ChangeSet {
        revision: tree.revision,
        changed: tree.entries,
        removed: Vec::new(),
        full: true,
    };
    let mut files = Files::default();
    // Which keys were touched is the agent's interest; here all of them are new.
    let _ = files.apply(&changes);
    Ok(Manifests {
        objects: files.objects().cloned().collect(),
        problems: files.problems().into_iter().map(|problem| placed(path, problem)).collect(),
        files: count,
    })
}

/// Names the file as the person at the terminal would, so that an editor or a code host finds it.
fn placed(root: &Path, mut problem: Problem) -> Problem {
    let file = Path::new(&*problem.position.path);
    let folder = if root.is_dir() { root } else { root.parent().unwrap_or(Path::new("")) };
    let joined = folder.strip_prefix(".").unwrap_or(folder).join(file);
    problem.position.path = joined.to_string_lossy().into();
    problem
}
