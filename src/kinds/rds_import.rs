//! What the drafts of DB instances and of DB clusters have in common: the fields of the `database`
//! section that AWS answers for both under the same names.

use serde_json::Value;

use crate::model::Observed;
use crate::model::import::{Around, Writer};
use crate::model::version::major_components;

/// Returns the version to declare: the major one where AWS installs minor versions by itself, and what
/// runs as a lower bound where it does not.
pub(super) fn version(actual: &Observed) -> Option<String> {
    let (engine, runs) = (actual.text("Engine")?, actual.text("EngineVersion")?);
    let follows = actual.member("AutoMinorVersionUpgrade") != Some(&Value::Bool(false));
    let parts: Vec<&str> = runs.split('.').collect();
    let count = if follows { major_components(engine, runs) } else { parts.len() };
    Some(parts.into_iter().take(count).collect::<Vec<_>>().join("."))
}

/// Tells whether a parameter group is AWS's own.
pub(super) fn is_default_group(name: &str) -> bool {
    name.to_ascii_lowercase().starts_with("default.")
}

/// Returns the licence that an engine has where none is chosen.
pub(super) fn licence(engine: &str) -> Option<&'static str> {
    match engine.to_ascii_lowercase().as_str() {
        "postgres" => Some("postgresql-license"),
        "mysql" | "mariadb" => Some("general-public-license"),
        _ => None,
    }
}

/// Declares the backups.
pub(super) fn backups(writer: &mut Writer<'_>) {
    writer.unless("backups.retentionDays", 7);
    writer.declare(&["backups.window"]);
    writer.unless("backups.copyTagsToSnapshots", true);
}

/// Declares whether the storage is encrypted, and by which key.
pub(super) fn encryption(writer: &mut Writer<'_>) {
    writer.unless("storage.encrypted", true);
    if writer.value("storage.encrypted") == Some(Value::Bool(true)) {
        writer.declare(&["storage.kmsKey"]);
    }
}

/// Declares deletion protection where it is not what the environment makes of it.
pub(super) fn protection(writer: &mut Writer<'_>, around: &dyn Around) {
    let is_on = writer.value("deletionProtection") == Some(Value::Bool(true));
    if is_on != around.is_production() {
        writer.draft.sheet.put("deletionProtection", is_on);
    }
}

/// Declares Performance Insights and Enhanced Monitoring where they are on.
pub(super) fn insights(writer: &mut Writer<'_>, actual: &Observed) {
    if writer.value("performanceInsights.enabled") == Some(Value::Bool(true)) {
        writer.declare(&["performanceInsights.enabled"]);
        writer.unless("performanceInsights.retentionDays", 7);
        writer.declare(&["performanceInsights.kmsKey"]);
    }
    let interval = writer.value("monitoring.intervalSeconds").and_then(|it| it.as_u64());
    if interval.unwrap_or_default() > 0 {
        writer.declare(&["monitoring.intervalSeconds", "monitoring.roleArn"]);
        writer.draft.uses.extend(actual.text("MonitoringRoleArn").map(str::to_owned));
    }
    writer.draft.refers.extend(["monitoring.roleArn"]);
}

/// Says which groups it uses, and where it finds the name of its network.
pub(super) fn surroundings(writer: &mut Writer<'_>, actual: &Observed, subnet_group: &str) {
    if let Some(group) = actual.text(subnet_group) {
        let text = format!("db_subnet_group/{}", group.to_ascii_lowercase());
        writer.draft.objects.push(("network.vpcRef", text));
    }
    let groups = actual.member("VpcSecurityGroups").and_then(Value::as_array);
    let ids = groups.into_iter().flatten().filter_map(|it| it.get("VpcSecurityGroupId")?.as_str());
    let ids: Vec<String> = ids.map(str::to_owned).collect();
    if let [only] = ids.as_slice() {
        writer.draft.implied.push(("securityGroups", only.clone()));
    }
    writer.draft.uses.extend(ids);
    writer.draft.uses.extend(actual.text("MasterUserSecret.SecretArn").map(str::to_owned));
}

/// Says of both what the section has no field for.
pub(super) fn told(writer: &mut Writer<'_>, actual: &Observed) {
    let roles = actual.member("AssociatedRoles").and_then(Value::as_array).into_iter().flatten();
    let roles: Vec<String> =
        roles.filter_map(|role| Some(role.get("RoleArn")?.as_str()?.to_owned())).collect();
    for role in roles {
        let name = role.rsplit('/').next().unwrap_or_default();
        writer.remark(format!("that it uses the role {name} cannot be declared, and stays"));
        writer.draft.uses.push(role);
    }
    let kind = actual.text("NetworkType").filter(|kind| *kind != "IPV4");
    if let Some(kind) = kind {
        writer.remark(format!("its network type {kind} cannot be declared, and stays"));
    }
    if actual.text("AwsBackupRecoveryPointArn").is_some() {
        writer.remark("AWS Backup manages its backups, which stay as they are");
        writer.draft.sheet.remove("backups.retentionDays");
        writer.draft.sheet.remove("backups.window");
    }
}
