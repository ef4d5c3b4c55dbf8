//! What RDS does by itself and on demand, in virtual time.

use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp, ToSpan};
use serde_json::json;

use super::faults::Effect;
use super::*;
use crate::model::{AccountId, Cause, ErrorClass, KindName, Region};

/// A clock that stands still until it is moved.
struct Hand(Mutex<Timestamp>);

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

/// A sandbox in virtual time, with shorthand for calls.
struct Lab {
    hand: Arc<Hand>,
    cloud: Sandbox,
    scope: Scope,
}

fn lab() -> Lab {
    lab_with(Settings { daily_backups: false, ..Settings::real(7) })
}

fn lab_with(settings: Settings) -> Lab {
    // A Wednesday.
    let start: Timestamp = "2026-11-25T12:00:00Z".parse().unwrap();
    let hand = Arc::new(Hand(Mutex::new(start)));
    let cloud = Sandbox::new(Arc::clone(&hand) as Arc<dyn Clock>, settings);
    let scope = Scope { account: AccountId::new("123456789012"), region: Region::new("eu-west-1") };
    Lab { hand, cloud, scope }
}

impl Lab {
    fn pass(&self, span: impl Into<jiff::Span>) {
        let mut now = self.hand.0.lock().unwrap();
        let span: jiff::Span = span.into();
        *now = now.checked_add(span.total(jiff::Unit::Second).map(seconds).unwrap()).unwrap();
    }

    fn set(&self, time: &str) {
        *self.hand.0.lock().unwrap() = time.parse().unwrap();
    }

    fn call(&self, operation: &'static str, params: Value) -> Result<Value, CallError> {
        let service =
            if operation.contains("Vpc") || operation == "DescribeSubnets" { "ec2" } else { "rds" };
        let mut call = Call::new(service, operation);
        call.params = params.as_object().unwrap().clone();
        self.cloud.ask(&self.scope, &call)
    }

    fn code(&self, operation: &'static str, params: Value) -> String {
        self.call(operation, params).unwrap_err().code
    }

    fn create(&self, more: Value) -> Value {
        let mut params = json!({
            "DBInstanceIdentifier": "db1", "DBInstanceClass": "db.t4g.medium", "Engine": "postgres",
            "EngineVersion": "15.14", "AllocatedStorage": 100, "MasterUsername": "app",
            "ManageMasterUserPassword": true,
            "PreferredMaintenanceWindow": "Sun:05:00-Sun:06:00",
            "PreferredBackupWindow": "02:00-03:00",
        });
        for (member, value) in more.as_object().unwrap() {
            params[member] = value.clone();
        }
        self.call("CreateDBInstance", params).unwrap()["DBInstance"].clone()
    }

    /// Makes the instance and lets it become available.
    fn settled(&self, more: Value) {
        self.create(more);
        self.pass(1.hour());
        assert_eq!(self.db()["DBInstanceStatus"], "available");
    }

    fn modify(&self, params: Value) -> Result<Value, CallError> {
        let mut all = json!({"DBInstanceIdentifier": "db1"});
        for (member, value) in params.as_object().unwrap() {
            all[member] = value.clone();
        }
        self.call("ModifyDBInstance", all)
    }

    fn db(&self) -> Value {
        let answer = self.call("DescribeDBInstances", json!({"DBInstanceIdentifier": "db1"}));
        answer.unwrap()["DBInstances"][0].clone()
    }

    fn status(&self) -> String {
        self.db()["DBInstanceStatus"].as_str().unwrap().to_owned()
    }
}

fn seconds(count: f64) -> SignedDuration {
    SignedDuration::from_secs_f64(count)
}

#[test]
fn an_instance_is_created_backed_up_and_then_available_with_an_endpoint() {
    let lab = lab();
    let made = lab.create(json!({"DBInstanceIdentifier": "DB1"}));
    assert_eq!(made["DBInstanceIdentifier"], "db1");
    assert_eq!(made["DBInstanceStatus"], "creating");
    assert_eq!(made["PreferredMaintenanceWindow"], "sun:05:00-sun:06:00");
    assert_eq!(made.get("Endpoint"), None);
    assert_eq!(made["MasterUserSecret"]["SecretStatus"], "creating");
    lab.pass(8.minutes());
    assert_eq!(lab.status(), "backing-up");
    lab.pass(4.minutes());
    assert_eq!(lab.status(), "available");
    assert_eq!(lab.db()["Endpoint"]["Port"], 5432);
    assert_eq!(lab.db()["MasterUserSecret"]["SecretStatus"], "active");
    assert_eq!(lab.db()["StorageType"], "gp3");
    assert_eq!(lab.db()["Iops"], 3000);
}

