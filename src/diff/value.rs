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

/// Judges a value within the one item of a list that is meant; without that item there is none.
pub(super) fn of_item(
    want: &Value,
    have: Option<&Value>,
    is_meant: impl Fn(&Value) -> bool,
    path: &str,
) -> Judgement {
    let items = have.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let item = items.iter().find(|item| is_meant(item));
    let there = path.split('.').try_fold(item, |value, part| Some(value?.get(part))).flatten();
    if same(want, there) {
        return Judgement::Same;
    }
    let why = "differs from what is declared".to_owned();
    Judgement::Differs { from: Some(there.cloned().unwrap_or(Value::Null)), to: want.clone(), why }
}

/// Returns a value as people read it: texts without quotes.
pub(super) fn show(value: &Value) -> String {
    match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_is_looked_for_in_the_item_that_is_meant_and_nowhere_else() {
        let list = json!([{"Name": "a", "Disk": {"Size": 8}}, {"Name": "b", "Disk": {"Size": 20}}]);
        let of = |name: &str, want: Value| {
            let is_meant = |item: &Value| item.get("Name") == Some(&json!(name));
            of_item(&want, Some(&list), is_meant, "Disk.Size")
        };
        assert_eq!(of("b", json!(20)), Judgement::Same);
        assert!(
            matches!(of("a", json!(20)), Judgement::Differs { from: Some(from), .. } if from == 8)
        );
        let missing = of("c", json!(20));
        assert!(matches!(missing, Judgement::Differs { from: Some(Value::Null), .. }));
        assert_eq!(of("c", json!(0)), Judgement::Same, "missing is the empty value of its type");
    }
}
