//! The pass with buckets: names that are everybody's, parts that are read one by one, and what is in
//! them.

use super::*;
use crate::reconcile::preview::preview;

const BUCKET: &str = r#"apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: team-payments-prod}
spec:
  environment: production
  resources:
    buckets:
      data:
        versioning: Enabled
        publicAccessBlock: {}
        policy:
          Version: "2012-10-17"
          Statement: {Effect: Deny, Principal: "*", Action: "s3:*", Resource: "${buckets.data.arn}/*"}
  reconcilePolicy: {deletion: delete}
"#;

const NAME: &str = "team-payments-prod-data-123456789012-eu-west-1-an";

fn bucket(operation: &'static str) -> Call {
    Call::new("s3", operation).with("Bucket", NAME)
}

impl Scene {
    fn bucket(&self) -> Value {
        Value::Object(self.sandbox.inspect_buckets(&scope()).remove(NAME).unwrap_or_default())
    }

    /// Looks as often as the resync interval brings it about, and returns how often a part was read.
    async fn look_around(&self, looks: usize, operation: &str) -> u64 {
        let count = || {
            let counters = self.sandbox.counters();
            counters.get(&format!("s3:{operation}")).map_or(0, |it| it.calls)
        };
        let before = count();
        for _ in 0..looks {
            let passed = self.pass().await;
            let (_, at) = passed.next.due.expect("the object is due again");
            self.wait(at.duration_since(self.clock.now()));
        }
        count() - before
    }
}

const MADE: [&str; 3] = ["CreateBucket", "PutBucketPolicy", "PutBucketVersioning"];

#[tokio::test]
async fn the_plan_of_a_new_bucket_shows_the_policy_that_waits_for_its_arn() {
    let scene = Scene::new(BUCKET).await;
    let entry = scene.cache.snapshot().get(&key()).unwrap().clone();
    let plan = preview(&scene.engine, &entry, None).await.unwrap();
    let policy = plan.steps[0].deltas.iter().find(|delta| delta.field == "policy").unwrap();
    assert!(policy.why.starts_with("known after"), "{policy:?}");
    assert!(policy.to.to_string().contains("${buckets.data.arn}"), "{policy:?}");
}

#[tokio::test]
async fn a_bucket_is_made_with_its_tag_and_then_set_as_declared() {
    let scene = Scene::new(BUCKET).await;
    scene.converge().await;
    assert_eq!(scene.writes(), MADE);
    let there = scene.bucket();
    assert!(
        there["TagSet"].to_string().contains("levelset/Workspace/team-payments-prod"),
        "{there}"
    );
    assert!(there["Policy"].as_str().unwrap().contains(&format!("arn:aws:s3:::{NAME}/*")));
    scene.look_around(3, "ListBuckets").await;
    assert_eq!(scene.look_around(9, "GetBucketPolicy").await, 3, "one reading serves three looks");
    assert_eq!(scene.writes(), MADE);
}

#[tokio::test]
async fn what_somebody_opens_is_closed_at_once() {
    let scene = Scene::new(BUCKET).await;
    scene.converge().await;
    scene.console(bucket("DeletePublicAccessBlock"));
    scene.console(bucket("DeleteBucketPolicy"));
    scene.look_around(3, "ListBuckets").await;
    scene.converge().await;
    assert_eq!(scene.writes()[3..], ["PutPublicAccessBlock", "PutBucketPolicy"]);
    assert_eq!(scene.bucket()["PublicAccessBlockConfiguration"]["BlockPublicPolicy"], true);
}

#[tokio::test]
async fn a_bucket_that_holds_objects_waits_for_whoever_empties_it() {
    let mut scene = Scene::new(BUCKET).await;
    scene.converge().await;
    assert!(scene.sandbox.fill_bucket(&scope(), NAME, true));
    let (before, section) = BUCKET.split_once("    buckets:").unwrap();
    let (_, after) = section.split_once("  reconcilePolicy").unwrap();
    let before = before.trim_end_matches("  resources:\n");
    scene.commit(Some(&format!("{before}  resources: {{}}\n  reconcilePolicy{after}")));
    for _ in 0..6 {
        let _ = scene.pass().await;
        scene.wait(SignedDuration::from_hours(2));
    }
    assert_eq!(scene.bucket()["Name"], NAME, "nothing was taken out of it");
    let told = serde_json::to_string(&scene.status().await).unwrap();
    assert!(told.contains("BucketNotEmpty"), "{told}");
    assert!(scene.sandbox.fill_bucket(&scope(), NAME, false));
    for _ in 0..4 {
        let _ = scene.pass().await;
        scene.wait(SignedDuration::from_hours(2));
    }
    assert_eq!(scene.bucket(), json!({}));
}

#[tokio::test]
async fn a_bucket_of_somebody_else_is_neither_made_nor_touched() {
    let mut scene = Scene::empty().await;
    let configuration = json!({"LocationConstraint": "eu-west-1"});
    let create = bucket("CreateBucket").with("CreateBucketConfiguration", configuration);
    scene.console(create.with("BucketNamespace", "account-regional"));
    scene.commit(Some(BUCKET));
    for _ in 0..4 {
        let _ = scene.pass().await;
        scene.wait(SignedDuration::from_mins(5));
    }
    let row = scene.status().await.resources.remove(0);
    assert_eq!((row.state.as_str(), scene.writes().len()), ("Refused", 0), "{row:?}");
}
