//! What the `iam` section alone proves wrong, before AWS is asked.
//!
//! In: an [`Iam`] and what the manifest says around it. Out: every [`Finding`] at once.
//!
//! Sources: "IAM and AWS STS quotas" and "Grammar of the IAM JSON policy language" in the IAM User
//! Guide. Quotas that AWS raises on request are left to AWS.

use std::collections::BTreeMap;

use super::expand::role_name;
use super::rules::RESERVED;
use super::spec::{DatabaseAccess, Document, Iam, Oidc, Role, Trust};
use crate::kinds::policy_document::{self as document, Place};
use crate::kinds::tag_rules::{self, Tagged};
use crate::model::problem::pointer_part;
use crate::model::Finding;
use crate::model::reference::has_marker;

type Findings = Vec<Finding>;

/// Of the 50 tags of a role, one is Levelset's own.
const TAGS: Tagged = Tagged { what: "a role", most: 49, reserved: &[] };

/// The most characters of a role's name.
const LONGEST_NAME: usize = 64;

/// The most characters, white space aside, that all inline policies of a role have together; AWS
/// does not raise it.
const LARGEST_INLINE: usize = 10_240;

/// Says what the manifest declares around the section.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// The name of the workspace; empty where it cannot be told.
    pub workspace: &'a str,
    /// Whether the database lets IAM roles log in; `None` without a database.
    pub iam_authentication: Option<bool>,
}

/// Finds what the section alone proves wrong.
pub fn check(iam: &Iam, around: Surroundings<'_>) -> Vec<Finding> {
    let mut found = Findings::new();
    for (name, role) in &iam.roles {
        let place = Place::new(format!("/roles/{}", pointer_part(name)));
        role_key(name, role, around.workspace, &place, &mut found);
        trust(name, &role.trust, iam, &place.under("trust"), &mut found);
        rights(role, &place, &mut found);
        settings(role, &place, &mut found);
        tags(role.tags.as_ref(), &place.under("tags"), &mut found);
        if let Some(access) = &role.database_access {
            database_access(access, around, &place.under("databaseAccess"), &mut found);
        }
    }
    found
}

fn role_key(name: &str, role: &Role, workspace: &str, place: &Place, found: &mut Findings) {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || !name.chars().all(is_plain) {
        let message = format!("\"{name}\" is no name for a role");
        let hint = "lower-case letters, digits and hyphens";
        found.push(place.error("InvalidRoleName", message).hint(hint));
    }
    let whole = role_name(workspace, name, role);
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_+=,.@-".contains(c);
    if role.name.is_some() && (whole.is_empty() || !whole.chars().all(allowed)) {
        let message = format!("\"{whole}\" is no name for a role in AWS");
        let hint = "1 to 64 letters, digits and characters of _+=,.@-";
        found.push(place.under("name").error("InvalidRoleName", message).hint(hint));
    }
    let length = whole.chars().count();
    if length > LONGEST_NAME {
        let message =
            format!("the role would be called {whole}, which has {length} characters");
        let hint = format!("at most {LONGEST_NAME}; shorten the name of the role");
        found.push(place.error("RoleNameTooLong", message).hint(hint));
    }
}

