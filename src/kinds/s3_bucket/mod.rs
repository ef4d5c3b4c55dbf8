//! Buckets of Amazon S3: everything about them but the objects in them.
//!
//! [`spec`] is the manifest section, `lifecycle` its rules, `check` and `check_lifecycle` what it alone
//! proves wrong, `names` what a bucket is called, `expand` the resources that it asks for, `rules` the
//! field rules, `calls` the calls as data, `facts` what answers mean.
//!
//! A name is everybody's: of two customers only one can have it. So the names made here are in the
//! account's own regional namespace (`PREFIX-ACCOUNT-REGION-an`), where nobody else can make one, and
//! every call names the account that the bucket has to belong to.
//!
//! AWS calls of a look: `ListBuckets` of the region with pages of 1,000, which has no more than names;
//! then, for one bucket at a time and in one look of three, one read of each part that the manifest
//! declares (versioning, encryption, public access block, ownership, lifecycle, policy), and of the
//! tags where some are declared or something differs. So 1,000 buckets cost 1 call, and up to 7,000
//! more in every third look where all of them declare everything; a workspace has at most 50.
//! That a bucket exists may be listed late, and what was put may be answered late, by seconds: what was
//! accepted is waited for.
//!
//! Invariants: a bucket is made once, with the ownership tag in the same call, and changed only when a
//! read has shown that tag: in us-east-1 AWS answers a second creation as if it were the first. No
//! object is ever read, written or deleted; a bucket that holds some is not deleted.

mod calls;
mod check;
mod check_lifecycle;
mod expand;
mod facts;
mod import;
mod lifecycle;
mod lifecycle_read;
mod names;
mod permissions;
mod rules;
pub(crate) mod sdk;
pub mod spec;

use serde_json::{Map, Value};

use crate::model::import::Import;
use crate::model::kind::{Deletion, List, Lists};
use crate::model::{
    Bound, Call, Delta, ErrorClass, Kind, KindName, Observed, Offer, Permission, Readiness,
    ResourceId, Rule,
};

/// The name of the kind.
pub const NAME: KindName = KindName::new("s3_bucket");

/// The kind.
pub const KIND: Bucket = Bucket;

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct Bucket;

impl Kind for Bucket {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "s3"
    }

    fn lists(&self) -> &'static [List] {
        const LISTS: &[List] = &[List {
            operation: "ListBuckets",
            answer: "Buckets",
            identifier: "Name",
            only: None,
            flag: None,
            region: Some("BucketRegion"),
            page_size: ("MaxBuckets", 1000),
            marker: ("ContinuationToken", "ContinuationToken"),
        }];
        LISTS
    }

    fn assemble(&self, lists: Lists) -> Vec<(String, Map<String, Value>)> {
        facts::assemble(lists)
    }

    /// The tags, and not a `HEAD` of the bucket: the answer to that has no code, so that nobody could
    /// tell whether AWS or something on the way says "not found".
    fn confirm(&self, name: &str) -> Option<Call> {
        Some(Call::new("s3", "GetBucketTagging").with("Bucket", name))
    }

    /// The tags say that a bucket exists, and nothing of where it is.
    fn is_whole_by_name(&self) -> bool {
        false
    }

    fn details(&self, desired: &Bound, _actual: &Observed) -> Vec<Call> {
        calls::details(desired)
    }

    fn reads_of_each(&self) -> &'static [&'static str] {
        &[
            "GetBucketVersioning",
            "GetBucketEncryption",
            "GetPublicAccessBlock",
            "GetBucketOwnershipControls",
            "GetBucketLifecycleConfiguration",
            "GetBucketPolicy",
            "GetBucketTagging",
        ]
    }

    fn nothing(&self, operation: &str, code: &str) -> Option<Value> {
        facts::nothing(operation, code)
    }

    fn read_tags(&self, actual: &Observed) -> Option<Call> {
        self.confirm(actual.text("Name")?)
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    fn readiness(&self, _actual: &Observed) -> Readiness {
        Readiness::Ready
    }

    fn import(&self) -> Option<&'static dyn Import> {
        Some(&KIND)
    }

    fn offers(&self) -> &'static [Offer] {
        spec::OFFERS
    }

    fn create(&self, desired: &Bound) -> Vec<Call> {
        calls::create(desired)
    }

    fn update(&self, desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
        calls::update(desired, actual, deltas)
    }

    fn own(&self, id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
        calls::own(id, actual, owner)
    }

    fn has_no_snapshot(&self) -> bool {
        true
    }

    /// A role names a bucket that names the role: of two workspaces that leave together neither has to
    /// wait for the other.
    fn may_be_circular(&self) -> bool {
        true
    }

    fn delete(&self, id: &ResourceId, _actual: &Observed, _snapshot: Option<&str>) -> Deletion {
        calls::delete(id)
    }

    fn permissions(&self) -> &'static [Permission] {
        permissions::PERMISSIONS
    }

    fn classify(&self, code: &str) -> ErrorClass {
        facts::classify(code)
    }
}
