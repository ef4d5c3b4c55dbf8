//! Names and types on the wire. A member means the same in every operation of a service.

/// Parameters that are whole numbers.
pub(super) const INTEGERS: &[&str] = &[
    "AllocatedStorage",
    "BacktrackWindow",
    "BackupRetentionPeriod",
    "DBPortNumber",
    "DurationSeconds",
    "FromPort",
    "Iops",
    "MaxAllocatedStorage",
    "MaxItems",
    "MaxRecords",
    "MaxResults",
    "MaxSessionDuration",
    "MonitoringInterval",
    "PerformanceInsightsRetentionPeriod",
    "Port",
    "PromotionTier",
    "SecondsUntilAutoPause",
    "StorageThroughput",
    "ToPort",
];

/// Parameters that are numbers with a fraction.
pub(super) const NUMBERS: &[&str] = &["MaxCapacity", "MinCapacity"];

/// Parameters that are true or false.
pub(super) const BOOLEANS: &[&str] = &[
    "AllowMajorVersionUpgrade",
    "ApplyImmediately",
    "AutoMinorVersionUpgrade",
    "CertificateRotationRestart",
    "CopyTagsToSnapshot",
    "DedicatedLogVolume",
    "DeleteAutomatedBackups",
    "DeletionProtection",
    "DryRun",
    "EnableIAMDatabaseAuthentication",
    "EnablePerformanceInsights",
    "ForceFailover",
    "IsModifiable",
    "ManageMasterUserPassword",
    "MultiAZ",
    "PubliclyAccessible",
    "ResetAllParameters",
    "RotateMasterUserPassword",
    "SkipFinalSnapshot",
    "StorageEncrypted",
];

/// Parameters of the Query protocol that are lists: `Tags.Tag.1`, `TagKeys.member.1`.
pub(super) const LISTS: &[&str] = &[
    "DisableLogTypes",
    "EnableCloudwatchLogsExports",
    "EnableLogTypes",
    "Filter",
    "Filters",
    "Parameters",
    "SubnetIds",
    "TagKeys",
    "Tags",
    "Values",
    "VpcSecurityGroupIds",
];

/// Parameters of EC2 that are lists, on the wire and in the API: `Filter.1.Value.1`.
pub(super) const EC2_LISTS: &[(&str, &str)] = &[
    ("Filter", "Filters"),
    ("GroupId", "GroupIds"),
    ("Groups", "UserIdGroupPairs"),
    ("ResourceId", "Resources"),
    ("SubnetId", "SubnetIds"),
    ("Tag", "Tags"),
    ("TagSpecification", "TagSpecifications"),
    ("Value", "Values"),
    ("VpcId", "VpcIds"),
];

/// Parameters of EC2 that are called otherwise in the API.
pub(super) const EC2_PARAMETERS: &[(&str, &str)] = &[("GroupDescription", "Description")];

/// What the items of a list are called in answers of the Query protocol; `member` if not here.
pub(super) const ELEMENTS: &[(&str, &str)] = &[
    ("AssociatedRoles", "DBInstanceRole"),
    ("AvailabilityZones", "AvailabilityZone"),
    ("DBClusterMembers", "DBClusterMember"),
    ("DBClusterParameterGroups", "DBClusterParameterGroup"),
    ("DBClusters", "DBCluster"),
    ("DBInstances", "DBInstance"),
    ("DBParameterGroups", "DBParameterGroup"),
    ("DBSecurityGroups", "DBSecurityGroup"),
    ("DBSnapshots", "DBSnapshot"),
    ("DBSubnetGroups", "DBSubnetGroup"),
    ("DomainMemberships", "DomainMembership"),
    ("OptionGroupMemberships", "OptionGroupMembership"),
    ("Parameters", "Parameter"),
    ("ReadReplicaDBInstanceIdentifiers", "ReadReplicaDBInstanceIdentifier"),
    ("Subnets", "Subnet"),
    ("TagList", "Tag"),
    ("VpcSecurityGroups", "VpcSecurityGroupMembership"),
];

/// Members of EC2 that are not just their API name with a small first letter.
pub(super) const EC2_NAMES: &[(&str, &str)] = &[
    ("SecurityGroups", "securityGroupInfo"),
    ("Subnets", "subnetSet"),
    ("Tags", "tagSet"),
    ("UserIdGroupPairs", "groups"),
    ("Vpcs", "vpcSet"),
];

/// A member of EC2 that is called so on the wire where another one stands beside it.
pub(super) const EC2_NAME_BESIDE: (&str, &str, &str) =
    ("Description", "GroupName", "groupDescription");

/// Members that are policy documents: JSON here, percent-encoded JSON text on the wire.
pub(super) const DOCUMENTS: &[&str] = &["AssumeRolePolicyDocument", "PolicyDocument"];

/// Looks a name up.
pub(super) fn find(table: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    table.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
}
