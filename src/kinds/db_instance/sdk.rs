//! Calls of RDS DB instances to the SDK, and its answers to JSON.
//!
//! The tables name every parameter and member of the API, save the two that carry a password: the
//! master password is RDS's own business (`ManageMasterUserPassword`), and none is ever sent.

use aws_sdk_rds::operation::create_db_instance::{
    CreateDbInstanceOutput, builders::CreateDBInstanceFluentBuilder,
};
use aws_sdk_rds::operation::delete_db_instance::{
    DeleteDbInstanceOutput, builders::DeleteDBInstanceFluentBuilder,
};
use aws_sdk_rds::operation::describe_db_instances::{
    DescribeDbInstancesOutput, builders::DescribeDBInstancesFluentBuilder,
};
use aws_sdk_rds::operation::modify_db_instance::{
    ModifyDbInstanceOutput, builders::ModifyDBInstanceFluentBuilder,
};
use aws_sdk_rds::operation::restore_db_instance_from_db_snapshot::{
    RestoreDbInstanceFromDbSnapshotOutput, builders::RestoreDBInstanceFromDBSnapshotFluentBuilder,
};
use aws_sdk_rds::types::builders::{
    AdditionalStorageVolumeBuilder, ModifyAdditionalStorageVolumeBuilder, ProcessorFeatureBuilder,
};
use aws_sdk_rds::types::{
    ActivityStreamPolicyStatus, AdditionalStorageVolume, AdditionalStorageVolumeOutput,
    AutomationMode, DbInstance, DbInstanceAutomatedBackupsReplication, DbInstanceRole,
    DbInstanceStatusInfo, DbParameterGroupStatus, DbSecurityGroupMembership, Endpoint,
    ModifyAdditionalStorageVolume, OptionGroupMembership, PendingModifiedValues, ProcessorFeature,
    ReplicaMode,
};
use serde_json::Value;

use crate::kinds::sdk::{Clients, Failure, ask, enumerations, masked, members, parameters, rds};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    let client = &clients.rds;
    match &*call.operation {
        "DescribeDBInstances" => ask!(client.describe_db_instances(), call),
        "CreateDBInstance" => ask!(client.create_db_instance(), call),
        "ModifyDBInstance" => ask!(client.modify_db_instance(), call),
        "DeleteDBInstance" => ask!(client.delete_db_instance(), call),
        "RestoreDBInstanceFromDBSnapshot" => {
            ask!(client.restore_db_instance_from_db_snapshot(), call)
        }
        _ => rds::send_tags(clients, call).await,
    }
}

