//! Calls of security groups to the EC2 Query protocol, and its answers to JSON.

use serde_json::Value;

use crate::kinds::sdk::query::{self, Give, Operation, Structure, Take};
use crate::kinds::sdk::{Clients, Failure};
use crate::model::Call;

/// Sends one call of this kind.
pub(crate) async fn send(clients: &Clients, call: &Call) -> Result<Value, Failure> {
    query::ask(&*clients.ec2, OPERATIONS, call).await
}

type Parameters = &'static [(&'static str, &'static str, Take)];

const GROUP: (&str, &str, Take) = ("GroupId", "GroupId", Take::Text);
const TEXT_OF_RULE: (&str, &str, Take) = ("Description", "Description", Take::Text);

const RULES: (&str, &str, Take) = (
    "IpPermissions",
    "IpPermissions",
    Take::Structures(&Structure {
        name: "IpPermission",
        parameters: &[
            ("IpProtocol", "IpProtocol", Take::Text),
            ("FromPort", "FromPort", Take::Number),
            ("ToPort", "ToPort", Take::Number),
            ("UserIdGroupPairs", "Groups", PAIRS),
            ("IpRanges", "IpRanges", RANGES),
            ("Ipv6Ranges", "Ipv6Ranges", RANGES_V6),
            ("PrefixListIds", "PrefixListIds", LISTS),
        ],
    }),
);

const PAIRS: Take = Take::Structures(&Structure {
    name: "UserIdGroupPair",
    parameters: &[("GroupId", "GroupId", Take::Text), ("UserId", "UserId", Take::Text), TEXT_OF_RULE],
});

const RANGES: Take = Take::Structures(&Structure {
    name: "IpRange",
    parameters: &[("CidrIp", "CidrIp", Take::Text), TEXT_OF_RULE],
});

const RANGES_V6: Take = Take::Structures(&Structure {
    name: "Ipv6Range",
    parameters: &[("CidrIpv6", "CidrIpv6", Take::Text), TEXT_OF_RULE],
});

const LISTS: Take = Take::Structures(&Structure {
    name: "PrefixListId",
    parameters: &[("PrefixListId", "PrefixListId", Take::Text), TEXT_OF_RULE],
});

const TAGS: Take = Take::Structures(&Structure {
    name: "TagSpecification",
    parameters: &[("ResourceType", "ResourceType", Take::Text), ("Tags", "Tag", Take::TAGS)],
});

/// What every answer of these operations may hold.
const MEMBERS: &[(&str, Give)] = &[
    ("securityGroupInfo", Give::List("SecurityGroups")),
    ("groupDescription", Give::Named("Description")),
    ("ipPermissions", Give::List("IpPermissions")),
    ("ipPermissionsEgress", Give::List("IpPermissionsEgress")),
    ("groups", Give::List("UserIdGroupPairs")),
    ("ipRanges", Give::List("IpRanges")),
    ("ipv6Ranges", Give::List("Ipv6Ranges")),
    ("prefixListIds", Give::List("PrefixListIds")),
    ("tagSet", Give::List("Tags")),
    ("securityGroupRuleSet", Give::List("SecurityGroupRules")),
    ("revokedSecurityGroupRuleSet", Give::List("RevokedSecurityGroupRules")),
    ("unknownIpPermissionSet", Give::List("UnknownIpPermissions")),
    ("fromPort", Give::Number),
    ("toPort", Give::Number),
    ("isEgress", Give::Flag),
    ("return", Give::Flag),
];

const fn operation(name: &'static str, parameters: Parameters) -> Operation {
    Operation { name, parameters, members: MEMBERS }
}

