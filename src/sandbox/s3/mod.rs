//! Buckets of Amazon S3, without what is in them.
//!
//! A name is everybody's: whoever asks for a bucket of another account is refused, and whoever asks in
//! another region is sent elsewhere. In us-east-1 a second creation is answered as the first. Parts that
//! were never set are answered with an error, as S3 does it.
//!
//! Not modelled, on purpose: objects (only that there are some), access lists, what a policy allows, and
//! how long a change takes to be seen: S3 states no bound for it.

mod parts;
mod rules;
mod state;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

pub(super) use self::state::State;

use self::state::Bucket;
use super::Sandbox;
use super::args::Args;
use super::page;
use super::refusal::{Answer, Refusal};
use super::services::{Operation, Site};
use crate::model::{AccountId, Scope};

/// The region in which a second creation is no error, and which no creation names.
const FIRST_REGION: &str = "us-east-1";

/// The parameters of every call about a bucket.
const COMMON: [&str; 2] = ["Bucket", "ExpectedBucketOwner"];

/// The operations on buckets.
pub(super) const OPERATIONS: &[Operation] = &[
    operation("ListBuckets", &["BucketRegion", "MaxBuckets", "ContinuationToken"], list),
    operation(
        "CreateBucket",
        &["Bucket", "CreateBucketConfiguration", "BucketNamespace", "ObjectOwnership"],
        create,
    ),
    operation("DeleteBucket", &COMMON, delete),
];

pub(super) use self::parts::OPERATIONS as PARTS;

const fn operation(
    name: &'static str,
    accepts: &'static [&'static str],
    run: fn(&mut Site<'_>, Args<'_>) -> Answer,
) -> Operation {
    Operation { service: "s3", name, accepts, run }
}

fn list(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let asked = args.text("BucketRegion")?;
    if asked.is_some_and(|region| region != site.scope.region.as_str()) {
        let text = "Requests with bucket-region must be made to the endpoint of that region.";
        return Err(Refusal::new("InvalidArgument", text));
    }
    let account = &site.scope.account;
    let all = site.shared.s3.buckets.iter().filter(|(_, it)| it.account == *account);
    let shown = all.filter(|(_, it)| asked.is_none_or(|region| it.region.as_str() == region));
    let shown = shown.map(|(name, it)| (name.as_str(), it));
    page::BUCKETS.answer(args, "Buckets", shown, |name, bucket| Some(bucket.listed(name)))
}

fn create(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let (name, configuration) =
        (args.required("Bucket")?, args.object("CreateBucketConfiguration")?);
    let region = configuration.map(|it| it.text("LocationConstraint")).transpose()?.flatten();
    rules::place(site.scope, region)?;
    rules::name(name)?;
    rules::namespace(name, site.scope, args.text("BucketNamespace")?)?;
    let tags = configuration.map_or_else(|| Ok(BTreeMap::new()), Args::tags)?;
    rules::tags(&tags, &BTreeMap::new())?;
    if let Some(there) = site.shared.s3.buckets.get(name) {
        return rules::taken(there, site.scope).map(|()| json!({}));
    }
    let ownership = args.text("ObjectOwnership")?.unwrap_or("BucketOwnerEnforced");
    let bucket = Bucket::new(site.scope, site.now, ownership, tags);
    site.shared.s3.buckets.insert(name.to_owned(), bucket);
    Ok(json!({}))
}

fn delete(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    if bucket(site, args)?.holds_objects {
        let text = "The bucket you tried to delete is not empty";
        return Err(Refusal::new("BucketNotEmpty", text));
    }
    site.shared.s3.buckets.remove(args.required("Bucket")?);
    Ok(json!({}))
}

/// Finds a bucket that the caller may touch, from where it is.
fn bucket<'a>(site: &'a mut Site<'_>, args: Args<'_>) -> Result<&'a mut Bucket, Refusal> {
    let name = args.required("Bucket")?;
    let Some(bucket) = site.shared.s3.buckets.get_mut(name) else {
        return Err(Refusal::new("NoSuchBucket", "The specified bucket does not exist"));
    };
    let expected = args.text("ExpectedBucketOwner")?.map(AccountId::new);
    let is_expected = expected.is_none_or(|account| account == bucket.account);
    if bucket.account != site.scope.account || !is_expected {
        return Err(Refusal::new("AccessDenied", "Access Denied"));
    }
    if bucket.region != site.scope.region {
        let text = format!(
            "The bucket you are attempting to access must be addressed using the specified endpoint. \
             (the bucket is in {})",
            bucket.region
        );
        return Err(Refusal::new("PermanentRedirect", text));
    }
    Ok(bucket)
}

impl Sandbox {
    /// Describes the buckets of an account in a region by name, with every part that was set, past rate
    /// limit, faults and log.
    pub fn inspect_buckets(&self, scope: &Scope) -> BTreeMap<String, Map<String, Value>> {
        self.world().at(self.clock.now(), scope, &self.by, |site| {
            let all = site.shared.s3.buckets.iter();
            let here =
                all.filter(|(_, it)| it.account == scope.account && it.region == scope.region);
            here.map(|(name, it)| (name.clone(), it.whole(name))).collect()
        })
    }

    /// Puts an object into a bucket, or takes everything out of it; tells whether it exists.
    pub fn fill_bucket(&self, scope: &Scope, name: &str, holds_objects: bool) -> bool {
        self.world().at(self.clock.now(), scope, &self.by, |site| {
            let found = site.shared.s3.buckets.get_mut(name);
            found.map(|bucket| bucket.holds_objects = holds_objects).is_some()
        })
    }

    /// Puts a tag of AWS's own (`aws:`) on a bucket, which no call can; tells whether it exists.
    pub fn tag_bucket(&self, scope: &Scope, name: &str, key: &str, value: &str) -> bool {
        self.world().at(self.clock.now(), scope, &self.by, |site| {
            let found = site.shared.s3.buckets.get_mut(name);
            found.map(|bucket| bucket.tags.insert(key.to_owned(), value.to_owned())).is_some()
        })
    }
}

#[cfg(test)]
mod tests;
