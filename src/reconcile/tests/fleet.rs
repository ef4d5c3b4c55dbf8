//! Many objects at once, and a Git that is out of reach: what is held, and what is not.

mod unseen;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Map;
use tokio::time::Instant;

use super::*;
use crate::model::status::Truth;
use crate::model::{ErrorClass, ResourceStatus};
use crate::reconcile::triggers::Triggers;
use crate::reconcile::work_queue::WorkQueue;
use crate::status::Metrics;

/// Nothing but a database with declared backups.
fn manifest(name: &str, policy: &str) -> String {
    MANIFEST
        .replace("team-payments-prod", name)
        .replace(
            "sizeClass: db.r6g.large",
            "sizeClass: db.r6g.large\n      backups: {retentionDays: 14}\n      publiclyAccessible: false",
        )
        .replace("maxBackoffSeconds: 900", &format!("maxBackoffSeconds: 900\n    drift: {policy}"))
}

fn name(number: usize) -> String {
    format!("team-{number:02}")
}

fn database(status: &ObjectStatus) -> &ResourceStatus {
    status.resources.last().unwrap()
}

/// Databases that are as declared.
struct Fleet {
    scene: Scene,
    /// `None` while no agent runs.
    triggers: Option<Triggers>,
    manifests: Vec<String>,
}

impl Fleet {
    /// The first `reported` objects leave their drift.
    async fn new(objects: usize, reported: usize) -> Self {
        let policy = |number| if number < reported { "report" } else { "revert" };
        let manifests: Vec<String> =
            (0..objects).map(|number| manifest(&name(number), policy(number))).collect();
        let mut fleet = Self { scene: Scene::empty().await, triggers: None, manifests };
        fleet.start().await;
        fleet.commit().await;
        for _ in 0..20 {
            fleet.sweep().await;
            fleet.scene.wait(SignedDuration::from_mins(5));
        }
        for number in 0..objects {
            assert!(fleet.status(number).await.is_ready(), "{:#?}", fleet.status(number).await);
        }
        fleet
    }

    /// Starts an agent that knows what the store remembers.
    async fn start(&mut self) {
        self.triggers = None;
        let cache = Cache::new(Guard::default());
        let engine = Arc::get_mut(&mut self.scene.engine).unwrap();
        engine.desired = cache.reader();
        engine.mass_drift = Mutex::new(MassDrift::new(Bounds::default()));
        let engine = Arc::clone(&self.scene.engine);
        let queue = Arc::new(WorkQueue::new(self.scene.clock.clone()));
        let metrics = Arc::new(Metrics::new("test"));
        let triggers = Triggers::restore(cache, engine, queue, metrics).await.unwrap();
        self.triggers = Some(triggers);
    }

    /// Delivers the manifests.
    async fn commit(&mut self) {
        let text = self.manifests.join("---\n");
        self.deliver(Some(&text)).await;
    }

    async fn deliver(&mut self, manifest: Option<&str>) {
        let changes = self.scene.change_set(manifest);
        self.triggers.as_mut().unwrap().take(&changes).await;
        let snapshot = self.scene.engine.desired.snapshot();
        assert!(snapshot.problems.is_empty(), "{:?}", snapshot.problems);
    }

    /// Confirms what a digest names, as a person does.
    async fn confirm(&mut self, digest: &str) {
        self.scene.ask(Ask::Confirm { digest: digest.to_owned() }).await;
        self.triggers.as_mut().unwrap().confirm_asked().await;
    }

    /// Returns what people are told to be frozen.
    async fn told(&mut self) -> Vec<(String, usize)> {
        self.triggers.as_mut().unwrap().tell_frozen().await;
        let freezes = self.scene.engine.store.freezes().await.unwrap();
        freezes.into_iter().map(|freeze| (freeze.digest, freeze.objects.len())).collect()
    }

    /// Makes one pass of each object.
    async fn sweep(&self) {
        for number in 0..self.manifests.len() {
            let _ = self.pass(number).await;
        }
    }

    async fn pass(&self, number: usize) -> Passed {
        pass(&self.scene.engine, &Key::workspace(name(number))).await.unwrap()
    }

    async fn status(&self, number: usize) -> ObjectStatus {
        let key = Key::workspace(name(number));
        self.scene.engine.store.get(&key).await.unwrap().unwrap().status
    }

