//! What is known about every field of a bucket.
//!
//! Source: the API reference of the reads and writes of each part. Every field is set when the bucket
//! is there and its ownership tag was read, save who owns its objects, which goes with its creation.
//! What opens a bucket is a danger and mended at once: public access, access lists, another policy,
//! versions that are kept no longer. What closes it further than Git says is mended as other drift.

use crate::model::{Compare, Rule};

/// The key with which S3 encrypts where its answer names none (`ServerSideEncryptionByDefault`).
pub(super) const DEFAULT_KEY: &str = "alias/aws/s3";

/// What S3 encrypts with by itself, since January 2023.
pub(super) const DEFAULT_ALGORITHM: &str = "AES256";

/// Where the answers have the rule of encryption, which is the only one.
pub(super) const ENCRYPTION: &str = "ServerSideEncryptionConfiguration.Rules.0";

const fn access(field: &'static str, member: &'static str) -> Rule {
    Rule::new(field, member, "PublicAccessBlockConfiguration")
        .compare(Compare::Guard("true"))
        .security()
        .later()
}

const fn encryption(field: &'static str, member: &'static str) -> Rule {
    Rule::new(field, member, "ServerSideEncryptionConfiguration").later()
}

/// The rules, in the order in which reports show them.
pub(super) const RULES: &[Rule] = &[
    access(
        "publicAccessBlock.blockPublicAcls",
        "PublicAccessBlockConfiguration.BlockPublicAcls",
    ),
    access(
        "publicAccessBlock.ignorePublicAcls",
        "PublicAccessBlockConfiguration.IgnorePublicAcls",
    ),
    access(
        "publicAccessBlock.blockPublicPolicy",
        "PublicAccessBlockConfiguration.BlockPublicPolicy",
    ),
    access(
        "publicAccessBlock.restrictPublicBuckets",
        "PublicAccessBlockConfiguration.RestrictPublicBuckets",
    ),
    Rule::new("policy", "Policy", "Policy").compare(Compare::PolicyDocument).security().later(),
    // A bucket of before April 2023 has no controls, which means that whoever writes an object owns it.
    Rule::new("ownership", "OwnershipControls.Rules.0.ObjectOwnership", "OwnershipControls")
        .compare(Compare::Guard("BucketOwnerEnforced"))
        .unsaid("ObjectWriter")
        .security(),
    encryption(
        "encryption.algorithm",
        "ServerSideEncryptionConfiguration.Rules.0.ApplyServerSideEncryptionByDefault.SSEAlgorithm",
    )
    .unsaid(DEFAULT_ALGORITHM),
    encryption(
        "encryption.kmsKey",
        "ServerSideEncryptionConfiguration.Rules.0.ApplyServerSideEncryptionByDefault.KMSMasterKeyID",
    )
    .compare(Compare::ArnTail)
    .unsaid(DEFAULT_KEY),
    encryption(
        "encryption.bucketKey",
        "ServerSideEncryptionConfiguration.Rules.0.BucketKeyEnabled",
    ),
    // A bucket whose versions were never kept answers no state; that state cannot be set again.
    Rule::new("versioning", "Status", "VersioningConfiguration")
        .compare(Compare::Guard("Enabled"))
        .unsaid("Suspended")
        .security()
        .later(),
    Rule::new("lifecycle", "Rules", "LifecycleConfiguration")
        .compare(Compare::LifecycleRules)
        .later(),
    Rule::new(
        "transitionDefaultMinimumObjectSize",
        "TransitionDefaultMinimumObjectSize",
        "TransitionDefaultMinimumObjectSize",
    )
    .relevant("Rules")
    .unsaid("all_storage_classes_128K")
    .later(),
    Rule::new("tags", "TagSet", "Tagging").compare(Compare::Tags),
];
