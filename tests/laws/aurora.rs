//! Laws of Aurora clusters: what Aurora does to itself is never a difference, what a person does to a
//! declared field always is, and mending it mends exactly that.

use levelset::kinds::db_cluster;
use levelset::model::{Observed, Origin};
use levelset::observe::observed;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

use super::super::cases::{bind, place};
use levelset::diff::diff;
use levelset::manifest::expand::{Alone, expand};
use levelset::manifest::parse;
use levelset::model::{Bound, Kind};

const MANIFEST: &str = r#"apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: orders}
spec:
  environment: staging
  resources:
    database:
      engine: aurora-postgresql
      version: "16.4"
      sizeClass: db.r6g.large
      storage: {type: aurora-iopt1, encrypted: true}
      backups: {retentionDays: 14, window: "02:00-03:00", copyTagsToSnapshots: true}
      maintenanceWindow: "Sun:05:00-Sun:06:00"
      deletionProtection: true
      iamAuthentication: false
      port: 5432
      databaseName: shop
      masterUsername: app
      manageMasterPassword: true
      logExports: [postgresql, instance]
      securityGroups: [sg-1, sg-2]
      tags: {team: shop}
      cluster:
        members: {a: {}, b: {sizeClass: db.serverless}}
        serverless: {minCapacity: 0.5, maxCapacity: 8}
        parameterGroup: shop
"#;

fn bound() -> Bound {
    let parsed = parse("orders.yaml", MANIFEST.as_bytes());
    let object = parsed.objects.first().unwrap();
    let resources = expand(object, &place(), &Alone);
    let cluster = resources.iter().find(|it| it.id.kind == db_cluster::NAME).unwrap();
    bind(cluster, &std::collections::BTreeMap::new()).unwrap()
}

/// The cluster as AWS answers it when it is as declared.
fn converged() -> Map<String, Value> {
    let answer = json!({
        "DBClusterIdentifier": "orders", "Status": "available", "Engine": "aurora-postgresql",
        "EngineVersion": "16.4", "EngineMode": "provisioned", "AllocatedStorage": 1,
        "StorageType": "aurora-iopt1", "StorageEncrypted": true, "BackupRetentionPeriod": 14,
        "PreferredBackupWindow": "02:00-03:00", "CopyTagsToSnapshot": true,
        "PreferredMaintenanceWindow": "sun:05:00-sun:06:00", "DeletionProtection": true,
        "IAMDatabaseAuthenticationEnabled": false, "Port": 5432, "DatabaseName": "shop",
        "MasterUsername": "app", "DBClusterParameterGroup": "shop",
        "MasterUserSecret": {"SecretArn": "arn:s", "SecretStatus": "active"},
        "EnabledCloudwatchLogsExports": ["instance", "postgresql"],
        "VpcSecurityGroups": [{"VpcSecurityGroupId": "sg-2", "Status": "active"},
                              {"VpcSecurityGroupId": "sg-1", "Status": "active"}],
        "ServerlessV2ScalingConfiguration": {"MinCapacity": 0.5, "MaxCapacity": 8.0},
        "TagList": [{"Key": "team", "Value": "shop"}],
        "DBClusterMembers": [
            {"DBInstanceIdentifier": "orders-a", "IsClusterWriter": true, "PromotionTier": 1},
            {"DBInstanceIdentifier": "orders-b", "IsClusterWriter": false, "PromotionTier": 1}],
    });
    answer.as_object().unwrap().clone()
}

/// Names what Aurora, RDS and Auto Scaling do by themselves.
#[derive(Debug, Clone)]
enum ByItself {
    Failover,
    MinorUpgrade(u32),
    Storage(u32),
    Replica(u32),
    ReplicaGone,
    Order,
    Rotation(u32),
    Capacity(u32),
    Rest(u32),
    UpgradeQueued(u32),
    Spelling,
}

fn by_itself() -> impl Strategy<Value = ByItself> {
    prop_oneof![
        Just(ByItself::Failover),
        (5_u32..20).prop_map(ByItself::MinorUpgrade),
        any::<u16>().prop_map(|size| ByItself::Storage(size.into())),
        (0_u32..9).prop_map(ByItself::Replica),
        Just(ByItself::ReplicaGone),
        Just(ByItself::Order),
        any::<u32>().prop_map(ByItself::Rotation),
        (0_u32..64).prop_map(ByItself::Capacity),
        any::<u32>().prop_map(ByItself::Rest),
        (5_u32..20).prop_map(ByItself::UpgradeQueued),
        Just(ByItself::Spelling),
    ]
}