    /// Changes databases behind the agent's back, once they take changes, and waits for the effect.
    fn console(
        &self,
        numbers: impl Iterator<Item = usize>,
        parameter: &str,
        value: impl Into<Value>,
    ) {
        let value = value.into();
        self.scene.wait(SignedDuration::from_mins(5));
        for number in numbers {
            let call = Call::new("rds", "ModifyDBInstance")
                .with("DBInstanceIdentifier", name(number))
                .with(parameter, value.clone())
                .with("ApplyImmediately", true);
            let door = self.scene.sandbox.door("console");
            while let Err(error) = door.ask(&scope(), &call) {
                assert_eq!(error.class, ErrorClass::NotReady, "{error}");
                self.scene.wait(SignedDuration::from_mins(5));
            }
        }
        self.scene.wait(SignedDuration::from_mins(10));
    }

    /// Returns what the agent has changed since a number of calls, one change a line.
    fn changes_since(&self, calls: usize) -> Vec<Map<String, Value>> {
        let mut log = self.scene.sandbox.calls_since(0);
        log.drain(..calls);
        log.into_iter()
            .filter(|call| call.operation == "ModifyDBInstance" && &*call.by == "agent")
            .map(|call| call.params)
            .collect()
    }

    fn calls(&self) -> usize {
        self.scene.sandbox.calls_since(0).len()
    }

    /// Returns the digest of what is frozen, and how many objects that is.
    fn frozen(&self) -> Option<(String, usize)> {
        let guard = self.scene.engine.mass_drift();
        let count = guard.frozen().len();
        (count > 0).then(|| (guard.digest().to_owned(), count))
    }

    async fn frozen_objects(&self) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for number in 0..self.manifests.len() {
            let status = self.status(number).await;
            if status.condition(Condition::FROZEN).unwrap().status == Truth::True {
                found.insert(number);
            }
        }
        found
    }
}

#[tokio::test]
async fn of_a_mass_of_drift_the_allowed_number_is_reverted_and_the_rest_when_a_person_confirms() {
    let mut fleet = Fleet::new(40, 0).await;
    let before = fleet.calls();
    fleet.console(0..30, "BackupRetentionPeriod", 1);
    for _ in 0..3 {
        fleet.sweep().await;
        fleet.scene.wait(SignedDuration::from_mins(5));
    }
    assert_eq!(fleet.changes_since(before).len(), 8, "a fifth of 40");
    let (digest, count) = fleet.frozen().unwrap();
    assert_eq!((count, fleet.frozen_objects().await.len()), (22, 22));
    let frozen = fleet.frozen_objects().await;
    let status = fleet.status(*frozen.first().unwrap()).await;
    let condition = status.condition(Condition::FROZEN).unwrap();
    assert_eq!(condition.reason, "MassDrift");
    assert!(condition.message.contains(&format!("`levelset confirm {digest}`")), "{condition:?}");
    assert_eq!((&*status.drift[0].disposition, &*database(&status).state), ("Frozen", "Frozen"));

    assert_eq!(fleet.told().await, [(digest.clone(), 22)]);

    fleet.start().await;
    fleet.commit().await;
    assert_eq!(fleet.told().await, [(digest.clone(), 22)], "a restart changes nothing");
    fleet.confirm("000000000000").await;
    assert_eq!(fleet.frozen(), Some((digest.clone(), 22)));
    fleet.confirm(&digest).await;
    fleet.start().await;
    fleet.commit().await;
    assert_eq!(fleet.told().await, [], "what was confirmed stays so when the agent dies");
    fleet.console(35..36, "BackupRetentionPeriod", 2);
    for _ in 0..3 {
        fleet.sweep().await;
        fleet.scene.wait(SignedDuration::from_mins(5));
    }
    assert_eq!(fleet.changes_since(before).len(), 30);
    assert_eq!(fleet.frozen_objects().await, [35].into(), "what joined later was not confirmed");
    let record = fleet.scene.engine.store.get(&Key::workspace(name(35))).await.unwrap();
    assert_eq!(record.unwrap().memory.failures, 0);
    assert_eq!(fleet.scene.engine.store.asked_since(0).await.unwrap(), [], "and done with");
}

