//! How a DB instance that exists is declared: the inverse of `expand`.
//!
//! An instance in a cluster is declared with it. What AWS chose by itself (the zone, the certificate
//! authority) is left to it; what differs from the defaults of the section is declared as it is.

use serde_json::{Value, json};

use super::engine::Engine;
use super::rules::RULES;
use crate::kinds::rds_import::{self, is_default_group, licence, version};
use crate::model::Observed;
use crate::model::import::{Around, Draft, Import, Section, Writer};

/// What AWS gives to gp3 storage from the threshold on.
const LARGE: [(&str, u64); 2] = [("storage.iops", 12_000), ("storage.throughputMiBps", 500)];

impl Import for super::DbInstance {
    fn passed_over(&self, _name: &str, actual: &Observed) -> Option<String> {
        if let Some(cluster) = actual.text("DBClusterIdentifier").filter(|it| !it.is_empty()) {
            return Some(format!("it is declared with its cluster {cluster}"));
        }
        let engine = actual.text("Engine").unwrap_or_default();
        match Engine::of(engine) {
            None => Some(format!("the engine {engine} is not known here")),
            Some(it) if it.is_aurora() => Some("its cluster is not known".to_owned()),
            Some(_) => None,
        }
    }

    fn known_as(&self, actual: &Observed) -> Vec<(String, Option<&'static str>)> {
        let outputs = [
            ("Endpoint.Address", Some("endpoint")),
            ("DBInstanceArn", Some("arn")),
            ("MasterUserSecret.SecretArn", Some("secretArn")),
        ];
        let known = |(member, output)| Some((actual.text(member)?.to_owned(), output));
        outputs.into_iter().filter_map(known).collect()
    }

    fn draft(&self, name: &str, actual: &Observed, around: &dyn Around) -> Option<Draft> {
        let engine = Engine::of(actual.text("Engine")?)?;
        let mut writer = Writer::new(RULES, actual, Section::Own("database"));
        writer.draft.name = Some(("identifier", name.to_owned()));
        let value = writer.value("engine")?;
        writer.draft.sheet.put("engine", value);
        writer.draft.sheet.put("version", version(actual)?);
        writer.declare(&["sizeClass"]);
        storage(&mut writer, engine);
        writer.unless("multiAz", false);
        rds_import::backups(&mut writer);
        writer.declare(&["maintenanceWindow"]);
        groups(&mut writer, actual);
        rds_import::protection(&mut writer, around);
        writer.unless("publiclyAccessible", false);
        writer.unless("iamAuthentication", false);
        writer.unless("autoMinorVersionUpgrade", true);
        writer.unless("port", u32::from(engine.port()));
        writer.declare(&["databaseName"]);
        writer.unless("masterUsername", engine.master_username());
        if actual.text("LicenseModel") != licence(actual.text("Engine")?) {
            writer.declare(&["licenseModel"]);
        }
        rds_import::insights(&mut writer, actual);
        writer.declare(&["logExports", "securityGroups", "tags"]);
        rds_import::surroundings(&mut writer, actual, "DBSubnetGroup.DBSubnetGroupName");
        writer.draft.vpc = actual.text("DBSubnetGroup.VpcId").map(str::to_owned);
        told(&mut writer, actual);
        Some(writer.draft)
    }
}

/// Declares the storage; a size of AWS's own choosing, and what follows from the type, is left out.
fn storage(writer: &mut Writer<'_>, engine: Engine) {
    let text = |writer: &Writer<'_>, field: &str| writer.value(field).unwrap_or_default();
    let kind = text(writer, "storage.type").as_str().unwrap_or_default().to_ascii_lowercase();
    let size = text(writer, "storage.sizeGiB").as_u64().unwrap_or_default();
    let is_large = size >= u64::from(engine.gp3_threshold());
    let chosen = |writer: &Writer<'_>, (field, least): (&str, u64)| {
        let value = text(writer, field).as_u64().unwrap_or_default();
        kind == "gp3" && is_large && value > least
    };
    let floors = match engine {
        Engine::SqlServer => [("storage.iops", 3_000), ("storage.throughputMiBps", 125)],
        _ => LARGE,
    };
    let tuned: Vec<&str> =
        floors.into_iter().filter(|it| chosen(writer, *it)).map(|(field, _)| field).collect();
    let is_io = matches!(kind.as_str(), "io1" | "io2");
    if kind != "gp3" || !tuned.is_empty() {
        writer.declare(&["storage.type"]);
    }
    if size != 20 || !tuned.is_empty() {
        writer.declare(&["storage.sizeGiB"]);
    }
    let most = text(writer, "storage.maxSizeGiB").as_u64().unwrap_or_default();
    if most > size {
        writer.declare(&["storage.maxSizeGiB"]);
    }
    writer.declare(&tuned);
    if is_io {
        writer.declare(&["storage.iops"]);
    }
    rds_import::encryption(writer);
}

fn groups(writer: &mut Writer<'_>, actual: &Observed) {
    if let Some(Value::String(group)) = writer.value("parameterGroup")
        && !is_default_group(&group)
    {
        writer.draft.uses.push(format!("db_parameter_group/{}", group.to_ascii_lowercase()));
        writer.draft.sheet.put("parameterGroup", group);
    }
    if let Some(Value::String(group)) = writer.value("optionGroup")
        && !group.starts_with("default:")
    {
        writer.draft.sheet.put("optionGroup", group);
    }
    for group in actual.member("DBSecurityGroups").and_then(Value::as_array).into_iter().flatten() {
        let name = group.get("DBSecurityGroupName").and_then(Value::as_str).unwrap_or_default();
        writer.remark(format!("the DB security group {name} of EC2-Classic cannot be declared"));
    }
}

/// Says what the section has no field for.
fn told(writer: &mut Writer<'_>, actual: &Observed) {
    let sources = ["ReadReplicaSourceDBInstanceIdentifier", "ReadReplicaSourceDBClusterIdentifier"];
    if let Some(source) = sources.iter().find_map(|member| actual.text(member)) {
        writer.remark(format!(
            "it is a read replica of {source}, which cannot be declared: made anew, it would be empty"
        ));
    }
    if writer.value("manageMasterPassword") == Some(json!(false)) {
        writer.remark(
            "the master password was set by hand and stays; manageMasterPassword: true hands it to RDS",
        );
    }
    rds_import::told(writer, actual);
    let zones = actual.member("DomainMemberships").and_then(Value::as_array);
    if zones.is_some_and(|domains| !domains.is_empty()) {
        writer.remark("that it is in a directory cannot be declared, and stays");
    }
    if actual.text("CharacterSetName").is_some() && actual.text("NcharCharacterSetName").is_some() {
        writer.remark("its character set cannot be declared, and stays");
    }
}
