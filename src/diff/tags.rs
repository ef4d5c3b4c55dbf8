//! Tags: declared keys are enforced, all others are left alone.
//!
//! Levelset has no memory of keys that were declared once, so it never removes a tag; AWS's own
//! (`aws:`) and other tools' tags stay.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::judge::Judgement;
use super::value;

/// Judges the declared tags; what differs is only the keys that do.
pub(super) fn judge(want: &Value, have: Option<&BTreeMap<String, String>>) -> Judgement {
    let Some(declared) = want.as_object() else { return Judgement::Same };
    if declared.is_empty() {
        return Judgement::Same;
    }
    let Some(actual) = have else {
        return Judgement::Unclear { code: "TagsNotRead", reason: "the tags were not read".into() };
    };
    let (mut from, mut to) = (Map::new(), Map::new());
    for (key, wanted) in declared {
        let there = actual.get(key);
        if there.map(String::as_str) != wanted.as_str() {
            from.insert(key.clone(), there.cloned().into());
            to.insert(key.clone(), wanted.clone());
        }
    }
    if to.is_empty() {
        return Judgement::Same;
    }
    let why = "tags are missing or differ".to_owned();
    Judgement::Differs { from: Some(from.into()), to: to.into(), why }
}

/// Judges the text of one tag; without the tag, it is what is said to stand for that.
pub(super) fn value(
    want: &Value,
    have: Option<&BTreeMap<String, String>>,
    key: &str,
    unsaid: &str,
) -> Judgement {
    let Some(tags) = have else {
        return Judgement::Unclear { code: "TagsNotRead", reason: "the tags were not read".into() };
    };
    let there = Value::from(tags.get(key).map_or(unsaid, String::as_str));
    if value::same(want, Some(&there)) {
        return Judgement::Same;
    }
    let why = "differs from what is declared".to_owned();
    Judgement::Differs { from: Some(there), to: want.clone(), why }
}

/// Judges a value by the tag that recorded it at creation; without that tag nothing is known.
pub(super) fn creation(
    want: &Value,
    have: Option<&BTreeMap<String, String>>,
    tag: &str,
) -> Judgement {
    let Some(recorded) = have.and_then(|tags| tags.get(tag)) else { return Judgement::Same };
    let recorded = Value::from(recorded.as_str());
    if value::same_folded(want, Some(&recorded)) {
        return Judgement::Same;
    }
    let why = "differs from what it was at creation".to_owned();
    Judgement::Differs { from: Some(recorded), to: want.clone(), why }
}
