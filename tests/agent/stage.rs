//! An agent put together as the program does, on the cloud in memory and in virtual time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use levelset::aws::{Asserted, Budgeted, Budgets};
use levelset::cli::alerts::Alerts;
use levelset::cli::telling::Heard;
use levelset::desired::{Cache, Guard};
use levelset::model::fence::Lost;
use levelset::model::listener::Listener;
use levelset::model::tree::{Content, RefusedRevision, SourceHealth};
use levelset::model::{
    AccountId, ChangeSet, Clock, Cloud, Entry, Fence, Key, ObjectStatus, Region, Revision, Scope,
    Shard, Token,
};
use levelset::observe::trail::Trail;
use levelset::reconcile::engine::{Engine, Environment, Ports};
use levelset::reconcile::triggers::Triggers;
use levelset::reconcile::work_queue::WorkQueue;
use levelset::reconcile::worker;
use levelset::sandbox::log::Record;
use levelset::sandbox::{Sandbox, Settings};
use levelset::status::metrics::Metrics;
use levelset::status::{InMemory, Store};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Tells the time of day as tokio's clock moves it.
pub(crate) struct PausedClock {
    start: Timestamp,
    since: Instant,
}

impl PausedClock {
    pub(crate) fn begin() -> Self {
        Self { start: "2026-11-25T12:00:00Z".parse().unwrap(), since: Instant::now() }
    }
}

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        self.start + SignedDuration::try_from(self.since.elapsed()).unwrap()
    }
}

/// The right to write, until it is taken away.
struct Lease {
    token: Token,
    is_lost: AtomicBool,
}

impl Fence for Lease {
    fn check(&self, _: Duration) -> Result<Token, Lost> {
        match self.is_lost.load(Ordering::Relaxed) {
            true => Err(Lost("another agent holds the lease".to_owned())),
            false => Ok(self.token),
        }
    }
}

pub(crate) fn scope() -> Scope {
    in_account("123456789012")
}

/// The scope of the environment `staging`.
pub(crate) fn staging() -> Scope {
    in_account("210987654321")
}

fn in_account(account: &str) -> Scope {
    Scope { account: AccountId::new(account), region: Region::new("eu-west-1") }
}

/// A running agent and its world.
pub(crate) struct Stage {
    pub(crate) sandbox: Sandbox,
    pub(crate) store: Arc<InMemory>,
    pub(crate) engine: Arc<Engine>,
    /// How passes ended.
    pub(crate) heard: Arc<Heard>,
    /// What a person should know of the objects.
    pub(crate) alerts: Arc<Alerts>,
    lease: Arc<Lease>,
    changes: mpsc::Sender<ChangeSet>,
    commits: Mutex<u32>,
    health: watch::Sender<SourceHealth>,
}

impl Stage {
    /// Starts an agent with four workers on an empty cloud with a VPC.
    pub(crate) async fn begin(settings: Settings, budgets: Budgets) -> Self {
        Self::begin_as(settings, budgets, false).await
    }

    /// Starts one that asks CloudTrail who made drift.
    pub(crate) async fn tracing(settings: Settings, budgets: Budgets) -> Self {
        Self::begin_as(settings, budgets, true).await
    }

    async fn begin_as(settings: Settings, budgets: Budgets, is_tracing: bool) -> Self {
        let clock = Arc::new(PausedClock::begin());
        let sandbox = Sandbox::new(clock.clone(), settings);
        for scope in [scope(), staging()] {
            sandbox.seed_vpc(&scope, "core", "10.0.0.0/16", &["a", "b", "c"]);
        }
        let store = Arc::new(InMemory::new());
        let token = store.grant(Shard::default()).await.unwrap();
        let lease = Arc::new(Lease { token, is_lost: AtomicBool::new(false) });
        let cache = Cache::new(Guard::default());
        let (heard, alerts) = (Arc::new(Heard::default()), Arc::new(Alerts::default()));
        let listeners: Vec<Arc<dyn Listener>> = vec![heard.clone(), alerts.clone()];
        let mut made = engine(&sandbox, budgets, &store, &lease, &clock);
        if is_tracing {
            made.trail = Some(Arc::new(Trail::new(made.cloud.clone(), clock.clone())));
        }
        let engine = Arc::new(Engine {
            agent: "levelset".to_owned(),
            environments: environments(),
            listener: Arc::new(listeners),
            desired: cache.reader(),
            ..made
        });
        let queue = Arc::new(WorkQueue::new(clock.clone()));
        let (changes, received) = mpsc::channel(64);
        let health = SourceHealth::default();
        let (health, watched) = watch::channel(health);
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let metrics = Arc::new(Metrics::new("staged"));
        let (engine_, queue_, metrics_) = (engine.clone(), queue.clone(), metrics.clone());
        let triggers = Triggers::restore(cache, engine_, queue_, metrics_).await.unwrap();
        worker::start(4, &engine, &queue, &metrics, &stop, &tasks);
        if let Some(trail) = &engine.trail {
            tasks.spawn(trail.clone().run(stop.clone()));
        }
        tasks.spawn(triggers.run(received, watched, stop));
        let commits = Mutex::default();
        Self { sandbox, store, engine, heard, alerts, lease, changes, commits, health }
    }

