//! The `buckets` section.
//!
//! What is not declared is `None` and not managed; an empty mapping means none, or the safe values of
//! its fields where it has some.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Offer;

pub use super::check::check;
pub use super::expand::{Placement, resource_id, resources};
pub use super::lifecycle::{LifecycleRule, Noncurrent, NoncurrentTransition, StorageClass, Transition};
pub use super::names::{bucket_name, plain_name, plain_name_of};

/// What a bucket offers to the texts of other resources, and to its own policy.
pub const OFFERS: &[Offer] = &[
    Offer::text("arn", "Arn"),
    Offer::text("name", "Name"),
    Offer::text("domainName", "RegionalDomainName"),
];

/// A policy document, as its JSON says it.
pub type Document = BTreeMap<String, Value>;

/// Declares one bucket of Amazon S3.
///
/// A field that is left out is not managed: what AWS has stays. A new bucket lets nobody in, has no
/// access lists and encrypts with S3's own keys, whether or not that is declared.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Bucket {
    /// The name in AWS, which of all customers only one can have. Default: `WORKSPACE-NAME` with
    /// account and region, as in `team-payments-prod-uploads-123456789012-eu-west-1-an`, which nobody
    /// else can take. A bucket cannot be renamed: another name is another bucket.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 3, max = 63))]
    pub name: Option<String>,
    /// Whether versions of objects are kept. Once they were, they can be `Suspended` and nothing else.
    /// Default: not managed; a new bucket keeps none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub versioning: Option<Versioning>,
    /// How new objects are encrypted that say nothing of it. Default: not managed; S3 takes AES256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encryption: Option<Encryption>,
    /// What keeps the public out, whatever policies and access lists say; `{}` is all of it. What
    /// somebody opens is closed at once. Default: not managed; a new bucket has all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public_access_block: Option<PublicAccessBlock>,
    /// Who owns the objects. Default: not managed; for a new bucket `BucketOwnerEnforced`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ownership: Option<Ownership>,
    /// What happens to objects as they get older: rules by their ids. Others are removed; an empty
    /// mapping means none. Default: not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifecycle: Option<BTreeMap<String, LifecycleRule>>,
    /// How small objects have to be that no rule moves by default. Default: not managed; for new
    /// rules `all_storage_classes_128K`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition_default_minimum_object_size: Option<MinimumObjectSize>,
    /// The policy that says who may do what with the bucket; an empty mapping means none. Its texts may
    /// hold references, such as `${iam.api.arn}` and the bucket's own `${buckets.NAME.arn}`. Default:
    /// not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Document>,
    /// Tags. Declared keys are enforced; keys that are not declared, or no longer, are left alone.
    /// Values may hold references. Default: not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, String>>,
    /// Whether an existing bucket of this name that has no ownership tag is taken over, with what is in
    /// it. Default `false`: it is refused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub adopt: bool,
}

/// Says whether versions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Versioning {
    /// Every change of an object keeps the version before.
    Enabled,
    /// No further versions are kept; those that there are stay.
    Suspended,
}

/// Says how new objects are encrypted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Encryption {
    /// With S3's own keys (`AES256`), or with a key of KMS (`aws:kms`, and twice with `aws:kms:dsse`).
    pub algorithm: Algorithm,
    /// The KMS key: an ARN, an id, an alias, or a reference. `alias/aws/s3` is AWS's own. Default: not
    /// managed; AWS's own, where the algorithm is a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kms_key: Option<String>,
    /// Whether a key of the bucket's own saves most of the calls to KMS. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket_key: Option<bool>,
}

/// Names an algorithm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Algorithm {
    /// With S3's own keys.
    #[serde(rename = "AES256")]
    Aes256,
    /// With a key of KMS.
    #[serde(rename = "aws:kms")]
    Kms,
    /// Twice, with a key of KMS.
    #[serde(rename = "aws:kms:dsse")]
    KmsDsse,
}

/// Says what keeps the public out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PublicAccessBlock {
    /// Whether public access lists cannot be put. Default `true`.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub block_public_acls: bool,
    /// Whether public access lists have no effect. Default `true`.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub ignore_public_acls: bool,
    /// Whether a public policy cannot be put. Default `true`.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub block_public_policy: bool,
    /// Whether a public policy lets in only this account and AWS's services. Default `true`.
    #[serde(skip_serializing_if = "Clone::clone")]
    pub restrict_public_buckets: bool,
}

impl Default for PublicAccessBlock {
    fn default() -> Self {
        Self {
            block_public_acls: true,
            ignore_public_acls: true,
            block_public_policy: true,
            restrict_public_buckets: true,
        }
    }
}

/// Says who owns the objects of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Ownership {
    /// The bucket's owner, and access lists have no effect.
    BucketOwnerEnforced,
    /// The bucket's owner, where whoever writes an object hands it over.
    BucketOwnerPreferred,
    /// Whoever writes them.
    ObjectWriter,
}

/// Says how small objects have to be that no rule moves by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum MinimumObjectSize {
    /// Smaller than 128 KiB, whatever the storage class.
    #[serde(rename = "all_storage_classes_128K")]
    AllStorageClasses128K,
    /// Smaller than 128 KiB, save into `GLACIER` and `DEEP_ARCHIVE`.
    #[serde(rename = "varies_by_storage_class")]
    VariesByStorageClass,
}
