//! What S3 refuses, and whom it tells what.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::model::{AccountId, Call, Clock, Region, Scope};
use crate::sandbox::{Sandbox, Settings};

struct Noon;

impl Clock for Noon {
    fn now(&self) -> Timestamp {
        "2026-11-30T12:00:00Z".parse().unwrap()
    }
}

fn sandbox() -> Sandbox {
    Sandbox::new(Arc::new(Noon), Settings::fast(1))
}

fn scope(account: &str, region: &str) -> Scope {
    Scope { account: AccountId::new(account), region: Region::new(region.to_owned()) }
}

fn create(name: &str, region: &str) -> Call {
    let configuration = match region {
        "us-east-1" => json!({}),
        region => json!({ "LocationConstraint": region }),
    };
    let call = Call::new("s3", "CreateBucket").with("Bucket", name);
    call.with("CreateBucketConfiguration", configuration)
}

fn of(operation: &'static str) -> Call {
    Call::new("s3", operation).with("Bucket", "abc")
}

/// Returns the code of a refusal.
fn code(answer: Result<Value, crate::model::CallError>) -> String {
    answer.unwrap_err().code
}

const OURS: &str = "111122223333";

#[test]
fn a_name_is_everybodys_and_a_second_creation_is_an_error_save_in_the_first_region() {
    let sandbox = sandbox();
    let (here, theirs) = (scope(OURS, "eu-west-1"), scope("444455556666", "eu-west-1"));
    sandbox.ask(&here, &create("abc", "eu-west-1")).unwrap();
    let again = sandbox.ask(&here, &create("abc", "eu-west-1"));
    assert_eq!(code(again), "BucketAlreadyOwnedByYou");
    assert_eq!(code(sandbox.ask(&theirs, &create("abc", "eu-west-1"))), "BucketAlreadyExists");
    let first = scope(OURS, "us-east-1");
    sandbox.ask(&first, &create("first", "us-east-1")).unwrap();
    sandbox.ask(&first, &create("first", "us-east-1")).unwrap();
    let elsewhere = sandbox.ask(&first, &create("other", "eu-west-1"));
    assert_eq!(code(elsewhere), "IllegalLocationConstraintException");
}

#[test]
fn whoever_asks_for_a_bucket_of_another_account_or_region_is_told_so() {
    let sandbox = sandbox();
    let here = scope(OURS, "eu-west-1");
    let tags = of("GetBucketTagging");
    assert_eq!(code(sandbox.ask(&here, &tags)), "NoSuchBucket");
    sandbox.ask(&here, &create("abc", "eu-west-1")).unwrap();
    assert_eq!(code(sandbox.ask(&here, &tags)), "NoSuchTagSet");
    assert_eq!(code(sandbox.ask(&scope(OURS, "eu-west-2"), &tags)), "PermanentRedirect");
    let stranger = scope("444455556666", "eu-west-1");
    assert_eq!(code(sandbox.ask(&stranger, &tags)), "AccessDenied");
    let expected = tags.with("ExpectedBucketOwner", "444455556666");
    assert_eq!(code(sandbox.ask(&here, &expected)), "AccessDenied");
    let list = Call::new("s3", "ListBuckets").with("BucketRegion", "eu-west-1");
    assert_eq!(sandbox.ask(&here, &list).unwrap()["Buckets"][0]["Name"], "abc");
    assert_eq!(sandbox.ask(&stranger, &list).unwrap()["Buckets"], json!([]));
}

#[test]
fn the_namespace_of_an_account_is_its_own_and_has_to_be_asked_for() {
    let sandbox = sandbox();
    let here = scope(OURS, "eu-west-1");
    let name = format!("a-{OURS}-eu-west-1-an");
    let plain = create(&name, "eu-west-1");
    assert_eq!(code(sandbox.ask(&here, &plain)), "MissingNamespaceHeader");
    let asked = plain.with("BucketNamespace", "account-regional");
    let stranger = scope("444455556666", "eu-west-1");
    assert_eq!(code(sandbox.ask(&stranger, &asked)), "InvalidNamespaceHeader");
    sandbox.ask(&here, &asked).unwrap();
}

#[test]
fn a_set_of_tags_takes_the_place_of_the_one_before_save_for_those_of_aws() {
    let sandbox = sandbox();
    let here = scope(OURS, "eu-west-1");
    sandbox.ask(&here, &create("abc", "eu-west-1")).unwrap();
    let put = |tags: Value| of("PutBucketTagging").with("Tagging", json!({ "TagSet": tags }));
    let tag = |key: &str| json!({"Key": key, "Value": "1"});
    sandbox.ask(&here, &put(json!([tag("a")]))).unwrap();
    assert!(sandbox.tag_bucket(&here, "abc", "aws:stack", "1"));
    assert_eq!(code(sandbox.ask(&here, &put(json!([tag("b")])))), "InvalidTag");
    sandbox.ask(&here, &put(json!([tag("b"), tag("aws:stack")]))).unwrap();
    let tags = sandbox.ask(&here, &of("GetBucketTagging")).unwrap();
    assert_eq!(tags["TagSet"], json!([tag("aws:stack"), tag("b")]));
}

#[test]
fn a_bucket_goes_only_when_it_is_empty_and_a_public_policy_only_where_none_is_blocked() {
    let sandbox = sandbox();
    let here = scope(OURS, "eu-west-1");
    sandbox.ask(&here, &create("abc", "eu-west-1")).unwrap();
    let policy = json!({"Statement": {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject",
        "Resource": "arn:aws:s3:::abc/*"}});
    let put = of("PutBucketPolicy").with("Policy", policy.to_string());
    assert_eq!(code(sandbox.ask(&here, &put)), "AccessDenied");
    sandbox.ask(&here, &of("DeletePublicAccessBlock")).unwrap();
    sandbox.ask(&here, &put).unwrap();
    let other = policy.to_string().replace("abc", "xyz");
    let other = of("PutBucketPolicy").with("Policy", other);
    assert_eq!(code(sandbox.ask(&here, &other)), "MalformedPolicy");
    assert!(sandbox.fill_bucket(&here, "abc", true));
    assert_eq!(code(sandbox.ask(&here, &of("DeleteBucket"))), "BucketNotEmpty");
    assert!(sandbox.fill_bucket(&here, "abc", false));
    sandbox.ask(&here, &of("DeleteBucket")).unwrap();
    assert_eq!(code(sandbox.ask(&here, &of("GetBucketTagging"))), "NoSuchBucket");
}
