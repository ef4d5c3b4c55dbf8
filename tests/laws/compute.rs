//! Whatever is declared of compute: what is made is what is declared, so is what is changed, and what
//! somebody changed; and all of it goes in the end, without force.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use levelset::diff::diff;
use levelset::kinds::{self, autoscaling_group, launch_template};
use levelset::manifest::expand::{Alone, expand};
use levelset::manifest::parse;
use levelset::model::{
    Bound, Call, CallError, Cause, Clock, Cloud, ErrorClass, Kind, Observation, Observed,
    Readiness, Resource, ResourceId, Target,
};
use levelset::observe::Observer;
use levelset::sandbox::{Sandbox, Settings};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::cases::{bind, place};

/// Tells the time that it is set to.
struct Hand(Mutex<Timestamp>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// Plays the agent for one workspace.
struct Agent {
    sandbox: Sandbox,
    observer: Observer,
    clock: Arc<Hand>,
}

type Seen = BTreeMap<ResourceId, Observed>;

impl Agent {
    fn new() -> Self {
        let clock = Arc::new(Hand(Mutex::new("2026-11-25T12:00:00Z".parse().unwrap())));
        let sandbox = Sandbox::new(clock.clone(), Settings::fast(1));
        sandbox.seed_vpc(&place().scope, "core", "10.0.0.0/16", &["a", "b"]);
        let observer =
            Observer::new(Arc::new(sandbox.clone()), clock.clone(), SignedDuration::ZERO);
        Self { sandbox, observer, clock }
    }

    async fn look(&self, resource: &Resource, seen: &mut Seen) {
        let kind = kinds::find(&resource.id.kind).unwrap();
        // What is only read is nobody's to write.
        if !kind.only_reads(resource) {
            self.observer.written(&resource.id);
        }
        match self.observer.observe(kind, &resource.id).await {
            Observation::Present(actual) => {
                drop(seen.insert(resource.id.clone(), (*actual).clone()))
            }
            Observation::Absent => drop(seen.remove(&resource.id)),
            Observation::Unknown(doubt) => panic!("{}: {doubt}", resource.id),
        }
    }

    async fn send(&self, id: &ResourceId, calls: &[Call]) -> Result<(), CallError> {
        let (scope, kind) = (id.scope.clone(), id.kind.clone());
        let target = Target { scope, kind, cause: Cause::Change };
        for call in calls {
            self.sandbox.call(&target, call).await?;
        }
        Ok(())
    }

    /// Takes one pass and returns how many calls it sent.
    async fn pass(&self, resources: &[Resource]) -> Result<usize, String> {
        let (mut seen, mut sent) = (Seen::new(), 0);
        for resource in resources {
            self.look(resource, &mut seen).await;
            let kind = kinds::find(&resource.id.kind).unwrap();
            if kind.only_reads(resource) {
                continue;
            }
            let bound = bind(resource, &seen)?;
            let calls = wanted(kind, &bound, seen.get(&resource.id))?;
            self.send(&resource.id, &calls).await.map_err(|error| format!("{error}: {calls:?}"))?;
            sent += calls.len();
            self.look(resource, &mut seen).await;
        }
        Ok(sent)
    }

    /// Takes passes until nothing is to be done; a template needs two, and a group one more.
    async fn converge(&self, resources: &[Resource]) -> Result<(), String> {
        for _ in 0..4 {
            if self.pass(resources).await? == 0 {
                return Ok(());
            }
        }
        Err("it does not come to rest".to_owned())
    }

    /// Deletes everything that can be made, the last first, as often as AWS says that it is too early.
    async fn remove(&self, resources: &[Resource]) -> Result<(), String> {
        for resource in resources.iter().rev() {
            let kind = kinds::find(&resource.id.kind).unwrap();
            for _ in 0..6 {
                let mut seen = Seen::new();
                self.look(resource, &mut seen).await;
                let Some(actual) = seen.get(&resource.id).filter(|_| !kind.only_reads(resource))
                else {
                    break;
                };
                let deletion = kind.delete(&resource.id, actual, None);
                match self.send(&resource.id, &deletion.calls).await {
                    Err(error) if error.class != ErrorClass::NotReady => {
                        return Err(error.to_string());
                    }
                    _ => *self.clock.0.lock().unwrap() += SignedDuration::from_secs(60),
                }
            }
            let mut seen = Seen::new();
            self.look(resource, &mut seen).await;
            if !kind.only_reads(resource) && !seen.is_empty() {
                return Err(format!("{} is still there", resource.id));
            }
        }
        Ok(())
    }
}

fn wanted(kind: &dyn Kind, bound: &Bound, actual: Option<&Observed>) -> Result<Vec<Call>, String> {
    let Some(actual) = actual else { return Ok(kind.create(bound)) };
    let found = diff(kind.rules(), bound, actual, &Readiness::Ready, &[]);
    if !found.waits.is_empty() || !found.refusals.is_empty() || !bound.is_owned(actual) {
        return Err(format!("{found:?}"));
    }
    let objections = kind.objections(bound, actual);
    if !objections.is_empty() {
        return Err(format!("{objections:?}"));
    }
    match found.deltas.as_slice() {
        [] => Ok(Vec::new()),
        deltas => Ok(kind.update(bound, actual, deltas)),
    }
}

fn resources(group: &Value) -> Option<Vec<Resource>> {
    let manifest = json!({
        "apiVersion": "platform.kby.io/v1alpha1", "kind": "Workspace",
        "metadata": {"name": "orders"},
        "spec": {"environment": "staging", "resources": {
            "network": {"vpcRef": "core"}, "compute": {"web": group}}},
    });
    let parsed = parse("a.yaml", manifest.to_string().as_bytes());
    if parsed.is_broken() {
        return None;
    }
    Some(expand(&parsed.objects[0], &place(), &Alone))
}

fn maybe<T: std::fmt::Debug + Clone + 'static>(
    name: &'static str,
    value: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Option<(&'static str, Value)>>
where
    Value: From<T>,
{
    prop::option::of(value.prop_map(move |it| (name, Value::from(it)))).boxed()
}

fn one_of(words: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    prop::sample::select(words)
}

fn some_of(words: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(words, 0..=words.len()).prop_shuffle()
}

/// One of these at least.
fn any_of(words: &'static [&'static str]) -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(words, 1..=words.len()).prop_shuffle()
}

