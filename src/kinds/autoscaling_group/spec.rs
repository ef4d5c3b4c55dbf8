//! The `compute` section of a manifest.
//!
//! In: the section of a manifest. Out: [`Group`]s by name; [`check`](super::check) finds what they
//! alone prove wrong, [`resource`](super::expand) makes the Auto Scaling group of one. What it says of
//! the instances themselves becomes the launch template beside the group.
//!
//! Invariants: a field that is not declared is `None` and not managed; an empty list means none, where
//! a group can be without.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Offer;

pub use super::check::check;
pub use super::expand::{Placement, group_name, resource, resource_id, template_name};

/// What a group offers to the texts of other resources.
pub const OFFERS: &[Offer] = &[
    Offer::text("arn", "AutoScalingGroupARN"),
    Offer::text("name", "AutoScalingGroupName"),
    Offer::text("launchTemplateId", "LaunchTemplate.LaunchTemplateId"),
];

/// Declares an Auto Scaling group and the launch template from which its instances are made.
///
/// A field that is left out is not managed: what AWS has stays. A change of what instances are made
/// from concerns new instances only: those that run stay as they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Group {
    /// The name in AWS of the group. Default: `WORKSPACE-NAME`, for example
    /// `team-payments-prod-web`. It cannot be renamed: another name is another group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 255))]
    pub name: Option<String>,
    /// The name in AWS of its launch template. Default: that of the group. It cannot be renamed
    /// either: another name is another template, which the group is pointed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 3, max = 128))]
    pub launch_template: Option<String>,
    /// The image of the instances: the id of an AMI, or `resolve:ssm:` and the name of a parameter
    /// that holds one, which AWS reads at each launch: what the parameter says then is no drift.
    #[schemars(example = &"resolve:ssm:/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64")]
    pub image: String,
    /// The type of the instances.
    #[schemars(example = &"t4g.small")]
    pub instance_type: String,
    /// The least instances.
    #[schemars(range(min = 0))]
    pub min_size: u32,
    /// The most instances.
    #[schemars(range(min = 0))]
    pub max_size: u32,
    /// How many instances there are. Default: not managed; a new group begins with `minSize`, and from
    /// then on scaling policies and people say how many there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub desired_capacity: Option<u32>,
    /// The ids of the subnets in which instances start. Default: those of `network.vpcRef`: with
    /// `subnetTags` the ones that carry them, else those that its `Network` object selects, else all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subnets: Option<Vec<String>>,
    /// Only subnets of the VPC with all of these tags. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subnet_tags: Option<BTreeMap<String, String>>,
    /// The ids of the instances' security groups, or references to them. Default: the workspace's own
    /// where it has one, else not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_groups: Option<Vec<String>>,
    /// The instance profile that gives the instances a role: its name, its ARN, or a reference. An empty
    /// text means none. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_profile: Option<String>,
    /// The name of the key pair with which people log in; an empty text means none. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_pair: Option<String>,
    /// What instances run when they first start, as it is: it is encoded on the way. It stands in Git
    /// and is readable by whoever may describe the template or log in: no place for a secret. `$${`
    /// stands for `${`. An empty text means none. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_data: Option<String>,
    /// The volume that holds the instances' root. Default: not managed; the image says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root_volume: Option<RootVolume>,
    /// How programs on an instance learn about it. Default: `{httpTokens: required}` for a new
    /// template, then not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata_options: Option<MetadataOptions>,
    /// Whether CloudWatch gets figures of each instance every minute. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detailed_monitoring: Option<bool>,
    /// When an instance counts as broken and is replaced. Default: not managed; AWS looks at the
    /// instances of a new group, and not at what a load balancer says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health_check: Option<HealthCheck>,
    /// Which instances go first, in this order: `Default`, `OldestInstance`, `NewestInstance`,
    /// `OldestLaunchTemplate`, `OldestLaunchConfiguration`, `ClosestToNextInstanceHour`,
    /// `AllocationStrategy`, or the ARN of a Lambda function. An empty list means `Default`. Default:
    /// not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub termination_policies: Option<Vec<String>>,
    /// Whether Spot Instances that AWS is about to take back are replaced before. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_rebalance: Option<bool>,
    /// After how many seconds an instance is replaced, at least 86400; 0 means never. Default: not
    /// managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_instance_lifetime_seconds: Option<u32>,
    /// The ARNs of the target groups in which instances are registered, or references to them; others
    /// are detached, and an empty list means none. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_groups: Option<Vec<String>>,
    /// Tags of the group and of the launch template. Declared keys are enforced; keys that are not
    /// declared, or no longer, are left alone. Values may hold references. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, String>>,
    /// Whether new instances get these tags too. Default: they do, and what somebody sets later stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub propagate_tags: Option<bool>,
    /// Whether an existing group and template of this name without an ownership tag are taken over.
    /// Default `false`: they are refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopt: bool,
}

/// Declares the volume that holds an instance's root.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RootVolume {
    /// The name of the root device in the image. Default `/dev/xvda`, as in Amazon Linux; Ubuntu,
    /// Debian up to 11 and Windows have `/dev/sda1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"/dev/xvda")]
    pub device: Option<String>,
    /// The size. Default: not managed; the image says it.
    #[serde(rename = "sizeGiB", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub size_gib: Option<u32>,
    /// The type: `gp3`, `gp2`, `io1`, `io2` or `standard`. Default: `gp3` for a new template, then
    /// not managed.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub volume_type: Option<String>,
    /// The I/O operations per second of `gp3`, `io1` and `io2`; it needs `type`. Default: not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<u32>,
    /// The throughput of `gp3`; it needs `type`. Default: not managed.
    #[serde(rename = "throughputMiBps", skip_serializing_if = "Option::is_none")]
    pub throughput: Option<u32>,
    /// Whether it is encrypted. Default: `true` where a `kmsKey` is declared, and for a new template;
    /// else not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// The KMS key that encrypts it: an ARN, an id, an alias, or a reference. Default: not managed;
    /// AWS takes the account's default for EBS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kms_key: Option<String>,
}

/// Says how programs on an instance learn about it, and get its role's credentials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct MetadataOptions {
    /// Whether a session token is needed (IMDSv2): `required` or `optional`. Default: `required` for
    /// a new template, then not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_tokens: Option<String>,
    /// How many hops an answer may take: 2 for programs in containers. Default: not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub http_put_response_hop_limit: Option<u32>,
    /// Whether there is an answer at all: `enabled` or `disabled`. Default: not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_endpoint: Option<String>,
}

/// Says when an instance counts as broken.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HealthCheck {
    /// What is asked beside EC2 itself: any of `ELB`, `EBS` and `VPC_LATTICE`; an empty list means
    /// nothing else. Default: not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<String>>,
    /// For how many seconds a new instance may fail. Default: not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grace_period_seconds: Option<u32>,
}
