//! An Aurora cluster and its members, from the manifest to the end.

use std::collections::BTreeMap;

use super::*;
use crate::model::ResourceStatus;

/// A cluster of three in production; two windows of its own make the order of things visible.
const AURORA: &str = r#"apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata:
  name: team-payments-prod
spec:
  environment: production
  resources:
    database:
      engine: aurora-postgresql
      version: "16.4"
      sizeClass: db.r6g.large
      maintenanceWindow: "sun:03:00-sun:06:00"
      parameters: {log_statement: ddl}
      cluster:
        members: 3
        parameters: {rds.force_ssl: 1}
    network:
      vpcRef: shared-prod-vpc
  reconcilePolicy:
    resyncIntervalSeconds: 300
    maxBackoffSeconds: 300
"#;

const CLUSTER: &str = "team-payments-prod";

impl Scene {
    fn cluster(&self) -> Value {
        let call = Call::new("rds", "DescribeDBClusters").with("DBClusterIdentifier", CLUSTER);
        self.sandbox.door("test").ask(&scope(), &call).unwrap()["DBClusters"][0].clone()
    }

    fn writer(&self) -> String {
        let members = self.cluster()["DBClusterMembers"].clone();
        let writer = members.as_array().unwrap().iter().find(|it| it["IsClusterWriter"] == true);
        writer.unwrap()["DBInstanceIdentifier"].as_str().unwrap().to_owned()
    }

    fn classes(&self) -> BTreeMap<String, String> {
        let text = |it: &serde_json::Map<String, Value>, member: &str| {
            it[member].as_str().unwrap().to_owned()
        };
        let all = self.sandbox.inspect(&scope());
        all.iter()
            .map(|it| (text(it, "DBInstanceIdentifier"), text(it, "DBInstanceClass")))
            .collect()
    }

