//! Policy documents of IAM, compared by what they mean and not by how they are written.
//!
//! In: a declared document and the one that AWS answers, each as an object, as JSON text, or as the
//! percent-encoded JSON text of the IAM API. Out: a judgement whose difference holds both documents
//! and says, in one clause, what only one side has.
//!
//! Invariants: a document that cannot be read is unclear, never the same and never a difference; an
//! id (`AROA…`) in the place of a principal is a difference, because AWS puts it there when the
//! principal was deleted and lets nobody in any more. `Id` carries no meaning; a `Sid` is looked at
//! where it is declared. Statements that grant the same in other groups count as different: AWS
//! keeps the groups, so a difference is sent once.

mod condition;
mod meaning;

use serde_json::{Map, Value};

use self::meaning::{Document, Unreadable, difference, parsed};
use super::judge::{Judgement, Sides};
use super::value;

/// Judges one document.
pub(super) fn judge(want: &Value, have: Option<&Value>, sides: &Sides<'_>) -> Judgement {
    let partition = sides.desired.id.scope.region.partition();
    match compared(want, have, partition) {
        Err(unreadable) => unclear(&unreadable),
        Ok(None) => Judgement::Same,
        Ok(Some(why)) => Judgement::Differs { from: have.map(readable), to: want.clone(), why },
    }
}

/// Judges documents by name: a declared name has its document, or none where `null` is declared.
///
/// With `reserved`, every other name is a difference too, save those that start with it. The
/// difference holds the names that differ and nothing else.
pub(super) fn judge_named(
    want: &Value,
    have: Option<&Value>,
    reserved: Option<&str>,
    sides: &Sides<'_>,
) -> Judgement {
    let partition = sides.desired.id.scope.region.partition();
    let there = by_name(have);
    let nothing = Map::new();
    let declared = want.as_object().unwrap_or(&nothing);
    let undeclared = there.keys().filter(|name| {
        reserved.is_some_and(|prefix| !name.starts_with(prefix)) && !declared.contains_key(*name)
    });
    let (mut from, mut to, mut why) = (Map::new(), Map::new(), Vec::new());
    let wanted = declared.iter().chain(undeclared.map(|name| (name, &Value::Null)));
    for (name, document) in wanted {
        match compared(document, there.get(name), partition) {
            Err(unreadable) => return unclear(&unreadable),
            Ok(None) => {}
            Ok(Some(reason)) => {
                from.insert(name.clone(), there.get(name).map_or(Value::Null, readable));
                to.insert(name.clone(), document.clone());
                why.push(format!("{name}: {reason}"));
            }
        }
    }
    if to.is_empty() {
        return Judgement::Same;
    }
    Judgement::Differs { from: Some(from.into()), to: to.into(), why: why.join("; ") }
}

/// Compares two documents; returns how they differ.
fn compared(
    want: &Value,
    have: Option<&Value>,
    partition: &str,
) -> Result<Option<String>, Unreadable> {
    match (value::is_empty(want), have.filter(|have| !value::is_empty(have))) {
        (true, None) => Ok(None),
        (true, Some(_)) => Ok(Some("it is not declared".to_owned())),
        (false, None) => Ok(Some("it does not exist".to_owned())),
        (false, Some(have)) => {
            let want = Document::read(want, partition)?;
            Ok(difference(&want, &Document::read(have, partition)?))
        }
    }
}

/// Sorts `[{"PolicyName": …, "PolicyDocument": …}]` by name.
fn by_name(list: Option<&Value>) -> Map<String, Value> {
    let entry = |item: &Value| {
        let name = item.get("PolicyName")?.as_str()?.to_owned();
        Some((name, item.get("PolicyDocument")?.clone()))
    };
    list.and_then(Value::as_array).into_iter().flatten().filter_map(entry).collect()
}

/// Returns a document as an object, for people; one that cannot be read stays as it is.
fn readable(document: &Value) -> Value {
    parsed(document).map_or_else(|_| document.clone(), std::borrow::Cow::into_owned)
}

fn unclear(unreadable: &Unreadable) -> Judgement {
    Judgement::Unclear { code: "UnreadableDocument", reason: unreadable.to_string() }
}

#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;