#[test]
fn a_deferred_change_waits_for_the_maintenance_window() {
    let lab = lab();
    lab.settled(json!({}));
    lab.modify(json!({"DBInstanceClass": "db.r6g.large"})).unwrap();
    lab.set("2026-11-29T04:59:59Z");
    assert_eq!(lab.db()["PendingModifiedValues"], json!({"DBInstanceClass": "db.r6g.large"}));
    assert_eq!(lab.status(), "available");
    lab.set("2026-11-29T05:00:01Z");
    assert_eq!(lab.status(), "modifying");
    assert_eq!(lab.db()["DBInstanceClass"], "db.t4g.medium");
    lab.pass(30.minutes());
    assert_eq!(lab.status(), "available");
    assert_eq!(lab.db()["DBInstanceClass"], "db.r6g.large");
    assert_eq!(lab.db()["PendingModifiedValues"], json!({}));
}

#[test]
fn deferred_changes_of_several_calls_merge() {
    let lab = lab();
    lab.settled(json!({}));
    lab.modify(json!({"DBInstanceClass": "db.r6g.large", "MultiAZ": true})).unwrap();
    lab.modify(json!({"DBInstanceClass": "db.r6g.xlarge"})).unwrap();
    let pending = json!({"DBInstanceClass": "db.r6g.xlarge", "MultiAZ": true});
    assert_eq!(lab.db()["PendingModifiedValues"], pending);
}

#[test]
fn apply_immediately_flushes_what_somebody_else_had_queued() {
    let lab = lab();
    lab.settled(json!({}));
    lab.modify(json!({"DBInstanceClass": "db.r6g.large"})).unwrap();
    lab.modify(json!({"MultiAZ": true, "ApplyImmediately": true})).unwrap();
    lab.pass(1.minute());
    assert_eq!(lab.status(), "modifying");
    lab.pass(1.hour());
    assert_eq!(lab.db()["DBInstanceClass"], "db.r6g.large");
    assert_eq!(lab.db()["MultiAZ"], true);
}

#[test]
fn apply_immediately_flushes_even_when_the_call_itself_takes_effect_at_once() {
    let lab = lab();
    lab.settled(json!({}));
    lab.modify(json!({"DBInstanceClass": "db.r6g.large"})).unwrap();
    lab.modify(json!({"DeletionProtection": true, "ApplyImmediately": true})).unwrap();
    lab.pass(1.hour());
    assert_eq!(lab.db()["DBInstanceClass"], "db.r6g.large");
}

#[test]
fn asking_for_the_value_in_force_takes_a_queued_one_back() {
    let lab = lab();
    lab.settled(json!({}));
    lab.modify(json!({"DBInstanceClass": "db.r6g.large"})).unwrap();
    lab.modify(json!({"DBInstanceClass": "db.t4g.medium"})).unwrap();
    assert_eq!(lab.db()["PendingModifiedValues"], json!({}));
    lab.set("2026-11-29T05:30:00Z");
    assert_eq!(lab.status(), "available");
    assert_eq!(lab.db()["DBInstanceClass"], "db.t4g.medium");
}

#[test]
fn some_settings_take_effect_at_once_without_apply_immediately() {
    let lab = lab();
    lab.settled(json!({}));
    let answer = lab
        .modify(json!({
            "DeletionProtection": true, "PubliclyAccessible": false, "CopyTagsToSnapshot": true,
            "PreferredBackupWindow": "03:00-04:00", "MaxAllocatedStorage": 500,
        }))
        .unwrap();
    let db = &answer["DBInstance"];
    assert_eq!(db["DeletionProtection"], true);
    assert_eq!(db["PubliclyAccessible"], false);
    assert_eq!(db["PreferredBackupWindow"], "03:00-04:00");
    assert_eq!(db["MaxAllocatedStorage"], 500);
    assert_eq!(lab.status(), "available");
}

