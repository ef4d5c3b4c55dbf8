//! Every call that a kind can make is one that its `sdk.rs` can send.

mod compute;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::testing::Wire;
use super::{Failure, xml};
use crate::kinds::{
    self, db_cluster, db_cluster_parameter_group, db_instance, db_parameter_group, db_subnet_group,
    iam_role, secret, vpc,
};
use crate::model::delta::Timing;
use crate::model::{
    AccountId, Bound, Call, Change, Delta, Input, Kind, KindName, Observed, Origin, Output, Region,
    Resource, ResourceId, Rule, Scope,
};

/// Asserts that a call can be turned into a request: every parameter is known and of its type.
async fn assert_sendable(kind: &KindName, call: &Call) {
    let clients = Wire::answering("").clients();
    let sent = kinds::send(kind, &clients, call).unwrap().await;
    // The wire answers nothing of use; what counts is that it was asked.
    assert!(
        matches!(sent, Err(Failure::Lost { code: "UnreadableAnswer", .. })),
        "{kind}: {call}: {sent:?}"
    );
}

fn scope() -> Scope {
    Scope { account: AccountId::new("111111111111"), region: Region::new("eu-west-1") }
}

/// Binds what refers to other resources to values of the right type.
fn bound(resource: Resource) -> Bound {
    let value = |field: &str, input: Input| match (input, field) {
        (Input::Known(value), _) => value,
        (_, "subnetIds") => json!(["subnet-1", "subnet-2"]),
        _ => json!("output"),
    };
    Bound {
        id: resource.id,
        fields: resource
            .fields
            .into_iter()
            .map(|(field, input)| (field.clone(), value(&field, input)))
            .collect(),
        initial: resource.initial,
        owner: resource.owner,
        adopt: true,
    }
}

fn observed(members: Value) -> Observed {
    let members: Map<String, Value> = members.as_object().unwrap().clone();
    Observed { members, tags: Some(BTreeMap::new()), at: jiff::Timestamp::UNIX_EPOCH }
}

fn delta(field: &str, parameter: &str, from: Value, to: Value, timing: Timing) -> Delta {
    let rules = db_instance::KIND.rules().iter().chain(db_cluster::KIND.rules());
    let rule = rules.into_iter().find(|rule| rule.field == field);
    Delta {
        field: field.to_owned(),
        parameter: parameter.to_owned(),
        from,
        to,
        why: String::new(),
        disruption: Default::default(),
        security: false,
        apply: rule.map(|rule| rule.apply).unwrap_or_default(),
        origin: Origin::Git,
        timing,
    }
}

/// Returns one difference for every field that `desired` declares and that a call can change.
fn deltas(kind: &dyn Kind, desired: &Bound, timing: Timing) -> Vec<Delta> {
    let declared = |rule: &Rule| {
        let to = desired.value(rule.field)?.clone();
        Some(delta(rule.field, rule.parameter, Value::Null, to, timing))
    };
    kind.rules().iter().filter(|rule| rule.change == Change::InPlace).filter_map(declared).collect()
}

async fn assert_all_sendable(kind: &dyn Kind, calls: Vec<Call>) {
    for call in calls {
        assert_sendable(&kind.name(), &call).await;
    }
}

/// Every field that the section has.
fn full_database() -> Value {
    json!({
        "engine": "postgres", "version": "15", "sizeClass": "db.r6g.large", "multiAz": true,
        "storage": {"type": "io1", "sizeGiB": 200, "maxSizeGiB": 400, "iops": 3000,
                    "throughputMiBps": 250, "encrypted": true, "kmsKey": "alias/a"},
        "availabilityZone": "eu-west-1a",
        "backups": {"retentionDays": 7, "window": "03:00-04:00", "copyTagsToSnapshots": true},
        "maintenanceWindow": "sun:05:00-sun:06:00", "parameterGroup": "p", "optionGroup": "o",
        "deletionProtection": true, "publiclyAccessible": false, "iamAuthentication": true,
        "autoMinorVersionUpgrade": true, "allowMajorVersionUpgrade": true,
        "caCertificate": "rds-ca-rsa2048-g1", "port": 5432, "databaseName": "orders",
        "masterUsername": "root1", "manageMasterPassword": true,
        "performanceInsights": {"enabled": true, "retentionDays": 7, "kmsKey": "alias/a"},
        "monitoring": {"intervalSeconds": 60, "roleArn": "arn:aws:iam::111111111111:role/m"},
        "logExports": ["postgresql"], "securityGroups": ["sg-1"],
        "licenseModel": "postgresql-license", "tags": {"team": "payments"},
    })
}

