//! Whatever is declared of a bucket: what is made is what is declared, and so is what is changed; what
//! is not declared stays.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::SignedDuration;
use levelset::cli::clock::SystemClock;
use levelset::diff::diff;
use levelset::kinds::s3_bucket::KIND;
use levelset::kinds::s3_bucket::spec::{Bucket, Placement, check, resources};
use levelset::model::{
    AccountId, Bound, Call, Cause, Cloud, Input, Kind, Observation, Observed, Readiness, Region,
    Scope, Severity, Target,
};
use levelset::observe::Observer;
use levelset::sandbox::{Sandbox, Settings};
use proptest::prelude::*;
use serde_json::{Value, json};

const NAME: &str = "law-data-123456789012-eu-west-1-an";

fn scope() -> Scope {
    Scope { account: AccountId::new("123456789012"), region: Region::new("eu-west-1") }
}

/// Plays the agent.
struct Agent {
    sandbox: Sandbox,
    observer: Observer,
}

impl Agent {
    fn new() -> Self {
        let clock = Arc::new(SystemClock);
        let sandbox = Sandbox::new(clock.clone(), Settings::fast(1));
        let observer = Observer::new(Arc::new(sandbox.clone()), clock, SignedDuration::ZERO);
        Self { sandbox, observer }
    }

    async fn send(&self, bound: &Bound, calls: Vec<Call>) -> Result<(), String> {
        let scope = bound.id.scope.clone();
        let target = Target { scope, kind: KIND.name(), cause: Cause::Change };
        for call in calls {
            let sent = self.sandbox.call(&target, &call).await;
            sent.map_err(|error| format!("{error}: {call:?}"))?;
        }
        self.observer.written(&bound.id);
        Ok(())
    }

    async fn look(&self, bound: &Bound) -> Option<Arc<Observed>> {
        match self.observer.observe(&KIND, &bound.id).await {
            Observation::Present(actual) => {
                let actual = self.observer.details(&KIND, bound, actual).await.unwrap();
                Some(self.observer.tags(&KIND, &bound.id, actual).await.unwrap())
            }
            Observation::Absent => None,
            Observation::Unknown(doubt) => panic!("{doubt}"),
        }
    }

    /// Makes or changes the bucket, and returns which fields differ after that.
    async fn converge(&self, bound: &Bound) -> Result<Vec<String>, String> {
        if self.look(bound).await.is_none() {
            self.send(bound, KIND.create(bound)).await?;
        }
        let actual = self.look(bound).await.ok_or("it is not there")?;
        let found = diff(KIND.rules(), bound, &actual, &Readiness::Ready, &[]);
        self.send(bound, KIND.update(bound, &actual, &found.deltas)).await?;
        let actual = self.look(bound).await.ok_or("it is not there any more")?;
        assert!(bound.is_owned(&actual), "{actual:?}");
        let left = diff(KIND.rules(), bound, &actual, &Readiness::Ready, &[]);
        Ok(left.deltas.into_iter().map(|delta| delta.field).collect())
    }

    fn bucket(&self) -> Value {
        Value::Object(self.sandbox.inspect_buckets(&scope()).remove(NAME).unwrap_or_default())
    }
}

fn declared(bucket: &Value) -> Option<Bound> {
    let buckets: BTreeMap<String, Bucket> =
        serde_json::from_value(json!({ "data": bucket })).unwrap();
    if check(&buckets, "law").iter().any(|finding| finding.severity == Severity::Error) {
        return None;
    }
    let here = scope();
    let placement =
        Placement { scope: &here, workspace: "law", owner: "test/Workspace/law", adopt: false };
    let resource = resources(&buckets, &placement).remove(0);
    let known = |(field, input)| match input {
        Input::Known(value) => (field, value),
        other => panic!("{other:?} is not known"),
    };
    Some(Bound {
        id: resource.id,
        fields: resource.fields.into_iter().map(known).collect(),
        initial: resource.initial,
        owner: resource.owner,
        adopt: false,
    })
}

fn one_of(values: &[Value]) -> impl Strategy<Value = Option<Value>> + use<> {
    prop::option::of(prop::sample::select(values.to_vec()))
}

fn encryption() -> impl Strategy<Value = Option<Value>> {
    one_of(&[
        json!({"algorithm": "AES256"}),
        json!({"algorithm": "AES256", "bucketKey": false}),
        json!({"algorithm": "aws:kms"}),
        json!({"algorithm": "aws:kms", "kmsKey": "alias/aws/s3", "bucketKey": true}),
        json!({"algorithm": "aws:kms", "kmsKey": "alias/a", "bucketKey": false}),
        json!({"algorithm": "aws:kms:dsse", "kmsKey": "arn:aws:kms:eu-west-1:1:key/2"}),
    ])
}

fn access() -> impl Strategy<Value = Option<Value>> {
    prop::option::of(any::<[bool; 4]>().prop_map(|[a, b, c, d]| {
        json!({"blockPublicAcls": a, "ignorePublicAcls": b, "blockPublicPolicy": c,
            "restrictPublicBuckets": d})
    }))
}

