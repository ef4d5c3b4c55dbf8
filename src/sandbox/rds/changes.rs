//! What can be changed about an instance, as a table: when a change takes effect and how.
//!
//! Source: "Settings for DB instances" in the Amazon RDS User Guide and the API reference of
//! `ModifyDBInstance`.

use std::time::Duration;

use crate::sandbox::settings::Durations;

/// States how one setting changes.
#[derive(Debug)]
pub(super) struct Change {
    /// The parameter of the modify call.
    pub(super) parameter: &'static str,
    /// The name under which it is kept, and shown while pending.
    pub(super) key: &'static str,
    /// When it takes effect.
    pub(super) when: When,
    /// What happens then.
    pub(super) work: Work,
    /// True when `PendingModifiedValues` has a member for it.
    pub(super) shown: bool,
}

/// Says when a change takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// With the answer, whatever `ApplyImmediately` says.
    AtOnce,
    /// As soon as possible, whatever `ApplyImmediately` says.
    Soon,
    /// In the maintenance window, unless `ApplyImmediately` is set.
    Window,
    /// Soon from one number of days to another; turning backups on or off waits for the window.
    Retention,
}

/// Names the work that a change takes, in the order in which RDS does several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    Upgrade,
    Resize,
    Scale,
    Modify,
    Move,
    Restart,
    Authentication,
    Monitoring,
    Logs,
    Password,
    Rename,
}

impl Work {
    /// Returns the status that shows it.
    pub(super) fn status(self) -> &'static str {
        match self {
            Self::Upgrade => "upgrading",
            Self::Resize | Self::Scale | Self::Modify => "modifying",
            Self::Move => "moving-to-vpc",
            Self::Restart => "rebooting",
            Self::Authentication => "configuring-iam-database-auth",
            Self::Monitoring => "configuring-enhanced-monitoring",
            Self::Logs => "configuring-log-exports",
            Self::Password => "resetting-master-credentials",
            Self::Rename => "renaming",
        }
    }

    /// Tells whether the instance restarts.
    pub(super) fn restarts(self) -> bool {
        matches!(self, Self::Upgrade | Self::Scale | Self::Move | Self::Restart | Self::Rename)
    }

    /// Returns how long it takes, before jitter.
    pub(super) fn takes(self, durations: &Durations) -> Duration {
        match self {
            Self::Upgrade => durations.upgrading,
            Self::Resize | Self::Scale | Self::Modify | Self::Move => durations.modifying,
            Self::Restart | Self::Rename => durations.rebooting,
            Self::Authentication | Self::Monitoring | Self::Logs | Self::Password => {
                durations.configuring
            }
        }
    }
}

const fn at_once(parameter: &'static str) -> Change {
    Change { parameter, key: parameter, when: When::AtOnce, work: Work::Modify, shown: false }
}

const fn window(parameter: &'static str, work: Work) -> Change {
    Change { parameter, key: parameter, when: When::Window, work, shown: true }
}

const fn soon(parameter: &'static str, key: &'static str, work: Work, shown: bool) -> Change {
    Change { parameter, key, when: When::Soon, work, shown }
}

/// Every setting that a modify call can change.
pub(super) const CHANGES: &[Change] = &[
    at_once("AutoMinorVersionUpgrade"),
    at_once("CopyTagsToSnapshot"),
    at_once("DBParameterGroupName"),
    at_once("DatabaseInsightsMode"),
    at_once("DeletionProtection"),
    at_once("EngineLifecycleSupport"),
    at_once("MaxAllocatedStorage"),
    at_once("PreferredBackupWindow"),
    at_once("PreferredMaintenanceWindow"),
    at_once("PromotionTier"),
    at_once("PubliclyAccessible"),
    at_once("VpcSecurityGroupIds"),
    soon("EnablePerformanceInsights", "PerformanceInsightsEnabled", Work::Modify, false),
    soon("PerformanceInsightsKMSKeyId", "PerformanceInsightsKMSKeyId", Work::Modify, false),
    soon(
        "PerformanceInsightsRetentionPeriod",
        "PerformanceInsightsRetentionPeriod",
        Work::Modify,
        false,
    ),
    soon("MonitoringInterval", "MonitoringInterval", Work::Monitoring, false),
    soon("MonitoringRoleArn", "MonitoringRoleArn", Work::Monitoring, false),
    soon("CloudwatchLogsExportConfiguration", "PendingCloudwatchLogsExports", Work::Logs, true),
    soon("MasterUserPassword", "MasterUserPassword", Work::Password, true),
    soon("ManageMasterUserPassword", "ManageMasterUserPassword", Work::Password, false),
    soon("RotateMasterUserPassword", "RotateMasterUserPassword", Work::Password, false),
    soon("DBPortNumber", "Port", Work::Restart, true),
    Change {
        parameter: "BackupRetentionPeriod",
        key: "BackupRetentionPeriod",
        when: When::Retention,
        work: Work::Modify,
        shown: true,
    },
    Change {
        parameter: "EnableIAMDatabaseAuthentication",
        key: "IAMDatabaseAuthenticationEnabled",
        when: When::Window,
        work: Work::Authentication,
        shown: true,
    },
    Change {
        parameter: "NewDBInstanceIdentifier",
        key: "DBInstanceIdentifier",
        when: When::Window,
        work: Work::Rename,
        shown: true,
    },
    window("EngineVersion", Work::Upgrade),
    window("AllocatedStorage", Work::Resize),
    window("Iops", Work::Resize),
    window("StorageThroughput", Work::Resize),
    window("StorageType", Work::Resize),
    window("DBInstanceClass", Work::Scale),
    window("CACertificateIdentifier", Work::Scale),
    window("DedicatedLogVolume", Work::Scale),
    window("LicenseModel", Work::Modify),
    window("MultiAZ", Work::Modify),
    window("DBSubnetGroupName", Work::Move),
];

/// The group that an upgrade to another major version brings along; kept with the version.
pub(super) const UPGRADE_GROUP: &str = "UpgradeDBParameterGroupName";

/// Returns what is known of a key.
pub(super) fn by_key(key: &str) -> Option<&'static Change> {
    let key = if key == UPGRADE_GROUP { "EngineVersion" } else { key };
    CHANGES.iter().find(|change| change.key == key)
}

/// Tells whether `PendingModifiedValues` shows a key.
pub(super) fn is_shown(key: &str) -> bool {
    key != UPGRADE_GROUP && by_key(key).is_some_and(|change| change.shown)
}

/// Tells whether a key belongs to the storage.
pub(super) fn is_storage(key: &str) -> bool {
    by_key(key).is_some_and(|change| change.work == Work::Resize)
}