parameters!(DescribeDBInstancesFluentBuilder {
    DBInstanceIdentifier: set_db_instance_identifier, Filters: set_filters,
    MaxRecords: set_max_records, Marker: set_marker,
});
parameters!(CreateDBInstanceFluentBuilder {
    DBName: set_db_name, DBInstanceIdentifier: set_db_instance_identifier,
    AllocatedStorage: set_allocated_storage, DBInstanceClass: set_db_instance_class,
    Engine: set_engine, MasterUsername: set_master_username,
    DBSecurityGroups: set_db_security_groups, VpcSecurityGroupIds: set_vpc_security_group_ids,
    AvailabilityZone: set_availability_zone, DBSubnetGroupName: set_db_subnet_group_name,
    PreferredMaintenanceWindow: set_preferred_maintenance_window,
    DBParameterGroupName: set_db_parameter_group_name,
    BackupRetentionPeriod: set_backup_retention_period,
    PreferredBackupWindow: set_preferred_backup_window, Port: set_port, MultiAZ: set_multi_az,
    EngineVersion: set_engine_version, AutoMinorVersionUpgrade: set_auto_minor_version_upgrade,
    LicenseModel: set_license_model, Iops: set_iops, StorageThroughput: set_storage_throughput,
    OptionGroupName: set_option_group_name, CharacterSetName: set_character_set_name,
    NcharCharacterSetName: set_nchar_character_set_name,
    PubliclyAccessible: set_publicly_accessible, Tags: set_tags,
    DBClusterIdentifier: set_db_cluster_identifier, StorageType: set_storage_type,
    TdeCredentialArn: set_tde_credential_arn, StorageEncrypted: set_storage_encrypted,
    KmsKeyId: set_kms_key_id, Domain: set_domain, DomainFqdn: set_domain_fqdn,
    DomainOu: set_domain_ou, DomainAuthSecretArn: set_domain_auth_secret_arn,
    DomainDnsIps: set_domain_dns_ips, CopyTagsToSnapshot: set_copy_tags_to_snapshot,
    MonitoringInterval: set_monitoring_interval, MonitoringRoleArn: set_monitoring_role_arn,
    DomainIAMRoleName: set_domain_iam_role_name, PromotionTier: set_promotion_tier,
    Timezone: set_timezone, EnableIAMDatabaseAuthentication: set_enable_iam_database_authentication,
    DatabaseInsightsMode: set_database_insights_mode,
    EnablePerformanceInsights: set_enable_performance_insights,
    PerformanceInsightsKMSKeyId: set_performance_insights_kms_key_id,
    PerformanceInsightsRetentionPeriod: set_performance_insights_retention_period,
    EnableCloudwatchLogsExports: set_enable_cloudwatch_logs_exports,
    ProcessorFeatures: set_processor_features, DeletionProtection: set_deletion_protection,
    MaxAllocatedStorage: set_max_allocated_storage,
    EnableCustomerOwnedIp: set_enable_customer_owned_ip, NetworkType: set_network_type,
    BackupTarget: set_backup_target, CustomIamInstanceProfile: set_custom_iam_instance_profile,
    DBSystemId: set_db_system_id, CACertificateIdentifier: set_ca_certificate_identifier,
    ManageMasterUserPassword: set_manage_master_user_password,
    MasterUserSecretKmsKeyId: set_master_user_secret_kms_key_id, MultiTenant: set_multi_tenant,
    DedicatedLogVolume: set_dedicated_log_volume,
    EngineLifecycleSupport: set_engine_lifecycle_support,
    AdditionalStorageVolumes: set_additional_storage_volumes,
    TagSpecifications: set_tag_specifications,
    DBCapacityReservationIdentifier: set_db_capacity_reservation_identifier,
    MasterUserAuthenticationType: set_master_user_authentication_type,
});
parameters!(ModifyDBInstanceFluentBuilder {
    DBInstanceIdentifier: set_db_instance_identifier, AllocatedStorage: set_allocated_storage,
    DBInstanceClass: set_db_instance_class, DBSubnetGroupName: set_db_subnet_group_name,
    DBSecurityGroups: set_db_security_groups, VpcSecurityGroupIds: set_vpc_security_group_ids,
    ApplyImmediately: set_apply_immediately, DBParameterGroupName: set_db_parameter_group_name,
    BackupRetentionPeriod: set_backup_retention_period,
    PreferredBackupWindow: set_preferred_backup_window,
    PreferredMaintenanceWindow: set_preferred_maintenance_window, MultiAZ: set_multi_az,
    EngineVersion: set_engine_version, AllowMajorVersionUpgrade: set_allow_major_version_upgrade,
    AutoMinorVersionUpgrade: set_auto_minor_version_upgrade, LicenseModel: set_license_model,
    Iops: set_iops, StorageThroughput: set_storage_throughput,
    OptionGroupName: set_option_group_name, NewDBInstanceIdentifier: set_new_db_instance_identifier,
    StorageType: set_storage_type, TdeCredentialArn: set_tde_credential_arn,
    CACertificateIdentifier: set_ca_certificate_identifier, Domain: set_domain,
    DomainFqdn: set_domain_fqdn, DomainOu: set_domain_ou,
    DomainAuthSecretArn: set_domain_auth_secret_arn, DomainDnsIps: set_domain_dns_ips,
    DisableDomain: set_disable_domain, CopyTagsToSnapshot: set_copy_tags_to_snapshot,
    MonitoringInterval: set_monitoring_interval, DBPortNumber: set_db_port_number,
    PubliclyAccessible: set_publicly_accessible, MonitoringRoleArn: set_monitoring_role_arn,
    DomainIAMRoleName: set_domain_iam_role_name, PromotionTier: set_promotion_tier,
    EnableIAMDatabaseAuthentication: set_enable_iam_database_authentication,
    DatabaseInsightsMode: set_database_insights_mode,
    EnablePerformanceInsights: set_enable_performance_insights,
    PerformanceInsightsKMSKeyId: set_performance_insights_kms_key_id,
    PerformanceInsightsRetentionPeriod: set_performance_insights_retention_period,
    CloudwatchLogsExportConfiguration: set_cloudwatch_logs_export_configuration,
    ProcessorFeatures: set_processor_features,
    UseDefaultProcessorFeatures: set_use_default_processor_features,
    DeletionProtection: set_deletion_protection, MaxAllocatedStorage: set_max_allocated_storage,
    CertificateRotationRestart: set_certificate_rotation_restart, ReplicaMode: set_replica_mode,
    AutomationMode: set_automation_mode,
    ResumeFullAutomationModeMinutes: set_resume_full_automation_mode_minutes,
    EnableCustomerOwnedIp: set_enable_customer_owned_ip, NetworkType: set_network_type,
    AwsBackupRecoveryPointArn: set_aws_backup_recovery_point_arn,
    ManageMasterUserPassword: set_manage_master_user_password,
    RotateMasterUserPassword: set_rotate_master_user_password,
    MasterUserSecretKmsKeyId: set_master_user_secret_kms_key_id, MultiTenant: set_multi_tenant,
    DedicatedLogVolume: set_dedicated_log_volume, Engine: set_engine,
    AdditionalStorageVolumes: set_additional_storage_volumes,
    DBCapacityReservationIdentifier: set_db_capacity_reservation_identifier,
    TagSpecifications: set_tag_specifications,
    MasterUserAuthenticationType: set_master_user_authentication_type,
    EngineLifecycleSupport: set_engine_lifecycle_support,
});
parameters!(DeleteDBInstanceFluentBuilder {
    DBInstanceIdentifier: set_db_instance_identifier, SkipFinalSnapshot: set_skip_final_snapshot,
    FinalDBSnapshotIdentifier: set_final_db_snapshot_identifier,
    DeleteAutomatedBackups: set_delete_automated_backups,
});
parameters!(RestoreDBInstanceFromDBSnapshotFluentBuilder {
    DBInstanceIdentifier: set_db_instance_identifier,
    DBSnapshotIdentifier: set_db_snapshot_identifier, DBInstanceClass: set_db_instance_class,
    Port: set_port, AvailabilityZone: set_availability_zone,
    DBSubnetGroupName: set_db_subnet_group_name, MultiAZ: set_multi_az,
    PubliclyAccessible: set_publicly_accessible,
    AutoMinorVersionUpgrade: set_auto_minor_version_upgrade, LicenseModel: set_license_model,
    DBName: set_db_name, Engine: set_engine, Iops: set_iops,
    StorageThroughput: set_storage_throughput, OptionGroupName: set_option_group_name,
    Tags: set_tags, StorageType: set_storage_type, TdeCredentialArn: set_tde_credential_arn,
    VpcSecurityGroupIds: set_vpc_security_group_ids, Domain: set_domain,
    DomainFqdn: set_domain_fqdn, DomainOu: set_domain_ou,
    DomainAuthSecretArn: set_domain_auth_secret_arn, DomainDnsIps: set_domain_dns_ips,
    CopyTagsToSnapshot: set_copy_tags_to_snapshot, DomainIAMRoleName: set_domain_iam_role_name,
    EnableIAMDatabaseAuthentication: set_enable_iam_database_authentication,
    EnableCloudwatchLogsExports: set_enable_cloudwatch_logs_exports,
    ProcessorFeatures: set_processor_features,
    UseDefaultProcessorFeatures: set_use_default_processor_features,
    DBParameterGroupName: set_db_parameter_group_name, DeletionProtection: set_deletion_protection,
    EnableCustomerOwnedIp: set_enable_customer_owned_ip, NetworkType: set_network_type,
    BackupTarget: set_backup_target, CustomIamInstanceProfile: set_custom_iam_instance_profile,
    AllocatedStorage: set_allocated_storage,
    DBClusterSnapshotIdentifier: set_db_cluster_snapshot_identifier,
    BackupRetentionPeriod: set_backup_retention_period,
    PreferredBackupWindow: set_preferred_backup_window,
    DBCapacityReservationIdentifier: set_db_capacity_reservation_identifier,
    DedicatedLogVolume: set_dedicated_log_volume,
    CACertificateIdentifier: set_ca_certificate_identifier,
    EngineLifecycleSupport: set_engine_lifecycle_support,
    AdditionalStorageVolumes: set_additional_storage_volumes,
    TagSpecifications: set_tag_specifications,
    ManageMasterUserPassword: set_manage_master_user_password,
    MasterUserSecretKmsKeyId: set_master_user_secret_kms_key_id,
});
parameters!(ProcessorFeature = ProcessorFeatureBuilder {
    Name: set_name, Value: set_value,
});
parameters!(AdditionalStorageVolume = AdditionalStorageVolumeBuilder {
    VolumeName: set_volume_name, AllocatedStorage: set_allocated_storage, IOPS: set_iops,
    MaxAllocatedStorage: set_max_allocated_storage, StorageThroughput: set_storage_throughput,
    StorageType: set_storage_type,
});
parameters!(ModifyAdditionalStorageVolume = ModifyAdditionalStorageVolumeBuilder {
    VolumeName: set_volume_name, AllocatedStorage: set_allocated_storage, IOPS: set_iops,
    MaxAllocatedStorage: set_max_allocated_storage, StorageThroughput: set_storage_throughput,
    StorageType: set_storage_type, SetForDelete: set_set_for_delete,
});

