//! What is particular to an instance in a cluster: how it is made, and what it may not change.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{Cluster, find, instances, no_cluster};
use crate::sandbox::args::Args;
use crate::sandbox::rds::changes::Change;
use crate::sandbox::rds::create::{self as instance, Draft};
use crate::sandbox::rds::instance::{Instance, default_group};
use crate::sandbox::rds::lifecycle::End;
use crate::sandbox::rds::{Laws, identifier, parameter_group, settings, subnet_group};
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::Site;
use crate::sandbox::sts;

/// What may be asked of an instance in a cluster; everything else is the cluster's.
const OWN: &[&str] = &[
    "AutoMinorVersionUpgrade",
    "AvailabilityZone",
    "CACertificateIdentifier",
    "DBClusterIdentifier",
    "DBInstanceClass",
    "DBInstanceIdentifier",
    "DBParameterGroupName",
    "DatabaseInsightsMode",
    "EnablePerformanceInsights",
    "Engine",
    "MonitoringInterval",
    "MonitoringRoleArn",
    "NewDBInstanceIdentifier",
    "PerformanceInsightsKMSKeyId",
    "PerformanceInsightsRetentionPeriod",
    "PreferredMaintenanceWindow",
    "PromotionTier",
    "PubliclyAccessible",
    "Tags",
];

/// The member of an instance that names its cluster.
const CLUSTER: &str = "DBClusterIdentifier";

/// Returns the cluster that an instance is in.
pub(in crate::sandbox) fn cluster_of(instance: &Instance) -> Option<&str> {
    instance.members.get(CLUSTER).and_then(Value::as_str)
}

/// Refuses what belongs to the cluster.
fn refuse_foreign<'p>(mut parameters: impl Iterator<Item = &'p str>) -> Result<(), Refusal> {
    match parameters.find(|parameter| !OWN.contains(parameter)) {
        Some(parameter) => Err(Refusal::combination(format!(
            "The requested DB Instance will be a member of a DB Cluster. Set {parameter} for the DB \
             Cluster."
        ))),
        None => Ok(()),
    }
}

/// Refuses to change in a member what belongs to its cluster.
pub(in crate::sandbox::rds) fn check_changes(
    instance: &Instance,
    changes: &[&Change],
) -> Result<(), Refusal> {
    if cluster_of(instance).is_none() {
        return Ok(());
    }
    refuse_foreign(changes.iter().map(|change| change.parameter))
}

/// Makes an instance in a cluster.
pub(in crate::sandbox) fn create(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    refuse_foreign(args.iter().map(|(name, _)| name))?;
    let name = identifier(args.required("DBInstanceIdentifier")?, 63)?;
    let class = args.required("DBInstanceClass")?;
    if site.state.rds.instances.contains_key(&name) {
        return Err(Refusal::new("DBInstanceAlreadyExists", "DB instance already exists"));
    }
    let cluster = find(&mut site.state.rds, args.required(CLUSTER)?)?;
    let is_serverless = class == "db.serverless";
    if is_serverless && !cluster.members.contains_key("ServerlessV2ScalingConfiguration") {
        return Err(Refusal::combination(
            "Set the Serverless v2 scaling configuration on the parent DB cluster before creating a \
             Serverless v2 DB instance.",
        ));
    }
    if !is_serverless {
        settings::check_class(class)?;
    }
    let (engine, version) = (cluster.engine, cluster.text("EngineVersion").to_owned());
    if !args.required("Engine")?.eq_ignore_ascii_case(engine.name) {
        let text = "The engine name requested for your DB instance doesn't match the engine name of your DB cluster.";
        return Err(Refusal::combination(text));
    }
    let (parent, group) = (cluster.name.clone(), cluster.subnet_group.clone());
    let members = inherited(cluster);
    let parameter_group = match args.text("DBParameterGroupName")? {
        Some(group) => parameter_group::usable(site, group, engine.family(&version))?,
        None => default_group(engine, &version),
    };
    parameter_group::ensure_default(site, &parameter_group);
    let mut draft = Draft { name, engine, version, parameter_group, subnet_group: group, members };
    draft.set("DBInstanceClass", class);
    draft.set("PromotionTier", args.integer("PromotionTier")?.unwrap_or(1));
    draft.set("DbiResourceId", format!("db-{}", sts::letters(site.random, 26)));
    settle(site, args, &parent, &mut draft)?;
    instance::observe(site, args, &mut draft)?;
    let port = site.state.rds.clusters.get(&parent).map(|it| it.members["Port"].clone());
    let mut made = instance::make(site, args, draft)?;
    made.port = port.and_then(|port| port.as_i64()).unwrap_or(made.port);
    let rds = &mut site.state.rds;
    let described = made.describe(site.now, &rds.subnet_groups);
    rds.instances.insert(made.name.clone(), made);
    if let Some(cluster) = rds.clusters.get_mut(&parent) {
        cluster.choose_writer(&rds.instances, None);
    }
    Ok(json!({"DBInstance": described}))
}

