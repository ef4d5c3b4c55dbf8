//! The pass with record sets, which are in a zone and are changed in batches.

use std::collections::BTreeSet;

use super::*;
use crate::kinds::route53_record_set;
use crate::model::{Kind, Observation, ResourceId};

const DNS: &str = r#"apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: team-payments-prod}
spec:
  environment: production
  resources:
    dns:
      zone: example.com
      records:
        www: {type: A, ttl: 60, values: [192.0.2.1]}
        mail: {name: "@", type: MX, values: [10 mail.example.net]}
  reconcilePolicy: {deletion: delete}
"#;

const CHANGE: &str = "ChangeResourceRecordSets";

const OWNER: &str = "levelset/Workspace/team-payments-prod";

impl Scene {
    /// Makes a scene with a zone.
    async fn with_zone(manifest: &str) -> (Self, String) {
        let scene = Self::new(manifest).await;
        let zone = scene.sandbox.seed_zone(&scope(), "example.com", &[]);
        (scene, zone)
    }

    /// Lists `NAME TYPE VALUE` of what is in a zone beside what it was made with.
    fn records(&self, zone: &str) -> Vec<String> {
        let all = self.sandbox.inspect_zone(&scope(), zone);
        let text =
            |record: &Value, name: &str| record[name].as_str().unwrap_or_default().to_owned();
        all.into_iter()
            .map(Value::Object)
            .filter(|record| !["NS", "SOA"].contains(&&*text(record, "Type")))
            .map(|record| {
                let value = record["ResourceRecords"][0]["Value"].as_str().unwrap_or("alias");
                format!("{} {} {value}", text(&record, "Name"), text(&record, "Type"))
            })
            .collect()
    }

    /// Changes a record set behind the agent's back.
    fn by_hand(&self, zone: &str, action: &str, record_set: Value) {
        self.wait(SignedDuration::from_mins(15));
        self.change(zone, action, record_set);
        self.wait(SignedDuration::from_mins(15));
    }

    fn change(&self, zone: &str, action: &str, record_set: Value) {
        let changes = json!({"Changes": [{"Action": action, "ResourceRecordSet": record_set}]});
        let call =
            Call::new("route53", CHANGE).with("HostedZoneId", zone).with("ChangeBatch", changes);
        self.sandbox.door("console").ask(&scope(), &call).unwrap();
    }
}

fn address(name: &str, ttl: u32, value: &str) -> Value {
    json!({"Name": name, "Type": "A", "TTL": ttl, "ResourceRecords": [{"Value": value}]})
}

#[tokio::test]
async fn the_records_of_a_zone_are_made_in_one_batch_with_what_says_whose_they_are() {
    let (scene, zone) = Scene::with_zone(DNS).await;
    scene.converge().await;
    assert_eq!(scene.writes(), [CHANGE], "one batch for all of them");
    let owner = format!("\"heritage=levelset,owner={OWNER}\"");
    let expected = [
        "example.com. MX 10 mail.example.net".to_owned(),
        format!("_levelset-mx.example.com. TXT {owner}"),
        "www.example.com. A 192.0.2.1".to_owned(),
        format!("_levelset-a.www.example.com. TXT {owner}"),
    ];
    assert_eq!(scene.records(&zone), expected);
    let reads = |scene: &Scene| {
        let counters = scene.sandbox.counters();
        let of = |name: &str| counters.get(name).map_or(0, |it| it.calls);
        (of("route53:ListHostedZones"), of("route53:ListResourceRecordSets"))
    };
    let before = reads(&scene);
    scene.wait(SignedDuration::from_mins(30));
    let _ = scene.pass().await;
    let after = reads(&scene);
    assert_eq!((after.0 - before.0, after.1 - before.1), (1, 1), "one list of each serves a pass");
}

#[tokio::test]
async fn a_record_that_somebody_changes_is_put_back_and_one_that_is_not_declared_is_left() {
    let (scene, zone) = Scene::with_zone(DNS).await;
    scene.by_hand(&zone, "CREATE", address("other.example.com", 5, "192.0.2.9"));
    scene.converge().await;
    scene.by_hand(&zone, "UPSERT", address("www.example.com", 5, "192.0.2.66"));
    let status = scene.pass().await.status.unwrap();
    let fields: Vec<&str> = status.drift.iter().map(|drift| &*drift.field).collect();
    assert_eq!(fields, ["values", "ttl"]);
    scene.converge().await;
    let records = scene.records(&zone);
    assert!(records.contains(&"www.example.com. A 192.0.2.1".to_owned()), "{records:?}");
    assert!(records.contains(&"other.example.com. A 192.0.2.9".to_owned()), "{records:?}");
    assert_eq!(scene.writes(), [CHANGE; 2]);
}

#[tokio::test]
async fn a_record_of_somebody_else_is_refused_and_holds_up_no_other() {
    let (scene, zone) = Scene::with_zone(DNS).await;
    scene.by_hand(&zone, "CREATE", address("www.example.com", 60, "192.0.2.1"));
    let status = scene.passes(3).await;
    let codes: Vec<&str> = status
        .resources
        .iter()
        .flat_map(|row| &row.refusals)
        .map(|refusal| &*refusal.code)
        .collect();
    assert_eq!(codes, ["NotOwned"], "also where it is as declared");
    let records = scene.records(&zone);
    assert!(records.iter().any(|record| record.starts_with("example.com. MX")), "{records:?}");
    assert!(!records.iter().any(|record| record.starts_with("_levelset-a.www")), "{records:?}");
}

