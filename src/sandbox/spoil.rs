//! Calls that AWS takes and carries out otherwise than they ask.
//!
//! In: a call and the fault that struck it. Out: what is carried out in its place. Pure.

use serde_json::{Value, json};

use super::faults::Effect;
use crate::model::Call;

/// Lists the calls that are carried out in the place of one, if others are; the first gives the
/// answer.
pub(super) fn spoil(call: &Call, effect: Option<Effect>) -> Option<Vec<Call>> {
    match effect? {
        Effect::Ignore(parameter) => Some(vec![without(call, parameter)]),
        Effect::Rivals(one, other) => rivals(call, one, other),
        _ => None,
    }
}

/// Tells whether a call asks for nothing any more.
pub(super) fn is_empty(call: &Call) -> bool {
    call.params.get("Parameters").and_then(Value::as_array).is_some_and(Vec::is_empty)
}

fn without(call: &Call, parameter: &str) -> Call {
    let mut call = call.clone();
    call.params.remove(parameter);
    if let Some(Value::Array(list)) = call.params.get_mut("Parameters") {
        list.retain(|entry| entry["ParameterName"] != parameter);
    }
    call
}

fn rivals(call: &Call, one: &str, other: &str) -> Option<Vec<Call>> {
    let list = call.params.get("Parameters").and_then(Value::as_array);
    let names = |name: &str| list.into_iter().flatten().any(|entry| entry["ParameterName"] == name);
    let loser = match (names(one), names(other)) {
        (true, _) => other,
        (false, true) => one,
        (false, false) => return None,
    };
    let reset = Call::new("rds", "ResetDBParameterGroup")
        .with("DBParameterGroupName", call.params["DBParameterGroupName"].clone())
        .with("Parameters", json!([{"ParameterName": loser, "ApplyMethod": "immediate"}]));
    Some(vec![without(call, loser), reset])
}
