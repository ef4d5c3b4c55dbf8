//! What a policy document means: its statements as sets, in one spelling.
//!
//! Sources: "Grammar of the IAM JSON policy language" and the pages of the elements in the IAM User
//! Guide. A list and its only item are the same, order and repetition mean nothing; names of
//! actions and of condition keys have no letter case; an account number is its root's ARN; `"*"` as
//! a principal is `{"AWS": "*"}`; a document without `Version` is of 2008-10-17.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};

use super::condition;

/// The version of a document that names none.
const FIRST_VERSION: &str = "2008-10-17";

/// How many of the things that only one side has are told.
const MOST_TOLD: usize = 3;

/// Says why a document cannot be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the policy document {0}")]
pub(super) struct Unreadable(String);

/// Holds the values of a statement by their path: `["Principal", "AWS"]`, `["Action"]`.
pub(super) type Meaning = BTreeMap<Vec<String>, BTreeSet<String>>;

/// Holds what a document means.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Document {
    version: String,
    /// The statements, with the names (`Sid`) under which each stands.
    statements: BTreeMap<Meaning, BTreeSet<String>>,
}

impl Document {
    /// Reads a document; account numbers are of `partition`.
    pub(super) fn read(document: &Value, partition: &str) -> Result<Self, Unreadable> {
        let document = parsed(document)?;
        let members = object(&document, "is no object")?;
        let version = match members.get("Version") {
            None => FIRST_VERSION.to_owned(),
            Some(version) => text(version, "Version")?.to_owned(),
        };
        let mut statements: BTreeMap<Meaning, BTreeSet<String>> = BTreeMap::new();
        for statement in many(members.get("Statement")) {
            let statement = object(statement, "has a statement that is no object")?;
            let names = statements.entry(meaning(statement, partition)?).or_default();
            match statement.get("Sid") {
                Some(name) if !super::value::is_empty(name) => {
                    names.insert(text(name, "Sid")?.to_owned());
                }
                _ => {}
            }
        }
        Ok(Self { version, statements })
    }

    /// Lists everything that the statements say, as people read it.
    fn said(&self) -> BTreeSet<String> {
        let pairs = self.statements.keys().flatten();
        pairs
            .flat_map(|(path, values)| {
                values.iter().map(move |value| format!("{} {value}", path.join(" ")))
            })
            .collect()
    }
}

/// Says how two documents differ; `None` when they mean the same.
pub(super) fn difference(want: &Document, have: &Document) -> Option<String> {
    if want.version != have.version {
        return Some(format!("Version is {}, declared is {}", have.version, want.version));
    }
    let same = want.statements.keys().eq(have.statements.keys());
    let named = |(meaning, names): (&Meaning, &BTreeSet<String>)| {
        have.statements.get(meaning).is_some_and(|there| names.is_subset(there))
    };
    match (same, want.statements.iter().all(named)) {
        (true, true) => None,
        (true, false) => Some("a statement has another Sid".to_owned()),
        (false, _) => Some(apart(&want.said(), &have.said())),
    }
}

fn apart(want: &BTreeSet<String>, have: &BTreeSet<String>) -> String {
    let told = |who: &str, ours: &BTreeSet<String>, theirs: &BTreeSet<String>| {
        let all: Vec<&str> = ours.difference(theirs).map(String::as_str).collect();
        let more = if all.len() > MOST_TOLD { " and more" } else { "" };
        let first = all.get(..MOST_TOLD.min(all.len())).unwrap_or_default().join(", ");
        (!all.is_empty()).then(|| format!("only {who} has {first}{more}"))
    };
    let parts: Vec<String> =
        [told("AWS", have, want), told("Git", want, have)].into_iter().flatten().collect();
    if parts.is_empty() { "the statements differ".to_owned() } else { parts.join("; ") }
}

/// Returns a document as JSON, decoding text.
pub(super) fn parsed(document: &Value) -> Result<Cow<'_, Value>, Unreadable> {
    let Some(text) = document.as_str() else { return Ok(Cow::Borrowed(document)) };
    let unreadable = |what: String| Unreadable(what);
    let decoded = match text.trim_start().starts_with('{') {
        true => Cow::Borrowed(text),
        false => percent_decode_str(text)
            .decode_utf8()
            .map_err(|_| unreadable("is not in UTF-8".to_owned()))?,
    };
    serde_json::from_str(&decoded)
        .map(Cow::Owned)
        .map_err(|error| unreadable(format!("is not JSON: {error}")))
}

