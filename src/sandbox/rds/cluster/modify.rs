//! `ModifyDBCluster`: what is asked for, checked against the state, then done now or queued.
//!
//! Source: "Modifying an Amazon Aurora DB cluster" in the Aurora User Guide, whose table says of each
//! setting when its change takes effect.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::lifecycle::span;
use super::{Cluster, find, group, instances, no_cluster, range};
use crate::sandbox::args::Args;
use crate::sandbox::rds::{Laws, create as instance, engine, parameter_group, settings, time};
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::Site;

/// The parameters that are modelled.
pub(super) const ACCEPTS: &[&str] = &[
    "AllowMajorVersionUpgrade",
    "ApplyImmediately",
    "BacktrackWindow",
    "BackupRetentionPeriod",
    "CloudwatchLogsExportConfiguration",
    "CopyTagsToSnapshot",
    "DBClusterIdentifier",
    "DBClusterParameterGroupName",
    "DBInstanceParameterGroupName",
    "DeletionProtection",
    "EnableIAMDatabaseAuthentication",
    "EngineVersion",
    "ManageMasterUserPassword",
    "MasterUserPassword",
    "Port",
    "PreferredBackupWindow",
    "PreferredMaintenanceWindow",
    "ServerlessV2ScalingConfiguration",
    "StorageType",
    "VpcSecurityGroupIds",
];

/// Says when a change takes effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// With the answer.
    AtOnce,
    /// As soon as possible.
    Soon,
    /// In the maintenance window, unless `ApplyImmediately` is set.
    Window,
}

/// Parameter, the name under which it is kept, when it takes effect, and whether it is shown while
/// it is pending.
const CHANGES: &[(&str, &str, When, bool)] = &[
    ("BacktrackWindow", "BacktrackWindow", When::AtOnce, false),
    ("BackupRetentionPeriod", "BackupRetentionPeriod", When::AtOnce, true),
    ("CloudwatchLogsExportConfiguration", "PendingCloudwatchLogsExports", When::Soon, true),
    ("CopyTagsToSnapshot", "CopyTagsToSnapshot", When::AtOnce, false),
    ("DBClusterParameterGroupName", "DBClusterParameterGroupName", When::AtOnce, false),
    ("DeletionProtection", "DeletionProtection", When::AtOnce, false),
    ("EnableIAMDatabaseAuthentication", "IAMDatabaseAuthenticationEnabled", When::Window, true),
    ("EngineVersion", "EngineVersion", When::Window, true),
    ("ManageMasterUserPassword", "ManageMasterUserPassword", When::Soon, false),
    ("MasterUserPassword", "MasterUserPassword", When::Soon, true),
    ("Port", "Port", When::Soon, false),
    ("PreferredBackupWindow", "PreferredBackupWindow", When::AtOnce, false),
    ("PreferredMaintenanceWindow", "PreferredMaintenanceWindow", When::AtOnce, false),
    ("ServerlessV2ScalingConfiguration", "ServerlessV2ScalingConfiguration", When::AtOnce, false),
    ("StorageType", "StorageType", When::Soon, true),
    ("VpcSecurityGroupIds", "VpcSecurityGroupIds", When::AtOnce, false),
];

/// The member that says when I/O-optimised storage may be chosen next.
const NEXT_CHOICE: &str = "IOOptimizedNextAllowedModificationTime";
/// How long that takes ("Storage configurations for Amazon Aurora DB clusters").
const COOL_DOWN: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Tells whether `PendingModifiedValues` shows a key.
pub(super) fn is_shown(key: &str) -> bool {
    CHANGES.iter().any(|(_, known, _, shown)| *known == key && *shown)
}

/// Changes a cluster.
pub(super) fn modify(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = args.required("DBClusterIdentifier")?.to_lowercase();
    let now = site.now;
    let cluster = find(&mut site.state.rds, &name)?;
    let status = cluster.status(now);
    if status != "available" {
        let text = format!("DB cluster {name} is not in available state: {status}");
        return Err(Refusal::new("InvalidDBClusterStateFault", text));
    }
    let mut asked = Vec::new();
    for (parameter, key, when, _) in CHANGES.iter().filter(|(it, ..)| args.has(it)) {
        asked.push((*key, *when, value_of(site, args, &name, parameter)?));
    }
    if asked.is_empty() {
        return Err(Refusal::combination("No modifications were requested"));
    }
    commit(site, &name, asked, args.flag("ApplyImmediately")?)
}

