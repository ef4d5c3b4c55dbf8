//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for Amazon Route 53" in the Service Authorization
//! Reference. Listing zones knows no narrower resource. Whoever wants to allow less names the zones,
//! or the records by the condition key `route53:ChangeResourceRecordSetsNormalizedRecordNames`; the
//! TXT records that begin with `_levelset-` have to be among them.

use crate::model::{Grant, Permission};

const ZONES: &[&str] = &["arn:aws:route53:::hostedzone/*"];

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    Permission {
        operation: "ListHostedZones",
        grants: &[Grant::of(&["route53:ListHostedZones"], &["*"])],
    },
    Permission {
        operation: "GetHostedZone",
        grants: &[Grant::of(&["route53:GetHostedZone"], ZONES)],
    },
    Permission {
        operation: "ListResourceRecordSets",
        grants: &[Grant::of(&["route53:ListResourceRecordSets"], ZONES)],
    },
    Permission {
        operation: "ChangeResourceRecordSets",
        grants: &[Grant::of(&["route53:ChangeResourceRecordSets"], ZONES)],
    },
];
