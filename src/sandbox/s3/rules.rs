//! What S3 refuses, and how it spells what it takes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::FIRST_REGION;
use super::state::Bucket;
use crate::model::Scope;
use crate::sandbox::refusal::Refusal;

fn argument(text: impl Into<String>) -> Refusal {
    Refusal::new("InvalidArgument", text)
}

fn malformed(text: &str) -> Refusal {
    Refusal::new("MalformedXML", text)
}

/// A creation names the region that it is sent to, save for the first one.
pub(super) fn place(scope: &Scope, constraint: Option<&str>) -> Result<(), Refusal> {
    let region = scope.region.as_str();
    match (region == FIRST_REGION, constraint) {
        (true, None) => Ok(()),
        (true, Some(FIRST_REGION)) => {
            Err(Refusal::new("InvalidLocationConstraint", "The location constraint is not valid"))
        }
        (false, Some(constraint)) if constraint == region => Ok(()),
        (_, constraint) => {
            let text = format!(
                "The {} location constraint is incompatible for the region specific endpoint",
                constraint.unwrap_or("unspecified")
            );
            Err(Refusal::new("IllegalLocationConstraintException", text))
        }
    }
}

pub(super) fn name(name: &str) -> Result<(), Refusal> {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || ".-".contains(c);
    match (3..=63).contains(&name.len()) && name.chars().all(is_part) {
        true => Ok(()),
        false => Err(Refusal::new("InvalidBucketName", "The specified bucket is not valid.")),
    }
}

/// A name of the account's own namespace is given to that account, and only to whoever asks for it.
pub(super) fn namespace(name: &str, scope: &Scope, asked: Option<&str>) -> Result<(), Refusal> {
    let is_own = name.ends_with(&format!("-{}-{}-an", scope.account, scope.region));
    match (name.ends_with("-an"), asked) {
        (false, None) => Ok(()),
        (true, Some("account-regional")) if is_own => Ok(()),
        (true, None) => {
            let text = "The requested bucket is an account-regional namespace bucket, but your request \
                        is missing the required x-amz-bucket-namespace header.";
            Err(Refusal::new("MissingNamespaceHeader", text))
        }
        _ => Err(Refusal::new("InvalidNamespaceHeader", "The name is not of this namespace.")),
    }
}

/// Says what a second creation is answered.
pub(super) fn taken(there: &Bucket, scope: &Scope) -> Result<(), Refusal> {
    if there.account != scope.account {
        return Err(Refusal::new(
            "BucketAlreadyExists",
            "The requested bucket name is not available. The bucket namespace is shared by all users",
        ));
    }
    match there.region.as_str() == FIRST_REGION && scope.region.as_str() == FIRST_REGION {
        true => Ok(()),
        false => Err(Refusal::new(
            "BucketAlreadyOwnedByYou",
            "Your previous request to create the named bucket succeeded and you already own it.",
        )),
    }
}

/// A whole set of tags takes the place of the one before; those of AWS itself have to stay in it.
pub(super) fn tags(
    after: &BTreeMap<String, String>,
    before: &BTreeMap<String, String>,
) -> Result<(), Refusal> {
    let of_aws = |tags: &BTreeMap<String, String>| -> Vec<(String, String)> {
        let own = tags.iter().filter(|(key, _)| key.starts_with("aws:"));
        own.map(|(key, value)| (key.clone(), value.clone())).collect()
    };
    if of_aws(after) != of_aws(before) {
        let text = "System tags cannot be added/updated/removed by requester";
        return Err(Refusal::new("InvalidTag", text));
    }
    match after.len() > 50 {
        true => Err(Refusal::new("BadRequest", "Bucket tag count cannot be greater than 50")),
        false => Ok(()),
    }
}

