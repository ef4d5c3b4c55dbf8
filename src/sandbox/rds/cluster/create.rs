//! `CreateDBCluster`: checks, defaults, and the cluster that begins to exist.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value, json};

use super::lifecycle::{Job, span};
use super::{Cluster, group, range, security_groups};
use crate::sandbox::args::{Args, missing};
use crate::sandbox::rds::engine::{self, Engine};
use crate::sandbox::rds::{create as instance, identifier, settings, subnet_group, tags};
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::Site;
use crate::sandbox::sts;

/// The parameters that are modelled.
pub(super) const ACCEPTS: &[&str] = &[
    "BacktrackWindow",
    "BackupRetentionPeriod",
    "CopyTagsToSnapshot",
    "DBClusterIdentifier",
    "DBClusterParameterGroupName",
    "DBSubnetGroupName",
    "DatabaseName",
    "DeletionProtection",
    "EnableCloudwatchLogsExports",
    "EnableIAMDatabaseAuthentication",
    "Engine",
    "EngineVersion",
    "KmsKeyId",
    "ManageMasterUserPassword",
    "MasterUserPassword",
    "MasterUsername",
    "Port",
    "PreferredBackupWindow",
    "PreferredMaintenanceWindow",
    "ServerlessV2ScalingConfiguration",
    "StorageEncrypted",
    "StorageType",
    "Tags",
    "VpcSecurityGroupIds",
];

/// Makes a cluster without instances.
pub(super) fn create(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = identifier(args.required("DBClusterIdentifier")?, 63)?;
    let engine = aurora(args.required("Engine")?)?;
    if site.state.rds.clusters.contains_key(&name) {
        let text = "DB Cluster already exists";
        return Err(Refusal::new("DBClusterAlreadyExistsFault", text));
    }
    let catalog = &site.shared.catalog;
    let version = match args.text("EngineVersion")? {
        Some(asked) => catalog.resolve(engine, asked, site.now)?,
        None => catalog.default_version(engine, site.now).to_owned(),
    };
    let parameter_group =
        group::usable(site, args.text("DBClusterParameterGroupName")?, engine, &version)?;
    let subnet_group = match args.text("DBSubnetGroupName")? {
        Some(name) => subnet_group::existing(site, name)?,
        None => subnet_group::ensure_default(site)?,
    };
    let mut members = settled(site, args, engine, version)?;
    place(site, args, &subnet_group, &mut members)?;
    protect(site, args, &mut members)?;
    keep(site, args, engine, &mut members)?;
    let tags = args.tags()?;
    tags::check_count(tags.len())?;
    let secret = match settings::managed_password(args)? {
        Some(true) => Some(instance::new_secret(site, None)),
        _ => None,
    };
    let cluster = begin(site, (name.clone(), engine), members, (parameter_group, subnet_group));
    let cluster = Cluster { tags, secret, ..cluster };
    let described = cluster.describe(site.now, &site.state.rds.instances);
    site.state.rds.clusters.insert(name, cluster);
    Ok(json!({"DBCluster": described}))
}

/// What a new cluster has whatever is asked for, and its version and port.
fn settled(
    site: &mut Site<'_>,
    args: Args<'_>,
    engine: &'static Engine,
    version: String,
) -> Result<Map<String, Value>, Refusal> {
    let id = format!("cluster-{}", sts::letters(site.random, 26));
    let members = [
        ("Engine", json!(engine.name)),
        ("EngineVersion", json!(version)),
        ("EngineMode", json!("provisioned")),
        ("AllocatedStorage", json!(1)),
        ("MultiAZ", json!(false)),
        ("HttpEndpointEnabled", json!(false)),
        ("Port", json!(args.integer("Port")?.unwrap_or(engine.port))),
        ("HostedZoneId", json!("Z29XKXDKYMONMX")),
        ("DbClusterResourceId", json!(id)),
    ];
    Ok(members.into_iter().map(|(member, value)| (member.to_owned(), value)).collect())
}

/// Makes a cluster that begins to exist.
fn begin(
    site: &mut Site<'_>,
    (name, engine): (String, &'static Engine),
    members: Map<String, Value>,
    (parameter_group, subnet_group): (String, String),
) -> Cluster {
    let region = &site.scope.region;
    let letters = sts::letters(site.random, 12).to_lowercase();
    let creating = Job {
        status: "creating",
        starts: site.now,
        ends: site.now + span(site.settings.durations.modifying),
        lands: BTreeMap::new(),
    };
    Cluster {
        arn: site.rds_arn("cluster", &name),
        host: format!("{letters}.{region}.rds.amazonaws.com"),
        name,
        engine,
        members,
        tags: BTreeMap::new(),
        born: false,
        gone: false,
        jobs: VecDeque::from([creating]),
        queued: BTreeMap::new(),
        window_at: None,
        parameter_group,
        subnet_group,
        secret: None,
        writer: None,
        stale: BTreeSet::new(),
        before: Some((site.now, None)),
    }
}

fn aurora(name: &str) -> Result<&'static Engine, Refusal> {
    engine::find(name).ok().filter(|engine| engine.is_aurora()).ok_or_else(|| {
        Refusal::value(format!("The engine {name} of a DB cluster is not modelled here."))
    })
}