#[test]
fn retention_changes_soon_but_turning_backups_off_waits() {
    let lab = lab();
    lab.settled(json!({}));
    lab.modify(json!({"BackupRetentionPeriod": 14})).unwrap();
    assert_eq!(lab.db()["PendingModifiedValues"], json!({"BackupRetentionPeriod": 14}));
    lab.pass(1.hour());
    assert_eq!(lab.db()["BackupRetentionPeriod"], 14);
    lab.modify(json!({"BackupRetentionPeriod": 0})).unwrap();
    lab.pass(1.hour());
    assert_eq!(lab.db()["BackupRetentionPeriod"], 14);
    assert_eq!(lab.db()["PendingModifiedValues"], json!({"BackupRetentionPeriod": 0}));
}

#[test]
fn a_window_moved_over_the_present_applies_what_is_queued() {
    let lab = lab();
    lab.settled(json!({}));
    lab.modify(json!({"DBInstanceClass": "db.r6g.large"})).unwrap();
    lab.modify(json!({"PreferredMaintenanceWindow": "wed:12:30-wed:14:00"})).unwrap();
    lab.pass(1.second());
    assert_eq!(lab.status(), "modifying");
}

#[test]
fn an_instance_that_is_not_available_takes_no_change() {
    let lab = lab();
    lab.create(json!({}));
    let error = lab.modify(json!({"DeletionProtection": true})).unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.class),
        ("InvalidDBInstanceState", ErrorClass::NotReady)
    );
    lab.pass(1.hour());
    lab.modify(json!({"DBInstanceClass": "db.r6g.large", "ApplyImmediately": true})).unwrap();
    assert_eq!(lab.status(), "available", "the status lags behind the answer");
    lab.pass(1.minute());
    assert_eq!(lab.modify(json!({"MultiAZ": true})).unwrap_err().code, "InvalidDBInstanceState");
}

#[test]
fn storage_grows_by_a_tenth_at_least_and_then_rests_for_six_hours() {
    let lab = lab();
    lab.settled(json!({}));
    lab.modify(json!({"AllocatedStorage": 105, "ApplyImmediately": true})).unwrap();
    lab.pass(15.minutes());
    assert_eq!(lab.db()["AllocatedStorage"], 110);
    assert_eq!(lab.status(), "storage-optimization");
    assert!(lab.db()["PercentProgress"].is_string());
    let again = json!({"AllocatedStorage": 200, "ApplyImmediately": true});
    assert_eq!(lab.modify(again.clone()).unwrap_err().code, "InvalidParameterCombination");
    lab.modify(json!({"BackupRetentionPeriod": 7})).unwrap();
    lab.pass(3.hours());
    assert_eq!(lab.status(), "available");
    assert_eq!(lab.modify(again.clone()).unwrap_err().code, "InvalidParameterCombination");
    lab.pass(4.hours());
    lab.modify(again).unwrap();
}

#[test]
fn storage_does_not_shrink() {
    let lab = lab();
    lab.settled(json!({}));
    let error = lab.modify(json!({"AllocatedStorage": 50})).unwrap_err();
    assert_eq!(
        (error.code.as_str(), error.class),
        ("InvalidParameterCombination", ErrorClass::Invalid)
    );
}

#[test]
fn gp3_takes_iops_from_its_threshold_on_only() {
    let lab = lab();
    lab.settled(json!({}));
    let iops = json!({"Iops": 12000});
    assert_eq!(lab.modify(iops).unwrap_err().code, "InvalidParameterCombination");
    lab.modify(json!({"AllocatedStorage": 400, "ApplyImmediately": true})).unwrap();
    lab.pass(12.hours());
    assert_eq!((&lab.db()["Iops"], &lab.db()["StorageThroughput"]), (&json!(12000), &json!(500)));
    let bare = json!({"AllocatedStorage": 800, "ApplyImmediately": true});
    assert_eq!(lab.modify(bare).unwrap_err().code, "InvalidParameterCombination");
    lab.modify(json!({"AllocatedStorage": 800, "Iops": 12000, "ApplyImmediately": true})).unwrap();
}

#[test]
fn a_full_disk_can_be_grown_and_nothing_else() {
    let lab = lab();
    lab.settled(json!({}));
    assert!(lab.cloud.fill_storage(&lab.scope, "db1"));
    assert_eq!(lab.status(), "storage-full");
    assert_eq!(lab.modify(json!({"MultiAZ": true})).unwrap_err().code, "InvalidDBInstanceState");
    lab.modify(json!({"AllocatedStorage": 200, "ApplyImmediately": true})).unwrap();
    lab.pass(1.hour());
    assert_eq!(lab.status(), "storage-optimization");
}

