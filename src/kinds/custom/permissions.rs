//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for AWS Cloud Control API" in the Service
//! Authorization Reference: its actions are named as CloudFormation's and take no narrower resource.
//! AWS makes the calls to the service behind a type with the caller's own rights, so whoever wants
//! queues made adds `sqs:CreateQueue` and the like. That is meant: what no right is given for cannot
//! be made by way of a manifest.

use crate::model::{Grant, Permission};

const fn any(operation: &'static str, grants: &'static [Grant]) -> Permission {
    Permission { operation, grants }
}

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    any("DescribeType", &[Grant::of(&["cloudformation:DescribeType"], &["*"])]),
    any("GetResource", &[Grant::of(&["cloudformation:GetResource"], &["*"])]),
    any(
        "GetResourceRequestStatus",
        &[Grant::of(&["cloudformation:GetResourceRequestStatus"], &["*"])],
    ),
    any("CreateResource", &[Grant::of(&["cloudformation:CreateResource"], &["*"])]),
    any("UpdateResource", &[Grant::of(&["cloudformation:UpdateResource"], &["*"])]),
    any("DeleteResource", &[Grant::of(&["cloudformation:DeleteResource"], &["*"])]),
];