#[tokio::test]
async fn a_mass_that_is_undone_thaws_by_itself_and_is_told_once() {
    let fleet = Fleet::new(12, 0).await;
    fleet.console(0..12, "BackupRetentionPeriod", 1);
    for _ in 0..6 {
        fleet.sweep().await;
        fleet.scene.wait(SignedDuration::from_hours(2));
    }
    let frozen = fleet.frozen_objects().await;
    assert_eq!(frozen.len(), 7, "time alone thaws nothing");
    let before = fleet.calls();
    fleet.console(frozen.iter().copied(), "BackupRetentionPeriod", 14);
    fleet.sweep().await;
    assert_eq!((fleet.frozen(), fleet.changes_since(before)), (None, Vec::new()));
    let key = Key::workspace(name(*frozen.first().unwrap()));
    let history = fleet.scene.engine.store.history(&key, 100).await.unwrap();
    for reason in ["Frozen", "Released", "DriftGone"] {
        let told = history.iter().filter(|event| event.reason == reason).count();
        assert_eq!(told, 1, "{reason}: {history:#?}");
    }
}

#[tokio::test]
async fn what_git_changes_and_what_is_a_danger_goes_while_drift_is_frozen() {
    let mut fleet = Fleet::new(12, 0).await;
    fleet.console(0..12, "BackupRetentionPeriod", 1);
    fleet.sweep().await;
    let frozen = fleet.frozen_objects().await;
    let number = *frozen.last().unwrap();
    let before = fleet.calls();
    fleet.manifests[number] = fleet.manifests[number].replace("db.r6g.large", "db.r6g.xlarge");
    fleet.commit().await;
    let status = fleet.pass(number).await.status.unwrap();
    let changes = fleet.changes_since(before);
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0]["DBInstanceClass"], "db.r6g.xlarge");
    assert!(!changes[0].contains_key("BackupRetentionPeriod"), "{changes:?}");
    assert_eq!(status.drift[0].disposition, "Frozen");

    let before = fleet.calls();
    fleet.console(frozen.iter().copied().take(6), "PubliclyAccessible", true);
    fleet.sweep().await;
    let changes = fleet.changes_since(before);
    assert_eq!(changes.len(), 6, "{changes:?}");
    for change in changes {
        assert_eq!(change["PubliclyAccessible"], false);
        assert!(!change.contains_key("BackupRetentionPeriod"), "{change:?}");
    }
}

#[tokio::test]
async fn drift_that_nobody_would_revert_takes_no_place() {
    let fleet = Fleet::new(12, 10).await;
    let before = fleet.calls();
    fleet.console(0..12, "BackupRetentionPeriod", 1);
    fleet.sweep().await;
    assert_eq!((fleet.changes_since(before).len(), fleet.frozen()), (2, None));
}

#[tokio::test]
async fn of_many_databases_that_were_deleted_outside_git_some_are_made_anew_and_the_rest_wait() {
    let mut fleet = Fleet::new(8, 0).await;
    let before = fleet.calls();
    fleet.console(0..8, "DeletionProtection", false);
    for number in 0..8 {
        let delete = Call::new("rds", "DeleteDBInstance")
            .with("DBInstanceIdentifier", name(number))
            .with("SkipFinalSnapshot", true);
        fleet.scene.sandbox.door("console").ask(&scope(), &delete).unwrap();
    }
    fleet.scene.wait(SignedDuration::from_mins(30));
    fleet.sweep().await;
    let mut log = fleet.scene.sandbox.calls_since(0);
    log.drain(..before);
    let creates = log.iter().filter(|call| call.operation == "CreateDBInstance").count();
    assert_eq!(creates, 5);
    let (digest, count) = fleet.frozen().unwrap();
    assert_eq!(count, 3);
    let frozen = *fleet.frozen_objects().await.first().unwrap();
    assert_eq!(fleet.status(frozen).await.drift[0].field, "existence");
    fleet.start().await;
    assert_eq!(fleet.frozen(), Some((digest, 3)));
}