/// Returns the values of a statement in one spelling.
fn meaning(statement: &Map<String, Value>, partition: &str) -> Result<Meaning, Unreadable> {
    let mut found = Meaning::new();
    for (name, value) in statement {
        let path = || vec![name.clone()];
        match name.as_str() {
            "Sid" => {}
            "Effect" => {
                let effect = text(value, name)?.to_ascii_lowercase();
                found.insert(path(), BTreeSet::from([effect]));
            }
            "Action" | "NotAction" => {
                found.insert(path(), texts(value, name, action)?);
            }
            "Resource" | "NotResource" => {
                found.insert(path(), texts(value, name, collapsed)?);
            }
            "Principal" | "NotPrincipal" => principals(name, value, partition, &mut found)?,
            "Condition" => conditions(value, &mut found)?,
            _ => {
                found.insert(path(), BTreeSet::from([value.to_string()]));
            }
        }
    }
    Ok(found)
}

fn principals(
    element: &str,
    value: &Value,
    partition: &str,
    found: &mut Meaning,
) -> Result<(), Unreadable> {
    let aws = |text: &str| account(text, partition);
    let Some(kinds) = value.as_object() else {
        found.insert(vec![element.to_owned(), "AWS".to_owned()], texts(value, element, aws)?);
        return Ok(());
    };
    for (kind, names) in kinds {
        let names = match kind.as_str() {
            "AWS" => texts(names, element, aws)?,
            _ => texts(names, element, str::to_owned)?,
        };
        found.insert(vec![element.to_owned(), kind.clone()], names);
    }
    Ok(())
}

fn conditions(value: &Value, found: &mut Meaning) -> Result<(), Unreadable> {
    for (operator, keys) in object(value, "has a condition that is no object")? {
        for (key, values) in object(keys, "has a condition operator without keys")? {
            let operator = condition::operator(operator);
            let values = many(Some(values)).map(|value| {
                let value = condition::text(value);
                value.map(|text| condition::value(&operator, &text))
            });
            let values: Option<BTreeSet<String>> = values.collect();
            let values = values
                .ok_or_else(|| Unreadable(format!("has no plain value for the key {key}")))?;
            let path = vec!["Condition".to_owned(), operator, key.to_ascii_lowercase()];
            found.entry(path).or_default().extend(values);
        }
    }
    Ok(())
}

/// Actions have no letter case; `*:*` is every action of every service.
fn action(name: &str) -> String {
    match collapsed(&name.to_ascii_lowercase()).as_str() {
        "*:*" => "*".to_owned(),
        name => name.to_owned(),
    }
}

/// Several wildcards in a row are one.
fn collapsed(pattern: &str) -> String {
    let mut text = String::with_capacity(pattern.len());
    for letter in pattern.chars() {
        if letter != '*' || !text.ends_with('*') {
            text.push(letter);
        }
    }
    text
}

/// An account number stands for the account's root.
fn account(principal: &str, partition: &str) -> String {
    let is_account = principal.len() == 12 && principal.bytes().all(|byte| byte.is_ascii_digit());
    match is_account {
        true => format!("arn:{partition}:iam::{principal}:root"),
        false => principal.to_owned(),
    }
}

fn texts(
    value: &Value,
    element: &str,
    spelled: impl Fn(&str) -> String,
) -> Result<BTreeSet<String>, Unreadable> {
    many(Some(value)).map(|item| text(item, element).map(&spelled)).collect()
}

/// Walks a list, or the one thing that stands for a list of one.
fn many(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    match value {
        Some(Value::Array(items)) => items.iter(),
        Some(one) => std::slice::from_ref(one).iter(),
        None => [].iter(),
    }
}

fn text<'a>(value: &'a Value, element: &str) -> Result<&'a str, Unreadable> {
    value.as_str().ok_or_else(|| Unreadable(format!("has a {element} that is no text")))
}

fn object<'a>(value: &'a Value, what: &str) -> Result<&'a Map<String, Value>, Unreadable> {
    value.as_object().ok_or_else(|| Unreadable(what.to_owned()))
}
