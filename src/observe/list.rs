//! Follows the pages of one list to its end.

use serde_json::{Map, Value};

use crate::model::kind::List;
use crate::model::{Call, CallError, Cloud, ErrorClass, Target};

/// No list of AWS that is read here has more pages; a longer one is a marker that goes in circles.
const PAGES: usize = 10_000;

/// Reads a list whole.
pub(super) async fn all(
    cloud: &dyn Cloud,
    target: &Target,
    service: &'static str,
    list: &List,
) -> Result<Vec<Value>, CallError> {
    let mut first = Call::new(service, list.operation).with(list.page_size.0, list.page_size.1);
    if let Some((parameter, values)) = list.only {
        first = first.with(parameter, values);
    }
    if let Some(parameter) = list.flag {
        first = first.with(parameter, true);
    }
    if let Some(parameter) = list.region {
        first = first.with(parameter, target.scope.region.as_str());
    }
    let mut items = Vec::new();
    let mut marker: Option<String> = None;
    for _ in 0..PAGES {
        let call = match &marker {
            Some(marker) => first.clone().with(list.marker.0, marker.as_str()),
            None => first.clone(),
        };
        let mut answer = cloud.call(target, &call).await?;
        let Some(Value::Array(page)) = answer.get_mut(list.answer).map(Value::take) else {
            return Err(incomplete(&call, &format!("holds no {}", list.answer)));
        };
        check(list, &call, &page)?;
        items.extend(page);
        match next_marker(&answer, list.marker.1) {
            None => return Ok(items),
            Some(next) if marker.as_ref() == Some(&next) => {
                return Err(incomplete(&call, "repeats its marker"));
            }
            Some(next) => marker = Some(next),
        }
    }
    Err(incomplete(&first, "has no end"))
}

/// An item without its identifier is no proof that the resource of some name is absent.
pub(super) fn check(list: &List, call: &Call, items: &[Value]) -> Result<(), CallError> {
    let is_named = |item: &Value| {
        item.get(list.identifier).and_then(Value::as_str).is_some_and(|text| !text.is_empty())
    };
    match items.iter().all(is_named) {
        true => Ok(()),
        false => Err(incomplete(
            call,
            &format!("holds one of {} without {}", list.answer, list.identifier),
        )),
    }
}

/// Follows an RDS read that pages by `Marker`, joining the lists of its pages.
pub(super) async fn follow(
    cloud: &dyn Cloud,
    target: &Target,
    call: Call,
) -> Result<Map<String, Value>, CallError> {
    let mut joined = Map::new();
    let mut marker: Option<String> = None;
    for _ in 0..PAGES {
        let page = match &marker {
            Some(marker) => call.clone().with("Marker", marker.as_str()),
            None => call.clone(),
        };
        let Value::Object(mut answer) = cloud.call(target, &page).await? else {
            return Err(incomplete(&page, "is no object"));
        };
        let next = answer.remove("Marker").and_then(|marker| marker.as_str().map(str::to_owned));
        merge(&mut joined, answer);
        match next.filter(|next| !next.is_empty()) {
            None => return Ok(joined),
            Some(next) if marker.as_ref() == Some(&next) => {
                return Err(incomplete(&page, "repeats its marker"));
            }
            Some(next) => marker = Some(next),
        }
    }
    Err(incomplete(&call, "has no end"))
}

/// Adds the members of `from` to `into`; lists of the same name are joined.
pub(super) fn merge(into: &mut Map<String, Value>, from: Map<String, Value>) {
    for (name, value) in from {
        match (into.get_mut(&name), value) {
            (Some(Value::Array(there)), Value::Array(more)) => there.extend(more),
            (_, value) => {
                into.insert(name, value);
            }
        }
    }
}

fn next_marker(answer: &Value, member: &str) -> Option<String> {
    answer.get(member).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn incomplete(call: &Call, what: &str) -> CallError {
    CallError {
        class: ErrorClass::Transient,
        operation: call.operation.to_string(),
        code: "IncompleteAnswer".to_owned(),
        message: format!("the answer {what}"),
    }
}
