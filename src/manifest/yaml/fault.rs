//! What the YAML library says, in the words of this program.

use std::ops::Range;

use serde_saphyr::budget::BudgetBreach;
use serde_saphyr::{Error, Location};

use super::super::mistake::Mistake;
use super::LIMITS;

/// Turns an error of the library into a mistake at its place in the document.
pub(super) fn mistake(error: &Error, text: &str) -> Mistake {
    let error = innermost(error);
    let mut span = error.location().map_or(0..0, |location| place(location, text));
    if matches!(error, Error::UnknownAnchor { .. }) {
        // The library points at the star alone.
        let alias = text[span.start..].split_whitespace().next().unwrap_or_default();
        span.end = span.start + alias.len();
    }
    let (code, message, hint) = words(error, &text[span.clone()]);
    let mut mistake = Mistake::error(span, code, message);
    if code == "Syntax" {
        mistake.hint = syntax_hint(&mistake.span, text);
    } else {
        mistake.hint = hint;
    }
    mistake
}

fn innermost(error: &Error) -> &Error {
    match error {
        Error::AliasError { error, .. } => innermost(error),
        other => other.without_snippet(),
    }
}

type Words = (&'static str, String, Option<String>);

fn words(error: &Error, source: &str) -> Words {
    let (code, message, hint) = match error {
        Error::ExternalMessage { msg, .. } => {
            ("Syntax", format!("this cannot be read as YAML: {msg}"), "")
        }
        Error::Eof { .. } => ("Syntax", "the document ends too early".to_owned(), ""),
        Error::MergeKeyNotAllowed { .. } => (
            "MergeKey",
            "the merge key << is not part of YAML 1.2".to_owned(),
            "write the fields out, or use an alias for a whole value",
        ),
        Error::UnsupportedTag { tag, .. } | Error::TaggedStructFieldName { tag, .. } => (
            "UnknownTag",
            format!("the tag {tag} is not known"),
            "a manifest needs no tags: remove it, and quote the value if it is a text",
        ),
        Error::UnknownAnchor { .. } => (
            "UnknownAnchor",
            format!("no anchor stands before the alias {source}"),
            "an alias *name needs an anchor &name before it in the same document",
        ),
        Error::NonFiniteFloat { value, .. } => {
            ("WrongType", format!("{value} is not a finite number"), "quote it if it is a text")
        }
        Error::QuotingRequired { value, .. } => {
            let hint = format!("quote it: \"{value}\"");
            return ("UnquotedText", format!("{value} has to be a text"), Some(hint));
        }
        Error::DuplicateMappingKey { key, .. } => {
            let key = key.as_deref().unwrap_or("a key");
            ("DuplicateKey", format!("\"{key}\" is given twice"), "keep one of them")
        }
        other => limits(other).unwrap_or_else(|| ("InvalidValue", plain(other), "")),
    };
    (code, message, (!hint.is_empty()).then(|| hint.to_owned()))
}

fn limits(error: &Error) -> Option<(&'static str, String, &'static str)> {
    let message = match error {
        Error::Budget { breach: BudgetBreach::Depth { .. }, .. } => {
            format!("the document nests deeper than {} levels", LIMITS.depth)
        }
        Error::Budget { breach: BudgetBreach::Nodes { .. }, .. } => {
            format!("the document has more than {} values", LIMITS.nodes)
        }
        Error::Budget { breach: BudgetBreach::ScalarBytes { .. }, .. } => {
            format!("the document holds more than {} bytes of text", LIMITS.scalar_bytes)
        }
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayCounterOverflow { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            "anchors and aliases expand to more than a manifest may hold".to_owned()
        }
        _ => return None,
    };
    Some(("TooComplex", message, "a manifest has a few dozen lines: is this the right file?"))
}

/// Returns the library's own sentence, without the place that it repeats at the end.
fn plain(error: &Error) -> String {
    let text = match error {
        Error::Message { msg, .. } => msg.clone(),
        other => other.to_string(),
    };
    let first = text.lines().next().unwrap_or_default();
    first.split(" at line ").next().unwrap_or(first).trim_end_matches('.').to_owned()
}

/// Guesses from the text around a syntax error what went wrong.
fn syntax_hint(span: &Range<usize>, text: &str) -> Option<String> {
    let start = text[..span.start].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    let indent = &line[..line.len() - line.trim_start().len()];
    let hint = match text[span.start..].chars().next() {
        _ if indent.contains('\t') => "indent with spaces: YAML allows no tabs there",
        Some(':') => {
            "quote a value that holds \": \", start the keys of a mapping in one column, and \
             close quotes and brackets"
        }
        Some('@' | '`' | '%' | '*' | '&' | '!' | '|' | '>') => {
            "quote a value that starts with this sign"
        }
        Some('"' | '\'' | '[' | '{') => "what is opened here has to be closed",
        _ if line.contains(['"', '\'']) => "close every quote, here and in the lines above",
        _ if !line.contains(':') && !line.trim_start().starts_with('-') => {
            "a line is either `key: value` or `- item`"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

fn place(location: Location, text: &str) -> Range<usize> {
    let span = location.span();
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let from_chars = |count: u64| {
        text.char_indices().nth(number(count)).map_or(text.len(), |(offset, _)| offset)
    };
    let (start, end) = match (span.byte_offset(), span.byte_len()) {
        (Some(start), Some(length)) => (number(start), number(start.saturating_add(length))),
        _ if location.line() == 0 => (0, 0),
        _ => (from_chars(span.offset()), from_chars(span.offset().saturating_add(span.len()))),
    };
    let on_boundary = |at: usize| text.floor_char_boundary(at.min(text.len()));
    let start = on_boundary(start);
    start..on_boundary(end).max(start)
}
