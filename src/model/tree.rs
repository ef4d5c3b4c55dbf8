//! The files of one commit, and what changed between two commits.
//!
//! A [`Tree`] is complete or it does not exist: whoever makes one has read every directory of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Revision;

/// Holds one manifest file of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The Git blob id in hexadecimal; equal ids mean equal bytes.
    pub blob: Arc<str>,
    /// The bytes, or why they were not read.
    pub content: Content,
}

/// Holds the bytes of a file, or the reason why there are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The file as it is in Git.
    Bytes(Arc<[u8]>),
    /// The file is not read, for example `the file has 50000000 bytes, more than the limit of 1048576`.
    Refused(String),
}

/// Holds the manifest files (`*.yaml`, `*.yml`) of a folder at one commit, by path from the root
/// of the repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The commit.
    pub revision: Revision,
    /// The files.
    pub entries: BTreeMap<Arc<str>, Entry>,
}

/// Lists what a commit changed against the tree that was delivered before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangeSet {
    /// The commit that is described.
    pub revision: Revision,
    /// Files that are new or whose blob differs.
    pub changed: BTreeMap<Arc<str>, Entry>,
    /// Paths that are gone.
    pub removed: Vec<Arc<str>>,
    /// True when `changed` is the whole folder: the first delivery, or a full re-list.
    pub full: bool,
}

/// Says how the repository stands, whether or not it could be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceHealth {
    /// The last commit that was read in full.
    pub revision: Option<Revision>,
    /// When the remote last confirmed that this is its tip.
    pub confirmed_at: Option<jiff::Timestamp>,
    /// What is wrong now: a stable code and a sentence; `None` when the last fetch succeeded.
    pub trouble: Option<(String, String)>,
    /// The tip, where it is read and not applied.
    #[serde(default)]
    pub refused: Option<RefusedRevision>,
}

/// Names a commit that is not applied, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedRevision {
    /// The commit.
    pub revision: Revision,
    /// A stable code.
    pub code: String,
    /// What is wrong with it, for those who see which commit is meant.
    pub cause: String,
    /// A sentence that also says what stays in force and what to do.
    pub message: String,
}
