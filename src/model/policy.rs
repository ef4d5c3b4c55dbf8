//! How an object wants to be reconciled: the `reconcilePolicy` of a manifest.

use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Says how often and how boldly an object is reconciled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Policy {
    /// Seconds between two passes when nothing happens, give or take a tenth. What AWS shows of one
    /// resource at a time only, such as the parameters of a group, is read in every third of them, or
    /// after half an hour. Default 300; from 10 to 86400.
    #[schemars(range(min = 10, max = 86400))]
    pub resync_interval_seconds: u32,
    /// Longest wait in seconds after failures, which double the wait from 1 s. Default 900; from 1 to 86400.
    #[schemars(range(min = 1, max = 86400))]
    pub max_backoff_seconds: u32,
    /// Consecutive failed attempts before the object is `Failed` and left alone. Default 10; from 1 to 1000.
    #[schemars(range(min = 1, max = 1000))]
    pub max_retries: u32,
    /// What to do about a change that was made outside Git. Default `revert`.
    pub drift: DriftPolicy,
    /// When a change that reboots, fails over or worse may run. Default `window`.
    pub disruption: DisruptionPolicy,
    /// What happens to cloud resources when the manifest, or the section that declares them, is
    /// removed from Git. Default `retain`. What counts is what Git said before the removal.
    pub deletion: DeletionPolicy,
    /// Field paths that are not compared, for example `database.storage.iops`, `database.tags.CostCenter`
    /// (one tag) or `database.parameters.work_mem` (one parameter). Default none.
    pub ignore: Vec<String>,
}

impl Policy {
    /// Returns the time between two passes when nothing happens.
    pub fn resync_interval(&self) -> SignedDuration {
        SignedDuration::from_secs(i64::from(self.resync_interval_seconds))
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            resync_interval_seconds: 300,
            max_backoff_seconds: 900,
            max_retries: 10,
            drift: DriftPolicy::Revert,
            disruption: DisruptionPolicy::Window,
            deletion: DeletionPolicy::Retain,
            ignore: Vec::new(),
        }
    }
}

/// Says what to do about drift.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DriftPolicy {
    /// Put the declared value back.
    #[default]
    Revert,
    /// Report it and leave it.
    Report,
}

/// Says when a disruptive change may run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum DisruptionPolicy {
    /// In the maintenance window only.
    #[default]
    Window,
    /// At once.
    Immediate,
}

/// Says what removal of a manifest does to what it declared.
///
/// The order is from the most careful to the least.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum DeletionPolicy {
    /// Nothing is deleted: everything stays in AWS, its tag `levelset:owner` says that it was left.
    #[default]
    Retain,
    /// A database is deleted after a final snapshot and a grace period, unless its deletion
    /// protection is on. Its automated backups stay as long as their retention.
    Snapshot,
    /// The same without a final snapshot.
    Delete,
}