fn policy() -> impl Strategy<Value = Option<Value>> {
    let statement = |effect: &str, who: Value, action: Value| {
        json!({"Effect": effect, "Principal": who, "Action": action,
            "Resource": [format!("arn:aws:s3:::{NAME}"), format!("arn:aws:s3:::{NAME}/*")]})
    };
    one_of(&[
        json!({}),
        json!({"Statement": [statement("Allow", json!({"AWS": "000000000012"}), json!("s3:*"))]}),
        json!({"Version": "2012-10-17", "Statement": [
            statement("Deny", json!("*"), json!(["s3:PutObject", "s3:GetObject"])),
            statement("Allow", json!({"Service": "logging.s3.amazonaws.com"}), json!("s3:PutObject")),
        ]}),
    ])
}

fn rule() -> impl Strategy<Value = Value> {
    let tags = prop::collection::btree_map("[a-c]", "[x-z]?", 0..3);
    let size = prop::option::of(0u64..3);
    let class = prop::sample::select(&["STANDARD_IA", "GLACIER", "DEEP_ARCHIVE", "GLACIER_IR"]);
    let moves = prop::collection::btree_map(class, 30u32..40, 0..3);
    let what = prop::sample::select(vec![
        json!({"expireAfterDays": 400}),
        json!({"noncurrent": {"expireAfterDays": 3, "keepNewest": 2}}),
        json!({"noncurrent": {"transitions": [{"afterDays": 31, "storageClass": "GLACIER"}]}}),
        json!({"expireDeleteMarkers": true}),
        json!({"abortUploadsAfterDays": 2}),
        json!({}),
    ]);
    let prefix = prop::option::of("[a-z/&<é]{0,3}");
    (tags, size, moves, what, prefix, any::<bool>()).prop_map(
        |(tags, size, moves, what, prefix, enabled)| {
            let moves: Vec<Value> = moves
                .iter()
                .map(|(class, days)| json!({"afterDays": days, "storageClass": class}))
                .collect();
            let mut rule = json!({"tags": tags, "transitions": moves, "enabled": enabled});
            let members = rule.as_object_mut().unwrap();
            members.extend(what.as_object().unwrap().clone());
            members.extend(prefix.map(|it| ("prefix".to_owned(), it.into())));
            members.extend(size.map(|it| ("largerThanBytes".to_owned(), it.into())));
            rule
        },
    )
}

fn bucket() -> impl Strategy<Value = Value> {
    let rules = prop::option::of(prop::collection::btree_map("[a-z &]{1,4}", rule(), 0..3));
    let tags = prop::option::of(prop::collection::btree_map("[a-z]{1,3}", "[ -~]{0,5}", 0..4));
    let words = (
        one_of(&[json!("Enabled"), json!("Suspended")]),
        one_of(&[
            json!("BucketOwnerEnforced"),
            json!("BucketOwnerPreferred"),
            json!("ObjectWriter"),
        ]),
        one_of(&[json!("all_storage_classes_128K"), json!("varies_by_storage_class")]),
    );
    (words, encryption(), access(), policy(), rules, tags).prop_map(
        |((versioning, ownership, size), encryption, access, policy, rules, tags)| {
            let members = [
                ("versioning", versioning),
                ("ownership", ownership),
                ("transitionDefaultMinimumObjectSize", size),
                ("encryption", encryption),
                ("publicAccessBlock", access),
                ("policy", policy),
                ("lifecycle", rules.map(|it| json!(it))),
                ("tags", tags.map(|it| json!(it))),
            ];
            members.into_iter().filter_map(|(name, it)| Some((name.to_owned(), it?))).collect()
        },
    )
}

/// Returns the parts of a bucket that a declaration does not speak of.
fn undeclared(of: &Value, bucket: &Value) -> BTreeMap<&'static str, Value> {
    let parts = [
        ("Status", "versioning"),
        ("OwnershipControls", "ownership"),
        ("ServerSideEncryptionConfiguration", "encryption"),
        ("PublicAccessBlockConfiguration", "publicAccessBlock"),
        ("Policy", "policy"),
        ("Rules", "lifecycle"),
    ];
    let silent = parts.into_iter().filter(|(_, field)| of.get(field).is_none());
    silent.map(|(member, _)| (member, bucket[member].clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_made_of_buckets_is_what_is_declared(before in bucket(), after in bucket()) {
        let (Some(first), Some(second)) = (declared(&before), declared(&after)) else {
            return Err(TestCaseError::reject("not a bucket that a manifest may declare"));
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let agent = Agent::new();
            let none = Ok(Vec::<String>::new());
            prop_assert_eq!(agent.converge(&first).await, none.clone());
            let written = agent.sandbox.counters().values().map(|it| it.calls).sum::<u64>();
            prop_assert!(written > 0);
            prop_assert!(agent.sandbox.tag_bucket(&scope(), NAME, "aws:stack", "x"));
            let there = undeclared(&after, &agent.bucket());
            prop_assert_eq!(agent.converge(&second).await, none);
            prop_assert_eq!(undeclared(&after, &agent.bucket()), there, "what is not declared stays");
            let tags = agent.look(&second).await.unwrap().tags.clone().unwrap();
            prop_assert_eq!(tags.get("aws:stack").map(String::as_str), Some("x"));
            let actual = agent.look(&second).await.unwrap();
            let deletion = KIND.delete(&second.id, &actual, None);
            prop_assert_eq!(agent.send(&second, deletion.calls).await, Ok(()));
            prop_assert!(agent.look(&second).await.is_none());
            Ok(())
        })?;
    }
}