    /// Lists the agent's writes with the instance or cluster that they name.
    fn named_writes(&self) -> Vec<(Timestamp, String, String)> {
        let calls = self.sandbox.calls_since(0);
        let of_agent = calls.iter().filter(|call| call.is_write() && &*call.by == "agent");
        let name = |params: &serde_json::Map<String, Value>| {
            let name = params.get("DBInstanceIdentifier").or(params.get("DBClusterIdentifier"));
            name.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        of_agent.map(|call| (call.at, call.operation.clone(), name(&call.params))).collect()
    }

    /// Makes passes when they are due, for a while.
    async fn run(&self, time: SignedDuration) {
        let end = self.clock.now() + time;
        while self.clock.now() < end {
            let passed = self.pass().await;
            let Some((_, at)) = passed.next.due else { return };
            self.wait(at.duration_since(self.clock.now()));
        }
    }

    async fn row(&self, name: &str) -> ResourceStatus {
        let rows = self.status().await.resources;
        rows.into_iter().find(|row| &*row.id.name == name).unwrap()
    }
}

#[tokio::test]
async fn a_cluster_is_made_group_by_group_and_its_members_after_it() {
    let scene = Scene::new(AURORA).await;
    scene.converge().await;
    assert_eq!(
        scene.writes(),
        [
            "CreateDBSubnetGroup",
            "CreateDBParameterGroup",
            "ModifyDBParameterGroup",
            "CreateDBClusterParameterGroup",
            "ModifyDBClusterParameterGroup",
            "CreateDBCluster",
            "CreateDBInstance",
            "CreateDBInstance",
            "CreateDBInstance",
        ]
    );
    let cluster = scene.cluster();
    assert_eq!(cluster["DeletionProtection"], true);
    assert_eq!(cluster["StorageEncrypted"], true);
    assert_eq!(cluster["BackupRetentionPeriod"], 7);
    assert!(cluster["MasterUserSecret"].is_object());
    assert_eq!(cluster["DBClusterMembers"].as_array().unwrap().len(), 3);
    let before = scene.writes().len();
    scene.run(SignedDuration::from_hours(24)).await;
    assert_eq!(scene.writes().len(), before, "what is as declared is left alone");
}

#[tokio::test]
async fn a_failover_a_minor_upgrade_and_a_replica_of_auto_scaling_are_no_drift() {
    let scene = Scene::new(AURORA).await;
    scene.converge().await;
    let (before, writer) = (scene.writes().len(), scene.writer());
    scene.console(Call::new("rds", "FailoverDBCluster").with("DBClusterIdentifier", CLUSTER));
    scene.console(
        Call::new("rds", "CreateDBInstance")
            .with("DBInstanceIdentifier", "application-autoscaling-0123")
            .with("DBClusterIdentifier", CLUSTER)
            .with("DBInstanceClass", "db.r6g.large")
            .with("Engine", "aurora-postgresql")
            .with("PromotionTier", 15),
    );
    assert!(scene.sandbox.publish_version("aurora-postgresql", "16.9"));
    scene.run(SignedDuration::from_hours(8 * 24)).await;
    assert_ne!(scene.writer(), writer);
    assert_eq!(scene.cluster()["EngineVersion"], "16.9");
    assert_eq!(scene.writes().len(), before);
    let status = scene.converge().await;
    assert!(status.drift.is_empty());
    let row = scene.row(CLUSTER).await;
    assert!(row.notices.iter().any(|it| it.code == "AddedByAutoScaling"), "{row:#?}");
}

#[tokio::test]
async fn a_new_class_goes_through_the_readers_and_then_the_writer_in_the_window_one_by_one() {
    let mut scene = Scene::new(AURORA).await;
    scene.converge().await;
    let writer = scene.writer();
    scene.commit(Some(&AURORA.replace("db.r6g.large", "db.r6g.xlarge")));
    // Wednesday to Saturday: nothing is sent, and nothing is queued.
    scene.run(SignedDuration::from_hours(60)).await;
    assert!(scene.named_writes().iter().all(|(_, operation, _)| operation != "ModifyDBInstance"));
    assert_eq!(scene.row(&writer).await.state, "Deferred");
    scene.run(SignedDuration::from_hours(48)).await;
    let modified: Vec<(Timestamp, String)> = scene
        .named_writes()
        .into_iter()
        .filter(|(_, operation, _)| operation == "ModifyDBInstance")
        .map(|(at, _, name)| (at, name))
        .collect();
    assert_eq!(modified.len(), 3, "{modified:?}");
    assert_eq!(modified[2].1, writer, "the writer is the last: {modified:?}");
    let window = crate::model::Window::weekly("sun:03:00-sun:06:00").unwrap();
    assert!(modified.iter().all(|(at, _)| window.is_open(*at)), "{modified:?}");
    for pair in modified.windows(2) {
        assert!(pair[1].0.duration_since(pair[0].0) > SignedDuration::from_mins(5), "{modified:?}");
    }
    assert!(scene.classes().values().all(|class| class == "db.r6g.xlarge"));
    assert_ne!(scene.writer(), writer, "its restart made another one take over, once");
    scene.converge().await;
}

#[tokio::test]
async fn a_class_that_somebody_queued_is_waited_for_and_not_flushed() {
    let mut scene = Scene::new(AURORA).await;
    scene.converge().await;
    let reader = scene.classes().into_keys().find(|name| *name != scene.writer()).unwrap();
    scene.console(
        Call::new("rds", "ModifyDBInstance")
            .with("DBInstanceIdentifier", reader.as_str())
            .with("CACertificateIdentifier", "rds-ca-rsa4096-g1"),
    );
    scene.commit(Some(
        &AURORA
            .replace("maxBackoffSeconds: 300", "maxBackoffSeconds: 300\n    disruption: immediate")
            .replace("db.r6g.large", "db.r6g.xlarge"),
    ));
    scene.run(SignedDuration::from_hours(6)).await;
    let flushed = scene.sandbox.calls_since(0).into_iter().any(|call| {
        call.operation == "ModifyDBInstance"
            && call.params.get("DBInstanceIdentifier") == Some(&json!(reader))
            && call.params.contains_key("ApplyImmediately")
    });
    assert!(!flushed, "ApplyImmediately would apply what somebody queued");
}

#[tokio::test]
async fn drift_of_a_cluster_and_of_a_member_is_reverted_and_told() {
    let manifest = AURORA.replace(
        "parameters: {log_statement: ddl}",
        "backups: {retentionDays: 14}\n      publiclyAccessible: false",
    );
    let scene = Scene::new(&manifest).await;
    scene.converge().await;
    scene.console(
        Call::new("rds", "ModifyDBCluster")
            .with("DBClusterIdentifier", CLUSTER)
            .with("BackupRetentionPeriod", 1),
    );
    scene.console(
        Call::new("rds", "ModifyDBInstance")
            .with("DBInstanceIdentifier", "team-payments-prod-2")
            .with("PubliclyAccessible", true),
    );
    let status = scene.pass().await.status.unwrap();
    let mut fields: Vec<&str> = status.drift.iter().map(|it| it.field.as_str()).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["backups.retentionDays", "publiclyAccessible"]);
    scene.converge().await;
    assert_eq!(scene.cluster()["BackupRetentionPeriod"], 14);
    let instance = scene.sandbox.inspect_instance(&scope(), "team-payments-prod-2").unwrap();
    assert_eq!(instance["PubliclyAccessible"], false);
}

