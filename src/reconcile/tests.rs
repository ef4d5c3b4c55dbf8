//! The pass on the sandbox, in virtual time: real kinds, a real differ, a store in memory.

mod answers;
mod buckets;
mod compute;
mod custom;
mod details;
mod groups;
mod records;
mod roles;
mod secrets;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::engine::{Engine, Environment, Ports};
use super::looks;
use super::mass_drift::{Bounds, MassDrift};
use super::pass::{Passed, pass};
use crate::desired::{Cache, Guard, Reader};
use crate::model::status::Condition;
use crate::model::tree::Content;
use crate::model::{
    AccountId, Ask, Asked, Call, ChangeSet, Clock, Entry, Fence, Key, Lost, ObjectStatus, Problem,
    Region, Revision, Scope, Severity, Shard, Token,
};
use crate::sandbox::faults::{Effect, Rule};
use crate::sandbox::{Sandbox, Settings};
use crate::status::Store;
use crate::status::memory::InMemory;

mod aurora;
mod fleet;
mod storage;

/// The manifest of the design, word for word.
pub(super) const MANIFEST: &str = r#"apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata:
  name: team-payments-prod
  annotations:
    platform.kby.io/owner: "payments-team"
spec:
  environment: production
  resources:
    database:
      engine: postgres
      version: "15"
      sizeClass: db.r6g.large
    network:
      vpcRef: shared-prod-vpc
  reconcilePolicy:
    resyncIntervalSeconds: 300
    maxBackoffSeconds: 900
"#;

pub(super) struct VirtualClock(pub(super) Mutex<Timestamp>);

impl Clock for VirtualClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

struct Held(Token);

/// Puts an engine together that lives on a sandbox.
pub(super) fn engine(
    clock: &Arc<VirtualClock>,
    sandbox: &Sandbox,
    (store, token): (&Arc<InMemory>, Token),
    desired: Reader,
) -> Engine {
    let cloud = Arc::new(sandbox.clone());
    let production = Environment { scope: scope(), production: true };
    let ports =
        Ports { cloud, store: store.clone(), fence: Arc::new(Held(token)), clock: clock.clone() };
    Engine {
        environments: [("production".to_owned(), production)].into(),
        ..Engine::new(ports, desired, SignedDuration::from_secs(5))
    }
}

impl Fence for Held {
    fn check(&self, _: Duration) -> Result<Token, Lost> {
        Ok(self.0)
    }
}

/// An agent without tasks: the test makes its passes.
pub(super) struct Scene {
    pub(super) clock: Arc<VirtualClock>,
    pub(super) sandbox: Sandbox,
    pub(super) cache: Cache,
    pub(super) engine: Arc<Engine>,
    commits: u32,
}

pub(super) fn scope() -> Scope {
    Scope { account: AccountId::new("123456789012"), region: Region::new("eu-west-1") }
}

pub(super) fn key() -> Key {
    Key::workspace("team-payments-prod")
}

impl Scene {
    pub(super) async fn new(manifest: &str) -> Self {
        let mut scene = Self::empty().await;
        scene.commit(Some(manifest));
        scene
    }

    /// An agent that has read nothing yet.
    pub(super) async fn empty() -> Self {
        let start: Timestamp = "2026-11-25T12:00:00Z".parse().unwrap();
        let clock = Arc::new(VirtualClock(Mutex::new(start)));
        let sandbox = Sandbox::new(clock.clone(), Settings::real(7));
        sandbox.seed_vpc(&scope(), "shared-prod-vpc", "10.0.0.0/16", &["a", "b", "c"]);
        let store = Arc::new(InMemory::new());
        let token = store.grant(Shard::default()).await.unwrap();
        let cache = Cache::new(Guard::default());
        let engine = engine(&clock, &sandbox, (&store, token), cache.reader());
        Self { clock, sandbox, cache, engine: Arc::new(engine), commits: 0 }
    }

    /// Asks as a person does.
    pub(super) async fn ask(&self, ask: Ask) {
        self.engine.store.ask(&[ask], "alice", self.clock.now()).await.unwrap();
    }

    /// Returns what is asked of the object.
    pub(super) async fn asked(&self) -> Vec<Asked> {
        self.engine.store.asked_of(&key()).await.unwrap()
    }

    /// Delivers a commit with this manifest, or without it.
    pub(super) fn commit(&mut self, manifest: Option<&str>) {
        let changes = self.change_set(manifest);
        let _ = self.cache.apply(&changes);
        let snapshot = self.cache.snapshot();
        let is_error = |problem: &Problem| problem.severity == Severity::Error;
        let mut problems = snapshot.problems.values().flatten();
        assert!(!problems.any(is_error), "{:?}", snapshot.problems);
    }

