//! From the `database` section to the resource that it asks for.
//!
//! In: a [`Database`] and its [`Placement`]. Out: a [`Resource`] whose fields are what is declared,
//! and whose initial values are the safe defaults of a new database.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::check::identifier_mistake;
use super::check_storage::{BASELINE_IOPS, BASELINE_MIBPS};
use super::engine::Engine;
use super::spec::{Backups, Database, Storage};
use crate::model::desired::Field;
use crate::model::{Input, Refusal, Resource, ResourceId, Scope};

/// Says where a database lives, whose it is, and what it uses.
#[derive(Debug, Clone)]
pub struct Placement<'a> {
    /// The account and region.
    pub scope: &'a Scope,
    /// The name of the object, from which the identifier is taken.
    pub name: &'a str,
    /// The value of the ownership tag.
    pub owner: &'a str,
    /// Whether the environment is production: deletion protection is on at creation.
    pub production: bool,
    /// The name of the DB subnet group, if the workspace declares a network.
    pub subnet_group: Option<Input>,
    /// The name of the parameter group made of `parameters`, if there are any.
    pub parameter_group: Option<Input>,
    /// The security groups of a database that declares none, if the workspace has one of its own.
    pub security_groups: Option<Input>,
}

/// Returns the DB instance identifier, in the spelling that AWS answers.
pub fn identifier(database: &Database, name: &str) -> String {
    database.identifier.as_deref().unwrap_or(name).to_ascii_lowercase()
}

