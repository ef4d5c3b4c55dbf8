//! Names and values of DNS records: what they mean counts, not how they are written.

use serde_json::{Map, Value};

use super::judge::Judgement;
use super::value;
use crate::model::dns;

/// Tells whether two names are one.
pub(super) fn same_name(want: &Value, have: Option<&Value>) -> bool {
    let name = |value: &Value| value.as_str().map(dns::name);
    have.is_some_and(|have| name(want) == name(have))
}

/// Compares the declared texts with `[{"Value": …}]`; what is to be sent is spelled as AWS takes it.
pub(super) fn values(record_type: &str, want: &Value, have: Option<&Value>) -> Judgement {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let (declared, actual) = (list(Some(want)), list(have));
    let texts: Vec<&str> =
        actual.iter().filter_map(|item| item.get("Value").and_then(Value::as_str)).collect();
    if texts.len() < actual.len() {
        let reason = "AWS answered a record without its value".to_owned();
        return Judgement::Unclear { code: "UnreadableAnswer", reason };
    }
    let wanted: Vec<&str> = declared.iter().filter_map(Value::as_str).collect();
    if dns::same_values(record_type, wanted.iter().copied(), texts.iter().copied()) {
        return Judgement::Same;
    }
    let why = "differs from what is declared".to_owned();
    let from = have.map(|_| texts.into_iter().collect());
    let wire = |text: &&str| Value::from(dns::Value::answered(record_type, text).wire());
    let to = wanted.iter().map(wire).collect();
    Judgement::Differs { from, to, why }
}

/// Compares the declared members of a structure.
pub(super) fn members(want: &Value, have: Option<&Value>, names: &[&str]) -> Judgement {
    let none = Map::new();
    let members = |value: Option<&'_ Value>| value.and_then(Value::as_object).cloned();
    let (declared, actual) = (members(Some(want)), members(have).unwrap_or_default());
    let is_same = |(member, want): (&String, &Value)| match names.contains(&member.as_str()) {
        true => same_name(want, actual.get(member)),
        false => value::same(want, actual.get(member)),
    };
    let is_there = have.is_some();
    Judgement::of(is_there && declared.as_ref().unwrap_or(&none).iter().all(is_same), want)
}
