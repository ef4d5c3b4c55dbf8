//! People's requests and the agent's own tasks, on the sandbox in virtual time.

use jiff::SignedDuration;
use tokio_util::task::TaskTracker;

use super::*;
use crate::model::{Ask, Clock, Condition, ObjectStatus};
use crate::reconcile::tests::{MANIFEST, Scene, key, modify};
use crate::reconcile::worker;
use crate::sandbox::faults::{Effect, Rule};
use crate::status::metrics::Metrics;

const STEP: Duration = Duration::from_millis(100);

/// A scene whose agent works by itself.
struct Agent {
    scene: Scene,
    queue: Arc<WorkQueue>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Agent {
    /// Starts the tasks with an empty queue: only what is asked brings a key into it.
    fn start(scene: Scene, workers: usize) -> Self {
        let queue = Arc::new(WorkQueue::new(scene.engine.clock.clone()));
        let metrics = Arc::new(Metrics::new("test"));
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        if workers > 0 {
            worker::start(workers, &scene.engine, &queue, &metrics, &stop, &tasks);
        }
        let requests = Requests::new(scene.engine.clone(), queue.clone(), Arc::default());
        tasks.spawn(requests.run(stop.clone()));
        Self { scene, queue, stop, tasks }
    }

    /// Lets virtual time pass.
    async fn run(&self, time: SignedDuration) {
        let end = self.scene.clock.now().checked_add(time).unwrap();
        while self.scene.clock.now() < end {
            self.scene.wait(SignedDuration::try_from(STEP).unwrap());
            tokio::time::sleep(STEP).await;
        }
    }

    async fn end(self) -> Scene {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.scene
    }

    fn modifies(&self) -> usize {
        self.scene.writes().iter().filter(|call| *call == "ModifyDBInstance").count()
    }
}

fn drift() -> crate::model::Call {
    modify().with("BackupRetentionPeriod", 1).with("ApplyImmediately", true)
}

/// A converged object that declares how long backups are kept.
async fn converged() -> Scene {
    let declared = "sizeClass: db.r6g.large\n      backups: {retentionDays: 14}";
    let scene = Scene::new(&MANIFEST.replace("sizeClass: db.r6g.large", declared)).await;
    scene.converge().await;
    scene
}

fn suspended(status: &ObjectStatus) -> &Condition {
    status.condition(Condition::SUSPENDED).unwrap()
}

fn moments(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

#[tokio::test(start_paused = true)]
async fn drift_of_a_suspended_object_is_reported_and_reverted_as_soon_as_it_is_resumed() {
    let agent = Agent::start(converged().await, 2);
    let reason = Some("failover test".to_owned());
    agent.scene.ask(Ask::Suspend { object: key(), reason }).await;
    agent.run(moments(3)).await;
    let status = agent.scene.status().await;
    assert_eq!(suspended(&status).reason, "Command");
    assert!(suspended(&status).message.contains("alice") && !agent.scene.asked().await.is_empty());

    agent.scene.console(drift());
    agent.run(SignedDuration::from_mins(20)).await;
    let status = agent.scene.status().await;
    assert_eq!(status.drift[0].disposition, "Reported");
    assert_eq!(agent.modifies(), 0);

    agent.scene.ask(Ask::Resume { object: key() }).await;
    agent.run(moments(3)).await;
    assert_eq!(agent.modifies(), 1, "within seconds");
    agent.run(SignedDuration::from_mins(20)).await;
    assert_eq!(agent.scene.instance()["BackupRetentionPeriod"], 14);
    assert!(agent.scene.asked().await.is_empty(), "nothing is left of it");
}

#[tokio::test(start_paused = true)]
async fn a_snooze_by_command_leaves_drift_until_its_time() {
    let agent = Agent::start(converged().await, 2);
    agent.scene.console(drift());
    let until = agent.scene.clock.now().checked_add(SignedDuration::from_mins(20)).unwrap();
    agent.scene.ask(Ask::Snooze { object: key(), until, reason: None }).await;
    agent.run(SignedDuration::from_mins(19)).await;
    let status = agent.scene.status().await;
    assert_eq!(status.condition(Condition::SNOOZED).unwrap().reason, "Command");
    assert_eq!((status.drift[0].disposition.as_str(), agent.modifies()), ("Deferred", 0));
    agent.run(SignedDuration::from_mins(2)).await;
    assert_eq!(agent.modifies(), 1);
    assert_eq!(agent.scene.status().await.condition(Condition::SNOOZED).unwrap().reason, "Awake");
}

#[tokio::test(start_paused = true)]
async fn either_of_annotation_and_command_suspends() {
    let annotated = MANIFEST
        .replace("platform.kby.io/owner: \"payments-team\"", "platform.kby.io/suspend: \"true\"");
    let agent = Agent::start(Scene::new(&annotated).await, 2);
    agent.scene.ask(Ask::Suspend { object: key(), reason: None }).await;
    agent.run(moments(3)).await;
    assert_eq!(suspended(&agent.scene.status().await).reason, "AnnotationAndCommand");
    agent.scene.ask(Ask::Resume { object: key() }).await;
    agent.run(moments(3)).await;
    let status = agent.scene.status().await;
    assert_eq!(suspended(&status).reason, "Annotation");
    assert!(suspended(&status).message.contains("team.yaml:6"), "{}", suspended(&status).message);
    assert!(agent.scene.writes().is_empty());
}

/// An object that was given up, and whose cause is mended.
async fn given_up() -> Scene {
    let manifest =
        MANIFEST.replace("maxBackoffSeconds: 900", "maxBackoffSeconds: 900\n    maxRetries: 1");
    let scene = Scene::new(&manifest).await;
    scene.sandbox.inject(Rule::new(Effect::Deny).operation("CreateDBInstance"));
    for _ in 0..5 {
        let _ = scene.pass().await;
        scene.wait(SignedDuration::from_mins(20));
    }
    assert_eq!(
        scene.status().await.condition(Condition::FAILED).unwrap().reason,
        "RetriesExhausted"
    );
    scene.sandbox.clear_faults();
    scene
}

#[tokio::test(start_paused = true)]
async fn a_retry_of_an_object_that_was_given_up_takes_effect_at_once() {
    let agent = Agent::start(given_up().await, 2);
    agent.run(moments(30)).await;
    let tried = agent.scene.writes().len();
    agent.scene.ask(Ask::Retry { object: key() }).await;
    agent.run(moments(2)).await;
    assert_eq!(agent.scene.writes().len(), tried + 1);
}

#[tokio::test(start_paused = true)]
async fn what_was_seen_and_not_acted_on_when_the_agent_dies_is_acted_on_by_the_next_one() {
    let deaf = Agent::start(given_up().await, 0);
    deaf.scene.ask(Ask::Retry { object: key() }).await;
    deaf.run(moments(3)).await;
    assert_eq!(deaf.queue.read(|queue, now| queue.ready_depth(now)), 1, "it was seen");
    let scene = deaf.end().await;
    let tried = scene.writes().len();
    let next = Agent::start(scene, 2);
    next.run(moments(3)).await;
    assert_eq!(next.scene.writes().len(), tried + 1);
}

#[tokio::test(start_paused = true)]
async fn a_storm_of_requests_costs_one_pass_at_a_time() {
    let agent = Agent::start(converged().await, 4);
    for _ in 0..100 {
        for _ in 0..10 {
            agent.scene.ask(Ask::Retry { object: key() }).await;
        }
        agent.run(SignedDuration::from_millis(100)).await;
    }
    let passes = agent.queue.read(|queue, _| queue.counters().changes_taken);
    assert!((5..=11).contains(&passes), "{passes} passes in ten seconds");
    agent.run(moments(3)).await;
    assert!(agent.scene.asked().await.is_empty(), "the last request was carried out too");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_woken_before_the_repository_has_been_read() {
    let agent = Agent::start(Scene::empty().await, 2);
    agent.scene.ask(Ask::Retry { object: key() }).await;
    agent.run(moments(5)).await;
    assert_eq!(agent.queue.read(|queue, _| queue.counters().adds), 0);
    let mut scene = agent.end().await;
    scene.commit(Some(MANIFEST));
    let agent = Agent::start(scene, 2);
    agent.run(moments(3)).await;
    assert!(agent.scene.asked().await.is_empty());
}