fn place(
    site: &mut Site<'_>,
    args: Args<'_>,
    subnet_group: &str,
    members: &mut Map<String, Value>,
) -> Result<(), Refusal> {
    let (vpc, zones) = subnet_group::reach(site, subnet_group)?;
    let fallback = || site.state.ec2.default_group(&vpc).map(str::to_owned).into_iter().collect();
    let groups = args.texts("VpcSecurityGroupIds")?.unwrap_or_else(fallback);
    instance::check_security_groups(&groups)?;
    members.insert("VpcSecurityGroups".to_owned(), security_groups(&groups));
    members.insert("AvailabilityZones".to_owned(), json!(zones));
    Ok(())
}

/// Settles users, passwords, encryption and protection.
fn protect(
    site: &mut Site<'_>,
    args: Args<'_>,
    members: &mut Map<String, Value>,
) -> Result<(), Refusal> {
    let user = args.text("MasterUsername")?.ok_or_else(|| missing("MasterUsername"))?;
    if settings::managed_password(args)? != Some(true) {
        let password = args.text("MasterUserPassword")?.ok_or_else(|| {
            Refusal::combination("MasterUserPassword is needed unless RDS manages the password.")
        })?;
        settings::check_password(password)?;
    }
    members.insert("MasterUsername".to_owned(), json!(user));
    if let Some(name) = args.text("DatabaseName")? {
        members.insert("DatabaseName".to_owned(), json!(name));
    }
    let encrypted = args.flag("StorageEncrypted")?;
    members.insert("StorageEncrypted".to_owned(), json!(encrypted));
    if encrypted {
        let key = args.text("KmsKeyId")?;
        let arn =
            key.map_or_else(|| settings::default_key(site, "rds"), |k| settings::key_arn(site, k));
        members.insert("KmsKeyId".to_owned(), json!(arn));
    }
    for (member, parameter) in [
        ("DeletionProtection", "DeletionProtection"),
        ("IAMDatabaseAuthenticationEnabled", "EnableIAMDatabaseAuthentication"),
        ("CopyTagsToSnapshot", "CopyTagsToSnapshot"),
    ] {
        members.insert(member.to_owned(), json!(args.flag(parameter)?));
    }
    Ok(())
}

/// Settles storage, backups, maintenance, capacity and exported logs.
fn keep(
    site: &mut Site<'_>,
    args: Args<'_>,
    engine: &'static Engine,
    members: &mut Map<String, Value>,
) -> Result<(), Refusal> {
    let days = args.integer("BackupRetentionPeriod")?.unwrap_or(1);
    settings::check_range("BackupRetentionPeriod", days, 1, 35)?;
    members.insert("BackupRetentionPeriod".to_owned(), json!(days));
    let given = |member| args.text(member).map(|text| text.map(str::to_lowercase));
    let (backup, weekly) = (given("PreferredBackupWindow")?, given("PreferredMaintenanceWindow")?);
    let (backup, weekly) =
        settings::choose_windows(site.random, &site.scope.region, backup, weekly);
    settings::check_windows(&backup, &weekly)?;
    members.insert("PreferredBackupWindow".to_owned(), json!(backup));
    members.insert("PreferredMaintenanceWindow".to_owned(), json!(weekly));
    // AWS does not say the type of standard storage.
    if let Some(kind) = args.text("StorageType")?.filter(|kind| *kind != "aurora") {
        if kind != "aurora-iopt1" {
            return Err(Refusal::value(format!("Invalid storage type for Aurora: {kind}")));
        }
        members.insert("StorageType".to_owned(), json!(kind));
    }
    if let Some(seconds) = args.integer("BacktrackWindow")? {
        members.insert("BacktrackWindow".to_owned(), json!(seconds));
    }
    if let Some(range) = range(args)? {
        members.insert("ServerlessV2ScalingConfiguration".to_owned(), range);
    }
    if let Some(logs) = args.texts("EnableCloudwatchLogsExports")?.filter(|logs| !logs.is_empty()) {
        let logs = settings::log_types(engine, &logs)?;
        members.insert("EnabledCloudwatchLogsExports".to_owned(), json!(logs));
    }
    Ok(())
}
