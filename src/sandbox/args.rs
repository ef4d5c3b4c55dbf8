//! Typed reading of a call's parameters.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::refusal::Refusal;

/// Reads the parameters of one call; a parameter that is null is one that is absent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Args<'a> {
    members: &'a Map<String, Value>,
}

impl<'a> Args<'a> {
    /// Reads these parameters.
    pub(super) fn new(members: &'a Map<String, Value>) -> Self {
        Self { members }
    }

    /// Returns the parameters that are there.
    pub(super) fn iter(self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.members
            .iter()
            .filter(|(_, v)| !v.is_null())
            .map(|(name, value)| (name.as_str(), value))
    }

    /// Returns a parameter.
    pub(super) fn get(self, member: &str) -> Option<&'a Value> {
        self.members.get(member).filter(|value| !value.is_null())
    }

    /// Tells whether a parameter is there.
    pub(super) fn has(self, member: &str) -> bool {
        self.get(member).is_some()
    }

    fn read<T>(
        self,
        member: &str,
        what: &str,
        as_type: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, Refusal> {
        match self.get(member) {
            None => Ok(None),
            Some(value) => as_type(value).map(Some).ok_or_else(|| {
                Refusal::new("MalformedInput", format!("{member} must be {what}, not {value}"))
            }),
        }
    }

    /// Reads a text.
    pub(super) fn text(self, member: &str) -> Result<Option<&'a str>, Refusal> {
        self.read(member, "text", Value::as_str)
    }

    /// Reads a text that has to be there.
    pub(super) fn required(self, member: &str) -> Result<&'a str, Refusal> {
        match self.text(member)? {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(missing(member)),
        }
    }

    /// Reads a whole number.
    pub(super) fn integer(self, member: &str) -> Result<Option<i64>, Refusal> {
        self.read(member, "a whole number", Value::as_i64)
    }

    /// Reads a truth value.
    pub(super) fn boolean(self, member: &str) -> Result<Option<bool>, Refusal> {
        self.read(member, "true or false", Value::as_bool)
    }

    /// Reads a truth value that is false when absent.
    pub(super) fn flag(self, member: &str) -> Result<bool, Refusal> {
        Ok(self.boolean(member)?.unwrap_or(false))
    }

    /// Reads a list of texts.
    pub(super) fn texts(self, member: &str) -> Result<Option<Vec<String>>, Refusal> {
        self.read(member, "a list of texts", |value| {
            value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        })
    }

    /// Reads a structure.
    pub(super) fn object(self, member: &str) -> Result<Option<Args<'a>>, Refusal> {
        self.read(member, "a structure", |value| value.as_object().map(Args::new))
    }

    /// Reads a list of structures; an absent list is empty.
    pub(super) fn objects(self, member: &str) -> Result<Vec<Args<'a>>, Refusal> {
        let read = self.read(member, "a list of structures", |value| {
            value.as_array()?.iter().map(|item| item.as_object().map(Args::new)).collect()
        })?;
        Ok(read.unwrap_or_default())
    }

    /// Reads `Tags`, by AWS's rules for keys and values.
    pub(super) fn tags(self) -> Result<BTreeMap<String, String>, Refusal> {
        let mut tags = BTreeMap::new();
        for tag in self.objects("Tags")? {
            let key = tag.required("Key")?;
            let value = tag.text("Value")?.unwrap_or_default();
            if key.starts_with("aws:") {
                return Err(Refusal::value(format!("the tag key {key} is reserved for AWS")));
            }
            if key.chars().count() > 128 || value.chars().count() > 256 {
                return Err(Refusal::value(format!("the tag {key} is too long")));
            }
            tags.insert(key.to_owned(), value.to_owned());
        }
        Ok(tags)
    }

    /// Reads `Filters` as name and values.
    pub(super) fn filters(self) -> Result<Vec<(&'a str, Vec<String>)>, Refusal> {
        self.objects("Filters")?
            .into_iter()
            .map(|f| Ok((f.required("Name")?, f.texts("Values")?.unwrap_or_default())))
            .collect()
    }
}

/// Refuses a call that lacks a required parameter.
pub(super) fn missing(member: &str) -> Refusal {
    Refusal::new("MissingParameter", format!("The request must contain the parameter {member}"))
}
