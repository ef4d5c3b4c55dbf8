//! Whatever is declared of a record set: what is made is what is declared, and so is what is changed.

use std::sync::Arc;

use jiff::SignedDuration;
use levelset::cli::clock::SystemClock;
use levelset::diff::diff;
use levelset::kinds::route53_record_set::KIND;
use levelset::kinds::route53_record_set::spec::{Dns, Placement, check, resources};
use levelset::model::{
    AccountId, Bound, Call, Cloud, Input, Kind, Observation, Observed, Readiness, Region, Scope,
    Severity,
};
use levelset::model::{Cause, Target};
use levelset::observe::Observer;
use levelset::sandbox::{Sandbox, Settings};
use proptest::prelude::*;
use serde_json::{Value, json};

fn scope() -> Scope {
    Scope { account: AccountId::new("123456789012"), region: Region::new("eu-west-1") }
}

/// Plays the agent in one zone.
struct Agent {
    sandbox: Sandbox,
    observer: Observer,
    zone: String,
}

impl Agent {
    fn new() -> Self {
        let clock = Arc::new(SystemClock);
        let sandbox = Sandbox::new(clock.clone(), Settings::fast(1));
        let zone = sandbox.seed_zone(&scope(), "example.com", &[]);
        let observer = Observer::new(Arc::new(sandbox.clone()), clock, SignedDuration::ZERO);
        Self { sandbox, observer, zone }
    }

    async fn send(&self, bound: &Bound, calls: Vec<Call>) -> Result<(), String> {
        let scope = bound.id.scope.clone();
        let target = Target { scope, kind: KIND.name(), cause: Cause::Change };
        for call in calls {
            self.sandbox
                .call(&target, &call)
                .await
                .map_err(|error| format!("{error}: {call:?}"))?;
        }
        self.observer.written(&bound.id);
        Ok(())
    }

    async fn look(&self, bound: &Bound) -> Option<Arc<Observed>> {
        match self.observer.observe(&KIND, &bound.id).await {
            Observation::Present(actual) => Some(actual),
            Observation::Absent => None,
            Observation::Unknown(doubt) => panic!("{doubt}"),
        }
    }

    /// Makes or changes the record set, and returns what differs after that.
    async fn converge(&self, bound: &Bound) -> Result<usize, String> {
        match self.look(bound).await {
            Some(actual) => {
                let found = diff(KIND.rules(), bound, &actual, &Readiness::Ready, &[]);
                self.send(bound, KIND.update(bound, &actual, &found.deltas)).await?;
            }
            None => {
                let (mut prepared, within) = (bound.clone(), KIND.within().unwrap());
                let around = self.observer.surroundings(&KIND, within, &bound.id).await.unwrap();
                let refusals = within.prepare(&mut prepared, &around);
                assert!(refusals.is_empty(), "{refusals:?}");
                self.send(bound, KIND.create(&prepared)).await?;
            }
        }
        let actual = self.look(bound).await.ok_or("it is not there")?;
        assert!(bound.is_owned(&actual), "{actual:?}");
        Ok(diff(KIND.rules(), bound, &actual, &Readiness::Ready, &[]).deltas.len())
    }
}

fn declared(record: &Value) -> Option<Bound> {
    let dns = json!({"zone": "example.com", "records": {"it": record}});
    let dns: Dns = serde_json::from_value(dns).unwrap();
    if check(&dns).iter().any(|finding| finding.severity == Severity::Error) {
        return None;
    }
    let environment = scope();
    let placement =
        Placement { environment: &environment, owner: "test/Workspace/a", adopt: false };
    let resource = resources(&dns, &placement).remove(0);
    let known = |(field, input)| match input {
        Input::Known(value) => (field, value),
        other => panic!("{other:?} is not known"),
    };
    Some(Bound {
        id: resource.id,
        fields: resource.fields.into_iter().map(known).collect(),
        initial: resource.initial,
        owner: resource.owner,
        adopt: false,
    })
}

/// A type and its values, or an alias.
fn content() -> impl Strategy<Value = Value> {
    let texts = prop::collection::vec("[ -~é\\\\\"]{0,40}|x{250,600}", 1..4);
    let label = "[a-zA-Z]{1,8}";
    prop_oneof![
        prop::collection::vec(any::<[u8; 4]>(), 1..4).prop_map(|all| {
            let all: Vec<String> =
                all.iter().map(|it| std::net::Ipv4Addr::from(*it).to_string()).collect();
            json!({"type": "A", "values": all})
        }),
        (label, any::<bool>()).prop_map(|(name, health)| {
            let target = format!("{name}.eu-west-1.elb.amazonaws.com");
            json!({"type": "A", "alias": {"target": target, "evaluateTargetHealth": health}})
        }),
        texts.prop_map(|all| json!({"type": "TXT", "values": all})),
        (label, any::<bool>()).prop_map(|(name, dot)| {
            let target = format!("{name}.Example.net{}", if dot { "." } else { "" });
            json!({"type": "CNAME", "values": [target]})
        }),
        prop::collection::vec((any::<u8>(), label), 1..4).prop_map(|all| {
            let all: Vec<String> =
                all.iter().map(|(number, name)| format!("{number}  {name}.example.net")).collect();
            json!({"type": "MX", "values": all})
        }),
    ]
}

/// A record of one name, with or without a routing policy.
fn record() -> impl Strategy<Value = Value> {
    let ttl = prop::option::of(0u32..100_000);
    let policy = prop_oneof![
        Just(json!({})),
        (0u8..=255).prop_map(|weight| json!({"setIdentifier": "a/b", "weight": weight})),
        Just(json!({"setIdentifier": "a/b", "region": "eu-west-1"})),
        Just(json!({"setIdentifier": "a/b", "failover": "primary"})),
        Just(json!({"setIdentifier": "a/b", "geolocation": {"country": "DE"}})),
    ];
    (content(), policy, ttl, "\\*|[a-z]{1,5}").prop_map(|(mut record, policy, ttl, name)| {
        let members = record.as_object_mut().unwrap();
        members.insert("name".to_owned(), format!("{name}.w").into());
        members.extend(policy.as_object().unwrap().clone());
        if let Some(ttl) = ttl.filter(|_| !members.contains_key("alias")) {
            members.insert("ttl".to_owned(), ttl.into());
        }
        record
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_made_of_records_is_what_is_declared(
        before in record(),
        mut after in record(),
        same_name in any::<bool>(),
    ) {
        if same_name {
            after["name"] = before["name"].clone();
        }
        let (Some(before), Some(after)) = (declared(&before), declared(&after)) else {
            return Err(TestCaseError::reject("not a record that a manifest may declare"));
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let agent = Agent::new();
            prop_assert_eq!(agent.converge(&before).await, Ok(0));
            prop_assert_eq!(agent.converge(&before).await, Ok(0), "once more");
            prop_assert_eq!(agent.converge(&after).await, Ok(0));
            let actual = agent.look(&after).await.unwrap();
            let imported = super::import::imported(&KIND, &after.id, &actual);
            let imported = imported.map_err(TestCaseError::fail)?;
            prop_assert!(imported.is_settled(), "{:?}", imported);
            let deletion = KIND.delete(&after.id, &actual, None);
            prop_assert_eq!(agent.send(&after, deletion.calls).await, Ok(()));
            prop_assert!(agent.look(&after).await.is_none());
            let left = agent.sandbox.inspect_zone(&scope(), &agent.zone).len();
            let other = usize::from(agent.look(&before).await.is_some()) * 2;
            prop_assert_eq!(left, 2 + other, "nothing else is left");
            Ok(())
        })?;
    }
}
