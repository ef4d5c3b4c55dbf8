//! The tree of one document, in which every key and every value knows its place.
//!
//! It is the index from JSON pointers to bytes that problems are placed with; good files are read
//! without it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use serde_saphyr::{Location, Spanned};

/// Holds one value with its place.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::manifest) struct Node {
    /// Where it stands, in bytes; of an alias, where the alias stands.
    pub(in crate::manifest) span: Range<usize>,
    /// Where its text stands; of an alias, where the anchor is.
    pub(in crate::manifest) origin: Range<usize>,
    /// What it is.
    pub(in crate::manifest) data: Data,
}

/// Holds a value as YAML 1.2 reads it without a schema.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::manifest) enum Data {
    /// Nothing: `null`, `~` or no text at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Integer(i128),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A mapping, in the order of the file; a key may stand there twice.
    Map(Vec<Entry>),
}

/// Holds one key of a mapping with its value.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::manifest) struct Entry {
    /// The key's text.
    pub(in crate::manifest) key: String,
    /// Where the key stands.
    pub(in crate::manifest) span: Range<usize>,
    /// The value.
    pub(in crate::manifest) value: Node,
}

impl Node {
    /// Returns the entries of a mapping; none of anything else.
    pub(in crate::manifest) fn entries(&self) -> &[Entry] {
        match &self.data {
            Data::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the first entry with this key.
    pub(in crate::manifest) fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// Returns the value at a path of keys.
    pub(in crate::manifest) fn at(&self, path: &[&str]) -> Option<&Node> {
        path.iter().try_fold(self, |node, key| node.entry(key).map(|entry| &entry.value))
    }

    /// Returns the text, if it is one.
    pub(in crate::manifest) fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number, if it is one.
    pub(in crate::manifest) fn number(&self) -> Option<f64> {
        match &self.data {
            #[expect(clippy::cast_precision_loss, reason = "only compared with a bound")]
            Data::Integer(number) => Some(*number as f64),
            Data::Float(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the place of the value at a JSON pointer (RFC 6901).
    ///
    /// A list or a mapping stands where its key stands. What is not there stands at the nearest
    /// parent.
    pub(in crate::manifest) fn locate(&self, pointer: &str) -> Range<usize> {
        let mut node = self;
        let mut place = self.span.clone();
        for part in pointer.split('/').skip(1) {
            let part = part.replace("~1", "/").replace("~0", "~");
            let step = match &node.data {
                Data::Map(_) => node.entry(&part).map(|entry| (&entry.value, entry.span.clone())),
                Data::List(items) => part
                    .parse()
                    .ok()
                    .and_then(|at: usize| items.get(at))
                    .map(|item| (item, item.span.clone())),
                _ => None,
            };
            let Some((next, span)) = step else { return place };
            (node, place) = (next, span);
        }
        if node.is_container() { place } else { node.span.clone() }
    }

    /// Tells whether it is a list or a mapping.
    pub(in crate::manifest) fn is_container(&self) -> bool {
        matches!(self.data, Data::List(_) | Data::Map(_))
    }

    /// Returns the value without places; of a key that stands there twice the last one counts.
    pub(in crate::manifest) fn to_json(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Integer(value) => Number::from_i128(*value).map_or(Value::Null, Value::Number),
            Data::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(items) => Value::Array(items.iter().map(Self::to_json).collect()),
            Data::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| (entry.key.clone(), entry.value.to_json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Data>::deserialize(deserializer)?;
        Ok(Self {
            span: bytes(spanned.referenced),
            origin: bytes(spanned.defined),
            data: spanned.value,
        })
    }
}

fn bytes(location: Location) -> Range<usize> {
    let span = location.span();
    let number = |value: Option<u64>| usize::try_from(value.unwrap_or(0)).unwrap_or(0);
    let start = number(span.byte_offset());
    start..start + number(span.byte_len())
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DataVisitor)
    }
}

struct DataVisitor;

impl<'de> Visitor<'de> for DataVisitor {
    type Value = Data;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<Data, E> {
        Ok(Data::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Data, E> {
        Ok(Data::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Data, E> {
        Ok(Data::Integer(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Data, E> {
        Ok(Data::Integer(value.into()))
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<Data, E> {
        Ok(Data::Integer(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Data, E> {
        Ok(Data::Float(value))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Data, E> {
        Ok(Data::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Data, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Data::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Data, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = pairs.next_key::<Spanned<Cow<'de, str>>>()? {
            let span = bytes(key.referenced);
            entries.push(Entry { key: key.value.into_owned(), span, value: pairs.next_value()? });
        }
        Ok(Data::Map(entries))
    }
}
