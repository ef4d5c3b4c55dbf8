//! The `database` section of a manifest.
//!
//! In: the section of a manifest. Out: a [`Database`]; [`check`](super::check) finds what it alone
//! proves wrong, [`resource`](super::expand) makes the resource of it.
//!
//! Invariants: a field that is not declared is `None` and not managed; no field holds a password.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use super::check::{check, identifier_mistake};
pub use super::cluster::{Cluster, Member, Members, Serverless};
pub use super::engine::Engine;
pub use super::expand::{Placement, identifier, resource};
pub use super::member::{MemberPlacement, member_resource};
pub use super::offers::OFFERS;

/// Declares a relational database: one RDS DB instance or, with an Aurora engine, a cluster with its
/// members; and, where `parameters` are declared, its own parameter group.
///
/// A field that is left out is not managed: AWS's value, or one set by hand, stays. The defaults
/// named below are sent when the database is made and never compared afterwards.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Database {
    /// The engine, as RDS names it: `postgres`, `mysql`, `mariadb`, `oracle-ee`, `oracle-ee-cdb`,
    /// `oracle-se2`, `oracle-se2-cdb`, `sqlserver-ee`, `sqlserver-se`, `sqlserver-ex`,
    /// `sqlserver-web`, `sqlserver-dev-ee`, `db2-ae`, `db2-se` or `db2-ce`; for a cluster
    /// `aurora-postgresql` or `aurora-mysql`. It cannot be changed.
    pub engine: String,
    /// The engine's version, quoted: `"15"` follows the minor versions of 15, `"15.4"` is a lower
    /// bound within 15. A version that AWS has moved ahead is left alone; it cannot go back.
    pub version: String,
    /// The DB instance class, for example `db.r6g.large`. Changing it restarts the database. In a
    /// cluster it is the class of each member that names none, and they restart one after the other.
    pub size_class: String,
    /// The DB instance or DB cluster identifier: 1 to 63 letters, digits and hyphens, the first one a letter.
    /// Default: the name of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// Whether an existing DB instance of this name that has no ownership tag is taken over.
    /// Default `false`: it is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopt: bool,
    /// The cluster, for an Aurora engine only. Default: one with a single member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// The storage. Default: each of its fields by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<Storage>,
    /// Whether a standby runs in a second Availability Zone. AWS's default: `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_az: Option<bool>,
    /// The Availability Zone, for example `eu-west-1a`; not together with `multiAz: true`. It
    /// cannot be changed. Default: AWS chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub availability_zone: Option<String>,
    /// Automated backups. Default: each of its fields by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backups: Option<Backups>,
    /// The weekly maintenance window in UTC, `ddd:hh:mm-ddd:hh:mm`, at least 30 minutes and apart
    /// from the backup window. Default: AWS chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maintenance_window: Option<String>,
    /// Parameters of the database's own parameter group, by name: a value, or `{value, applyMethod}`,
    /// or `{reset: true}` for the engine's default. A parameter that is left out is not managed.
    /// RDS takes numbers without units, in the parameter's own unit. The group is called after the
    /// agent, the object and the engine's family, or as `parameterGroup` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<BTreeMap<String, Parameter>>,
    /// The name of a DB parameter group. Beside `parameters` it is that of the database's own group,
    /// for one that has another name already: it keeps its family, so an upgrade to another major
    /// version needs another name, or none, and it keeps its tags. Without them it is an existing group, which is not
    /// managed. Default: the engine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameter_group: Option<String>,
    /// The name of an existing option group, which is not managed. Default: the engine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub option_group: Option<String>,
    /// Whether AWS refuses to delete the database. Default: `true` in a production environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_protection: Option<bool>,
    /// Whether the database has a public address. Default `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub publicly_accessible: Option<bool>,
    /// Whether IAM users and roles may log in to the database. AWS's default: `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iam_authentication: Option<bool>,
    /// Whether AWS installs minor versions in the maintenance window. AWS's default: `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_minor_version_upgrade: Option<bool>,
    /// Whether `version` may name another major version than the one that runs. Default `false`:
    /// such a change is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allow_major_version_upgrade: Option<bool>,
    /// The certificate authority, for example `rds-ca-rsa2048-g1`. Changing it may restart the
    /// database; an older generation than the actual one is refused. Default: AWS chooses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_certificate: Option<String>,
    /// The TCP port, 1150 to 65535. Changing it restarts the database. Default: the engine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1150, max = 65535))]
    pub port: Option<u32>,
    /// The name of the database that is made with the instance. It cannot be changed. Default:
    /// the engine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub database_name: Option<String>,
    /// The name of the master user. It cannot be changed. Default: `postgres` for PostgreSQL,
    /// `admin` for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub master_username: Option<String>,
    /// Whether RDS makes the master password and keeps it in Secrets Manager. Passwords are never
    /// in Git, so `false` cannot be declared. Default: `true` when the database is made; declare
    /// `true` to demand it of an existing or restored one too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manage_master_password: Option<bool>,
    /// Performance Insights. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub performance_insights: Option<PerformanceInsights>,
    /// Enhanced Monitoring. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitoring: Option<Monitoring>,
    /// The logs that are exported to CloudWatch Logs, for example `[postgresql, upgrade]`. An
    /// empty list means none. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_exports: Option<Vec<String>>,
    /// The ids of the VPC security groups, or references to them; at least one. Groups that are
    /// attached beside them are detached at once. Default: the workspace's own group, and no other,
    /// where the network declares `ingress` or `egress`; elsewhere the VPC's default group, and not
    /// managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub security_groups: Option<Vec<String>>,
    /// The licence model: `license-included`, `bring-your-own-license`, `bring-your-own-media`,
    /// `general-public-license`, `postgresql-license` or `marketplace-license`. Default: the
    /// engine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license_model: Option<String>,
    /// Tags. Declared keys are enforced; keys that are not declared, or no longer, are left
    /// alone. Values may hold references, such as `${network.vpcId}`. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, String>>,
    /// Where the data comes from when the database is made. It has no effect on an existing one.
    /// Default: it starts empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore_from: Option<RestoreFrom>,
}

