//! Whatever is declared of a VPC and its subnets: what is made is what is declared, and stays so whatever
//! somebody changes.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::SignedDuration;
use levelset::cli::clock::SystemClock;
use levelset::diff::diff;
use levelset::kinds;
use levelset::manifest::expand::{Alone, expand};
use levelset::manifest::parse;
use levelset::model::{
    Bound, Call, Cause, Cloud, Kind, Observation, Observed, Readiness, Resource, ResourceId, Target,
};
use levelset::observe::Observer;
use levelset::sandbox::log::Record;
use levelset::sandbox::{Sandbox, Settings};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases::{bind, place};

/// Plays the agent.
struct Agent {
    sandbox: Sandbox,
    observer: Observer,
    seen: BTreeMap<ResourceId, Observed>,
}

impl Agent {
    fn new() -> Self {
        let clock = Arc::new(SystemClock);
        let sandbox = Sandbox::new(clock.clone(), Settings::fast(1));
        let observer = Observer::new(Arc::new(sandbox.clone()), clock, SignedDuration::ZERO);
        Self { sandbox, observer, seen: BTreeMap::new() }
    }

    async fn send(&self, id: &ResourceId, calls: Vec<Call>) -> Result<(), String> {
        let (scope, kind) = (id.scope.clone(), id.kind.clone());
        let target = Target { scope, kind, cause: Cause::Change };
        for call in calls {
            let sent = self.sandbox.call(&target, &call).await;
            sent.map_err(|error| format!("{error}: {call:?}"))?;
        }
        self.observer.written(id);
        Ok(())
    }