/// Returns a policy as S3 keeps it: an account number becomes the ARN of its root.
pub(super) fn policy(text: &str, name: &str, blocks_public: bool) -> Result<Value, Refusal> {
    let wrong = |text: &str| Refusal::new("MalformedPolicy", text);
    let mut policy: Value =
        serde_json::from_str(text).map_err(|_| wrong("Policies must be valid JSON"))?;
    let statements = match policy.get_mut("Statement") {
        Some(Value::Array(items)) => items.iter_mut().collect(),
        Some(one) => vec![one],
        None => return Err(wrong("Missing required field Statement")),
    };
    for statement in statements {
        let arn = format!(":s3:::{name}");
        let is_own = |it: &Value| {
            let text = it.as_str().unwrap_or_default();
            text.split_once(&arn).is_some_and(|(_, rest)| rest.is_empty() || rest.starts_with('/'))
        };
        let resource = statement.get("Resource").unwrap_or(&Value::Null);
        let is_fit = match resource {
            Value::Array(items) => items.iter().all(is_own),
            one => is_own(one),
        };
        if !is_fit {
            return Err(wrong("Policy has invalid resource"));
        }
        let is_open = statement["Effect"] == "Allow"
            && (statement["Principal"] == "*" || statement["Principal"]["AWS"] == "*")
            && statement["Condition"].is_null();
        if is_open && blocks_public {
            let text = "public policies are blocked by the BlockPublicPolicy setting";
            return Err(Refusal::new("AccessDenied", text));
        }
        if let Some(who) = statement.get_mut("Principal").and_then(|it| it.get_mut("AWS")) {
            spell(who);
        }
    }
    Ok(policy)
}

fn spell(who: &mut Value) {
    match who {
        Value::Array(all) => all.iter_mut().for_each(spell),
        Value::String(text) if text.len() == 12 && text.bytes().all(|it| it.is_ascii_digit()) => {
            *text = format!("arn:aws:iam::{text}:root");
        }
        _ => {}
    }
}

/// Returns the rule of encryption as S3 keeps it.
pub(super) fn encryption(rule: &Map<String, Value>) -> Result<Value, Refusal> {
    let by = rule.get("ApplyServerSideEncryptionByDefault").cloned().unwrap_or_default();
    let algorithm = by["SSEAlgorithm"].as_str().ok_or_else(|| malformed("no SSEAlgorithm"))?;
    if !["AES256", "aws:kms", "aws:kms:dsse"].contains(&algorithm) {
        return Err(malformed("no such algorithm"));
    }
    if algorithm == "AES256" && by.get("KMSMasterKeyID").is_some() {
        return Err(argument("KMSMasterKeyID is not applicable if the algorithm is not aws:kms"));
    }
    let mut rule = rule.clone();
    rule.entry("BucketKeyEnabled").or_insert_with(|| false.into());
    Ok(json!({ "Rules": [rule] }))
}

/// Returns rules as S3 keeps them: in an order of its own, dates with a time.
pub(super) fn lifecycle(rules: &[Value]) -> Result<Vec<Value>, Refusal> {
    let mut kept: Vec<Value> = rules.iter().map(rule).collect::<Result<_, _>>()?;
    kept.sort_by_key(|rule| std::cmp::Reverse(rule["ID"].to_string()));
    Ok(kept)
}

fn rule(rule: &Value) -> Result<Value, Refusal> {
    let filter = rule.get("Filter").and_then(Value::as_object);
    let conditions = filter.ok_or_else(|| malformed("a rule has a filter"))?.len();
    let and = rule.pointer("/Filter/And").and_then(Value::as_object);
    let tags =
        |and: &Map<String, Value>| and.get("Tags").and_then(Value::as_array).map_or(0, Vec::len);
    let is_several =
        |and: &Map<String, Value>| and.keys().filter(|it| *it != "Tags").count() + tags(and) > 1;
    if conditions != 1 || !and.is_none_or(is_several) {
        return Err(malformed("a filter has one condition, or several under And"));
    }
    let mut kept = rule.clone();
    if let Some(date) = kept.pointer_mut("/Expiration/Date") {
        let day: String = date.as_str().unwrap_or_default().chars().take(10).collect();
        *date = format!("{day}T00:00:00.000Z").into();
    }
    if let Some(transitions) = kept.get_mut("Transitions").and_then(Value::as_array_mut) {
        let is_soon = |it: &Value| {
            it["Days"].as_u64().is_some_and(|days| days < 30)
                && ["STANDARD_IA", "ONEZONE_IA"]
                    .contains(&it["StorageClass"].as_str().unwrap_or(""))
        };
        if transitions.iter().any(is_soon) {
            return Err(argument(
                "'Days' in Transition action must be greater than or equal to 30",
            ));
        }
        transitions.sort_by_key(|it| std::cmp::Reverse(it.to_string()));
    }
    Ok(kept)
}
