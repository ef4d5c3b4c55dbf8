//! What the answers of IAM say about a role.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::calls::attached;
use super::rules::RESERVED;
use crate::model::kind::Lists;
use crate::model::{Bound, ErrorClass, Notice, Observed, Readiness};

/// How long a new role is not relied on: IAM tells its regions of it in this time.
///
/// AWS states no bound ("changes might not be immediately visible"); seconds are what is seen.
const SPREADING: SignedDuration = SignedDuration::from_secs(15);

/// The path of roles that services make for themselves and that nobody else can change.
const OF_SERVICES: &str = "/aws-service-role/";

/// The members that only the second list answers.
const ONLY_LISTED: [&str; 2] = ["Description", "MaxSessionDuration"];

/// Joins the two lists by name; letter case does not tell roles apart.
///
/// A role that only one of them holds is so new that the other does not show it yet: it is left
/// out, and the read of its name will say that it exists.
pub(super) fn assemble(mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
    let mut listed: BTreeMap<String, Map<String, Value>> =
        lists.remove("Roles").into_iter().flatten().filter_map(named).collect();
    let details = lists.remove("RoleDetailList").into_iter().flatten().filter_map(named);
    details
        .filter_map(|(name, mut role)| {
            let mut other = listed.remove(&name)?;
            for member in ONLY_LISTED {
                if let Some(value) = other.remove(member) {
                    role.insert(member.to_owned(), value);
                }
            }
            Some((name, role))
        })
        .collect()
}

fn named(item: Value) -> Option<(String, Map<String, Value>)> {
    let Value::Object(members) = item else { return None };
    let name = members.get("RoleName")?.as_str()?.to_ascii_lowercase();
    Some((name, members))
}

/// Says whether the role can be worked on and relied on.
pub(super) fn readiness(actual: &Observed) -> Readiness {
    if actual.text("Path").is_some_and(|path| path.starts_with(OF_SERVICES)) {
        return Readiness::Broken {
            code: "ServiceLinkedRole".to_owned(),
            reason: "a service of AWS has made this role for itself".to_owned(),
        };
    }
    let made = actual.text("CreateDate").and_then(|text| text.parse::<Timestamp>().ok());
    let is_new = made.is_some_and(|made| {
        let age = actual.at.duration_since(made);
        age >= SignedDuration::ZERO && age < SPREADING
    });
    match is_new {
        true => Readiness::Waiting {
            code: "Spreading".to_owned(),
            reason: "the role is new, and not every part of AWS knows it yet".to_owned(),
        },
        false => Readiness::Ready,
    }
}

/// Tells of rights that Git does not say anything about.
pub(super) fn notices(desired: &Bound, actual: &Observed) -> Vec<Notice> {
    let inline = actual.member("RolePolicyList").and_then(Value::as_array);
    let inline = inline.into_iter().flatten().filter_map(|item| item.get("PolicyName")?.as_str());
    let inline = inline.filter(|name| !name.starts_with(RESERVED)).collect();
    let undeclared = |field: &str, what: &str, there: Vec<&str>| {
        let is_told = desired.declared(field).is_none() && !there.is_empty();
        is_told.then(|| Notice {
            field: field.to_owned(),
            code: "PoliciesNotDeclared".to_owned(),
            message: format!("the role has {what} that Git does not speak of: {}", there.join(", ")),
        })
    };
    let found = [
        undeclared("policies", "managed policies", attached(actual)),
        undeclared("inline", "inline policies", inline),
    ];
    found.into_iter().flatten().collect()
}

/// Says what an error code of IAM means.
///
/// Source: the API reference of IAM. `MalformedPolicyDocument` is also the answer to a principal
/// that does not exist; what can be known of that is known before the call is made.
pub(super) fn classify(code: &str) -> ErrorClass {
    if let Some(class) = ErrorClass::of_common(code) {
        return class;
    }
    match code {
        "NoSuchEntity" => ErrorClass::NotFound,
        "EntityAlreadyExists" => ErrorClass::AlreadyExists,
        "ConcurrentModification" | "DeleteConflict" | "EntityTemporarilyUnmodifiable" => {
            ErrorClass::NotReady
        }
        "ServiceFailure" => ErrorClass::Ambiguous,
        _ => ErrorClass::Invalid,
    }
}
