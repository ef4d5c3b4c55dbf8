//! What RDS does to an instance by itself, and what a person can do to it: the one is never drift,
//! the other always is.
//!
//! Written from the RDS User Guide alone, without a look at the differ: automatic minor upgrades,
//! storage autoscaling, failover, rotation of managed passwords, and the ways in which an answer is
//! spelled.

use levelset::model::Bound;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::model::Instance;

/// Names something that happens without anybody's doing.
#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    /// A minor version is installed in the window.
    MinorUpgrade,
    /// A minor version is about to be installed.
    MinorUpgradeQueued,
    /// The disk grows, up to its bound.
    Autoscaling,
    /// The standby takes over.
    Failover,
    /// Secrets Manager rotates the password, and RDS takes the new one.
    Rotation,
    /// The window opens and closes.
    Window,
    /// The nightly backup.
    Backup,
    /// The groups that everybody has are listed with their state.
    DefaultGroups,
    /// The server's certificate is renewed under the same authority.
    Certificate,
    /// Lists come in another order.
    Order,
    /// Words that AWS spells in lower case.
    Spelling,
    /// Times and addresses that nobody declares.
    Noise,
    /// AWS Backup takes the backups over.
    BackupPlan,
}

const EVENTS: [Event; 13] = [
    Event::MinorUpgrade,
    Event::MinorUpgradeQueued,
    Event::Autoscaling,
    Event::Failover,
    Event::Rotation,
    Event::Window,
    Event::Backup,
    Event::DefaultGroups,
    Event::Certificate,
    Event::Order,
    Event::Spelling,
    Event::Noise,
    Event::BackupPlan,
];

/// Makes any events in any order, each as often as it comes.
pub(super) fn events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec(prop::sample::select(&EVENTS), 0..24)
}

/// Lets something happen.
pub(super) fn happen(instance: &mut Instance, event: Event) {
    match event {
        Event::MinorUpgrade => put(instance, "EngineVersion", next_minor(instance)),
        Event::MinorUpgradeQueued => {
            let next = next_minor(instance);
            queue(instance)["EngineVersion"] = next;
        }
        Event::Autoscaling => autoscale(instance),
        Event::Failover => failover(instance),
        Event::Rotation => rotate(instance),
        Event::Window => instance.open_window(),
        Event::Backup => {
            put(instance, "DBInstanceStatus", json!("backing-up"));
            put(instance, "LatestRestorableTime", json!("2026-11-30T03:00:00+00:00"));
        }
        Event::DefaultGroups => default_groups(instance),
        Event::Certificate => {
            let authority = instance.seen.members["CACertificateIdentifier"].clone();
            let details =
                json!({"CAIdentifier": authority, "ValidTill": "2027-11-30T03:00:00+00:00"});
            put(instance, "CertificateDetails", details);
        }
        Event::Order => reverse(instance),
        Event::Spelling => spell(instance),
        Event::Noise => {
            instance.seen.members["Endpoint"]["Address"] = json!("orders.abc.eu-west-1.rds.local");
            put(instance, "ActivityStreamStatus", json!("stopped"));
            put(instance, "PercentProgress", json!("100"));
        }
        Event::BackupPlan => {
            let point = "arn:aws:backup:eu-west-1:123456789012:recovery-point:continuous:db-1";
            put(instance, "AwsBackupRecoveryPointArn", json!(point));
            put(instance, "BackupRetentionPeriod", json!(35));
            put(instance, "PreferredBackupWindow", json!("00:10-00:40"));
        }
    }
}

fn put(instance: &mut Instance, member: &str, value: Value) {
    instance.seen.members.insert(member.to_owned(), value);
}

fn queue(instance: &mut Instance) -> &mut Value {
    instance.seen.members.get_mut("PendingModifiedValues").unwrap()
}

fn next_minor(instance: &Instance) -> Value {
    let version = instance.seen.text("EngineVersion").unwrap();
    let (major, minor) = version.split_once('.').unwrap();
    format!("{major}.{}", minor.parse::<u32>().unwrap() + 1).into()
}

/// RDS grows a disk by a tenth, and by 10 GiB at least, up to the bound.
fn autoscale(instance: &mut Instance) {
    let number = |member: &str| instance.seen.member(member).and_then(Value::as_u64);
    let (Some(size), Some(most)) = (number("AllocatedStorage"), number("MaxAllocatedStorage"))
    else {
        return;
    };
    let grown = (size + (size / 10).max(10)).min(most);
    put(instance, "AllocatedStorage", json!(grown));
    put(instance, "DBInstanceStatus", json!("storage-optimization"));
}

fn failover(instance: &mut Instance) {
    if instance.seen.member("MultiAZ") == Some(&json!(true)) {
        let other = instance.seen.member("SecondaryAvailabilityZone").cloned();
        let other = other.unwrap_or_else(|| json!("eu-west-1b"));
        let now = instance.seen.members["AvailabilityZone"].clone();
        put(instance, "AvailabilityZone", other);
        put(instance, "SecondaryAvailabilityZone", now);
    }
}

