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

/// Describes one mistake within a section of a manifest, before it is known where that section
/// stands in a file.
///
/// A kind's pure check returns these; [`crate::manifest`] turns each into a [`Problem`].
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The JSON pointer of the value, relative to the section: `/storage/sizeGiB`. It may name a
    /// field that is missing; the problem then stands at the nearest parent that is there.
    pub pointer: String,
    /// How bad it is.
    pub severity: Severity,
    /// A stable code, for example `WindowsOverlap`.
    pub code: &'static str,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// The part of the value's text that it is about, where it is not about all of it.
    pub part: Option<String>,
}

impl Finding {
    /// Makes a finding for which the object is not taken.
    pub fn error(pointer: &str, code: &'static str, message: impl Into<String>) -> Self {
        let severity = Severity::Error;
        let (pointer, message) = (pointer.to_owned(), message.into());
        Self { pointer, severity, code, message, hint: None, part: None }
    }

    /// Makes a finding with which the object is taken.
    pub fn notice(pointer: &str, code: &'static str, message: impl Into<String>) -> Self {
        Self { severity: Severity::Notice, ..Self::error(pointer, code, message) }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Names the part of the value's text that it is about.
    #[must_use]
    pub fn about(mut self, part: impl Into<String>) -> Self {
        self.part = Some(part.into());
        self
    }
}
/// Writes a key as a part of a JSON pointer (RFC 6901).
pub fn pointer_part(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