/// Declares the storage of a database.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Storage {
    /// The storage type: `gp2`, `gp3`, `io1`, `io2` or `standard`; of a cluster `aurora` or, for
    /// I/O-optimised, `aurora-iopt1`. Default `gp3`; of a cluster AWS's, `aurora`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The size in GiB. It can grow, never shrink; with `maxSizeGiB` it is a lower bound. Growth
    /// under a tenth is rounded up to a tenth by AWS. Default 20, or 100 for `io1` and `io2`.
    #[schemars(range(max = 65536))]
    #[serde(rename = "sizeGiB", skip_serializing_if = "Option::is_none")]
    pub size_gib: Option<u32>,
    /// The size in GiB up to which AWS may grow the storage by itself; more than a tenth above
    /// `sizeGiB`. The value of `sizeGiB` turns that off. Default: off.
    #[schemars(range(max = 65536))]
    #[serde(rename = "maxSizeGiB", skip_serializing_if = "Option::is_none")]
    pub max_size_gib: Option<u32>,
    /// Provisioned I/O operations a second, for `io1`, `io2` and large `gp3` storage. Needs `type`
    /// and `sizeGiB`. Default: AWS's for the type and size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<u32>,
    /// Provisioned throughput in MiB a second, for large `gp3` storage. Needs `type` and `sizeGiB`.
    /// Default: AWS's for the type and size.
    #[serde(rename = "throughputMiBps", skip_serializing_if = "Option::is_none")]
    pub throughput_mibps: Option<u32>,
    /// Whether the storage is encrypted. It cannot be changed. Default `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted: Option<bool>,
    /// The KMS key for the storage: an ARN, a key id (an alias cannot be compared) or a reference. It
    /// cannot be changed. Default: the account's key for RDS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kms_key: Option<String>,
}

/// Declares the automated backups of a database.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Backups {
    /// Days for which backups are kept, 0 to 35; 0 turns backups off, which a cluster does not allow.
    /// Default 7.
    #[schemars(range(min = 0, max = 35))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_days: Option<u32>,
    /// The daily backup window in UTC, `hh:mm-hh:mm`, at least 30 minutes. Default: AWS chooses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<String>,
    /// Whether snapshots get the tags of the database. Default `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub copy_tags_to_snapshots: Option<bool>,
}

/// Declares Performance Insights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PerformanceInsights {
    /// Whether it is on.
    pub enabled: bool,
    /// Days for which its data is kept: 7, a multiple of 31 up to 713, or 731. AWS's default: 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention_days: Option<u32>,
    /// The KMS key for its data: an ARN, a key id or a reference. It cannot be changed while it is
    /// on. Default: the account's key for RDS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kms_key: Option<String>,
}