/// What the answer for an instance says of its cluster.
fn inherited(cluster: &Cluster) -> Map<String, Value> {
    let mut members = Map::new();
    for member in ["Engine", "EngineVersion", "MasterUsername", "StorageEncrypted", "KmsKeyId"] {
        if let Some(value) = cluster.members.get(member) {
            members.insert(member.to_owned(), value.clone());
        }
    }
    members.insert(CLUSTER.to_owned(), json!(cluster.name));
    members.insert("StorageType".to_owned(), json!("aurora"));
    members.insert("AllocatedStorage".to_owned(), json!(1));
    members.insert("LicenseModel".to_owned(), json!(cluster.engine.license));
    members.insert("MultiAZ".to_owned(), json!(false));
    members
}

/// Settles zone, windows, certificate and the other settings of an instance of its own.
fn settle(
    site: &mut Site<'_>,
    args: Args<'_>,
    parent: &str,
    draft: &mut Draft,
) -> Result<(), Refusal> {
    let (_, zones) = subnet_group::reach(site, &draft.subnet_group)?;
    let taken = instances(&site.state.rds.instances, parent).count();
    let zone = match args.text("AvailabilityZone")? {
        Some(zone) if !zones.iter().any(|known| known == zone) => {
            let text = format!("The DB subnet group has no subnet in {zone}");
            return Err(Refusal::new("InvalidVPCNetworkStateFault", text));
        }
        Some(zone) => zone.to_owned(),
        None => zones[taken % zones.len()].clone(),
    };
    draft.set("AvailabilityZone", zone);
    let public = args.flag("PubliclyAccessible")?;
    draft.set("PubliclyAccessible", public);
    let minor = args.boolean("AutoMinorVersionUpgrade")?.unwrap_or(true);
    draft.set("AutoMinorVersionUpgrade", minor);
    let authority = args.text("CACertificateIdentifier")?.unwrap_or("rds-ca-rsa2048-g1");
    settings::check_authority(authority)?;
    draft.set("CACertificateIdentifier", authority);
    let cluster = site.state.rds.clusters.get(parent).ok_or_else(|| no_cluster(parent))?;
    let backup = cluster.text("PreferredBackupWindow").to_owned();
    let groups = cluster.members.get("VpcSecurityGroups").cloned().unwrap_or_default();
    let weekly = args.text("PreferredMaintenanceWindow")?.map(str::to_lowercase);
    let region = &site.scope.region;
    let (backup, weekly) = settings::choose_windows(site.random, region, Some(backup), weekly);
    settings::check_windows(&backup, &weekly)?;
    draft.set("PreferredBackupWindow", backup);
    draft.set("PreferredMaintenanceWindow", weekly);
    draft.set("VpcSecurityGroups", groups);
    Ok(())
}

/// Upgrades the instances of a cluster together with it.
pub(super) fn upgrade(
    cluster: &Cluster,
    at: jiff::Timestamp,
    version: &Value,
    all: &mut BTreeMap<String, Instance>,
    laws: Laws<'_>,
) {
    let takes = laws.settings.durations.upgrading;
    for instance in all.values_mut().filter(|it| cluster_of(it) == Some(&cluster.name)) {
        let lands = BTreeMap::from([("EngineVersion", version.clone())]);
        instance.push(at, ("upgrading", takes), lands, End::Restarted, laws);
    }
}

/// Notes what became of an instance of a cluster: a writer that goes, or restarts with another
/// class, leaves its place to a reader, and a restart puts the cluster's parameters into force.
pub(in crate::sandbox) fn note(
    cluster: &mut Cluster,
    all: &BTreeMap<String, Instance>,
    (name, class_changed, restarted): (&str, bool, bool),
) {
    if restarted {
        cluster.stale.remove(name);
    }
    let leaves = (class_changed && cluster.writer.as_deref() == Some(name)).then_some(name);
    cluster.choose_writer(all, leaves);
}
