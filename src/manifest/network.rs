//! The `spec` of a `Network`: an existing VPC, only read, or one of its own.

mod check;
pub(super) mod vpc;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::vpc::OwnVpc;
use super::policy;
use crate::model::{Finding, Policy};

/// Declares a VPC, which is there already or is the network's own, and which of its subnets carry
/// databases.
///
/// It owns the DB subnet group that the databases of all its workspaces share: an account may hold
/// only 50 of them by default (AWS, quotas for Amazon RDS).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NetworkSpec {
    /// The environment: the name of an entry of the agent's configuration, which holds the account,
    /// the region and the role. Workspaces of other environments do not see this object.
    #[schemars(length(min = 1), example = &"production")]
    pub environment: String,
    /// The `Name` tag of an existing VPC, which is only read. Default: the name of the object.
    #[serde(default)]
    #[schemars(length(min = 1), example = &"Shared / Production")]
    pub vpc_name: Option<String>,
    /// A VPC of the network's own, with its subnets: it is made, kept as declared, and has the name of
    /// the object as its `Name` tag. Default: the VPC exists and is only read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vpc: Option<OwnVpc>,
    /// Only subnets with all of these tags carry databases. Default: every subnet of an existing VPC,
    /// and every declared one of the network's own.
    #[serde(default)]
    #[schemars(example = data_tier())]
    pub subnet_tags: BTreeMap<String, String>,
    /// The ids of the subnets that carry databases, where no tags tell them from others; not together
    /// with `subnetTags`. Default: what `subnetTags` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = ["subnet-0123456789abcdef0", "subnet-0fedcba9876543210"])]
    pub subnet_ids: Option<Vec<String>>,
    /// The name of the DB subnet group, for one that has another name already. A group cannot be
    /// renamed: another name is another group. Default: the names of the agent and the object, with a
    /// hyphen between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255), example = &"orders-subnets")]
    pub subnet_group: Option<String>,
    /// How often and how boldly it is reconciled. Default: the default of each field.
    #[serde(default)]
    pub reconcile_policy: Policy,
}

fn data_tier() -> BTreeMap<&'static str, &'static str> {
    BTreeMap::from([("tier", "data")])
}

impl NetworkSpec {
    /// Returns what its meaning gives reason to tell; pointers start at the manifest.
    pub(super) fn check(&self) -> Vec<Finding> {
        let mut found = policy::check_environment(&self.environment);
        if self.vpc_name.as_deref() == Some("") {
            let message = "vpcName is empty";
            found.push(
                Finding::error("/spec/vpcName", "InvalidReference", message)
                    .hint("leave it out to use the name of the object"),
            );
        }
        if let Some(vpc) = &self.vpc {
            if self.vpc_name.is_some() {
                let message = "vpc and vpcName exclude each other";
                found.push(
                    Finding::error("/spec/vpcName", "ExclusiveFields", message)
                        .hint("vpc makes one with the name of the object, vpcName reads one"),
                );
            }
            if self.subnet_ids.is_some() {
                let message = "vpc and subnetIds exclude each other";
                found.push(Finding::error("/spec/subnetIds", "ExclusiveFields", message).hint(
                    "every declared subnet of the VPC carries databases, or those with subnetTags",
                ));
            }
            found.extend(check::check(vpc, &self.subnet_tags));
        }
        found.extend(self.check_subnets());
        found.extend(self.subnet_group.as_deref().and_then(check_group));
        found
    }

    fn check_subnets(&self) -> Option<Finding> {
        let ids = self.subnet_ids.as_ref()?;
        let pointer = "/spec/subnetIds";
        if !self.subnet_tags.is_empty() {
            let message = "subnetIds and subnetTags exclude each other";
            return Some(
                Finding::error(pointer, "SubnetIdsAndTags", message).hint("keep one of them"),
            );
        }
        if ids.is_empty() {
            let message = "a DB subnet group has at least one subnet in each of two zones";
            return Some(Finding::error(pointer, "NoSubnet", message));
        }
        let (at, id) = ids.iter().enumerate().find(|(_, id)| !id.starts_with("subnet-"))?;
        let message = format!("{id} is no id of a subnet");
        Some(
            Finding::error(&format!("{pointer}/{at}"), "InvalidSubnet", message)
                .hint("as in subnet-0123456789abcdef0"),
        )
    }
}

/// Source: the API reference of `CreateDBSubnetGroup`, member `DBSubnetGroupName`.
fn check_group(name: &str) -> Option<Finding> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "._- ".contains(c);
    let is_good = (1..=255).contains(&name.len()) && name.chars().all(allowed);
    let is_good = is_good && !name.eq_ignore_ascii_case("default");
    (!is_good).then(|| {
        let message = format!("\"{name}\" is no name for a DB subnet group of one's own");
        let hint = "1 to 255 letters, digits, spaces, dots, underscores and hyphens; not default";
        Finding::error("/spec/subnetGroup", "InvalidSubnetGroup", message).hint(hint)
    })
}

#[cfg(test)]
mod tests;
