//! Calls of RDS DB clusters to the SDK, and its answers to JSON.
//!
//! The tables name every parameter and member of the API, save the one that carries a password and
//! the structures of what is not made here: Serverless v1, RDS Custom, roles of features.

use aws_sdk_rds::operation::describe_db_clusters::{
    DescribeDbClustersOutput, builders::DescribeDBClustersFluentBuilder,
};
use aws_sdk_rds::operation::create_db_cluster::{
    CreateDbClusterOutput, builders::CreateDBClusterFluentBuilder,
};
use aws_sdk_rds::operation::modify_db_cluster::{
    ModifyDbClusterOutput, builders::ModifyDBClusterFluentBuilder,
};
use aws_sdk_rds::operation::delete_db_cluster::{
    DeleteDbClusterOutput, builders::DeleteDBClusterFluentBuilder,
};
use aws_sdk_rds::operation::restore_db_cluster_from_snapshot::{
    RestoreDbClusterFromSnapshotOutput, builders::RestoreDBClusterFromSnapshotFluentBuilder,
};
use aws_sdk_rds::types::builders::ServerlessV2ScalingConfigurationBuilder;
use aws_sdk_rds::types::{
    ClusterPendingModifiedValues, ClusterScalabilityType, DbCluster, DbClusterMember,
    DbClusterOptionGroupStatus, DbClusterRole, DbClusterStatusInfo, LimitlessDatabase,
    LimitlessDatabaseStatus, LocalWriteForwardingStatus, RdsCustomClusterConfiguration,
    ScalingConfigurationInfo, ServerlessV2ScalingConfiguration,
    ServerlessV2ScalingConfigurationInfo, WriteForwardingStatus,
};
use serde_json::Value;

use crate::kinds::sdk::{Clients, Failure, ask, enumerations, masked, members, parameters, rds};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    let client = &clients.rds;
    match &*call.operation {
        "DescribeDBClusters" => ask!(client.describe_db_clusters(), call),
        "DescribeDBInstances" => ask!(client.describe_db_instances(), call),
        "CreateDBCluster" => ask!(client.create_db_cluster(), call),
        "ModifyDBCluster" => ask!(client.modify_db_cluster(), call),
        "DeleteDBCluster" => ask!(client.delete_db_cluster(), call),
        "RestoreDBClusterFromSnapshot" => ask!(client.restore_db_cluster_from_snapshot(), call),
        _ => rds::send_tags(clients, call).await,
    }
}

