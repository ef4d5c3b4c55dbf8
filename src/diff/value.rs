//! Plain values: equality across the spellings of JSON, and text for people.

use serde_json::Value;

use super::judge::Judgement;

/// Tells whether a value is the empty value of its type, which a missing member stands for.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
    }
}

/// Tells whether two values are the same; a number or a flag and its text are, and a missing
/// member and the empty value.
pub(super) fn same(want: &Value, have: Option<&Value>) -> bool {
    let Some(have) = have else { return is_empty(want) };
    match (want, have) {
        (Value::Number(one), Value::Number(other)) => {
            one == other || one.as_f64() == other.as_f64()
        }
        (Value::String(text), Value::Number(number))
        | (Value::Number(number), Value::String(text)) => {
            text.parse::<f64>().is_ok_and(|parsed| Some(parsed) == number.as_f64())
        }
        (Value::String(text), Value::Bool(flag)) | (Value::Bool(flag), Value::String(text)) => {
            text.eq_ignore_ascii_case(if *flag { "true" } else { "false" })
        }
        _ => want == have || (is_empty(want) && is_empty(have)),
    }
}

/// Tells whether two values are the same, letter case of texts aside.
pub(super) fn same_folded(want: &Value, have: Option<&Value>) -> bool {
    match (want, have) {
        (Value::String(want), Some(Value::String(have))) => want.eq_ignore_ascii_case(have),
        _ => same(want, have),
    }
}

/// Judges a declared `true` by the existence of a member.
pub(super) fn presence(want: &Value, have: Option<&Value>) -> Judgement {
    Judgement::of(is_empty(want) == have.is_none_or(is_empty), want)
}

/// Returns a value as people read it: texts without quotes.
pub(super) fn show(value: &Value) -> String {
    match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
