//! What the operations on VPCs and subnets have in common on the wire.

use super::query::{Give, Structure, Take};

/// The parameters of an operation.
pub(crate) type Parameters = &'static [(&'static str, &'static str, Take)];

/// The members of an answer.
pub(crate) type Members = &'static [(&'static str, Give)];

/// The parameters of `DescribeVpcs`.
pub(crate) const VPC_LIST: Parameters = &[
    ("VpcIds", "VpcId", Take::Texts),
    ("Filters", "Filter", Take::FILTERS),
    ("MaxResults", "MaxResults", Take::Number),
    ("NextToken", "NextToken", Take::Text),
];

/// The members of a VPC.
pub(crate) const VPC: Members = &[
    ("vpcSet", Give::List("Vpcs")),
    ("tagSet", Give::List("Tags")),
    ("cidrBlockAssociationSet", Give::List("CidrBlockAssociationSet")),
    ("ipv6CidrBlockAssociationSet", Give::List("Ipv6CidrBlockAssociationSet")),
    ("networkFirewallAssociationSet", Give::List("NetworkFirewallAssociations")),
    ("isDefault", Give::Flag),
];

/// The parameters of `DescribeSubnets`.
pub(crate) const SUBNET_LIST: Parameters = &[
    ("SubnetIds", "SubnetId", Take::Texts),
    ("Filters", "Filter", Take::FILTERS),
    ("MaxResults", "MaxResults", Take::Number),
    ("NextToken", "NextToken", Take::Text),
];

/// The members of a subnet.
pub(crate) const SUBNET: Members = &[
    ("subnetSet", Give::List("Subnets")),
    ("tagSet", Give::List("Tags")),
    ("ipv6CidrBlockAssociationSet", Give::List("Ipv6CidrBlockAssociationSet")),
    ("availableIpAddressCount", Give::Number),
    ("enableLniAtDeviceIndex", Give::Number),
    ("assignIpv6AddressOnCreation", Give::Flag),
    ("defaultForAz", Give::Flag),
    ("enableDns64", Give::Flag),
    ("enableResourceNameDnsAAAARecord", Give::Flag),
    ("enableResourceNameDnsARecord", Give::Flag),
    ("ipv6Native", Give::Flag),
    ("mapCustomerOwnedIpOnLaunch", Give::Flag),
    ("mapPublicIpOnLaunch", Give::Flag),
];

/// What an operation answers that only says that it was done.
pub(crate) const DONE: Members = &[("return", Give::Flag)];

/// The tags of what is made.
pub(crate) const TAGS: Take = Take::Structures(&Structure {
    name: "TagSpecification",
    parameters: &[("ResourceType", "ResourceType", Take::Text), ("Tags", "Tag", Take::TAGS)],
});

/// The parameters of `CreateTags`.
pub(crate) const TAGGING: Parameters =
    &[("Resources", "ResourceId", Take::Texts), ("Tags", "Tag", Take::TAGS)];
