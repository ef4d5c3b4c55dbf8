//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for Amazon RDS" in the Service Authorization
//! Reference. RDS looks at the subnets with the caller's own rights.

use crate::model::{Grant, Permission};

const GROUPS: &[&str] = &["arn:aws:rds:*:*:subgrp:*"];

const LOOK_AT_SUBNETS: Grant = Grant::of(
    &["ec2:DescribeAvailabilityZones", "ec2:DescribeSubnets", "ec2:DescribeVpcs"],
    &["*"],
);

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    Permission {
        operation: "DescribeDBSubnetGroups",
        grants: &[Grant::of(&["rds:DescribeDBSubnetGroups"], &["*"])],
    },
    Permission {
        operation: "CreateDBSubnetGroup",
        grants: &[
            Grant::of(&["rds:AddTagsToResource", "rds:CreateDBSubnetGroup"], GROUPS),
            LOOK_AT_SUBNETS,
        ],
    },
    Permission {
        operation: "ModifyDBSubnetGroup",
        grants: &[Grant::of(&["rds:ModifyDBSubnetGroup"], GROUPS), LOOK_AT_SUBNETS],
    },
    Permission {
        operation: "DeleteDBSubnetGroup",
        grants: &[Grant::of(&["rds:DeleteDBSubnetGroup"], GROUPS)],
    },
    Permission {
        operation: "AddTagsToResource",
        grants: &[Grant::of(&["rds:AddTagsToResource"], GROUPS)],
    },
    Permission {
        operation: "ListTagsForResource",
        grants: &[Grant::of(&["rds:ListTagsForResource"], GROUPS)],
    },
];