    /// Delivers a commit that holds these files and no others.
    pub(crate) fn commit(&self, files: &[(&str, String)]) {
        let mut commits = self.commits.lock().unwrap();
        *commits += 1;
        let entry = |text: &String| Entry {
            blob: format!("{commits} {text}").into(),
            content: Content::Bytes(text.as_bytes().into()),
        };
        let changed = files.iter().map(|(path, text)| ((*path).into(), entry(text))).collect();
        let revision = Revision::new(format!("{commits:040}"));
        let change_set = ChangeSet { revision, changed, removed: Vec::new(), full: true };
        self.changes.try_send(change_set).unwrap();
    }

    /// Says that a commit is not applied, or that all are.
    pub(crate) fn refuse(&self, refused: Option<RefusedRevision>) {
        self.health.send_modify(|health| health.refused = refused);
    }

    /// Takes the right to write away, or gives it back.
    pub(super) fn lose_lease(&self, is_lost: bool) {
        self.lease.is_lost.store(is_lost, Ordering::Relaxed);
    }

    pub(crate) async fn status(&self, key: &Key) -> Option<ObjectStatus> {
        self.store.get(key).await.unwrap().map(|record| record.status)
    }

    /// Lets time pass until something holds; returns how long that took.
    pub(crate) async fn until(&self, holds: impl AsyncFn() -> bool, limit: Duration) -> Duration {
        let start = Instant::now();
        while !holds().await {
            assert!(start.elapsed() < limit, "it did not come about within {limit:?}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        start.elapsed()
    }

    /// Lets time pass until an object is as declared.
    pub(crate) async fn ready(&self, key: &Key, limit: Duration) -> Duration {
        let is_ready = async || self.status(key).await.is_some_and(|status| status.is_ready());
        self.until(is_ready, limit).await
    }

    /// Returns the calls of the agent of one operation.
    pub(crate) fn calls(&self, operation: &str) -> Vec<Record> {
        let calls = self.sandbox.calls_since(0).into_iter();
        calls.filter(|call| call.operation == operation && &*call.by == "agent").collect()
    }
}

fn environments() -> BTreeMap<String, Environment> {
    let production = Environment { scope: scope(), production: true };
    let staging = Environment { scope: staging(), production: false };
    [("production".to_owned(), production), ("staging".to_owned(), staging)].into()
}

fn engine(
    sandbox: &Sandbox,
    budgets: Budgets,
    store: &Arc<InMemory>,
    lease: &Arc<Lease>,
    clock: &Arc<PausedClock>,
) -> Engine {
    let cloud: Arc<dyn Cloud> = Arc::new(Asserted::new(Budgeted::new(sandbox.clone(), budgets)));
    let (store, fence) = (store.clone(), lease.clone());
    let ports = Ports { cloud, store, fence, clock: clock.clone() };
    Engine {
        agent: String::new(),
        ..Engine::new(ports, Cache::new(Guard::default()).reader(), SignedDuration::from_secs(5))
    }
}

/// Returns the manifest of a workspace with a database in the VPC `core`.
pub(crate) fn workspace(name: &str, policy: &str) -> String {
    format!(
        "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {{name: {name}}}\nspec:\n  \
         environment: production\n  resources:\n    database: {{engine: postgres, version: \"15\", \
         sizeClass: db.r6g.large}}\n    network: {{vpcRef: core}}\n  reconcilePolicy: {{{policy}}}\n"
    )
}

/// Returns the manifest of a network that names the VPC of its own name.
pub(crate) fn network(name: &str) -> String {
    format!(
        "apiVersion: platform.kby.io/v1alpha1\nkind: Network\nmetadata: {{name: {name}}}\nspec:\n  \
         environment: production\n"
    )
}
