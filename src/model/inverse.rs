//! What a manifest would declare for what AWS has: the field rules, read from right to left.
//!
//! In: a rule and a describe answer. Out: the value that the differ would find to be the same, in the
//! form that a manifest takes; `None` where AWS has none, or the rule says nothing about it.

use serde_json::{Map, Value};

use super::desired::OWNER_TAG;
use super::{Compare, Observed, Rule};

/// Returns the value of a field by its name; `None` also where no rule has the name.
pub fn value_of(rules: &[Rule], field: &str, actual: &Observed) -> Option<Value> {
    inverse(rules.iter().find(|rule| rule.field == field)?, actual)
}

/// Returns the value that a rule's field would be declared with.
pub fn inverse(rule: &Rule, actual: &Observed) -> Option<Value> {
    if rule.compare == Compare::Tags {
        return tags(actual).map(Value::Object);
    }
    let have = actual.member(rule.member);
    if rule.compare == Compare::Presence {
        return Some(have.is_some().into());
    }
    let have = have?;
    match rule.compare {
        Compare::SetOf(name) => Some(names(have, name)),
        Compare::Membership { name, .. } => {
            have.as_array()?.iter().find_map(|it| it.get(name)).cloned()
        }
        Compare::ArnTail => key(have.as_str()?).map(Value::from),
        Compare::PolicyDocument => document(have),
        Compare::PolicyDocuments { .. } => documents(have),
        Compare::Set | Compare::SetWithQueue { .. } => Some(sorted(have.as_array()?.clone())),
        Compare::Parameters
        | Compare::Permissions(_)
        | Compare::Properties
        | Compare::DnsValues { .. }
        | Compare::Members { .. }
        | Compare::Schedule
        | Compare::CreationTag(_)
        | Compare::TagValue { .. }
        | Compare::WriteOnly => None,
        _ => Some(have.clone()),
    }
}

/// Returns the tags that are the user's: AWS's own and Levelset's left out.
pub fn tags(actual: &Observed) -> Option<Map<String, Value>> {
    let is_reserved = |key: &str| {
        let key = key.to_lowercase();
        key.starts_with("aws:") || key.starts_with("levelset:") || key == OWNER_TAG
    };
    let own = actual.tags.as_ref()?.iter().filter(|(key, _)| !is_reserved(key));
    let own: Map<String, Value> =
        own.map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    (!own.is_empty()).then_some(own)
}

/// Lists the named member of each structure that is not on its way out.
fn names(have: &Value, name: &str) -> Value {
    let items = have.as_array().into_iter().flatten();
    let stays = |item: &&Value| item.get("Status").and_then(Value::as_str) != Some("removing");
    sorted(items.filter(stays).filter_map(|item| item.get(name).cloned()).collect())
}

fn sorted(mut items: Vec<Value>) -> Value {
    items.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    items.into()
}

/// Returns what a KMS key is declared with: the id that its ARN ends with, so that no account number
/// is in a manifest; an alias stays as it is.
pub fn key(arn: &str) -> Option<&str> {
    if arn.starts_with("alias/") || arn.contains(":alias/") {
        return Some(arn);
    }
    arn.rsplit([':', '/']).next().filter(|tail| !tail.is_empty())
}

/// Reads a document: an object, JSON text, or the percent-encoded JSON text of the IAM API.
pub fn document(have: &Value) -> Option<Value> {
    let Value::String(text) = have else { return have.is_object().then(|| have.clone()) };
    let decoded = match text.trim_start().starts_with('{') {
        true => std::borrow::Cow::Borrowed(text.as_str()),
        false => percent_encoding::percent_decode_str(text).decode_utf8().ok()?,
    };
    serde_json::from_str(&decoded).ok().filter(Value::is_object)
}

fn documents(have: &Value) -> Option<Value> {
    let named = |item: &Value| {
        let name = item.get("PolicyName")?.as_str()?.to_owned();
        Some((name, document(item.get("PolicyDocument")?)?))
    };
    let all: Option<Map<String, Value>> = have.as_array()?.iter().map(named).collect();
    all.map(Value::Object)
}

/// Collects the ARNs that a value names, documents in its texts included.
pub fn arns(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.starts_with("arn:") => found.push(text.clone()),
        Value::String(_) => {
            let document = document(value);
            document.iter().for_each(|document| arns(document, found));
        }
        Value::Array(items) => items.iter().for_each(|item| arns(item, found)),
        Value::Object(members) => members.values().for_each(|member| arns(member, found)),
        _ => {}
    }
}
