//! `ModifyDBInstance`: what is asked for, checked against the state, then done now or queued.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde_json::{Value, json};

use super::changes::{self, CHANGES, UPGRADE_GROUP, When};
use super::instance::Instance;
use super::storage::{Asked, Disk};
use super::{Laws, create, engine, identifier, parameter_group, settings, subnet_group};
use crate::sandbox::args::Args;
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::Site;

/// The parameters that are modelled.
pub(super) const ACCEPTS: &[&str] = &[
    "AllocatedStorage",
    "AllowMajorVersionUpgrade",
    "ApplyImmediately",
    "AutoMinorVersionUpgrade",
    "BackupRetentionPeriod",
    "CACertificateIdentifier",
    "CertificateRotationRestart",
    "CloudwatchLogsExportConfiguration",
    "CopyTagsToSnapshot",
    "DBInstanceClass",
    "DBInstanceIdentifier",
    "DBParameterGroupName",
    "DBPortNumber",
    "DBSubnetGroupName",
    "DatabaseInsightsMode",
    "DedicatedLogVolume",
    "DeletionProtection",
    "EnableIAMDatabaseAuthentication",
    "EnablePerformanceInsights",
    "EngineLifecycleSupport",
    "EngineVersion",
    "Iops",
    "LicenseModel",
    "ManageMasterUserPassword",
    "MasterUserPassword",
    "MasterUserSecretKmsKeyId",
    "MaxAllocatedStorage",
    "MonitoringInterval",
    "MonitoringRoleArn",
    "MultiAZ",
    "NewDBInstanceIdentifier",
    "PerformanceInsightsKMSKeyId",
    "PerformanceInsightsRetentionPeriod",
    "PreferredBackupWindow",
    "PreferredMaintenanceWindow",
    "PromotionTier",
    "PubliclyAccessible",
    "RotateMasterUserPassword",
    "StorageThroughput",
    "StorageType",
    "VpcSecurityGroupIds",
];

/// Settings by key, in the form in which they come into force.
type Values = BTreeMap<&'static str, Value>;

/// Changes an instance.
pub(super) fn modify(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = args.required("DBInstanceIdentifier")?.to_lowercase();
    let changes: Vec<_> = CHANGES.iter().filter(|change| args.has(change.parameter)).collect();
    if !site.state.rds.instances.contains_key(&name) {
        return Err(super::no_instance(&name));
    }
    if changes.is_empty() {
        return Err(Refusal::combination("No modifications were requested"));
    }
    super::cluster::member::check_changes(site.state.rds.instance(&name)?, &changes)?;
    let storage = changes.iter().any(|change| changes::is_storage(change.key));
    check_state(site, &name, storage, changes.len())?;
    let mut asked = Values::new();
    for change in changes {
        if changes::is_storage(change.key) {
            continue;
        }
        let value = value_of(site, args, &name, change.parameter)?;
        asked.insert(change.key, value);
    }
    if storage {
        asked.extend(storage_values(site.state.rds.instance(&name)?, args)?);
    }
    check_together(site, args, &name, &mut asked)?;
    commit(site, &name, asked, args.flag("ApplyImmediately")?)
}

fn check_state(
    site: &mut Site<'_>,
    name: &str,
    storage: bool,
    count: usize,
) -> Result<(), Refusal> {
    let now = site.now;
    let instance = site.state.rds.instance(name)?;
    let status = instance.status(now);
    let fits = match status {
        "available" | "storage-optimization" => true,
        // A full disk can be grown, and nothing else.
        "storage-full" => storage && count == 1,
        _ => false,
    };
    if !fits {
        return Err(Refusal::state(format!(
            "Database instance {name} is not in available state: {status}"
        )));
    }
    if storage && instance.locked_until.is_some_and(|until| now < until) {
        return Err(Refusal::combination(
            "You can't currently modify the storage of this DB instance because the previous \
             storage change is being optimized.",
        ));
    }
    Ok(())
}

