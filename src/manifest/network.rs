//! The `spec` of a `Network`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Policy;

/// Declares an existing VPC and which of its subnets carry databases.
///
/// It owns the DB subnet group that the databases of all its workspaces share: an account may hold
/// only 50 of them by default (AWS, quotas for Amazon RDS).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NetworkSpec {
    /// The environment: an entry of the agent's configuration that holds account and region.
    pub environment: String,
    /// The VPC's `Name` tag. Default: the name of the object.
    #[serde(default)]
    pub vpc_name: Option<String>,
    /// Only subnets with all of these tags carry databases. Default: every subnet of the VPC.
    #[serde(default)]
    pub subnet_tags: BTreeMap<String, String>,
    /// How it is reconciled.
    #[serde(default)]
    pub reconcile_policy: Policy,
}
