//! The `iam` section of a manifest.
//!
//! In: the section of a manifest. Out: an [`Iam`]; [`check`](super::check) finds what it alone
//! proves wrong, [`resources`](super::expand) makes the resources of it.
//!
//! Invariants: a field that is not declared is `None` and not managed; an empty list or mapping
//! means none; no field holds a secret.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Offer;

pub use super::check::{Surroundings, check};
pub use super::expand::{Placement, resources, role_id, role_name};

/// What a role offers to the texts of other resources.
pub const OFFERS: &[Offer] =
    &[Offer::text("arn", "Arn"), Offer::text("name", "RoleName"), Offer::text("id", "RoleId")];

/// A policy document of IAM, as its JSON says it.
pub type Document = BTreeMap<String, Value>;

/// Declares the roles under which the workspace's programs and people work in AWS.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Iam {
    /// The roles by name: lower-case letters, digits and hyphens. The role `api` of the workspace
    /// `team-a` is called `team-a-api` in AWS, in at most 64 characters, unless it declares a `name`.
    /// Default: none.
    pub roles: BTreeMap<String, Role>,
}

/// Declares one role.
///
/// A field that is left out is not managed: what AWS has stays. What is declared is put back at
/// once when somebody changes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Role {
    /// The name in AWS, for a role that has another one already: 1 to 64 characters; letter case does
    /// not tell roles apart. Default: `WORKSPACE-NAME`, for example `team-payments-prod-api`. A role
    /// cannot be renamed: another name is another role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub name: Option<String>,
    /// Who may take the role on: services, accounts, roles, OIDC identities, or a whole document.
    pub trust: Trust,
    /// The ARNs of the managed policies that are attached. Others are detached; an empty list
    /// means none. An item may be a reference. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policies: Option<Vec<String>>,
    /// Inline policies by name. Others are deleted, save those whose names start with `levelset-`;
    /// an empty mapping means none. Their texts may hold references, such as `${database.arn}`.
    /// Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline: Option<BTreeMap<String, Document>>,
    /// Lets the role log in to the workspace's database without a password. Default: it may not;
    /// a right that was given so is taken away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_access: Option<DatabaseAccess>,
    /// The ARN of the managed policy that bounds what the role may do, or a reference to it; an empty
    /// text means none. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions_boundary: Option<String>,
    /// How long a session may last, 3600 to 43200 seconds. AWS's default: 3600.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 3600, max = 43200))]
    pub max_session_duration_seconds: Option<u32>,
    /// The path, with a slash at both ends, for example `/teams/payments/`. It cannot be changed.
    /// Default `/`; a role of this name under another path is left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// A description; an empty text means none. It may hold references, such as
    /// `${database.endpoint}`. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Tags. Declared keys are enforced; keys that are not declared, or no longer, are left
    /// alone. Two keys may not differ by letter case only. Values may hold references. Default: not
    /// managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, String>>,
    /// Whether an existing role of this name that has no ownership tag is taken over. Default
    /// `false`: it is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopt: bool,
}

/// Says who may take a role on: any of the short forms, or a whole document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Trust {
    /// Services of AWS, for example `ecs-tasks.amazonaws.com`. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub services: Vec<String>,
    /// Whole accounts by their twelve digits, quoted: who may there is for that account to say.
    /// Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<String>,
    /// Roles: the name of another role of this section, an ARN, or a reference such as
    /// `${Workspace/team-b.iam.deploy.arn}`. A role of the same account has to exist. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// Identities of an OIDC provider, such as jobs of a CI system. Default: none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub oidc: Vec<Oidc>,
    /// The whole trust policy as IAM takes it, instead of the short forms; its texts may hold
    /// references. Default: it is made of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<Document>,
}

/// Names identities of an OIDC provider that the account knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Oidc {
    /// The provider's address without `https://`, for example
    /// `token.actions.githubusercontent.com`.
    pub provider: String,
    /// The subjects (the claim `sub`); `*` stands for any characters, for example
    /// `repo:example/payments:ref:refs/heads/main`.
    pub subjects: Vec<String>,
    /// The audiences (the claim `aud`). Default: `sts.amazonaws.com`.
    #[serde(default = "audiences")]
    pub audiences: Vec<String>,
}

/// Returns the audience under which AWS is asked.
pub(super) fn audiences() -> Vec<String> {
    vec!["sts.amazonaws.com".to_owned()]
}

/// Lets a role log in to the workspace's database (IAM authentication).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DatabaseAccess {
    /// The database users as whom the role may log in; at least one. They have to exist in the
    /// database, and `database.iamAuthentication` has to be `true`.
    pub users: Vec<String>,
}
