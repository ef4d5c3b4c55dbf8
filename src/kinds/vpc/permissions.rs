//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for Amazon EC2" in the Service Authorization
//! Reference; the lists take no narrower resource. Only VPCs that carry an ownership tag, whoever's, may
//! be changed or deleted; a VPC that is taken over is tagged first.

use crate::model::{Grant, Permission};

const VPCS: &[&str] = &["arn:aws:ec2:*:*:vpc/*"];

const fn needs(operation: &'static str, grants: &'static [Grant]) -> Permission {
    Permission { operation, grants }
}

/// States an action on VPCs that carry an ownership tag.
const fn owned(actions: &'static [&'static str]) -> Grant {
    Grant::of(actions, VPCS).when("Null", "aws:ResourceTag/levelset:owner", &["false"])
}

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    needs("DescribeVpcs", &[Grant::of(&["ec2:DescribeVpcs"], &["*"])]),
    needs("DescribeSubnets", &[Grant::of(&["ec2:DescribeSubnets"], &["*"])]),
    needs("DescribeVpcAttribute", &[Grant::of(&["ec2:DescribeVpcAttribute"], VPCS)]),
    needs(
        "CreateVpc",
        &[Grant::of(&["ec2:CreateVpc"], VPCS), Grant::of(&["ec2:CreateTags"], VPCS)],
    ),
    needs("CreateTags", &[Grant::of(&["ec2:CreateTags"], VPCS)]),
    needs("ModifyVpcAttribute", &[owned(&["ec2:ModifyVpcAttribute"])]),
    needs("DeleteVpc", &[owned(&["ec2:DeleteVpc"])]),
];