#[tokio::test]
async fn a_record_is_adopted_where_the_manifest_says_so() {
    let manifest = DNS.replace("values: [192.0.2.1]", "values: [192.0.2.1], adopt: true");
    let (scene, zone) = Scene::with_zone(&manifest).await;
    scene.by_hand(&zone, "CREATE", address("www.example.com", 5, "192.0.2.7"));
    scene.converge().await;
    let records = scene.records(&zone);
    assert!(records.contains(&"www.example.com. A 192.0.2.1".to_owned()), "{records:?}");
    assert!(records.iter().any(|record| record.starts_with("_levelset-a.www")), "{records:?}");
}

#[tokio::test]
async fn a_cname_that_becomes_an_address_is_replaced_in_one_batch() {
    let cname = DNS
        .replace("type: A, ttl: 60, values: [192.0.2.1]", "type: CNAME, values: [a.example.net]");
    let (mut scene, zone) = Scene::with_zone(&cname).await;
    scene.converge().await;
    scene.commit(Some(DNS));
    scene.converge().await;
    assert_eq!(scene.writes(), [CHANGE; 2]);
    let records = scene.records(&zone);
    assert!(records.contains(&"www.example.com. A 192.0.2.1".to_owned()), "{records:?}");
    assert_eq!(records.len(), 4, "nothing of the CNAME is left: {records:?}");
}

#[tokio::test]
async fn one_bad_record_holds_up_no_other_of_its_batch() {
    let (scene, zone) = Scene::with_zone(DNS).await;
    let kind: &dyn Kind = &route53_record_set::KIND;
    let name = "example.com/www.example.com/A".into();
    let id = ResourceId { kind: kind.name(), scope: scope().global(), name };
    assert_eq!(scene.engine.observer.observe(kind, &id).await, Observation::Absent);
    // The list is still shared when somebody makes the record.
    scene.change(&zone, "CREATE", address("www.example.com", 5, "192.0.2.9"));
    let _ = scene.pass().await;
    let sent = scene.sandbox.calls_since(0);
    let sent = sent.iter().filter(|it| it.operation == CHANGE && &*it.by == "agent").count();
    assert_eq!(sent, 3, "the batch, and each record by itself");
    let records = scene.records(&zone);
    assert!(records.contains(&"www.example.com. A 192.0.2.9".to_owned()), "{records:?}");
    assert!(records.iter().any(|record| record.starts_with("example.com. MX")), "{records:?}");
}

#[tokio::test]
async fn a_record_that_leaves_git_is_deleted_as_aws_has_it() {
    let (mut scene, zone) = Scene::with_zone(DNS).await;
    scene.converge().await;
    scene.by_hand(&zone, "UPSERT", address("www.example.com", 5, "192.0.2.66"));
    let without: Vec<&str> = DNS.lines().filter(|line| !line.contains("www:")).collect();
    scene.commit(Some(&without.join("\n")));
    scene.passes(2).await;
    assert!(scene.records(&zone).contains(&"www.example.com. A 192.0.2.66".to_owned()));
    scene.wait(SignedDuration::from_hours(2));
    scene.passes(2).await;
    let records = scene.records(&zone);
    assert_eq!(records.len(), 2, "the other one stays: {records:?}");
    assert!(records[0].starts_with("example.com. MX"), "{records:?}");
}

#[tokio::test]
async fn a_record_that_is_declared_under_the_id_of_its_zone_is_not_deleted() {
    let (mut scene, zone) = Scene::with_zone(DNS).await;
    scene.converge().await;
    let by_id = DNS
        .replace("zone: example.com", &format!("zone: {zone}"))
        .replace("www: {", "www: {name: www.example.com, ")
        .replace("\"@\"", "example.com");
    scene.commit(Some(&by_id));
    scene.wait(SignedDuration::from_hours(2));
    scene.passes(3).await;
    assert_eq!(scene.writes(), [CHANGE], "nothing is written but the first batch");
    assert_eq!(scene.records(&zone).len(), 4);
}

#[tokio::test]
async fn a_zone_that_is_not_there_is_told() {
    let scene = Scene::new(DNS).await;
    let status = scene.passes(1).await;
    let codes: BTreeSet<&str> = status
        .resources
        .iter()
        .flat_map(|row| &row.refusals)
        .map(|refusal| &*refusal.code)
        .collect();
    assert_eq!(codes, BTreeSet::from(["ZoneNotFound"]));
    assert!(scene.writes().is_empty());
}

#[tokio::test]
async fn a_record_takes_the_endpoint_of_the_database_when_that_is_there() {
    let dns = "    dns:\n      zone: example.com\n      records:\n        db: {type: CNAME, \
        values: [\"${database.endpoint}\"]}\n  reconcilePolicy:";
    let manifest = MANIFEST.replace("  reconcilePolicy:", dns);
    let (scene, zone) = Scene::with_zone(&manifest).await;
    let _ = scene.pass().await;
    assert!(scene.records(&zone).is_empty(), "there is no endpoint yet");
    scene.converge().await;
    let instance = scene.instance();
    let endpoint = instance["Endpoint"]["Address"].as_str().unwrap();
    let expected = format!("db.example.com. CNAME {endpoint}");
    assert!(scene.records(&zone).contains(&expected), "{:?}", scene.records(&zone));
}
