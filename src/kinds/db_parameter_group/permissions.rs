//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for Amazon RDS" in the Service Authorization
//! Reference.

use crate::model::{Grant, Permission};

const GROUPS: &[&str] = &["arn:aws:rds:*:*:pg:*"];

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    Permission {
        operation: "DescribeDBParameterGroups",
        grants: &[Grant::of(&["rds:DescribeDBParameterGroups"], &["*"])],
    },
    Permission {
        operation: "DescribeDBParameters",
        grants: &[Grant::of(&["rds:DescribeDBParameters"], GROUPS)],
    },
    Permission {
        operation: "CreateDBParameterGroup",
        grants: &[Grant::of(&["rds:AddTagsToResource", "rds:CreateDBParameterGroup"], GROUPS)],
    },
    Permission {
        operation: "ModifyDBParameterGroup",
        grants: &[Grant::of(&["rds:ModifyDBParameterGroup"], GROUPS)],
    },
    Permission {
        operation: "ResetDBParameterGroup",
        grants: &[Grant::of(&["rds:ResetDBParameterGroup"], GROUPS)],
    },
    Permission {
        operation: "DeleteDBParameterGroup",
        grants: &[Grant::of(&["rds:DeleteDBParameterGroup"], GROUPS)],
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
