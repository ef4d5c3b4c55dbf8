//! The real SDK over HTTP against third-party AWS emulators.
//!
//! What they prove is the wire: serialisation, signatures, answers, error codes, lost answers. They
//! have no behaviour over time, and each is wrong in places; where a test finds one wrong, it says
//! so and looks at the other.

mod accounts;
mod aurora;
mod buckets;
mod compute;
mod custom;
mod faults;
mod groups;
mod life;
mod networks;
mod records;
mod removal;
mod roles;
mod secrets;
mod trail;

use std::sync::Arc;

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use jiff::Timestamp;
use levelset::aws::{Account, Accounts, Aws, Endpoints, Timeouts};
use levelset::kinds::db_instance;
use levelset::kinds::db_instance::spec::{Database, Placement, resource};
use levelset::model::{
    AccountId, Bound, Call, CallError, Cause, Clock, Cloud, Input, Kind, KindName, Observation,
    Observed, Region, Scope, Target,
};
use levelset::observe::Observer;
use serde_json::{Value, json};
use url::Url;

/// The account to which moto counts every access key that it does not know.
const MOTO_ACCOUNT: &str = "123456789012";

/// Tells the time by the machine's clock: signatures are judged by it.
struct WallClock;

impl Clock for WallClock {
    #[expect(clippy::disallowed_methods, reason = "the emulators go by the machine's clock")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Describes an account at an emulator, with base credentials of this access key.
fn account_at(url: &Url, account: &str, region: &str, access_key: &str) -> Account {
    let scope = Scope { account: AccountId::new(account), region: Region::new(region) };
    let credentials = Credentials::new(access_key, "secret", None, None, "test");
    Account {
        endpoints: Endpoints::all(url.clone()),
        credentials: Some(SharedCredentialsProvider::new(credentials)),
        ..Account::new(scope)
    }
}

fn aws(account: Account, timeouts: Timeouts) -> Aws {
    Aws::new(Accounts { accounts: vec![account], timeouts }, Arc::new(WallClock))
}

/// Sends calls to one scope.
struct Here<C = Aws> {
    cloud: C,
    scope: Scope,
}

impl Here {
    /// Goes to moto's own account in one region.
    fn moto(url: &Url, region: &str) -> Self {
        let account = account_at(url, MOTO_ACCOUNT, region, "test");
        Self { scope: account.scope.clone(), cloud: aws(account, Timeouts::default()) }
    }
}

impl<C: Cloud> Here<C> {
    async fn call(&self, call: Call) -> Result<Value, CallError> {
        self.cloud.call(&target(&self.scope, &call), &call).await
    }

    /// Sends a call that has to succeed.
    async fn ask(&self, call: Call) -> Value {
        self.call(call).await.unwrap()
    }

    /// Sends a call that has to fail.
    async fn refused(&self, call: Call) -> CallError {
        self.call(call).await.unwrap_err()
    }
}

/// Finds the kind that a call belongs to.
fn target(scope: &Scope, call: &Call) -> Target {
    let kind = match (&*call.service, &*call.operation) {
        ("ec2", _) => "vpc",
        ("route53", _) => "route53_record_set",
        (_, name) if name.contains("SubnetGroup") => "db_subnet_group",
        (_, name) if name.contains("DBClusterParameter") => "db_cluster_parameter_group",
        (_, name) if name.contains("DBCluster") => "db_cluster",
        (_, name) if name.contains("DBParameter") => "db_parameter_group",
        _ => "db_instance",
    };
    Target { scope: scope.clone(), kind: KindName::new(kind), cause: Cause::List }
}

/// Plays the agent: it looks, compares and mends.
struct Agent {
    cloud: Arc<Aws>,
    observer: Observer,
    kind: &'static dyn Kind,
}

impl Agent {
    fn of(account: Account, kind: &'static dyn Kind) -> Self {
        let cloud = Arc::new(aws(account, Timeouts::default()));
        let freshness = jiff::SignedDuration::ZERO;
        let observer = Observer::new(cloud.clone(), Arc::new(WallClock), freshness);
        Self { cloud, observer, kind }
    }

    async fn send(&self, desired: &Bound, calls: Vec<Call>) {
        let target =
            Target { scope: desired.id.scope.clone(), kind: self.kind.name(), cause: Cause::List };
        for call in calls {
            self.cloud.call(&target, &call).await.unwrap();
        }
        self.observer.written(&desired.id);
    }

    async fn look(&self, desired: &Bound) -> Observation {
        self.observer.observe(self.kind, &desired.id).await
    }

    async fn present(&self, desired: &Bound) -> Arc<Observed> {
        match self.look(desired).await {
            Observation::Present(observed) => observed,
            other => panic!("{other:?}"),
        }
    }

    /// Returns the operations that mend what differs, after sending them.
    async fn mend(&self, desired: &Bound) -> Vec<String> {
        let actual = self.present(desired).await;
        // A role is as new as the test.
        let ready = levelset::model::Readiness::Ready;
        let diff = levelset::diff::diff(self.kind.rules(), desired, &actual, &ready, &[]);
        assert_eq!((diff.waits.len(), diff.refusals.len()), (0, 0), "{diff:?}");
        let calls = self.kind.update(desired, &actual, &diff.deltas);
        let names = calls.iter().map(|call| call.operation.to_string()).collect();
        self.send(desired, calls).await;
        names
    }
}

fn rds(operation: &'static str) -> Call {
    Call::new("rds", operation)
}

fn describe(name: &str) -> Call {
    rds("DescribeDBInstances").with("DBInstanceIdentifier", name)
}

/// Returns the call by which the kind makes a database that declares the least.
fn create(name: &str) -> Call {
    let scope = Scope { account: AccountId::new(MOTO_ACCOUNT), region: Region::new("any") };
    let placement = Placement {
        scope: &scope,
        name,
        owner: "test/Workspace/a",
        production: false,
        subnet_group: None,
        parameter_group: None,
        security_groups: None,
    };
    let resource = resource(&Database::new("postgres", "15", "db.t4g.micro"), &placement);
    let known = |(field, input)| match input {
        Input::Known(value) => (field, value),
        other => panic!("{other:?} is not known"),
    };
    let desired = Bound {
        id: resource.id,
        fields: resource.fields.into_iter().map(known).collect(),
        initial: resource.initial,
        owner: resource.owner,
        adopt: false,
    };
    db_instance::KIND.create(&desired).remove(0)
}
