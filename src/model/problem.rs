//! A mistake in a manifest: what, where, and what to do.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Says how bad a problem is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The object is not taken; its last good version stays.
    Error,
    /// The object is taken; something in it has no effect or deserves a look.
    Notice,
}

/// Points at a place in a file, counted from 1; a column counts characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The file, relative to the root of the repository.
    pub path: Arc<str>,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// Describes one mistake in a manifest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Problem {
    /// Where it is.
    pub position: Position,
    /// How bad it is.
    pub severity: Severity,
    /// A stable code, for example `UnknownField`.
    pub code: String,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The line of the file, without its line end, cut to 200 characters.
    pub source_line: String,
    /// How many characters of that line the problem covers, at least 1.
    pub length: u32,
}
