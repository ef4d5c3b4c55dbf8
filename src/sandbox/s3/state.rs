//! What the sandbox holds of buckets.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::model::{AccountId, Region, Scope};

/// Holds the buckets of everybody by name.
#[derive(Debug, Default)]
pub(in crate::sandbox) struct State {
    pub(super) buckets: BTreeMap<String, Bucket>,
}

/// Holds one bucket; a part that is `None` was never set, or was taken away.
#[derive(Debug, Clone)]
pub(super) struct Bucket {
    pub(super) account: AccountId,
    pub(super) region: Region,
    created: Timestamp,
    pub(super) tags: BTreeMap<String, String>,
    pub(super) ownership: Option<Value>,
    pub(super) access: Option<Value>,
    pub(super) encryption: Value,
    pub(super) versioning: Option<String>,
    pub(super) lifecycle: Option<Lifecycle>,
    pub(super) policy: Option<Value>,
    pub(super) holds_objects: bool,
}

/// Holds the rules of a lifecycle, in S3's spelling.
#[derive(Debug, Clone)]
pub(super) struct Lifecycle {
    pub(super) rules: Vec<Value>,
    pub(super) size: String,
}

impl Bucket {
    /// Makes a bucket as S3 makes them since April 2023: encrypted, without access lists, and shut to
    /// the public.
    pub(super) fn new(
        scope: &Scope,
        created: Timestamp,
        ownership: &str,
        tags: BTreeMap<String, String>,
    ) -> Self {
        let access = json!({"BlockPublicAcls": true, "IgnorePublicAcls": true,
            "BlockPublicPolicy": true, "RestrictPublicBuckets": true});
        let encryption = json!({"Rules": [{"BucketKeyEnabled": false,
            "ApplyServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"},
            "BlockedEncryptionTypes": {"EncryptionType": ["SSE-C"]}}]});
        Self {
            account: scope.account.clone(),
            region: scope.region.clone(),
            created,
            tags,
            ownership: Some(json!({"Rules": [{"ObjectOwnership": ownership}]})),
            access: Some(access),
            encryption,
            versioning: None,
            lifecycle: None,
            policy: None,
            holds_objects: false,
        }
    }

    pub(super) fn listed(&self, name: &str) -> Value {
        json!({"Name": name, "CreationDate": self.created.to_string(),
            "BucketRegion": self.region.as_str()})
    }

    pub(super) fn tag_set(&self) -> Value {
        self.tags.iter().map(|(key, value)| json!({"Key": key, "Value": value})).collect()
    }

    pub(super) fn rules(&self) -> Option<Value> {
        let Lifecycle { rules, size } = self.lifecycle.as_ref()?;
        Some(json!({"Rules": rules, "TransitionDefaultMinimumObjectSize": size}))
    }

    /// Describes it with every part that was set.
    pub(super) fn whole(&self, name: &str) -> Map<String, Value> {
        let mut whole = Map::new();
        let parts = [
            Some(self.listed(name)),
            Some(json!({"TagSet": self.tag_set()})),
            self.ownership.as_ref().map(|it| json!({"OwnershipControls": it})),
            self.access.as_ref().map(|it| json!({"PublicAccessBlockConfiguration": it})),
            Some(json!({"ServerSideEncryptionConfiguration": self.encryption})),
            self.versioning.as_ref().map(|it| json!({"Status": it})),
            self.rules(),
            self.policy.as_ref().map(|it| json!({"Policy": it.to_string()})),
        ];
        for part in parts.into_iter().flatten() {
            whole.extend(part.as_object().cloned().unwrap_or_default());
        }
        whole
    }
}