/// Checks one parameter and turns it into the form that comes into force.
fn value_of(
    site: &mut Site<'_>,
    args: Args<'_>,
    name: &str,
    parameter: &'static str,
) -> Result<Value, Refusal> {
    let given = args.get(parameter).cloned().unwrap_or(Value::Null);
    match parameter {
        "DBInstanceClass" => settings::check_class(args.required(parameter)?)?,
        "CACertificateIdentifier" => settings::check_authority(args.required(parameter)?)?,
        "BackupRetentionPeriod" => check_number(args, parameter, 0, 35)?,
        "DBPortNumber" => check_number(args, parameter, 1150, 65535)?,
        "PerformanceInsightsRetentionPeriod" => {
            settings::check_insights(args.integer(parameter)?.unwrap_or(7))?;
        }
        "PerformanceInsightsKMSKeyId" => return key_value(site, args, name),
        "MasterUserPassword" => {
            settings::check_password(args.required(parameter)?)?;
            return Ok(json!("****"));
        }
        "ManageMasterUserPassword" => return managed_value(site, args, name),
        "RotateMasterUserPassword" => check_rotation(site, args, name)?,
        "PreferredBackupWindow" | "PreferredMaintenanceWindow" => {
            return Ok(json!(args.required(parameter)?.to_lowercase()));
        }
        "NewDBInstanceIdentifier" => return new_name(site, args),
        "DBParameterGroupName" => return group_value(site, args, name),
        "DBSubnetGroupName" => {
            return Ok(json!(subnet_group::existing(site, args.required(parameter)?)?));
        }
        "VpcSecurityGroupIds" => {
            create::check_security_groups(&args.texts(parameter)?.unwrap_or_default())?;
        }
        "EngineVersion" => return version_value(site, args, name),
        "CloudwatchLogsExportConfiguration" => return logs_value(site, args, name),
        "MaxAllocatedStorage" | "MonitoringInterval" => drop(args.integer(parameter)?),
        "MonitoringRoleArn"
        | "LicenseModel"
        | "DatabaseInsightsMode"
        | "EngineLifecycleSupport" => {
            args.required(parameter)?;
        }
        _ => drop(args.boolean(parameter)?),
    }
    Ok(given)
}

fn check_number(args: Args<'_>, parameter: &str, low: i64, high: i64) -> Result<(), Refusal> {
    settings::check_range(parameter, args.integer(parameter)?.unwrap_or(low), low, high)
}

fn key_value(site: &mut Site<'_>, args: Args<'_>, name: &str) -> Result<Value, Refusal> {
    let arn = settings::key_arn(site, args.required("PerformanceInsightsKMSKeyId")?);
    let instance = site.state.rds.instance(name)?;
    let current = instance.text("PerformanceInsightsKMSKeyId");
    if instance.flag("PerformanceInsightsEnabled") && current != arn {
        return Err(Refusal::combination(
            "You can't change your Performance Insights KMS key once it has been set.",
        ));
    }
    Ok(json!(arn))
}

fn managed_value(site: &mut Site<'_>, args: Args<'_>, name: &str) -> Result<Value, Refusal> {
    let managed = settings::managed_password(args)? == Some(true);
    let secret = site.state.rds.instance(name)?.secret.clone();
    match (managed, secret) {
        (true, Some(secret)) => Ok(secret),
        (true, None) => Ok(create::new_secret(site, args.text("MasterUserSecretKmsKeyId")?)),
        (false, Some(_)) if !args.has("MasterUserPassword") => Err(Refusal::combination(
            "You must specify MasterUserPassword when you turn ManageMasterUserPassword off.",
        )),
        (false, _) => Ok(Value::Null),
    }
}

fn check_rotation(site: &mut Site<'_>, args: Args<'_>, name: &str) -> Result<(), Refusal> {
    let managed = site.state.rds.instance(name)?.secret.is_some();
    if managed && args.flag("ApplyImmediately")? {
        return Ok(());
    }
    Err(Refusal::combination(
        "RotateMasterUserPassword takes a managed master password and ApplyImmediately.",
    ))
}