parameters!(DescribeDBClustersFluentBuilder {
    DBClusterIdentifier: set_db_cluster_identifier, Filters: set_filters,
    MaxRecords: set_max_records, Marker: set_marker, IncludeShared: set_include_shared,
});
parameters!(CreateDBClusterFluentBuilder {
    AvailabilityZones: set_availability_zones, BackupRetentionPeriod: set_backup_retention_period,
    CharacterSetName: set_character_set_name, DatabaseName: set_database_name,
    DBClusterIdentifier: set_db_cluster_identifier,
    DBClusterParameterGroupName: set_db_cluster_parameter_group_name,
    VpcSecurityGroupIds: set_vpc_security_group_ids, DBSubnetGroupName: set_db_subnet_group_name,
    Engine: set_engine, EngineVersion: set_engine_version, Port: set_port,
    MasterUsername: set_master_username, OptionGroupName: set_option_group_name,
    PreferredBackupWindow: set_preferred_backup_window,
    PreferredMaintenanceWindow: set_preferred_maintenance_window,
    ReplicationSourceIdentifier: set_replication_source_identifier, Tags: set_tags,
    StorageEncrypted: set_storage_encrypted, KmsKeyId: set_kms_key_id,
    EnableIAMDatabaseAuthentication: set_enable_iam_database_authentication,
    BacktrackWindow: set_backtrack_window,
    EnableCloudwatchLogsExports: set_enable_cloudwatch_logs_exports, EngineMode: set_engine_mode,
    DBClusterInstanceClass: set_db_cluster_instance_class, AllocatedStorage: set_allocated_storage,
    StorageType: set_storage_type, Iops: set_iops, PubliclyAccessible: set_publicly_accessible,
    AutoMinorVersionUpgrade: set_auto_minor_version_upgrade,
    DeletionProtection: set_deletion_protection,
    GlobalClusterIdentifier: set_global_cluster_identifier,
    EnableHttpEndpoint: set_enable_http_endpoint, CopyTagsToSnapshot: set_copy_tags_to_snapshot,
    Domain: set_domain, DomainIAMRoleName: set_domain_iam_role_name,
    EnableGlobalWriteForwarding: set_enable_global_write_forwarding, NetworkType: set_network_type,
    ServerlessV2ScalingConfiguration: set_serverless_v2_scaling_configuration,
    MonitoringInterval: set_monitoring_interval, MonitoringRoleArn: set_monitoring_role_arn,
    DatabaseInsightsMode: set_database_insights_mode,
    EnablePerformanceInsights: set_enable_performance_insights,
    PerformanceInsightsKMSKeyId: set_performance_insights_kms_key_id,
    PerformanceInsightsRetentionPeriod: set_performance_insights_retention_period,
    EnableLimitlessDatabase: set_enable_limitless_database,
    ClusterScalabilityType: set_cluster_scalability_type, DBSystemId: set_db_system_id,
    ManageMasterUserPassword: set_manage_master_user_password,
    EnableLocalWriteForwarding: set_enable_local_write_forwarding,
    MasterUserSecretKmsKeyId: set_master_user_secret_kms_key_id,
    CACertificateIdentifier: set_ca_certificate_identifier,
    EngineLifecycleSupport: set_engine_lifecycle_support, TagSpecifications: set_tag_specifications,
    MasterUserAuthenticationType: set_master_user_authentication_type,
    WithExpressConfiguration: set_with_express_configuration,
});
parameters!(ModifyDBClusterFluentBuilder {
    DBClusterIdentifier: set_db_cluster_identifier,
    NewDBClusterIdentifier: set_new_db_cluster_identifier, ApplyImmediately: set_apply_immediately,
    BackupRetentionPeriod: set_backup_retention_period,
    DBClusterParameterGroupName: set_db_cluster_parameter_group_name,
    VpcSecurityGroupIds: set_vpc_security_group_ids, Port: set_port,
    OptionGroupName: set_option_group_name, PreferredBackupWindow: set_preferred_backup_window,
    PreferredMaintenanceWindow: set_preferred_maintenance_window,
    EnableIAMDatabaseAuthentication: set_enable_iam_database_authentication,
    BacktrackWindow: set_backtrack_window,
    CloudwatchLogsExportConfiguration: set_cloudwatch_logs_export_configuration,
    EngineVersion: set_engine_version, AllowMajorVersionUpgrade: set_allow_major_version_upgrade,
    DBInstanceParameterGroupName: set_db_instance_parameter_group_name, Domain: set_domain,
    DomainIAMRoleName: set_domain_iam_role_name, DeletionProtection: set_deletion_protection,
    EnableHttpEndpoint: set_enable_http_endpoint, CopyTagsToSnapshot: set_copy_tags_to_snapshot,
    EnableGlobalWriteForwarding: set_enable_global_write_forwarding,
    DBClusterInstanceClass: set_db_cluster_instance_class, AllocatedStorage: set_allocated_storage,
    StorageType: set_storage_type, Iops: set_iops,
    AutoMinorVersionUpgrade: set_auto_minor_version_upgrade, NetworkType: set_network_type,
    ServerlessV2ScalingConfiguration: set_serverless_v2_scaling_configuration,
    MonitoringInterval: set_monitoring_interval, MonitoringRoleArn: set_monitoring_role_arn,
    DatabaseInsightsMode: set_database_insights_mode,
    EnablePerformanceInsights: set_enable_performance_insights,
    PerformanceInsightsKMSKeyId: set_performance_insights_kms_key_id,
    PerformanceInsightsRetentionPeriod: set_performance_insights_retention_period,
    ManageMasterUserPassword: set_manage_master_user_password,
    RotateMasterUserPassword: set_rotate_master_user_password,
    EnableLocalWriteForwarding: set_enable_local_write_forwarding,
    MasterUserSecretKmsKeyId: set_master_user_secret_kms_key_id, EngineMode: set_engine_mode,
    AllowEngineModeChange: set_allow_engine_mode_change,
    AwsBackupRecoveryPointArn: set_aws_backup_recovery_point_arn,
    EnableLimitlessDatabase: set_enable_limitless_database,
    CACertificateIdentifier: set_ca_certificate_identifier,
    MasterUserAuthenticationType: set_master_user_authentication_type,
    EngineLifecycleSupport: set_engine_lifecycle_support,
});
parameters!(DeleteDBClusterFluentBuilder {
    DBClusterIdentifier: set_db_cluster_identifier, SkipFinalSnapshot: set_skip_final_snapshot,
    FinalDBSnapshotIdentifier: set_final_db_snapshot_identifier,
    DeleteAutomatedBackups: set_delete_automated_backups,
});
parameters!(RestoreDBClusterFromSnapshotFluentBuilder {
    AvailabilityZones: set_availability_zones, DBClusterIdentifier: set_db_cluster_identifier,
    SnapshotIdentifier: set_snapshot_identifier, Engine: set_engine,
    EngineVersion: set_engine_version, Port: set_port, DBSubnetGroupName: set_db_subnet_group_name,
    DatabaseName: set_database_name, OptionGroupName: set_option_group_name,
    VpcSecurityGroupIds: set_vpc_security_group_ids, Tags: set_tags, KmsKeyId: set_kms_key_id,
    EnableIAMDatabaseAuthentication: set_enable_iam_database_authentication,
    BacktrackWindow: set_backtrack_window,
    EnableCloudwatchLogsExports: set_enable_cloudwatch_logs_exports, EngineMode: set_engine_mode,
    DBClusterParameterGroupName: set_db_cluster_parameter_group_name,
    DeletionProtection: set_deletion_protection, CopyTagsToSnapshot: set_copy_tags_to_snapshot,
    Domain: set_domain, DomainIAMRoleName: set_domain_iam_role_name,
    DBClusterInstanceClass: set_db_cluster_instance_class, StorageType: set_storage_type,
    Iops: set_iops, PubliclyAccessible: set_publicly_accessible, NetworkType: set_network_type,
    ServerlessV2ScalingConfiguration: set_serverless_v2_scaling_configuration,
    MonitoringInterval: set_monitoring_interval, MonitoringRoleArn: set_monitoring_role_arn,
    EnablePerformanceInsights: set_enable_performance_insights,
    PerformanceInsightsKMSKeyId: set_performance_insights_kms_key_id,
    PerformanceInsightsRetentionPeriod: set_performance_insights_retention_period,
    BackupRetentionPeriod: set_backup_retention_period,
    PreferredBackupWindow: set_preferred_backup_window,
    EngineLifecycleSupport: set_engine_lifecycle_support, TagSpecifications: set_tag_specifications,
    EnableVPCNetworking: set_enable_vpc_networking,
    EnableInternetAccessGateway: set_enable_internet_access_gateway,
});
parameters!(ServerlessV2ScalingConfiguration = ServerlessV2ScalingConfigurationBuilder {
    MinCapacity: set_min_capacity, MaxCapacity: set_max_capacity,
    SecondsUntilAutoPause: set_seconds_until_auto_pause,
});

