//! What AWS's answers about security groups mean.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::model::desired::OWNER_TAG;
use crate::model::kind::Lists;
use crate::model::{ErrorClass, Observed, Readiness};

/// Sorts groups by name; letter case does not tell them apart.
///
/// Several VPCs may have groups of one name: one with an ownership tag is meant before one without.
/// If that leaves several, the first one stands for them with `Ambiguous`: the ids of all.
pub(super) fn assemble(mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
    let mut found: BTreeMap<String, Vec<Map<String, Value>>> = BTreeMap::new();
    for group in lists.remove("SecurityGroups").unwrap_or_default() {
        let Value::Object(group) = group else { continue };
        let Some(name) = group.get("GroupName").and_then(Value::as_str) else { continue };
        found.entry(name.to_ascii_lowercase()).or_default().push(group);
    }
    let meant = found.into_iter().map(|(name, groups)| (name, meant(groups)));
    meant.filter_map(|(name, group)| Some((name, group?))).collect()
}

fn meant(groups: Vec<Map<String, Value>>) -> Option<Map<String, Value>> {
    let (tagged, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_tagged);
    let mut groups = if tagged.is_empty() { others } else { tagged };
    groups.sort_by(|one, other| id(one).cmp(&id(other)));
    let ids: Vec<Value> = groups.iter().filter_map(|group| group.get("GroupId").cloned()).collect();
    let is_alone = groups.len() == 1;
    let mut first = groups.into_iter().next()?;
    if !is_alone {
        first.insert("Ambiguous".to_owned(), ids.into());
    }
    Some(first)
}

fn is_tagged(group: &Map<String, Value>) -> bool {
    let tags = group.get("Tags").and_then(Value::as_array).into_iter().flatten();
    tags.filter_map(|tag| tag.get("Key")?.as_str()).any(|key| key == OWNER_TAG)
}

fn id(group: &Map<String, Value>) -> Option<&str> {
    group.get("GroupId")?.as_str()
}

/// Says whether it is known which group is meant.
pub(super) fn readiness(actual: &Observed) -> Readiness {
    if let Some(ids) = actual.member("Ambiguous").and_then(Value::as_array) {
        let ids: Vec<&str> = ids.iter().filter_map(Value::as_str).collect();
        let reason = format!("{} VPCs have a security group of this name: {}", ids.len(), ids.join(", "));
        return Readiness::Broken { code: "AmbiguousName".to_owned(), reason };
    }
    match actual.text("GroupId") {
        Some(_) => Readiness::Ready,
        None => Readiness::Waiting {
            code: "UnreadableAnswer".to_owned(),
            reason: "AWS answered the group without its id".to_owned(),
        },
    }
}

/// Says what an error code of EC2 means.
///
/// Source: "Error codes for the Amazon EC2 API". A rule that is there already was not in the last
/// answer: EC2 shows a change after a while, so that is waited for. `DependencyViolation` is the
/// answer to the deletion of a group that a network interface or another group's rule uses.
pub(super) fn classify(code: &str) -> ErrorClass {
    if let Some(class) = ErrorClass::of_common(code) {
        return class;
    }
    match code {
        "InvalidGroup.NotFound" | "InvalidSecurityGroupID.NotFound" | "InvalidPermission.NotFound" | "InvalidVpcID.NotFound" => {
            ErrorClass::NotFound
        }
        "InvalidGroup.Duplicate" => ErrorClass::AlreadyExists,
        "InvalidPermission.Duplicate" | "DependencyViolation" | "InvalidGroup.InUse"
        | "IncorrectState" => ErrorClass::NotReady,
        _ => ErrorClass::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn assembled(groups: Value) -> BTreeMap<String, Map<String, Value>> {
        let lists = Lists::from([("SecurityGroups", groups.as_array().unwrap().clone())]);
        assemble(lists).into_iter().collect()
    }

    fn observed(members: Map<String, Value>) -> Observed {
        Observed { members, tags: None, at: jiff::Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn of_several_groups_of_one_name_the_one_with_an_ownership_tag_is_meant() {
        let found = assembled(json!([
            {"GroupName": "App", "GroupId": "sg-1"},
            {"GroupName": "app", "GroupId": "sg-2", "Tags": [{"Key": "levelset:owner", "Value": "x"}]},
        ]));
        assert_eq!(found["app"]["GroupId"], "sg-2");
        assert_eq!(readiness(&observed(found["app"].clone())), Readiness::Ready);
    }

    #[test]
    fn several_groups_of_one_name_without_a_tag_are_ambiguous() {
        let found = assembled(json!([
            {"GroupName": "default", "GroupId": "sg-2"},
            {"GroupName": "default", "GroupId": "sg-1"},
        ]));
        let Readiness::Broken { code, reason } = readiness(&observed(found["default"].clone())) else {
            panic!("an ambiguous name is not broken")
        };
        assert_eq!(code, "AmbiguousName");
        assert!(reason.contains("sg-1, sg-2"), "{reason}");
    }

    #[test]
    fn what_only_shows_later_is_waited_for() {
        for (code, class) in [
            ("InvalidPermission.Duplicate", ErrorClass::NotReady),
            ("InvalidPermission.NotFound", ErrorClass::NotFound),
            ("InvalidGroup.NotFound", ErrorClass::NotFound),
            ("InvalidGroup.Duplicate", ErrorClass::AlreadyExists),
            ("DependencyViolation", ErrorClass::NotReady),
            ("RulesPerSecurityGroupLimitExceeded", ErrorClass::Invalid),
            ("RequestLimitExceeded", ErrorClass::Throttled),
            ("UnauthorizedOperation", ErrorClass::Denied),
        ] {
            assert_eq!(classify(code), class, "{code}");
        }
    }
}