fn database(section: Value) -> Bound {
    let database: db_instance::spec::Database = serde_json::from_value(section).unwrap();
    let scope = scope();
    let placement = db_instance::spec::Placement {
        scope: &scope,
        name: "orders",
        owner: "a/Workspace/orders",
        production: true,
        subnet_group: Some(Input::Known("g".into())),
        parameter_group: None,
        security_groups: None,
    };
    bound(db_instance::spec::resource(&database, &placement))
}

#[tokio::test]
async fn every_list_and_every_confirming_read_can_be_sent() {
    for kind in kinds::all() {
        for list in kind.lists() {
            let only = list.only.map(|(parameter, values)| (parameter.to_owned(), json!(values)));
            let mut call = Call::new(kind.service(), list.operation);
            call.params.extend(only);
            call.params.extend(list.flag.map(|parameter| (parameter.to_owned(), json!(true))));
            let call = call.with(list.page_size.0, list.page_size.1).with(list.marker.0, "next");
            assert_sendable(&kind.name(), &call).await;
        }
        assert_all_sendable(*kind, kind.confirm("name").into_iter().collect()).await;
    }
}

#[tokio::test]
async fn every_call_of_an_instance_can_be_sent() {
    let kind = &db_instance::KIND;
    let desired = database(full_database());
    let mut restored = full_database();
    restored["restoreFrom"] = json!({"snapshot": "last"});
    let actual = observed(json!({
        "DBInstanceIdentifier": "orders", "DBInstanceStatus": "available", "Engine": "postgres",
        "EngineVersion": "14.1", "AllocatedStorage": 100, "StorageType": "gp3", "Iops": 3000,
        "EnabledCloudwatchLogsExports": ["upgrade"], "MonitoringInterval": 0,
    }));
    assert_all_sendable(kind, kind.create(&desired)).await;
    assert_all_sendable(kind, kind.create(&database(restored))).await;
    assert_all_sendable(kind, kind.own(&desired.id, &actual, "owner")).await;
    for snapshot in [None, Some("orders-final")] {
        assert_all_sendable(kind, kind.delete(&desired.id, &actual, snapshot).calls).await;
    }
    for timing in [Timing::Window, Timing::Immediate] {
        let deltas = deltas(kind, &desired, timing);
        assert!(deltas.len() > 20, "only {} fields were tried", deltas.len());
        assert_all_sendable(kind, kind.update(&desired, &actual, &deltas)).await;
        for one in deltas {
            assert_all_sendable(kind, kind.update(&desired, &actual, &[one])).await;
        }
    }
}

#[tokio::test]
async fn every_call_of_a_member_of_a_cluster_can_be_sent() {
    let kind = &db_instance::KIND;
    let mut section = full_database();
    section["engine"] = json!("aurora-postgresql");
    section["cluster"] = json!({"members": {"a": {"promotionTier": 0,
        "availabilityZone": "eu-west-1a", "maintenanceWindow": "sun:06:00-sun:07:00"}}});
    let database: db_instance::spec::Database = serde_json::from_value(section).unwrap();
    let scope = scope();
    let placement = db_instance::spec::MemberPlacement {
        scope: &scope,
        cluster_identifier: "orders",
        cluster: Input::Known("orders".into()),
        owner: "a/Workspace/orders",
        parameter_group: None,
    };
    let (name, member) = database.aurora().unwrap().named_members().remove(0);
    let resource = db_instance::spec::member_resource(&database, (&name, &member), &placement);
    let desired = bound(resource);
    let actual = observed(json!({
        "DBInstanceIdentifier": "orders-a", "DBInstanceStatus": "available",
        "DBClusterIdentifier": "orders", "Engine": "aurora-postgresql", "MonitoringInterval": 0,
    }));
    assert_all_sendable(kind, kind.create(&desired)).await;
    assert_all_sendable(kind, kind.delete(&desired.id, &actual, Some("last")).calls).await;
    let deltas = deltas(kind, &desired, Timing::Immediate);
    assert!(deltas.len() > 10, "only {} fields were tried", deltas.len());
    assert_all_sendable(kind, kind.update(&desired, &actual, &deltas)).await;
}

