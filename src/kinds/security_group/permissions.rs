//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for Amazon EC2" in the Service Authorization
//! Reference. Only groups that carry an ownership tag, whoever's, may be changed or deleted; a group
//! that is taken over is tagged first.

use crate::model::{Grant, Permission};

const GROUPS: &[&str] = &["arn:aws:ec2:*:*:security-group/*"];

const fn needs(operation: &'static str, grants: &'static [Grant]) -> Permission {
    Permission { operation, grants }
}

/// States an action on groups that carry an ownership tag.
const fn owned(actions: &'static [&'static str]) -> Grant {
    Grant::of(actions, GROUPS).when("Null", "aws:ResourceTag/levelset:owner", &["false"])
}

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    needs("DescribeSecurityGroups", &[Grant::of(&["ec2:DescribeSecurityGroups"], &["*"])]),
    needs(
        "CreateSecurityGroup",
        &[
            Grant::of(
                &["ec2:CreateSecurityGroup"],
                &["arn:aws:ec2:*:*:security-group/*", "arn:aws:ec2:*:*:vpc/*"],
            ),
            Grant::of(&["ec2:CreateTags"], GROUPS),
        ],
    ),
    needs("CreateTags", &[Grant::of(&["ec2:CreateTags"], GROUPS)]),
    needs("AuthorizeSecurityGroupIngress", &[owned(&["ec2:AuthorizeSecurityGroupIngress"])]),
    needs("AuthorizeSecurityGroupEgress", &[owned(&["ec2:AuthorizeSecurityGroupEgress"])]),
    needs("RevokeSecurityGroupIngress", &[owned(&["ec2:RevokeSecurityGroupIngress"])]),
    needs("RevokeSecurityGroupEgress", &[owned(&["ec2:RevokeSecurityGroupEgress"])]),
    needs(
        "UpdateSecurityGroupRuleDescriptionsIngress",
        &[owned(&["ec2:UpdateSecurityGroupRuleDescriptionsIngress"])],
    ),
    needs(
        "UpdateSecurityGroupRuleDescriptionsEgress",
        &[owned(&["ec2:UpdateSecurityGroupRuleDescriptionsEgress"])],
    ),
    needs("DeleteSecurityGroup", &[owned(&["ec2:DeleteSecurityGroup"])]),
];