const OPERATIONS: &[Operation] = &[
    operation(
        "DescribeSecurityGroups",
        &[
            ("GroupIds", "GroupId", Take::Texts),
            ("Filters", "Filter", Take::FILTERS),
            ("MaxResults", "MaxResults", Take::Number),
            ("NextToken", "NextToken", Take::Text),
        ],
    ),
    operation(
        "CreateSecurityGroup",
        &[
            ("GroupName", "GroupName", Take::Text),
            ("Description", "GroupDescription", Take::Text),
            ("VpcId", "VpcId", Take::Text),
            ("TagSpecifications", "TagSpecification", TAGS),
        ],
    ),
    operation("AuthorizeSecurityGroupIngress", &[GROUP, RULES]),
    operation("AuthorizeSecurityGroupEgress", &[GROUP, RULES]),
    operation("RevokeSecurityGroupIngress", &[GROUP, RULES]),
    operation("RevokeSecurityGroupEgress", &[GROUP, RULES]),
    operation("UpdateSecurityGroupRuleDescriptionsIngress", &[GROUP, RULES]),
    operation("UpdateSecurityGroupRuleDescriptionsEgress", &[GROUP, RULES]),
    operation("DeleteSecurityGroup", &[GROUP]),
    operation(
        "CreateTags",
        &[("Resources", "ResourceId", Take::Texts), ("Tags", "Tag", Take::TAGS)],
    ),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::kinds::sdk::testing::{Wire, check_answer};

    #[tokio::test]
    async fn full_answers_are_read_as_the_aws_cli_reads_them() {
        check_answer!(super, "ec2", "DescribeSecurityGroups");
        check_answer!(super, "ec2", "AuthorizeSecurityGroupIngress");
        check_answer!(super, "ec2", "RevokeSecurityGroupIngress");
    }

    #[tokio::test]
    async fn rules_are_sent_with_their_lists_counted_from_one() {
        let answer = "<AuthorizeSecurityGroupIngressResponse><return>true</return>\
                      </AuthorizeSecurityGroupIngressResponse>";
        let wire = Wire::answering(answer);
        let rules = json!([
            {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 23,
             "IpRanges": [{"CidrIp": "10.0.0.0/8", "Description": "a b"}, {"CidrIp": "1.1.1.1/32"}]},
            {"IpProtocol": "-1", "UserIdGroupPairs": [{"UserId": "1", "GroupId": "sg-2"}]},
        ]);
        let call = Call::new("ec2", "AuthorizeSecurityGroupIngress").with("GroupId", "sg-1");
        let call = call.with("IpPermissions", rules);
        assert_eq!(send(&wire.clients(), &call).await.unwrap(), json!({"Return": true}));
        let sent = wire.last();
        for field in [
            "GroupId=sg-1",
            "IpPermissions.1.FromPort=22",
            "IpPermissions.1.IpRanges.1.CidrIp=10.0.0.0/8",
            "IpPermissions.1.IpRanges.1.Description=a b",
            "IpPermissions.1.IpRanges.2.CidrIp=1.1.1.1/32",
            "IpPermissions.2.IpProtocol=-1",
            "IpPermissions.2.Groups.1.UserId=1",
        ] {
            assert!(sent.split('&').any(|part| part == field), "{field} is not in {sent}");
        }
    }

    #[tokio::test]
    async fn the_tags_of_a_new_group_are_of_its_type() {
        let wire = Wire::answering("<CreateSecurityGroupResponse/>");
        let tags = json!([{"ResourceType": "security-group", "Tags": [{"Key": "a", "Value": "b"}]}]);
        let call = Call::new("ec2", "CreateSecurityGroup")
            .with("GroupName", "x")
            .with("Description", "y")
            .with("TagSpecifications", tags);
        send(&wire.clients(), &call).await.unwrap();
        assert_eq!(
            wire.last(),
            "Action=CreateSecurityGroup&Version=2016-11-15&GroupDescription=y&GroupName=x\
             &TagSpecification.1.ResourceType=security-group&TagSpecification.1.Tag.1.Key=a\
             &TagSpecification.1.Tag.1.Value=b"
        );
    }

    #[tokio::test]
    async fn what_no_table_names_is_refused_and_nothing_is_sent() {
        let wire = Wire::answering("");
        let rules = json!([{"IpProtocol": "tcp", "IpRanges": [{"Cidr": "10.0.0.0/8"}]}]);
        let call = Call::new("ec2", "RevokeSecurityGroupIngress").with("IpPermissions", rules);
        let failure = send(&wire.clients(), &call).await.unwrap_err();
        let reason = "IpRange has no parameter IpPermissions.0.IpRanges.0.Cidr here".to_owned();
        assert_eq!(failure, Failure::Unsendable { code: "UnknownParameter", reason });
        assert_eq!(wire.last(), "");
    }
}
