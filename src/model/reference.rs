//! References in texts: `${database.endpoint}` stands for what another resource turned out to have.
//!
//! In: a text of a manifest. Out: its [`Piece`]s, and what a marker names. `$${` stands for the
//! characters `${`. The variables of IAM policies (`${aws:username}`, `${*}`, `${?}`, `${$}`) look
//! alike and are none: they have a colon or are one sign, which no name of ours has.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

use super::{Key, Observed};

const OPEN: &str = "${";
const ESCAPE: &str = "$${";

/// Is a part of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Characters that stand for themselves.
    Text(&'a str),
    /// `$${`, which stands for `${`.
    Escape,
    /// `${…}`: what is between the braces.
    Marker(&'a str),
    /// A `${` that nothing closes, and what follows it.
    Unclosed(&'a str),
}

/// Takes a text apart.
pub fn pieces(mut text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    while let Some(at) = text.find(OPEN) {
        let is_escape = text[..at].ends_with('$');
        let before = &text[..at - usize::from(is_escape)];
        if !before.is_empty() {
            found.push(Piece::Text(before));
        }
        let rest = &text[at + OPEN.len()..];
        if is_escape {
            found.push(Piece::Escape);
            text = rest;
            continue;
        }
        let Some(end) = rest.find('}') else {
            found.push(Piece::Unclosed(rest));
            return found;
        };
        found.push(Piece::Marker(&rest[..end]));
        text = &rest[end + 1..];
    }
    if !text.is_empty() {
        found.push(Piece::Text(text));
    }
    found
}

/// Tells whether a text holds a reference and nothing is known of its value.
pub fn has_marker(text: &str) -> bool {
    text.contains(OPEN)
        && pieces(text).iter().any(|piece| matches!(piece, Piece::Marker(it) if !is_variable(it)))
}

/// Tells whether a marker is a variable of IAM policies.
///
/// Source: "IAM policy elements: Variables and tags" in the IAM User Guide: a key with a prefix, as
/// `aws:username`, or one of three special characters.
pub fn is_variable(marker: &str) -> bool {
    marker.contains(':') || matches!(marker, "*" | "?" | "$")
}

/// Names one output of one resource, as a text in a manifest does.
///
/// Its text is `database.endpoint`, or `Workspace/team-data-prod.database.endpoint` for a resource
/// that another object declares.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference {
    /// The object that declares the resource; `None` for the one that the text stands in.
    pub object: Option<Key>,
    /// The path of the output within the object: the section, the name of the resource where the
    /// section holds several, and the output.
    pub path: Vec<String>,
}

impl Reference {
    /// Reads what stands between the braces; `None` when it has not the form of a reference.
    pub fn read(marker: &str) -> Option<Self> {
        let (object, path) = match marker.split_once('/') {
            Some((kind, rest)) => {
                let (name, path) = rest.split_once('.')?;
                (Some(format!("{kind}/{name}").parse().ok()?), path)
            }
            None => (None, marker),
        };
        let is_word = |part: &str| {
            !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
        };
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        (path.len() > 1 && path.iter().all(|part| is_word(part))).then_some(Self { object, path })
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(object) = &self.object {
            write!(f, "{object}.")?;
        }
        f.write_str(&self.path.join("."))
    }
}

/// States one thing that a resource offers to the texts of others; never a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// The name of the output, for example `endpoint`.
    pub name: &'static str,
    /// The dotted path of the member of the describe answer, for example `Endpoint.Address`.
    pub member: &'static str,
    /// True for a list, which is no part of a text.
    pub is_list: bool,
}

impl Offer {
    /// States an output that is a text or a number.
    pub const fn text(name: &'static str, member: &'static str) -> Self {
        Self { name, member, is_list: false }
    }

    /// States an output that is a list.
    pub const fn list(name: &'static str, member: &'static str) -> Self {
        Self { name, member, is_list: true }
    }

    /// Returns the outputs that a resource has by now, by name.
    pub fn outputs(
        offers: &[Self],
        actual: &Observed,
    ) -> std::collections::BTreeMap<String, Value> {
        let value =
            |offer: &Self| Some((offer.name.to_owned(), actual.member(offer.member)?.clone()));
        offers.iter().filter_map(value).collect()
    }
}

/// Puts values in the place of markers and takes escapes away, in every text within a value.
///
/// `of` returns the value of a marker, or `None` for one that stays as it is. A text that is a
/// marker alone becomes the value itself, whatever its type; within a text, values are written out.
pub fn fill(value: &Value, of: &dyn Fn(&str) -> Option<Value>) -> Value {
    match value {
        Value::String(text) if text.contains(OPEN) => filled(text, of),
        Value::Array(items) => items.iter().map(|item| fill(item, of)).collect(),
        Value::Object(members) => {
            let fill = |(key, value): (&String, &Value)| (key.clone(), fill(value, of));
            Value::Object(members.iter().map(fill).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

fn filled(text: &str, of: &dyn Fn(&str) -> Option<Value>) -> Value {
    let pieces = pieces(text);
    if let [Piece::Marker(marker)] = pieces.as_slice()
        && let Some(value) = of(marker)
    {
        return value;
    }
    let write = |piece: &Piece<'_>| -> Cow<'_, str> {
        match *piece {
            Piece::Text(text) => text.to_owned().into(),
            Piece::Escape => OPEN.into(),
            Piece::Unclosed(rest) => format!("{OPEN}{rest}").into(),
            Piece::Marker(marker) => match of(marker) {
                Some(Value::String(text)) => text.into(),
                Some(value) => value.to_string().into(),
                None => format!("{OPEN}{marker}}}").into(),
            },
        }
    };
    pieces.iter().map(write).collect::<String>().into()
}

/// Lists the markers in the texts of a value that are no variables of IAM, each once.
pub fn markers(value: &Value) -> Vec<&str> {
    fn visit<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
        match value {
            Value::String(text) if text.contains(OPEN) => {
                found.extend(pieces(text).into_iter().filter_map(|piece| match piece {
                    Piece::Marker(marker) if !is_variable(marker) => Some(marker),
                    _ => None,
                }));
            }
            Value::Array(items) => items.iter().for_each(|item| visit(item, found)),
            Value::Object(members) => members.values().for_each(|member| visit(member, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    visit(value, &mut found);
    found.sort_unstable();
    found.dedup();
    found
}

/// Tells whether a value has a text with a marker or an escape.
pub fn is_marked(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(OPEN),
        Value::Array(items) => items.iter().any(is_marked),
        Value::Object(members) => members.values().any(is_marked),
        _ => false,
    }
}

/// Writes a text so that [`fill`] gives it back: every `${` in it is escaped.
pub fn escaped(text: &str) -> String {
    text.replace(OPEN, ESCAPE)
}

#[cfg(test)]
mod tests;