/// Declares Enhanced Monitoring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Monitoring {
    /// Seconds between two measurements: 0 (off), 1, 5, 10, 15, 30 or 60.
    pub interval_seconds: u32,
    /// The ARN of the role that lets RDS write them to CloudWatch Logs, or a reference to it, such as
    /// `${iam.monitoring.arn}`; needed unless off. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_arn: Option<String>,
}

/// Says where the data of a new database comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RestoreFrom {
    /// The identifier or ARN of a DB snapshot; for a cluster that of a DB cluster snapshot, or the
    /// ARN of a DB snapshot.
    pub snapshot: String,
}

/// Declares one parameter of a parameter group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Parameter {
    /// The value as `true` or `false`.
    Flag(bool),
    /// The value as a whole number.
    Integer(i64),
    /// The value as a number with a fraction.
    Float(f64),
    /// The value as text.
    Text(String),
    /// The value, and more about it.
    Detailed(DetailedParameter),
}

/// Declares a parameter with more than its value.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct DetailedParameter {
    /// The value. Default: none, with `reset`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Scalar>,
    /// When AWS applies a change of the value; static parameters are always `pending-reboot`.
    /// Default: `immediate` for dynamic parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub apply_method: Option<ApplyMethod>,
    /// Whether the parameter is put back to the engine's default; then there is no `value`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub reset: bool,
}

/// Holds a value as text, number or flag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Scalar {
    /// `true` or `false`.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// Text.
    Text(String),
}

/// Says when AWS applies the change of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ApplyMethod {
    /// At once; dynamic parameters only.
    Immediate,
    /// With the next reboot.
    PendingReboot,
}

impl Parameter {
    /// Returns the parameter as the field value of a resource: its text, or an object with `value`
    /// and `applyMethod`, or with `reset`.
    pub fn to_field(&self) -> Value {
        match self {
            Self::Flag(value) => flag_text(*value).into(),
            Self::Integer(value) => value.to_string().into(),
            Self::Float(value) => value.to_string().into(),
            Self::Text(value) => value.as_str().into(),
            Self::Detailed(detailed) => detailed.to_field(),
        }
    }
}

impl DetailedParameter {
    fn to_field(&self) -> Value {
        if self.reset {
            return json!({ "reset": true });
        }
        let value = self.value.as_ref().map_or_else(String::new, Scalar::text);
        match self.apply_method {
            Some(method) => json!({ "value": value, "applyMethod": method }),
            None => value.into(),
        }
    }
}

impl Scalar {
    fn text(&self) -> String {
        match self {
            Self::Flag(value) => flag_text(*value).to_owned(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Text(value) => value.clone(),
        }
    }
}

/// RDS writes flags as `1` and `0` for PostgreSQL and MySQL.
fn flag_text(value: bool) -> &'static str {
    if value { "1" } else { "0" }
}

impl Database {
    /// Makes a database of which only the required fields are declared.
    pub fn new(engine: &str, version: &str, size_class: &str) -> Self {
        Self {
            engine: engine.to_owned(),
            version: version.to_owned(),
            size_class: size_class.to_owned(),
            identifier: None,
            adopt: false,
            cluster: None,
            storage: None,
            multi_az: None,
            availability_zone: None,
            backups: None,
            maintenance_window: None,
            parameters: None,
            parameter_group: None,
            option_group: None,
            deletion_protection: None,
            publicly_accessible: None,
            iam_authentication: None,
            auto_minor_version_upgrade: None,
            allow_major_version_upgrade: None,
            ca_certificate: None,
            port: None,
            database_name: None,
            master_username: None,
            manage_master_password: None,
            performance_insights: None,
            monitoring: None,
            log_exports: None,
            security_groups: None,
            license_model: None,
            tags: None,
            restore_from: None,
        }
    }

    /// Returns the DB parameter group family, or `None` where the version is too short to tell.
    pub fn family(&self) -> Option<String> {
        super::engine::family(&self.engine, &self.version)
    }

    /// Returns the TCP port on which it listens; `None` where the engine is not known.
    pub fn listens_on(&self) -> Option<u16> {
        match self.port {
            Some(port) => u16::try_from(port).ok(),
            None => super::engine::Engine::of(&self.engine).map(super::engine::Engine::port),
        }
    }

    /// Returns the declared parameters as the field value of a parameter group.
    pub fn parameter_fields(&self) -> Option<BTreeMap<String, Value>> {
        let declared = self.parameters.as_ref()?;
        Some(declared.iter().map(|(name, value)| (name.clone(), value.to_field())).collect())
    }
}
