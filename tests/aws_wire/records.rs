//! The life of record sets on two emulators.
//!
//! Both are wrong about parts of it: see each test. What a zone refuses (a CNAME beside others, two
//! routing policies, a deletion of other values) is held on the sandbox.

use levelset::kinds::route53_record_set;
use levelset::kinds::route53_record_set::spec::{Dns, Placement as RecordPlacement, resources};
use levelset::model::within::Surroundings;
use levelset::model::{Cause, ErrorClass, Observation, Resource};

use super::*;
use crate::support::emulators::{ministack, moto};

/// Makes a zone, which no kind does, and returns its id.
pub(super) async fn zone(url: &Url, key: &str, name: &str) -> String {
    let credential = format!(
        "AWS4-HMAC-SHA256 Credential={key}/20261129/us-east-1/route53/aws4_request, \
         SignedHeaders=host, Signature=0"
    );
    let body = format!(
        "<CreateHostedZoneRequest xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\">\
         <Name>{name}</Name><CallerReference>{name}</CallerReference></CreateHostedZoneRequest>"
    );
    let request = reqwest::Client::new()
        .post(url.join("/2013-04-01/hostedzone").unwrap())
        .header("Authorization", credential)
        .body(body);
    let answer = request.send().await.unwrap().text().await.unwrap();
    let (_, rest) = answer.split_once("<Id>").unwrap_or_else(|| panic!("{answer}"));
    rest.split_once('<').unwrap().0.trim_start_matches("/hostedzone/").to_owned()
}

/// Returns a record as its manifest declares it.
fn declared(scope: &Scope, zone: &str, record: &Value) -> Bound {
    let dns: Dns =
        serde_json::from_value(json!({"zone": zone, "records": {"it": record}})).unwrap();
    let placement = RecordPlacement { environment: scope, owner: "test/Workspace/a", adopt: false };
    let Resource { id, fields, initial, owner, .. } = resources(&dns, &placement).remove(0);
    let known = |(field, input)| match input {
        Input::Known(value) => (field, value),
        other => panic!("{other:?} is not known"),
    };
    Bound { id, fields: fields.into_iter().map(known).collect(), initial, owner, adopt: false }
}

impl Agent {
    /// Makes what is not there, as its zone asks for.
    async fn make(&self, desired: &Bound) {
        assert_eq!(self.look(desired).await, Observation::Absent);
        let within = self.kind.within().unwrap();
        let around: Surroundings =
            self.observer.surroundings(self.kind, within, &desired.id).await.unwrap();
        let mut prepared = desired.clone();
        assert_eq!(within.prepare(&mut prepared, &around), []);
        self.send(&prepared, self.kind.create(&prepared)).await;
    }

    async fn delete(&self, desired: &Bound) {
        let actual = self.present(desired).await;
        let deletion = self.kind.delete(&desired.id, &actual, None);
        self.send(desired, deletion.calls).await;
        assert_eq!(self.look(desired).await, Observation::Absent);
    }
}

/// Takes one record through its life: made, read, changed, put back, deleted.
async fn lives(agent: &Agent, scope: &Scope, zone: &str, before: &Value, after: &Value) {
    let desired = declared(scope, zone, before);
    agent.make(&desired).await;
    assert_eq!(agent.mend(&desired).await, [""; 0], "{before}: what was made is what is declared");
    let actual = agent.present(&desired).await;
    assert_eq!(actual.tags.as_ref().unwrap()["levelset:owner"], "test/Workspace/a");
    let changed = declared(scope, zone, after);
    assert_eq!(agent.mend(&changed).await, ["ChangeResourceRecordSets"], "{after}");
    assert_eq!(
        agent.mend(&changed).await,
        [""; 0],
        "{after}: what was changed is what is declared"
    );
    // Somebody else has it as it was.
    assert_eq!(agent.mend(&desired).await, ["ChangeResourceRecordSets"]);
    assert_eq!(agent.mend(&changed).await, ["ChangeResourceRecordSets"], "it is put back");
    agent.delete(&changed).await;
}

