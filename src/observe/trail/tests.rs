//! How often CloudTrail is asked, and what is done with its answers.

use std::sync::atomic::{AtomicI64, Ordering};

use super::*;
use crate::model::cloud::CallFuture;
use crate::model::{AccountId, CallError, Region};

const OWN: &str = "arn:aws:iam::111122223333:user/agent";
const ALICE: &str = "arn:aws:iam::111122223333:user/alice";

struct Hand(AtomicI64);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Ordering::Relaxed)).unwrap()
    }
}

/// Answers lookups with these events, or with a failure.
#[derive(Default)]
struct History {
    events: Mutex<Vec<Value>>,
    failure: Mutex<Option<ErrorClass>>,
    asked: Mutex<Vec<Value>>,
}

impl Cloud for History {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(async move {
            assert_eq!(target.cause, Cause::Trace);
            if call.service == "sts" {
                return Ok(json!({"Arn": OWN}));
            }
            self.asked.lock().unwrap().push(Value::Object(call.params.clone()));
            match *self.failure.lock().unwrap() {
                Some(class) => Err(CallError {
                    class,
                    operation: "LookupEvents".to_owned(),
                    code: "Code".to_owned(),
                    message: "no".to_owned(),
                }),
                None => Ok(json!({"Events": *self.events.lock().unwrap()})),
            }
        })
    }
}

struct Scene {
    history: Arc<History>,
    clock: Arc<Hand>,
    trail: Trail,
}

fn scene() -> Scene {
    let (history, clock) = (Arc::new(History::default()), Arc::new(Hand(AtomicI64::new(10_000))));
    let trail = Trail::new(history.clone(), clock.clone());
    Scene { history, clock, trail }
}

fn key() -> Key {
    Key::workspace("a")
}

fn question(name: &str, seen: i64) -> Question {
    let scope = Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") };
    Question {
        key: key(),
        resource: ResourceId { kind: KindName::new("db_instance"), scope, name: name.into() },
        name: name.to_owned(),
        part: None,
        seen: Timestamp::from_second(seen).unwrap(),
        fields: [("port", "Port"), ("iops", "Iops")]
            .map(|(field, member)| {
                let members = vec![member.to_owned()];
                (field.to_owned(), Clue::Field { members, events: &[] })
            })
            .into(),
        known: vec!["Port".to_owned(), "Iops".to_owned()],
    }
}

fn event(second: i64, by: &str, parameter: &str) -> Value {
    let record = json!({"eventTime": Timestamp::from_second(second).unwrap().to_string(),
        "eventName": "ModifyDBInstance", "userIdentity": {"arn": by},
        "requestParameters": {parameter: 1}});
    json!({"CloudTrailEvent": record.to_string()})
}

impl Scene {
    /// Lets the task do what is due.
    async fn settle(&self) {
        while let Some(question) = self.trail.next() {
            self.trail.look(&question).await;
        }
    }

    /// Makes a pass a while later, and lets the task do what is due.
    async fn pass_after(&self, seconds: i64) -> Vec<Traced> {
        self.clock.0.fetch_add(seconds, Ordering::Relaxed);
        let told = self.trail.passed(&key());
        self.settle().await;
        told
    }

    fn asked(&self) -> usize {
        self.history.asked.lock().unwrap().len()
    }
}

#[tokio::test]
async fn one_lookup_answers_for_all_fields_of_a_resource() {
    let scene = scene();
    let events =
        vec![event(9_000, ALICE, "port"), event(9_100, OWN, "iops"), event(9_200, "b", "iops")];
    *scene.history.events.lock().unwrap() = events;
    scene.trail.ask(vec![question("db", 10_000), question("db", 10_000)]);
    scene.settle().await;
    assert_eq!(scene.asked(), 1);
    let asked = scene.history.asked.lock().unwrap()[0].clone();
    let attribute = json!([{"AttributeKey": "ResourceName", "AttributeValue": "db"}]);
    assert_eq!(asked, json!({"LookupAttributes": attribute, "EndTime": 10_060, "MaxResults": 50}));
    assert!(scene.trail.is_due(&key()));
    let told = scene.pass_after(1).await;
    let of = |it: &Traced| (it.field.clone(), it.changed.by.clone());
    let expected = [("iops", "b"), ("port", ALICE)];
    let expected = expected.map(|(field, by)| (field.to_owned(), by.to_owned()));
    assert_eq!(told.iter().map(of).collect::<Vec<_>>(), expected);
    assert!(scene.pass_after(3600).await.is_empty(), "it is told once");
    assert_eq!(scene.asked(), 1, "and not asked again");
}

#[tokio::test]
async fn what_does_not_show_yet_is_asked_again_by_later_passes_and_not_for_ever() {
    let scene = scene();
    scene.trail.ask(vec![question("db", 10_000)]);
    scene.settle().await;
    for _ in 0..9 {
        scene.trail.ask(vec![question("db", 10_000)]);
        scene.pass_after(30).await;
    }
    assert_eq!(scene.asked(), 1, "passes in a row do not ask anew");
    for _ in 0..20 {
        scene.pass_after(300).await;
        scene.trail.ask(vec![question("db", 10_000)]);
    }
    assert_eq!(scene.asked(), 5);
    assert!(!scene.trail.is_due(&key()), "nobody will know");
}

#[tokio::test]
async fn whoever_refuses_is_left_alone_for_an_hour() {
    let scene = scene();
    *scene.history.failure.lock().unwrap() = Some(ErrorClass::Denied);
    scene.trail.ask((0..10).map(|number| question(&number.to_string(), 10_000)).collect());
    scene.settle().await;
    assert_eq!(scene.asked(), 1);
    scene.pass_after(1800).await;
    assert_eq!(scene.asked(), 1);
    *scene.history.failure.lock().unwrap() = None;
    scene.pass_after(1801).await;
    assert!(scene.asked() > 1);
}

#[tokio::test]
async fn other_failures_are_tried_again() {
    let scene = scene();
    *scene.history.failure.lock().unwrap() = Some(ErrorClass::Throttled);
    scene.trail.ask(vec![question("db", 10_000)]);
    scene.settle().await;
    *scene.history.failure.lock().unwrap() = None;
    *scene.history.events.lock().unwrap() = vec![event(9_000, ALICE, "port")];
    scene.pass_after(300).await;
    let told = scene.pass_after(1).await;
    assert_eq!(told.len(), 1, "{told:?}");
}

#[tokio::test]
async fn drift_that_comes_back_is_another_question() {
    let scene = scene();
    *scene.history.events.lock().unwrap() =
        vec![event(9_000, ALICE, "port"), event(9_000, ALICE, "iops")];
    scene.trail.ask(vec![question("db", 10_000)]);
    scene.settle().await;
    scene.trail.ask(vec![question("db", 20_000)]);
    scene.settle().await;
    assert_eq!(scene.asked(), 2);
}
