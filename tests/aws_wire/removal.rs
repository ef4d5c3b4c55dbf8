//! A removal by the agent itself, on two emulators: its passes, its calls, a real HTTP answer.

use std::sync::Mutex;
use std::time::Duration;

use jiff::SignedDuration;
use levelset::desired::{Cache, Guard};
use levelset::model::tree::Content;
use levelset::model::{ChangeSet, Entry, Fence, Key, Lost, Revision, Shard, Token};
use levelset::reconcile::engine::{Engine, Environment, Ports};
use levelset::reconcile::pass::pass;
use levelset::reconcile::triggers::Triggers;
use levelset::reconcile::work_queue::WorkQueue;
use levelset::status::metrics::Metrics;
use levelset::status::{InMemory, Store};

use super::*;
use crate::support::emulators::{ministack, moto, region};

const MANIFEST: &str = "apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: removed}
spec:
  environment: staging
  resources:
    database: {engine: postgres, version: \"15\", sizeClass: db.t4g.micro}
  reconcilePolicy: {deletion: snapshot}
";

const REST: &str = "apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: rest}
spec: {environment: staging, resources: {}}
";

struct Held(Token);

impl Fence for Held {
    fn check(&self, _: Duration) -> Result<Token, Lost> {
        Ok(self.0)
    }
}

/// Notes the calls on their way, so that the final snapshot is known by its name.
pub(super) struct Noted(Arc<Aws>, Mutex<Vec<Call>>);

impl Noted {
    pub(super) fn new(aws: Aws) -> Self {
        Self(Arc::new(aws), Mutex::default())
    }

    /// Returns the cloud behind, for calls that are not the agent's.
    pub(super) fn aws(&self) -> Arc<Aws> {
        Arc::clone(&self.0)
    }

    pub(super) fn calls(&self) -> Vec<Call> {
        self.1.lock().unwrap().clone()
    }

    pub(super) fn operations(&self) -> Vec<String> {
        self.calls().iter().map(|call| call.operation.to_string()).collect()
    }
}

impl Cloud for Noted {
    fn call<'a>(
        &'a self,
        target: &'a Target,
        call: &'a Call,
    ) -> levelset::model::cloud::CallFuture<'a> {
        if !call.is_read() {
            self.1.lock().unwrap().push(call.clone());
        }
        self.0.call(target, call)
    }
}

#[tokio::test]
async fn a_removed_manifest_ends_in_a_final_snapshot_on_moto() {
    lives_and_leaves(Here::moto(&moto().url, region())).await;
}

#[tokio::test]
async fn a_removed_manifest_ends_in_a_final_snapshot_on_ministack() {
    let account = account_at(&ministack().url, "100000000004", "eu-west-1", "100000000004");
    let scope = account.scope.clone();
    lives_and_leaves(Here { cloud: aws(account, Timeouts::default()), scope }).await;
}

async fn lives_and_leaves(here: Here) {
    let cloud = Arc::new(Noted::new(here.cloud));
    let here = Here { cloud: cloud.aws(), scope: here.scope };
    let (engine, mut triggers) = agent(Arc::clone(&cloud), &here.scope).await;
    let key = Key::workspace("removed");
    triggers.take(&commit(1, &[MANIFEST, REST])).await;
    until(&engine, &mut triggers, &key, "Converged").await;
    assert_eq!(
        here.cloud_ask(describe("removed")).await.unwrap()["DBInstances"][0]["TagList"][0]["Value"],
        "levelset/Workspace/removed"
    );
    triggers.take(&commit(2, &[REST])).await;
    until(&engine, &mut triggers, &key, "").await;
    assert_eq!(here.cloud_ask(describe("removed")).await.unwrap_err().code, "DBInstanceNotFound");
    let calls = cloud.calls();
    let operations: Vec<&str> = calls.iter().map(|call| &*call.operation).collect();
    assert_eq!(operations, ["CreateDBInstance", "DeleteDBInstance"]);
    let restore = rds("RestoreDBInstanceFromDBSnapshot")
        .with("DBInstanceIdentifier", "restored")
        .with("DBSnapshotIdentifier", calls[1].text("FinalDBSnapshotIdentifier").unwrap())
        .with("DBInstanceClass", "db.t4g.micro");
    let restored = here.cloud_ask(restore).await.unwrap();
    assert_eq!(restored["DBInstance"]["Engine"], "postgres");
    let forgotten = engine.store.forgotten().await.unwrap();
    assert_eq!((forgotten[0].key.clone(), forgotten[0].generation.0), (key, 1));
}

impl Here<Arc<Aws>> {
    pub(super) async fn cloud_ask(&self, call: Call) -> Result<Value, CallError> {
        self.cloud.call(&target(&self.scope, &call), &call).await
    }
}

pub(super) fn commit(number: u32, texts: &[&str]) -> ChangeSet {
    let entry = |(n, text): (usize, &&str)| {
        let content = Content::Bytes(text.as_bytes().into());
        (format!("{n}.yaml").into(), Entry { blob: (*text).into(), content })
    };
    ChangeSet {
        revision: Revision::new(format!("{number:040}")),
        changed: texts.iter().enumerate().map(entry).collect(),
        removed: Vec::new(),
        full: true,
    }
}

pub(super) async fn agent(cloud: Arc<Noted>, scope: &Scope) -> (Arc<Engine>, Triggers) {
    let (clock, store) = (Arc::new(WallClock), Arc::new(InMemory::new()));
    let token = store.grant(Shard::default()).await.unwrap();
    let cache = Cache::new(Guard::default());
    let staging = Environment { scope: scope.clone(), production: false };
    let ports = Ports { cloud, store, fence: Arc::new(Held(token)), clock: clock.clone() };
    let engine = Arc::new(Engine {
        environments: [("staging".to_owned(), staging)].into(),
        deletion_grace: SignedDuration::ZERO,
        ..Engine::new(ports, cache.reader(), SignedDuration::from_secs(5))
    });
    let (queue, metrics) = (Arc::new(WorkQueue::new(clock)), Arc::new(Metrics::new("test")));
    let triggers = Triggers::restore(cache, engine.clone(), queue, metrics).await.unwrap();
    (engine, triggers)
}

/// Makes passes until the object is told to be as `reason` says; without one, until it is forgotten.
pub(super) async fn until(engine: &Engine, triggers: &mut Triggers, key: &Key, reason: &str) {
    for _ in 0..20 {
        let passed = pass(engine, key).await.unwrap();
        triggers.dismiss().await;
        let is_known = engine.store.get(key).await.unwrap().is_some();
        let ready = passed.status.as_ref().and_then(|status| status.condition("Ready"));
        if (reason.is_empty() && !is_known) || ready.is_some_and(|ready| ready.reason == reason) {
            return;
        }
    }
    panic!("not {reason}: {:#?}", engine.store.get(key).await.unwrap());
}
