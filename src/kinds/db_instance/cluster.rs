//! The `cluster` part of the `database` section: what an Aurora database has beyond any other.
//!
//! In: the part of a manifest. Out: a [`Cluster`] with its [`Member`]s by name;
//! [`check`](super::check_cluster) finds what it proves wrong.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::spec::{Database, Parameter};

/// Declares the cluster of an Aurora database.
///
/// The fields beside it count for the whole: `sizeClass`, `parameters`, `performanceInsights`,
/// `monitoring`, `caCertificate`, `publiclyAccessible`, `autoMinorVersionUpgrade`,
/// `maintenanceWindow` and `tags` for every member, and all others for the cluster.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Cluster {
    /// The instances: their number, or a mapping with one entry for each, by name. Which of them is
    /// the writer is decided by Aurora. The member `a` of the database `orders` is `orders-a` in
    /// AWS; a number makes `orders-1`, `orders-2` and so on. Replicas that Aurora Auto Scaling or
    /// somebody else adds are left alone. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub members: Option<Members>,
    /// Between how many Aurora capacity units the members of class `db.serverless` scale. Default:
    /// not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serverless: Option<Serverless>,
    /// Parameters of the cluster's own cluster parameter group, as `database.parameters` are of the
    /// members' parameter group. Default: not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<BTreeMap<String, Parameter>>,
    /// The name of a DB cluster parameter group: beside `parameters` that of the cluster's own, for one
    /// that has another name already, otherwise an existing one, which is not managed. Default: the
    /// engine's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameter_group: Option<String>,
    /// Seconds by which Aurora MySQL can be taken back without a restore, 0 to 259200; 0 turns that
    /// off. AWS allows it only where it was on at creation. AWS's default: 0.
    #[schemars(range(max = 259_200))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backtrack_seconds: Option<u32>,
}

/// Declares the instances of a cluster.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Members {
    /// So many alike, named by numbers.
    Count(u32),
    /// One for each entry.
    Named(BTreeMap<String, Member>),
}

/// Declares one instance of a cluster.
///
/// A field that is left out is that of the section, where the section has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Member {
    /// The DB instance class; `db.serverless` for Aurora Serverless v2. Default: `database.sizeClass`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_class: Option<String>,
    /// How soon the member is made the writer when the writer fails, 0 (first) to 15. AWS's
    /// default: 1.
    #[schemars(range(max = 15))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub promotion_tier: Option<u32>,
    /// The Availability Zone, for example `eu-west-1a`. It cannot be changed. Default: AWS chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub availability_zone: Option<String>,
    /// The weekly maintenance window of the member in UTC. Default: `database.maintenanceWindow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maintenance_window: Option<String>,
    /// The DB instance identifier, for an instance that has another name already. Default: the
    /// identifier of the cluster, a hyphen and the name of the member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
}

/// Declares the range of Aurora Serverless v2.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Serverless {
    /// The least Aurora capacity units of a member, in steps of a half; 0 lets an idle one pause.
    #[schemars(range(min = 0, max = 256))]
    pub min_capacity: f64,
    /// The most Aurora capacity units of a member, in steps of a half, at least 1.
    #[schemars(range(min = 1, max = 256))]
    pub max_capacity: f64,
    /// Idle seconds after which a member with `minCapacity: 0` is paused, 300 to 86400. AWS's
    /// default: 300.
    #[schemars(range(min = 300, max = 86_400))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_pause_seconds: Option<u32>,
}

impl Database {
    /// Returns the cluster, if the engine is one of Aurora's; what is not declared is the default.
    pub fn aurora(&self) -> Option<Cluster> {
        let is_aurora = super::engine::Engine::of(&self.engine)?.is_aurora();
        is_aurora.then(|| self.cluster.clone().unwrap_or_default())
    }
}

impl Cluster {
    /// Returns the declared parameters as the field value of a cluster parameter group.
    pub fn parameter_fields(&self) -> Option<BTreeMap<String, Value>> {
        let declared = self.parameters.as_ref()?;
        Some(declared.iter().map(|(name, value)| (name.clone(), value.to_field())).collect())
    }

    /// Returns the members by name, in the order of their names; those of a number in that of the
    /// numbers.
    pub fn named_members(&self) -> Vec<(String, Member)> {
        match &self.members {
            None => numbered(1),
            Some(Members::Count(count)) => numbered(*count),
            Some(Members::Named(members)) => {
                members.iter().map(|(name, member)| (name.clone(), member.clone())).collect()
            }
        }
    }
}

fn numbered(count: u32) -> Vec<(String, Member)> {
    (1..=count.min(super::check_cluster::MOST_MEMBERS))
        .map(|number| (number.to_string(), Member::default()))
        .collect()
}

impl Member {
    /// Returns the identifier of the member of this name, in the spelling that AWS answers.
    pub fn identifier(&self, cluster: &str, name: &str) -> String {
        let given = self.identifier.clone();
        given.unwrap_or_else(|| format!("{cluster}-{name}")).to_ascii_lowercase()
    }
}
