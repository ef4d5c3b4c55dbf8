//! From a mistake at some bytes of a file to a problem at a line and a column.

use std::ops::Range;
use std::sync::Arc;

use super::yaml::{Node, lines};
use crate::model::{Finding, Position, Problem, Severity};

/// The longest line that is quoted in a problem, in characters.
const QUOTED: usize = 200;

/// Describes a mistake at some bytes of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    /// The bytes.
    pub(super) span: Range<usize>,
    /// How bad it is.
    pub(super) severity: Severity,
    /// A stable code.
    pub(super) code: &'static str,
    /// What is wrong.
    pub(super) message: String,
    /// What to do.
    pub(super) hint: Option<String>,
    /// Where the first of two things stands, when the mistake is the second one.
    pub(super) first: Option<usize>,
}

impl Mistake {
    /// Makes a mistake for which the file is not taken.
    pub(super) fn error(
        span: Range<usize>,
        code: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Self {
            span,
            severity: Severity::Error,
            code,
            message: message.into(),
            hint: None,
            first: None,
        }
    }

    /// Places a finding in the document that it is about; `text` is what the tree's spans point into.
    pub(super) fn found(finding: Finding, root: &Node, text: &str) -> Self {
        let whole = root.locate(&finding.pointer);
        let Finding { severity, code, message, hint, part, .. } = finding;
        let within = part.and_then(|part| {
            // A part that the file writes in another way (escaped, folded) stands where the whole is.
            let at = text.get(whole.clone())?.find(&part)?;
            Some(whole.start + at..whole.start + at + part.len())
        });
        Self { span: within.unwrap_or(whole), severity, code, message, hint, first: None }
    }

    /// Adds what to do.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says where the first of the two stands; the hint names its line.
    pub(super) fn after(mut self, first: usize) -> Self {
        self.first = Some(first);
        self
    }

    /// Moves it from a document to the file that the document stands in.
    pub(super) fn shifted(mut self, by: usize) -> Self {
        self.span = self.span.start + by..self.span.end + by;
        self.first = self.first.map(|first| first + by);
        self
    }
}

/// Knows the lines of a file.
#[derive(Debug)]
pub(super) struct Source<'a> {
    path: Arc<str>,
    text: &'a str,
    lines: Vec<Range<usize>>,
}

impl<'a> Source<'a> {
    /// Finds the lines of a text.
    pub(super) fn new(path: Arc<str>, text: &'a str) -> Self {
        Self { path, text, lines: lines(text).collect() }
    }

    /// Returns the number of the line that holds a byte, counted from 1, and its range.
    fn line(&self, offset: usize) -> (usize, Range<usize>) {
        let after = self.lines.partition_point(|line| line.start <= offset);
        let at = after.saturating_sub(1);
        (at + 1, self.lines.get(at).cloned().unwrap_or(0..0))
    }

    /// Returns the position of a byte: never behind the end of a line.
    pub(super) fn position(&self, offset: usize) -> Position {
        let (number, range) = self.line(offset);
        let line = self.text[range.clone()].trim_end_matches(['\n', '\r']);
        let within = line.floor_char_boundary(offset.saturating_sub(range.start).min(line.len()));
        Position {
            path: Arc::clone(&self.path),
            line: count(number),
            column: count(line[..within].chars().count() + 1),
        }
    }

    /// Makes a problem of a mistake.
    pub(super) fn problem(&self, mistake: Mistake) -> Problem {
        let position = self.position(mistake.span.start);
        let (_, range) = self.line(mistake.span.start);
        let line = self.text[range.clone()].trim_end_matches(['\n', '\r']);
        let start = mistake.span.start.min(range.start + line.len());
        let end = mistake.span.end.clamp(start, range.start + line.len());
        let covered = self.text.get(start..end).map_or(0, |text| text.trim_end().chars().count());
        Problem {
            position,
            severity: mistake.severity,
            code: mistake.code.to_owned(),
            message: mistake.message,
            hint: match mistake.first {
                Some(first) => Some(format!("the first one is in line {}", self.line(first).0)),
                None => mistake.hint,
            },
            source_line: line.chars().take(QUOTED).collect(),
            length: count(covered.max(1)),
        }
    }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