/// A cluster of which everything is declared.
fn cluster(snapshot: Option<&str>) -> Bound {
    let (scope, tags) = (scope(), BTreeMap::from([("team".to_owned(), "payments".to_owned())]));
    let (groups, logs) = (["sg-1".to_owned()], ["postgresql".to_owned()]);
    let range = db_cluster::spec::Serverless { min: 0.5, max: 8.0, auto_pause_seconds: Some(600) };
    let cluster = db_cluster::spec::Cluster {
        engine: "aurora-postgresql",
        version: "16",
        members: Some(vec!["orders-1".to_owned()]),
        serverless: Some(range),
        storage_type: Some("aurora-iopt1"),
        encrypted: Some(true),
        kms_key: Some("alias/a"),
        retention_days: Some(7),
        backup_window: Some("03:00-04:00"),
        copy_tags_to_snapshots: Some(true),
        backtrack_seconds: Some(3600),
        maintenance_window: Some("sun:05:00-sun:06:00"),
        deletion_protection: Some(true),
        security_groups: Some(&groups),
        port: Some(5432),
        database_name: Some("orders"),
        master_username: Some("root1"),
        manage_master_password: Some(true),
        iam_authentication: Some(true),
        allow_major_version_upgrade: Some(true),
        log_exports: Some(&logs),
        snapshot,
        tags: Some(&tags),
    };
    let placement = db_cluster::spec::Placement {
        scope: &scope,
        identifier: "orders",
        mistake: None,
        owner: "a/Workspace/orders",
        adopt: false,
        production: true,
        default_username: "postgres",
        subnet_group: Some(Input::Known("g".into())),
        security_groups: None,
        parameter_group: Some(Input::Known("c".into())),
        members_parameter_group: Some(Input::Known("p".into())),
    };
    bound(db_cluster::spec::resource(&cluster, placement))
}

#[tokio::test]
async fn every_call_of_a_cluster_can_be_sent() {
    let kind = &db_cluster::KIND;
    let desired = cluster(None);
    let actual = observed(json!({
        "DBClusterIdentifier": "orders", "Status": "available", "Engine": "aurora-postgresql",
        "EngineVersion": "15.4", "EnabledCloudwatchLogsExports": ["instance"],
    }));
    assert_all_sendable(kind, kind.create(&desired)).await;
    assert_all_sendable(kind, kind.create(&cluster(Some("last")))).await;
    assert_all_sendable(kind, kind.own(&desired.id, &actual, "owner")).await;
    assert_eq!(kind.details(&desired, &actual).len(), 1);
    assert_all_sendable(kind, kind.details(&desired, &actual)).await;
    for snapshot in [None, Some("orders-final")] {
        assert_all_sendable(kind, kind.delete(&desired.id, &actual, snapshot).calls).await;
    }
    for timing in [Timing::Window, Timing::Immediate] {
        let mut deltas = deltas(kind, &desired, timing);
        // A field that no call can set is never a difference.
        deltas.retain(|delta| delta.field != "cluster.members");
        assert!(deltas.len() > 15, "only {} fields were tried", deltas.len());
        assert_all_sendable(kind, kind.update(&desired, &actual, &deltas)).await;
        for one in deltas {
            assert_all_sendable(kind, kind.update(&desired, &actual, &[one])).await;
        }
    }
}

#[tokio::test]
async fn every_call_of_a_parameter_group_can_be_sent() {
    parameter_group(&db_parameter_group::KIND, db_parameter_group::spec::resource).await;
    let of_clusters = db_cluster_parameter_group::spec::resource;
    parameter_group(&db_cluster_parameter_group::KIND, of_clusters).await;
}

/// Makes the resource of a parameter group.
type MakeGroup = fn(
    &Scope,
    &str,
    &str,
    &str,
    BTreeMap<String, Value>,
    Option<&BTreeMap<String, String>>,
) -> Resource;