fn new_name(site: &mut Site<'_>, args: Args<'_>) -> Result<Value, Refusal> {
    let name = identifier(args.required("NewDBInstanceIdentifier")?, 63)?;
    if site.state.rds.instances.contains_key(&name) {
        return Err(Refusal::new("DBInstanceAlreadyExists", "DB instance already exists"));
    }
    Ok(json!(name))
}

fn group_value(site: &mut Site<'_>, args: Args<'_>, name: &str) -> Result<Value, Refusal> {
    let now = site.now;
    let instance = site.state.rds.instance(name)?;
    let (engine, version) = (instance.engine, instance.text("EngineVersion").to_owned());
    // With an upgrade, the group has to fit the version that the instance is going to have.
    let version = match args.text("EngineVersion")? {
        Some(asked) => site.shared.catalog.resolve(engine, asked, now)?,
        None => version,
    };
    let group = args.required("DBParameterGroupName")?;
    parameter_group::usable(site, group, engine.family(&version)).map(Value::from)
}

fn version_value(site: &mut Site<'_>, args: Args<'_>, name: &str) -> Result<Value, Refusal> {
    let now = site.now;
    let instance = site.state.rds.instance(name)?;
    let asked = args.required("EngineVersion")?;
    let (engine, current) = (instance.engine, instance.text("EngineVersion"));
    let is_major = engine.major_of(current) == asked;
    let target = site.shared.catalog.resolve(engine, asked, now)?;
    let (from, to) = (engine::order(current), engine::order(&target));
    if to == from || (is_major && to < from) {
        return Ok(json!(current));
    }
    if to < from {
        return Err(Refusal::combination(format!(
            "Cannot upgrade {} from {current} to {target}",
            engine.name
        )));
    }
    if engine.major_of(current) != engine.major_of(&target) {
        if !args.flag("AllowMajorVersionUpgrade")? {
            return Err(Refusal::combination(
                "The AllowMajorVersionUpgrade flag must be present when upgrading to a new major version.",
            ));
        }
        let group = &instance.parameter_group;
        if !group.starts_with("default.") && !args.has("DBParameterGroupName") {
            return Err(Refusal::combination(format!(
                "The current DB instance parameter group {group} is custom. You must explicitly specify a \
                 new DB parameter group, either default or custom, for the engine version upgrade."
            )));
        }
    }
    Ok(json!(target))
}