fn trust(name: &str, trust: &Trust, iam: &Iam, place: &Place, found: &mut Findings) {
    let short = [&trust.services, &trust.accounts, &trust.roles];
    let is_short = short.iter().any(|list| !list.is_empty()) || !trust.oidc.is_empty();
    match (&trust.document, is_short) {
        (Some(_), true) => {
            let message = "a document is the whole trust policy and excludes the short forms";
            found.push(place.under("document").error("DocumentAndShortForm", message));
        }
        (Some(document), false) => document::trust(document, &place.under("document"), found),
        (None, false) => {
            let message = "the role trusts nobody";
            let hint = "name services, accounts, roles or oidc identities, or write a document";
            found.push(place.error("NobodyTrusted", message).hint(hint));
        }
        (None, true) => {}
    }
    for (at, service) in trust.services.iter().enumerate() {
        if !service.contains('.') || service.contains(['*', ':', '/']) {
            let message = format!("\"{service}\" is no service");
            let hint = "as in ecs-tasks.amazonaws.com";
            found.push(place.item("services", at).error("InvalidService", message).hint(hint));
        }
    }
    for (at, account) in trust.accounts.iter().enumerate() {
        if account.len() != 12 || !account.bytes().all(|byte| byte.is_ascii_digit()) {
            let message = format!("\"{account}\" is not the twelve digits of an account");
            found.push(place.item("accounts", at).error("InvalidAccount", message));
        }
    }
    for (at, role) in trust.roles.iter().enumerate() {
        trusted_role(name, role, iam, &place.item("roles", at), found);
    }
    for (at, identity) in trust.oidc.iter().enumerate() {
        oidc(identity, &place.item("oidc", at), found);
    }
}

fn trusted_role(name: &str, role: &str, iam: &Iam, place: &Place, found: &mut Findings) {
    let is_arn = role.starts_with("arn:") && role.contains(":role/");
    if !is_arn && !has_marker(role) && !iam.roles.contains_key(role) {
        let message = format!("\"{role}\" is neither a role of this section nor the ARN of one");
        found.push(place.error("UnknownRole", message));
    } else if trusts(iam, role, name, iam.roles.len()) {
        let message = format!("{name} trusts {role}, which trusts {name}: neither could be made first");
        found.push(place.error("CircularTrust", message));
    }
}

/// Tells whether `role` trusts `other`, directly or through others; it takes no more steps than
/// there are roles.
fn trusts(iam: &Iam, role: &str, other: &str, steps: usize) -> bool {
    role == other
        || steps > 0
            && iam.roles.get(role).is_some_and(|it| {
                it.trust.roles.iter().any(|next| trusts(iam, next, other, steps - 1))
            })
}

fn oidc(identity: &Oidc, place: &Place, found: &mut Findings) {
    if identity.provider.is_empty() || identity.provider.contains("://") {
        let message = format!("\"{}\" is no address of a provider", identity.provider);
        let hint = "without https://, as in token.actions.githubusercontent.com";
        found.push(place.under("provider").error("InvalidProvider", message).hint(hint));
    }
    for (field, list) in [("subjects", &identity.subjects), ("audiences", &identity.audiences)] {
        if list.is_empty() {
            let message = format!("without {field} any identity of the provider would be let in");
            found.push(place.under(field).error("AnyoneTrusted", message));
        }
    }
    for (at, subject) in identity.subjects.iter().enumerate() {
        // Whoever has an account with the provider can make a subject that begins so.
        let fixed = subject.split(['*', '?']).next().unwrap_or_default();
        if matches!(fixed, "" | "repo:" | "project_path:" | "system:") && fixed.len() < subject.len() {
            let message = format!("the subject \"{subject}\" lets in strangers");
            let hint = "name the organisation at least, as in repo:example/*";
            found.push(place.item("subjects", at).error("AnyoneTrusted", message).hint(hint));
        }
    }
}

fn rights(role: &Role, place: &Place, found: &mut Findings) {
    for (at, arn) in role.policies.iter().flatten().enumerate() {
        policy_arn(arn, &place.item("policies", at), found);
    }
    if let Some(arn) = role.permissions_boundary.as_deref().filter(|arn| !arn.is_empty()) {
        policy_arn(arn, &place.under("permissionsBoundary"), found);
    }
    let Some(inline) = &role.inline else { return };
    for (name, policy) in inline {
        let place = place.under("inline").under(&pointer_part(name));
        policy_name(name, &place, found);
        document::rights(policy, &place, found);
    }
    let size: usize = inline.values().map(size_of).sum();
    if size > LARGEST_INLINE {
        let message = format!("the inline policies have {size} characters together");
        let hint = format!("at most {LARGEST_INLINE}; attach managed policies instead");
        found.push(place.under("inline").error("InlinePoliciesTooLarge", message).hint(hint));
    }
}

