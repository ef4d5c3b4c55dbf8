//! The whole life of an Aurora cluster with its groups and members, on two emulators: made, read,
//! changed, put back, removed.
//!
//! Neither has behaviour over time: failover, windows, pending values and the turns that members
//! take are held on the sandbox. Wrong or missing, and therefore not asked for here: moto takes a
//! second `CreateDBCluster` of a name and loses the first cluster, answers 500 to `aurora-iopt1` and
//! to `ResetDBClusterParameterGroup`, and forgets changes of IAM authentication and of log exports;
//! ministack says neither storage type nor log exports. A final snapshot is restored by neither: moto
//! answers 500 where RDS manages the password, ministack has no `RestoreDBClusterFromSnapshot`.

use super::removal::{Noted, agent, commit, until};
use super::*;
use crate::support::emulators::{ministack, moto, region};

const REST: &str = "apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: rest}
spec: {environment: staging, resources: {}}
";

fn manifest(days: u32) -> String {
    format!(
        "apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {{name: aurora}}
spec:
  environment: staging
  resources:
    database:
      engine: aurora-postgresql
      version: \"16\"
      sizeClass: db.r6g.large
      maintenanceWindow: \"sun:05:00-sun:06:00\"
      backups: {{retentionDays: {days}}}
      publiclyAccessible: false
      cluster:
        serverless: {{minCapacity: 0.5, maxCapacity: 8}}
        members:
          a: {{promotionTier: 0}}
          b: {{promotionTier: 2, sizeClass: db.serverless}}
        parameters: {{work_mem: 65536}}
  reconcilePolicy: {{deletion: snapshot}}
"
    )
}

#[tokio::test]
async fn a_cluster_lives_from_its_groups_to_its_final_snapshot_on_moto() {
    lives(Here::moto(&moto().url, region())).await;
}

#[tokio::test]
async fn a_cluster_lives_from_its_groups_to_its_final_snapshot_on_ministack() {
    let account = account_at(&ministack().url, "100000000005", "eu-west-1", "100000000005");
    let scope = account.scope.clone();
    lives(Here { cloud: aws(account, Timeouts::default()), scope }).await;
}

async fn lives(here: Here) {
    let cloud = Arc::new(Noted::new(here.cloud));
    let here = Here { cloud: cloud.aws(), scope: here.scope };
    let (engine, mut triggers) = agent(Arc::clone(&cloud), &here.scope).await;
    let key = levelset::model::Key::workspace("aurora");
    triggers.take(&commit(1, &[&manifest(7), REST])).await;
    until(&engine, &mut triggers, &key, "Converged").await;
    let made = [
        "CreateDBClusterParameterGroup",
        "ModifyDBClusterParameterGroup",
        "CreateDBCluster",
        "CreateDBInstance",
        "CreateDBInstance",
    ];
    assert_eq!(cloud.operations(), made);
    look(&here).await;

    triggers.take(&commit(2, &[&manifest(14), REST])).await;
    until(&engine, &mut triggers, &key, "Converged").await;
    assert_eq!(cluster(&here).await["BackupRetentionPeriod"], 14);

    change_by_hand(&here, &engine).await;
    until(&engine, &mut triggers, &key, "Converged").await;
    assert_eq!(cluster(&here).await["BackupRetentionPeriod"], 14);
    let member = here.cloud_ask(describe("aurora-a")).await.unwrap();
    assert_eq!(member["DBInstances"][0]["PubliclyAccessible"], false);

    triggers.take(&commit(3, &[REST])).await;
    until(&engine, &mut triggers, &key, "").await;
    let calls = cloud.calls();
    let removed: Vec<&str> = calls
        .iter()
        .map(|call| &*call.operation)
        .filter(|operation| operation.starts_with("Delete"))
        .collect();
    let expected = [
        "DeleteDBInstance",
        "DeleteDBInstance",
        "DeleteDBCluster",
        "DeleteDBClusterParameterGroup",
    ];
    assert_eq!(removed, expected);
    let gone = here.cloud_ask(describe_cluster()).await.unwrap_err();
    assert_eq!(
        (gone.class, &*gone.code),
        (levelset::model::ErrorClass::NotFound, "DBClusterNotFoundFault")
    );
    let deletion = calls.iter().find(|call| call.operation == "DeleteDBCluster").unwrap();
    assert!(deletion.text("FinalDBSnapshotIdentifier").unwrap().starts_with("aurora-final-"));
}

/// Changes a cluster and a member behind the agent's back, and lets it look anew.
async fn change_by_hand(here: &Here<Arc<Aws>>, engine: &levelset::reconcile::engine::Engine) {
    let by_hand = rds("ModifyDBCluster")
        .with("DBClusterIdentifier", "aurora")
        .with("BackupRetentionPeriod", 1);
    here.cloud_ask(by_hand).await.unwrap();
    let by_hand = rds("ModifyDBInstance")
        .with("DBInstanceIdentifier", "aurora-a")
        .with("PubliclyAccessible", true)
        .with("ApplyImmediately", true);
    here.cloud_ask(by_hand).await.unwrap();
    for id in ["db_cluster", "db_instance"] {
        let name = if id == "db_cluster" { "aurora" } else { "aurora-a" };
        engine.observer.written(&levelset::model::ResourceId {
            kind: KindName::new(id),
            scope: here.scope.clone(),
            name: name.into(),
        });
    }
}

fn describe_cluster() -> Call {
    rds("DescribeDBClusters").with("DBClusterIdentifier", "aurora")
}

async fn cluster(here: &Here<Arc<Aws>>) -> Value {
    here.cloud_ask(describe_cluster()).await.unwrap()["DBClusters"][0].clone()
}

/// Looks at what was made, as AWS answers it.
async fn look(here: &Here<Arc<Aws>>) {
    let made = cluster(here).await;
    let owner = json!([{"Key": "levelset:owner", "Value": "levelset/Workspace/aurora"}]);
    assert_eq!(made["TagList"], owner);
    assert_eq!(made["StorageEncrypted"], true);
    assert_eq!(made["CopyTagsToSnapshot"], true);
    assert_eq!(made["ServerlessV2ScalingConfiguration"]["MinCapacity"], 0.5);
    assert_eq!(made["DBClusterParameterGroup"], "levelset-aurora-cluster-aurora-postgresql16");
    assert!(made["MasterUserSecret"]["SecretArn"].is_string());
    let mut members: Vec<(String, bool, Value)> = made["DBClusterMembers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            let name = it["DBInstanceIdentifier"].as_str().unwrap().to_owned();
            (name, it["IsClusterWriter"].as_bool().unwrap(), it["PromotionTier"].clone())
        })
        .collect();
    members.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(
        members,
        [("aurora-a".to_owned(), true, json!(0)), ("aurora-b".to_owned(), false, json!(2))]
    );
    let filter = json!([{"Name": "db-cluster-id", "Values": ["aurora"]}]);
    let listed = here.cloud_ask(rds("DescribeDBInstances").with("Filters", filter)).await.unwrap();
    assert_eq!(listed["DBInstances"].as_array().unwrap().len(), 2);
    assert!(!made.as_object().unwrap().values().any(Value::is_null), "{made}");
}
