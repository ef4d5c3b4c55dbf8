//! A cloud in memory that behaves as AWS does over time, with one model behind two doors.
//!
//! In process it is a [`Cloud`]: calls as data in, JSON under the API's member names out. Over HTTP
//! ([`http`]) it speaks AWS's wire format, so that the real SDK, the AWS CLI or boto3 can use it.
//!
//! Invariants: time comes from the [`Clock`] alone and everything that happens by itself (a
//! creation, a maintenance window, a storage lock) is caught up with at the next call, so virtual
//! time works; every random choice follows from the seed, so a run can be replayed; a parameter
//! that is not modelled is refused, never ignored; a refusal changes nothing.
//!
//! Not modelled, on purpose: clusters of other engines than Aurora's, read replicas, restoring,
//! option groups, the contents of databases and secrets, signatures (the access key alone says who
//! calls).

mod args;
mod autoscaling;
mod cloud_control;
mod cloud_trail;
mod ec2;
mod iam;
mod page;
mod rds;
mod refusal;
mod route53;
mod s3;
mod secrets_manager;
mod services;
mod spoil;
mod sts;
mod wire;
mod world;

pub mod faults;
pub mod http;
pub mod log;
pub mod settings;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};

pub use self::ec2::SeededVpc;
pub use self::settings::Settings;

use self::faults::{Rule, Strike};
use self::log::{Counters, Record};
use self::rds::Laws;
use self::rds::instance::{Instance, Rest};
use self::refusal::{Answer, Refusal};
use self::world::World;
use crate::model::cloud::CallFuture;
use crate::model::{AccountId, Call, CallError, Clock, Cloud, Scope, Target};

/// Is a door to the cloud in memory; clones share the cloud.
#[derive(Clone)]
pub struct Sandbox {
    world: Arc<Mutex<World>>,
    clock: Arc<dyn Clock>,
    by: Arc<str>,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox").field("by", &self.by).finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Makes an empty cloud; its door is that of the caller `agent`.
    pub fn new(clock: Arc<dyn Clock>, settings: Settings) -> Self {
        let world = Arc::new(Mutex::new(World::new(settings)));
        Self { world, clock, by: Arc::from("agent") }
    }

    /// Returns a door of another caller to the same cloud, for example `console`.
    #[must_use]
    pub fn door(&self, by: &str) -> Self {
        Self { by: Arc::from(by), ..self.clone() }
    }

    /// Makes one call without waiting: a latency fault is noted and not slept.
    ///
    /// # Errors
    ///
    /// What the API refuses, or what a fault rule makes of the call.
    pub fn ask(&self, scope: &Scope, call: &Call) -> Result<Value, CallError> {
        let strike = self.strike(scope, call);
        self.serve(scope, call, strike).map_err(|refusal| refusal.into_error(call))
    }

    /// Makes one call, with the latency that the fault rules ask for.
    pub(in crate::sandbox) async fn send(&self, scope: &Scope, call: &Call) -> Answer {
        let strike = self.strike(scope, call);
        if !strike.latency.is_zero() {
            tokio::time::sleep(strike.latency).await;
        }
        self.serve(scope, call, strike)
    }

    /// Says which account an access key stands for.
    fn account_of(&self, key: &str, token: Option<&str>) -> Result<AccountId, Refusal> {
        if sts::is_account(key) {
            return Ok(AccountId::new(key));
        }
        let world = self.world();
        let Some(session) = world.shared.sessions.get(key) else {
            return Ok(world.settings.default_account.clone());
        };
        if session.expires <= self.clock.now() {
            return Err(Refusal::new("ExpiredToken", "The security token has expired"));
        }
        if token != Some(&session.token) {
            let text = "The security token included in the request is invalid";
            return Err(Refusal::new("InvalidClientTokenId", text));
        }
        Ok(session.account.clone())
    }

    fn strike(&self, scope: &Scope, call: &Call) -> Strike {
        self.world().strike(&services::home(scope, call), &self.by, call)
    }

