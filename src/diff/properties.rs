//! The properties of a resource whose type's schema says how they are compared.
//!
//! In: declared properties, what AWS has, and the facts of the type. Out: one difference for each
//! property at the top, a refusal where it cannot change.
//!
//! Values are compared by meaning: a number is its text; an object by its declared members; a list in
//! its order, unless the schema says that the order means nothing; a policy document as IAM reads it;
//! tags by key. What AWS never shows is not compared. Where the schema is not known, what AWS does
//! not answer is doubt and not a difference.

use serde_json::{Map, Value};

use super::judge::{Judgement, Sides};
use super::{is_ignored, policy_document, tags, value};
use crate::model::singly::member;
use crate::model::{Delta, Diff, Disruption, Notice, Origin, Refusal, Rule, Timing, Wait};

/// Compares every declared property.
pub(super) fn compare(
    rule: &Rule,
    want: &Value,
    sides: &Sides<'_>,
    ignore: &[String],
    found: &mut Diff,
) {
    let nothing = Map::new();
    let have = sides.actual.member(rule.member).and_then(Value::as_object).unwrap_or(&nothing);
    let facts = Facts(sides.actual.member(member::TYPE).unwrap_or(&Value::Null));
    for (name, want) in want.as_object().into_iter().flatten() {
        let field = format!("{}.{name}", rule.field);
        if !is_ignored(&field, ignore) {
            let mut walk = Walk { facts: &facts, sides, differs: Vec::new(), unclear: Vec::new() };
            walk.value(name, want, have.get(name));
            conclude(rule, &field, (want, have.get(name)), walk, found);
        }
    }
}

/// Puts what was found about one property where it belongs.
fn conclude(
    rule: &Rule,
    field: &str,
    (want, have): (&Value, Option<&Value>),
    walk: Walk<'_>,
    found: &mut Diff,
) {
    found.waits.extend(walk.unclear.iter().map(|(code, reason)| Wait {
        field: field.to_owned(),
        code: (*code).to_owned(),
        reason: reason.clone(),
    }));
    let (fixed, free): (Vec<&String>, Vec<&String>) =
        walk.differs.iter().partition(|path| walk.facts.fixed(path).is_some());
    for path in fixed {
        found.refusals.extend(walk.facts.fixed(path).map(|why| refusal(rule, path, why)));
    }
    if !walk.facts.is_known() && have.is_none() && !free.is_empty() {
        let message = format!("AWS answers no {field}, and whether it ever does is not known");
        let code = "NotReturned".to_owned();
        found.notices.push(Notice { field: field.to_owned(), code, message });
    } else if !free.is_empty() {
        let paths: Vec<&str> = free.iter().map(|path| path.as_str()).collect();
        found.deltas.push(Delta {
            field: field.to_owned(),
            parameter: rule.parameter.to_owned(),
            from: have.cloned().unwrap_or(Value::Null),
            to: want.clone(),
            why: format!("differs from what is declared in {}", paths.join(", ")),
            disruption: Disruption::None,
            security: false,
            apply: rule.apply,
            origin: Origin::default(),
            timing: Timing::default(),
        });
    }
}

/// Says why a value cannot change.
#[derive(Clone, Copy)]
enum Fixed {
    AtCreation,
    ByAws,
}

fn refusal(rule: &Rule, path: &str, why: Fixed) -> Refusal {
    let (code, message, help) = match why {
        Fixed::AtCreation => (
            "CreateOnlyProperty",
            "it is fixed when the resource is made, and AWS has another value",
            "declare the actual value, or make a resource under another name and remove this one",
        ),
        Fixed::ByAws => {
            ("ReadOnlyProperty", "AWS sets it by itself, and has another value", "leave it out")
        }
    };
    Refusal {
        field: format!("{}.{path}", rule.field),
        code: code.to_owned(),
        message: message.to_owned(),
        help: help.to_owned(),
    }
}

/// Reads what is known of the type.
struct Facts<'a>(&'a Value);

