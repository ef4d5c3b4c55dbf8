//! Maintenance and backup windows.

use serde_json::Value;

use super::judge::Judgement;
use super::value;
use crate::model::Window;

/// Judges a weekly or daily window; days are sent in lower case, as AWS documents them.
pub(super) fn judge(want: &Value, have: Option<&Value>) -> Judgement {
    if value::same_folded(want, have) {
        return Judgement::Same;
    }
    let read = |value: &Value| {
        value.as_str().and_then(|text| Window::weekly(text).or_else(|| Window::daily(text)))
    };
    match (read(want), have.and_then(read)) {
        (Some(declared), Some(actual)) if declared == actual => Judgement::Same,
        _ => {
            let lower = want.as_str().map(str::to_ascii_lowercase).map(Value::from);
            Judgement::differs(&lower.unwrap_or_else(|| want.clone()))
        }
    }
}
