//! What a cluster is to be, and the resource of it.
//!
//! In: a [`Cluster`], as the `database` section of a manifest with an Aurora engine says it, and its
//! [`Placement`]. Out: a [`Resource`] whose fields are what is declared, and whose initial values are
//! the safe defaults of a new cluster.
//!
//! Invariants: what is `None` is not managed; nothing holds a password.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::model::desired::Field;
use crate::model::{Input, Offer, Refusal, Resource, ResourceId, Scope};

/// What a cluster offers to the texts of other resources. The password stays in its secret: what is
/// offered is the secret's ARN.
pub const OFFERS: &[Offer] = &[
    Offer::text("identifier", "DBClusterIdentifier"),
    Offer::text("arn", "DBClusterArn"),
    Offer::text("resourceId", "DbClusterResourceId"),
    Offer::text("endpoint", "Endpoint"),
    Offer::text("readerEndpoint", "ReaderEndpoint"),
    Offer::text("port", "Port"),
    Offer::text("databaseName", "DatabaseName"),
    Offer::text("masterUsername", "MasterUsername"),
    Offer::text("secretArn", "MasterUserSecret.SecretArn"),
];

/// Says what a cluster is to be.
#[derive(Debug, Clone, Default)]
pub struct Cluster<'a> {
    /// `aurora-postgresql` or `aurora-mysql`.
    pub engine: &'a str,
    /// The version, or the beginning of it.
    pub version: &'a str,
    /// The identifiers of the declared members; `None` where others are of no interest.
    pub members: Option<Vec<String>>,
    /// The range of Aurora Serverless v2, in Aurora capacity units.
    pub serverless: Option<Serverless>,
    /// `aurora` or `aurora-iopt1`.
    pub storage_type: Option<&'a str>,
    /// Whether the storage is encrypted.
    pub encrypted: Option<bool>,
    /// The key of the storage.
    pub kms_key: Option<&'a str>,
    /// Days for which backups are kept.
    pub retention_days: Option<u32>,
    /// The daily backup window.
    pub backup_window: Option<&'a str>,
    /// Whether snapshots get the tags of the cluster.
    pub copy_tags_to_snapshots: Option<bool>,
    /// Seconds by which Aurora MySQL can be taken back.
    pub backtrack_seconds: Option<u32>,
    /// The weekly maintenance window.
    pub maintenance_window: Option<&'a str>,
    /// Whether AWS refuses to delete the cluster.
    pub deletion_protection: Option<bool>,
    /// The ids of the security groups.
    pub security_groups: Option<&'a [String]>,
    /// The port.
    pub port: Option<u32>,
    /// The name of the database that is made with the cluster.
    pub database_name: Option<&'a str>,
    /// The name of the master user.
    pub master_username: Option<&'a str>,
    /// Whether RDS keeps the master password in Secrets Manager.
    pub manage_master_password: Option<bool>,
    /// Whether IAM users and roles may log in.
    pub iam_authentication: Option<bool>,
    /// Whether another major version may be declared.
    pub allow_major_version_upgrade: Option<bool>,
    /// The logs that are exported.
    pub log_exports: Option<&'a [String]>,
    /// The snapshot from which the cluster is made.
    pub snapshot: Option<&'a str>,
    /// The tags.
    pub tags: Option<&'a BTreeMap<String, String>>,
}

/// Says between how many Aurora capacity units a serverless member scales.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Serverless {
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// Idle seconds after which a member is paused.
    pub auto_pause_seconds: Option<u32>,
}

/// Says where a cluster lives, whose it is, and what it uses.
#[derive(Debug, Clone)]
pub struct Placement<'a> {
    /// The account and region.
    pub scope: &'a Scope,
    /// The identifier.
    pub identifier: &'a str,
    /// What is wrong with the identifier, if anything is.
    pub mistake: Option<String>,
    /// The value of the ownership tag.
    pub owner: &'a str,
    /// Whether an existing cluster without our tag is taken over.
    pub adopt: bool,
    /// Whether the environment is production: deletion protection is on at creation.
    pub production: bool,
    /// The name of the master user of a new cluster, where none is declared.
    pub default_username: &'static str,
    /// The name of the DB subnet group, if the workspace declares a network.
    pub subnet_group: Option<Input>,
    /// The security groups of a cluster that declares none.
    pub security_groups: Option<Input>,
    /// The name of the cluster parameter group.
    pub parameter_group: Option<Input>,
    /// The name of the members' parameter group, which an upgrade to another major version takes
    /// along.
    pub members_parameter_group: Option<Input>,
}