#[tokio::test]
async fn a_member_that_somebody_deleted_is_made_anew_and_has_lost_nothing() {
    let scene = Scene::new(AURORA).await;
    scene.converge().await;
    scene.console(
        Call::new("rds", "DeleteDBInstance")
            .with("DBInstanceIdentifier", "team-payments-prod-3")
            .with("SkipFinalSnapshot", true),
    );
    scene.wait(SignedDuration::from_mins(15));
    let _ = scene.pass().await;
    let row = scene.row("team-payments-prod-3").await;
    let told = row.notices.iter().find(|it| it.code == "Vanished");
    assert_eq!(
        told.map(|it| it.message.as_str()),
        Some("db_instance/team-payments-prod-3 was deleted outside Git"),
        "{row:#?}"
    );
    scene.converge().await;
    assert_eq!(scene.cluster()["DBClusterMembers"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn an_upgrade_of_the_cluster_comes_before_new_classes_of_its_members() {
    let mut scene = Scene::new(AURORA).await;
    scene.converge().await;
    scene.commit(Some(&AURORA.replace("16.4", "16.6").replace("db.r6g.large", "db.r6g.xlarge")));
    scene.run(SignedDuration::from_hours(10 * 24)).await;
    scene.converge().await;
    let changes: Vec<String> = scene
        .named_writes()
        .into_iter()
        .filter(|(_, operation, _)| operation.starts_with("Modify") && !operation.contains("Group"))
        .map(|(_, operation, _)| operation)
        .collect();
    assert_eq!(changes[0], "ModifyDBCluster");
    assert_eq!(changes.len(), 4, "{changes:?}");
    assert_eq!(scene.cluster()["EngineVersion"], "16.6");
}

#[tokio::test]
async fn a_major_upgrade_takes_both_groups_along() {
    let at_once = "maxBackoffSeconds: 300\n    disruption: immediate\n    deletion: delete";
    let manifest = AURORA.replace("maxBackoffSeconds: 300", at_once);
    let mut scene = Scene::new(&manifest).await;
    scene.converge().await;
    let upgraded = manifest
        .replace("version: \"16.4\"", "version: \"17\"\n      allowMajorVersionUpgrade: true");
    scene.commit(Some(&upgraded));
    scene.run(SignedDuration::from_hours(3)).await;
    let status = scene.converge().await;
    assert!(status.is_ready());
    assert_eq!(scene.cluster()["EngineVersion"], "17.5");
    let group = "levelset-team-payments-prod-cluster-aurora-postgresql17";
    assert_eq!(scene.cluster()["DBClusterParameterGroup"], group);
    for instance in scene.sandbox.inspect(&scope()) {
        let group = &instance["DBParameterGroups"][0]["DBParameterGroupName"];
        assert_eq!(group, "levelset-team-payments-prod-aurora-postgresql17");
    }
    let refused: Vec<String> = scene
        .sandbox
        .calls_since(0)
        .into_iter()
        .filter(|call| call.refused.is_some() && call.is_write())
        .map(|call| call.operation)
        .collect();
    assert!(refused.is_empty(), "{refused:?}");
    let gone = |operation: &str| scene.writes().iter().any(|it| it == operation);
    assert!(
        gone("DeleteDBClusterParameterGroup") && gone("DeleteDBParameterGroup"),
        "{:?}",
        scene.named_writes()
    );
}

#[tokio::test]
async fn the_groups_of_the_version_before_are_deleted_where_git_says_so() {
    let at_once = "maxBackoffSeconds: 300\n    disruption: immediate\n    deletion: delete";
    let manifest = AURORA.replace("maxBackoffSeconds: 300", at_once);
    let mut scene = Scene::new(&manifest).await;
    scene.converge().await;
    let upgraded = manifest
        .replace("version: \"16.4\"", "version: \"17\"\n      allowMajorVersionUpgrade: true");
    scene.commit(Some(&upgraded));
    scene.run(SignedDuration::from_hours(3)).await;
    let status = scene.converge().await;
    assert!(status.is_ready(), "{status:?}");
    let gone = |operation: &str| scene.writes().iter().any(|it| it == operation);
    assert!(gone("DeleteDBClusterParameterGroup") && gone("DeleteDBParameterGroup"));
}

#[tokio::test]
async fn a_member_that_leaves_git_goes_after_the_grace_period_and_the_writer_in_the_window() {
    let members = "members: {a: {promotionTier: 0}, b: {}}";
    let manifest = AURORA
        .replace("members: 3", members)
        .replace("maxBackoffSeconds: 300", "maxBackoffSeconds: 300\n    deletion: delete");
    let mut scene = Scene::new(&manifest).await;
    scene.converge().await;
    let writer = scene.writer();
    let (kept, key) = match writer.ends_with("-a") {
        true => ("team-payments-prod-b", "b"),
        false => ("team-payments-prod-a", "a"),
    };
    scene.commit(Some(&manifest.replace(members, &format!("members: {{{key}: {{}}}}"))));
    scene.run(SignedDuration::from_hours(48)).await;
    assert_eq!(scene.writer(), writer, "it waits for the window");
    scene.run(SignedDuration::from_hours(48)).await;
    let names: Vec<String> = scene.classes().into_keys().collect();
    assert_eq!((names, scene.writer()), (vec![kept.to_owned()], kept.to_owned()));
    let window = crate::model::Window::weekly("sun:03:00-sun:06:00").unwrap();
    let deleted = scene.named_writes().into_iter().find(|(_, it, _)| it == "DeleteDBInstance");
    assert!(window.is_open(deleted.unwrap().0));
}

fn without_database(manifest: &str) -> String {
    let (head, rest) = manifest.split_once("    database:\n").unwrap();
    let (_, tail) = rest.split_once("    network:\n").unwrap();
    format!("{head}    network:\n{tail}")
}

#[tokio::test]
async fn a_protected_cluster_that_leaves_git_keeps_its_members_until_it_may_go() {
    let manifest =
        AURORA.replace("maxBackoffSeconds: 300", "maxBackoffSeconds: 300\n    deletion: snapshot");
    let mut scene = Scene::new(&manifest).await;
    scene.converge().await;
    scene.commit(Some(&without_database(&manifest)));
    scene.run(SignedDuration::from_hours(5)).await;
    assert!(scene.writes().iter().all(|it| !it.starts_with("Delete")), "{:?}", scene.writes());
    let open = manifest.replace("cluster:\n", "deletionProtection: false\n      cluster:\n");
    scene.commit(Some(&open));
    scene.converge().await;
    scene.commit(Some(&without_database(&open)));
    scene.run(SignedDuration::from_hours(5)).await;
    let deletions: Vec<String> =
        scene.writes().into_iter().filter(|it| it.starts_with("Delete")).collect();
    assert_eq!(
        deletions,
        [
            "DeleteDBInstance",
            "DeleteDBInstance",
            "DeleteDBInstance",
            "DeleteDBCluster",
            "DeleteDBClusterParameterGroup",
            "DeleteDBParameterGroup",
        ]
    );
    let call = scene.sandbox.calls_since(0);
    let last =
        call.iter().find(|call| call.operation == "DeleteDBCluster" && call.refused.is_none());
    assert_eq!(last.unwrap().params["SkipFinalSnapshot"], false);
}
