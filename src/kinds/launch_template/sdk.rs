//! Calls of launch templates to the EC2 Query protocol, and its answers to JSON.

use serde_json::Value;

use crate::kinds::sdk::query::{self, Give, Operation, Structure, Take};
use crate::kinds::sdk::{Clients, Failure};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    query::ask(&*clients.ec2, OPERATIONS, call).await
}

type Parameters = &'static [(&'static str, &'static str, Take)];

const ID: (&str, &str, Take) = ("LaunchTemplateId", "LaunchTemplateId", Take::Text);
const NAME: (&str, &str, Take) = ("LaunchTemplateName", "LaunchTemplateName", Take::Text);
const TOKEN: (&str, &str, Take) = ("ClientToken", "ClientToken", Take::Text);
const PAGE: (&str, &str, Take) = ("MaxResults", "MaxResults", Take::Number);
const NEXT: (&str, &str, Take) = ("NextToken", "NextToken", Take::Text);

const TAGS: Take = Take::Structures(&Structure {
    name: "TagSpecification",
    parameters: &[("ResourceType", "ResourceType", Take::Text), ("Tags", "Tag", Take::TAGS)],
});

/// What the calls of this kind set or hand on.
const DATA: (&str, &str, Take) = (
    "LaunchTemplateData",
    "LaunchTemplateData",
    Take::Structure(&Structure {
        name: "RequestLaunchTemplateData",
        parameters: &[
            ("ImageId", "ImageId", Take::Text),
            ("InstanceType", "InstanceType", Take::Text),
            ("KeyName", "KeyName", Take::Text),
            ("UserData", "UserData", Take::Text),
            ("SecurityGroupIds", "SecurityGroupId", Take::Texts),
            ("IamInstanceProfile", "IamInstanceProfile", PROFILE),
            ("BlockDeviceMappings", "BlockDeviceMapping", DEVICES),
            ("MetadataOptions", "MetadataOptions", METADATA),
            ("Monitoring", "Monitoring", MONITORING),
            ("TagSpecifications", "TagSpecification", TAGS),
            ("EbsOptimized", "EbsOptimized", Take::Flag),
            ("DisableApiStop", "DisableApiStop", Take::Flag),
            ("DisableApiTermination", "DisableApiTermination", Take::Flag),
            ("KernelId", "KernelId", Take::Text),
            (
                "InstanceInitiatedShutdownBehavior",
                "InstanceInitiatedShutdownBehavior",
                Take::Text,
            ),
            ("CreditSpecification", "CreditSpecification", CREDITS),
            ("EnclaveOptions", "EnclaveOptions", ENCLAVES),
            ("HibernationOptions", "HibernationOptions", HIBERNATION),
            ("MaintenanceOptions", "MaintenanceOptions", MAINTENANCE),
        ],
    }),
);

const PROFILE: Take = Take::Structure(&Structure {
    name: "LaunchTemplateIamInstanceProfileSpecificationRequest",
    parameters: &[("Arn", "Arn", Take::Text), ("Name", "Name", Take::Text)],
});

const DEVICES: Take = Take::Structures(&Structure {
    name: "LaunchTemplateBlockDeviceMappingRequest",
    parameters: &[
        ("DeviceName", "DeviceName", Take::Text),
        ("VirtualName", "VirtualName", Take::Text),
        ("NoDevice", "NoDevice", Take::Text),
        ("Ebs", "Ebs", EBS),
    ],
});

const EBS: Take = Take::Structure(&Structure {
    name: "LaunchTemplateEbsBlockDeviceRequest",
    parameters: &[
        ("Encrypted", "Encrypted", Take::Flag),
        ("DeleteOnTermination", "DeleteOnTermination", Take::Flag),
        ("Iops", "Iops", Take::Number),
        ("KmsKeyId", "KmsKeyId", Take::Text),
        ("SnapshotId", "SnapshotId", Take::Text),
        ("VolumeSize", "VolumeSize", Take::Number),
        ("VolumeType", "VolumeType", Take::Text),
        ("Throughput", "Throughput", Take::Number),
        ("VolumeInitializationRate", "VolumeInitializationRate", Take::Number),
        ("EbsCardIndex", "EbsCardIndex", Take::Number),
    ],
});

const METADATA: Take = Take::Structure(&Structure {
    name: "LaunchTemplateInstanceMetadataOptionsRequest",
    parameters: &[
        ("HttpTokens", "HttpTokens", Take::Text),
        ("HttpPutResponseHopLimit", "HttpPutResponseHopLimit", Take::Number),
        ("HttpEndpoint", "HttpEndpoint", Take::Text),
        ("HttpProtocolIpv6", "HttpProtocolIpv6", Take::Text),
        ("InstanceMetadataTags", "InstanceMetadataTags", Take::Text),
    ],
});

