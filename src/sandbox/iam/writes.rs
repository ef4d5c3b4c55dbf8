//! What IAM does with roles.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::{Role, arn, document};
use crate::sandbox::args::Args;
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};
use crate::sandbox::sts;

/// The operations.
pub(super) const OPERATIONS: &[Operation] = &[
    write("CreateRole", CREATE, create),
    write("DeleteRole", &["RoleName"], delete),
    write("UpdateRole", &["RoleName", "Description", "MaxSessionDuration"], update),
    write("UpdateAssumeRolePolicy", &["RoleName", "PolicyDocument"], trust),
    write("PutRolePolicy", &["RoleName", "PolicyName", "PolicyDocument"], put_policy),
    write("DeleteRolePolicy", &["RoleName", "PolicyName"], delete_policy),
    write("AttachRolePolicy", &["RoleName", "PolicyArn"], attach),
    write("DetachRolePolicy", &["RoleName", "PolicyArn"], detach),
    write("PutRolePermissionsBoundary", &["RoleName", "PermissionsBoundary"], bound),
    write("DeleteRolePermissionsBoundary", &["RoleName"], unbound),
    write("TagRole", &["RoleName", "Tags"], tag),
    write("UntagRole", &["RoleName", "TagKeys"], untag),
];

const CREATE: &[&str] = &[
    "RoleName",
    "Path",
    "AssumeRolePolicyDocument",
    "Description",
    "MaxSessionDuration",
    "PermissionsBoundary",
    "Tags",
];

/// The most managed policies that a role may have attached.
const MOST_ATTACHED: usize = 10;

/// The most characters of a trust policy.
const LARGEST_TRUST: usize = 2048;

/// The most characters of all inline policies of a role together.
const LARGEST_INLINE: usize = 10_240;

const fn write(
    name: &'static str,
    accepts: &'static [&'static str],
    run: fn(&mut Site<'_>, Args<'_>) -> Answer,
) -> Operation {
    Operation { service: "iam", name, accepts, run }
}

fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::new("ValidationError", message)
}

fn create(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = args.required("RoleName")?;
    let allowed = |c: char| c.is_ascii_alphanumeric() || "+=,.@_-".contains(c);
    if name.len() > 64 || !name.chars().all(allowed) {
        return Err(invalid(format!("the value {name} of roleName does not fit its pattern")));
    }
    if site.state.iam.roles.contains_key(&name.to_lowercase()) {
        let text = format!("Role with name {name} already exists.");
        return Err(Refusal::new("EntityAlreadyExists", text));
    }
    let path = args.text("Path")?.unwrap_or("/");
    let mut tags = BTreeMap::new();
    for (key, value) in args.tags()? {
        if set_tag(&mut tags, key, value) {
            return Err(Refusal::new("InvalidInput", "Duplicate tag keys found"));
        }
    }
    let role = Role {
        name: name.to_owned(),
        path: path.to_owned(),
        id: format!("AROA{}", sts::letters(site.random, 17)),
        arn: arn(site, path, name),
        made: site.now,
        known: site.now
            + SignedDuration::try_from(site.settings.durations.spreading).unwrap_or_default(),
        trust: trust_of(site, args.required("AssumeRolePolicyDocument")?)?,
        description: described(args)?,
        max_session: session(args)?.unwrap_or(3600),
        boundary: args.text("PermissionsBoundary")?.map(str::to_owned),
        inline: BTreeMap::new(),
        attached: Vec::new(),
        tags,
    };
    let mut members = role.describe();
    members.insert("Tags".to_owned(), role.tag_list());
    site.state.iam.roles.insert(name.to_lowercase(), role);
    Ok(json!({"Role": members}))
}

/// Deletes a role; where it was trusted, its id stays and lets nobody in.
fn delete(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = args.required("RoleName")?;
    let role = site.state.iam.role(name)?;
    if !(role.inline.is_empty() && role.attached.is_empty()) {
        let text = "Cannot delete entity, must delete or detach its policies first.";
        return Err(Refusal::new("DeleteConflict", text));
    }
    let (arn, id) = (role.arn.clone(), role.id.clone());
    site.state.iam.roles.remove(&name.to_lowercase());
    for other in site.state.iam.roles.values_mut() {
        document::replace_principal(&mut other.trust, &arn, &id);
    }
    Ok(json!({}))
}

/// Changes what is given; a session duration that is not given is an hour again.
fn update(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let seconds = session(args)?.unwrap_or(3600);
    let description = described(args)?;
    let role = site.state.iam.role(args.required("RoleName")?)?;
    role.max_session = seconds;
    if args.has("Description") {
        role.description = description;
    }
    Ok(json!({}))
}

fn described(args: Args<'_>) -> Result<Option<String>, Refusal> {
    Ok(args.text("Description")?.filter(|text| !text.is_empty()).map(str::to_owned))
}

