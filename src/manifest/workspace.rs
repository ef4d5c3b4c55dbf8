//! The `spec` of a `Workspace`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kinds::db_instance::spec::Database;
use crate::model::Policy;

/// Declares one environment of one team.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkspaceSpec {
    /// The environment: an entry of the agent's configuration that holds account and region.
    pub environment: String,
    /// What the workspace consists of.
    #[serde(default)]
    pub resources: Resources,
    /// How it is reconciled.
    #[serde(default)]
    pub reconcile_policy: Policy,
}

/// Lists the resources of a workspace; what is left out is not managed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Resources {
    /// A relational database.
    pub database: Option<Database>,
    /// Where the workspace lives.
    pub network: Option<NetworkSection>,
}

/// Places a workspace in a network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NetworkSection {
    /// The name of a `Network` object in the repository, or else the `Name` tag of an existing VPC.
    pub vpc_ref: String,
}
