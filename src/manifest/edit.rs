//! Another value in the text of a manifest, and nothing else.
//!
//! In: the bytes of a file, an object in it, a member below `spec.resources`, or of a
//! network below `spec`, a value. Out: the bytes
//! with that value at the place of the old one, or why it cannot be put there.
//!
//! Invariants: comments, layout and everything else stay byte for byte; the result is read again and has
//! to be the old document with that one value, so that nothing is guessed about YAML (anchors, quotes,
//! flow and block style); what does not pass that is refused and left to a person.

use std::ops::Range;

use serde_json::{Number, Value};

use super::parse::key_of;
use super::yaml::{self, Data, Node};
use crate::model::Key;
use crate::model::problem::pointer_part;

/// Says why a value cannot be put into a manifest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Uneditable {
    /// The file is no text, or holds no such object.
    #[error("the file does not hold the object")]
    NoObject,
    /// The manifest has no such member.
    #[error("the manifest does not declare it; add the line by hand")]
    Undeclared,
    /// AWS has nothing that could be written.
    #[error("AWS has none; take the line out by hand")]
    Absent,
    /// It is a mapping, or a value of another kind than the new one.
    #[error("it is more than one value; change it by hand")]
    Compound,
    /// It stands in several lines.
    #[error("it stands in several lines; change it by hand")]
    ManyLines,
    /// It is written elsewhere, or used elsewhere.
    #[error("it is an alias or an anchor, so that more would change; change it by hand")]
    Shared,
}

/// Puts a value into a manifest; `member` is a path below `spec.resources`, or of a network below
/// `spec`, its parts with dots between, which parts may have themselves.
///
/// # Errors
///
/// [`Uneditable`], with which nothing is changed.
pub fn edit(bytes: &[u8], key: &Key, member: &str, value: &Value) -> Result<Vec<u8>, Uneditable> {
    let whole = std::str::from_utf8(bytes).map_err(|_| Uneditable::NoObject)?;
    let text = whole.strip_prefix('\u{feff}').unwrap_or(whole);
    let mark = whole.len() - text.len();
    let holds = |document: &yaml::Document<'_>| {
        let root = yaml::tree(document.text).ok()?;
        (key_of(&root).as_ref() == Some(key)).then_some(root)
    };
    let found = yaml::documents(text).into_iter().find_map(|it| holds(&it).map(|root| (it, root)));
    let (document, root) = found.ok_or(Uneditable::NoObject)?;
    let edited = in_document(document.text, &root, member, value)?;
    let (start, end) = (mark + document.offset, mark + document.offset + document.text.len());
    Ok([&bytes[..start], edited.as_bytes(), &bytes[end..]].concat())
}

fn in_document(text: &str, root: &Node, member: &str, value: &Value) -> Result<String, Uneditable> {
    let resources = root.at(&["spec", "resources"]).map(|node| (node, "/spec/resources"));
    let whole = || root.at(&["spec"]).map(|node| (node, "/spec"));
    let (around, pointer) = resources.or_else(whole).ok_or(Uneditable::Undeclared)?;
    let mut pointer = pointer.to_owned();
    let node = find(around, member, &mut pointer).ok_or(Uneditable::Undeclared)?;
    if node.span != node.origin {
        return Err(Uneditable::Shared);
    }
    let span = extent(text, node)?;
    let old = text.get(span.clone()).ok_or(Uneditable::Compound)?;
    if old.contains(['\n', '\r']) {
        return Err(Uneditable::ManyLines);
    }
    let written = candidates(old, &node.data, value)?;
    let before = root.to_json();
    for (words, meant) in written {
        let edited = [&text[..span.start], words.as_str(), &text[span.end..]].concat();
        let mut expected = before.clone();
        if let Some(place) = expected.pointer_mut(&pointer) {
            *place = meant;
        }
        if yaml::tree(&edited).is_ok_and(|after| after.to_json() == expected) {
            return Ok(edited);
        }
    }
    Err(Uneditable::Shared)
}

