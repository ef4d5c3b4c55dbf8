//! What an assumed role may do, where the sandbox is set to hold calls against it.
//!
//! Only actions are looked at, not resources or conditions, and only inline policies. A role that
//! the sandbox does not hold may do everything.

use serde_json::Value;

use super::{Role, document};
use crate::model::Call;
use crate::sandbox::ec2::wildcard;

/// The operations of S3 whose actions have other names.
const RENAMED: &[(&str, &str)] = &[
    ("ListBuckets", "ListAllMyBuckets"),
    ("GetBucketEncryption", "GetEncryptionConfiguration"),
    ("PutBucketEncryption", "PutEncryptionConfiguration"),
    ("GetPublicAccessBlock", "GetBucketPublicAccessBlock"),
    ("PutPublicAccessBlock", "PutBucketPublicAccessBlock"),
    ("GetBucketLifecycleConfiguration", "GetLifecycleConfiguration"),
    ("PutBucketLifecycleConfiguration", "PutLifecycleConfiguration"),
    ("DeleteBucketLifecycle", "PutLifecycleConfiguration"),
];

/// Tells whether a role may make a call.
pub(in crate::sandbox) fn allows(role: &Role, call: &Call) -> bool {
    // The Cloud Control API's actions are named as CloudFormation's.
    let service = match &*call.service {
        "cloudcontrolapi" => "cloudformation",
        service => service,
    };
    let renamed = RENAMED.iter().find(|(of, _)| *of == call.operation && service == "s3");
    let name = renamed.map_or(&*call.operation, |(_, name)| name);
    let action = format!("{service}:{name}").to_lowercase();
    let statements: Vec<&Value> = role.inline.values().flat_map(document::statements).collect();
    let speaks = |effect: &str| {
        let of_effect = statements.iter().filter(|statement| statement["Effect"] == effect);
        of_effect.flat_map(|statement| document::many(&statement["Action"])).any(|pattern| {
            let pattern = pattern.as_str().unwrap_or_default().to_lowercase();
            wildcard(pattern.as_bytes(), action.as_bytes())
        })
    };
    speaks("Allow") && !speaks("Deny")
}