const MONITORING: Take = Take::Structure(&Structure {
    name: "LaunchTemplatesMonitoringRequest",
    parameters: &[
        ("Enabled", "Enabled", Take::Flag),
        ("MetricCategoryIds", "MetricCategoryId", Take::Texts),
    ],
});

const CREDITS: Take = Take::Structure(&Structure {
    name: "CreditSpecificationRequest",
    parameters: &[("CpuCredits", "CpuCredits", Take::Text)],
});

const ENCLAVES: Take = Take::Structure(&Structure {
    name: "LaunchTemplateEnclaveOptionsRequest",
    parameters: &[("Enabled", "Enabled", Take::Flag)],
});

const HIBERNATION: Take = Take::Structure(&Structure {
    name: "LaunchTemplateHibernationOptionsRequest",
    parameters: &[("Configured", "Configured", Take::Flag)],
});

const MAINTENANCE: Take = Take::Structure(&Structure {
    name: "LaunchTemplateInstanceMaintenanceOptionsRequest",
    parameters: &[("AutoRecovery", "AutoRecovery", Take::Text)],
});

const fn operation(name: &'static str, parameters: Parameters) -> Operation {
    Operation { name, parameters, members: MEMBERS }
}

const OPERATIONS: &[Operation] = &[
    operation("DescribeLaunchTemplates", &[PAGE, NEXT]),
    operation(
        "DescribeLaunchTemplateVersions",
        &[NAME, ("Versions", "LaunchTemplateVersion", Take::Texts), PAGE, NEXT],
    ),
    operation(
        "CreateLaunchTemplate",
        &[NAME, DATA, ("TagSpecifications", "TagSpecification", TAGS), TOKEN],
    ),
    operation(
        "CreateLaunchTemplateVersion",
        &[
            ID,
            ("SourceVersion", "SourceVersion", Take::Text),
            ("VersionDescription", "VersionDescription", Take::Text),
            DATA,
            TOKEN,
        ],
    ),
    operation(
        "ModifyLaunchTemplate",
        &[ID, ("DefaultVersion", "SetDefaultVersion", Take::Text)],
    ),
    operation(
        "CreateTags",
        &[("Resources", "ResourceId", Take::Texts), ("Tags", "Tag", Take::TAGS)],
    ),
    operation("DeleteLaunchTemplate", &[ID]),
];

