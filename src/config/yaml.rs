//! The settings file as a tree in which every key and value knows its place.
//!
//! A scalar stays the text that stands in the file, so that nothing is lost to a guess at its type
//! (`012345678901`, `1_000`); only whether it was quoted is kept beside it.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::options::{DuplicateKeyPolicy, MergeKeyPolicy};
use serde_saphyr::{Location, Options, Spanned};

/// Points at a place in the file, both numbers counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// Holds one value with its place.
#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) data: Data,
}

#[derive(Debug, Clone)]
pub(super) enum Data {
    /// No text, or `null`.
    Nothing,
    Scalar {
        text: String,
        quoted: bool,
    },
    List,
    Map(Vec<(String, Place, Node)>),
}

/// Says why the file is no tree.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) place: Place,
    pub(super) message: String,
}

impl Node {
    /// Returns the entries of a mapping.
    pub(super) fn entries(&self) -> &[(String, Place, Self)] {
        match &self.data {
            Data::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the value at a dotted path.
    pub(super) fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, |node, part| {
            node.entries().iter().find(|(key, ..)| key == part).map(|(.., value)| value)
        })
    }
}

/// Reads a file; one without content is an empty mapping.
pub(super) fn parse(text: &str) -> Result<Node, Broken> {
    let raw: Spanned<Raw> =
        serde_saphyr::from_str_with_options(text, options()).map_err(|error| broken(&error))?;
    Ok(node(raw, text))
}

fn options() -> Options {
    serde_saphyr::options! {
        duplicate_keys: DuplicateKeyPolicy::Error,
        merge_keys: MergeKeyPolicy::Error,
        strict_booleans: true,
    }
}

fn broken(error: &serde_saphyr::Error) -> Broken {
    let error = error.without_snippet();
    let place = error.location().map_or(Place { line: 1, column: 1 }, place);
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let message = first.split(" at line ").next().unwrap_or(first).to_owned();
    Broken { place, message }
}

fn place(location: Location) -> Place {
    let number = |value: u64| u32::try_from(value).unwrap_or(u32::MAX).max(1);
    Place { line: number(location.line()), column: number(location.column()) }
}

/// Holds what the library makes of the file; a plain scalar is read again from the text.
enum Raw {
    Nothing,
    Scalar(String),
    List,
    Map(Vec<(Spanned<String>, Spanned<Self>)>),
}

fn node(raw: Spanned<Raw>, text: &str) -> Node {
    let data = match raw.value {
        Raw::Nothing => Data::Nothing,
        Raw::Scalar(value) => scalar(value, raw.referenced, text),
        Raw::List => Data::List,
        Raw::Map(entries) => Data::Map(
            entries
                .into_iter()
                .map(|(key, value)| (key.value, place(key.referenced), node(value, text)))
                .collect(),
        ),
    };
    Node { place: place(raw.referenced), data }
}

fn scalar(value: String, location: Location, text: &str) -> Data {
    let source = source(location, text).unwrap_or(&value);
    let quoted = source.starts_with(['"', '\'', '|', '>']);
    let text = if quoted { value } else { source.trim().to_owned() };
    Data::Scalar { text, quoted }
}

fn source(location: Location, text: &str) -> Option<&str> {
    let span = location.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let length = usize::try_from(span.byte_len()?).ok()?;
    text.get(start..start.checked_add(length)?)
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Nothing)
    }

    fn visit_none<E>(self) -> Result<Raw, E> {
        Ok(Raw::Nothing)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Raw, D::Error> {
        Raw::deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Raw, E> {
        Ok(Raw::Scalar(value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Raw, E> {
        Ok(Raw::Scalar(value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Raw, E> {
        Ok(Raw::Scalar(value.to_string()))
    }

    fn visit_i128<E>(self, value: i128) -> Result<Raw, E> {
        Ok(Raw::Scalar(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Raw, E> {
        Ok(Raw::Scalar(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Raw, E> {
        Ok(Raw::Scalar(value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Raw, E> {
        Ok(Raw::Scalar(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Raw, A::Error> {
        while items.next_element::<serde::de::IgnoredAny>()?.is_some() {}
        Ok(Raw::List)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}
