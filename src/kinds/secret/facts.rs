//! What the answers of Secrets Manager say about a secret.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::rules::{LEAVING, MADE_OF, NO_VALUE};
use crate::model::kind::Lists;
use crate::model::{Bound, ErrorClass, Notice, Observed, Readiness};

/// The members under which the list and the read of one name show the versions of the value.
const VERSIONS: [&str; 2] = ["SecretVersionsToStages", "VersionIdsToStages"];

/// The member that only the read of one name answers.
const COPIES: &str = "ReplicationStatus";

/// Sorts secrets by name; letter case tells them apart.
///
/// An answer about one name that shows no copies says that there are none; the list never shows them.
pub(super) fn assemble(mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
    let named = |item: Value| {
        let Value::Object(mut members) = item else { return None };
        let name = members.get("Name")?.as_str()?.to_owned();
        if members.contains_key(VERSIONS[1]) || !members.contains_key(VERSIONS[0]) {
            members.entry(COPIES).or_insert_with(|| json!([]));
        }
        // A list that AWS leaves out is empty: it has answered the tags.
        members.entry("Tags").or_insert_with(|| json!([]));
        Some((name, members))
    };
    lists.remove("SecretList").into_iter().flatten().filter_map(named).collect()
}

/// Says whether the secret can be worked on.
pub(super) fn readiness(actual: &Observed) -> Readiness {
    if let Some(service) = actual.text("OwningService").filter(|service| !service.is_empty()) {
        return Readiness::Broken {
            code: "ManagedByService".to_owned(),
            reason: format!("the secret is {service}'s, which made it and changes it by itself"),
        };
    }
    if let Some(primary) = foreign_primary(actual) {
        return Readiness::Broken {
            code: "CopyOfAnother".to_owned(),
            reason: format!("it is the copy of a secret in {primary}, and follows that one"),
        };
    }
    match (is_leaving(actual), has_value(actual)) {
        (true, _) => Readiness::Limited { status: LEAVING.to_owned() },
        (false, false) => Readiness::Limited { status: NO_VALUE.to_owned() },
        (false, true) => Readiness::Ready,
    }
}

/// Returns the region of the secret that this one is a copy of.
fn foreign_primary(actual: &Observed) -> Option<&str> {
    let home = actual.text("ARN")?.split(':').nth(3)?;
    actual.text("PrimaryRegion").filter(|primary| *primary != home)
}

fn has_value(actual: &Observed) -> bool {
    let versions = VERSIONS.iter().filter_map(|member| actual.member(member)?.as_object());
    let is_current = |stages: &Value| {
        stages.as_array().is_some_and(|stages| stages.iter().any(|stage| stage == "AWSCURRENT"))
    };
    versions.flat_map(Map::values).any(is_current)
}

/// Tells whether its deletion is scheduled.
pub(super) fn is_leaving(actual: &Observed) -> bool {
    actual.member("DeletedDate").is_some()
}

/// Says what becomes of a secret whose deletion is scheduled.
pub(super) fn passing(actual: &Observed) -> Option<Notice> {
    is_leaving(actual).then(|| {
        let text = "AWS deletes it when its recovery window is over; until then its manifest brings it back";
        notice("", "ScheduledForDeletion", text.to_owned())
    })
}

/// Lists the copies in other regions.
pub(super) fn replicas(actual: &Observed) -> impl Iterator<Item = &Value> {
    actual.member(COPIES).and_then(Value::as_array).into_iter().flatten()
}

/// Returns a short digest of what the value is made of beside chance; nothing of it is secret.
pub(super) fn made_of(desired: &Bound) -> Option<String> {
    let template = desired.declared("generate.template").unwrap_or(&Value::Null);
    let text = format!("{} {template}", desired.declared("generate")?);
    Some(hex::encode(Sha256::digest(text)).chars().take(16).collect())
}

/// Tells what a reader should know: a value that is missing or was made of something else, and copies
/// that could not be made or have another key.
pub(super) fn notices(desired: &Bound, actual: &Observed) -> Vec<Notice> {
    let mut found = Vec::new();
    if !has_value(actual) {
        let text = "the secret has no value yet; whoever owns it has to write one";
        found.push(notice("", NO_VALUE, text.to_owned()));
    }
    let before = actual.tags.as_ref().and_then(|tags| tags.get(MADE_OF));
    if let (Some(before), Some(now)) = (before, made_of(desired))
        && *before != now
    {
        let text = "what Git says of the value, or what that refers to, is not what it was made of; \
                    the value is never read and stays as it is";
        found.push(notice("generate", "ValueStays", text.to_owned()));
    }
    found.extend(replicas(actual).flat_map(|copy| copy_notices(desired, copy)));
    found
}

fn copy_notices(desired: &Bound, copy: &Value) -> Vec<Notice> {
    let text = |member: &str| copy.get(member).and_then(Value::as_str).unwrap_or_default();
    let (region, key) = (text("Region"), text("KmsKeyId"));
    let mut found = Vec::new();
    if text("Status") == "Failed" {
        let message = format!("the copy in {region} was not made: {}", text("StatusMessage"));
        found.push(notice("replicas", "ReplicaFailed", message));
    }
    let declared = desired.declared("replicaKeys").and_then(|keys| keys.get(region)?.as_str());
    if let Some(declared) = declared.filter(|declared| !key.is_empty() && !key.ends_with(declared)) {
        let message = format!("the copy in {region} has the key {key} since it was made, not {declared}");
        found.push(notice("replicas", "ReplicaKeyStays", message));
    }
    found
}

fn notice(field: &str, code: &str, message: String) -> Notice {
    Notice { field: field.to_owned(), code: code.to_owned(), message }
}

/// Says what an error code of Secrets Manager means.
///
/// Source: the API reference. `InvalidRequestException` stands for many states, among them a name that
/// is taken by a secret whose deletion is scheduled: which one it is, the next read of the name says.
pub(super) fn classify(code: &str) -> ErrorClass {
    if let Some(class) = ErrorClass::of_common(code) {
        return class;
    }
    match code {
        "ResourceNotFoundException" => ErrorClass::NotFound,
        "ResourceExistsException" => ErrorClass::AlreadyExists,
        "InvalidNextTokenException" => ErrorClass::Transient,
        _ => ErrorClass::Invalid,
    }
}