/// What every answer of these operations may hold.
const MEMBERS: &[(&str, Give)] = &[
    ("launchTemplates", Give::List("LaunchTemplates")),
    ("createTime", Give::Time),
    ("defaultVersionNumber", Give::Number),
    ("latestVersionNumber", Give::Number),
    ("tagSet", Give::List("Tags")),
    ("managed", Give::Flag),
    ("hiddenByDefault", Give::Flag),
    ("launchTemplateVersionSet", Give::List("LaunchTemplateVersions")),
    ("versionNumber", Give::Number),
    ("defaultVersion", Give::Flag),
    ("ebsOptimized", Give::Flag),
    ("blockDeviceMappingSet", Give::List("BlockDeviceMappings")),
    ("encrypted", Give::Flag),
    ("deleteOnTermination", Give::Flag),
    ("iops", Give::Number),
    ("volumeSize", Give::Number),
    ("throughput", Give::Number),
    ("volumeInitializationRate", Give::Number),
    ("ebsCardIndex", Give::Number),
    ("networkInterfaceSet", Give::List("NetworkInterfaces")),
    ("associateCarrierIpAddress", Give::Flag),
    ("associatePublicIpAddress", Give::Flag),
    ("deviceIndex", Give::Number),
    ("groupSet", Give::List("Groups")),
    ("ipv6AddressCount", Give::Number),
    ("ipv6AddressesSet", Give::List("Ipv6Addresses")),
    ("isPrimaryIpv6", Give::Flag),
    ("privateIpAddressesSet", Give::List("PrivateIpAddresses")),
    ("primary", Give::Flag),
    ("secondaryPrivateIpAddressCount", Give::Number),
    ("networkCardIndex", Give::Number),
    ("ipv4PrefixSet", Give::List("Ipv4Prefixes")),
    ("ipv4PrefixCount", Give::Number),
    ("ipv6PrefixSet", Give::List("Ipv6Prefixes")),
    ("ipv6PrefixCount", Give::Number),
    ("primaryIpv6", Give::Flag),
    ("enaSrdEnabled", Give::Flag),
    ("enaSrdUdpEnabled", Give::Flag),
    ("tcpEstablishedTimeout", Give::Number),
    ("udpTimeout", Give::Number),
    ("udpStreamTimeout", Give::Number),
    ("enaQueueCount", Give::Number),
    ("enabled", Give::Flag),
    ("metricCategoryIdSet", Give::List("MetricCategoryIds")),
    ("partitionNumber", Give::Number),
    ("disableApiTermination", Give::Flag),
    ("tagSpecificationSet", Give::List("TagSpecifications")),
    ("elasticGpuSpecificationSet", Give::List("ElasticGpuSpecifications")),
    ("elasticInferenceAcceleratorSet", Give::List("ElasticInferenceAccelerators")),
    ("count", Give::Number),
    ("securityGroupIdSet", Give::List("SecurityGroupIds")),
    ("securityGroupSet", Give::List("SecurityGroups")),
    ("blockDurationMinutes", Give::Number),
    ("validUntil", Give::Time),
    ("coreCount", Give::Number),
    ("threadsPerCore", Give::Number),
    ("licenseSet", Give::List("LicenseSpecifications")),
    ("configured", Give::Flag),
    ("httpPutResponseHopLimit", Give::Number),
    ("min", Give::Number),
    ("max", Give::Number),
    ("cpuManufacturerSet", Give::List("CpuManufacturers")),
    ("excludedInstanceTypeSet", Give::List("ExcludedInstanceTypes")),
    ("instanceGenerationSet", Give::List("InstanceGenerations")),
    ("spotMaxPricePercentageOverLowestPrice", Give::Number),
    ("onDemandMaxPricePercentageOverLowestPrice", Give::Number),
    ("requireHibernateSupport", Give::Flag),
    ("localStorageTypeSet", Give::List("LocalStorageTypes")),
    ("acceleratorTypeSet", Give::List("AcceleratorTypes")),
    ("acceleratorManufacturerSet", Give::List("AcceleratorManufacturers")),
    ("acceleratorNameSet", Give::List("AcceleratorNames")),
    ("allowedInstanceTypeSet", Give::List("AllowedInstanceTypes")),
    ("maxSpotPriceAsPercentageOfOptimalOnDemandPrice", Give::Number),
    ("referenceSet", Give::List("References")),
    ("requireEncryptionInTransit", Give::Flag),
    ("enableResourceNameDnsARecord", Give::Flag),
    ("enableResourceNameDnsAAAARecord", Give::Flag),
    ("disableApiStop", Give::Flag),
    ("secondaryInterfaceSet", Give::List("SecondaryInterfaces")),
    ("privateIpAddressCount", Give::Number),
    ("errorSet", Give::List("Errors")),
    ("return", Give::Flag),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::sdk::testing::{Wire, check_answer};

    #[tokio::test]
    async fn full_answers_are_read_as_the_aws_cli_reads_them() {
        check_answer!(super, "ec2", "DescribeLaunchTemplates");
        check_answer!(super, "ec2", "DescribeLaunchTemplateVersions");
    }

    #[tokio::test]
    async fn a_version_is_sent_with_its_structures_and_lists() {
        let wire = Wire::answering("<CreateLaunchTemplateVersionResponse/>");
        let data = json!({
            "InstanceType": "t4g.small",
            "SecurityGroupIds": ["sg-1", "sg-2"],
            "BlockDeviceMappings": [{"DeviceName": "/dev/xvda", "Ebs": {"Encrypted": true, "VolumeSize": 20}}],
            "MetadataOptions": {"HttpTokens": "required"},
        });
        let call = Call::new("ec2", "CreateLaunchTemplateVersion")
            .with("LaunchTemplateId", "lt-1")
            .with("SourceVersion", "3")
            .with("LaunchTemplateData", data);
        assert_eq!(send(&wire.clients(), &call).await.unwrap(), json!({}));
        assert_eq!(
            wire.last(),
            "Action=CreateLaunchTemplateVersion&Version=2016-11-15\
             &LaunchTemplateData.BlockDeviceMapping.1.DeviceName=/dev/xvda\
             &LaunchTemplateData.BlockDeviceMapping.1.Ebs.Encrypted=true\
             &LaunchTemplateData.BlockDeviceMapping.1.Ebs.VolumeSize=20\
             &LaunchTemplateData.InstanceType=t4g.small\
             &LaunchTemplateData.MetadataOptions.HttpTokens=required\
             &LaunchTemplateData.SecurityGroupId.1=sg-1&LaunchTemplateData.SecurityGroupId.2=sg-2\
             &LaunchTemplateId=lt-1&SourceVersion=3"
        );
    }
}