fn value_of(
    site: &mut Site<'_>,
    args: Args<'_>,
    name: &str,
    parameter: &'static str,
) -> Result<Value, Refusal> {
    let given = args.get(parameter).cloned().unwrap_or(Value::Null);
    match parameter {
        "BackupRetentionPeriod" => {
            settings::check_range(parameter, args.integer(parameter)?.unwrap_or(0), 1, 35)?;
        }
        "Port" => {
            settings::check_range(parameter, args.integer(parameter)?.unwrap_or(0), 1150, 65535)?;
        }
        "PreferredBackupWindow" | "PreferredMaintenanceWindow" => {
            return Ok(json!(args.required(parameter)?.to_lowercase()));
        }
        "ServerlessV2ScalingConfiguration" => drop(range(args)?),
        "EngineVersion" => return version(site, args, name),
        "StorageType" => check_storage(site, args, name)?,
        "DBClusterParameterGroupName" => return parameters(site, args, name),
        "ManageMasterUserPassword" => return password(site, args, name),
        "MasterUserPassword" => {
            settings::check_password(args.required(parameter)?)?;
            return Ok(json!("****"));
        }
        "CloudwatchLogsExportConfiguration" => return logs(site, args, name),
        "VpcSecurityGroupIds" => {
            instance::check_security_groups(&args.texts(parameter)?.unwrap_or_default())?;
        }
        _ => {}
    }
    Ok(given)
}

fn target(site: &mut Site<'_>, args: Args<'_>, name: &str) -> Result<String, Refusal> {
    let now = site.now;
    let cluster = find(&mut site.state.rds, name)?;
    let (engine, current) = (cluster.engine, cluster.text("EngineVersion").to_owned());
    match args.text("EngineVersion")? {
        Some(asked) if engine.major_of(&current) == asked => Ok(current),
        Some(asked) => site.shared.catalog.resolve(engine, asked, now),
        None => Ok(current),
    }
}

fn version(site: &mut Site<'_>, args: Args<'_>, name: &str) -> Result<Value, Refusal> {
    let target = target(site, args, name)?;
    let cluster = find(&mut site.state.rds, name)?;
    let (engine, current) = (cluster.engine, cluster.text("EngineVersion").to_owned());
    let own_group = cluster.parameter_group.clone();
    if engine::order(&target) < engine::order(&current) {
        return Err(Refusal::combination(format!(
            "Cannot upgrade {} from {current} to {target}",
            engine.name
        )));
    }
    let busy = instances(&site.state.rds.instances, name)
        .find(|it| it.queued.contains_key("DBInstanceClass"))
        .map(|it| it.name.clone());
    if let Some(busy) = busy {
        return Err(Refusal::state(format!(
            "Instance {busy} has a pending orderable configuration change."
        )));
    }
    if engine.major_of(&current) == engine.major_of(&target) {
        return Ok(json!(target));
    }
    if !args.flag("AllowMajorVersionUpgrade")? {
        return Err(Refusal::combination(
            "The AllowMajorVersionUpgrade flag must be present when upgrading to a new major version.",
        ));
    }
    let is_custom = |group: &str| !group.starts_with("default.");
    let needs_group = instances(&site.state.rds.instances, name)
        .any(|it| is_custom(&it.parameter_group))
        && !args.has("DBInstanceParameterGroupName");
    if needs_group || (is_custom(&own_group) && !args.has("DBClusterParameterGroupName")) {
        return Err(Refusal::combination(
            "The current parameter groups are custom. You must explicitly specify new DB instance \
             and DB cluster parameter groups for the engine version upgrade.",
        ));
    }
    if let Some(group) = args.text("DBInstanceParameterGroupName")? {
        let group = parameter_group::usable(site, group, engine.family(&target))?;
        let all = site.state.rds.instances.values_mut();
        let own = all.filter(|it| super::member::cluster_of(it) == Some(name));
        own.for_each(|it| group.clone_into(&mut it.parameter_group));
    }
    Ok(json!(target))
}

