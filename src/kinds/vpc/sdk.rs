//! Calls of VPCs and subnets to the EC2 Query protocol, and its answers to JSON.

use serde_json::Value;

use crate::kinds::sdk::query::{self, Give, Operation, Take};
use crate::kinds::sdk::{Clients, Failure};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    query::ask(&*clients.ec2, OPERATIONS, call).await
}

const OPERATIONS: &[Operation] = &[
    Operation {
        name: "DescribeVpcs",
        parameters: &[
            ("VpcIds", "VpcId", Take::Texts),
            ("Filters", "Filter", Take::Filters),
            ("MaxResults", "MaxResults", Take::Number),
            ("NextToken", "NextToken", Take::Text),
        ],
        members: &[
            ("vpcSet", Give::List("Vpcs")),
            ("tagSet", Give::List("Tags")),
            ("cidrBlockAssociationSet", Give::List("CidrBlockAssociationSet")),
            ("ipv6CidrBlockAssociationSet", Give::List("Ipv6CidrBlockAssociationSet")),
            ("networkFirewallAssociationSet", Give::List("NetworkFirewallAssociations")),
            ("isDefault", Give::Flag),
        ],
    },
    Operation {
        name: "DescribeSubnets",
        parameters: &[
            ("SubnetIds", "SubnetId", Take::Texts),
            ("Filters", "Filter", Take::Filters),
            ("MaxResults", "MaxResults", Take::Number),
            ("NextToken", "NextToken", Take::Text),
        ],
        members: &[
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
        ],
    },
];