/// Returns where a value stands: the reader tells of a list where it begins.
fn extent(text: &str, node: &Node) -> Result<Range<usize>, Uneditable> {
    let Data::List(items) = &node.data else { return Ok(node.span.clone()) };
    let start = node.span.start;
    if !text.get(start..).is_some_and(|rest| rest.starts_with('[')) {
        return Err(Uneditable::ManyLines);
    }
    let last = items.last().map_or(start + 1, |item| item.span.end);
    let rest = text.get(last..).unwrap_or_default().trim_start_matches([' ', ',']);
    match rest.starts_with(']') {
        true => Ok(start..text.len() - rest.len() + 1),
        false => Err(Uneditable::ManyLines),
    }
}

/// Finds the value at a path whose parts may have dots themselves, and its JSON pointer.
fn find<'a>(node: &'a Node, path: &str, pointer: &mut String) -> Option<&'a Node> {
    node.entries().iter().find_map(|entry| {
        let rest = path.strip_prefix(entry.key.as_str())?;
        let mut deeper = format!("{pointer}/{}", pointer_part(&entry.key));
        let found = match rest.strip_prefix('.') {
            None if rest.is_empty() => Some(&entry.value),
            None => None,
            Some(rest) => find(&entry.value, rest, &mut deeper),
        };
        found.inspect(|_| *pointer = deeper)
    })
}

/// Lists how a value may be written in the place of another, the likest first, with what each has to
/// be read as.
fn candidates(old: &str, data: &Data, value: &Value) -> Result<Vec<(String, Value)>, Uneditable> {
    match (data, value) {
        (_, Value::Null) => Err(Uneditable::Absent),
        (Data::List(_), Value::Array(items)) => list(items),
        (Data::List(_) | Data::Map(_), _) | (_, Value::Array(_) | Value::Object(_)) => {
            Err(Uneditable::Compound)
        }
        (Data::Text(_), Value::Number(number)) => Ok(texts(old, &number.to_string())),
        (_, Value::Bool(_) | Value::Number(_)) => Ok(vec![(value.to_string(), value.clone())]),
        (Data::Integer(_) | Data::Float(_), Value::String(text)) if number(text).is_some() => {
            Ok(vec![(text.clone(), number(text).into())])
        }
        (Data::Bool(_), Value::String(text)) if matches!(text.as_str(), "true" | "false") => {
            Ok(vec![(text.clone(), Value::Bool(text == "true"))])
        }
        (_, Value::String(text)) => Ok(texts(old, text)),
    }
}

/// AWS answers some numbers as texts.
fn number(text: &str) -> Option<Number> {
    text.parse::<i64>().ok().map(Number::from)
}

/// Writes a text with the quotes of the old one, without quotes, or with any.
fn texts(old: &str, text: &str) -> Vec<(String, Value)> {
    let meant = Value::String(text.to_owned());
    let double = meant.to_string();
    let single = format!("'{}'", text.replace('\'', "''"));
    let plain = text.to_owned();
    let written = match old.chars().next() {
        Some('"') => vec![double],
        Some('\'') => vec![single, double],
        _ => vec![plain, double],
    };
    written.into_iter().map(|words| (words, meant.clone())).collect()
}

/// Writes a list of plain values on one line.
fn list(items: &[Value]) -> Result<Vec<(String, Value)>, Uneditable> {
    if items.iter().any(|item| matches!(item, Value::Array(_) | Value::Object(_) | Value::Null)) {
        return Err(Uneditable::Compound);
    }
    let meant = Value::Array(items.to_vec());
    let joined = |words: Vec<String>| format!("[{}]", words.join(", "));
    let plain = items.iter().map(|item| match item {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let quoted = items.iter().map(Value::to_string);
    let written = [joined(plain.collect()), joined(quoted.collect())];
    Ok(written.into_iter().map(|words| (words, meant.clone())).collect())
}

#[cfg(test)]
mod tests;
