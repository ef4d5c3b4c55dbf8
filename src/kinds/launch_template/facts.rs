//! What the answers of EC2 say about a launch template.
//!
//! A template is compared by one of its versions: the default one, which is the one in force, or the
//! newest, if Levelset made it to take the default one's place and was stopped before it did.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use crate::model::kind::Lists;
use crate::model::{Bound, ErrorClass, Notice, Observed, Readiness, Refusal};

/// The settings that can be declared as empty, with the members that hold them.
pub(super) const TAKEN_AWAY: [(&str, &str); 3] = [
    ("keyPair", "KeyName"),
    ("instanceProfile", "IamInstanceProfile"),
    ("userData", "UserData"),
];

/// The members that can be handed on to a version that is made of everything that the one before says.
pub(super) const HANDED_ON: [&str; 19] = [
    "BlockDeviceMappings",
    "CreditSpecification",
    "DisableApiStop",
    "DisableApiTermination",
    "EbsOptimized",
    "EnclaveOptions",
    "HibernationOptions",
    "IamInstanceProfile",
    "ImageId",
    "InstanceInitiatedShutdownBehavior",
    "InstanceType",
    "KernelId",
    "KeyName",
    "MaintenanceOptions",
    "MetadataOptions",
    "Monitoring",
    "SecurityGroupIds",
    "TagSpecifications",
    "UserData",
];

/// Tells whether a value says that there is nothing.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns what a version says of itself that is made to take the place of another.
pub(super) fn description(replaces: &Value) -> String {
    format!("levelset: replaces version {replaces}")
}

/// Joins templates with their versions, by name; letter case tells them apart.
///
/// Adds to each template the `LaunchTemplateData` and `VersionNumber` of the version that it is compared
/// by, `IsDefault`: whether that is the default one, `UserDataText`: the user data as people write them,
/// and `InstanceProfile`: its ARN or name. A template of which no list shows the default version is
/// there, and nothing is known of it.
pub(super) fn assemble(mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
    let versions = lists.remove("LaunchTemplateVersions").unwrap_or_default();
    let named = |item: Value| {
        let Value::Object(mut members) = item else { return None };
        let name = members.get("LaunchTemplateName")?.as_str()?.to_owned();
        let id = members.get("LaunchTemplateId")?.clone();
        let own = versions.iter().filter(|version| version.get("LaunchTemplateId") == Some(&id));
        let _ = join(&mut members, &own.collect::<Vec<_>>());
        members.entry("Tags").or_insert_with(|| json!([]));
        Some((name, members))
    };
    lists.remove("LaunchTemplates").into_iter().flatten().filter_map(named).collect()
}

fn join(members: &mut Map<String, Value>, versions: &[&Value]) -> Option<()> {
    let is_default = |version: &&&Value| version.get("DefaultVersion") == Some(&Value::Bool(true));
    let default = versions.iter().find(is_default)?;
    let number = |version: &Value| version.get("VersionNumber").and_then(Value::as_u64);
    let newest = versions.iter().max_by_key(|version| number(version)).filter(|newest| {
        let says = newest.get("VersionDescription").and_then(Value::as_str);
        let replaced = default.get("VersionNumber").map(description);
        number(newest) > number(default) && says.is_some() && says == replaced.as_deref()
    });
    let version = newest.unwrap_or(default);
    let data = version.get("LaunchTemplateData").cloned().unwrap_or_else(|| json!({}));
    let user_data = data.get("UserData").and_then(Value::as_str).map(decoded);
    members.extend(user_data.map(|text| ("UserDataText".to_owned(), text.into())));
    members.extend(profile(&data).map(|it| ("InstanceProfile".to_owned(), it.clone())));
    members.insert("LaunchTemplateData".to_owned(), data);
    members.insert("IsDefault".to_owned(), newest.is_none().into());
    // The two lists are read one after the other: what the versions say goes together.
    members.insert("VersionNumber".to_owned(), version.get("VersionNumber")?.clone());
    members.insert("DefaultVersionNumber".to_owned(), default.get("VersionNumber")?.clone());
    Some(())
}

fn profile(data: &Value) -> Option<&Value> {
    let profile = data.get("IamInstanceProfile")?;
    profile.get("Arn").or_else(|| profile.get("Name"))
}

/// Returns user data as people write them; what is no text stays encoded.
fn decoded(encoded: &str) -> String {
    let encoded: String = encoded.split_whitespace().collect();
    let bytes = STANDARD.decode(&encoded).ok();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or(encoded)
}

/// Returns user data as AWS takes them.
pub(super) fn encoded(text: &str) -> String {
    STANDARD.encode(text)
}

/// Says whether the template can be worked on.
pub(super) fn readiness(actual: &Observed) -> Readiness {
    let service = actual.text("Operator.Principal").filter(|it| !it.is_empty());
    match (service, actual.member("VersionNumber")) {
        (Some(service), _) => Readiness::Broken {
            code: "ManagedByService".to_owned(),
            reason: format!("the template is {service}'s, which made it and changes it by itself"),
        },
        (None, None) => Readiness::Waiting {
            code: "VersionUnknown".to_owned(),
            reason: "AWS listed the template without its default version".to_owned(),
        },
        (None, Some(_)) => Readiness::Ready,
    }
}

