//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for Amazon EC2" in the Service Authorization
//! Reference; these reads take no narrower resource.

use crate::model::{Grant, Permission};

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    Permission {
        operation: "DescribeVpcs",
        grants: &[Grant::of(&["ec2:DescribeVpcs"], &["*"])],
    },
    Permission {
        operation: "DescribeSubnets",
        grants: &[Grant::of(&["ec2:DescribeSubnets"], &["*"])],
    },
];
