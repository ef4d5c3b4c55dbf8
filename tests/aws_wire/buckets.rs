//! The life of a bucket on two emulators.
//!
//! Moto leaves out the tags of a creation, says of no bucket where it is, and of rules not which size
//! nothing smaller of is moved; it has neither encryption nor a public access block by itself, drops
//! which kinds of encryption are refused, and takes no tags of AWS's own (`aws:`) back. Ministack has
//! all of that. Neither pages, and neither asks whom a bucket has to belong to: that is held on the
//! sandbox.

use levelset::diff::diff;
use levelset::kinds::s3_bucket;
use levelset::kinds::s3_bucket::spec::{Bucket, Placement as BucketPlacement, resources};
use levelset::model::{ErrorClass, Observation, Resource};

use super::*;
use crate::support::emulators::{ministack, moto, region};

/// Returns a bucket as its manifest declares it; its own ARN is known in a policy.
fn declared(scope: &Scope, section: &Value) -> Bound {
    let buckets = serde_json::from_value(json!({ "data": section })).unwrap();
    let buckets: std::collections::BTreeMap<String, Bucket> = buckets;
    let owner = "test/Workspace/wire";
    let placement = BucketPlacement { scope, workspace: "wire", owner, adopt: false };
    let Resource { id, fields, initial, owner, refusals, .. } =
        resources(&buckets, &placement).remove(0);
    assert!(refusals.is_empty(), "{refusals:?}");
    let known = |(field, input)| match input {
        Input::Known(value) => (field, value),
        other => panic!("{other:?} is not known"),
    };
    Bound { id, fields: fields.into_iter().map(known).collect(), initial, owner, adopt: false }
}

/// Looks at a bucket in the list, at its parts and its tags, as a pass does.
async fn seen(agent: &Agent, desired: &Bound) -> Arc<Observed> {
    let actual = agent.present(desired).await;
    let actual = agent.observer.details(agent.kind, desired, actual).await.unwrap();
    agent.observer.tags(agent.kind, &desired.id, actual).await.unwrap()
}

/// Returns the operations that mend what differs, after sending them.
async fn mend(agent: &Agent, desired: &Bound) -> Vec<String> {
    let actual = seen(agent, desired).await;
    assert!(desired.is_owned(&actual), "{actual:?}");
    let found = diff(agent.kind.rules(), desired, &actual, &agent.kind.readiness(&actual), &[]);
    assert_eq!((found.waits.len(), found.refusals.len()), (0, 0), "{found:?}");
    let calls = match found.deltas.as_slice() {
        [] => Vec::new(),
        deltas => agent.kind.update(desired, &actual, deltas),
    };
    let names = calls.iter().map(|call| call.operation.to_string()).collect();
    agent.send(desired, calls).await;
    names
}

fn policy(scope: &Scope, who: &str) -> Value {
    let name = declared(scope, &json!({})).id.name;
    json!({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject",
        "Principal": {"AWS": format!("arn:aws:iam::{who}:root")},
        "Resource": format!("arn:aws:s3:::{name}/*")}]})
}

fn before(scope: &Scope) -> Value {
    json!({
        "versioning": "Enabled",
        "encryption": {"algorithm": "aws:kms", "kmsKey": "alias/data", "bucketKey": true},
        "publicAccessBlock": {},
        "ownership": "BucketOwnerEnforced",
        "lifecycle": {
            "a & b": {"prefix": "tmp/", "expireAfterDays": 7, "abortUploadsAfterDays": 1},
            "old": {"tags": {"k": "v", "l": "w"}, "prefix": "x/", "noncurrent":
                {"expireAfterDays": 9, "transitions": [{"afterDays": 30, "storageClass": "GLACIER"}]}},
            "move": {"transitions": [{"afterDays": 90, "storageClass": "GLACIER"},
                {"afterDays": 30, "storageClass": "STANDARD_IA"}]},
        },
        "policy": policy(scope, "111122223333"),
        "tags": {"team": "a <&> é"},
    })
}

fn after(scope: &Scope) -> Value {
    json!({
        "versioning": "Suspended",
        "encryption": {"algorithm": "AES256"},
        "publicAccessBlock": {"blockPublicPolicy": false},
        "ownership": "BucketOwnerPreferred",
        "lifecycle": {"day": {"expireOn": "2027-06-30"}},
        "policy": policy(scope, "444455556666"),
        "tags": {"team": "b", "more": "c"},
    })
}

const ALL: [&str; 7] = [
    "PutPublicAccessBlock",
    "PutBucketPolicy",
    "PutBucketOwnershipControls",
    "PutBucketEncryption",
    "PutBucketVersioning",
    "PutBucketLifecycleConfiguration",
    "PutBucketTagging",
];

