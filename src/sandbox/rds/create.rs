//! `CreateDBInstance`: checks, defaults, and the instance that begins to exist.

use std::collections::{BTreeMap, VecDeque};

use rand::RngExt;
use serde_json::{Map, Value, json};

use super::cluster::member;
use super::engine::{self, Engine};
use super::instance::{Instance, Rest, default_group};
use super::lifecycle::End;
use super::storage::{Asked, Disk};
use super::{Laws, identifier, parameter_group, settings, subnet_group, tags};
use crate::sandbox::args::{Args, missing};
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::Site;
use crate::sandbox::{ec2, sts};

/// The parameters that are modelled.
pub(super) const ACCEPTS: &[&str] = &[
    "AllocatedStorage",
    "AutoMinorVersionUpgrade",
    "AvailabilityZone",
    "BackupRetentionPeriod",
    "CACertificateIdentifier",
    "CopyTagsToSnapshot",
    "DBClusterIdentifier",
    "DBInstanceClass",
    "DBInstanceIdentifier",
    "DBName",
    "DBParameterGroupName",
    "DBSubnetGroupName",
    "DatabaseInsightsMode",
    "DedicatedLogVolume",
    "DeletionProtection",
    "EnableCloudwatchLogsExports",
    "EnableIAMDatabaseAuthentication",
    "EnablePerformanceInsights",
    "Engine",
    "EngineLifecycleSupport",
    "EngineVersion",
    "Iops",
    "KmsKeyId",
    "LicenseModel",
    "ManageMasterUserPassword",
    "MasterUserPassword",
    "MasterUserSecretKmsKeyId",
    "MasterUsername",
    "MaxAllocatedStorage",
    "MonitoringInterval",
    "MonitoringRoleArn",
    "MultiAZ",
    "NetworkType",
    "PerformanceInsightsKMSKeyId",
    "PerformanceInsightsRetentionPeriod",
    "Port",
    "PreferredBackupWindow",
    "PreferredMaintenanceWindow",
    "PromotionTier",
    "PubliclyAccessible",
    "StorageEncrypted",
    "StorageThroughput",
    "StorageType",
    "Tags",
    "VpcSecurityGroupIds",
];

/// Describes what a create call settles before the instance is made.
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) engine: &'static Engine,
    pub(super) version: String,
    pub(super) parameter_group: String,
    pub(super) subnet_group: String,
    pub(super) members: Map<String, Value>,
}

impl Draft {
    pub(super) fn set(&mut self, member: &str, value: impl Into<Value>) {
        self.members.insert(member.to_owned(), value.into());
    }
}

/// Makes an instance.
pub(super) fn create(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    if args.has("DBClusterIdentifier") {
        return member::create(site, args);
    }
    let mut draft = begin(site, args)?;
    place(site, args, &mut draft)?;
    store(args, &mut draft)?;
    protect(site, args, &mut draft)?;
    keep(site, args, &mut draft)?;
    observe(site, args, &mut draft)?;
    let instance = make(site, args, draft)?;
    let described = instance.describe(site.now, &site.state.rds.subnet_groups);
    site.state.rds.instances.insert(instance.name.clone(), instance);
    Ok(json!({"DBInstance": described}))
}

fn begin(site: &mut Site<'_>, args: Args<'_>) -> Result<Draft, Refusal> {
    let name = identifier(args.required("DBInstanceIdentifier")?, 63)?;
    let class = args.required("DBInstanceClass")?;
    let engine = engine::find(args.required("Engine")?)?;
    settings::check_class(class)?;
    if engine.is_aurora() {
        return Err(Refusal::combination("The engine requires a DB cluster: DBClusterIdentifier."));
    }
    if site.state.rds.instances.contains_key(&name) {
        return Err(Refusal::new("DBInstanceAlreadyExists", "DB instance already exists"));
    }
    let catalog = &site.shared.catalog;
    let version = match args.text("EngineVersion")? {
        Some(asked) => catalog.resolve(engine, asked, site.now)?,
        None => catalog.default_version(engine, site.now).to_owned(),
    };
    let parameter_group = match args.text("DBParameterGroupName")? {
        Some(group) => parameter_group::usable(site, group, engine.family(&version))?,
        None => default_group(engine, &version),
    };
    parameter_group::ensure_default(site, &parameter_group);
    let members = Map::new();
    let subnet_group = String::new();
    let mut draft = Draft { name, engine, version, parameter_group, subnet_group, members };
    draft.set("DBInstanceClass", class);
    draft.set("Engine", engine.name);
    draft.set("EngineVersion", draft.version.clone());
    draft.set("LicenseModel", args.text("LicenseModel")?.unwrap_or(engine.license));
    draft.set("DbiResourceId", format!("db-{}", sts::letters(site.random, 26)));
    Ok(draft)
}

