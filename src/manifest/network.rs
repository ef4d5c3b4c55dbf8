//! The `spec` of a `Network`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy;
use crate::model::{Finding, Policy};

/// Declares an existing VPC and which of its subnets carry databases.
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
    /// The VPC's `Name` tag. Default: the name of the object.
    #[serde(default)]
    #[schemars(length(min = 1), example = &"Shared / Production")]
    pub vpc_name: Option<String>,
    /// Only subnets with all of these tags carry databases. Default: every subnet of the VPC.
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
        found
    }
}