fn policy_arn(arn: &str, place: &Place, found: &mut Findings) {
    let is_arn = arn.starts_with("arn:") && arn.contains(":iam::") && arn.contains(":policy/");
    if !is_arn && !has_marker(arn) {
        let message = format!("\"{arn}\" is not the ARN of a managed policy");
        let hint = "as in arn:aws:iam::aws:policy/ReadOnlyAccess";
        found.push(place.error("InvalidPolicyArn", message).hint(hint));
    }
}

fn policy_name(name: &str, place: &Place, found: &mut Findings) {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "+=,.@_-".contains(c);
    if name.is_empty() || name.len() > 128 || !name.chars().all(allowed) {
        let message = format!("\"{name}\" is no name for a policy");
        let hint = "1 to 128 letters, digits and characters of +=,.@_-";
        found.push(place.error("InvalidPolicyName", message).hint(hint));
    } else if name.starts_with(RESERVED) {
        let message = format!("names of policies that start with {RESERVED} are Levelset's own");
        found.push(place.error("ReservedPolicyName", message));
    }
}

/// Counts as IAM does: without white space.
fn size_of(document: &Document) -> usize {
    let text = serde_json::to_string(document).unwrap_or_default();
    text.chars().filter(|letter| !letter.is_whitespace()).count()
}

fn settings(role: &Role, place: &Place, found: &mut Findings) {
    if let Some(path) = &role.path {
        let is_graphic = path.bytes().all(|byte| byte.is_ascii_graphic());
        let is_whole = path == "/" || (path.starts_with('/') && path.ends_with('/') && path.len() > 2);
        if !(is_graphic && is_whole && path.len() <= 512) {
            let message = format!("\"{path}\" is no path");
            let hint = "with a slash at both ends, as in /teams/payments/";
            found.push(place.under("path").error("InvalidPath", message).hint(hint));
        } else if path.starts_with("/aws-") {
            let message = "paths that start with /aws- are AWS's own";
            found.push(place.under("path").error("InvalidPath", message));
        }
    }
    let length = role.description.as_deref().map_or(0, |text| text.chars().count());
    if length > 1000 {
        let message = format!("the description has {length} characters, and may have 1000");
        found.push(place.under("description").error("DescriptionTooLong", message));
    }
}

/// Keys of roles are one when they differ by letter case only: setting one renames the other.
fn tags(tags: Option<&BTreeMap<String, String>>, place: &Place, found: &mut Findings) {
    tag_rules::check(&TAGS, tags, place, found);
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for key in tags.into_iter().flat_map(BTreeMap::keys) {
        if let Some(other) = seen.insert(key.to_lowercase(), key) {
            let message = format!("{key} and {other} are one key: IAM ignores letter case");
            found.push(place.under(&pointer_part(key)).error("DuplicateTagKeyIgnoringCase", message));
        }
    }
}

fn database_access(
    access: &DatabaseAccess,
    around: Surroundings<'_>,
    place: &Place,
    found: &mut Findings,
) {
    match around.iam_authentication {
        None => {
            let message = "there is no database that the role could log in to";
            found.push(place.error("NoDatabase", message).hint("declare database: beside iam:"));
        }
        Some(false) => {
            let message = "the database lets no role log in";
            let hint = "declare iamAuthentication: true on the database";
            found.push(place.error("IamAuthenticationOff", message).hint(hint));
        }
        Some(true) => {}
    }
    if access.users.is_empty() {
        found.push(place.under("users").error("NoDatabaseUser", "no database user is named"));
    }
    for (at, user) in access.users.iter().enumerate() {
        if user.is_empty() || user.len() > 63 || user.contains(['*', '?', '/', '$']) {
            let message = format!("\"{user}\" is no single database user");
            found.push(place.item("users", at).error("InvalidDatabaseUser", message));
        }
    }
}