fn session(args: Args<'_>) -> Result<Option<i64>, Refusal> {
    let seconds = args.integer("MaxSessionDuration")?;
    match seconds.is_none_or(|seconds| (3600..=43200).contains(&seconds)) {
        true => Ok(seconds),
        false => Err(invalid("maxSessionDuration must be from 3600 to 43200")),
    }
}

fn trust(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let trust = trust_of(site, args.required("PolicyDocument")?)?;
    site.state.iam.role(args.required("RoleName")?)?.trust = trust;
    Ok(json!({}))
}

/// Reads a trust policy, whose principals of this account have to exist.
fn trust_of(site: &Site<'_>, text: &str) -> Result<Value, Refusal> {
    if text.len() > LARGEST_TRUST {
        let message = format!("Cannot exceed quota for ACLSizePerRole: {LARGEST_TRUST}");
        return Err(Refusal::new("LimitExceeded", message));
    }
    let trust = document::read(text, document::Purpose::Trust)?;
    let own = format!("arn:{}:iam::{}:role/", site.scope.region.partition(), site.scope.account);
    for principal in document::principals(&trust) {
        if principal.starts_with(&own) && !site.state.iam.is_known(principal, site.now) {
            return Err(document::malformed(format!(
                "Invalid principal in policy: \"AWS\":\"{principal}\""
            )));
        }
    }
    Ok(trust)
}

fn put_policy(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let document = document::read(args.required("PolicyDocument")?, document::Purpose::Rights)?;
    let name = args.required("PolicyName")?;
    let role = site.state.iam.role(args.required("RoleName")?)?;
    let others = role.inline.iter().filter(|(there, _)| *there != name);
    let size: usize = others.map(|(_, document)| document.to_string().len()).sum();
    if size + document.to_string().len() > LARGEST_INLINE {
        let text = format!("Maximum policy size of {LARGEST_INLINE} bytes exceeded for the role");
        return Err(Refusal::new("LimitExceeded", text));
    }
    role.inline.insert(name.to_owned(), document);
    Ok(json!({}))
}

fn delete_policy(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = args.required("PolicyName")?;
    let role = site.state.iam.role(args.required("RoleName")?)?;
    role.inline.remove(name).map(|_| json!({})).ok_or_else(|| {
        let text = format!("The role policy with name {name} cannot be found.");
        Refusal::new("NoSuchEntity", text)
    })
}

fn attach(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let arn = args.required("PolicyArn")?;
    let role = site.state.iam.role(args.required("RoleName")?)?;
    if role.attached.iter().any(|there| there == arn) {
        return Ok(json!({}));
    }
    if role.attached.len() >= MOST_ATTACHED {
        let text = format!("Cannot exceed quota for PoliciesPerRole: {MOST_ATTACHED}");
        return Err(Refusal::new("LimitExceeded", text));
    }
    role.attached.push(arn.to_owned());
    Ok(json!({}))
}

fn detach(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let arn = args.required("PolicyArn")?;
    let role = site.state.iam.role(args.required("RoleName")?)?;
    let before = role.attached.len();
    role.attached.retain(|there| there != arn);
    match role.attached.len() < before {
        true => Ok(json!({})),
        false => Err(Refusal::new("NoSuchEntity", format!("Policy {arn} was not found."))),
    }
}

fn bound(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let arn = args.required("PermissionsBoundary")?.to_owned();
    site.state.iam.role(args.required("RoleName")?)?.boundary = Some(arn);
    Ok(json!({}))
}

fn unbound(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let role = site.state.iam.role(args.required("RoleName")?)?;
    role.boundary
        .take()
        .map(|_| json!({}))
        .ok_or_else(|| Refusal::new("NoSuchEntity", "The role has no permissions boundary."))
}

fn tag(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let new = args.tags()?;
    let role = site.state.iam.role(args.required("RoleName")?)?;
    let mut tags = role.tags.clone();
    for (key, value) in new {
        set_tag(&mut tags, key, value);
    }
    if tags.len() > 50 {
        return Err(Refusal::new("LimitExceeded", "Cannot exceed quota for TagsPerRole: 50"));
    }
    role.tags = tags;
    Ok(json!({}))
}

/// Sets a tag under a key in whatever letter case it was there; tells whether it was.
fn set_tag(tags: &mut BTreeMap<String, String>, key: String, value: String) -> bool {
    let before = tags.len();
    tags.retain(|there, _| there.to_lowercase() != key.to_lowercase());
    let was_there = tags.len() < before;
    tags.insert(key, value);
    was_there
}

fn untag(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let keys = args.texts("TagKeys")?.unwrap_or_default();
    let role = site.state.iam.role(args.required("RoleName")?)?;
    let is_named = |there: &str| keys.iter().any(|key| key.to_lowercase() == there.to_lowercase());
    role.tags.retain(|key, _| !is_named(key));
    Ok(json!({}))
}
