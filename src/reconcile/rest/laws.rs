//! The short way of a pass held against the whole one, whatever happens in Git, in AWS and to the time.

use std::cell::Cell;

use jiff::SignedDuration;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::*;
use crate::model::{Ask, Call};
use crate::queue::Lane;
use crate::reconcile::looks;
use crate::reconcile::pass::pass;
use crate::reconcile::tests::{MANIFEST, Scene, key, scope};

/// Something that a pass may have to notice.
#[derive(Debug, Clone)]
enum Event {
    Wait(SignedDuration),
    Console(usize),
    Commit(usize),
    Ask(usize),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (1..500_i64).prop_map(|minutes| Event::Wait(SignedDuration::from_mins(minutes))),
        4 => (1..20_i64).prop_map(|seconds| Event::Wait(SignedDuration::from_secs(seconds))),
        3 => (0..4_usize).prop_map(Event::Console),
        2 => (0..6_usize).prop_map(Event::Commit),
        1 => (0..4_usize).prop_map(Event::Ask),
    ]
}

/// What somebody does behind Git's back.
fn console(number: usize) -> Call {
    let name = "team-payments-prod";
    let modify = Call::new("rds", "ModifyDBInstance")
        .with("DBInstanceIdentifier", name)
        .with("ApplyImmediately", true);
    let arn = format!("arn:aws:rds:eu-west-1:123456789012:db:{name}");
    match number {
        0 => modify.with("DBInstanceClass", "db.r6g.xlarge"),
        1 => modify.with("BackupRetentionPeriod", 3),
        2 => Call::new("rds", "AddTagsToResource")
            .with("ResourceName", arn)
            .with("Tags", json!([{"Key": "cost", "Value": "1"}])),
        _ => Call::new("rds", "RemoveTagsFromResource")
            .with("ResourceName", arn)
            .with("TagKeys", json!(["levelset:owner"])),
    }
}

/// Versions of the manifest, one of them with a network of its own and one of them none.
fn manifest(number: usize) -> Option<String> {
    let annotated =
        |text: &str| MANIFEST.replace("annotations:", &format!("annotations:\n    {text}"));
    Some(match number {
        0 => MANIFEST.to_owned(),
        1 => format!("# moved by a line\n{MANIFEST}"),
        2 => annotated("platform.kby.io/suspend: \"true\""),
        3 => annotated("platform.kby.io/snooze-until: \"2026-11-26T12:00:00Z\""),
        4 => format!(
            "{MANIFEST}---\napiVersion: platform.kby.io/v1alpha1\nkind: Network\nmetadata:\n  \
             name: shared-prod-vpc\nspec:\n  environment: production\n"
        ),
        _ => return None,
    })
}

fn ask(number: usize, scene: &Scene) -> Ask {
    let object = key();
    let until = scene.engine.clock.now() + SignedDuration::from_hours(1);
    match number {
        0 => Ask::Suspend { object, reason: None },
        1 => Ask::Resume { object },
        2 => Ask::Retry { object },
        _ => Ask::Snooze { object, until, reason: None },
    }
}

async fn happen(scene: &mut Scene, event: &Event) {
    match event {
        Event::Wait(time) => scene.wait(*time),
        // What the state of the instance does not allow, nobody has done.
        Event::Console(number) => {
            drop(scene.sandbox.door("console").ask(&scope(), &console(*number)));
        }
        Event::Commit(number) => scene.commit(manifest(*number).as_deref()),
        Event::Ask(number) => scene.ask(ask(*number, scene)).await,
    }
}

/// Makes a pass; if it was short, makes the whole one as well. Returns whether it was.
async fn compare(scene: &Scene) -> bool {
    let short = pass(&scene.engine, &key()).await.unwrap();
    if short.is_news || short.before.is_some() || short.result != PassResult::Converged {
        return false;
    }
    looks::write(&scene.engine).await.unwrap();
    let told = scene.engine.store.get(&key()).await.unwrap().unwrap();
    assert_eq!(told.status.last_reconciled_time, Some(scene.engine.clock.now()));
    let writes = scene.writes();
    scene.engine.rests.forget(&key());
    let whole = pass(&scene.engine, &key()).await.unwrap();
    assert!(!whole.is_news, "{:#?}", whole.status);
    assert_eq!(whole.result, short.result);
    assert_eq!(whole.needs, short.needs);
    assert_eq!(whole.next.not_before, short.next.not_before);
    for next in [&whole.next, &short.next] {
        let (lane, due) = next.due.unwrap();
        let seconds = due.duration_since(scene.engine.clock.now()).as_secs();
        assert!(lane == Lane::Resync && (270..=330).contains(&seconds), "{lane:?} {seconds}");
        assert_eq!((next.failures, next.waits), (0, 0));
    }
    assert!(whole.status.unwrap().is_same_but_for_times(&told.status));
    assert_eq!(scene.writes(), writes);
    true
}

async fn play(events: &[Event]) -> usize {
    let mut scene = Scene::new(MANIFEST).await;
    scene.converge().await;
    let mut short = 0;
    for event in events {
        happen(&mut scene, event).await;
        short += usize::from(compare(&scene).await);
    }
    short
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

#[test]
fn the_short_way_ends_where_the_whole_one_ends() {
    let short = Cell::new(0);
    let mut runner = TestRunner::new(ProptestConfig { cases: 64, ..ProptestConfig::default() });
    let law = |events: Vec<Event>| {
        short.set(short.get() + runtime().block_on(play(&events)));
        Ok(())
    };
    runner.run(&vec(event(), 1..24), law).unwrap();
    assert!(short.get() > 64, "only {} passes went the short way", short.get());
}

#[test]
fn a_pass_at_rest_reads_aws_and_leaves_only_a_look() {
    runtime().block_on(async {
        let scene = Scene::new(MANIFEST).await;
        scene.converge().await;
        scene.wait(SignedDuration::from_hours(1));
        assert!(!pass(&scene.engine, &key()).await.unwrap().is_news);
        scene.wait(SignedDuration::from_secs(6));
        let (calls, before) = (scene.sandbox.calls_since(0).len(), scene.status().await);
        let passed = pass(&scene.engine, &key()).await.unwrap();
        assert!(passed.status.is_none(), "it went the short way");
        assert_eq!(scene.sandbox.calls_since(0).len(), calls + 4, "four lists, and nothing else");
        assert_eq!(scene.status().await, before, "nothing is written yet");
        looks::write(&scene.engine).await.unwrap();
        let after = scene.status().await;
        assert_eq!(after.last_reconciled_time, Some(scene.engine.clock.now()));
        assert!(after.is_same_but_for_times(&before));
    });
}
