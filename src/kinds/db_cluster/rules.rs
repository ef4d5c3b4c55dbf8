//! What is known about every field of a DB cluster.
//!
//! Sources: the API reference of `ModifyDBCluster`, `DBCluster` and `ClusterPendingModifiedValues`;
//! what disrupts and when AWS applies it: "Modifying an Amazon Aurora DB cluster" in the Aurora User
//! Guide. The reference of `ApplyImmediately` says that *most* changes can be queued, and the guide
//! which of them are: the version and IAM authentication. The storage type has a member among what
//! is pending, so it may be queued too.

use super::RESTORED_FROM;
use crate::model::{Apply, Compare, Disruption, Hold, Rule, Yield};

const BACKING_UP: Hold =
    Hold { status: "backing-up", reason: "AWS takes no change during a backup" };
const OPTIMIZING: Hold = Hold {
    status: "storage-optimization",
    reason: "AWS is optimizing the storage and takes no storage change until then",
};
/// Not a status of AWS: what a pending change of a member's class means for an upgrade.
const MEMBER_PENDING: Hold = Hold {
    status: "member-class-change-pending",
    reason: "AWS upgrades no cluster while the class of a member waits for its window",
};

/// The states in which the cluster can be used but not every field can be changed.
pub(super) const LIMITED: &[&str] = &[BACKING_UP.status, OPTIMIZING.status];

/// See [`MEMBER_PENDING`].
pub(super) const HAS_PENDING_MEMBER: &str = MEMBER_PENDING.status;

const BUSY: &[Hold] = &[BACKING_UP];
const UPGRADE: &[Hold] = &[BACKING_UP, MEMBER_PENDING];
const STORAGE: &[Hold] = &[BACKING_UP, OPTIMIZING];

const OF_BACKUP: &[Yield] = &[Yield {
    member: "AwsBackupRecoveryPointArn",
    code: "ManagedByAwsBackup",
    reason: "AWS Backup manages the continuous backups of this cluster and owns this field",
}];

const fn rule(field: &'static str, member: &'static str, parameter: &'static str) -> Rule {
    Rule::new(field, member, parameter).holds(BUSY)
}

/// A field whose member and parameter have one name.
const fn plain(field: &'static str, member: &'static str) -> Rule {
    rule(field, member, member)
}

/// One of the settings of Aurora Serverless v2, which are sent together.
const fn serverless(field: &'static str, member: &'static str) -> Rule {
    rule(field, member, "ServerlessV2ScalingConfiguration")
}

/// The rules, in the order in which reports show them.
pub(super) const RULES: &[Rule] = &[
    plain("engine", "Engine").compare(Compare::FoldCase).immutable("EngineImmutable").always(),
    plain("version", "EngineVersion")
        .pending("EngineVersion")
        .applies(Apply::Queued)
        .compare(Compare::Version { engine: "engine", allow_major: "allowMajorVersionUpgrade" })
        .disrupts(Disruption::Reboot)
        .holds(UPGRADE)
        .always(),
    plain("allowMajorVersionUpgrade", "AllowMajorVersionUpgrade").compare(Compare::WriteOnly),
    plain("cluster.members", "DBClusterMembers").compare(Compare::WriteOnly),
    serverless("cluster.serverless.minCapacity", "ServerlessV2ScalingConfiguration.MinCapacity"),
    serverless("cluster.serverless.maxCapacity", "ServerlessV2ScalingConfiguration.MaxCapacity"),
    serverless(
        "cluster.serverless.autoPauseSeconds",
        "ServerlessV2ScalingConfiguration.SecondsUntilAutoPause",
    ),
    plain("storage.type", "StorageType")
        .pending("StorageType")
        .applies(Apply::Queued)
        .compare(Compare::FoldCase)
        .unsaid("aurora")
        .cool_down("aurora-iopt1", "IOOptimizedNextAllowedModificationTime")
        .holds(STORAGE),
    plain("storage.encrypted", "StorageEncrypted").immutable("EncryptionImmutable"),
    plain("storage.kmsKey", "KmsKeyId").compare(Compare::ArnTail).immutable("KmsKeyImmutable"),
    plain("backups.retentionDays", "BackupRetentionPeriod")
        .pending("BackupRetentionPeriod")
        .yields(OF_BACKUP),
    plain("backups.window", "PreferredBackupWindow").compare(Compare::Window).yields(OF_BACKUP),
    plain("backups.copyTagsToSnapshots", "CopyTagsToSnapshot"),
    plain("cluster.backtrackSeconds", "BacktrackWindow"),
    plain("maintenanceWindow", "PreferredMaintenanceWindow").compare(Compare::Window),
    rule("cluster.parameterGroup", "DBClusterParameterGroup", "DBClusterParameterGroupName")
        .compare(Compare::FoldCase)
        .with("version"),
    plain("parameterGroup", "DBInstanceParameterGroupName").compare(Compare::WriteOnly),
    plain("deletionProtection", "DeletionProtection").security(),
    rule("subnetGroup", "DBSubnetGroup", "DBSubnetGroupName")
        .compare(Compare::FoldCase)
        .immutable("SubnetGroupImmutable"),
    rule("securityGroups", "VpcSecurityGroups", "VpcSecurityGroupIds")
        .compare(Compare::SetOf("VpcSecurityGroupId"))
        .security(),
    plain("port", "Port").disrupts(Disruption::Reboot),
    plain("databaseName", "DatabaseName")
        .compare(Compare::FoldCase)
        .immutable("DatabaseNameImmutable"),
    plain("masterUsername", "MasterUsername")
        .compare(Compare::FoldCase)
        .immutable("MasterUsernameImmutable"),
    rule("manageMasterPassword", "MasterUserSecret", "ManageMasterUserPassword")
        .compare(Compare::Presence),
    rule(
        "iamAuthentication",
        "IAMDatabaseAuthenticationEnabled",
        "EnableIAMDatabaseAuthentication",
    )
    .pending("IAMDatabaseAuthenticationEnabled")
    .applies(Apply::Queued),
    rule("logExports", "EnabledCloudwatchLogsExports", "CloudwatchLogsExportConfiguration")
        .pending("PendingCloudwatchLogsExports")
        .compare(Compare::SetWithQueue {
            enable: "LogTypesToEnable",
            disable: "LogTypesToDisable",
        }),
    plain("restoreFrom.snapshot", "SnapshotIdentifier")
        .compare(Compare::CreationTag(RESTORED_FROM))
        .create_only(),
    rule("tags", "TagList", "Tags").compare(Compare::Tags),
];
