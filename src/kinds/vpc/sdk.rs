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
            ("Filters", "Filter", Take::FILTERS),
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
            ("Filters", "Filter", Take::FILTERS),
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
    async fn what_no_table_names_is_refused_by_name_and_nothing_is_sent() {
        let cases = [
            (Call::new("ec2", "DescribeVpcs").with("SubnetIds", json!(["a"])),
             "UnknownParameter", "DescribeVpcs has no parameter SubnetIds here"),
            (Call::new("ec2", "DescribeSubnets").with("Filters", json!([{"Nam": "a"}])),
             "UnknownParameter", "Filter has no parameter Filters.0.Nam here"),
            (Call::new("ec2", "DescribeSubnets").with("MaxResults", "5"),
             "InvalidParameterType", "the parameter MaxResults is not a whole number"),
            (Call::new("ec2", "CreateVpc"),
             "UnknownOperation", "the operation CreateVpc is not known here"),
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