/// Takes a bucket through its life at an emulator: made, set, changed, put back, deleted.
async fn a_bucket_lives(agent: &Agent, scope: &Scope, keeps_tags_of_a_creation: bool) {
    let desired = declared(scope, &before(scope));
    assert_eq!(agent.look(&desired).await, Observation::Absent);
    agent.send(&desired, s3_bucket::KIND.create(&desired)).await;
    if !keeps_tags_of_a_creation {
        let actual = seen(agent, &desired).await;
        assert_eq!(actual.tags, Some([].into()), "then this test need not tag it");
        let own = s3_bucket::KIND.own(&desired.id, &actual, &desired.owner);
        agent.send(&desired, own).await;
    }
    let made = mend(agent, &desired).await;
    assert!(made.contains(&"PutBucketVersioning".to_owned()), "{made:?}");
    assert_eq!(mend(agent, &desired).await, [""; 0], "what was made is what is declared");

    let changed = declared(scope, &after(scope));
    assert_eq!(mend(agent, &changed).await, ALL);
    assert_eq!(mend(agent, &changed).await, [""; 0], "what was changed is what is declared");
    // Somebody else has it as it was, and more is kept out of it.
    assert_eq!(mend(agent, &desired).await.len(), ALL.len());
    assert_eq!(mend(agent, &changed).await, ALL, "it is put back");

    let nothing = declared(scope, &json!({"lifecycle": {}, "policy": {}}));
    assert_eq!(mend(agent, &nothing).await, ["DeleteBucketPolicy", "DeleteBucketLifecycle"]);
    assert_eq!(mend(agent, &nothing).await, [""; 0]);
    let tags = seen(agent, &nothing).await.tags.clone().unwrap();
    assert_eq!((&*tags["team"], &*tags["more"]), ("b", "c"), "undeclared tags stay");
    refusals_have_their_meaning(agent, &changed).await;
    let actual = seen(agent, &changed).await;
    agent.send(&changed, s3_bucket::KIND.delete(&changed.id, &actual, None).calls).await;
    assert_eq!(agent.look(&changed).await, Observation::Absent);
}

/// Puts an object into a bucket, or takes it out, which no kind does.
async fn object(url: &Url, key: &str, region: &str, method: reqwest::Method, bucket: &str) {
    let credential = format!(
        "AWS4-HMAC-SHA256 Credential={key}/20261129/{region}/s3/aws4_request, \
         SignedHeaders=host, Signature=0"
    );
    let address = url.join(&format!("/{bucket}/object")).unwrap();
    let request = reqwest::Client::new().request(method, address);
    let request = request.header("Authorization", credential).body("x");
    let answer = request.send().await.unwrap();
    assert!(answer.status().is_success(), "{answer:?}");
}

async fn refusals_have_their_meaning(agent: &Agent, there: &Bound) {
    let target =
        Target { scope: there.id.scope.clone(), kind: s3_bucket::NAME, cause: Cause::Change };
    let ask = async |call: Call| agent.cloud.call(&target, &call).await.unwrap_err();
    if there.id.scope.region.as_str() != "us-east-1" {
        let error = ask(s3_bucket::KIND.create(there).remove(0)).await;
        assert_eq!(
            (error.class, &*error.code),
            (ErrorClass::AlreadyExists, "BucketAlreadyOwnedByYou")
        );
    }
    let gone = Call::new("s3", "GetBucketTagging").with("Bucket", "nobody-has-this-one");
    let error = ask(gone).await;
    assert_eq!((error.class, &*error.code), (ErrorClass::NotFound, "NoSuchBucket"));
}

#[tokio::test]
async fn a_bucket_lives_on_moto() {
    let account = account_at(&moto().url, MOTO_ACCOUNT, region(), "test");
    let agent = Agent::of(account.clone(), &s3_bucket::KIND);
    a_bucket_lives(&agent, &account.scope, false).await;
}

#[tokio::test]
async fn a_bucket_lives_on_ministack() {
    let number = "100000000093";
    let account = account_at(&ministack().url, number, "eu-west-1", number);
    let agent = Agent::of(account.clone(), &s3_bucket::KIND);
    a_bucket_lives(&agent, &account.scope, true).await;
}

#[tokio::test]
async fn a_bucket_that_holds_objects_is_not_deleted() {
    let number = "100000000094";
    let url = &ministack().url;
    let account = account_at(url, number, "eu-west-1", number);
    let agent = Agent::of(account.clone(), &s3_bucket::KIND);
    let desired = declared(&account.scope, &json!({}));
    agent.send(&desired, s3_bucket::KIND.create(&desired)).await;
    object(url, number, "eu-west-1", reqwest::Method::PUT, &desired.id.name).await;
    let actual = seen(&agent, &desired).await;
    let delete = s3_bucket::KIND.delete(&desired.id, &actual, None).calls;
    let target =
        Target { scope: account.scope.clone(), kind: s3_bucket::NAME, cause: Cause::Change };
    let error = agent.cloud.call(&target, &delete[0]).await.unwrap_err();
    assert_eq!((error.class, &*error.code), (ErrorClass::NotReady, "BucketNotEmpty"));
    object(url, number, "eu-west-1", reqwest::Method::DELETE, &desired.id.name).await;
    agent.send(&desired, delete).await;
    assert_eq!(agent.look(&desired).await, Observation::Absent);
}

#[tokio::test]
async fn a_bucket_of_another_account_or_region_is_not_absent_and_not_made() {
    let (ours, theirs) = ("100000000095", "100000000096");
    let named = json!({"name": "wire-taken-by-somebody"});
    let at = |number: &str, region: &str| account_at(&ministack().url, number, region, number);
    let other = at(theirs, "eu-west-1");
    let desired = declared(&other.scope, &named);
    let agent = Agent::of(other, &s3_bucket::KIND);
    agent.send(&desired, s3_bucket::KIND.create(&desired)).await;
    for account in [at(ours, "eu-west-1"), at(theirs, "eu-central-1")] {
        let desired = declared(&account.scope, &named);
        let agent = Agent::of(account.clone(), &s3_bucket::KIND);
        let look = agent.look(&desired).await;
        assert!(matches!(look, Observation::Unknown(_)), "{}: {look:?}", account.scope);
        let target = Target { scope: account.scope, kind: s3_bucket::NAME, cause: Cause::Change };
        let create = s3_bucket::KIND.create(&desired).remove(0);
        let error = agent.cloud.call(&target, &create).await.unwrap_err();
        assert_eq!(error.class, ErrorClass::AlreadyExists, "{error}");
    }
}
