//! The shapes and operations of RDS that several kinds have in common.

use aws_sdk_rds::operation::add_tags_to_resource::{
    AddTagsToResourceOutput, builders::AddTagsToResourceFluentBuilder,
};
use aws_sdk_rds::operation::list_tags_for_resource::{
    ListTagsForResourceOutput, builders::ListTagsForResourceFluentBuilder,
};
use aws_sdk_rds::operation::remove_tags_from_resource::{
    RemoveTagsFromResourceOutput, builders::RemoveTagsFromResourceFluentBuilder,
};
use aws_sdk_rds::types::builders::{
    CloudwatchLogsExportConfigurationBuilder, FilterBuilder, ParameterBuilder, TagBuilder,
    TagSpecificationBuilder,
};
use aws_sdk_rds::types::{
    ActivityStreamMode, ActivityStreamStatus, ApplyMethod, AvailabilityZone, CertificateDetails,
    CloudwatchLogsExportConfiguration, DatabaseInsightsMode, DbSubnetGroup, DomainMembership,
    Filter, MasterUserAuthenticationType, MasterUserSecret, Outpost, Parameter,
    PendingCloudwatchLogsExports, StorageEncryptionType, Subnet, Tag, TagSpecification,
    UpgradeRolloutOrder, VpcSecurityGroupMembership,
};
use serde_json::Value;

use super::{Clients, Failure, ask, enumerations, members, parameters};
use crate::model::Call;

/// Sends one of the tag operations, which all resources of RDS share.
pub(crate) async fn send_tags(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    match &*call.operation {
        "AddTagsToResource" => ask!(clients.rds.add_tags_to_resource(), call),
        "RemoveTagsFromResource" => ask!(clients.rds.remove_tags_from_resource(), call),
        "ListTagsForResource" => ask!(clients.rds.list_tags_for_resource(), call),
        other => Err(Failure::unknown_operation(other)),
    }
}

parameters!(AddTagsToResourceFluentBuilder { ResourceName: set_resource_name, Tags: set_tags });
parameters!(RemoveTagsFromResourceFluentBuilder {
    ResourceName: set_resource_name,
    TagKeys: set_tag_keys,
});
parameters!(ListTagsForResourceFluentBuilder {
    ResourceName: set_resource_name,
    Filters: set_filters,
});
parameters!(Tag = TagBuilder { Key: set_key, Value: set_value });
parameters!(Filter = FilterBuilder { Name: set_name, Values: set_values });
parameters!(
    Parameter = ParameterBuilder {
        ParameterName: set_parameter_name,
        ParameterValue: set_parameter_value,
        Description: set_description,
        Source: set_source,
        ApplyType: set_apply_type,
        DataType: set_data_type,
        AllowedValues: set_allowed_values,
        IsModifiable: set_is_modifiable,
        MinimumEngineVersion: set_minimum_engine_version,
        ApplyMethod: set_apply_method,
        SupportedEngineModes: set_supported_engine_modes,
    }
);
parameters!(
    CloudwatchLogsExportConfiguration = CloudwatchLogsExportConfigurationBuilder {
        EnableLogTypes: set_enable_log_types,
        DisableLogTypes: set_disable_log_types,
    }
);
parameters!(
    TagSpecification = TagSpecificationBuilder { ResourceType: set_resource_type, Tags: set_tags }
);

members!(AddTagsToResourceOutput {});
members!(RemoveTagsFromResourceOutput {});
members!(ListTagsForResourceOutput { TagList: tag_list });
members!(Tag { Key: key, Value: value });
members!(DbSubnetGroup {
    DBSubnetGroupName: db_subnet_group_name,
    DBSubnetGroupDescription: db_subnet_group_description,
    VpcId: vpc_id,
    SubnetGroupStatus: subnet_group_status,
    Subnets: subnets,
    DBSubnetGroupArn: db_subnet_group_arn,
    SupportedNetworkTypes: supported_network_types,
});
members!(Subnet {
    SubnetIdentifier: subnet_identifier,
    SubnetAvailabilityZone: subnet_availability_zone,
    SubnetOutpost: subnet_outpost,
    SubnetStatus: subnet_status,
});
members!(AvailabilityZone { Name: name });
members!(Outpost { Arn: arn });
members!(Parameter {
    ParameterName: parameter_name,
    ParameterValue: parameter_value,
    Description: description,
    Source: source,
    ApplyType: apply_type,
    DataType: data_type,
    AllowedValues: allowed_values,
    IsModifiable: is_modifiable,
    MinimumEngineVersion: minimum_engine_version,
    ApplyMethod: apply_method,
    SupportedEngineModes: supported_engine_modes,
});
members!(VpcSecurityGroupMembership { VpcSecurityGroupId: vpc_security_group_id, Status: status });
members!(DomainMembership {
    Domain: domain,
    Status: status,
    FQDN: fqdn,
    IAMRoleName: iam_role_name,
    OU: ou,
    AuthSecretArn: auth_secret_arn,
    DnsIps: dns_ips,
});
members!(CertificateDetails { CAIdentifier: ca_identifier, ValidTill: valid_till });
members!(MasterUserSecret {
    SecretArn: secret_arn,
    SecretStatus: secret_status,
    KmsKeyId: kms_key_id,
});
members!(PendingCloudwatchLogsExports {
    LogTypesToEnable: log_types_to_enable,
    LogTypesToDisable: log_types_to_disable,
});
enumerations!(
    ActivityStreamMode,
    ActivityStreamStatus,
    ApplyMethod,
    DatabaseInsightsMode,
    MasterUserAuthenticationType,
    StorageEncryptionType,
    UpgradeRolloutOrder,
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::sdk::testing::{Wire, check_requests, check_structures};

    #[tokio::test]
    async fn every_parameter_is_sent_under_its_name() {
        check_requests!(
            [],
            add_tags_to_resource,
            remove_tags_from_resource,
            list_tags_for_resource,
        );
    }

    #[tokio::test]
    async fn a_full_answer_is_read_whole_and_as_the_aws_cli_reads_it() {
        check_structures!(
            ListTagsForResourceOutput,
            Tag,
            DbSubnetGroup,
            Subnet,
            AvailabilityZone,
            Outpost,
            Parameter,
            VpcSecurityGroupMembership,
            DomainMembership,
            CertificateDetails,
            MasterUserSecret,
            PendingCloudwatchLogsExports,
        );
        let wire = Wire::answering(include_str!("answers/ListTagsForResource.xml"));
        let call = Call::new("rds", "ListTagsForResource");
        let read = send_tags(&wire.clients(), &call).await.unwrap();
        let expected: Value =
            serde_json::from_str(include_str!("answers/ListTagsForResource.json")).unwrap();
        assert_eq!(read, expected, "left: read here; right: read by botocore");
    }
}
