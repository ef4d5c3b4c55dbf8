//! Buckets in saved answers: an item of `Buckets` holds what is read of a bucket part by part.
//!
//! The members are those of the answers of `get-bucket-tagging`, `get-bucket-versioning` and the like,
//! put into the item; `null` says that there is none. What an item lacks is unknown.

use serde_json::{Map, Value};

use super::{Saved, not_found, not_recorded};
use crate::model::{Call, CallError};

/// Which members each read answers; the first of them has to be there.
const PARTS: &[(&str, &[&str])] = &[
    ("GetBucketTagging", &["TagSet"]),
    ("GetBucketVersioning", &["Status"]),
    ("GetBucketEncryption", &["ServerSideEncryptionConfiguration"]),
    ("GetPublicAccessBlock", &["PublicAccessBlockConfiguration"]),
    ("GetBucketOwnershipControls", &["OwnershipControls"]),
    ("GetBucketLifecycleConfiguration", &["Rules", "TransitionDefaultMinimumObjectSize"]),
    ("GetBucketPolicy", &["Policy"]),
];

impl Saved {
    /// One part of a bucket; `None` for a call that reads none.
    pub(super) fn part_of_bucket(&self, call: &Call) -> Option<Result<Value, CallError>> {
        let (_, members) = PARTS.iter().find(|(operation, _)| *operation == call.operation)?;
        Some(self.members_of_bucket(call, members))
    }

    fn members_of_bucket(&self, call: &Call, members: &[&str]) -> Result<Value, CallError> {
        let name = call.params.get("Bucket");
        let is_it = |item: &&Value| item.get("Name") == name;
        let buckets = self.list("Buckets", call)?;
        let bucket = buckets.iter().find(is_it).ok_or_else(|| not_found(call))?;
        if let Some(missing) = members.first().filter(|member| bucket.get(**member).is_none()) {
            return Err(not_recorded(call, &format!("{missing} of this bucket")));
        }
        let member = |member: &&str| Some(((*member).to_owned(), bucket.get(*member)?.clone()));
        let mut answer: Map<String, Value> = members.iter().filter_map(member).collect();
        // No tags are an empty set of them: whose the bucket is, is then known.
        if let Some(tags @ Value::Null) = answer.get_mut("TagSet") {
            *tags = Value::Array(Vec::new());
        }
        Ok(answer.into())
    }
}
