//! Storage, which takes one change in six hours.

use super::*;
use crate::model::ResourceStatus;

const STORAGE: &str = "sizeClass: db.r6g.large\n      storage: {type: gp3, sizeGiB: 100}";

/// The manifest of the design with storage that changes at once, and the least patience.
fn with_storage(size: u32) -> String {
    MANIFEST.replace("sizeClass: db.r6g.large", &STORAGE.replace("100", &size.to_string())).replace(
        "maxBackoffSeconds: 900",
        "maxBackoffSeconds: 900\n    maxRetries: 1\n    disruption: immediate",
    )
}

impl Scene {
    /// Makes passes when they are due, for a while; returns when a change was first accepted.
    async fn watch(&self, time: SignedDuration) -> Option<Timestamp> {
        let (end, before) = (self.clock.now() + time, self.writes().len());
        let mut accepted = None;
        while self.clock.now() < end {
            let passed = self.pass().await;
            let failed = passed.status.unwrap().condition(Condition::FAILED).unwrap().clone();
            assert_eq!(failed.reason, "BelowCeiling", "{failed:?}");
            if accepted.is_none() && self.writes().len() > before {
                accepted = Some(self.clock.now());
            }
            let (_, at) = passed.next.due.expect("the object is due again");
            self.wait(at.duration_since(self.clock.now()));
        }
        accepted
    }

    fn refused(&self, operation: &str) -> usize {
        let calls = self.sandbox.calls_since(0);
        calls.iter().filter(|call| call.operation == operation && call.refused.is_some()).count()
    }

    async fn resource(&self) -> ResourceStatus {
        self.status().await.resources.pop().unwrap()
    }
}

#[tokio::test]
async fn storage_that_changed_is_left_alone_until_aws_takes_another_change() {
    let mut scene = Scene::new(&with_storage(100)).await;
    scene.converge().await;
    scene.wait(SignedDuration::from_mins(15));
    scene.commit(Some(&with_storage(200)));
    let first = scene.watch(SignedDuration::from_hours(3)).await.unwrap();
    assert_eq!(scene.instance()["DBInstanceStatus"], "available", "the lock is not shown any more");

    scene.commit(Some(&with_storage(300)));
    let _ = scene.pass().await;
    let resource = scene.resource().await;
    assert_eq!(
        (resource.state.as_str(), resource.waits[0].code.as_str()),
        ("Deferred", "StorageLock")
    );
    let second =
        scene.watch(SignedDuration::from_hours(5)).await.expect("it is changed in the end");
    let apart = second.duration_since(first);
    assert!((6..7).contains(&apart.as_hours()), "{apart}");
    assert_eq!(scene.refused("ModifyDBInstance"), 0);
}

#[tokio::test]
async fn storage_that_somebody_changed_is_left_alone_as_long() {
    let mut scene = Scene::new(&with_storage(100)).await;
    scene.converge().await;
    let grow = modify().with("AllocatedStorage", 200).with("ApplyImmediately", true);
    scene.console(grow);
    let _ = scene.watch(SignedDuration::from_hours(3)).await;
    scene.commit(Some(&with_storage(300)));
    let _ = scene.watch(SignedDuration::from_hours(5)).await.expect("it is changed in the end");
    assert_eq!(scene.refused("ModifyDBInstance"), 0);
}

#[tokio::test]
async fn a_refusal_of_storage_that_nobody_saw_change_is_no_failure_and_not_repeated() {
    let mut scene = Scene::new(&with_storage(100)).await;
    scene.converge().await;
    let grow = modify().with("AllocatedStorage", 200).with("ApplyImmediately", true);
    scene.console(grow);
    scene.wait(SignedDuration::from_hours(3));
    let token = scene.engine.fence.check(Duration::ZERO).unwrap();
    scene.engine.store.remove(&key(), token).await.unwrap();
    scene.commit(Some(&with_storage(300)));
    let _ = scene.watch(SignedDuration::from_mins(2)).await;
    let resource = scene.resource().await;
    assert_eq!(resource.state, "Deferred");
    assert!(resource.waits[0].reason.contains("InvalidParameterCombination"), "{resource:?}");
    let _ = scene.watch(SignedDuration::from_hours(7)).await.expect("it is changed in the end");
    assert_eq!(scene.refused("ModifyDBInstance"), 1);
}
