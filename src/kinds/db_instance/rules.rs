//! What is known about every field of a DB instance.
//!
//! Sources: the API reference of `ModifyDBInstance`, `DBInstance` and `PendingModifiedValues`; what
//! disrupts and when AWS applies it: "Settings for DB instances" in the RDS User Guide.

use super::RESTORED_FROM;
use crate::model::{Apply, Compare, Disruption, Hold, Rule, Yield};

const FULL: Hold = Hold {
    status: "storage-full",
    reason: "the storage is full, and until it has grown AWS takes no other change",
};
const BACKING_UP: Hold =
    Hold { status: "backing-up", reason: "AWS takes no change during a backup" };
const MONITORING: Hold = Hold {
    status: "configuring-enhanced-monitoring",
    reason: "AWS is changing Enhanced Monitoring and takes no other change",
};
const IAM: Hold = Hold {
    status: "configuring-iam-database-auth",
    reason: "AWS is changing IAM authentication and takes no other change",
};
const LOGS: Hold = Hold {
    status: "configuring-log-exports",
    reason: "AWS is changing the log exports and takes no other change",
};
const OPTIMIZING: Hold = Hold {
    status: "storage-optimization",
    reason: "AWS is optimizing the storage and takes no storage change for at least six hours",
};
const INITIALIZING: Hold = Hold {
    status: "storage-initialization",
    reason: "AWS is loading the storage from a snapshot and takes no storage change until then",
};

/// The states in which the instance can be used but not every field can be changed.
pub(super) const LIMITED: &[&str] = &[
    FULL.status,
    BACKING_UP.status,
    MONITORING.status,
    IAM.status,
    LOGS.status,
    OPTIMIZING.status,
    INITIALIZING.status,
];

/// Holds of every field that is not storage.
const BUSY: &[Hold] = &[FULL, BACKING_UP, MONITORING, IAM, LOGS];
/// Holds of the storage, which alone can be changed when it is full.
const STORAGE: &[Hold] = &[OPTIMIZING, INITIALIZING, BACKING_UP, MONITORING, IAM, LOGS];

const CLUSTER: Yield = Yield {
    member: "DBClusterIdentifier",
    code: "FieldBelongsToCluster",
    reason: "the instance is a member of a DB cluster, which owns this field",
};
const OF_CLUSTER: &[Yield] = &[CLUSTER];
const OF_BACKUP: &[Yield] = &[
    CLUSTER,
    Yield {
        member: "AwsBackupRecoveryPointArn",
        code: "ManagedByAwsBackup",
        reason: "AWS Backup manages the continuous backups of this database and owns this field",
    },
];

const fn rule(field: &'static str, member: &'static str, parameter: &'static str) -> Rule {
    Rule::new(field, member, parameter).holds(BUSY)
}

/// A field whose member and parameter have one name.
const fn plain(field: &'static str, member: &'static str) -> Rule {
    rule(field, member, member)
}

/// A field that AWS queues under the name of its member.
const fn queued(field: &'static str, member: &'static str) -> Rule {
    plain(field, member).pending(member).applies(Apply::Queued)
}

const fn storage(field: &'static str, member: &'static str) -> Rule {
    queued(field, member).disrupts(Disruption::StorageLock).holds(STORAGE).yields(OF_CLUSTER)
}