    fn change_set(&mut self, manifest: Option<&str>) -> ChangeSet {
        self.commits += 1;
        let entry = |text: &str| Entry {
            blob: format!("blob-{}", self.commits).into(),
            content: Content::Bytes(text.as_bytes().into()),
        };
        let files = [("team.yaml", manifest), ("none.yaml", Some("# no object\n"))];
        ChangeSet {
            revision: Revision::new(format!("{:040}", self.commits)),
            changed: files
                .into_iter()
                .filter_map(|(path, text)| Some((path.into(), entry(text?))))
                .collect(),
            removed: Vec::new(),
            full: true,
        }
    }

    pub(super) fn wait(&self, time: SignedDuration) {
        let mut now = self.clock.0.lock().unwrap();
        *now = now.checked_add(time).unwrap();
    }

    /// Makes a pass, and has it written when that was; its status is that of the store.
    pub(super) async fn pass(&self) -> Passed {
        let passed = pass(&self.engine, &key()).await.unwrap();
        looks::write(&self.engine).await.unwrap();
        let record = self.engine.store.get(&key()).await.unwrap();
        Passed { status: record.map(|record| record.status), ..passed }
    }

    /// Makes passes when they are due, until one finds everything as declared.
    pub(super) async fn converge(&self) -> ObjectStatus {
        for _ in 0..200 {
            let passed = self.pass().await;
            let status = passed.status.unwrap();
            if status.is_ready() {
                return status;
            }
            let (_, at) = passed.next.due.expect("the object is due again");
            self.wait(at.duration_since(self.clock.now()));
        }
        panic!("no convergence: {:#?}", self.status().await);
    }

    pub(super) async fn status(&self) -> ObjectStatus {
        self.engine.store.get(&key()).await.unwrap().unwrap().status
    }

    pub(super) fn writes(&self) -> Vec<String> {
        let calls = self.sandbox.calls_since(0);
        calls
            .iter()
            .filter(|call| call.is_write() && &*call.by == "agent")
            .map(|call| call.operation.clone())
            .collect()
    }

    /// Changes something behind the agent's back, once the instance takes changes.
    pub(super) fn console(&self, call: Call) {
        self.wait(SignedDuration::from_mins(15));
        self.sandbox.door("console").ask(&scope(), &call).unwrap();
    }

    pub(super) fn instance(&self) -> Value {
        Value::Object(self.sandbox.inspect(&scope()).remove(0))
    }
}

pub(super) fn modify() -> Call {
    Call::new("rds", "ModifyDBInstance").with("DBInstanceIdentifier", "team-payments-prod")
}

#[tokio::test]
async fn the_manifest_of_the_design_converges_with_one_create_of_each_resource() {
    let scene = Scene::new(MANIFEST).await;
    let status = scene.converge().await;
    assert_eq!(scene.writes(), ["CreateDBSubnetGroup", "CreateDBInstance"]);
    assert_eq!(status.observed_generation.0, 1);
    let instance = scene.instance();
    assert_eq!(instance["DBInstanceClass"], "db.r6g.large");
    assert_eq!(instance["StorageEncrypted"], true);
    assert_eq!(instance["DeletionProtection"], true);
    assert_eq!(instance["PubliclyAccessible"], false);
    assert!(instance["MasterUserSecret"].is_object());
}

#[tokio::test]
async fn a_converged_object_is_left_alone_for_a_day() {
    let scene = Scene::new(MANIFEST).await;
    scene.converge().await;
    let before = scene.writes().len();
    for _ in 0..288 {
        let passed = scene.pass().await;
        let (_, at) = passed.next.due.unwrap();
        scene.wait(at.duration_since(scene.clock.now()));
    }
    assert_eq!(scene.writes().len(), before);
}

#[tokio::test]
async fn a_change_in_the_console_is_seen_reverted_and_told() {
    let manifest = MANIFEST.replace(
        "sizeClass: db.r6g.large",
        "sizeClass: db.r6g.large\n      backups: {retentionDays: 14}",
    );
    let scene = Scene::new(&manifest).await;
    scene.converge().await;
    scene.console(modify().with("BackupRetentionPeriod", 1).with("ApplyImmediately", true));
    scene.wait(SignedDuration::from_mins(30));
    let status = scene.pass().await.status.unwrap();
    assert!(!status.is_ready());
    assert_eq!(status.drift.len(), 1);
    assert_eq!(status.drift[0].field, "backups.retentionDays");
    assert_eq!(status.drift[0].actual, json!(1));
    let status = scene.converge().await;
    assert!(status.drift.is_empty());
    assert_eq!(scene.instance()["BackupRetentionPeriod"], 14);
    assert_eq!(scene.writes().last().unwrap(), "ModifyDBInstance");
    let history = scene.engine.store.history(&key(), 100).await.unwrap();
    let reasons: Vec<&str> = history.iter().rev().map(|event| event.reason.as_str()).collect();
    assert!(reasons.contains(&"Drifted") && reasons.contains(&"Reverted"), "{reasons:?}");
}