/// Settles where the instance lives: subnets, zones, security groups, port.
fn place(site: &mut Site<'_>, args: Args<'_>, draft: &mut Draft) -> Result<(), Refusal> {
    draft.subnet_group = match args.text("DBSubnetGroupName")? {
        Some(name) => subnet_group::existing(site, name)?,
        None => subnet_group::ensure_default(site)?,
    };
    let (vpc, zones) = subnet_group::reach(site, &draft.subnet_group)?;
    let multi = args.flag("MultiAZ")?;
    let zone = match args.text("AvailabilityZone")? {
        Some(_) if multi => {
            return Err(Refusal::combination(
                "Requesting a specific availability zone is not valid for Multi-AZ instances.",
            ));
        }
        Some(zone) if !zones.iter().any(|known| known == zone) => {
            return Err(Refusal::new(
                "InvalidVPCNetworkStateFault",
                format!("The DB subnet group has no subnet in the availability zone {zone}"),
            ));
        }
        Some(zone) => zone.to_owned(),
        None => zones[site.random.random_range(0..zones.len())].clone(),
    };
    draft.set("MultiAZ", multi);
    if multi {
        let standby = zones.iter().find(|other| **other != zone).cloned();
        draft.set("SecondaryAvailabilityZone", standby);
    }
    draft.set("AvailabilityZone", zone);
    let fallback = || site.state.ec2.default_group(&vpc).map(str::to_owned).into_iter().collect();
    let groups = args.texts("VpcSecurityGroupIds")?.unwrap_or_else(fallback);
    check_security_groups(&groups)?;
    draft.set("VpcSecurityGroups", settings::memberships(&groups));
    draft.set("DBSecurityGroups", json!([]));
    let public = args.boolean("PubliclyAccessible")?.unwrap_or(draft.subnet_group == "default");
    draft.set("PubliclyAccessible", public);
    draft.set("NetworkType", args.text("NetworkType")?.unwrap_or("IPV4"));
    draft.set("DbInstancePort", 0);
    Ok(())
}

/// Checks the form of security group ids; whether there are such groups is not looked at.
pub(super) fn check_security_groups(ids: &[String]) -> Result<(), Refusal> {
    match ids.iter().find(|id| !id.starts_with("sg-")) {
        Some(id) => {
            Err(Refusal::value(format!("Invalid security group , groupId= {id}, groupName=.")))
        }
        None => Ok(()),
    }
}

fn store(args: Args<'_>, draft: &mut Draft) -> Result<(), Refusal> {
    let disk = Disk::create(draft.engine, Asked::read(args)?)?;
    if let Some(ceiling) = args.integer("MaxAllocatedStorage")? {
        if ceiling <= disk.size {
            return Err(Refusal::combination(format!(
                "Max storage size must be greater than storage size: {ceiling}"
            )));
        }
        draft.set("MaxAllocatedStorage", ceiling);
    }
    draft.set("StorageType", disk.kind);
    draft.set("AllocatedStorage", disk.size);
    if let Some(iops) = disk.iops {
        draft.set("Iops", iops);
    }
    if let Some(throughput) = disk.throughput {
        draft.set("StorageThroughput", throughput);
    }
    draft.set("DedicatedLogVolume", args.flag("DedicatedLogVolume")?);
    Ok(())
}

