//! How long the differ takes for one database: as declared, and with a few differences.
#![allow(missing_docs, reason = "criterion's macros make public items")]

use std::collections::BTreeMap;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use levelset::diff::diff;
use levelset::kinds::db_instance;
use levelset::kinds::db_instance::spec::{Backups, Database, Placement, Storage, resource};
use levelset::model::{AccountId, Bound, Input, Kind, Observed, Readiness, Region, Scope};
use serde_json::{Value, json};

fn database() -> Database {
    Database {
        storage: Some(Storage {
            kind: Some("gp3".to_owned()),
            size_gib: Some(500),
            max_size_gib: Some(1000),
            iops: Some(13_000),
            ..Storage::default()
        }),
        multi_az: Some(true),
        backups: Some(Backups {
            retention_days: Some(7),
            window: Some("02:00-03:00".to_owned()),
            copy_tags_to_snapshots: Some(true),
        }),
        maintenance_window: Some("Sun:05:00-Sun:06:00".to_owned()),
        parameter_group: Some("orders".to_owned()),
        deletion_protection: Some(true),
        publicly_accessible: Some(false),
        log_exports: Some(vec!["postgresql".to_owned(), "upgrade".to_owned()]),
        security_groups: Some(vec!["sg-1".to_owned(), "sg-2".to_owned()]),
        tags: Some(BTreeMap::from([("team".to_owned(), "payments".to_owned())])),
        ..Database::new("postgres", "15", "db.r6g.large")
    }
}

fn bound(database: &Database) -> Bound {
    let scope = Scope { account: AccountId::new("123456789012"), region: Region::new("eu-west-1") };
    let placement = Placement {
        scope: &scope,
        name: "orders",
        owner: "levelset/Workspace/orders",
        production: true,
        subnet_group: None,
        parameter_group: None,
        security_groups: None,
    };
    let resource = resource(database, &placement);
    let known = |(field, input)| match input {
        Input::Known(value) => (field, value),
        _ => unreachable!("this database refers to nothing"),
    };
    Bound {
        id: resource.id,
        fields: resource.fields.into_iter().map(known).collect(),
        initial: resource.initial,
        owner: resource.owner,
        adopt: false,
    }
}

fn observed() -> Observed {
    let members = json!({
        "DBInstanceIdentifier": "orders", "DBInstanceStatus": "available", "Engine": "postgres",
        "EngineVersion": "15.4", "DBInstanceClass": "db.r6g.large", "StorageType": "gp3",
        "AllocatedStorage": 500, "MaxAllocatedStorage": 1000, "Iops": 13_000, "MultiAZ": true,
        "BackupRetentionPeriod": 7, "PreferredBackupWindow": "02:00-03:00", "CopyTagsToSnapshot": true,
        "PreferredMaintenanceWindow": "sun:05:00-sun:06:00", "DeletionProtection": true,
        "PubliclyAccessible": false, "PendingModifiedValues": {},
        "DBParameterGroups": [{"DBParameterGroupName": "orders", "ParameterApplyStatus": "in-sync"}],
        "EnabledCloudwatchLogsExports": ["upgrade", "postgresql"],
        "VpcSecurityGroups": [
            {"VpcSecurityGroupId": "sg-2", "Status": "active"},
            {"VpcSecurityGroupId": "sg-1", "Status": "active"},
        ],
    });
    let Value::Object(members) = members else { unreachable!("the literal is an object") };
    let tags = BTreeMap::from([("team".to_owned(), "payments".to_owned())]);
    Observed { members, tags: Some(tags), at: jiff::Timestamp::UNIX_EPOCH }
}

fn benchmark(criterion: &mut Criterion) {
    let rules = db_instance::KIND.rules();
    let (bound, converged) = (bound(&database()), observed());
    assert!(diff(rules, &bound, &converged, &Readiness::Ready, &[]).is_settled());
    criterion.bench_function("diff of a database as declared", |bencher| {
        bencher
            .iter(|| diff(rules, black_box(&bound), black_box(&converged), &Readiness::Ready, &[]));
    });
    let mut drifted = converged;
    for (member, value) in [("MultiAZ", json!(false)), ("BackupRetentionPeriod", json!(1))] {
        drifted.members.insert(member.to_owned(), value);
    }
    criterion.bench_function("diff of a database with two differences", |bencher| {
        bencher
            .iter(|| diff(rules, black_box(&bound), black_box(&drifted), &Readiness::Ready, &[]));
    });
}

criterion_group!(benches, benchmark);
criterion_main!(benches);