#[test]
fn storage_autoscaling_grows_up_to_its_ceiling() {
    let lab = lab();
    lab.settled(json!({"MaxAllocatedStorage": 115}));
    assert!(lab.cloud.autoscale(&lab.scope, "db1"));
    lab.pass(12.hours());
    assert_eq!(lab.db()["AllocatedStorage"], 110);
    assert!(lab.cloud.autoscale(&lab.scope, "db1"));
    lab.pass(12.hours());
    assert_eq!(lab.db()["AllocatedStorage"], 115);
    assert!(!lab.cloud.autoscale(&lab.scope, "db1"));
}

#[test]
fn a_new_minor_version_is_taken_in_the_next_window_where_that_is_wanted() {
    let lab = lab();
    lab.settled(json!({}));
    lab.settled(json!({"DBInstanceIdentifier": "still", "AutoMinorVersionUpgrade": false}));
    assert!(lab.cloud.publish_version("postgres", "15.15"));
    lab.set("2026-11-29T05:00:01Z");
    assert_eq!(lab.status(), "upgrading");
    lab.set("2026-11-29T06:00:00Z");
    assert_eq!(lab.db()["EngineVersion"], "15.15");
    let still = json!({"DBInstanceIdentifier": "still"});
    let other = lab.call("DescribeDBInstances", still).unwrap();
    assert_eq!(other["DBInstances"][0]["EngineVersion"], "15.14");
}

#[test]
fn versions_go_forward_only_and_leap_only_when_allowed() {
    let lab = lab();
    lab.settled(json!({"EngineVersion": "15.8", "AutoMinorVersionUpgrade": false}));
    let code = |params| lab.modify(params).unwrap_err().code;
    assert_eq!(code(json!({"EngineVersion": "15.4"})), "InvalidParameterCombination");
    assert_eq!(code(json!({"EngineVersion": "99"})), "InvalidParameterCombination");
    assert_eq!(code(json!({"EngineVersion": "16.8"})), "InvalidParameterCombination");
    lab.modify(json!({
        "EngineVersion": "16.8", "AllowMajorVersionUpgrade": true, "ApplyImmediately": true,
    }))
    .unwrap();
    lab.pass(1.hour());
    assert_eq!(lab.db()["EngineVersion"], "16.8");
    assert_eq!(lab.db()["DBParameterGroups"][0]["DBParameterGroupName"], "default.postgres16");
}

#[test]
fn a_major_version_alone_means_its_newest_minor_and_never_a_step_back() {
    let lab = lab();
    lab.settled(json!({"EngineVersion": "15.8", "AutoMinorVersionUpgrade": false}));
    lab.modify(json!({"EngineVersion": "15"})).unwrap();
    assert_eq!(lab.db()["PendingModifiedValues"], json!({"EngineVersion": "15.14"}));
}

#[test]
fn a_call_that_modifies_nothing_is_refused() {
    let lab = lab();
    lab.settled(json!({}));
    let error = lab.modify(json!({"ApplyImmediately": true})).unwrap_err();
    assert_eq!(error.code, "InvalidParameterCombination");
    assert_eq!(error.message, "No modifications were requested");
}

#[test]
fn a_static_parameter_waits_for_a_restart() {
    let lab = lab();
    let group = json!({
        "DBParameterGroupName": "PG1", "DBParameterGroupFamily": "postgres15", "Description": "x",
    });
    lab.call("CreateDBParameterGroup", group).unwrap();
    lab.settled(json!({"DBParameterGroupName": "pg1"}));
    let set = |name: &str, value: &str, method: &str| {
        lab.call(
            "ModifyDBParameterGroup",
            json!({"DBParameterGroupName": "pg1", "Parameters": [
                {"ParameterName": name, "ParameterValue": value, "ApplyMethod": method},
            ]}),
        )
    };
    let apply = || lab.db()["DBParameterGroups"][0]["ParameterApplyStatus"].clone();
    set("work_mem", "20480", "immediate").unwrap();
    assert_eq!(apply(), "applying");
    lab.pass(1.minute());
    assert_eq!(apply(), "in-sync");
    set("max_connections", "500", "pending-reboot").unwrap();
    lab.pass(1.minute());
    assert_eq!(apply(), "pending-reboot");
    lab.call("RebootDBInstance", json!({"DBInstanceIdentifier": "db1"})).unwrap();
    assert_eq!(lab.status(), "rebooting");
    lab.pass(1.hour());
    assert_eq!(apply(), "in-sync");
    let refused = set("max_connections", "400", "immediate").unwrap_err();
    assert_eq!(refused.code, "InvalidParameterCombination");
    assert_eq!(set("work_mem", "20MB", "immediate").unwrap_err().code, "InvalidParameterValue");
    assert_eq!(
        set("wal_level", "logical", "pending-reboot").unwrap_err().code,
        "InvalidParameterValue"
    );
    let delete = json!({"DBParameterGroupName": "pg1"});
    assert_eq!(lab.code("DeleteDBParameterGroup", delete), "InvalidDBParameterGroupState");
}

