//! What is wrong with a policy document by IAM's grammar, before AWS is asked.
//!
//! Source: "Grammar of the IAM JSON policy language" in the IAM User Guide.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::model::Finding;

/// A policy document, as its JSON says it.
pub(super) type Document = BTreeMap<String, Value>;

/// Is a place in the section: a JSON pointer.
#[derive(Debug, Clone)]
pub(super) struct Place(String);

impl Place {
    pub(super) fn new(pointer: String) -> Self {
        Self(pointer)
    }

    pub(super) fn under(&self, member: &str) -> Self {
        Self(format!("{}/{member}", self.0))
    }

    pub(super) fn item(&self, member: &str, at: usize) -> Self {
        Self(format!("{}/{member}/{at}", self.0))
    }

    pub(super) fn error(&self, code: &'static str, message: impl Into<String>) -> Finding {
        Finding::error(&self.0, code, message)
    }
}

const INVALID: &str = "InvalidPolicyDocument";

/// The elements of a statement.
const ELEMENTS: [&str; 9] = [
    "Sid",
    "Effect",
    "Principal",
    "NotPrincipal",
    "Action",
    "NotAction",
    "Resource",
    "NotResource",
    "Condition",
];

/// Checks a trust policy: statements say who, and not on what.
pub(super) fn trust(document: &Document, place: &Place, found: &mut Vec<Finding>) {
    each(document, place, found, |statement, place, found| {
        let who = ["Principal", "NotPrincipal"];
        exactly_one(statement, &who, place, found);
        refused(statement, &["Resource", "NotResource"], "a trust policy", place, found);
        principals(statement, place, found, "anyone with an AWS account could take the role on");
    });
}

/// Checks the policy of a resource: statements say who may do what with it.
pub(super) fn resource(document: &Document, place: &Place, found: &mut Vec<Finding>) {
    each(document, place, found, |statement, place, found| {
        exactly_one(statement, &["Principal", "NotPrincipal"], place, found);
        exactly_one(statement, &["Resource", "NotResource"], place, found);
        principals(statement, place, found, "anyone with an AWS account would be let in");
    });
}

/// Checks whom a statement names; `open` says what it means when that is everybody.
fn principals(
    statement: &Map<String, Value>,
    place: &Place,
    found: &mut Vec<Finding>,
    open: &'static str,
) {
    let principal = statement.get("Principal");
    if let Some(place) = number(principal, &place.under("Principal")) {
        let message = "an account number is a text: without quotes a leading zero is lost";
        found.push(place.error("UnquotedText", message).hint("quote it"));
    }
    let anyone = principal.is_some_and(lets_in_anyone) || statement.contains_key("NotPrincipal");
    let is_open = statement.get("Condition").and_then(Value::as_object).is_none_or(Map::is_empty);
    if anyone && is_open && statement.get("Effect") == Some(&"Allow".into()) {
        let hint = "name principals, or add a Condition";
        found.push(place.error("AnyoneTrusted", open).hint(hint));
    }
}

/// Checks a policy of rights: statements say on what, and not who.
pub(super) fn rights(document: &Document, place: &Place, found: &mut Vec<Finding>) {
    each(document, place, found, |statement, place, found| {
        exactly_one(statement, &["Resource", "NotResource"], place, found);
        refused(statement, &["Principal", "NotPrincipal"], "a policy of a role", place, found);
    });
}