    fn serve(&self, scope: &Scope, call: &Call, strike: Strike) -> Answer {
        let now = self.clock.now();
        self.world().serve(now, &services::home(scope, call), &self.by, call, strike)
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a VPC with a `Name` tag and one subnet per availability zone.
    ///
    /// A zone is a letter (`a`) or a full name (`eu-west-1a`).
    pub fn seed_vpc(&self, scope: &Scope, name: &str, cidr: &str, zones: &[&str]) -> SeededVpc {
        self.world().at(self.clock.now(), scope, &self.by, |site| {
            let seed = ec2::Seed { name: Some(name), cidr, zones };
            ec2::seed_vpc(&mut site.state.ec2, scope, site.random, &seed)
        })
    }

    /// Adds a hosted zone to an account and returns its id; it is private when it belongs to VPCs.
    pub fn seed_zone(&self, scope: &Scope, name: &str, vpcs: &[&str]) -> String {
        self.world().at(self.clock.now(), &scope.global(), &self.by, |site| {
            site.state.route53.seed(name, vpcs)
        })
    }

    /// Lists the record sets of a hosted zone, past rate limit, faults and log.
    pub fn inspect_zone(&self, scope: &Scope, zone: &str) -> Vec<Map<String, Value>> {
        self.world()
            .at(self.clock.now(), &scope.global(), &self.by, |site| site.state.route53.all(zone))
    }

    /// Puts a tag on a seeded subnet; tells whether the subnet exists.
    pub fn tag_subnet(&self, scope: &Scope, subnet: &str, key: &str, value: &str) -> bool {
        self.world().at(self.clock.now(), scope, &self.by, |site| {
            ec2::tag(&mut site.state.ec2, subnet, key, value)
        })
    }

    /// Adds a fault rule; rules stay until [`Self::clear_faults`].
    pub fn inject(&self, rule: Rule) {
        self.world().faults.add(rule);
    }

    /// Drops all fault rules.
    pub fn clear_faults(&self) {
        self.world().faults.clear();
    }

    /// Returns how often each fault rule struck, in the order in which they were added.
    pub fn faults_fired(&self) -> Vec<u64> {
        self.world().faults.fired()
    }

    /// Returns the calls after the one with this number; 0 for all that are kept.
    pub fn calls_since(&self, number: u64) -> Vec<Record> {
        self.world().log.since(number)
    }

    /// Returns how many calls came, by `service:Operation`.
    pub fn counters(&self) -> Counters {
        self.world().log.counters()
    }

    /// Lists the accounts and regions that were ever named.
    pub fn scopes(&self) -> Vec<Scope> {
        self.world().scopes()
    }

    /// Describes all instances of an account and region, past rate limit, faults and log.
    pub fn inspect(&self, scope: &Scope) -> Vec<Map<String, Value>> {
        self.world().at(self.clock.now(), scope, &self.by, |site| {
            let rds = &site.state.rds;
            let all = rds.instances.values();
            let described = all.map(|i| i.describe(site.now, &rds.subnet_groups));
            described.filter_map(|value| value.as_object().cloned()).collect()
        })
    }

    /// Returns the properties of every resource of the Cloud Control API by its identifier, past
    /// rate limit, faults and log.
    pub fn inspect_custom(&self, scope: &Scope) -> BTreeMap<String, Map<String, Value>> {
        self.world().at(self.clock.now(), scope, &self.by, |site| {
            let all = site.state.cloud_control.all();
            all.map(|(identifier, it)| (identifier.to_owned(), it.clone())).collect()
        })
    }

    /// Describes every secret of an account and region by its name, past rate limit, faults, log and
    /// the lag of the list.
    pub fn inspect_secrets(&self, scope: &Scope) -> BTreeMap<String, Value> {
        self.world().at(self.clock.now(), scope, &self.by, |site| {
            site.state.secrets_manager.all().collect()
        })
    }

    /// Says that a service owns a secret, which no call brings about; tells whether it exists.
    pub fn hand_secret_over(&self, scope: &Scope, name: &str, service: &str) -> bool {
        self.world().at(self.clock.now(), scope, &self.by, |site| {
            site.state.secrets_manager.hand_over(name, service, site.now)
        })
    }

    /// Describes one instance of an account and region, past rate limit, faults and log.
    pub fn inspect_instance(&self, scope: &Scope, name: &str) -> Option<Map<String, Value>> {
        self.world().at(self.clock.now(), scope, &self.by, |site| {
            let rds = &site.state.rds;
            match rds.instances.get(name)?.describe(site.now, &rds.subnet_groups) {
                Value::Object(members) => Some(members),
                _ => None,
            }
        })
    }

    /// Lists the instances of an account and region that carry a tag, past rate limit, faults and
    /// log.
    pub fn instances_tagged(&self, scope: &Scope, key: &str, value: &str) -> Vec<String> {
        self.world().at(self.clock.now(), scope, &self.by, |site| {
            let all = site.state.rds.instances.values();
            let tagged = all.filter(|i| i.tags.get(key).is_some_and(|there| there == value));
            tagged.map(|i| i.name.clone()).collect()
        })
    }

    /// Publishes a minor version of an engine: instances that upgrade by themselves do so in their
    /// next maintenance window. Tells whether engine and major version are known.
    pub fn publish_version(&self, engine: &str, version: &str) -> bool {
        let Ok(engine) = rds::engine::find(engine) else { return false };
        if engine.family(version).is_none() {
            return false;
        }
        let now = self.clock.now();
        let mut world = self.world();
        world.shared.catalog.publish(engine, version, now);
        for scope in world.scopes() {
            world.at(now, &scope, &self.by, |site| {
                let laws = Laws { settings: site.settings, catalog: &site.shared.catalog };
                site.state.rds.instances.values_mut().for_each(|i| i.rearm(now, laws));
            });
        }
        true
    }

    /// Keeps an instance `modifying` until [`Self::unstick`], after what is being done to it; tells
    /// whether it exists.
    pub fn stick(&self, scope: &Scope, instance: &str) -> bool {
        self.with(scope, instance, |instance, now, _| instance.stick(now)).is_some()
    }

    /// Lets an instance go on that was stuck; tells whether it exists.
    pub fn unstick(&self, scope: &Scope, instance: &str) -> bool {
        self.with(scope, instance, |instance, now, _| instance.unstick(now)).is_some()
    }

    /// Lets storage autoscaling grow an instance's disk, if it may; tells whether it did.
    pub fn autoscale(&self, scope: &Scope, instance: &str) -> bool {
        self.with(scope, instance, |instance, now, laws| instance.autoscale(now, laws))
            .unwrap_or(false)
    }

    /// Fills an instance's disk, so that it is `storage-full` until it grows; tells whether the
    /// instance exists.
    pub fn fill_storage(&self, scope: &Scope, instance: &str) -> bool {
        self.with(scope, instance, |instance, _, _| instance.rest = Rest::StorageFull).is_some()
    }

    /// Sets a member of an instance's description behind everybody's back, for facts that no call
    /// brings about (`AwsBackupRecoveryPointArn`); tells whether the instance exists.
    pub fn tamper(&self, scope: &Scope, instance: &str, member: &str, value: Value) -> bool {
        self.with(scope, instance, |instance, _, _| {
            instance.members.insert(member.to_owned(), value);
        })
        .is_some()
    }

    fn with<T>(
        &self,
        scope: &Scope,
        name: &str,
        run: impl FnOnce(&mut Instance, jiff::Timestamp, Laws<'_>) -> T,
    ) -> Option<T> {
        self.world().at(self.clock.now(), scope, &self.by, |site| {
            let laws = Laws { settings: site.settings, catalog: &site.shared.catalog };
            let instance = site.state.rds.instance(name).ok()?;
            Some(run(instance, site.now, laws))
        })
    }
}

impl Cloud for Sandbox {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(async move {
            self.send(&target.scope, call).await.map_err(|refusal| refusal.into_error(call))
        })
    }
}

#[cfg(test)]
mod tests;
