//! Calls of subnets to the EC2 Query protocol, and its answers to JSON.

use serde_json::Value;

use crate::kinds::sdk::network::{DONE, Members, Parameters, SUBNET, SUBNET_LIST, TAGGING, TAGS, VPC, VPC_LIST};
use crate::kinds::sdk::query::{self, Operation, Take};
use crate::kinds::sdk::{Clients, Failure};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    query::ask(&*clients.ec2, OPERATIONS, call).await
}

const ID: (&str, &str, Take) = ("SubnetId", "SubnetId", Take::Text);

const fn operation(name: &'static str, parameters: Parameters, members: Members) -> Operation {
    Operation { name, parameters, members }
}

const OPERATIONS: &[Operation] = &[
    operation("DescribeSubnets", SUBNET_LIST, SUBNET),
    operation("DescribeVpcs", VPC_LIST, VPC),
    operation(
        "CreateSubnet",
        &[
            ("VpcId", "VpcId", Take::Text),
            ("CidrBlock", "CidrBlock", Take::Text),
            ("AvailabilityZone", "AvailabilityZone", Take::Text),
            ("TagSpecifications", "TagSpecification", TAGS),
        ],
        SUBNET,
    ),
    operation(
        "ModifySubnetAttribute",
        &[ID, ("MapPublicIpOnLaunch", "MapPublicIpOnLaunch", Take::Switch)],
        DONE,
    ),
    operation("DeleteSubnet", &[ID], DONE),
    operation("CreateTags", TAGGING, DONE),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::sdk::testing::Wire;

    #[tokio::test]
    async fn a_subnet_is_made_in_its_vpc_and_zone_and_read_with_its_flags() {
        let wire = Wire::answering(
            "<CreateSubnetResponse><subnet><subnetId>subnet-1</subnetId><availableIpAddressCount>251\
             </availableIpAddressCount><mapPublicIpOnLaunch>false</mapPublicIpOnLaunch></subnet>\
             </CreateSubnetResponse>",
        );
        let call = Call::new("ec2", "CreateSubnet")
            .with("VpcId", "vpc-1")
            .with("CidrBlock", "10.0.1.0/24")
            .with("AvailabilityZone", "eu-west-1a");
        let subnet = json!({"SubnetId": "subnet-1", "AvailableIpAddressCount": 251,
            "MapPublicIpOnLaunch": false});
        assert_eq!(send(&wire.clients(), &call).await.unwrap(), json!({ "Subnet": subnet }));
        assert_eq!(
            wire.last(),
            "Action=CreateSubnet&Version=2016-11-15&AvailabilityZone=eu-west-1a&CidrBlock=10.0.1.0/24\
             &VpcId=vpc-1"
        );
    }

    #[tokio::test]
    async fn an_attribute_is_changed_by_its_name() {
        let wire = Wire::answering(
            "<ModifySubnetAttributeResponse><return>true</return></ModifySubnetAttributeResponse>",
        );
        let call = Call::new("ec2", "ModifySubnetAttribute").with("SubnetId", "subnet-1");
        let call = call.with("MapPublicIpOnLaunch", json!({"Value": true}));
        assert_eq!(send(&wire.clients(), &call).await.unwrap(), json!({"Return": true}));
        assert_eq!(
            wire.last(),
            "Action=ModifySubnetAttribute&Version=2016-11-15&MapPublicIpOnLaunch.Value=true\
             &SubnetId=subnet-1"
        );
    }
}