/// Makes the resource of a cluster.
pub fn resource(cluster: &Cluster<'_>, placement: Placement<'_>) -> Resource {
    let name = placement.identifier.to_ascii_lowercase();
    let initial = initial(&placement);
    Resource {
        id: ResourceId {
            kind: super::NAME,
            scope: placement.scope.clone(),
            name: name.as_str().into(),
        },
        section: Cow::Borrowed("database"),
        initial,
        owner: placement.owner.to_owned(),
        adopt: placement.adopt,
        notices: Vec::new(),
        refusals: placement.mistake.clone().map(invalid_identifier).into_iter().collect(),
        fields: fields(cluster, placement),
    }
}

fn invalid_identifier(message: String) -> Refusal {
    Refusal {
        field: "identifier".to_owned(),
        code: "InvalidIdentifier".to_owned(),
        message,
        help: "declare database.identifier".to_owned(),
    }
}

fn fields(cluster: &Cluster<'_>, placement: Placement<'_>) -> BTreeMap<Field, Input> {
    let known = values(cluster).into_iter().chain(serverless(cluster.serverless));
    let known = known.filter_map(|(field, value)| Some((field, Input::Known(value?))));
    let security_groups = placement.security_groups.filter(|_| cluster.security_groups.is_none());
    let inputs = [
        ("securityGroups", security_groups),
        ("subnetGroup", placement.subnet_group),
        ("cluster.parameterGroup", placement.parameter_group),
        ("parameterGroup", placement.members_parameter_group),
    ];
    let inputs = inputs.into_iter().filter_map(|(field, input)| Some((field, input?)));
    known.chain(inputs).map(|(field, input)| (Cow::Borrowed(field), input)).collect()
}

fn values(cluster: &Cluster<'_>) -> [(&'static str, Option<Value>); 22] {
    [
        ("engine", Some(json!(cluster.engine))),
        ("version", Some(json!(cluster.version))),
        ("cluster.members", cluster.members.as_ref().map(|it| json!(it))),
        ("storage.type", cluster.storage_type.map(Value::from)),
        ("storage.encrypted", cluster.encrypted.map(Value::from)),
        ("storage.kmsKey", cluster.kms_key.map(Value::from)),
        ("backups.retentionDays", cluster.retention_days.map(Value::from)),
        ("backups.window", cluster.backup_window.map(Value::from)),
        ("backups.copyTagsToSnapshots", cluster.copy_tags_to_snapshots.map(Value::from)),
        ("cluster.backtrackSeconds", cluster.backtrack_seconds.map(Value::from)),
        ("maintenanceWindow", cluster.maintenance_window.map(Value::from)),
        ("deletionProtection", cluster.deletion_protection.map(Value::from)),
        ("securityGroups", cluster.security_groups.map(|it| json!(it))),
        ("port", cluster.port.map(Value::from)),
        ("databaseName", cluster.database_name.map(Value::from)),
        ("masterUsername", cluster.master_username.map(Value::from)),
        ("manageMasterPassword", cluster.manage_master_password.map(Value::from)),
        ("iamAuthentication", cluster.iam_authentication.map(Value::from)),
        ("allowMajorVersionUpgrade", cluster.allow_major_version_upgrade.map(Value::from)),
        ("logExports", cluster.log_exports.map(|it| json!(it))),
        ("restoreFrom.snapshot", cluster.snapshot.map(Value::from)),
        ("tags", cluster.tags.map(|it| json!(it))),
    ]
}

fn serverless(range: Option<Serverless>) -> [(&'static str, Option<Value>); 3] {
    let pause = range.and_then(|range| range.auto_pause_seconds);
    [
        ("cluster.serverless.minCapacity", range.map(|range| range.min.into())),
        ("cluster.serverless.maxCapacity", range.map(|range| range.max.into())),
        ("cluster.serverless.autoPauseSeconds", pause.map(Value::from)),
    ]
}

/// The safe defaults of a new cluster, for what is not declared.
fn initial(placement: &Placement<'_>) -> BTreeMap<Field, Value> {
    [
        ("storage.encrypted", json!(true)),
        ("backups.retentionDays", json!(7)),
        ("backups.copyTagsToSnapshots", json!(true)),
        ("deletionProtection", json!(placement.production)),
        ("masterUsername", json!(placement.default_username)),
        ("manageMasterPassword", json!(true)),
    ]
    .into_iter()
    .map(|(field, value)| (Cow::Borrowed(field), value))
    .collect()
}