fn check_storage(site: &mut Site<'_>, args: Args<'_>, name: &str) -> Result<(), Refusal> {
    let now = site.now;
    let cluster = find(&mut site.state.rds, name)?;
    let next = cluster.text(NEXT_CHOICE).parse::<Timestamp>().ok();
    match args.required("StorageType")? {
        "aurora" => Ok(()),
        "aurora-iopt1" if next.is_some_and(|next| now < next) => {
            Err(Refusal::combination("You can switch to aurora-iopt1 once every 30 days only."))
        }
        "aurora-iopt1" => {
            let next = time(now.checked_add(COOL_DOWN).unwrap_or(now));
            cluster.members.insert(NEXT_CHOICE.to_owned(), next);
            Ok(())
        }
        other => Err(Refusal::value(format!("Invalid storage type for Aurora: {other}"))),
    }
}

fn parameters(site: &mut Site<'_>, args: Args<'_>, name: &str) -> Result<Value, Refusal> {
    let target = target(site, args, name)?;
    let engine = find(&mut site.state.rds, name)?.engine;
    let asked = args.text("DBClusterParameterGroupName")?;
    group::usable(site, asked, engine, &target).map(Value::from)
}

fn password(site: &mut Site<'_>, args: Args<'_>, name: &str) -> Result<Value, Refusal> {
    let secret = find(&mut site.state.rds, name)?.secret.clone();
    match (settings::managed_password(args)? == Some(true), secret) {
        (true, Some(secret)) => Ok(secret),
        (true, None) => Ok(instance::new_secret(site, None)),
        (false, _) if args.has("MasterUserPassword") => Ok(Value::Null),
        (false, _) => Err(Refusal::combination(
            "You must specify MasterUserPassword when you turn ManageMasterUserPassword off.",
        )),
    }
}

fn logs(site: &mut Site<'_>, args: Args<'_>, name: &str) -> Result<Value, Refusal> {
    let engine = find(&mut site.state.rds, name)?.engine;
    let Some(wanted) = args.object("CloudwatchLogsExportConfiguration")? else {
        return Ok(Value::Null);
    };
    let mut logs = Map::new();
    for (parameter, member) in
        [("EnableLogTypes", "LogTypesToEnable"), ("DisableLogTypes", "LogTypesToDisable")]
    {
        let types = settings::log_types(engine, &wanted.texts(parameter)?.unwrap_or_default())?;
        if !types.is_empty() {
            logs.insert(member.to_owned(), json!(types));
        }
    }
    Ok(Value::Object(logs))
}

/// Puts into force what takes effect at once, starts what takes effect soon, queues the rest.
fn commit(
    site: &mut Site<'_>,
    name: &str,
    asked: Vec<(&'static str, When, Value)>,
    immediately: bool,
) -> Answer {
    let now = site.now;
    let laws = Laws { settings: site.settings, catalog: &site.shared.catalog };
    let rds = &mut site.state.rds;
    let cluster = rds.clusters.get_mut(name).ok_or_else(|| no_cluster(name))?;
    cluster.remember(now, &rds.instances);
    let mut soon = BTreeMap::new();
    for (key, when, value) in asked {
        if is_in_force(cluster, key, &value) {
            cluster.queued.remove(key);
            continue;
        }
        match when {
            When::AtOnce => cluster.land(key, value, &rds.instances),
            When::Soon => drop(soon.insert(key, value)),
            When::Window => drop(cluster.queued.insert(key, value)),
        }
    }
    if immediately {
        // Not only what this call asks for: everything that anybody queued before it, too.
        soon.append(&mut cluster.queued);
    }
    let lag = span(site.settings.durations.accepting);
    cluster.work(now + lag, soon, &mut rds.instances, laws);
    cluster.window_at = None;
    cluster.rearm(now, &rds.instances, laws);
    Ok(json!({"DBCluster": cluster.describe(now, &rds.instances)}))
}

fn is_in_force(cluster: &Cluster, key: &str, value: &Value) -> bool {
    match key {
        "MasterUserPassword" => false,
        "ManageMasterUserPassword" => cluster.secret.as_ref().unwrap_or(&Value::Null) == value,
        "PendingCloudwatchLogsExports" => value.as_object().is_none_or(Map::is_empty),
        "DBClusterParameterGroupName" => *value == cluster.parameter_group,
        "StorageType" => {
            let current = cluster.members.get(key).and_then(Value::as_str).unwrap_or("aurora");
            *value == current
        }
        _ => cluster.members.get(key) == Some(value),
    }
}
