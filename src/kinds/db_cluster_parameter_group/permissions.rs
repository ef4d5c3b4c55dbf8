//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for Amazon RDS" in the Service Authorization
//! Reference.

use crate::model::{Grant, Permission};

const GROUPS: &[&str] = &["arn:aws:rds:*:*:cluster-pg:*"];

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    Permission {
        operation: "DescribeDBClusterParameterGroups",
        grants: &[Grant::of(&["rds:DescribeDBClusterParameterGroups"], &["*"])],
    },
    Permission {
        operation: "DescribeDBClusterParameters",
        grants: &[Grant::of(&["rds:DescribeDBClusterParameters"], GROUPS)],
    },
    Permission {
        operation: "CreateDBClusterParameterGroup",
        grants: &[Grant::of(&["rds:AddTagsToResource", "rds:CreateDBClusterParameterGroup"], GROUPS)],
    },
    Permission {
        operation: "ModifyDBClusterParameterGroup",
        grants: &[Grant::of(&["rds:ModifyDBClusterParameterGroup"], GROUPS)],
    },
    Permission {
        operation: "ResetDBClusterParameterGroup",
        grants: &[Grant::of(&["rds:ResetDBClusterParameterGroup"], GROUPS)],
    },
    Permission {
        operation: "DeleteDBClusterParameterGroup",
        grants: &[Grant::of(&["rds:DeleteDBClusterParameterGroup"], GROUPS)],
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
