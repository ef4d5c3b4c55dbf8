//! Calls of VPCs and subnets to the EC2 Query protocol, and its answers to JSON.

use serde_json::Value;

use crate::kinds::sdk::network::{DONE, Members, Parameters, SUBNET, SUBNET_LIST, TAGGING, TAGS, VPC, VPC_LIST};
use crate::kinds::sdk::query::{self, Give, Operation, Take};
use crate::kinds::sdk::{Clients, Failure};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    query::ask(&*clients.ec2, OPERATIONS, call).await
}

const ID: (&str, &str, Take) = ("VpcId", "VpcId", Take::Text);

const fn operation(name: &'static str, parameters: Parameters, members: Members) -> Operation {
    Operation { name, parameters, members }
}

const OPERATIONS: &[Operation] = &[
    operation("DescribeVpcs", VPC_LIST, VPC),
    operation("DescribeSubnets", SUBNET_LIST, SUBNET),
    operation(
        "DescribeVpcAttribute",
        &[ID, ("Attribute", "Attribute", Take::Text)],
        &[("value", Give::Flag)],
    ),
    operation(
        "CreateVpc",
        &[
            ("CidrBlock", "CidrBlock", Take::Text),
            ("InstanceTenancy", "InstanceTenancy", Take::Text),
            ("TagSpecifications", "TagSpecification", TAGS),
        ],
        VPC,
    ),
    operation(
        "ModifyVpcAttribute",
        &[
            ID,
            ("EnableDnsSupport", "EnableDnsSupport", Take::Switch),
            ("EnableDnsHostnames", "EnableDnsHostnames", Take::Switch),
        ],
        DONE,
    ),
    operation("DeleteVpc", &[ID], DONE),
    operation("CreateTags", TAGGING, DONE),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::sdk::testing::{Wire, check_answer};

    #[tokio::test]
    async fn full_answers_are_read_as_the_aws_cli_reads_them() {
        check_answer!(super, "ec2", "DescribeVpcs");
        check_answer!(super, "ec2", "DescribeSubnets");
    }

    #[tokio::test]
    async fn a_call_becomes_the_fields_that_the_query_protocol_asks_for() {
        let wire = Wire::answering("<DescribeVpcsResponse><vpcSet/></DescribeVpcsResponse>");
        let call = Call::new("ec2", "DescribeVpcs")
            .with("Filters", json!([{"Name": "tag:Name", "Values": ["a", "b"]}]))
            .with("VpcIds", json!(["vpc-1"]))
            .with("MaxResults", 100)
            .with("NextToken", "t");
        assert_eq!(send(&wire.clients(), &call).await.unwrap(), json!({"Vpcs": []}));
        assert_eq!(
            wire.last(),
            "Action=DescribeVpcs&Version=2016-11-15&Filter.1.Name=tag:Name&Filter.1.Value.1=a\
             &Filter.1.Value.2=b&MaxResults=100&NextToken=t&VpcId.1=vpc-1"
        );
    }

    #[tokio::test]
    async fn a_vpc_is_made_and_changed_one_attribute_a_call() {
        let wire = Wire::answering("<CreateVpcResponse><vpc><vpcId>vpc-1</vpcId></vpc></CreateVpcResponse>");
        let tags = json!([{"ResourceType": "vpc", "Tags": [{"Key": "a", "Value": "b"}]}]);
        let call = Call::new("ec2", "CreateVpc").with("CidrBlock", "10.0.0.0/16");
        let call = call.with("TagSpecifications", tags);
        let answer = send(&wire.clients(), &call).await.unwrap();
        assert_eq!(answer, json!({"Vpc": {"VpcId": "vpc-1"}}));
        assert_eq!(
            wire.last(),
            "Action=CreateVpc&Version=2016-11-15&CidrBlock=10.0.0.0/16\
             &TagSpecification.1.ResourceType=vpc&TagSpecification.1.Tag.1.Key=a\
             &TagSpecification.1.Tag.1.Value=b"
        );
        let wire = Wire::answering(
            "<ModifyVpcAttributeResponse><return>true</return></ModifyVpcAttributeResponse>",
        );
        let call = Call::new("ec2", "ModifyVpcAttribute").with("VpcId", "vpc-1");
        let call = call.with("EnableDnsSupport", json!({"Value": false}));
        send(&wire.clients(), &call).await.unwrap();
        assert_eq!(
            wire.last(),
            "Action=ModifyVpcAttribute&Version=2016-11-15&EnableDnsSupport.Value=false&VpcId=vpc-1"
        );
    }

    #[tokio::test]
    async fn an_attribute_is_read_as_a_flag() {
        let wire = Wire::answering(
            "<DescribeVpcAttributeResponse><vpcId>vpc-1</vpcId><enableDnsSupport><value>true</value>\
             </enableDnsSupport></DescribeVpcAttributeResponse>",
        );
        let call = Call::new("ec2", "DescribeVpcAttribute").with("VpcId", "vpc-1");
        let call = call.with("Attribute", "enableDnsSupport");
        let answer = send(&wire.clients(), &call).await.unwrap();
        assert_eq!(answer, json!({"VpcId": "vpc-1", "EnableDnsSupport": {"Value": true}}));
    }

    #[tokio::test]
    async fn what_no_table_names_is_refused_by_name_and_nothing_is_sent() {
        let cases = [
            (Call::new("ec2", "DescribeVpcs").with("SubnetIds", json!(["a"])),
             "UnknownParameter", "DescribeVpcs has no parameter SubnetIds here"),
            (Call::new("ec2", "DescribeSubnets").with("Filters", json!([{"Nam": "a"}])),
             "UnknownParameter", "Filter has no parameter Filters.0.Nam here"),
            (Call::new("ec2", "DescribeSubnets").with("MaxResults", "5"),
             "InvalidParameterType", "the parameter MaxResults is not a whole number"),
            (Call::new("ec2", "CreateDefaultVpc"),
             "UnknownOperation", "the operation CreateDefaultVpc is not known here"),
            (Call::new("ec2", "ModifyVpcAttribute").with("EnableDnsSupport", true),
             "InvalidParameterType",
             "the parameter EnableDnsSupport is not a structure with true or false as Value"),
        ];
        for (call, code, reason) in cases {
            let wire = Wire::answering("");
            let failure = send(&wire.clients(), &call).await.unwrap_err();
            assert_eq!(failure, Failure::Unsendable { code, reason: reason.to_owned() });
            assert_eq!(wire.last(), "");
        }
    }

    #[tokio::test]
    async fn an_answer_that_cannot_be_read_is_never_a_shorter_list() {
        let answers = [
            "",
            "<html><body>busy</body></html>",
            "<DescribeVpcsResponse><vpcSet><item><vpcId>vpc-1</vpcId></item>",
            "<DescribeVpcsResponse><vpcSet><item><isDefault>maybe</isDefault></item></vpcSet>\
             </DescribeVpcsResponse>",
            "<!DOCTYPE a [<!ENTITY b 'c'>]><DescribeVpcsResponse><vpcSet/></DescribeVpcsResponse>",
            "<DescribeVpcsResponse><vpcSet>&b;</vpcSet></DescribeVpcsResponse>",
        ];
        for answer in answers {
            let clients = Wire::answering(answer).clients();
            let failure = send(&clients, &Call::new("ec2", "DescribeVpcs")).await.unwrap_err();
            assert!(
                matches!(failure, Failure::Lost { code: "UnreadableAnswer", .. }),
                "{answer}: {failure:?}"
            );
        }
    }
}