fn rotate(instance: &mut Instance) {
    if instance.seen.member("MasterUserSecret").is_some() {
        let arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:rds!db-1";
        let secret = json!({"SecretArn": arn, "SecretStatus": "rotating", "KmsKeyId": "key/2"});
        put(instance, "MasterUserSecret", secret);
        queue(instance)["MasterUserPassword"] = json!("****");
    }
}

/// A group that was attached is told with a state; one that was not is the engine's own.
fn default_groups(instance: &mut Instance) {
    let members = &mut instance.seen.members;
    for (list, name, default) in [
        ("DBParameterGroups", "DBParameterGroupName", "default.postgres15"),
        ("OptionGroupMemberships", "OptionGroupName", "default:postgres-15"),
    ] {
        let groups = members.entry(list).or_insert_with(|| json!([{(name): default}]));
        for group in groups.as_array_mut().unwrap() {
            group["Status"] = json!("in-sync");
            group["ParameterApplyStatus"] = json!("pending-reboot");
        }
    }
}

fn reverse(instance: &mut Instance) {
    for value in instance.seen.members.values_mut() {
        if let Value::Array(items) = value {
            items.reverse();
        }
    }
}

fn spell(instance: &mut Instance) {
    for member in ["PreferredMaintenanceWindow", "DBInstanceClass", "Engine", "StorageType"] {
        if let Some(Value::String(text)) = instance.seen.members.get_mut(member) {
            *text = text.to_ascii_lowercase();
        }
    }
}

/// Lets a person set a declared field to something else; tells whether there is something else.
pub(super) fn meddle(instance: &mut Instance, bound: &Bound, field: &str) -> bool {
    let declared = &bound.fields[field];
    let number = declared.as_u64().unwrap_or(0);
    let flipped = json!(declared != true);
    match field {
        // AWS Backup owns these, and a cluster others; a version only goes up, as AWS takes it too.
        "backups.retentionDays" | "backups.window"
            if instance.seen.member("AwsBackupRecoveryPointArn").is_some() =>
        {
            return false;
        }
        "storage.sizeGiB" | "storage.maxSizeGiB" => return resize(instance, bound, field),
        "sizeClass" => put(instance, "DBInstanceClass", json!("db.m5.24xlarge")),
        "storage.type" => put(instance, "StorageType", json!("io2")),
        "storage.iops" => put(instance, "Iops", json!(number * 2)),
        "storage.encrypted" => put(instance, "StorageEncrypted", flipped),
        "multiAz" => put(instance, "MultiAZ", flipped),
        "backups.retentionDays" => put(instance, "BackupRetentionPeriod", json!((number + 1) % 36)),
        "backups.window" => put(instance, "PreferredBackupWindow", json!("13:00-13:30")),
        "backups.copyTagsToSnapshots" => put(instance, "CopyTagsToSnapshot", flipped),
        "maintenanceWindow" => {
            put(instance, "PreferredMaintenanceWindow", json!("wed:12:00-wed:12:30"))
        }
        "parameterGroup" => {
            put(instance, "DBParameterGroups", json!([{"DBParameterGroupName": "theirs"}]));
        }
        "optionGroup" => {
            put(instance, "OptionGroupMemberships", json!([{"OptionGroupName": "theirs"}]))
        }
        "deletionProtection" => put(instance, "DeletionProtection", flipped),
        "publiclyAccessible" => put(instance, "PubliclyAccessible", flipped),
        "iamAuthentication" => put(instance, "IAMDatabaseAuthenticationEnabled", flipped),
        "autoMinorVersionUpgrade" => put(instance, "AutoMinorVersionUpgrade", flipped),
        "caCertificate" => put(instance, "CACertificateIdentifier", json!("rds-ca-ecc384-g1")),
        "port" => instance.seen.members["Endpoint"]["Port"] = json!(number + 1),
        "manageMasterPassword" => drop(instance.seen.members.remove("MasterUserSecret")),
        "performanceInsights.enabled" => put(instance, "PerformanceInsightsEnabled", flipped),
        "monitoring.intervalSeconds" => put(instance, "MonitoringInterval", json!(number + 5)),
        "logExports" => put(instance, "EnabledCloudwatchLogsExports", json!(["theirs"])),
        "securityGroups" => put(
            instance,
            "VpcSecurityGroups",
            json!([
                {"VpcSecurityGroupId": "sg-theirs", "Status": "active"},
            ]),
        ),
        "tags" => {
            let keys = declared.as_object().unwrap();
            instance.seen.tags.as_mut().unwrap().retain(|key, _| !keys.contains_key(key));
            return !keys.is_empty();
        }
        _ => return false,
    }
    true
}

/// The size may be anything above a declared bound while the disk grows by itself.
fn resize(instance: &mut Instance, bound: &Bound, field: &str) -> bool {
    let declared = bound.fields[field].as_u64().unwrap();
    let size = instance.seen.members["AllocatedStorage"].as_u64().unwrap();
    match field {
        "storage.sizeGiB" => put(instance, "AllocatedStorage", json!(declared - 50)),
        _ if declared > size => drop(instance.seen.members.remove("MaxAllocatedStorage")),
        _ => put(instance, "MaxAllocatedStorage", json!(size * 3)),
    }
    true
}