#[test]
fn parameters_say_where_their_values_come_from() {
    let lab = lab();
    let group = json!({
        "DBParameterGroupName": "pg1", "DBParameterGroupFamily": "postgres15", "Description": "x",
    });
    lab.call("CreateDBParameterGroup", group).unwrap();
    let read = |source: &str| {
        let params = json!({"DBParameterGroupName": "pg1", "Source": source});
        lab.call("DescribeDBParameters", params).unwrap()["Parameters"].as_array().unwrap().clone()
    };
    assert!(read("user").is_empty());
    lab.call(
        "ModifyDBParameterGroup",
        json!({"DBParameterGroupName": "pg1", "Parameters": [
            {"ParameterName": "work_mem", "ParameterValue": "8192", "ApplyMethod": "immediate"},
        ]}),
    )
    .unwrap();
    assert_eq!(read("user")[0]["ParameterValue"], "8192");
    assert!(read("system").iter().any(|p| p["ParameterName"] == "autovacuum"));
    assert!(read("engine-default").iter().all(|p| p.get("ParameterValue").is_none()));
    let reset =
        json!({"DBParameterGroupName": "pg1", "Parameters": [{"ParameterName": "work_mem"}]});
    lab.call("ResetDBParameterGroup", reset).unwrap();
    assert!(read("user").is_empty());
}

#[test]
fn a_protected_instance_is_not_deleted_and_a_snapshot_outlives_it() {
    let lab = lab();
    lab.settled(json!({"DeletionProtection": true}));
    let skip = json!({"DBInstanceIdentifier": "db1", "SkipFinalSnapshot": true});
    assert_eq!(lab.code("DeleteDBInstance", skip), "InvalidParameterCombination");
    lab.modify(json!({"DeletionProtection": false})).unwrap();
    let bare = json!({"DBInstanceIdentifier": "db1"});
    assert_eq!(lab.code("DeleteDBInstance", bare.clone()), "InvalidParameterCombination");
    let last = json!({"DBInstanceIdentifier": "db1", "FinalDBSnapshotIdentifier": "last"});
    lab.call("DeleteDBInstance", last.clone()).unwrap();
    assert_eq!(lab.status(), "deleting");
    assert_eq!(lab.code("DeleteDBInstance", last), "InvalidDBInstanceState");
    lab.pass(1.hour());
    assert_eq!(lab.code("DescribeDBInstances", bare), "DBInstanceNotFound");
    let left = lab.call("DescribeDBSnapshots", json!({})).unwrap();
    assert_eq!(left["DBSnapshots"][0]["DBInstanceIdentifier"], "db1");
}

#[test]
fn a_stopped_instance_starts_by_itself_after_seven_days() {
    let lab = lab();
    lab.settled(json!({}));
    lab.modify(json!({"DBInstanceClass": "db.r6g.large"})).unwrap();
    lab.call("StopDBInstance", json!({"DBInstanceIdentifier": "db1"})).unwrap();
    lab.pass(1.hour());
    assert_eq!(lab.status(), "stopped");
    assert!(lab.db()["AutomaticRestartTime"].is_string());
    assert_eq!(lab.modify(json!({"MultiAZ": true})).unwrap_err().code, "InvalidDBInstanceState");
    lab.pass((8 * 24).hours());
    assert_eq!(lab.status(), "available");
    assert_eq!(lab.db()["DBInstanceClass"], "db.t4g.medium");
}