impl Facts<'_> {
    fn is_known(&self) -> bool {
        self.0.get("primary").is_some()
    }

    /// Tells whether a list of paths holds one, or something that it is a part of.
    fn holds(&self, list: &str, path: &str) -> bool {
        let listed = self.0.get(list).and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(Value::as_str).any(|listed| {
            path.strip_prefix(listed).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
    }

    fn fixed(&self, path: &str) -> Option<Fixed> {
        if self.holds("readOnly", path) {
            Some(Fixed::ByAws)
        } else if self.holds("createOnly", path) {
            Some(Fixed::AtCreation)
        } else {
            None
        }
    }

    fn is_set(&self, path: &str) -> bool {
        let sets = self.0.get("sets").and_then(Value::as_array).into_iter().flatten();
        sets.filter_map(Value::as_str).any(|listed| listed == path)
    }

    /// Tells whether tags stand at a path; without a schema, by what they look like.
    fn are_tags(&self, path: &str, want: &Value) -> bool {
        match self.0.get("tags") {
            Some(tags) => tags.get("property").and_then(Value::as_str) == Some(path),
            None => path == "Tags" && want.as_array().is_some_and(|it| it.iter().all(is_tag)),
        }
    }
}

fn is_tag(item: &Value) -> bool {
    item.get("Key").is_some_and(Value::is_string) && item.get("Value").is_some()
}

/// Tells whether a policy document stands under a name.
fn is_policy(path: &str, want: &Value) -> bool {
    let name = path.rsplit('.').next().unwrap_or_default();
    let is_named = name.ends_with("PolicyDocument")
        || matches!(name, "KeyPolicy" | "ResourcePolicy" | "AccessPolicy" | "PolicyText");
    is_named && (want.get("Statement").is_some() || want.is_string())
}

/// Collects where one property differs.
struct Walk<'a> {
    facts: &'a Facts<'a>,
    sides: &'a Sides<'a>,
    differs: Vec<String>,
    unclear: Vec<(&'static str, String)>,
}

impl Walk<'_> {
    fn value(&mut self, path: &str, want: &Value, have: Option<&Value>) {
        let have = have.filter(|have| !have.is_null());
        if self.facts.holds("writeOnly", path) {
            return;
        }
        if is_policy(path, want) {
            return self.judged(path, policy_document::judge(want, have, self.sides));
        }
        if self.facts.are_tags(path, want) {
            let there = have.map(pairs).unwrap_or_default().into_iter();
            let there =
                there.filter_map(|(key, it)| Some((key, it.as_str()?.to_owned()))).collect();
            let wanted = Value::Object(pairs(want));
            return self.judged(path, tags::judge(&wanted, Some(&there)));
        }
        match (want, have) {
            (Value::Object(members), Some(Value::Object(there))) => {
                for (name, member) in members {
                    self.value(&format!("{path}.{name}"), member, there.get(name));
                }
            }
            (Value::Object(_) | Value::Array(_), Some(Value::String(text))) => {
                match serde_json::from_str::<Value>(text) {
                    Ok(parsed) if !parsed.is_string() => self.value(path, want, Some(&parsed)),
                    _ => self.differs.push(path.to_owned()),
                }
            }
            (want, have) if !self.same(path, want, have) => self.differs.push(path.to_owned()),
            _ => {}
        }
    }

    fn judged(&mut self, path: &str, judgement: Judgement) {
        match judgement {
            Judgement::Differs { .. } => self.differs.push(path.to_owned()),
            Judgement::Unclear { code, reason } => self.unclear.push((code, reason)),
            _ => {}
        }
    }

    /// Tells whether a value has what is declared of it; what is empty is the same as what is not
    /// there.
    fn same(&self, path: &str, want: &Value, have: Option<&Value>) -> bool {
        if self.facts.holds("writeOnly", path) {
            return true;
        }
        match (want, have) {
            (want, None) => value::is_empty(want) || want.is_null(),
            (Value::Null, Some(have)) => value::is_empty(have),
            (Value::Object(members), Some(Value::Object(there))) => members
                .iter()
                .all(|(name, it)| self.same(&format!("{path}.{name}"), it, there.get(name))),
            (Value::Array(items), Some(Value::Array(there))) => {
                items.len() == there.len() && self.same_items(path, items, there)
            }
            (want, Some(have)) => value::same(want, Some(have)),
        }
    }

    fn same_items(&self, path: &str, want: &[Value], have: &[Value]) -> bool {
        let item = format!("{path}.*");
        if !self.facts.is_set(path) {
            return want.iter().zip(have).all(|(want, have)| self.same(&item, want, Some(have)));
        }
        let mut left: Vec<&Value> = have.iter().collect();
        want.iter().all(|want| {
            let at = left.iter().position(|have| self.same(&item, want, Some(have)));
            at.map(|at| left.swap_remove(at)).is_some()
        })
    }
}

/// Reads tags, whether they are a list of pairs or a mapping; values are texts.
fn pairs(tags: &Value) -> Map<String, Value> {
    let text = |value: &Value| match value {
        Value::String(_) => value.clone(),
        other => other.to_string().into(),
    };
    let pair = |tag: &Value| Some((tag.get("Key")?.as_str()?.to_owned(), text(tag.get("Value")?)));
    match tags {
        Value::Array(items) => items.iter().filter_map(pair).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), text(value))).collect()
        }
        _ => Map::new(),
    }
}
