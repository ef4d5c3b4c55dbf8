//! A fleet of converged workspaces: what Git declares, and a cloud in memory that answers so.
//!
//! The answers are the sandbox's own, taken when one workspace had converged on it, with the name
//! of each workspace put in: the sandbox itself would hold a hundred thousand databases in the
//! memory that is measured here.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use levelset::desired::{Cache, Guard, Reader};
use levelset::model::cloud::CallFuture;
use levelset::model::tree::Content;
use levelset::model::{
    AccountId, Call, ChangeSet, Clock, Cloud, Entry, Fence, Key, Lost, Region, Revision, Scope,
    Target, Token,
};
use levelset::reconcile::engine::{Engine, Environment, Ports};
use levelset::reconcile::pass::pass;
use levelset::sandbox::{Sandbox, Settings};
use levelset::status::Store;
use levelset::status::memory::InMemory;
use serde_json::Value;

/// How many workspaces share an account: the lists of one account have one page each.
pub(crate) const PER_ACCOUNT: usize = 100;

/// A time of day that is set.
pub(crate) struct SetClock(AtomicI64);

impl SetClock {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(1_795_600_800)))
    }

    pub(crate) fn advance(&self, time: SignedDuration) {
        self.0.fetch_add(time.as_secs(), Relaxed);
    }
}

impl Clock for SetClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(self.0.load(Relaxed)).unwrap_or_default()
    }
}

struct Held(Token);

impl Fence for Held {
    fn check(&self, _: Duration) -> Result<Token, Lost> {
        Ok(self.0)
    }
}

fn name(number: usize) -> String {
    format!("team-{number:06}")
}

pub(crate) fn key(number: usize) -> Key {
    Key::workspace(name(number))
}

fn environment(account: usize) -> String {
    format!("account-{account:04}")
}

fn scope(account: usize) -> Scope {
    let account = AccountId::new(format!("{account:012}"));
    Scope { account, region: Region::new("eu-west-1") }
}

/// The manifest of the design, in the environment of its account.
fn manifest(number: usize) -> String {
    format!(
        "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata:\n  name: {}\n  \
         annotations:\n    platform.kby.io/owner: \"payments-team\"\nspec:\n  environment: {}\n  \
         resources:\n    database:\n      engine: postgres\n      version: \"15\"\n      \
         sizeClass: db.r6g.large\n    network:\n      vpcRef: shared-prod-vpc\n  \
         reconcilePolicy:\n    resyncIntervalSeconds: 300\n    maxBackoffSeconds: 900\n",
        name(number),
        environment(number / PER_ACCOUNT),
    )
}

/// Reads a repository of `objects` manifests, one file each.
pub(crate) fn repository(objects: usize) -> Cache {
    let file = |number| {
        let content = Content::Bytes(manifest(number).into_bytes().into());
        let path: Arc<str> = format!("teams/{}/workspace.yaml", name(number)).into();
        (path, Entry { blob: format!("{number:040x}").into(), content })
    };
    let mut cache = Cache::new(Guard::default());
    let changes = ChangeSet {
        revision: Revision::new(format!("{:040x}", 0xc0ffee)),
        changed: (0..objects).map(file).collect(),
        removed: Vec::new(),
        full: true,
    };
    let _ = cache.apply(&changes);
    assert!(cache.snapshot().problems.is_empty());
    cache
}

/// Answers reads as the sandbox does, after a wait.
pub(crate) struct Answers {
    /// By operation; the name of the first workspace stands for any.
    templates: BTreeMap<&'static str, String>,
    wait: Duration,
    calls: AtomicU64,
}

impl Answers {
    /// Lets one workspace converge on the sandbox and keeps what it answers then.
    pub(crate) async fn of_sandbox() -> Self {
        let clock = SetClock::new();
        let sandbox = Sandbox::new(clock.clone(), Settings::fast(7));
        let scope = scope(0);
        sandbox.seed_vpc(&scope, "shared-prod-vpc", "10.0.0.0/16", &["a", "b", "c"]);
        let cache = repository(1);
        let (cloud, store) = (Arc::new(sandbox.clone()), Arc::new(InMemory::new()));
        let fresh = SignedDuration::from_secs(1);
        let engine = engine(1, cache.reader(), cloud, store, clock.clone(), fresh).await;
        for _ in 0..10 {
            let passed = pass(&engine, &key(0)).await.expect("the store in memory takes all");
            if passed.status.is_some_and(|status| status.is_ready()) {
                let templates = templates(&sandbox, &scope);
                return Self { templates, wait: Duration::ZERO, calls: AtomicU64::new(0) };
            }
            clock.advance(SignedDuration::from_mins(10));
        }
        panic!("the workspace did not converge");
    }

    /// Lets every answer take a while, as AWS does.
    pub(crate) fn after(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Returns how many calls were answered.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Relaxed)
    }

    fn answer(&self, target: &Target, call: &Call) -> Value {
        let Some(template) = self.templates.get(&*call.operation) else {
            panic!("a fleet that is as declared was asked for {call}");
        };
        let mut answer: Value = serde_json::from_str(template).expect("it was written as JSON");
        if call.operation != "DescribeDBInstances" {
            return answer;
        }
        let account: usize = target.scope.account.as_str().parse().expect("a number");
        let item = answer["DBInstances"][0].to_string();
        let of = |nth| item.replace(&name(0), &name(account * PER_ACCOUNT + nth));
        let items = (0..PER_ACCOUNT).map(|nth| serde_json::from_str(&of(nth)).expect("as above"));
        answer["DBInstances"] = Value::Array(items.collect());
        answer
    }
}

impl Cloud for Answers {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(async move {
            if !self.wait.is_zero() {
                tokio::time::sleep(self.wait).await;
            }
            self.calls.fetch_add(1, Relaxed);
            Ok(self.answer(target, call))
        })
    }
}

fn templates(sandbox: &Sandbox, scope: &Scope) -> BTreeMap<&'static str, String> {
    let reads = [
        ("rds", "DescribeDBInstances"),
        ("rds", "DescribeDBSubnetGroups"),
        ("ec2", "DescribeVpcs"),
        ("ec2", "DescribeSubnets"),
    ];
    let ask = |(service, operation)| {
        let answer = sandbox.ask(scope, &Call::new(service, operation));
        (operation, answer.expect("the sandbox answers reads").to_string())
    };
    reads.into_iter().map(ask).collect()
}

/// Puts an engine together whose fleet lives in as many accounts as it needs.
pub(crate) async fn engine(
    objects: usize,
    desired: Reader,
    cloud: Arc<dyn Cloud>,
    store: Arc<dyn Store>,
    clock: Arc<SetClock>,
    fresh: SignedDuration,
) -> Engine {
    let token = store.grant(levelset::model::Shard::default()).await.expect("a new store grants");
    let accounts = 0..objects.div_ceil(PER_ACCOUNT);
    let environment = |n| (environment(n), Environment { scope: scope(n), production: true });
    let ports = Ports { cloud, store, fence: Arc::new(Held(token)), clock };
    Engine {
        environments: accounts.map(environment).collect(),
        ..Engine::new(ports, desired, fresh)
    }
}