#[test]
fn a_renamed_instance_is_found_under_its_new_name_alone() {
    let lab = lab();
    lab.settled(json!({}));
    lab.modify(json!({"NewDBInstanceIdentifier": "db2", "ApplyImmediately": true})).unwrap();
    lab.pass(1.hour());
    let old = json!({"DBInstanceIdentifier": "db1"});
    assert_eq!(lab.code("DescribeDBInstances", old), "DBInstanceNotFound");
    let new = lab.call("DescribeDBInstances", json!({"DBInstanceIdentifier": "db2"})).unwrap();
    let arn = new["DBInstances"][0]["DBInstanceArn"].as_str().unwrap();
    assert!(arn.ends_with(":db:db2"), "{arn}");
}

#[test]
fn what_a_read_sees_does_not_depend_on_how_often_anybody_read() {
    let settings = || Settings { rds_rate: None, ..Settings::real(7) };
    let (often, once) = (lab_with(settings()), lab_with(settings()));
    for lab in [&often, &once] {
        lab.create(json!({}));
        lab.pass(1.hour());
        lab.modify(json!({"DBInstanceClass": "db.r6g.large", "EngineVersion": "15.14"})).unwrap();
    }
    for _ in 0..(9 * 24) {
        often.pass(1.hour());
        often.db();
    }
    once.pass((9 * 24).hours());
    assert_eq!(often.db(), once.db());
}

#[test]
fn the_daily_backup_shows_and_passes() {
    let lab = lab_with(Settings::real(7));
    lab.create(json!({}));
    lab.set("2026-11-26T02:00:30Z");
    assert_eq!(lab.status(), "backing-up");
    lab.pass(10.minutes());
    assert_eq!(lab.status(), "available");
}

#[test]
fn a_list_comes_in_pages_that_survive_changes_between_them() {
    let lab = lab_with(Settings { rds_rate: None, ..Settings::real(1) });
    for number in 0..45 {
        lab.create(json!({"DBInstanceIdentifier": format!("db-{number:03}")}));
    }
    let page = |marker: Option<&Value>| {
        let params = json!({"MaxRecords": 20, "Marker": marker});
        lab.call("DescribeDBInstances", params).unwrap()
    };
    let first = page(None);
    assert_eq!(first["DBInstances"].as_array().unwrap().len(), 20);
    lab.create(json!({"DBInstanceIdentifier": "aaa"}));
    let second = page(first.get("Marker"));
    assert_eq!(second["DBInstances"][0]["DBInstanceIdentifier"], "db-020");
    let third = page(second.get("Marker"));
    assert_eq!(third["DBInstances"].as_array().unwrap().len(), 5);
    assert_eq!(third.get("Marker"), None);
    for size in [19, 101] {
        assert_eq!(
            lab.code("DescribeDBInstances", json!({"MaxRecords": size})),
            "InvalidParameterValue"
        );
    }
    assert_eq!(lab.code("DescribeDBInstances", json!({"Marker": "zz"})), "InvalidParameterValue");
}

#[test]
fn a_subnet_group_needs_two_zones_of_one_vpc_and_is_kept_while_in_use() {
    let lab = lab();
    let one = lab.cloud.seed_vpc(&lab.scope, "one", "10.0.0.0/16", &["a", "b"]);
    let two = lab.cloud.seed_vpc(&lab.scope, "two", "10.1.0.0/16", &["a", "b"]);
    let group = |operation, subnets: &[String]| {
        let params = json!({
            "DBSubnetGroupName": "Net", "DBSubnetGroupDescription": "x", "SubnetIds": subnets,
        });
        lab.call(operation, params)
    };
    let code = |operation, subnets: &[String]| group(operation, subnets).unwrap_err().code;
    assert_eq!(
        code("CreateDBSubnetGroup", &one.subnet_ids[..1]),
        "DBSubnetGroupDoesNotCoverEnoughAZs"
    );
    assert_eq!(code("CreateDBSubnetGroup", &["subnet-0".to_owned()]), "InvalidSubnet");
    group("CreateDBSubnetGroup", &one.subnet_ids).unwrap();
    assert_eq!(code("ModifyDBSubnetGroup", &two.subnet_ids), "InvalidParameterValue");
    assert_eq!(code("CreateDBSubnetGroup", &one.subnet_ids), "DBSubnetGroupAlreadyExists");
    lab.settled(json!({"DBSubnetGroupName": "NET"}));
    assert_eq!(lab.db()["DBSubnetGroup"]["VpcId"], one.vpc_id.as_str());
    let delete = json!({"DBSubnetGroupName": "net"});
    assert_eq!(lab.code("DeleteDBSubnetGroup", delete), "InvalidDBSubnetGroupStateFault");
}

