//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for Amazon S3" in the Service Authorization
//! Reference, where the actions have other names than the operations, and the section "Permissions" of
//! `CreateBucket`. Nothing here reads, writes or deletes an object. Whoever wants to allow less names
//! the buckets: those made here end with the account, the region and `-an`.

use crate::model::{Grant, Permission};

const BUCKETS: &[&str] = &["arn:aws:s3:::*"];

const fn on_buckets(operation: &'static str, grants: &'static [Grant]) -> Permission {
    Permission { operation, grants }
}

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    on_buckets("ListBuckets", &[Grant::of(&["s3:ListAllMyBuckets"], &["*"])]),
    on_buckets("GetBucketTagging", &[Grant::of(&["s3:GetBucketTagging"], BUCKETS)]),
    on_buckets("GetBucketVersioning", &[Grant::of(&["s3:GetBucketVersioning"], BUCKETS)]),
    on_buckets("GetBucketEncryption", &[Grant::of(&["s3:GetEncryptionConfiguration"], BUCKETS)]),
    on_buckets("GetPublicAccessBlock", &[Grant::of(&["s3:GetBucketPublicAccessBlock"], BUCKETS)]),
    on_buckets(
        "GetBucketOwnershipControls",
        &[Grant::of(&["s3:GetBucketOwnershipControls"], BUCKETS)],
    ),
    on_buckets(
        "GetBucketLifecycleConfiguration",
        &[Grant::of(&["s3:GetLifecycleConfiguration"], BUCKETS)],
    ),
    on_buckets("GetBucketPolicy", &[Grant::of(&["s3:GetBucketPolicy"], BUCKETS)]),
    on_buckets(
        "CreateBucket",
        &[Grant::of(
            &["s3:CreateBucket", "s3:PutBucketOwnershipControls", "s3:TagResource"],
            BUCKETS,
        )],
    ),
    on_buckets("PutBucketTagging", &[Grant::of(&["s3:PutBucketTagging"], BUCKETS)]),
    on_buckets("PutBucketVersioning", &[Grant::of(&["s3:PutBucketVersioning"], BUCKETS)]),
    on_buckets("PutBucketEncryption", &[Grant::of(&["s3:PutEncryptionConfiguration"], BUCKETS)]),
    on_buckets("PutPublicAccessBlock", &[Grant::of(&["s3:PutBucketPublicAccessBlock"], BUCKETS)]),
    on_buckets(
        "PutBucketOwnershipControls",
        &[Grant::of(&["s3:PutBucketOwnershipControls"], BUCKETS)],
    ),
    on_buckets(
        "PutBucketLifecycleConfiguration",
        &[Grant::of(&["s3:PutLifecycleConfiguration"], BUCKETS)],
    ),
    on_buckets("DeleteBucketLifecycle", &[Grant::of(&["s3:PutLifecycleConfiguration"], BUCKETS)]),
    on_buckets("PutBucketPolicy", &[Grant::of(&["s3:PutBucketPolicy"], BUCKETS)]),
    on_buckets("DeleteBucketPolicy", &[Grant::of(&["s3:DeleteBucketPolicy"], BUCKETS)]),
    on_buckets("DeleteBucket", &[Grant::of(&["s3:DeleteBucket"], BUCKETS)]),
];