members!(DescribeDbClustersOutput { DBClusters: db_clusters, Marker: marker });
members!(CreateDbClusterOutput { DBCluster: db_cluster });
members!(ModifyDbClusterOutput { DBCluster: db_cluster });
members!(DeleteDbClusterOutput { DBCluster: db_cluster });
members!(RestoreDbClusterFromSnapshotOutput { DBCluster: db_cluster });
members!(DbCluster {
    AllocatedStorage: allocated_storage, AvailabilityZones: availability_zones,
    BackupRetentionPeriod: backup_retention_period, CharacterSetName: character_set_name,
    DatabaseName: database_name, DBClusterIdentifier: db_cluster_identifier,
    DBClusterParameterGroup: db_cluster_parameter_group, DBSubnetGroup: db_subnet_group,
    Status: status, PercentProgress: percent_progress,
    EarliestRestorableTime: earliest_restorable_time, Endpoint: endpoint,
    ReaderEndpoint: reader_endpoint, CustomEndpoints: custom_endpoints, MultiAZ: multi_az,
    Engine: engine, EngineVersion: engine_version, LatestRestorableTime: latest_restorable_time,
    Port: port, MasterUsername: master_username,
    DBClusterOptionGroupMemberships: db_cluster_option_group_memberships,
    PreferredBackupWindow: preferred_backup_window,
    PreferredMaintenanceWindow: preferred_maintenance_window,
    UpgradeRolloutOrder: upgrade_rollout_order,
    ReplicationSourceIdentifier: replication_source_identifier,
    ReadReplicaIdentifiers: read_replica_identifiers, StatusInfos: status_infos,
    DBClusterMembers: db_cluster_members, VpcSecurityGroups: vpc_security_groups,
    HostedZoneId: hosted_zone_id, StorageEncrypted: storage_encrypted,
    StorageEncryptionType: storage_encryption_type, KmsKeyId: kms_key_id,
    DbClusterResourceId: db_cluster_resource_id, DBClusterArn: db_cluster_arn,
    AssociatedRoles: associated_roles,
    IAMDatabaseAuthenticationEnabled: iam_database_authentication_enabled,
    CloneGroupId: clone_group_id, ClusterCreateTime: cluster_create_time,
    EarliestBacktrackTime: earliest_backtrack_time, BacktrackWindow: backtrack_window,
    BacktrackConsumedChangeRecords: backtrack_consumed_change_records,
    EnabledCloudwatchLogsExports: enabled_cloudwatch_logs_exports, Capacity: capacity,
    PendingModifiedValues: pending_modified_values, EngineMode: engine_mode,
    ScalingConfigurationInfo: scaling_configuration_info,
    RdsCustomClusterConfiguration: rds_custom_cluster_configuration,
    DBClusterInstanceClass: db_cluster_instance_class, StorageType: storage_type, Iops: iops,
    StorageThroughput: storage_throughput,
    IOOptimizedNextAllowedModificationTime: io_optimized_next_allowed_modification_time,
    PubliclyAccessible: publicly_accessible, AutoMinorVersionUpgrade: auto_minor_version_upgrade,
    DeletionProtection: deletion_protection, HttpEndpointEnabled: http_endpoint_enabled,
    ActivityStreamMode: activity_stream_mode, ActivityStreamStatus: activity_stream_status,
    ActivityStreamKmsKeyId: activity_stream_kms_key_id,
    ActivityStreamKinesisStreamName: activity_stream_kinesis_stream_name,
    CopyTagsToSnapshot: copy_tags_to_snapshot, CrossAccountClone: cross_account_clone,
    DomainMemberships: domain_memberships, TagList: tag_list,
    GlobalClusterIdentifier: global_cluster_identifier,
    GlobalWriteForwardingStatus: global_write_forwarding_status,
    GlobalWriteForwardingRequested: global_write_forwarding_requested, NetworkType: network_type,
    AutomaticRestartTime: automatic_restart_time,
    ServerlessV2ScalingConfiguration: serverless_v2_scaling_configuration,
    ServerlessV2PlatformVersion: serverless_v2_platform_version,
    MonitoringInterval: monitoring_interval, MonitoringRoleArn: monitoring_role_arn,
    DatabaseInsightsMode: database_insights_mode,
    PerformanceInsightsEnabled: performance_insights_enabled,
    PerformanceInsightsKMSKeyId: performance_insights_kms_key_id,
    PerformanceInsightsRetentionPeriod: performance_insights_retention_period,
    DBSystemId: db_system_id, MasterUserSecret: master_user_secret,
    LocalWriteForwardingStatus: local_write_forwarding_status,
    AwsBackupRecoveryPointArn: aws_backup_recovery_point_arn, LimitlessDatabase: limitless_database,
    ClusterScalabilityType: cluster_scalability_type, CertificateDetails: certificate_details,
    EngineLifecycleSupport: engine_lifecycle_support, VPCNetworkingEnabled: vpc_networking_enabled,
    InternetAccessGatewayEnabled: internet_access_gateway_enabled,
});
members!(ClusterPendingModifiedValues {
    PendingCloudwatchLogsExports: pending_cloudwatch_logs_exports,
    DBClusterIdentifier: db_cluster_identifier, MasterUserPassword: master_user_password via masked,
    IAMDatabaseAuthenticationEnabled: iam_database_authentication_enabled,
    EngineVersion: engine_version, BackupRetentionPeriod: backup_retention_period,
    StorageType: storage_type, AllocatedStorage: allocated_storage,
    RdsCustomClusterConfiguration: rds_custom_cluster_configuration, Iops: iops,
    CertificateDetails: certificate_details,
});
members!(DbClusterMember {
    DBInstanceIdentifier: db_instance_identifier, IsClusterWriter: is_cluster_writer,
    DBClusterParameterGroupStatus: db_cluster_parameter_group_status, PromotionTier: promotion_tier,
});
members!(DbClusterOptionGroupStatus {
    DBClusterOptionGroupName: db_cluster_option_group_name, Status: status,
});
members!(DbClusterRole {
    RoleArn: role_arn, Status: status, FeatureName: feature_name,
});
members!(DbClusterStatusInfo {
    StatusType: status_type, Normal: normal, Status: status, Message: message,
});
members!(ServerlessV2ScalingConfigurationInfo {
    MinCapacity: min_capacity, MaxCapacity: max_capacity,
    SecondsUntilAutoPause: seconds_until_auto_pause,
});
members!(ScalingConfigurationInfo {
    MinCapacity: min_capacity, MaxCapacity: max_capacity, AutoPause: auto_pause,
    SecondsUntilAutoPause: seconds_until_auto_pause, TimeoutAction: timeout_action,
    SecondsBeforeTimeout: seconds_before_timeout,
});
members!(LimitlessDatabase {
    Status: status, MinRequiredACU: min_required_acu,
});
members!(RdsCustomClusterConfiguration {
    InterconnectSubnetId: interconnect_subnet_id,
    TransitGatewayMulticastDomainId: transit_gateway_multicast_domain_id, ReplicaMode: replica_mode,
});
enumerations!(
    ClusterScalabilityType,
    LimitlessDatabaseStatus,
    LocalWriteForwardingStatus,
    WriteForwardingStatus,
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::sdk::testing::{Wire, check_answer, check_requests, check_structures};

    #[tokio::test]
    async fn every_parameter_of_an_aurora_cluster_but_the_password_is_sent_under_its_name() {
        check_requests!(
            [
                "master_user_password",
                "pre_signed_url",
                "scaling_configuration",
                "rds_custom_cluster_configuration",
                "associated_roles",
            ],
            describe_db_clusters,
            create_db_cluster,
            modify_db_cluster,
            delete_db_cluster,
            restore_db_cluster_from_snapshot,
        );
    }

    #[test]
    fn no_member_of_an_answer_is_forgotten() {
        check_structures!(
            DescribeDbClustersOutput,
            CreateDbClusterOutput,
            ModifyDbClusterOutput,
            DeleteDbClusterOutput,
            RestoreDbClusterFromSnapshotOutput,
            DbCluster,
            ClusterPendingModifiedValues,
            DbClusterMember,
            DbClusterOptionGroupStatus,
            DbClusterRole,
            DbClusterStatusInfo,
            ServerlessV2ScalingConfigurationInfo,
            ScalingConfigurationInfo,
            LimitlessDatabase,
            RdsCustomClusterConfiguration,
        );
    }

    #[tokio::test]
    async fn a_full_answer_is_read_as_the_aws_cli_reads_it() {
        check_answer!(super, "rds", "DescribeDBClusters");
    }

    #[tokio::test]
    async fn a_password_is_never_sent() {
        let wire = Wire::answering("");
        let call = Call::new("rds", "ModifyDBCluster").with("MasterUserPassword", "x");
        let failure = send(&wire.clients(), &call).await.unwrap_err();
        let reason = "ModifyDBCluster has no parameter MasterUserPassword here".to_owned();
        assert_eq!(failure, Failure::Unsendable { code: "UnknownParameter", reason });
        assert_eq!(wire.last(), "");
    }
}