#[test]
fn networks_are_found_by_tag_and_by_vpc() {
    let lab = lab();
    let vpc = lab.cloud.seed_vpc(&lab.scope, "shared-prod-vpc", "10.0.0.0/16", &["a", "b"]);
    let by = |name: &str, value: &str| json!({"Filters": [{"Name": name, "Values": [value]}]});
    let found = lab.call("DescribeVpcs", by("tag:Name", "shared-*")).unwrap();
    assert_eq!(found["Vpcs"].as_array().unwrap().len(), 1);
    assert_eq!(found["Vpcs"][0]["VpcId"], vpc.vpc_id.as_str());
    let subnets = lab.call("DescribeSubnets", by("vpc-id", &vpc.vpc_id)).unwrap();
    assert_eq!(subnets["Subnets"].as_array().unwrap().len(), 2);
    assert_eq!(lab.code("DescribeVpcs", by("colour", "red")), "InvalidParameterValue");
    let missing = lab.call("DescribeVpcs", json!({"VpcIds": ["vpc-0"]})).unwrap_err();
    assert_eq!(missing.class, ErrorClass::NotFound);
}

#[test]
fn accounts_and_regions_see_nothing_of_each_other() {
    let lab = lab();
    lab.create(json!({}));
    let other = Scope { region: Region::new("us-east-1"), ..lab.scope.clone() };
    assert!(lab.cloud.inspect(&other).is_empty());
    assert_eq!(lab.cloud.inspect(&lab.scope).len(), 1);
}

#[test]
fn a_parameter_that_is_not_modelled_is_refused_and_not_ignored() {
    let lab = lab();
    lab.settled(json!({}));
    let error = lab.modify(json!({"ReplicaMode": "mounted"})).unwrap_err();
    assert_eq!((error.code.as_str(), error.class), ("NotModelled", ErrorClass::Invalid));
    assert_eq!(lab.modify(json!({"MultiAZ": "yes"})).unwrap_err().code, "MalformedInput");
}

#[test]
fn a_refused_change_changes_nothing() {
    let lab = lab();
    lab.settled(json!({}));
    let before = lab.db();
    lab.modify(json!({"DeletionProtection": true, "AllocatedStorage": 10})).unwrap_err();
    assert_eq!(lab.db(), before);
}

#[test]
fn the_rate_limit_grants_a_burst_and_then_a_trickle() {
    let lab = lab_with(Settings::real(1));
    let code = || lab.call("DescribeDBInstances", json!({})).map_err(|e| (e.code, e.class));
    assert!((0..300).all(|_| code().is_ok()));
    assert_eq!(code(), Err(("Throttling".to_owned(), ErrorClass::Throttled)));
    lab.pass(1.second());
    assert_eq!((0..20).filter(|_| code().is_ok()).count(), 12);
}

#[test]
fn a_lost_answer_was_applied_and_a_lost_request_was_not() {
    let lab = lab();
    lab.settled(json!({}));
    let lose = |effect| {
        lab.cloud.clear_faults();
        lab.cloud.inject(Rule::new(effect).operation("ModifyDBInstance").times(1));
    };
    lose(Effect::LoseRequest);
    let error = lab.modify(json!({"DeletionProtection": true})).unwrap_err();
    assert_eq!(error.class, ErrorClass::Ambiguous);
    assert_eq!(lab.db()["DeletionProtection"], false);
    lose(Effect::LoseAnswer);
    let error = lab.modify(json!({"DeletionProtection": true})).unwrap_err();
    assert_eq!(error.class, ErrorClass::Ambiguous);
    assert_eq!(lab.db()["DeletionProtection"], true);
    assert_eq!(lab.cloud.faults_fired(), [1]);
}