/// Makes the resource of a database.
pub fn resource(database: &Database, placement: &Placement<'_>) -> Resource {
    let name = identifier(database, placement.name);
    let refusals = identifier_mistake(&name).map(invalid_identifier).into_iter().collect();
    Resource {
        id: ResourceId {
            kind: super::NAME,
            scope: placement.scope.clone(),
            name: name.as_str().into(),
        },
        section: Cow::Borrowed("database"),
        fields: fields(database, placement),
        initial: initial(database, placement.production),
        owner: placement.owner.to_owned(),
        adopt: database.adopt,
        notices: Vec::new(),
        refusals,
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

/// Collects fields that are declared.
#[derive(Default)]
pub(super) struct Fields(pub(super) BTreeMap<Field, Input>);

impl Fields {
    pub(super) fn put(&mut self, field: &'static str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.0.insert(Cow::Borrowed(field), Input::Known(value.into()));
        }
    }

    pub(super) fn text(&mut self, field: &'static str, value: Option<&String>) {
        self.put(field, value.map(String::as_str));
    }

    pub(super) fn input(&mut self, field: &'static str, input: Option<&Input>) {
        if let Some(input) = input {
            self.0.insert(Cow::Borrowed(field), input.clone());
        }
    }
}

fn fields(database: &Database, placement: &Placement<'_>) -> BTreeMap<Field, Input> {
    let mut fields = Fields::default();
    fields.text("engine", Some(&database.engine));
    fields.text("version", Some(&database.version));
    fields.text("sizeClass", Some(&database.size_class));
    if let Some(storage) = &database.storage {
        storage_fields(storage, database, &mut fields);
    }
    if let Some(backups) = &database.backups {
        backup_fields(backups, &mut fields);
    }
    placement_fields(database, placement, &mut fields);
    behaviour_fields(database, &mut fields);
    insight_fields(database, &mut fields);
    fields.0
}

/// gp3 storage under the threshold has fixed IOPS and throughput, which AWS refuses to be told:
/// declaring exactly those is the same as declaring nothing.
fn storage_fields(storage: &Storage, database: &Database, fields: &mut Fields) {
    let threshold = Engine::of(&database.engine).map_or(0, Engine::gp3_threshold);
    let is_gp3 = storage.kind.as_deref().is_some_and(|kind| kind.eq_ignore_ascii_case("gp3"));
    let fixed = is_gp3 && storage.size_gib.is_some_and(|size| size < threshold);
    fields.text("storage.type", storage.kind.as_ref());
    fields.put("storage.sizeGiB", storage.size_gib);
    fields.put("storage.maxSizeGiB", storage.max_size_gib);
    fields.put("storage.iops", storage.iops.filter(|n| !(fixed && *n == BASELINE_IOPS)));
    let throughput = storage.throughput_mibps.filter(|n| !(fixed && *n == BASELINE_MIBPS));
    fields.put("storage.throughputMiBps", throughput);
    fields.put("storage.encrypted", storage.encrypted);
    fields.text("storage.kmsKey", storage.kms_key.as_ref());
}

fn backup_fields(backups: &Backups, fields: &mut Fields) {
    fields.put("backups.retentionDays", backups.retention_days);
    fields.text("backups.window", backups.window.as_ref());
    fields.put("backups.copyTagsToSnapshots", backups.copy_tags_to_snapshots);
}

fn placement_fields(database: &Database, placement: &Placement<'_>, fields: &mut Fields) {
    fields.put("multiAz", database.multi_az);
    fields.text("availabilityZone", database.availability_zone.as_ref());
    fields.text("maintenanceWindow", database.maintenance_window.as_ref());
    fields.text("parameterGroup", database.parameter_group.as_ref());
    fields.input("parameterGroup", placement.parameter_group.as_ref());
    fields.text("optionGroup", database.option_group.as_ref());
    fields.input("subnetGroup", placement.subnet_group.as_ref());
    fields.input("securityGroups", placement.security_groups.as_ref());
    fields.put("securityGroups", database.security_groups.clone());
    fields.put("publiclyAccessible", database.publicly_accessible);
    fields.put("port", database.port);
    fields.put("logExports", database.log_exports.clone());
}

fn behaviour_fields(database: &Database, fields: &mut Fields) {
    fields.put("deletionProtection", database.deletion_protection);
    fields.put("iamAuthentication", database.iam_authentication);
    fields.put("autoMinorVersionUpgrade", database.auto_minor_version_upgrade);
    fields.put("allowMajorVersionUpgrade", database.allow_major_version_upgrade);
    fields.text("caCertificate", database.ca_certificate.as_ref());
    fields.text("databaseName", database.database_name.as_ref());
    fields.text("masterUsername", database.master_username.as_ref());
    fields.put("manageMasterPassword", database.manage_master_password);
    fields.text("licenseModel", database.license_model.as_ref());
    let from = database.restore_from.as_ref().map(|from| &from.snapshot);
    fields.text("restoreFrom.snapshot", from);
    fields.put("tags", database.tags.as_ref().map(|tags| json!(tags)));
}

pub(super) fn insight_fields(database: &Database, fields: &mut Fields) {
    if let Some(insights) = &database.performance_insights {
        fields.put("performanceInsights.enabled", Some(insights.enabled));
        fields.put("performanceInsights.retentionDays", insights.retention_days);
        fields.text("performanceInsights.kmsKey", insights.kms_key.as_ref());
    }
    if let Some(monitoring) = &database.monitoring {
        fields.put("monitoring.intervalSeconds", Some(monitoring.interval_seconds));
        fields.text("monitoring.roleArn", monitoring.role_arn.as_ref());
    }
}

/// The safe defaults of a new database, for what is not declared.
fn initial(database: &Database, production: bool) -> BTreeMap<Field, Value> {
    let kind = database.storage.as_ref().and_then(|storage| storage.kind.as_deref());
    let is_io = kind.is_some_and(|kind| kind.to_ascii_lowercase().starts_with("io"));
    let user = Engine::of(&database.engine).map_or("admin", Engine::master_username);
    [
        ("storage.type", json!("gp3")),
        ("storage.sizeGiB", json!(if is_io { 100 } else { 20 })),
        ("storage.encrypted", json!(true)),
        ("backups.retentionDays", json!(7)),
        ("backups.copyTagsToSnapshots", json!(true)),
        ("deletionProtection", json!(production)),
        ("publiclyAccessible", json!(false)),
        ("masterUsername", json!(user)),
        ("manageMasterPassword", json!(true)),
    ]
    .into_iter()
    .map(|(field, value)| (Cow::Borrowed(field), value))
    .collect()
}
