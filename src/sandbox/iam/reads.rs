//! What IAM answers about roles.

use serde_json::{Map, Value, json};

use super::Role;
use crate::sandbox::args::Args;
use crate::sandbox::page;
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};

/// The operations.
pub(super) const OPERATIONS: &[Operation] = &[
    read("GetRole", &["RoleName"], get),
    read("ListRoles", &["PathPrefix", "MaxItems", "Marker"], list),
    read("ListRoleTags", &["RoleName", "MaxItems", "Marker"], tags),
    read("GetAccountAuthorizationDetails", &["Filter", "MaxItems", "Marker"], details),
];

const fn read(
    name: &'static str,
    accepts: &'static [&'static str],
    run: fn(&mut Site<'_>, Args<'_>) -> Answer,
) -> Operation {
    Operation { service: "iam", name, accepts, run }
}

fn get(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let role = site.state.iam.known(args.required("RoleName")?, site.now)?;
    let mut members = role.describe();
    members.insert("Tags".to_owned(), role.tag_list());
    members.extend(role.boundary().map(|it| ("PermissionsBoundary".to_owned(), it)));
    Ok(json!({"Role": members}))
}

fn tags(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let role = site.state.iam.known(args.required("RoleName")?, site.now)?;
    Ok(json!({"Tags": role.tag_list(), "IsTruncated": false}))
}

fn list(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let prefix = args.text("PathPrefix")?.unwrap_or("/");
    paged(site, args, "Roles", |role| {
        role.path.starts_with(prefix).then(|| Value::Object(role.describe()))
    })
}

fn details(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    if args.texts("Filter")?.is_none_or(|filter| filter != ["Role"]) {
        let text = "the sandbox models GetAccountAuthorizationDetails with Filter=Role only";
        return Err(Refusal::new("NotModelled", text));
    }
    let answer = paged(site, args, "RoleDetailList", |role| Some(Value::Object(detail(role))))?;
    let mut members = answer.as_object().cloned().unwrap_or_default();
    for empty in ["UserDetailList", "GroupDetailList", "Policies"] {
        members.insert(empty.to_owned(), json!([]));
    }
    Ok(Value::Object(members))
}

/// Describes a role with its policies, and without description and session duration.
fn detail(role: &Role) -> Map<String, Value> {
    let mut members = role.describe();
    members.remove("Description");
    members.remove("MaxSessionDuration");
    let inline: Value = role
        .inline
        .iter()
        .map(|(name, document)| json!({"PolicyName": name, "PolicyDocument": document}))
        .collect();
    let name = |arn: &str| arn.rsplit('/').next().unwrap_or_default().to_owned();
    let attached: Value = role
        .attached
        .iter()
        .map(|arn| json!({"PolicyName": name(arn), "PolicyArn": arn}))
        .collect();
    members.insert("InstanceProfileList".to_owned(), json!([]));
    members.insert("RolePolicyList".to_owned(), inline);
    members.insert("AttachedManagedPolicies".to_owned(), attached);
    members.insert("Tags".to_owned(), role.tag_list());
    members.insert("RoleLastUsed".to_owned(), json!({}));
    members.extend(role.boundary().map(|it| ("PermissionsBoundary".to_owned(), it)));
    members
}

fn paged(
    site: &Site<'_>,
    args: Args<'_>,
    list: &str,
    describe: impl Fn(&Role) -> Option<Value>,
) -> Answer {
    let roles = site.state.iam.roles.iter().filter(|(_, role)| role.known <= site.now);
    let roles = roles.map(|(key, role)| (key.as_str(), role));
    let mut answer = page::IAM.answer(args, list, roles, |_, role| describe(role))?;
    let is_truncated = answer.get("Marker").is_some();
    answer["IsTruncated"] = json!(is_truncated);
    Ok(answer)
}