/// The rules, in the order in which reports show them.
pub(super) const RULES: &[Rule] = &[
    plain("engine", "Engine").compare(Compare::FoldCase).immutable("EngineImmutable").always(),
    queued("version", "EngineVersion")
        .compare(Compare::Version { engine: "engine", allow_major: "allowMajorVersionUpgrade" })
        .disrupts(Disruption::Reboot)
        .yields(OF_CLUSTER)
        .always(),
    plain("allowMajorVersionUpgrade", "AllowMajorVersionUpgrade").compare(Compare::WriteOnly),
    queued("sizeClass", "DBInstanceClass")
        .compare(Compare::FoldCase)
        .disrupts(Disruption::Reboot)
        .always(),
    // Until the cluster is settled, nobody knows whose turn it is to restart.
    plain("cluster", "DBClusterIdentifier")
        .compare(Compare::FoldCase)
        .immutable("ClusterImmutable")
        .with("sizeClass"),
    plain("promotionTier", "PromotionTier"),
    storage("storage.type", "StorageType").compare(Compare::FoldCase),
    storage("storage.sizeGiB", "AllocatedStorage")
        .compare(Compare::Storage {
            ceiling: "storage.maxSizeGiB",
            ceiling_member: "MaxAllocatedStorage",
        })
        .cures(FULL.status)
        .always(),
    plain("storage.maxSizeGiB", "MaxAllocatedStorage")
        .compare(Compare::Ceiling { size: "AllocatedStorage" })
        .yields(OF_CLUSTER),
    storage("storage.iops", "Iops").compare(Compare::Rounded),
    storage("storage.throughputMiBps", "StorageThroughput"),
    plain("storage.encrypted", "StorageEncrypted").immutable("EncryptionImmutable"),
    plain("storage.kmsKey", "KmsKeyId").compare(Compare::ArnTail).immutable("KmsKeyImmutable"),
    queued("multiAz", "MultiAZ").disrupts(Disruption::Brief).yields(OF_CLUSTER),
    plain("availabilityZone", "AvailabilityZone")
        .compare(Compare::FoldCase)
        .immutable("AvailabilityZoneImmutable"),
    plain("backups.retentionDays", "BackupRetentionPeriod")
        .pending("BackupRetentionPeriod")
        .yields(OF_BACKUP),
    plain("backups.window", "PreferredBackupWindow").compare(Compare::Window).yields(OF_BACKUP),
    plain("backups.copyTagsToSnapshots", "CopyTagsToSnapshot").yields(OF_CLUSTER),
    plain("maintenanceWindow", "PreferredMaintenanceWindow").compare(Compare::Window),
    rule("parameterGroup", "DBParameterGroups", "DBParameterGroupName")
        .compare(Compare::Membership {
            name: "DBParameterGroupName",
            status: "ParameterApplyStatus",
        })
        .with("version"),
    rule("optionGroup", "OptionGroupMemberships", "OptionGroupName")
        .compare(Compare::Membership { name: "OptionGroupName", status: "Status" })
        .applies(Apply::Queued),
    plain("deletionProtection", "DeletionProtection").yields(OF_CLUSTER).security(),
    plain("publiclyAccessible", "PubliclyAccessible").security(),
    rule("subnetGroup", "DBSubnetGroup.DBSubnetGroupName", "DBSubnetGroupName")
        .compare(Compare::FoldCase)
        .immutable("SubnetGroupImmutable"),
    rule("securityGroups", "VpcSecurityGroups", "VpcSecurityGroupIds")
        .compare(Compare::SetOf("VpcSecurityGroupId"))
        .yields(OF_CLUSTER)
        .security(),
    rule("port", "Endpoint.Port", "DBPortNumber")
        .pending("Port")
        .disrupts(Disruption::Reboot)
        .yields(OF_CLUSTER),
    rule("databaseName", "DBName", "DBName")
        .compare(Compare::FoldCase)
        .immutable("DatabaseNameImmutable"),
    plain("masterUsername", "MasterUsername")
        .compare(Compare::FoldCase)
        .immutable("MasterUsernameImmutable"),
    rule("manageMasterPassword", "MasterUserSecret", "ManageMasterUserPassword")
        .compare(Compare::Presence)
        .yields(OF_CLUSTER),
    rule(
        "iamAuthentication",
        "IAMDatabaseAuthenticationEnabled",
        "EnableIAMDatabaseAuthentication",
    )
    .pending("IAMDatabaseAuthenticationEnabled")
    .applies(Apply::Queued)
    .yields(OF_CLUSTER),
    plain("autoMinorVersionUpgrade", "AutoMinorVersionUpgrade"),
    plain("caCertificate", "CACertificateIdentifier")
        .pending("CACertificateIdentifier")
        .compare(Compare::Certificate)
        .disrupts(Disruption::Reboot)
        .applies(Apply::Window),
    rule(
        "performanceInsights.enabled",
        "PerformanceInsightsEnabled",
        "EnablePerformanceInsights",
    ),
    plain("performanceInsights.retentionDays", "PerformanceInsightsRetentionPeriod")
        .relevant("PerformanceInsightsEnabled"),
    plain("performanceInsights.kmsKey", "PerformanceInsightsKMSKeyId")
        .compare(Compare::ArnTail)
        .immutable("PerformanceInsightsKeyImmutable")
        .relevant("PerformanceInsightsEnabled"),
    plain("monitoring.intervalSeconds", "MonitoringInterval"),
    plain("monitoring.roleArn", "MonitoringRoleArn").relevant("MonitoringInterval"),
    rule("logExports", "EnabledCloudwatchLogsExports", "CloudwatchLogsExportConfiguration")
        .pending("PendingCloudwatchLogsExports")
        .compare(Compare::SetWithQueue {
            enable: "LogTypesToEnable",
            disable: "LogTypesToDisable",
        }),
    queued("licenseModel", "LicenseModel")
        .compare(Compare::FoldCase)
        .disrupts(Disruption::Reboot),
    plain("restoreFrom.snapshot", "DBSnapshotIdentifier")
        .compare(Compare::CreationTag(RESTORED_FROM))
        .create_only(),
    rule("tags", "TagList", "Tags").compare(Compare::Tags),
];