members!(DescribeDbInstancesOutput { DBInstances: db_instances, Marker: marker });
members!(CreateDbInstanceOutput { DBInstance: db_instance });
members!(ModifyDbInstanceOutput { DBInstance: db_instance });
members!(DeleteDbInstanceOutput { DBInstance: db_instance });
members!(RestoreDbInstanceFromDbSnapshotOutput { DBInstance: db_instance });
members!(DbInstance {
    DBInstanceIdentifier: db_instance_identifier, DBInstanceClass: db_instance_class,
    Engine: engine, DBInstanceStatus: db_instance_status, MasterUsername: master_username,
    DBName: db_name, Endpoint: endpoint, AllocatedStorage: allocated_storage,
    InstanceCreateTime: instance_create_time, PreferredBackupWindow: preferred_backup_window,
    BackupRetentionPeriod: backup_retention_period, DBSecurityGroups: db_security_groups,
    VpcSecurityGroups: vpc_security_groups, DBParameterGroups: db_parameter_groups,
    AvailabilityZone: availability_zone, DBSubnetGroup: db_subnet_group,
    PreferredMaintenanceWindow: preferred_maintenance_window,
    UpgradeRolloutOrder: upgrade_rollout_order, PendingModifiedValues: pending_modified_values,
    LatestRestorableTime: latest_restorable_time, MultiAZ: multi_az, EngineVersion: engine_version,
    AutoMinorVersionUpgrade: auto_minor_version_upgrade,
    ReadReplicaSourceDBInstanceIdentifier: read_replica_source_db_instance_identifier,
    ReadReplicaDBInstanceIdentifiers: read_replica_db_instance_identifiers,
    ReadReplicaDBClusterIdentifiers: read_replica_db_cluster_identifiers, ReplicaMode: replica_mode,
    LicenseModel: license_model, Iops: iops, StorageThroughput: storage_throughput,
    OptionGroupMemberships: option_group_memberships, CharacterSetName: character_set_name,
    NcharCharacterSetName: nchar_character_set_name,
    SecondaryAvailabilityZone: secondary_availability_zone, PubliclyAccessible: publicly_accessible,
    StatusInfos: status_infos, StorageType: storage_type,
    StorageEncryptionType: storage_encryption_type, TdeCredentialArn: tde_credential_arn,
    DbInstancePort: db_instance_port, DBClusterIdentifier: db_cluster_identifier,
    StorageEncrypted: storage_encrypted, KmsKeyId: kms_key_id, DbiResourceId: dbi_resource_id,
    CACertificateIdentifier: ca_certificate_identifier, DomainMemberships: domain_memberships,
    CopyTagsToSnapshot: copy_tags_to_snapshot, MonitoringInterval: monitoring_interval,
    EnhancedMonitoringResourceArn: enhanced_monitoring_resource_arn,
    MonitoringRoleArn: monitoring_role_arn, PromotionTier: promotion_tier,
    DBInstanceArn: db_instance_arn, Timezone: timezone,
    IAMDatabaseAuthenticationEnabled: iam_database_authentication_enabled,
    DatabaseInsightsMode: database_insights_mode,
    PerformanceInsightsEnabled: performance_insights_enabled,
    PerformanceInsightsKMSKeyId: performance_insights_kms_key_id,
    PerformanceInsightsRetentionPeriod: performance_insights_retention_period,
    EnabledCloudwatchLogsExports: enabled_cloudwatch_logs_exports,
    ProcessorFeatures: processor_features, DeletionProtection: deletion_protection,
    AssociatedRoles: associated_roles, ListenerEndpoint: listener_endpoint,
    MaxAllocatedStorage: max_allocated_storage, TagList: tag_list, AutomationMode: automation_mode,
    ResumeFullAutomationModeTime: resume_full_automation_mode_time,
    CustomerOwnedIpEnabled: customer_owned_ip_enabled, NetworkType: network_type,
    ActivityStreamStatus: activity_stream_status,
    ActivityStreamKmsKeyId: activity_stream_kms_key_id,
    ActivityStreamKinesisStreamName: activity_stream_kinesis_stream_name,
    ActivityStreamMode: activity_stream_mode,
    ActivityStreamEngineNativeAuditFieldsIncluded: activity_stream_engine_native_audit_fields_included,
    AwsBackupRecoveryPointArn: aws_backup_recovery_point_arn,
    DBInstanceAutomatedBackupsReplications: db_instance_automated_backups_replications,
    BackupTarget: backup_target, AutomaticRestartTime: automatic_restart_time,
    CustomIamInstanceProfile: custom_iam_instance_profile,
    ActivityStreamPolicyStatus: activity_stream_policy_status,
    CertificateDetails: certificate_details, DBSystemId: db_system_id,
    MasterUserSecret: master_user_secret,
    ReadReplicaSourceDBClusterIdentifier: read_replica_source_db_cluster_identifier,
    PercentProgress: percent_progress, MultiTenant: multi_tenant,
    DedicatedLogVolume: dedicated_log_volume,
    IsStorageConfigUpgradeAvailable: is_storage_config_upgrade_available,
    EngineLifecycleSupport: engine_lifecycle_support,
    AdditionalStorageVolumes: additional_storage_volumes,
    StorageVolumeStatus: storage_volume_status, StorageOperationStatus: storage_operation_status,
    StorageOperationPercentProgress: storage_operation_percent_progress,
    DBCapacityReservationIdentifier: db_capacity_reservation_identifier,
});
members!(PendingModifiedValues {
    DBInstanceClass: db_instance_class, AllocatedStorage: allocated_storage,
    MasterUserPassword: master_user_password via masked, Port: port,
    BackupRetentionPeriod: backup_retention_period, MultiAZ: multi_az,
    EngineVersion: engine_version, LicenseModel: license_model, Iops: iops,
    StorageThroughput: storage_throughput, DBInstanceIdentifier: db_instance_identifier,
    StorageType: storage_type, CACertificateIdentifier: ca_certificate_identifier,
    DBSubnetGroupName: db_subnet_group_name,
    PendingCloudwatchLogsExports: pending_cloudwatch_logs_exports,
    ProcessorFeatures: processor_features, AutomationMode: automation_mode,
    ResumeFullAutomationModeTime: resume_full_automation_mode_time, MultiTenant: multi_tenant,
    IAMDatabaseAuthenticationEnabled: iam_database_authentication_enabled,
    DedicatedLogVolume: dedicated_log_volume, Engine: engine,
    AdditionalStorageVolumes: additional_storage_volumes,
    DBCapacityReservationIdentifier: db_capacity_reservation_identifier,
});
members!(Endpoint {
    Address: address, Port: port, HostedZoneId: hosted_zone_id,
});
members!(DbSecurityGroupMembership {
    DBSecurityGroupName: db_security_group_name, Status: status,
});
members!(DbParameterGroupStatus {
    DBParameterGroupName: db_parameter_group_name, ParameterApplyStatus: parameter_apply_status,
});
members!(OptionGroupMembership {
    OptionGroupName: option_group_name, Status: status,
});
members!(DbInstanceStatusInfo {
    StatusType: status_type, Normal: normal, Status: status, Message: message,
});
members!(ProcessorFeature {
    Name: name, Value: value,
});
members!(DbInstanceRole {
    RoleArn: role_arn, FeatureName: feature_name, Status: status,
});
members!(AdditionalStorageVolume {
    VolumeName: volume_name, AllocatedStorage: allocated_storage, IOPS: iops,
    MaxAllocatedStorage: max_allocated_storage, StorageThroughput: storage_throughput,
    StorageType: storage_type,
});
members!(AdditionalStorageVolumeOutput {
    VolumeName: volume_name, StorageVolumeStatus: storage_volume_status,
    StorageOperationStatus: storage_operation_status,
    StorageOperationPercentProgress: storage_operation_percent_progress,
    AllocatedStorage: allocated_storage, IOPS: iops, MaxAllocatedStorage: max_allocated_storage,
    StorageThroughput: storage_throughput, StorageType: storage_type,
});
members!(DbInstanceAutomatedBackupsReplication {
    DBInstanceAutomatedBackupsArn: db_instance_automated_backups_arn,
});
enumerations!(
    ActivityStreamPolicyStatus,
    AutomationMode,
    ReplicaMode,
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::sdk::testing::{
        Wire, check_answer, check_requests, check_structures,
    };

    #[tokio::test]
    async fn every_parameter_but_the_passwords_is_sent_under_its_name() {
        check_requests!(
            ["master_user_password", "tde_credential_password"],
            describe_db_instances,
            create_db_instance,
            modify_db_instance,
            delete_db_instance,
            restore_db_instance_from_db_snapshot,
        );
    }

    #[test]
    fn no_member_of_an_answer_is_forgotten() {
        check_structures!(
            DescribeDbInstancesOutput,
            CreateDbInstanceOutput,
            ModifyDbInstanceOutput,
            DeleteDbInstanceOutput,
            RestoreDbInstanceFromDbSnapshotOutput,
            DbInstance,
            PendingModifiedValues,
            Endpoint,
            DbSecurityGroupMembership,
            DbParameterGroupStatus,
            OptionGroupMembership,
            DbInstanceStatusInfo,
            ProcessorFeature,
            DbInstanceRole,
            AdditionalStorageVolume,
            AdditionalStorageVolumeOutput,
            DbInstanceAutomatedBackupsReplication,
        );
    }

    #[tokio::test]
    async fn a_full_answer_is_read_as_the_aws_cli_reads_it() {
        check_answer!(super, "rds", "DescribeDBInstances");
    }

    #[tokio::test]
    async fn what_no_table_names_is_refused_by_name_and_nothing_is_sent() {
        let cases = [
            (Call::new("rds", "CreateDBInstance").with("MasterUserPassword", "x"),
             "UnknownParameter", "CreateDBInstance has no parameter MasterUserPassword here"),
            (Call::new("rds", "ModifyDBInstance").with("AllocatedStorage", "20"),
             "InvalidParameterType", "the parameter AllocatedStorage is not a whole number of 32 bits"),
            (Call::new("rds", "ModifyDBInstance").with("AllocatedStorage", 3_000_000_000_i64),
             "InvalidParameterType", "the parameter AllocatedStorage is not a whole number of 32 bits"),
            (Call::new("rds", "CreateDBInstance").with("Tags", serde_json::json!([{"Key": "a"}, {"Kee": "b"}])),
             "UnknownParameter", "Tag has no parameter Tags.1.Kee here"),
            (Call::new("rds", "ModifyDBInstance").with("MultiAZ", Value::Null),
             "InvalidParameterType", "the parameter MultiAZ is not true or false"),
            (Call::new("rds", "RebootDBInstance"),
             "UnknownOperation", "the operation RebootDBInstance is not known here"),
        ];
        for (call, code, reason) in cases {
            let wire = Wire::answering("");
            let failure = send(&wire.clients(), &call).await.unwrap_err();
            assert_eq!(failure, Failure::Unsendable { code, reason: reason.to_owned() });
            assert_eq!(wire.last(), "");
        }
    }
}