    /// Reads a resource when it is settled.
    async fn look(&self, kind: &'static dyn Kind, bound: &Bound) -> Option<Arc<Observed>> {
        loop {
            let actual = match self.observer.observe(kind, &bound.id).await {
                Observation::Present(actual) => actual,
                Observation::Absent => return None,
                Observation::Unknown(doubt) => panic!("{doubt}"),
            };
            if kind.readiness(&actual) == Readiness::Ready {
                return Some(self.observer.details(kind, bound, actual).await.unwrap());
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    /// Makes and changes one resource; returns what differs after that, and how many calls it took.
    async fn converge(&mut self, resource: &Resource) -> Result<(usize, usize), String> {
        let kind = kinds::find(&resource.id.kind).unwrap();
        let bound = bind(resource, &self.seen)?;
        // A list is shared for as long as five readings of it take, in which somebody may change it.
        self.observer.written(&bound.id);
        let mut sent = 0;
        if self.look(kind, &bound).await.is_none() {
            sent += 1;
            self.send(&bound.id, kind.create(&bound)).await?;
        }
        let actual = self.look(kind, &bound).await.ok_or("it is not there")?;
        let found = diff(kind.rules(), &bound, &actual, &Readiness::Ready, &[]);
        let calls = kind.update(&bound, &actual, &found.deltas);
        sent += calls.len();
        self.send(&bound.id, calls).await?;
        let actual = self.look(kind, &bound).await.ok_or("it is not there any more")?;
        assert!(bound.is_owned(&actual), "{actual:?}");
        self.seen.insert(resource.id.clone(), (*actual).clone());
        let left = diff(kind.rules(), &bound, &actual, &Readiness::Ready, &[]);
        Ok((left.deltas.len() + left.refusals.len() + left.waits.len(), sent))
    }

    /// Does in the console what somebody might do.
    fn meddle(&self, what: &Meddling) {
        let ask = |operation: &'static str, params: Value| {
            let mut call = Call::new("ec2", operation);
            call.params = params.as_object().unwrap().clone();
            self.sandbox.door("console").ask(&place().scope, &call)
        };
        for actual in self.seen.values() {
            let id = actual.text("SubnetId").or(actual.text("VpcId")).unwrap();
            if let Some(name) = &what.name {
                let tags = json!([{"Key": "Name", "Value": name}, {"Key": "other", "Value": "x"}]);
                ask("CreateTags", json!({"Resources": [id], "Tags": tags})).unwrap();
            }
            let value = |flag: bool| json!({ "Value": flag });
            if id.starts_with("subnet") {
                let public = json!({"SubnetId": id, "MapPublicIpOnLaunch": value(what.public)});
                ask("ModifySubnetAttribute", public).unwrap();
            } else {
                for attribute in ["EnableDnsHostnames", "EnableDnsSupport"] {
                    // AWS refuses names without DNS.
                    drop(ask(
                        "ModifyVpcAttribute",
                        json!({"VpcId": id, (attribute): value(what.dns)}),
                    ));
                }
            }
        }
    }
}

#[derive(Debug, Clone)]
struct Meddling {
    name: Option<String>,
    public: bool,
    dns: bool,
}

fn meddling() -> impl Strategy<Value = Meddling> {
    (prop::option::of("[a-z]{1,4}"), any::<bool>(), any::<bool>())
        .prop_map(|(name, public, dns)| Meddling { name, public, dns })
}

fn tags() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-z]{1,6}", "[ -#%-~]{0,12}", 0..3).prop_map(|tags| json!(tags))
}

/// A manifest's `vpc`: subnets of one size, with or without host bits.
fn declared() -> impl Strategy<Value = Value> {
    let flag = || prop::option::of(any::<bool>());
    let subnet = (0_usize..3, flag(), tags(), any::<bool>());
    let subnets = prop::collection::vec(subnet, 0..5);
    let dns = (flag(), flag()).prop_filter("names take DNS", |it| *it != (Some(false), Some(true)));
    let tenancy = prop::option::of(prop_oneof![Just("default"), Just("dedicated")]);
    (subnets, dns, tags(), 16_u8..22, tenancy).prop_map(|(subnets, dns, tags, length, tenancy)| {
        let subnets: BTreeMap<String, Value> = subnets
            .into_iter()
            .enumerate()
            .map(|(at, (zone, public, tags, has_host_bits))| {
                let host = if has_host_bits { 9 } else { 0 };
                let (zone, cidr) =
                    (["a", "b", "eu-west-1c"][zone], format!("10.20.{at}.{host}/24"));
                let subnet =
                    json!({"zone": zone, "cidr": cidr, "mapPublicIp": public, "tags": tags});
                (format!("net-{at}"), subnet)
            })
            .collect();
        json!({"cidr": format!("10.20.0.0/{length}"), "subnets": subnets, "dnsSupport": dns.0,
            "dnsHostnames": dns.1, "tenancy": tenancy, "tags": tags})
    })
}

/// Returns the VPC and the subnets that a manifest asks for.
fn resources(vpc: &Value) -> Vec<Resource> {
    let manifest = json!({"apiVersion": "platform.kby.io/v1alpha1", "kind": "Network",
        "metadata": {"name": "shop"}, "spec": {"environment": "staging", "vpc": vpc}});
    let parsed = parse("law.yaml", manifest.to_string().as_bytes());
    assert!(!parsed.is_broken(), "{:?}", parsed.problems);
    let all = expand(&parsed.objects[0], &place(), &Alone);
    all.into_iter().filter(|it| ["vpc", "subnet"].contains(&it.id.kind.as_str())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_made_of_a_network_is_what_is_declared_whatever_somebody_does(
        vpc in declared(),
        what in meddling(),
    ) {
        let resources = resources(&vpc);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut agent = Agent::new();
            for resource in &resources {
                let made = agent.converge(resource).await;
                prop_assert_eq!(made.map(|(left, _)| left), Ok(0), "{}", &resource.id);
                prop_assert_eq!(agent.converge(resource).await, Ok((0, 0)), "once more");
            }
            agent.meddle(&what);
            for resource in &resources {
                let mended = agent.converge(resource).await;
                prop_assert_eq!(mended.map(|(left, _)| left), Ok(0), "{}", &resource.id);
            }
            let is_creation = |it: &&Record| ["CreateVpc", "CreateSubnet"].contains(&&*it.operation);
            let calls = agent.sandbox.calls_since(0);
            prop_assert_eq!(calls.iter().filter(is_creation).count(), resources.len());
            for resource in resources.iter().rev() {
                let kind = kinds::find(&resource.id.kind).unwrap();
                let deletion = kind.delete(&resource.id, &agent.seen[&resource.id], None);
                prop_assert_eq!(agent.send(&resource.id, deletion.calls).await, Ok(()));
                let bound = bind(resource, &agent.seen).unwrap();
                prop_assert!(agent.look(kind, &bound).await.is_none());
            }
            Ok(())
        })?;
    }
}