/// Settles users, passwords, encryption and protection.
fn protect(site: &mut Site<'_>, args: Args<'_>, draft: &mut Draft) -> Result<(), Refusal> {
    let user = args.text("MasterUsername")?.ok_or_else(|| missing("MasterUsername"))?;
    let good = user.starts_with(|c: char| c.is_ascii_alphabetic())
        && user.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && user.len() <= 63;
    if !good {
        return Err(Refusal::value(format!("MasterUsername {user} is not a valid user name")));
    }
    if draft.engine.reserved.contains(&user) {
        return Err(Refusal::value(format!(
            "MasterUsername {user} cannot be used as it is a reserved word used by the engine"
        )));
    }
    draft.set("MasterUsername", user);
    if settings::managed_password(args)? != Some(true) {
        let password = args.text("MasterUserPassword")?.ok_or_else(|| {
            Refusal::combination(
                "The parameter MasterUserPassword must be provided unless ManageMasterUserPassword is enabled.",
            )
        })?;
        settings::check_password(password)?;
    }
    if let Some(name) = args.text("DBName")? {
        draft.set("DBName", name);
    }
    let encrypted = args.flag("StorageEncrypted")?;
    let key = args.text("KmsKeyId")?;
    if key.is_some() && !encrypted {
        return Err(Refusal::combination("KmsKeyId can be given only with StorageEncrypted."));
    }
    draft.set("StorageEncrypted", encrypted);
    draft.set("StorageEncryptionType", if encrypted { "sse-kms" } else { "none" });
    if encrypted {
        let arn =
            key.map_or_else(|| settings::default_key(site, "rds"), |k| settings::key_arn(site, k));
        draft.set("KmsKeyId", arn);
    }
    draft.set("DeletionProtection", args.flag("DeletionProtection")?);
    let iam = args.flag("EnableIAMDatabaseAuthentication")?;
    draft.set("IAMDatabaseAuthenticationEnabled", iam);
    let authority = args.text("CACertificateIdentifier")?.unwrap_or("rds-ca-rsa2048-g1");
    settings::check_authority(authority)?;
    draft.set("CACertificateIdentifier", authority);
    Ok(())
}

/// Settles backups and maintenance.
fn keep(site: &mut Site<'_>, args: Args<'_>, draft: &mut Draft) -> Result<(), Refusal> {
    let days = args.integer("BackupRetentionPeriod")?.unwrap_or(1);
    settings::check_range("BackupRetentionPeriod", days, 0, 35)?;
    draft.set("BackupRetentionPeriod", days);
    let given = |member| args.text(member).map(|text| text.map(str::to_lowercase));
    let (backup, maintenance) =
        (given("PreferredBackupWindow")?, given("PreferredMaintenanceWindow")?);
    let (backup, maintenance) =
        settings::choose_windows(site.random, &site.scope.region, backup, maintenance);
    settings::check_windows(&backup, &maintenance)?;
    draft.set("PreferredBackupWindow", backup);
    draft.set("PreferredMaintenanceWindow", maintenance);
    let minor = args.boolean("AutoMinorVersionUpgrade")?.unwrap_or(true);
    draft.set("AutoMinorVersionUpgrade", minor);
    draft.set("CopyTagsToSnapshot", args.flag("CopyTagsToSnapshot")?);
    draft.set("BackupTarget", "region");
    draft.set("ReadReplicaDBInstanceIdentifiers", json!([]));
    draft.set("AssociatedRoles", json!([]));
    draft.set("DomainMemberships", json!([]));
    let support = args.text("EngineLifecycleSupport")?;
    draft.set("EngineLifecycleSupport", support.unwrap_or("open-source-rds-extended-support"));
    let options = draft.engine.option_group(&draft.version);
    draft.set("OptionGroupMemberships", json!([{"OptionGroupName": options, "Status": "in-sync"}]));
    Ok(())
}

