//! What is known about every field of a launch template.
//!
//! Source: the API reference of `ResponseLaunchTemplateData`. A change makes a new version and disrupts
//! nothing: instances that run stay as they are. An image by a parameter is compared by the name of the
//! parameter, which AWS answers unless it is asked to look it up.

use crate::model::{Compare, Rule};

/// The root device of Amazon Linux.
pub(super) const ROOT_DEVICE: &str = "/dev/xvda";

const fn data(field: &'static str, member: &'static str, parameter: &'static str) -> Rule {
    Rule::new(field, member, parameter)
}

/// A setting of the root volume: of the item of the list that has the declared device.
const fn volume(field: &'static str, path: &'static str) -> Rule {
    Rule::new(field, "LaunchTemplateData.BlockDeviceMappings", "BlockDeviceMappings")
        .compare(Compare::OfItem { key: "DeviceName", named_by: "rootVolume.device", path })
}

const fn metadata(field: &'static str, member: &'static str) -> Rule {
    Rule::new(field, member, "MetadataOptions")
}

/// The rules, in the order in which reports show them.
pub(super) const RULES: &[Rule] = &[
    Rule::new("defaultVersion", "IsDefault", "DefaultVersion"),
    data("image", "LaunchTemplateData.ImageId", "ImageId"),
    data("instanceType", "LaunchTemplateData.InstanceType", "InstanceType"),
    data("securityGroups", "LaunchTemplateData.SecurityGroupIds", "SecurityGroupIds")
        .compare(Compare::Set)
        .security(),
    data("instanceProfile", "InstanceProfile", "IamInstanceProfile").compare(Compare::ArnTail),
    data("keyPair", "LaunchTemplateData.KeyName", "KeyName").security(),
    data("userData", "UserDataText", "UserData"),
    volume("rootVolume.device", "DeviceName").compare(Compare::WriteOnly),
    volume("rootVolume.sizeGiB", "Ebs.VolumeSize"),
    volume("rootVolume.type", "Ebs.VolumeType"),
    volume("rootVolume.iops", "Ebs.Iops"),
    volume("rootVolume.throughputMiBps", "Ebs.Throughput"),
    volume("rootVolume.encrypted", "Ebs.Encrypted").security(),
    volume("rootVolume.kmsKey", "Ebs.KmsKeyId"),
    metadata("metadataOptions.httpTokens", "LaunchTemplateData.MetadataOptions.HttpTokens").security(),
    metadata(
        "metadataOptions.httpPutResponseHopLimit",
        "LaunchTemplateData.MetadataOptions.HttpPutResponseHopLimit",
    ),
    metadata("metadataOptions.httpEndpoint", "LaunchTemplateData.MetadataOptions.HttpEndpoint"),
    data("detailedMonitoring", "LaunchTemplateData.Monitoring.Enabled", "Monitoring"),
    Rule::new("tags", "Tags", "Tags").compare(Compare::Tags),
];
