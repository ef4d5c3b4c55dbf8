//! IAM: the roles of an account, which has them once and not in every region.
//!
//! A new role is there for whoever writes, and for nobody who reads or trusts it until
//! [`spreading`](crate::sandbox::settings::Durations::spreading) is over. A role that is deleted
//! leaves its id in the trust of others, where it lets nobody in. Documents are JSON here, and
//! percent-encoded on the wire.
//!
//! Not modelled, on purpose: users, groups, instance profiles, the contents of managed policies.

pub(super) mod access;
mod document;
mod reads;
mod writes;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::refusal::Refusal;
use super::services::{Operation, Site};

/// The operations.
pub(super) const OPERATIONS: &[&[Operation]] = &[reads::OPERATIONS, writes::OPERATIONS];

/// Holds the roles of an account by their names in lower case: case does not tell them apart.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) roles: BTreeMap<String, Role>,
}

/// Is one role.
#[derive(Debug, Clone)]
pub(super) struct Role {
    pub(super) name: String,
    path: String,
    id: String,
    arn: String,
    made: Timestamp,
    /// From when on it is read and trusted.
    known: Timestamp,
    trust: Value,
    description: Option<String>,
    max_session: i64,
    boundary: Option<String>,
    pub(super) inline: BTreeMap<String, Value>,
    attached: Vec<String>,
    tags: BTreeMap<String, String>,
}

impl State {
    /// Returns a role for a write.
    fn role(&mut self, name: &str) -> Result<&mut Role, Refusal> {
        self.roles.get_mut(&name.to_lowercase()).ok_or_else(|| no_role(name))
    }

    /// Returns a role for a read: a new one is not there yet.
    fn known(&self, name: &str, now: Timestamp) -> Result<&Role, Refusal> {
        let role = self.roles.get(&name.to_lowercase());
        role.filter(|role| role.known <= now).ok_or_else(|| no_role(name))
    }

    /// Tells whether an ARN is that of a role that is known.
    fn is_known(&self, arn: &str, now: Timestamp) -> bool {
        self.roles.values().any(|role| role.arn == arn && role.known <= now)
    }
}

impl Role {
    /// Describes what `GetRole` and `ListRoles` both answer.
    fn describe(&self) -> Map<String, Value> {
        let described = json!({
            "Path": self.path,
            "RoleName": self.name,
            "RoleId": self.id,
            "Arn": self.arn,
            "CreateDate": super::rds::time(self.made),
            "AssumeRolePolicyDocument": self.trust,
            "MaxSessionDuration": self.max_session,
        });
        let mut members = described.as_object().cloned().unwrap_or_default();
        if let Some(description) = &self.description {
            members.insert("Description".to_owned(), json!(description));
        }
        members
    }

    fn boundary(&self) -> Option<Value> {
        let arn = self.boundary.as_ref()?;
        Some(json!({"PermissionsBoundaryType": "Policy", "PermissionsBoundaryArn": arn}))
    }

    fn tag_list(&self) -> Value {
        self.tags.iter().map(|(key, value)| json!({"Key": key, "Value": value})).collect()
    }
}

fn no_role(name: &str) -> Refusal {
    Refusal::new("NoSuchEntity", format!("The role with name {name} cannot be found."))
}

/// Makes the ARN of a role.
fn arn(site: &Site<'_>, path: &str, name: &str) -> String {
    let partition = site.scope.region.partition();
    format!("arn:{partition}:iam::{}:role{path}{name}", site.scope.account)
}

#[cfg(test)]
mod tests;
