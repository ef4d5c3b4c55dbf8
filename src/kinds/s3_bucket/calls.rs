//! The calls that read, make, change, take over, leave and delete a bucket, as data.
//!
//! Source: the API reference of S3. A bucket is made in one call, with its tags; everything else is set
//! when a read has shown that it is ours. Most writes replace the whole of a part: what Git does not
//! speak of is sent as it was just read, tags of others and of AWS (`aws:`) too. Each names the account
//! that the bucket has to belong to, and is refused by S3 where it is another's.

use serde_json::{Map, Value, json};

use super::names::is_own;
use super::rules::{DEFAULT_KEY, ENCRYPTION};
use crate::model::desired::{ownership, tag_list};
use crate::model::kind::Deletion;
use crate::model::{Bound, Call, Delta, Notice, Observed, ResourceId};

/// The region in which a bucket is made where no other is named, and which must not be named.
const FIRST_REGION: &str = "us-east-1";

/// Which read shows which fields.
const READS: &[(&str, &str)] = &[
    ("publicAccessBlock.blockPublicAcls", "GetPublicAccessBlock"),
    ("policy", "GetBucketPolicy"),
    ("ownership", "GetBucketOwnershipControls"),
    ("encryption.algorithm", "GetBucketEncryption"),
    ("versioning", "GetBucketVersioning"),
    ("lifecycle", "GetBucketLifecycleConfiguration"),
    ("transitionDefaultMinimumObjectSize", "GetBucketLifecycleConfiguration"),
];

/// The settings of the public access block, and the fields that declare them.
const ACCESS: [(&str, &str); 4] = [
    ("BlockPublicAcls", "publicAccessBlock.blockPublicAcls"),
    ("IgnorePublicAcls", "publicAccessBlock.ignorePublicAcls"),
    ("BlockPublicPolicy", "publicAccessBlock.blockPublicPolicy"),
    ("RestrictPublicBuckets", "publicAccessBlock.restrictPublicBuckets"),
];

/// Makes a call about a bucket of this account.
fn call(operation: &'static str, id: &ResourceId) -> Call {
    Call::new("s3", operation)
        .with("Bucket", &*id.name)
        .with("ExpectedBucketOwner", id.scope.account.as_str())
}

/// Returns the reads of what is declared.
pub(super) fn details(desired: &Bound) -> Vec<Call> {
    let declared = READS.iter().filter(|(field, _)| desired.declared(field).is_some());
    let mut operations: Vec<&'static str> = declared.map(|(_, operation)| *operation).collect();
    operations.dedup();
    operations.into_iter().map(|operation| call(operation, &desired.id)).collect()
}

/// Returns the reads of every part but the tags, of a bucket that a list of one's own shows.
pub(super) fn parts(name: &str) -> Vec<Call> {
    let mut operations: Vec<&'static str> = READS.iter().map(|(_, operation)| *operation).collect();
    operations.dedup();
    operations.into_iter().map(|operation| Call::new("s3", operation).with("Bucket", name)).collect()
}

/// Returns the call that makes the bucket, with its tags.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let id = &desired.id;
    let mut configuration = Map::new();
    if id.scope.region.as_str() != FIRST_REGION {
        configuration.insert("LocationConstraint".to_owned(), id.scope.region.as_str().into());
    }
    configuration.insert("Tags".to_owned(), tag_list(&desired.tags_at_creation()));
    let mut create = Call::new("s3", "CreateBucket")
        .with("Bucket", &*id.name)
        .with("CreateBucketConfiguration", configuration);
    if is_own(id) {
        create = create.with("BucketNamespace", "account-regional");
    }
    if let Some(owner) = desired.declared("ownership") {
        create = create.with("ObjectOwnership", owner.clone());
    }
    vec![create]
}

/// Returns the calls that mend exactly these differences: first the public is kept out.
pub(super) fn update(desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
    let change = Change { desired, actual, deltas };
    let calls = [
        change.access(),
        change.policy(),
        change.owner(),
        change.encryption(),
        change.versioning(),
        change.lifecycle(),
        change.tags(),
    ];
    calls.into_iter().flatten().collect()
}

/// Returns the call that sets the ownership tag beside the others.
pub(super) fn own(id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
    tagged(id, actual, &ownership(owner)).into_iter().collect()
}

/// Adds tags to those that were just read; what was not read is not replaced.
fn tagged(id: &ResourceId, actual: &Observed, added: &Map<String, Value>) -> Option<Call> {
    let there = actual.tags.as_ref()?.iter();
    let mut tags: Map<String, Value> =
        there.map(|(key, value)| (key.clone(), value.as_str().into())).collect();
    tags.extend(added.clone());
    Some(call("PutBucketTagging", id).with("Tagging", json!({ "TagSet": tag_list(&tags) })))
}

