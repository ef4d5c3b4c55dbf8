//! Unordered lists: order and repetition carry no meaning, a missing list is an empty one.

use serde_json::Value;

use super::judge::Judgement;
use super::value;

/// Tells whether two lists hold the same values.
pub(super) fn same(want: &Value, have: Option<&Value>) -> bool {
    let (want, have) = (items(Some(want)), items(have));
    holds_all(want, |value| have.contains(value)) && holds_all(have, |value| want.contains(value))
}

/// Tells whether a list holds what the named members of a list of structures hold.
pub(super) fn same_members(want: &Value, have: Option<&Value>, name: &str) -> bool {
    let (want, have) = (items(Some(want)), items(have));
    let lasting = || have.iter().filter(|item| !is_leaving(item)).filter_map(|item| item.get(name));
    holds_all(want, |value| lasting().any(|there| there == value))
        && lasting().all(|there| want.contains(there))
}

/// Tells whether a list will be as wanted once queued additions and removals are in force.
pub(super) fn same_after(
    want: &Value,
    have: Option<&Value>,
    enable: Option<&Value>,
    disable: Option<&Value>,
) -> bool {
    let (want, have) = (items(Some(want)), items(have));
    let (enable, disable) = (items(enable), items(disable));
    let after = || have.iter().chain(enable).filter(|value| !disable.contains(value));
    holds_all(want, |value| after().any(|there| there == value))
        && after().all(|there| want.contains(there))
}

/// Judges one name that a list of structures has to hold, and whether it is in force there.
pub(super) fn membership<'a>(
    want: &Value,
    have: Option<&'a Value>,
    name: &str,
    status: &str,
) -> Judgement {
    let state = |item: &'a Value| item.get(status).and_then(Value::as_str).unwrap_or_default();
    let found = items(have)
        .iter()
        .find(|item| value::same_folded(want, item.get(name)) && !state(item).contains("remov"));
    match found.map(state) {
        Some("pending-apply" | "pending-maintenance-apply") => {
            Judgement::Queued(format!("{} is not in force yet", value::show(want)))
        }
        Some(_) => Judgement::Same,
        None => other_member(want, have, name),
    }
}

fn other_member(want: &Value, have: Option<&Value>, name: &str) -> Judgement {
    let from = items(have).iter().find(|item| !is_leaving(item)).and_then(|item| item.get(name));
    let why = "differs from what is declared".to_owned();
    Judgement::Differs { from: Some(from.cloned().unwrap_or(Value::Null)), to: want.clone(), why }
}

/// A member that AWS is taking away is no member any more.
fn is_leaving(item: &Value) -> bool {
    item.get("Status").and_then(Value::as_str).is_some_and(|status| status.contains("remov"))
}

fn items(list: Option<&Value>) -> &[Value] {
    list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn holds_all(list: &[Value], is_there: impl Fn(&Value) -> bool) -> bool {
    list.iter().all(is_there)
}