#[tokio::test]
async fn objects_that_vanished_together_while_no_agent_ran_are_told_and_kept() {
    let mut fleet = Fleet::new(3, 0).await;
    let before = fleet.calls();
    fleet.start().await;
    fleet.deliver(None).await;
    fleet.sweep().await;
    for number in 0..3 {
        let status = fleet.status(number).await;
        let condition = status.condition(Condition::FROZEN).unwrap();
        assert_eq!(condition.reason, "NothingLeft");
        assert!(condition.message.contains("`levelset confirm "), "{condition:?}");
        assert_eq!(database(&status).state, "Converged", "as it was seen last");
    }
    assert_eq!(fleet.calls(), before);
    fleet.commit().await;
    fleet.sweep().await;
    assert_eq!(fleet.frozen_objects().await, BTreeSet::new());
}

#[tokio::test]
async fn a_database_that_is_fought_over_holds_no_place_for_ever() {
    let fleet = Fleet::new(7, 0).await;
    for round in 0..40 {
        fleet.console(0..5, "BackupRetentionPeriod", 1);
        fleet.sweep().await;
        fleet.scene.wait(SignedDuration::from_mins(15));
        assert_eq!(fleet.frozen(), None, "round {round}");
    }
    fleet.scene.wait(SignedDuration::from_mins(60));
    let before = fleet.calls();
    fleet.console(6..7, "BackupRetentionPeriod", 1);
    fleet.sweep().await;
    let changed = fleet.changes_since(before);
    let named = |change: &Map<String, Value>| change["DBInstanceIdentifier"] == name(6).as_str();
    assert!(changed.iter().any(named), "{changed:?}");
}

#[tokio::test]
async fn a_diff_that_never_settles_is_sent_once_an_hour_and_no_more() {
    let fleet = Fleet::new(3, 0).await;
    let (before, start) = (fleet.calls(), fleet.scene.clock.now());
    for _ in 0..100 {
        fleet.console(0..3, "BackupRetentionPeriod", 1);
        fleet.sweep().await;
    }
    let hours = fleet.scene.clock.now().duration_since(start).as_secs_f64() / 3600.0;
    let sent = fleet.changes_since(before).len() as f64;
    assert!(hours > 24.0, "{hours}");
    assert!(sent <= 3.0 * (3.0 + hours), "{sent} changes of 3 databases in {hours} hours");
}

#[tokio::test(start_paused = true)]
async fn a_stale_git_is_told_and_then_nothing_is_written_until_it_is_confirmed() {
    let fleet = Fleet::new(1, 0).await;
    let confirmation = &fleet.scene.engine.confirmation;
    confirmation.note(Instant::now());
    let condition = |status: &ObjectStatus| {
        let condition = status.condition(Condition::STALE).unwrap();
        (condition.status, condition.reason.clone())
    };
    let drift = |days: u8| {
        fleet.console(0..1, "BackupRetentionPeriod", days);
        fleet.calls()
    };
    fleet.scene.wait(SignedDuration::from_hours(24));
    let before = drift(1);
    let status = fleet.pass(0).await.status.unwrap();
    assert_eq!(condition(&status).0, Truth::False, "a clock that jumps makes nothing stale");
    assert_eq!(fleet.changes_since(before).len(), 1);

    tokio::time::advance(Duration::from_secs(16 * 60)).await;
    let before = drift(2);
    let status = fleet.pass(0).await.status.unwrap();
    assert_eq!(condition(&status), (Truth::True, "Unconfirmed".to_owned()));
    assert_eq!(fleet.changes_since(before).len(), 1, "it is acted on still");

    tokio::time::advance(Duration::from_secs(6 * 3600)).await;
    let before = drift(3);
    for _ in 0..3 {
        let passed = fleet.pass(0).await;
        let status = passed.status.unwrap();
        assert_eq!(condition(&status), (Truth::True, "WritingStopped".to_owned()));
        assert_eq!(status.drift[0].actual, json!(3), "it is observed and told");
        let database = database(&status);
        assert_eq!((&*database.state, passed.next.failures), ("Waiting", 0));
        assert!(database.message.contains("Git has not been confirmed"), "{database:?}");
        fleet.scene.wait(SignedDuration::from_mins(5));
    }
    assert_eq!(fleet.changes_since(before).len(), 0);

    confirmation.note(Instant::now());
    let status = fleet.pass(0).await.status.unwrap();
    assert_eq!(condition(&status).0, Truth::False);
    assert_eq!(fleet.changes_since(before).len(), 1);
}