/// Returns the call that deletes the bucket, which S3 does only when nothing is in it.
pub(super) fn delete(id: &ResourceId) -> Deletion {
    let message = "S3 deletes it when nothing is in it, no version and no unfinished upload either; \
                   nothing is taken out of it here";
    let notice = Notice {
        field: String::new(),
        code: "OnlyWhenEmpty".to_owned(),
        message: message.to_owned(),
    };
    Deletion { calls: vec![call("DeleteBucket", id)], notices: vec![notice] }
}

/// Is what is to be mended.
struct Change<'a> {
    desired: &'a Bound,
    actual: &'a Observed,
    deltas: &'a [Delta],
}

impl Change<'_> {
    fn to(&self, field: &str) -> Option<&Value> {
        self.deltas.iter().find(|delta| delta.field == field).map(|delta| &delta.to)
    }

    fn call(&self, operation: &'static str) -> Call {
        call(operation, &self.desired.id)
    }

    fn access(&self) -> Option<Call> {
        ACCESS.iter().find_map(|(_, field)| self.to(field))?;
        let value = |(member, field): &(&str, &str)| {
            let path = format!("PublicAccessBlockConfiguration.{member}");
            let there = || self.actual.member(&path).cloned().unwrap_or_else(|| false.into());
            ((*member).to_owned(), self.to(field).cloned().unwrap_or_else(there))
        };
        let block: Map<String, Value> = ACCESS.iter().map(value).collect();
        Some(self.call("PutPublicAccessBlock").with("PublicAccessBlockConfiguration", block))
    }

    fn policy(&self) -> Option<Call> {
        let policy = self.to("policy")?;
        if policy.is_null() || policy.as_object().is_some_and(Map::is_empty) {
            return Some(self.call("DeleteBucketPolicy"));
        }
        let document = policy.as_str().map_or_else(|| policy.to_string(), str::to_owned);
        Some(self.call("PutBucketPolicy").with("Policy", document))
    }

    fn owner(&self) -> Option<Call> {
        let rules = json!({"Rules": [{"ObjectOwnership": self.to("ownership")?}]});
        Some(self.call("PutBucketOwnershipControls").with("OwnershipControls", rules))
    }

    /// Changes what differs of the one rule of encryption; what else is in it stays, such as which
    /// kinds of encryption are refused.
    fn encryption(&self) -> Option<Call> {
        let fields = ["encryption.algorithm", "encryption.kmsKey", "encryption.bucketKey"];
        fields.iter().find_map(|field| self.to(field))?;
        let there = |path: &str| self.actual.member(path).and_then(Value::as_object).cloned();
        let mut rule = there(ENCRYPTION).unwrap_or_default();
        let default = "ApplyServerSideEncryptionByDefault";
        let mut by = there(&format!("{ENCRYPTION}.{default}")).unwrap_or_default();
        let algorithm = self.desired.declared("encryption.algorithm")?;
        by.insert("SSEAlgorithm".to_owned(), algorithm.clone());
        match self.to("encryption.kmsKey") {
            Some(key) if key != DEFAULT_KEY => {
                by.insert("KMSMasterKeyID".to_owned(), key.clone());
            }
            Some(_) => drop(by.remove("KMSMasterKeyID")),
            None => {}
        }
        if algorithm == "AES256" {
            by.remove("KMSMasterKeyID");
        }
        rule.insert(default.to_owned(), by.into());
        if let Some(flag) = self.to("encryption.bucketKey") {
            rule.insert("BucketKeyEnabled".to_owned(), flag.clone());
        }
        let rules = json!({ "Rules": [rule] });
        Some(self.call("PutBucketEncryption").with("ServerSideEncryptionConfiguration", rules))
    }

    fn versioning(&self) -> Option<Call> {
        let status = json!({"Status": self.to("versioning")?});
        Some(self.call("PutBucketVersioning").with("VersioningConfiguration", status))
    }

    /// Puts all rules at once, with the smallest size beside them, which S3 sets anew with each put.
    fn lifecycle(&self) -> Option<Call> {
        let size = "transitionDefaultMinimumObjectSize";
        self.to("lifecycle").or_else(|| self.to(size))?;
        let declared = self.desired.declared("lifecycle").filter(|_| self.to("lifecycle").is_some());
        let rules = declared.or_else(|| self.actual.member("Rules"))?;
        if rules.as_array().is_none_or(Vec::is_empty) {
            return Some(self.call("DeleteBucketLifecycle"));
        }
        let put = self.call("PutBucketLifecycleConfiguration");
        let put = put.with("LifecycleConfiguration", json!({ "Rules": rules }));
        let member = "TransitionDefaultMinimumObjectSize";
        let size = self.to(size).or_else(|| self.actual.member(member)).or_else(|| {
            // Without rules AWS has no size, so that no difference says what is declared.
            self.desired.declared(size)
        });
        Some(match size {
            Some(size) => put.with(member, size.clone()),
            None => put,
        })
    }

    fn tags(&self) -> Option<Call> {
        tagged(&self.desired.id, self.actual, self.to("tags")?.as_object()?)
    }
}