async fn parameter_group(kind: &dyn Kind, make: MakeGroup) {
    let parameters = BTreeMap::from([
        ("work_mem".to_owned(), json!("65536")),
        ("max_connections".to_owned(), json!({"value": "9", "applyMethod": "pending-reboot"})),
        ("wal_level".to_owned(), json!({"reset": true})),
    ]);
    let tags = BTreeMap::from([("team".to_owned(), "payments".to_owned())]);
    let desired = bound(make(&scope(), "p", "owner", "postgres15", parameters, Some(&tags)));
    let actual = observed(json!({
        "DBParameterGroupName": "p", "DBParameterGroupArn": "arn:p",
        "DBClusterParameterGroupName": "p", "DBClusterParameterGroupArn": "arn:c", "Parameters": [],
    }));
    assert_all_sendable(kind, kind.create(&desired)).await;
    assert_all_sendable(kind, kind.own(&desired.id, &actual, "owner")).await;
    assert_all_sendable(kind, kind.delete(&desired.id, &actual, None).calls).await;
    assert_all_sendable(kind, kind.details(&desired, &actual)).await;
    assert_all_sendable(kind, kind.read_tags(&actual).into_iter().collect()).await;
    let (null, now) = (Value::Null, Timing::Immediate);
    let deltas = [
        delta("parameters.work_mem", "work_mem", null.clone(), json!("65536"), now),
        delta("parameters.wal_level", "wal_level", json!("logical"), null.clone(), now),
        delta("tags", "Tags", null, json!({"team": "payments"}), now),
    ];
    assert_all_sendable(kind, kind.update(&desired, &actual, &deltas)).await;
}

#[tokio::test]
async fn every_call_of_a_subnet_group_can_be_sent() {
    let kind = &db_subnet_group::KIND;
    let vpc = ResourceId { kind: vpc::NAME, scope: scope(), name: "shared".into() };
    let tags = BTreeMap::from([("team".to_owned(), "payments".to_owned())]);
    let desired = bound(db_subnet_group::spec::resource(
        &scope(),
        "g",
        "owner",
        &vpc,
        db_subnet_group::spec::Subnets::Tagged(&BTreeMap::new()),
        Some(&tags),
    ));
    let actual = observed(json!({"DBSubnetGroupName": "g", "DBSubnetGroupArn": "arn:g"}));
    assert_all_sendable(kind, kind.create(&desired)).await;
    assert_all_sendable(kind, kind.own(&desired.id, &actual, "owner")).await;
    assert_all_sendable(kind, kind.delete(&desired.id, &actual, None).calls).await;
    assert_all_sendable(kind, kind.details(&desired, &actual)).await;
    assert_all_sendable(kind, kind.read_tags(&actual).into_iter().collect()).await;
    let deltas = deltas(kind, &desired, Timing::Window);
    assert!(!deltas.is_empty());
    assert_all_sendable(kind, kind.update(&desired, &actual, &deltas)).await;
}

/// Every field that the section has.
fn full_role() -> Value {
    let statement = json!({"Effect": "Allow", "Action": "s3:*", "Resource": "*"});
    json!({"roles": {"api": {
        "trust": {"services": ["ecs-tasks.amazonaws.com"]},
        "policies": ["arn:aws:iam::aws:policy/ReadOnlyAccess"],
        "inline": {"bucket": {"Version": "2012-10-17", "Statement": statement}},
        "databaseAccess": {"users": ["app"]},
        "permissionsBoundary": "arn:aws:iam::111111111111:policy/b",
        "maxSessionDurationSeconds": 7200, "path": "/teams/", "description": "d",
        "tags": {"team": "payments"},
    }}})
}

fn role(section: Value) -> Bound {
    let iam: iam_role::spec::Iam = serde_json::from_value(section).unwrap();
    let environment = scope();
    let database = Output {
        of: ResourceId { kind: db_instance::NAME, scope: scope(), name: "orders".into() },
        member: "DbiResourceId".to_owned(),
        typed: false,
        owner: None,
        adopt: false,
    };
    let placement = iam_role::spec::Placement {
        environment: &environment,
        workspace: "orders",
        owner: "a/Workspace/orders",
        database: Some(database),
        adopt: true,
    };
    let mut resources = iam_role::spec::resources(&iam, &placement);
    let mut role = resources.remove(0);
    for input in role.fields.values_mut() {
        if let Input::Template { value, .. } = input {
            *input = Input::Known(value.clone());
        }
    }
    bound(role)
}

