//! What the `custom` section alone proves wrong, before AWS is asked.

use std::collections::BTreeMap;

use serde_json::Value;

use super::spec::CustomResource;
use super::types::native;
use crate::model::problem::pointer_part;
use crate::model::Finding;
use crate::model::reference::has_marker;

/// The most resources of this section in one workspace: each costs a read of its own in every pass.
const MOST: usize = 50;

/// The last words of names under which secrets stand.
const SECRETS: [&str; 6] =
    ["password", "secretstring", "authtoken", "secretaccesskey", "privatekey", "secretkey"];

/// Finds what the section alone proves wrong.
pub fn check(custom: &BTreeMap<String, CustomResource>) -> Vec<Finding> {
    let mut found = Vec::new();
    if custom.len() > MOST {
        let message = format!("a workspace has at most {MOST} custom resources");
        found.push(Finding::error("", "TooManyCustomResources", message));
    }
    for (name, resource) in custom {
        let place = format!("/{}", pointer_part(name));
        name_of(name, &place, &mut found);
        type_of(&resource.type_name, &format!("{place}/type"), &mut found);
        let properties = format!("{place}/properties");
        for (key, value) in &resource.properties {
            property(key, value, &format!("{properties}/{}", pointer_part(key)), &mut found);
        }
    }
    found
}

fn name_of(name: &str, place: &str, found: &mut Vec<Finding>) {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.len() > 63 || !name.chars().all(is_plain) {
        let message = format!("\"{name}\" is no name for a resource");
        let hint = "up to 63 lower-case letters, digits and hyphens";
        found.push(Finding::error(place, "InvalidResourceName", message).hint(hint));
    }
}

/// Source: the pattern of `TypeName` in the API reference of `CreateResource`.
fn type_of(type_name: &str, place: &str, found: &mut Vec<Finding>) {
    let parts: Vec<&str> = type_name.split("::").collect();
    let is_word = |part: &&str| {
        !part.is_empty() && part.chars().all(|letter| letter.is_ascii_alphanumeric())
    };
    if parts.len() != 3 || !parts.iter().all(is_word) {
        let message = format!("\"{type_name}\" is no type");
        found.push(Finding::error(place, "InvalidType", message).hint("as in AWS::SQS::Queue"));
    } else if let Some(section) = native(type_name) {
        let message = format!("{type_name} has a section of its own");
        let hint = format!("declare it under {section}");
        found.push(Finding::error(place, "NativeType", message).hint(hint));
    }
}

fn property(key: &str, value: &Value, place: &str, found: &mut Vec<Finding>) {
    match value {
        Value::String(text) if is_secret(key) && !text.is_empty() && !has_marker(text) => {
            let message = format!("{key} would be a secret in Git");
            let hint = "let the service make it, or name the ARN of a secret";
            found.push(Finding::error(place, "SecretInGit", message).hint(hint));
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                property(key, item, &format!("{place}/{at}"), found);
            }
        }
        Value::Object(members) => {
            if let Some(Value::String(tag)) = members.get("Key")
                && members.contains_key("Value")
                && ["aws:", "levelset:"].iter().any(|it| tag.to_lowercase().starts_with(it))
            {
                let message = format!("tag keys like {tag} are reserved");
                found.push(Finding::error(place, "ReservedTagPrefix", message));
            }
            for (key, member) in members {
                property(key, member, &format!("{place}/{}", pointer_part(key)), found);
            }
        }
        _ => {}
    }
}

/// Tells whether a name is one under which a secret stands.
pub fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRETS.iter().any(|end| name.ends_with(end))
}
