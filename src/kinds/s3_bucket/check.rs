//! What the `buckets` section alone proves wrong, before AWS is asked.
//!
//! In: the buckets by name. Out: every [`Finding`] at once.
//!
//! Source: the API reference of S3, "Bucket policies" and "Blocking public access to your Amazon S3
//! storage" in the S3 User Guide.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::check_lifecycle;
use super::names::{broken_rule, shortest};
use super::spec::{Algorithm, Bucket, Encryption};
use crate::kinds::policy_document::{self as document, Place};
use crate::kinds::tag_rules::{self, Tagged};
use crate::model::problem::pointer_part;
use crate::model::Finding;

type Findings = Vec<Finding>;

/// The most buckets of one workspace: each may cost seven reads of its own.
const MOST: usize = 50;

/// The most characters of a policy.
const LONGEST_POLICY: usize = 20_480;

/// Of the 50 tags of a bucket, one is Levelset's own.
const TAGS: Tagged = Tagged { what: "a bucket", most: 49, reserved: &[] };

/// Finds what the section alone proves wrong; `workspace` is empty where it cannot be told.
pub fn check(buckets: &BTreeMap<String, Bucket>, workspace: &str) -> Vec<Finding> {
    let mut found = Findings::new();
    if buckets.len() > MOST {
        let message = format!("a workspace has at most {MOST} buckets");
        found.push(Finding::error("", "TooManyBuckets", message));
    }
    for (key, bucket) in buckets {
        let place = Place::new(format!("/{}", pointer_part(key)));
        name(key, bucket, workspace, &place, &mut found);
        if let Some(it) = &bucket.encryption {
            encryption(it, &place.under("encryption"), &mut found);
        }
        check_lifecycle::check(bucket, &place, &mut found);
        policy(bucket, &place.under("policy"), &mut found);
        tag_rules::check(&TAGS, bucket.tags.as_ref(), &place.under("tags"), &mut found);
    }
    found
}

fn name(key: &str, bucket: &Bucket, workspace: &str, place: &Place, found: &mut Findings) {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_edge = |c: char| c == '-';
    if key.is_empty() || !key.chars().all(is_plain) || key.starts_with(is_edge) || key.ends_with('-')
    {
        let message = format!("\"{key}\" is no name for a bucket of a workspace");
        let hint = "lower-case letters, digits and hyphens between them; name: takes any name of S3";
        found.push(place.error("InvalidBucketName", message).hint(hint));
        return;
    }
    let Some(name) = &bucket.name else {
        if let Some(message) = shortest(workspace, key) {
            let hint = "choose a shorter one, or declare name: with one that nobody has yet";
            found.push(place.error("InvalidBucketName", message).hint(hint));
        }
        return;
    };
    if let Some(rule) = broken_rule(name) {
        let message = format!("the name {rule}");
        let hint = "3 to 63 lower-case letters, digits, hyphens and dots, a letter or digit at both \
                    ends; or leave it out";
        found.push(place.under("name").error("InvalidBucketName", message).hint(hint));
    }
}

fn encryption(encryption: &Encryption, place: &Place, found: &mut Findings) {
    if encryption.kms_key.as_deref() == Some("") {
        let hint = "alias/aws/s3 is AWS's own key";
        let message = "a key is not empty";
        found.push(place.under("kmsKey").error("InvalidKey", message).hint(hint));
    }
    if encryption.algorithm != Algorithm::Aes256 {
        return;
    }
    let hint = "algorithm: aws:kms encrypts with a key of KMS";
    if encryption.kms_key.is_some() {
        let message = "AES256 encrypts with S3's own keys and takes none";
        found.push(place.under("kmsKey").error("KeyWithoutKms", message).hint(hint));
    }
    if encryption.bucket_key == Some(true) {
        let message = "a bucket key saves calls to KMS, which AES256 does not make";
        found.push(place.under("bucketKey").error("KeyWithoutKms", message).hint(hint));
    }
}

/// Checks the policy; it may let anybody in where the bucket is declared to be public.
fn policy(bucket: &Bucket, place: &Place, found: &mut Findings) {
    let Some(policy) = bucket.policy.as_ref().filter(|policy| !policy.is_empty()) else { return };
    let mut wrong = Findings::new();
    document::resource(policy, place, &mut wrong);
    let access = bucket.public_access_block.as_ref();
    let is_public = access.is_some_and(|it| !it.block_public_policy && !it.restrict_public_buckets);
    let (open, others) = wrong.into_iter().partition(|it: &Finding| it.code == "AnyoneTrusted");
    found.extend(others);
    if !is_public {
        let hint = "name principals or add a Condition; a public bucket declares publicAccessBlock: \
                    {blockPublicPolicy: false, restrictPublicBuckets: false}";
        let open: Findings = open;
        found.extend(open.into_iter().map(|finding| finding.hint(hint)));
    }
    let size = serde_json::to_string(policy).map_or(0, |text| text.len());
    if size > LONGEST_POLICY {
        let message = format!("the policy has {size} characters");
        let hint = format!("at most {LONGEST_POLICY}");
        found.push(place.error("PolicyTooLarge", message).hint(hint));
    }
    resources(bucket, policy, place, found);
}

/// Says of a statement that it is about another bucket than its own, which S3 refuses.
fn resources(
    bucket: &Bucket,
    policy: &BTreeMap<String, Value>,
    place: &Place,
    found: &mut Findings,
) {
    let statements = match policy.get("Statement") {
        Some(Value::Array(items)) => items.iter().enumerate().map(|(at, it)| (Some(at), it)).collect(),
        Some(one) => vec![(None, one)],
        None => Vec::new(),
    };
    for (at, statement) in statements {
        let resource = statement.as_object().and_then(|it: &Map<String, Value>| it.get("Resource"));
        let texts = match resource {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => vec![text.as_str()],
            _ => Vec::new(),
        };
        let wrong = texts.into_iter().find(|text| !is_its_own(text, bucket.name.as_deref()));
        if let Some(text) = wrong {
            let place = at.map_or_else(|| place.under("Statement"), |at| place.item("Statement", at));
            let message = format!("{text} is not this bucket, nor in it");
            let hint = "its own ARN is the output arn, as in ${buckets.NAME.arn}/*";
            found.push(place.under("Resource").error("OtherResource", message).hint(hint));
        }
    }
}

/// Tells whether an ARN may be that of the bucket or of what is in it; a name that is made here is
/// known where the account is.
fn is_its_own(resource: &str, name: Option<&str>) -> bool {
    if resource.contains("${") || resource == "*" {
        return true;
    }
    let mut parts = resource.splitn(6, ':');
    let is_s3 = parts.next() == Some("arn") && parts.nth(1) == Some("s3");
    let bucket = parts.nth(2).and_then(|rest| rest.split('/').next());
    match (bucket, name) {
        (Some(bucket), Some(name)) => is_s3 && (bucket == name || bucket.contains('*')),
        (Some(bucket), None) => is_s3 && (bucket.contains('*') || bucket.ends_with("-an")),
        (None, _) => false,
    }
}

