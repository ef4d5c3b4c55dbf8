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
            found.extend(check::check(vpc, &self.subnet_tags));
        }
        found
    }
}

#[cfg(test)]
mod tests;
