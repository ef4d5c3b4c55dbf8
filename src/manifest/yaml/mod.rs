//! YAML, read strictly: the one module that knows which library reads it.
//!
//! In: the text of one file. Out: its [documents](documents), and of each either a typed value
//! ([`read`]) or a [`Node`] tree in which every key and value knows its bytes ([`tree`]); a
//! [`Mistake`] where it is not YAML or more than the limits allow.
//!
//! Invariants: YAML 1.2 without merge keys and without tags of applications; `yes`, `no`, `on` and
//! `off` are texts; a text that looks like a number needs quotes, and a
//! number has none; work and memory are bounded by
//! [`LIMITS`], whatever aliases expand to. It does not know what a manifest is.

mod fault;
mod node;
mod quoted;

use std::ops::Range;

use serde::de::DeserializeSeed;
use serde_saphyr::Options;
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};

pub(super) use node::{Data, Entry, Node};

use super::mistake::Mistake;

/// The largest document that is read; a real one has a few dozen nodes.
pub(super) const LIMITS: Limits =
    Limits { nodes: 20_000, depth: 32, aliases: 200, scalar_bytes: 1 << 20 };

/// Bounds the work that one document may cause.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Scalars, lists and mappings, aliases expanded.
    pub(super) nodes: usize,
    /// Lists and mappings inside each other.
    pub(super) depth: usize,
    /// Anchors, and uses of anchors.
    pub(super) aliases: usize,
    /// Bytes of all scalars together.
    pub(super) scalar_bytes: usize,
}

/// Holds one document of a file that holds more than comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Document<'a> {
    /// Its text, markers included.
    pub(super) text: &'a str,
    /// Where the text starts in the file, in bytes.
    pub(super) offset: usize,
    /// Where the first line with content starts in the file, in bytes.
    pub(super) content: usize,
}

/// Splits a file into its documents; those without content are left out.
///
/// A line that starts with `---` or `...` is a marker wherever it stands (YAML 1.2.2, 9.1.2), so
/// the split needs no parser, and a document that is broken does not hide the next one.
pub(super) fn documents(text: &str) -> Vec<Document<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut content = None;
    let mut close = |range: Range<usize>, content: Option<usize>| {
        if let Some(content) = content {
            found.push(Document { text: &text[range.clone()], offset: range.start, content });
        }
    };
    for line in lines(text) {
        let words = &text[line.clone()];
        if is_marker(words, "---") {
            // Directives and comments before the marker belong to the document that it opens.
            if let Some(content) = content.take() {
                close(start..line.start, Some(content));
                start = line.start;
            }
            content = has_content(&words[3..]).then_some(line.start);
        } else if is_marker(words, "...") {
            close(start..line.end, content.take());
            start = line.end;
        } else if content.is_none() && !words.starts_with('%') && has_content(words) {
            content = Some(line.start);
        }
    }
    close(start..text.len(), content);
    found
}

/// Returns the byte ranges of the lines, each with its line end (`\n`, `\r\n` or `\r`).
pub(super) fn lines(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let end = match rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            Some(at) if rest[at] == b'\r' && rest.get(at + 1) == Some(&b'\n') => start + at + 2,
            Some(at) => start + at + 1,
            None => bytes.len(),
        };
        let line = start..end;
        start = end;
        Some(line)
    })
}

fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

fn has_content(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#')
}

/// Reads one document into a typed value.
pub(super) fn read<'de, S>(text: &'de str, seed: S) -> Result<S::Value, Mistake>
where
    S: DeserializeSeed<'de>,
{
    serde_saphyr::with_deserializer_from_str_with_options(text, strict(), |yaml| {
        seed.deserialize(quoted::Quoted(yaml))
    })
    .map_err(|error| fault::mistake(&error, text))
}

/// Reads one document into nodes: keys that are given twice and texts without quotes are kept, so
/// that each can be told.
pub(super) fn tree(text: &str) -> Result<Node, Mistake> {
    let mut options = strict();
    options.no_schema = false;
    options.duplicate_keys = DuplicateKeyPolicy::PassThrough;
    serde_saphyr::from_str_with_options(text, options).map_err(|error| fault::mistake(&error, text))
}

fn strict() -> Options {
    serde_saphyr::options! {
        emit_comments: false,
        strict_booleans: true,
        no_schema: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        reject_unsupported_tags: true,
        reject_tagged_field_names: true,
        with_snippet: false,
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: LIMITS.nodes,
            max_replay_stack_depth: LIMITS.depth,
        },
        budget: serde_saphyr::budget! {
            max_nodes: LIMITS.nodes,
            max_depth: LIMITS.depth,
            // Above the look-ahead of the scanner (1,024), so that `max_depth` speaks first.
            flow_nesting_limit: 2_000,
            max_aliases: LIMITS.aliases,
            max_anchors: LIMITS.aliases,
            max_documents: 1,
            max_total_scalar_bytes: LIMITS.scalar_bytes,
        },
    }
}

#[cfg(test)]
mod tests;