#[tokio::test]
async fn a_field_that_nobody_declared_may_be_changed_by_anybody() {
    let scene = Scene::new(MANIFEST).await;
    scene.converge().await;
    let before = scene.writes().len();
    scene.console(modify().with("BackupRetentionPeriod", 3).with("ApplyImmediately", true));
    scene.wait(SignedDuration::from_mins(30));
    assert!(scene.converge().await.drift.is_empty());
    assert_eq!(scene.writes().len(), before);
}

#[tokio::test]
async fn a_new_size_is_queued_for_the_window_and_applied_there() {
    let mut scene = Scene::new(MANIFEST).await;
    scene.converge().await;
    scene.wait(SignedDuration::from_mins(15));
    scene.commit(Some(&MANIFEST.replace("db.r6g.large", "db.r6g.xlarge")));
    let status = scene.pass().await.status.unwrap();
    assert_eq!(status.observed_generation.0, 2);
    scene.wait(SignedDuration::from_mins(2));
    let status = scene.pass().await.status.unwrap();
    assert_eq!(
        status.resources.last().unwrap().state,
        "Deferred",
        "{:#?}",
        status.resources.last()
    );
    assert_eq!(scene.instance()["DBInstanceClass"], "db.r6g.large");
    scene.wait(SignedDuration::from_hours(24 * 7));
    scene.converge().await;
    assert_eq!(scene.instance()["DBInstanceClass"], "db.r6g.xlarge");
    let modifies = scene.writes().iter().filter(|call| *call == "ModifyDBInstance").count();
    assert_eq!(modifies, 1);
}

#[tokio::test]
async fn a_lost_answer_to_a_create_makes_no_second_one() {
    let scene = Scene::new(MANIFEST).await;
    let lost = Rule::new(Effect::LoseAnswer).operation("CreateDBInstance").times(1);
    scene.sandbox.inject(lost);
    scene.converge().await;
    let creates = scene.sandbox.calls_since(0);
    let creates = creates.iter().filter(|call| call.operation == "CreateDBInstance").count();
    assert_eq!(creates, 1);
}

#[tokio::test]
async fn throttled_reads_are_waited_for_and_count_as_no_failure() {
    let scene = Scene::new(MANIFEST).await;
    scene.sandbox.inject(Rule::new(Effect::Throttle).times(20));
    scene.converge().await;
    let record = scene.engine.store.get(&key()).await.unwrap().unwrap();
    assert_eq!(record.memory.failures, 0);
}

#[tokio::test]
async fn a_denied_create_is_tried_up_to_the_ceiling_and_no_further() {
    let manifest =
        MANIFEST.replace("maxBackoffSeconds: 900", "maxBackoffSeconds: 900\n    maxRetries: 3");
    let scene = Scene::new(&manifest).await;
    scene.sandbox.inject(Rule::new(Effect::Deny).operation("CreateDBInstance"));
    for _ in 0..20 {
        if scene.pass().await.next.due.is_none() {
            break;
        }
        scene.wait(SignedDuration::from_mins(20));
    }
    let status = scene.status().await;
    assert_eq!(status.condition(Condition::FAILED).unwrap().reason, "RetriesExhausted");
    let denied = |scene: &Scene| {
        let calls = scene.sandbox.calls_since(0);
        calls.iter().filter(|call| call.operation == "CreateDBInstance").count()
    };
    assert_eq!(denied(&scene), 3);
    scene.sandbox.clear_faults();
    let _ = scene.pass().await;
    assert_eq!(denied(&scene), 3, "it is looked at and nothing is tried");
    scene.ask(Ask::Retry { object: key() }).await;
    scene.converge().await;
    assert!(scene.asked().await.is_empty(), "the pass that carried it out removed it");
    let history = scene.engine.store.history(&key(), 100).await.unwrap();
    assert!(history.iter().any(|event| event.message.starts_with("alice asked for `retry`")));
}

#[tokio::test]
async fn a_new_generation_lifts_the_ceiling_of_failures() {
    let manifest =
        MANIFEST.replace("maxBackoffSeconds: 900", "maxBackoffSeconds: 900\n    maxRetries: 1");
    let mut scene = Scene::new(&manifest).await;
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
    scene.commit(Some(&manifest.replace("\"15\"", "\"16\"")));
    scene.converge().await;
}

