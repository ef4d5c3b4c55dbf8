//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for Amazon EC2" in the Service Authorization
//! Reference; the lists take no narrower resource. A subnet is made only in a VPC that carries an ownership
//! tag, whoever's, and only subnets with one may be changed or deleted; a subnet that is taken over is
//! tagged first.

use crate::model::{Grant, Permission};

const SUBNETS: &[&str] = &["arn:aws:ec2:*:*:subnet/*"];
const VPCS: &[&str] = &["arn:aws:ec2:*:*:vpc/*"];

const fn needs(operation: &'static str, grants: &'static [Grant]) -> Permission {
    Permission { operation, grants }
}

/// States an action on resources that carry an ownership tag.
const fn owned(actions: &'static [&'static str], resources: &'static [&'static str]) -> Grant {
    Grant::of(actions, resources).when("Null", "aws:ResourceTag/levelset:owner", &["false"])
}

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    needs("DescribeSubnets", &[Grant::of(&["ec2:DescribeSubnets"], &["*"])]),
    needs("DescribeVpcs", &[Grant::of(&["ec2:DescribeVpcs"], &["*"])]),
    needs(
        "CreateSubnet",
        &[
            Grant::of(&["ec2:CreateSubnet"], SUBNETS),
            owned(&["ec2:CreateSubnet"], VPCS),
            Grant::of(&["ec2:CreateTags"], SUBNETS),
        ],
    ),
    needs("CreateTags", &[Grant::of(&["ec2:CreateTags"], SUBNETS)]),
    needs("ModifySubnetAttribute", &[owned(&["ec2:ModifySubnetAttribute"], SUBNETS)]),
    needs("DeleteSubnet", &[owned(&["ec2:DeleteSubnet"], SUBNETS)]),
];