/// Settles monitoring, insights and exported logs.
pub(super) fn observe(
    site: &mut Site<'_>,
    args: Args<'_>,
    draft: &mut Draft,
) -> Result<(), Refusal> {
    let interval = args.integer("MonitoringInterval")?.unwrap_or(0);
    let role = args.text("MonitoringRoleArn")?;
    settings::check_monitoring(interval, role)?;
    draft.set("MonitoringInterval", interval);
    if let Some(role) = role {
        draft.set("MonitoringRoleArn", role);
    }
    let insights = args.flag("EnablePerformanceInsights")?;
    draft.set("PerformanceInsightsEnabled", insights);
    let asked =
        args.has("PerformanceInsightsRetentionPeriod") || args.has("PerformanceInsightsKMSKeyId");
    if asked && !insights {
        return Err(Refusal::combination(
            "Performance Insights must be enabled to set its retention period or key.",
        ));
    }
    if insights {
        let days = args.integer("PerformanceInsightsRetentionPeriod")?.unwrap_or(7);
        settings::check_insights(days)?;
        draft.set("PerformanceInsightsRetentionPeriod", days);
        let key = args.text("PerformanceInsightsKMSKeyId")?;
        let arn =
            key.map_or_else(|| settings::default_key(site, "rds"), |k| settings::key_arn(site, k));
        draft.set("PerformanceInsightsKMSKeyId", arn);
    }
    draft.set("DatabaseInsightsMode", args.text("DatabaseInsightsMode")?.unwrap_or("standard"));
    if let Some(logs) = args.texts("EnableCloudwatchLogsExports")?.filter(|logs| !logs.is_empty()) {
        let logs = settings::log_types(draft.engine, &logs)?;
        draft.set("EnabledCloudwatchLogsExports", logs);
    }
    Ok(())
}

pub(super) fn make(site: &mut Site<'_>, args: Args<'_>, draft: Draft) -> Result<Instance, Refusal> {
    let port = args.integer("Port")?.unwrap_or(draft.engine.port);
    settings::check_range("Port", port, 1150, 65535)?;
    let tags = args.tags()?;
    tags::check_count(tags.len())?;
    let secret = match args.flag("ManageMasterUserPassword")? {
        true => Some(new_secret(site, args.text("MasterUserSecretKmsKeyId")?)),
        false => None,
    };
    let region = &site.scope.region;
    let mut instance = Instance {
        arn: site.rds_arn("db", &draft.name),
        host: format!(
            "{}.{region}.rds.amazonaws.com",
            sts::letters(site.random, 12).to_lowercase()
        ),
        name: draft.name,
        engine: draft.engine,
        members: draft.members,
        tags,
        port,
        born: false,
        gone: false,
        rest: Rest::Available,
        jobs: VecDeque::new(),
        queued: BTreeMap::new(),
        window_at: None,
        backup_at: None,
        restart_at: None,
        optimizing: None,
        locked_until: None,
        parameter_group: draft.parameter_group,
        parameter_status: "in-sync",
        parameter_settles: None,
        subnet_group: draft.subnet_group,
        secret,
        restarts: 0,
        clock: site.now,
        salt: site.random.random(),
        before: Some((site.now, None)),
    };
    let laws = Laws { settings: site.settings, catalog: &site.shared.catalog };
    let durations = &site.settings.durations;
    let mut lands = BTreeMap::new();
    if args.has("MasterUserPassword") {
        lands.insert("MasterUserPassword", json!("****"));
    }
    instance.push(site.now, ("creating", durations.creating), lands, End::Born, laws);
    if instance.number("BackupRetentionPeriod") > Some(0) {
        let backup = ("backing-up", durations.backing_up);
        instance.push(site.now, backup, BTreeMap::new(), End::Nothing, laws);
    }
    Ok(instance)
}

/// Makes the secret that holds a managed master password; the secret itself is not modelled.
pub(super) fn new_secret(site: &mut Site<'_>, key: Option<&str>) -> Value {
    let id = ec2::id(site.random, "db");
    let tail = sts::letters(site.random, 6);
    let place = format!("{}:{}", site.scope.region, site.scope.account);
    let key = key.map_or_else(
        || settings::default_key(site, "secretsmanager"),
        |k| settings::key_arn(site, k),
    );
    json!({
        "SecretArn": format!("arn:aws:secretsmanager:{place}:secret:rds!{id}-{tail}"),
        "SecretStatus": "active",
        "KmsKeyId": key,
    })
}