#[tokio::test]
async fn a_missing_vpc_is_waited_for_and_is_no_failure() {
    let scene = Scene::new(&MANIFEST.replace("shared-prod-vpc", "later-vpc")).await;
    for _ in 0..30 {
        let passed = scene.pass().await;
        assert_eq!(passed.next.failures, 0);
        let (_, at) = passed.next.due.unwrap();
        scene.wait(at.duration_since(scene.clock.now()));
    }
    assert!(scene.writes().is_empty());
    scene.sandbox.seed_vpc(&scope(), "later-vpc", "10.1.0.0/16", &["a", "b"]);
    scene.converge().await;
}

#[tokio::test]
async fn an_environment_that_is_not_configured_is_said_so() {
    let scene = Scene::new(&MANIFEST.replace("environment: production", "environment: prod")).await;
    let status = scene.pass().await.status.unwrap();
    assert_eq!(status.condition(Condition::READY).unwrap().reason, "EnvironmentUnknown");
    assert!(scene.sandbox.calls_since(0).is_empty());
}

#[tokio::test]
async fn a_database_of_somebody_else_is_not_touched() {
    let scene = Scene::new(MANIFEST).await;
    let foreign = Call::new("rds", "CreateDBInstance")
        .with("DBInstanceIdentifier", "team-payments-prod")
        .with("Engine", "postgres")
        .with("DBInstanceClass", "db.t4g.micro")
        .with("AllocatedStorage", 20)
        .with("MasterUsername", "app")
        .with("ManageMasterUserPassword", true);
    scene.console(foreign);
    scene.wait(SignedDuration::from_mins(15));
    for _ in 0..10 {
        let passed = scene.pass().await;
        let (_, at) = passed.next.due.unwrap();
        scene.wait(at.duration_since(scene.clock.now()));
    }
    let status = scene.status().await;
    let database = status.resources.last().unwrap();
    assert_eq!(database.state, "Refused");
    assert_eq!(database.refusals[0].code, "NotOwned");
    assert_eq!(scene.writes(), ["CreateDBSubnetGroup"]);
}

#[tokio::test]
async fn a_network_of_another_environment_is_not_the_networks_of_this_one() {
    let network = "apiVersion: platform.kby.io/v1alpha1\nkind: Network\nmetadata: {name: shared-prod-vpc}\n\
                   spec: {environment: elsewhere}\n";
    let mut scene = Scene::new(&format!("{MANIFEST}---\n{network}")).await;
    let region = Region::new("us-east-1");
    let elsewhere = Environment { scope: Scope { region, ..scope() }, production: false };
    let engine = Arc::get_mut(&mut scene.engine).unwrap();
    engine.environments.insert("elsewhere".to_owned(), elsewhere);
    scene.converge().await;
    assert_eq!(scene.writes(), ["CreateDBSubnetGroup", "CreateDBInstance"]);
}

#[tokio::test]
async fn a_database_that_was_deleted_outside_git_is_made_anew_and_told_loudly() {
    let scene = Scene::new(MANIFEST).await;
    scene.converge().await;
    scene.console(modify().with("DeletionProtection", false).with("ApplyImmediately", true));
    let delete = Call::new("rds", "DeleteDBInstance")
        .with("DBInstanceIdentifier", "team-payments-prod")
        .with("SkipFinalSnapshot", true);
    scene.console(delete);
    scene.wait(SignedDuration::from_mins(30));
    let status = scene.pass().await.status.unwrap();
    assert_eq!(status.drift[0].field, "existence");
    assert_eq!(status.condition(Condition::DRIFTED).unwrap().reason, "Drifted");
    scene.converge().await;
    let history = scene.engine.store.history(&key(), 100).await.unwrap();
    let told = |text: &str| history.iter().any(|event| event.message.contains(text));
    assert!(told("existence is \"deleted\""), "{history:#?}");
}

#[tokio::test]
async fn two_vpcs_whose_names_fold_to_one_group_are_not_mixed_up() {
    let scene = Scene::new(MANIFEST).await;
    scene.converge().await;
    let other = MANIFEST
        .replace("team-payments-prod", "team-other")
        .replace("vpcRef: shared-prod-vpc", "vpcRef: Shared-Prod-VPC");
    scene.sandbox.seed_vpc(&scope(), "Shared-Prod-VPC", "10.9.0.0/16", &["a", "b"]);
    let mut scene = scene;
    scene.commit(Some(&format!("{MANIFEST}---\n{other}")));
    let other = Key::workspace("team-other");
    for _ in 0..5 {
        let passed = pass(&scene.engine, &other).await.unwrap();
        assert!(!passed.status.unwrap().is_ready());
        scene.wait(SignedDuration::from_mins(1));
    }
    let creates = scene.writes().iter().filter(|call| *call == "CreateDBInstance").count();
    assert_eq!(creates, 1, "no database in the wrong VPC");
}