#[tokio::test]
async fn every_call_of_a_role_can_be_sent() {
    let kind = &iam_role::KIND;
    let desired = role(full_role());
    let actual = observed(json!({
        "RoleName": "orders-api", "Path": "/teams/", "MaxSessionDuration": 3600,
        "Description": "before",
        "AttachedManagedPolicies": [{"PolicyName": "x", "PolicyArn": "arn:x"}],
    }));
    let mut create = kind.create(&desired);
    let names: Vec<&str> = create.iter().map(|call| &*call.operation).collect();
    assert_eq!(names, ["CreateRole", "AttachRolePolicy", "PutRolePolicy", "PutRolePolicy"]);
    create.extend(kind.own(&desired.id, &actual, "owner"));
    create.extend(kind.delete(&desired.id, &actual, None).calls);
    create.extend(kind.read_tags(&actual));
    assert_all_sendable(kind, create).await;
    let mut deltas = deltas(kind, &desired, Timing::Window);
    assert_eq!(deltas.len(), 8, "every rule but the path and the name");
    assert_all_sendable(kind, kind.update(&desired, &actual, &deltas)).await;
    for delta in &mut deltas {
        match delta.field.as_str() {
            "inline" => delta.to = json!({"bucket": null}),
            "permissionsBoundary" => delta.to = json!(""),
            _ => {}
        }
    }
    let calls = kind.update(&desired, &actual, &deltas);
    let names: Vec<&str> = calls.iter().map(|call| &*call.operation).collect();
    let expected = [
        "DeleteRolePermissionsBoundary",
        "UpdateAssumeRolePolicy",
        "AttachRolePolicy",
        "DetachRolePolicy",
        "DeleteRolePolicy",
        "PutRolePolicy",
        "UpdateRole",
        "TagRole",
    ];
    assert_eq!(names, expected);
    assert_all_sendable(kind, calls).await;
}

fn secret(section: Value) -> Bound {
    let section = BTreeMap::from([("api".to_owned(), serde_json::from_value(section).unwrap())]);
    let (scope, owner) = (scope(), "a/Workspace/orders");
    let placement =
        secret::spec::Placement { scope: &scope, workspace: "orders", owner, adopt: false };
    bound(secret::spec::resources(&section, &placement).remove(0))
}

#[tokio::test]
async fn every_call_of_a_secret_can_be_sent() {
    let kind = &secret::KIND;
    let statement = json!({"Effect": "Allow", "Action": "*", "Resource": "*", "Principal": {}});
    let full = json!({
        "description": "d", "kmsKey": "alias/a", "recoveryWindowDays": 7, "tags": {"team": "a"},
        "generate": {"template": {"username": "app"}, "key": "password", "includeSpace": true},
        "rotation": {"lambdaArn": "arn:1", "everyDays": 3, "duration": "2h"},
        "replicas": {"eu-central-1": {"kmsKey": "alias/b"}}, "policy": {"Statement": statement},
    });
    let actual =
        observed(json!({"ARN": "arn:2", "Name": "orders/api", "DeletedDate": "2026-12-01",
        "ReplicationStatus": [{"Region": "us-east-1"}]}));
    for desired in [secret(full), secret(json!({"policy": {}, "rotation": {"enabled": false}}))] {
        assert_all_sendable(kind, kind.create(&desired)).await;
        let deltas = deltas(kind, &desired, Timing::Window);
        assert!(deltas.len() > 2, "{deltas:?}");
        assert_all_sendable(kind, kind.update(&desired, &actual, &deltas)).await;
        assert_all_sendable(kind, kind.own(&desired.id, &actual, "owner")).await;
        assert_all_sendable(kind, kind.delete(&desired.id, &actual, None).calls).await;
        let living = observed(json!({"ARN": "arn:2", "Name": "orders/api"}));
        assert_all_sendable(kind, kind.details(&desired, &living)).await;
    }
}

#[test]
fn an_element_whose_name_is_no_word_is_refused() {
    for document in ["<aa\0\u{11}\0a<a\0/>", "<a/b></a/b>", "<a&lt;></a&lt;>"] {
        let error = xml::parse(document).unwrap_err();
        assert!(error.to_string().contains("no word"), "{document:?}: {error}");
    }
    assert_eq!(xml::parse("<ns:a-b.c_d1/>").unwrap().name, "a-b.c_d1");
}