fn structure(
    members: Vec<BoxedStrategy<Option<(&'static str, Value)>>>,
) -> impl Strategy<Value = Map<String, Value>> {
    members.prop_map(|members| {
        members.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect()
    })
}

const TARGETS: &[&str] = &[
    "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/a/1",
    "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/b/2",
    "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/c/3",
];

/// A root volume that a manifest may declare.
fn root_volume() -> impl Strategy<Value = Map<String, Value>> {
    let volume = structure(vec![
        maybe("device", one_of(&["/dev/xvda", "/dev/sda1"])),
        maybe("sizeGiB", 8_u32..100),
        maybe("type", one_of(&["gp2", "gp3", "standard"])),
        maybe("throughputMiBps", 125_u32..500),
        maybe("encrypted", any::<bool>()),
        maybe("kmsKey", one_of(&["alias/a", "alias/b"])),
    ]);
    volume.prop_map(|mut volume| {
        if volume.get("type").is_none_or(|name| name != "gp3") {
            volume.remove("throughputMiBps");
        }
        if volume.get("encrypted") == Some(&json!(false)) {
            volume.remove("kmsKey");
        }
        volume
    })
}

/// An entry of the section, which may or may not be one that a manifest may hold.
fn group() -> impl Strategy<Value = Value> {
    let metadata = structure(vec![
        maybe("httpTokens", one_of(&["required", "optional"])),
        maybe("httpPutResponseHopLimit", 1_u32..5),
        maybe("httpEndpoint", one_of(&["enabled", "disabled"])),
    ]);
    let health = structure(vec![
        maybe("types", some_of(&["ELB", "EBS", "VPC_LATTICE"])),
        maybe("gracePeriodSeconds", 0_u32..600),
    ]);
    let tags = prop::collection::btree_map("[A-Za-z]{1,4}", "[ -~&&[^$]]{0,8}", 0..3);
    let tags =
        tags.prop_map(|tags| Value::Object(tags.into_iter().map(|(k, v)| (k, v.into())).collect()));
    let optional = structure(vec![
        maybe("desiredCapacity", 0_u32..6),
        maybe("securityGroups", any_of(&["sg-0a1", "sg-0b2"])),
        maybe(
            "instanceProfile",
            one_of(&["", "web", "arn:aws:iam::123456789012:instance-profile/a/web"]),
        ),
        maybe("keyPair", "[a-z]{0,3}"),
        maybe("userData", "[ -~éü\\n&&[^$]]{0,60}"),
        maybe("rootVolume", root_volume()),
        maybe("metadataOptions", metadata),
        maybe("detailedMonitoring", any::<bool>()),
        maybe("healthCheck", health),
        maybe("terminationPolicies", some_of(&["Default", "OldestInstance", "NewestInstance"])),
        maybe("capacityRebalance", any::<bool>()),
        maybe("maxInstanceLifetimeSeconds", prop_oneof![Just(0_u32), 86_400_u32..900_000]),
        maybe("targetGroups", some_of(TARGETS)),
        maybe("tags", tags),
        maybe("propagateTags", any::<bool>()),
    ]);
    let image = one_of(&["ami-0a1", "ami-0b2", "resolve:ssm:/aws/service/a"]);
    let sizes = (0_u32..4, 0_u32..4);
    (image, one_of(&["t4g.small", "m7g.large"]), sizes, optional).prop_map(
        |(image, kind, (min, more), mut members)| {
            members.insert("image".to_owned(), image.into());
            members.insert("instanceType".to_owned(), kind.into());
            members.insert("minSize".to_owned(), min.into());
            members.insert("maxSize".to_owned(), (min + more).into());
            if let Some(desired) = members.get_mut("desiredCapacity") {
                *desired =
                    (min + u32::try_from(desired.as_u64().unwrap()).unwrap() % (more + 1)).into();
            }
            Value::Object(members)
        },
    )
}

/// What a person does with the two, by the calls that the agent itself would send for another wish.
async fn meddle(agent: &Agent, ours: &[Resource], theirs: &[Resource]) -> Result<(), String> {
    let mut seen = Seen::new();
    for (own, other) in ours.iter().zip(theirs) {
        agent.look(own, &mut seen).await;
        let kind = kinds::find(&own.id.kind).unwrap();
        if ![launch_template::NAME, autoscaling_group::NAME].contains(&own.id.kind) {
            continue;
        }
        let Some(actual) = seen.get(&own.id).cloned() else { continue };
        let bound = bind(other, &seen)?;
        let found = diff(kind.rules(), &bound, &actual, &Readiness::Ready, &[]);
        let calls = kind.update(&bound, &actual, &found.deltas);
        agent.send(&own.id, &calls).await.map_err(|error| format!("{error}: {calls:?}"))?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn what_is_made_of_compute_is_what_is_declared(
        before in group(),
        after in group(),
        theirs in group(),
        passes in 0_usize..3,
    ) {
        let all = (resources(&before), resources(&after), resources(&theirs));
        let (Some(before), Some(after), Some(theirs)) = all else {
            return Err(TestCaseError::reject("nothing that a manifest may declare"));
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let agent = Agent::new();
            prop_assert_eq!(agent.converge(&before).await, Ok(()));
            prop_assert_eq!(agent.pass(&before).await, Ok(0), "once more");
            prop_assert_eq!(agent.converge(&after).await, Ok(()));
            for _ in 0..passes {
                prop_assert_eq!(meddle(&agent, &after, &theirs).await, Ok(()));
            }
            prop_assert_eq!(agent.converge(&after).await, Ok(()), "whatever somebody did");
            prop_assert_eq!(agent.remove(&after).await, Ok(()));
            Ok(())
        })?;
    }
}