fn each(
    document: &Document,
    place: &Place,
    found: &mut Vec<Finding>,
    check: impl Fn(&Map<String, Value>, &Place, &mut Vec<Finding>),
) {
    for name in
        document.keys().filter(|name| !["Version", "Id", "Statement"].contains(&name.as_str()))
    {
        let message = format!("a policy document has no element {name}");
        found.push(place.under(name).error(INVALID, message).hint("Version, Id and Statement"));
    }
    if !document.get("Version").is_none_or(|it| it == "2012-10-17" || it == "2008-10-17") {
        let message = "the Version of a policy document is \"2012-10-17\"";
        found.push(place.under("Version").error(INVALID, message));
    }
    let place = place.under("Statement");
    let statements: Vec<(Place, &Value)> = match document.get("Statement") {
        Some(Value::Array(items)) if !items.is_empty() => items
            .iter()
            .enumerate()
            .map(|(at, item)| (place.under(&at.to_string()), item))
            .collect(),
        Some(one @ Value::Object(_)) => vec![(place, one)],
        _ => {
            return found
                .push(place.error(INVALID, "a policy document has at least one Statement"));
        }
    };
    for (place, statement) in statements {
        let Some(statement) = statement.as_object() else {
            found.push(place.error(INVALID, "a statement is a mapping"));
            continue;
        };
        grammar(statement, &place, found);
        check(statement, &place, found);
    }
}

/// Checks what every statement has.
fn grammar(statement: &Map<String, Value>, place: &Place, found: &mut Vec<Finding>) {
    for name in statement.keys().filter(|name| !ELEMENTS.contains(&name.as_str())) {
        let message = format!("a statement has no element {name}");
        found.push(place.under(name).error(INVALID, message).hint(ELEMENTS.join(", ")));
    }
    let effect = statement.get("Effect");
    if !effect.is_some_and(|effect| effect == "Allow" || effect == "Deny") {
        let message = "the Effect of a statement is Allow or Deny, in this letter case";
        found.push(place.under("Effect").error(INVALID, message));
    }
    exactly_one(statement, &["Action", "NotAction"], place, found);
    for name in ["Action", "NotAction", "Resource", "NotResource"] {
        if statement.get(name).is_some_and(|value| !is_texts(value)) {
            let message = format!("{name} is a text or a list of texts, and not empty");
            found.push(place.under(name).error(INVALID, message));
        }
    }
    let conditions = statement.get("Condition");
    let is_good = |it: &Value| it.as_object().is_some_and(|it| it.values().all(Value::is_object));
    if !conditions.is_none_or(is_good) {
        let message = "a Condition is a mapping of operators to keys and values";
        found.push(place.under("Condition").error(INVALID, message));
    }
}

fn exactly_one(
    statement: &Map<String, Value>,
    names: &[&str; 2],
    place: &Place,
    found: &mut Vec<Finding>,
) {
    let there = names.iter().filter(|name| statement.contains_key(**name)).count();
    if there != 1 {
        let message = format!("a statement has either {} or {}", names[0], names[1]);
        found.push(place.error(INVALID, message));
    }
}

fn refused(
    statement: &Map<String, Value>,
    names: &[&str; 2],
    whose: &str,
    place: &Place,
    found: &mut Vec<Finding>,
) {
    for name in names.iter().filter(|name| statement.contains_key(**name)) {
        found.push(place.under(name).error(INVALID, format!("{whose} has no {name}")));
    }
}

fn is_texts(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty() && items.iter().all(Value::is_string),
        _ => false,
    }
}

fn lets_in_anyone(principal: &Value) -> bool {
    let is_star = |value: &Value| match value {
        Value::String(text) => text == "*",
        Value::Array(items) => items.iter().any(|item| item == "*"),
        _ => false,
    };
    is_star(principal) || principal.get("AWS").is_some_and(is_star)
}

/// Finds a number where the name of a principal belongs.
fn number(value: Option<&Value>, place: &Place) -> Option<Place> {
    match value? {
        Value::Number(_) => Some(place.clone()),
        Value::Array(items) => {
            let mut items = items.iter().enumerate();
            items.find_map(|(at, item)| number(Some(item), &place.under(&at.to_string())))
        }
        Value::Object(kinds) => {
            kinds.iter().find_map(|(kind, names)| number(Some(names), &place.under(kind)))
        }
        _ => None,
    }
}