#[test]
fn a_stale_read_knows_nothing_of_the_last_write() {
    let lab = lab();
    lab.settled(json!({}));
    lab.modify(json!({"DeletionProtection": true})).unwrap();
    let stale = Effect::Stale(std::time::Duration::from_secs(30));
    lab.cloud.inject(Rule::new(stale).operation("Describe*"));
    lab.pass(20.seconds());
    assert_eq!(lab.db()["DeletionProtection"], false);
    lab.pass(20.seconds());
    assert_eq!(lab.db()["DeletionProtection"], true);
    lab.create(json!({"DBInstanceIdentifier": "new"}));
    let list = lab.call("DescribeDBInstances", json!({})).unwrap();
    assert_eq!(list["DBInstances"].as_array().unwrap().len(), 1);
}

#[test]
fn fault_rules_choose_by_caller_and_skip() {
    let lab = lab();
    lab.cloud.inject(Rule::new(Effect::Deny).by("agent").skip(1).times(1));
    let read = || lab.call("DescribeDBInstances", json!({}));
    assert!(read().is_ok());
    let call = Call::new("rds", "DescribeDBInstances");
    assert!(lab.cloud.door("console").ask(&lab.scope, &call).is_ok());
    assert_eq!(read().unwrap_err().class, ErrorClass::Denied);
    assert!(read().is_ok());
}

#[test]
fn a_partial_page_lacks_items_that_exist() {
    let lab = lab();
    lab.create(json!({"DBInstanceIdentifier": "a"}));
    lab.create(json!({"DBInstanceIdentifier": "b"}));
    lab.cloud.inject(Rule::new(Effect::PartialPage(1)).times(1));
    let list = || lab.call("DescribeDBInstances", json!({})).unwrap();
    assert_eq!(list()["DBInstances"].as_array().unwrap().len(), 1);
    assert_eq!(list()["DBInstances"].as_array().unwrap().len(), 2);
}

#[test]
fn the_log_tells_who_did_what_and_keeps_no_password() {
    let lab = lab();
    lab.settled(json!({"ManageMasterUserPassword": false, "MasterUserPassword": "correct-horse"}));
    let mut call = Call::new("rds", "ModifyDBInstance");
    call = call.with("DBInstanceIdentifier", "db1").with("DeletionProtection", true);
    lab.cloud.door("console").ask(&lab.scope, &call).unwrap();
    let calls = lab.cloud.calls_since(0);
    assert!(!format!("{calls:?}").contains("correct-horse"));
    let last = calls.last().unwrap();
    assert_eq!((&*last.by, last.is_write()), ("console", true));
    assert_eq!(lab.cloud.counters()["rds:ModifyDBInstance"].calls, 1);
}

#[test]
fn the_same_seed_replays_exactly() {
    let run = |seed| {
        let lab = lab_with(Settings::real(seed));
        lab.create(json!({"PreferredBackupWindow": null, "PreferredMaintenanceWindow": null}));
        lab.pass(10.minutes());
        lab.db()
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

#[test]
fn default_windows_never_overlap() {
    for seed in 0..200 {
        let lab = lab_with(Settings::real(seed));
        lab.create(json!({"PreferredBackupWindow": null, "PreferredMaintenanceWindow": null}));
        lab.create(json!({"DBInstanceIdentifier": "b", "PreferredBackupWindow": null}));
    }
}

#[tokio::test(start_paused = true)]
async fn latency_is_slept_by_the_cloud_door() {
    let lab = lab();
    let delay = std::time::Duration::from_secs(3);
    lab.cloud.inject(Rule::new(Effect::Latency(delay)).service("rds"));
    let target =
        Target { scope: lab.scope.clone(), kind: KindName::new("db_instance"), cause: Cause::List };
    let started = tokio::time::Instant::now();
    lab.cloud.call(&target, &Call::new("rds", "DescribeDBInstances")).await.unwrap();
    assert!(started.elapsed() >= delay);
}

#[test]
fn the_pages_of_a_large_fleet_hold_every_instance_once() {
    let lab = lab_with(Settings { rds_rate: None, ..Settings::real(1) });
    for number in 0..2000 {
        lab.create(json!({"DBInstanceIdentifier": format!("db-{number:05}")}));
    }
    lab.pass(1.hour());
    let (mut marker, mut count) = (Value::Null, 0);
    loop {
        let page = lab.call("DescribeDBInstances", json!({"Marker": marker})).unwrap();
        count += page["DBInstances"].as_array().unwrap().len();
        let Some(next) = page.get("Marker") else { break };
        marker = next.clone();
    }
    assert_eq!(count, 2000);
}