/// Takes records of many forms through their lives at an emulator.
async fn records_live(url: &Url, number: &str, key: &str) {
    let account = account_at(url, number, "eu-west-1", key);
    let (name, scope) = (format!("wire{key}.example"), account.scope.clone());
    let id = zone(url, key, &name).await;
    let agent = Agent::of(account.clone(), &route53_record_set::KIND);
    let long = "x".repeat(400);
    for (before, after) in [
        (
            json!({"name": "www", "type": "A", "ttl": 60, "values": ["192.0.2.2", "192.0.2.1"]}),
            json!({"name": "www", "type": "A", "ttl": 90, "values": ["192.0.2.3"]}),
        ),
        (
            json!({"name": "*", "type": "CNAME", "values": ["a.example.net"]}),
            json!({"name": "*", "type": "CNAME", "values": ["B.example.net."]}),
        ),
        (
            json!({"name": "@", "type": "TXT", "values": ["v=spf1 <&> \"x\"", long]}),
            json!({"name": "@", "type": "TXT", "values": ["v=spf1 -all"]}),
        ),
        (
            json!({"name": "@", "type": "MX", "values": ["10 a.example.net", "20 b.example.net"]}),
            json!({"name": "@", "type": "MX", "values": ["10 a.example.net"]}),
        ),
        (
            json!({"name": "w", "type": "A", "values": ["192.0.2.1"], "setIdentifier": "east",
                "weight": 0}),
            json!({"name": "w", "type": "A", "values": ["192.0.2.1"], "setIdentifier": "east",
                "weight": 7}),
        ),
        (
            json!({"name": "site", "type": "A", "values": ["192.0.2.1"]}),
            json!({"name": "site", "type": "A",
                "alias": {"target": "d1.cloudfront.net", "evaluateTargetHealth": false}}),
        ),
    ] {
        lives(&agent, &scope, &name, &before, &after).await;
    }
    let by_id = json!({"name": format!("i.{name}"), "type": "A", "values": ["192.0.2.1"]});
    agent.make(&declared(&scope, &id, &by_id)).await;
    // What one agent has read under one name of the zone it may share for a while.
    let agent = Agent::of(account, &route53_record_set::KIND);
    assert_eq!(agent.mend(&declared(&scope, &name, &by_id)).await, [""; 0], "it is the same zone");
    refusals(&agent, &declared(&scope, &name, &by_id), &id).await;
}

async fn refusals(agent: &Agent, there: &Bound, zone: &str) {
    let target = Target {
        scope: there.id.scope.clone(),
        kind: route53_record_set::NAME,
        cause: Cause::List,
    };
    let mut again = there.clone();
    again.fields.insert("zoneId".into(), zone.into());
    let again = route53_record_set::KIND.create(&again).remove(0);
    let error = agent.cloud.call(&target, &again).await.unwrap_err();
    assert_eq!((error.class, &*error.code), (ErrorClass::Invalid, "InvalidChangeBatch"));
    let nowhere = Call::new("route53", "ListResourceRecordSets").with("HostedZoneId", "ZNOWHERE1");
    let error = agent.cloud.call(&target, &nowhere).await.unwrap_err();
    assert_eq!((error.class, &*error.code), (ErrorClass::NotFound, "NoSuchHostedZone"));
}

#[tokio::test]
async fn records_live_on_moto() {
    records_live(&moto().url, MOTO_ACCOUNT, "test").await;
}

#[tokio::test]
async fn records_live_on_ministack() {
    let account = "100000000078";
    records_live(&ministack().url, account, account).await;
}

#[tokio::test]
async fn a_zone_of_many_pages_is_read_whole() {
    let account = account_at(&moto().url, MOTO_ACCOUNT, "eu-west-1", "test");
    let (scope, name) = (account.scope.clone(), "pages.example");
    let id = zone(&moto().url, "test", name).await;
    let agent = Agent::of(account, &route53_record_set::KIND);
    let record =
        |at: usize| json!({"name": format!("n{at:03}"), "type": "A", "values": ["192.0.2.1"]});
    let all: Vec<Bound> = (0..330).map(|at| declared(&scope, name, &record(at))).collect();
    let calls: Vec<Call> = all
        .iter()
        .flat_map(|desired| {
            let mut desired = desired.clone();
            desired.fields.insert("zoneId".into(), id.clone().into());
            route53_record_set::KIND.create(&desired)
        })
        .collect();
    let batch = calls
        .iter()
        .skip(1)
        .try_fold(calls[0].clone(), |joint, call| route53_record_set::KIND.join(&[&joint, call]));
    agent.send(&all[0], vec![batch.expect("330 records fit in one batch")]).await;
    for desired in [&all[0], &all[170], &all[329]] {
        agent.present(desired).await;
    }
    let absent = declared(&scope, name, &record(999));
    assert_eq!(agent.look(&absent).await, Observation::Absent, "a read of its own proves it");
}