fn happen(event: &ByItself, cluster: &mut Map<String, Value>) {
    let mut set = |member: &str, value: Value| cluster.insert(member.to_owned(), value);
    match event {
        ByItself::Failover => {
            for member in cluster["DBClusterMembers"].as_array_mut().unwrap() {
                let is_writer = member["IsClusterWriter"] == true;
                member["IsClusterWriter"] = json!(!is_writer);
            }
        }
        ByItself::MinorUpgrade(minor) => drop(set("EngineVersion", json!(format!("16.{minor}")))),
        ByItself::Storage(size) => drop(set("AllocatedStorage", json!(size))),
        ByItself::Replica(number) => {
            let replica = json!({
                "DBInstanceIdentifier": format!("application-autoscaling-{number}"),
                "IsClusterWriter": false, "PromotionTier": 15,
            });
            cluster["DBClusterMembers"].as_array_mut().unwrap().push(replica);
        }
        ByItself::ReplicaGone => drop(cluster["DBClusterMembers"].as_array_mut().unwrap().pop()),
        ByItself::Order => {
            for list in ["VpcSecurityGroups", "EnabledCloudwatchLogsExports", "DBClusterMembers"] {
                cluster[list].as_array_mut().unwrap().reverse();
            }
        }
        ByItself::Rotation(number) => {
            let secret = json!({"SecretArn": format!("arn:{number}"), "SecretStatus": "active"});
            set("MasterUserSecret", secret);
        }
        ByItself::Capacity(units) => drop(set("Capacity", json!(units))),
        ByItself::Rest(number) => {
            set("LatestRestorableTime", json!(format!("2026-11-25T12:00:{:02}Z", number % 60)));
            set("ReaderEndpoint", json!(format!("ro-{number}")));
            set("ActivityStreamStatus", json!("stopped"));
        }
        ByItself::UpgradeQueued(minor) => {
            let pending = json!({"EngineVersion": format!("16.{minor}")});
            set("PendingModifiedValues", pending);
        }
        ByItself::Spelling => {
            set("DBClusterParameterGroup", json!("Shop"));
            set("DatabaseName", json!("Shop"));
        }
    }
}

/// What a person can set by hand: the member, the value, and the field that then differs.
fn by_hand() -> Vec<(&'static str, Value, &'static str)> {
    vec![
        ("BackupRetentionPeriod", json!(1), "backups.retentionDays"),
        ("PreferredBackupWindow", json!("03:00-03:30"), "backups.window"),
        ("CopyTagsToSnapshot", json!(false), "backups.copyTagsToSnapshots"),
        ("PreferredMaintenanceWindow", json!("mon:05:00-mon:06:00"), "maintenanceWindow"),
        ("DeletionProtection", json!(false), "deletionProtection"),
        ("IAMDatabaseAuthenticationEnabled", json!(true), "iamAuthentication"),
        ("Port", json!(6000), "port"),
        ("EnabledCloudwatchLogsExports", json!(["postgresql"]), "logExports"),
        ("MasterUserSecret", Value::Null, "manageMasterPassword"),
        ("DBClusterParameterGroup", json!("other"), "cluster.parameterGroup"),
        ("StorageType", Value::Null, "storage.type"),
        (
            "ServerlessV2ScalingConfiguration",
            json!({"MinCapacity": 0.5, "MaxCapacity": 64.0}),
            "cluster.serverless.maxCapacity",
        ),
        (
            "VpcSecurityGroups",
            json!([{"VpcSecurityGroupId": "sg-1", "Status": "active"}]),
            "securityGroups",
        ),
        ("TagList", json!([{"Key": "team", "Value": "nobody"}]), "tags"),
    ]
}

fn seen(cluster: Map<String, Value>) -> Observed {
    observed(cluster, jiff::Timestamp::UNIX_EPOCH)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn what_aurora_does_to_itself_is_never_a_difference(events in vec(by_itself(), 0..12)) {
        let (bound, mut cluster) = (bound(), converged());
        events.iter().for_each(|event| happen(event, &mut cluster));
        let actual = seen(cluster);
        let kind = &db_cluster::KIND;
        let found = diff(kind.rules(), &bound, &actual, &kind.readiness(&actual), &[]);
        prop_assert!(found.deltas.is_empty(), "{events:?}: {:?}", found.deltas);
        prop_assert!(found.refusals.is_empty(), "{events:?}: {:?}", found.refusals);
    }

    #[test]
    fn what_a_person_does_to_a_declared_field_is_found_among_all_that_and_mended_alone(
        events in vec(by_itself(), 0..8), which in any::<Index>(), window in select(vec![true, false]),
    ) {
        let (bound, mut cluster) = (bound(), converged());
        events.iter().for_each(|event| happen(event, &mut cluster));
        let changes = by_hand();
        let (member, value, field) = &changes[which.index(changes.len())];
        cluster.insert((*member).to_owned(), value.clone());
        let actual = seen(cluster);
        let kind = &db_cluster::KIND;
        let mut found = diff(kind.rules(), &bound, &actual, &kind.readiness(&actual), &[]);
        let fields: Vec<&str> = found.deltas.iter().map(|delta| delta.field.as_str()).collect();
        prop_assert_eq!(fields, vec![*field]);
        if !window {
            found.deltas[0].timing = levelset::model::Timing::Immediate;
        }
        found.deltas[0].origin = Origin::Drift;
        let calls = kind.update(&bound, &actual, &found.deltas);
        prop_assert_eq!(calls.len(), 1);
        let is_upgrade = actual.member("PendingModifiedValues").is_some();
        let at_once = calls[0].params.contains_key("ApplyImmediately");
        prop_assert!(!(is_upgrade && at_once), "somebody's queued upgrade would be flushed");
        let carried = calls[0].params.keys().filter(|name| {
            !["DBClusterIdentifier", "ResourceName", "ApplyImmediately"].contains(&name.as_str())
        });
        prop_assert_eq!(carried.count(), 1, "{:?}", calls);
    }
}