/// Returns why a version cannot be what is declared, whatever differs: what somebody added speaks
/// against what is declared, and AWS takes only one of the two.
pub(super) fn objections(desired: &Bound, actual: &Observed) -> Vec<Refusal> {
    let against = [
        ("securityGroups", "NetworkInterfaces", "its network interfaces say which security groups there are"),
        ("instanceType", "InstanceRequirements", "it says what an instance needs, and not its type"),
    ];
    let objection = |(field, member, why): (&str, &str, &str)| {
        desired.declared(field)?;
        let there = actual.member(&format!("LaunchTemplateData.{member}"))?;
        let is_nothing = there.as_array().is_some_and(Vec::is_empty);
        (!is_nothing).then(|| Refusal {
            field: field.to_owned(),
            code: format!("{member}Set"),
            message: format!("somebody gave the template {member}: {why}"),
            help: "make another version of the template the default one in AWS, or leave the field out"
                .to_owned(),
        })
    };
    against.into_iter().filter_map(objection).chain(kept(desired, actual)).collect()
}

/// A setting that is declared as empty is taken away by making a version of everything else; what would
/// be lost on the way holds it.
fn kept(desired: &Bound, actual: &Observed) -> Option<Refusal> {
    let data = actual.member("LaunchTemplateData")?.as_object()?;
    let is_emptied = |(field, member): &&(&str, &str)| {
        desired.declared(field).is_some_and(is_nothing)
            && data.get(*member).is_some_and(|there| !is_nothing(there))
    };
    let (field, _) = TAKEN_AWAY.iter().find(is_emptied)?;
    let is_lost = |(member, value): &(&String, &Value)| {
        !HANDED_ON.contains(&member.as_str()) && !is_nothing(value)
    };
    let (member, _) = data.iter().find(is_lost)?;
    Some(Refusal {
        field: (*field).to_owned(),
        code: "CannotBeTakenAway".to_owned(),
        message: format!("{field} is taken away by a whole new version, which would lose {member}"),
        help: "make a version without it the default one in AWS, or leave the field out".to_owned(),
    })
}

/// Tells of a newer version that nobody put into force.
pub(super) fn notices(actual: &Observed) -> Vec<Notice> {
    let number = |member: &str| actual.member(member).and_then(Value::as_u64);
    let both = number("LatestVersionNumber").zip(number("VersionNumber"));
    let newest = both.filter(|(newest, compared)| newest > compared).map(|(newest, _)| newest);
    let told = newest.map(|newest| Notice {
        field: String::new(),
        code: "NewerVersion".to_owned(),
        message: format!("somebody made version {newest}, which is not the default one and starts nothing"),
    });
    told.into_iter().collect()
}

/// Says what an error code of EC2 means.
///
/// Source: "Error codes for the Amazon EC2 API".
pub(super) fn classify(code: &str) -> ErrorClass {
    if let Some(class) = ErrorClass::of_common(code) {
        return class;
    }
    match code {
        "InvalidLaunchTemplateId.NotFound"
        | "InvalidLaunchTemplateId.NotFoundException"
        | "InvalidLaunchTemplateId.VersionNotFound"
        | "InvalidLaunchTemplateName.NotFoundException" => ErrorClass::NotFound,
        "InvalidLaunchTemplateName.AlreadyExistsException" => ErrorClass::AlreadyExists,
        "IncorrectState" | "IdempotentParameterMismatch" => ErrorClass::NotReady,
        _ => ErrorClass::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assembled(versions: Value) -> Vec<(String, Map<String, Value>)> {
        let template = json!({"LaunchTemplateId": "lt-1", "LaunchTemplateName": "Web",
            "DefaultVersionNumber": 1, "LatestVersionNumber": 9});
        let list = |value: Value| value.as_array().unwrap().clone();
        assemble(Lists::from([
            ("LaunchTemplates", list(json!([template]))),
            ("LaunchTemplateVersions", list(versions)),
        ]))
    }

    fn version(number: u64, is_default: bool, description: &str) -> Value {
        json!({"LaunchTemplateId": "lt-1", "VersionNumber": number, "DefaultVersion": is_default,
            "VersionDescription": description, "LaunchTemplateData": {"InstanceType": number}})
    }

    #[test]
    fn a_template_of_which_no_list_shows_the_default_version_is_there_and_waited_for() {
        let other = json!({"LaunchTemplateId": "lt-2", "VersionNumber": 1, "DefaultVersion": true});
        for versions in [json!([]), json!([version(9, false, "")]), json!([other])] {
            let (_, members) = assembled(versions).remove(0);
            assert!(!members.contains_key("LaunchTemplateData"));
            let actual = Observed { members, tags: None, at: jiff::Timestamp::UNIX_EPOCH };
            assert!(matches!(readiness(&actual), Readiness::Waiting { .. }));
        }
    }

    #[test]
    fn the_newest_version_counts_only_when_it_is_made_to_replace_the_one_in_force() {
        let compared = |description: &str| {
            let both = json!([version(9, false, description), version(7, true, "")]);
            let (name, members) = assembled(both).remove(0);
            assert_eq!((name.as_str(), &members["DefaultVersionNumber"]), ("Web", &json!(7)));
            (members["VersionNumber"].clone(), members["IsDefault"].clone())
        };
        assert_eq!(compared("levelset: replaces version 7"), (json!(9), json!(false)));
        for other in ["", "levelset: replaces version 6", "levelset: replaces version 70"] {
            assert_eq!(compared(other), (json!(7), json!(true)), "{other}");
        }
    }

    #[test]
    fn user_data_are_read_as_people_write_them() {
        assert_eq!(decoded("IyEvYmlu\nL3No\n"), "#!/bin/sh");
        assert_eq!(decoded(&encoded("ü\n")), "ü\n");
        assert_eq!(decoded("H4sI/w=="), "H4sI/w==", "what is no text stays as it is");
        assert_eq!(decoded("no base64!"), "nobase64!");
    }
}
