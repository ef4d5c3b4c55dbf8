//! Manual snapshots: what a deletion leaves behind.

use serde_json::{Value, json};

use super::{identifier, time};
use crate::sandbox::args::Args;
use crate::sandbox::page;
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};

/// The operations.
pub(in crate::sandbox) const OPERATIONS: &[Operation] = &[Operation {
    service: "rds",
    name: "DescribeDBSnapshots",
    accepts: &[
        "DBSnapshotIdentifier",
        "DBInstanceIdentifier",
        "SnapshotType",
        "MaxRecords",
        "Marker",
    ],
    run: describe,
}];

/// Takes a snapshot of an instance.
pub(super) fn take(site: &mut Site<'_>, instance: &str, name: &str) -> Result<(), Refusal> {
    let name = identifier(name, 255)?;
    if site.state.rds.snapshots.contains_key(&name) {
        let text = format!(
            "Cannot create the snapshot because one with the identifier {name} already exists."
        );
        return Err(Refusal::new("DBSnapshotAlreadyExists", text));
    }
    let (arn, now) = (site.rds_arn("snapshot", &name), site.now);
    let instance = site.state.rds.instance(instance)?;
    let mut members = serde_json::Map::new();
    for member in [
        "AllocatedStorage",
        "AvailabilityZone",
        "DbiResourceId",
        "Engine",
        "EngineVersion",
        "Iops",
        "KmsKeyId",
        "LicenseModel",
        "MasterUsername",
        "StorageThroughput",
        "StorageType",
    ] {
        if let Some(value) = instance.members.get(member) {
            members.insert(member.to_owned(), value.clone());
        }
    }
    let copied = instance.flag("CopyTagsToSnapshot");
    let tag = |(key, value): (&String, &String)| json!({"Key": key, "Value": value});
    let tags: Vec<Value> = instance.tags.iter().filter(|_| copied).map(tag).collect();
    for (member, value) in [
        ("DBSnapshotIdentifier", json!(name)),
        ("DBSnapshotArn", json!(arn)),
        ("DBInstanceIdentifier", json!(instance.name)),
        ("Encrypted", json!(instance.flag("StorageEncrypted"))),
        ("PercentProgress", json!(100)),
        ("Port", json!(instance.port)),
        ("SnapshotCreateTime", time(now)),
        ("SnapshotType", json!("manual")),
        ("Status", json!("available")),
        ("TagList", json!(tags)),
    ] {
        members.insert(member.to_owned(), value);
    }
    site.state.rds.snapshots.insert(name, members);
    Ok(())
}

fn describe(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let lower = |member| args.text(member).map(|text| text.map(str::to_lowercase));
    let (name, of) = (lower("DBSnapshotIdentifier")?, lower("DBInstanceIdentifier")?);
    let kind = args.text("SnapshotType")?.unwrap_or("manual");
    let snapshots = &site.state.rds.snapshots;
    if let Some(name) = name.as_ref().filter(|name| !snapshots.contains_key(*name)) {
        return Err(Refusal::new("DBSnapshotNotFound", format!("DBSnapshot {name} not found.")));
    }
    let chosen = snapshots
        .iter()
        .filter(|(key, _)| name.as_ref().is_none_or(|name| name == *key))
        .filter(|(_, s)| of.as_ref().is_none_or(|of| s["DBInstanceIdentifier"] == json!(of)))
        .filter(|(_, s)| s["SnapshotType"] == kind)
        .map(|(key, s)| (key.as_str(), s));
    page::RDS.answer(args, "DBSnapshots", chosen, |_, s| Some(Value::Object(s.clone())))
}