fn logs_value(site: &mut Site<'_>, args: Args<'_>, name: &str) -> Result<Value, Refusal> {
    let engine = site.state.rds.instance(name)?.engine;
    let Some(wanted) = args.object("CloudwatchLogsExportConfiguration")? else {
        return Ok(Value::Null);
    };
    let mut logs = serde_json::Map::new();
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

/// Turns the storage parameters into what differs from the disk in force and from what is queued.
fn storage_values(instance: &Instance, args: Args<'_>) -> Result<Values, Refusal> {
    let disk = instance.disk();
    let wanted: Disk = disk.change(instance.engine, Asked::read(args)?)?;
    let mut values = wanted.differences(&disk);
    // A value that is asked for as it is takes back one that is queued.
    for key in ["AllocatedStorage", "Iops", "StorageThroughput", "StorageType"] {
        if args.has(key) {
            values.entry(key).or_insert_with(|| instance.current(key));
        }
    }
    Ok(values)
}

/// Checks what single parameters cannot know of each other.
fn check_together(
    site: &mut Site<'_>,
    args: Args<'_>,
    name: &str,
    asked: &mut Values,
) -> Result<(), Refusal> {
    let instance = site.state.rds.instance(name)?;
    let text = |key: &str| match asked.get(key).and_then(Value::as_str) {
        Some(new) => new.to_owned(),
        None => instance.text(key).to_owned(),
    };
    settings::check_windows(&text("PreferredBackupWindow"), &text("PreferredMaintenanceWindow"))?;
    if asked.contains_key("MonitoringInterval") || asked.contains_key("MonitoringRoleArn") {
        let interval =
            args.integer("MonitoringInterval")?.or(instance.number("MonitoringInterval"));
        let role = text("MonitoringRoleArn");
        let role = Some(role.as_str()).filter(|role| !role.is_empty() && interval != Some(0));
        settings::check_monitoring(interval.unwrap_or(0), role)?;
    }
    if let Some(ceiling) = args.integer("MaxAllocatedStorage")? {
        let size = asked.get("AllocatedStorage").and_then(Value::as_i64);
        let size = size.or(instance.number("AllocatedStorage")).unwrap_or_default();
        if ceiling < size {
            return Err(Refusal::combination(format!(
                "Max storage size must not be less than storage size: {ceiling}"
            )));
        }
    }
    if args.has("MasterUserPassword")
        && instance.secret.is_some()
        && !args.has("ManageMasterUserPassword")
    {
        return Err(Refusal::combination(
            "You can't specify MasterUserPassword for an instance whose password is managed in Secrets Manager.",
        ));
    }
    move_group(instance, asked);
    Ok(())
}

/// With an upgrade to another major version, the parameter group changes together with it.
fn move_group(instance: &Instance, asked: &mut Values) {
    let target = asked.get("EngineVersion").and_then(Value::as_str).unwrap_or_default();
    let engine = instance.engine;
    let leaps = engine.major_of(target) != engine.major_of(instance.text("EngineVersion"));
    if !target.is_empty()
        && leaps
        && let Some(group) = asked.remove("DBParameterGroupName")
    {
        asked.insert(UPGRADE_GROUP, group);
    }
}

/// Puts into force what takes effect at once, starts what takes effect soon, queues the rest.
fn commit(site: &mut Site<'_>, name: &str, asked: Values, immediately: bool) -> Answer {
    let now = site.now;
    let laws = Laws { settings: site.settings, catalog: &site.shared.catalog };
    let groups = &site.state.rds.subnet_groups;
    let instance =
        site.state.rds.instances.get_mut(name).ok_or_else(|| super::no_instance(name))?;
    instance.remember(now, groups);
    let mut soon = Values::new();
    for (key, value) in asked {
        if is_in_force(instance, key, &value) {
            instance.queued.remove(key);
            continue;
        }
        match when(instance, key, &value) {
            When::AtOnce => instance.land(key, value, now, laws),
            When::Soon => drop(soon.insert(key, value)),
            When::Window | When::Retention => drop(instance.queued.insert(key, value)),
        }
    }
    if immediately {
        // Not only what this call asks for: everything that anybody queued before it, too.
        soon.append(&mut instance.queued);
    }
    let lag = SignedDuration::try_from(site.settings.durations.accepting).unwrap_or_default();
    instance.work(now + lag, soon, laws);
    instance.rearm(now, laws);
    Ok(json!({"DBInstance": instance.describe(now, groups)}))
}

fn is_in_force(instance: &Instance, key: &str, value: &Value) -> bool {
    let current = instance.current(key);
    match key {
        "MasterUserPassword" | "RotateMasterUserPassword" => false,
        "ManageMasterUserPassword" => instance.secret.as_ref().unwrap_or(&Value::Null) == value,
        "PendingCloudwatchLogsExports" => value.as_object().is_none_or(serde_json::Map::is_empty),
        // Absent means that there is no ceiling.
        "MaxAllocatedStorage" if current.is_null() => {
            value.as_i64() <= instance.number("AllocatedStorage")
        }
        _ => current == *value,
    }
}

fn when(instance: &Instance, key: &str, value: &Value) -> When {
    match changes::by_key(key).map_or(When::Window, |change| change.when) {
        When::Retention => {
            let was_on = instance.number("BackupRetentionPeriod").is_some_and(|days| days > 0);
            if was_on && *value != 0 { When::Soon } else { When::Window }
        }
        when => when,
    }
}
