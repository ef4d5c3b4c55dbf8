//! One DB instance: what is kept of it, how it is described, and the reads.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::changes;
use super::cluster::member::cluster_of;
use super::engine::Engine;
use super::lifecycle::Job;
use super::storage::Disk;
use super::subnet_group::SubnetGroup;
use super::{actions, create, modify, no_instance, time};
use crate::model::Window;
use crate::sandbox::args::Args;
use crate::sandbox::page;
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};

/// The operations on instances.
pub(in crate::sandbox) const OPERATIONS: &[Operation] = &[
    Operation {
        service: "rds",
        name: "DescribeDBInstances",
        accepts: &["DBInstanceIdentifier", "Filters", "MaxRecords", "Marker"],
        run: describe_all,
    },
    Operation {
        service: "rds",
        name: "CreateDBInstance",
        accepts: create::ACCEPTS,
        run: create::create,
    },
    Operation {
        service: "rds",
        name: "ModifyDBInstance",
        accepts: modify::ACCEPTS,
        run: modify::modify,
    },
    Operation {
        service: "rds",
        name: "DeleteDBInstance",
        accepts: &[
            "DBInstanceIdentifier",
            "SkipFinalSnapshot",
            "FinalDBSnapshotIdentifier",
            "DeleteAutomatedBackups",
        ],
        run: actions::delete,
    },
    Operation {
        service: "rds",
        name: "RebootDBInstance",
        accepts: &["DBInstanceIdentifier", "ForceFailover"],
        run: actions::reboot,
    },
    Operation {
        service: "rds",
        name: "StopDBInstance",
        accepts: &["DBInstanceIdentifier"],
        run: actions::stop,
    },
    Operation {
        service: "rds",
        name: "StartDBInstance",
        accepts: &["DBInstanceIdentifier"],
        run: actions::start,
    },
];

/// What an instance is when nothing is being done to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sandbox) enum Rest {
    Available,
    StorageFull,
    Stopped,
}

/// Holds one instance.
#[derive(Debug)]
pub(in crate::sandbox) struct Instance {
    pub(in crate::sandbox) name: String,
    pub(in crate::sandbox) engine: &'static Engine,
    /// The settings in force, as they are described.
    pub(in crate::sandbox) members: Map<String, Value>,
    pub(in crate::sandbox) tags: BTreeMap<String, String>,
    pub(in crate::sandbox) arn: String,
    pub(in crate::sandbox) host: String,
    pub(in crate::sandbox) port: i64,
    /// True once it has been available, and so has an endpoint.
    pub(in crate::sandbox) born: bool,
    /// True once it is deleted.
    pub(in crate::sandbox) gone: bool,
    pub(in crate::sandbox) rest: Rest,
    /// What is being done to it, in order.
    pub(in crate::sandbox) jobs: VecDeque<Job>,
    /// What waits for the maintenance window.
    pub(in crate::sandbox) queued: BTreeMap<&'static str, Value>,
    pub(in crate::sandbox) window_at: Option<Timestamp>,
    pub(in crate::sandbox) backup_at: Option<Timestamp>,
    pub(in crate::sandbox) restart_at: Option<Timestamp>,
    /// From when to when the storage is being optimised.
    pub(in crate::sandbox) optimizing: Option<(Timestamp, Timestamp)>,
    /// Until when the storage takes no further change.
    pub(in crate::sandbox) locked_until: Option<Timestamp>,
    pub(in crate::sandbox) parameter_group: String,
    pub(in crate::sandbox) parameter_status: &'static str,
    /// When the parameters have been applied, and what their status is then.
    pub(in crate::sandbox) parameter_settles: Option<(Timestamp, &'static str)>,
    pub(in crate::sandbox) subnet_group: String,
    pub(in crate::sandbox) secret: Option<Value>,
    /// How often it has restarted.
    pub(in crate::sandbox) restarts: u32,
    /// The time of the last event.
    pub(in crate::sandbox) clock: Timestamp,
    /// Makes durations vary, but not with how often anybody looks.
    pub(in crate::sandbox) salt: u64,
    /// When the last write came, and what was described before it (nothing before the creation).
    pub(in crate::sandbox) before: Option<(Timestamp, Option<Value>)>,
}

impl Instance {
    /// Tells whether it carries a security group.
    pub(in crate::sandbox) fn is_in_group(&self, id: &str) -> bool {
        let groups = self.members.get("VpcSecurityGroups").and_then(Value::as_array);
        groups.into_iter().flatten().any(|group| group["VpcSecurityGroupId"] == id)
    }

    /// Returns the status at a time.
    pub(in crate::sandbox) fn status(&self, now: Timestamp) -> &'static str {
        if let Some(job) = self.jobs.front().filter(|job| job.starts <= now) {
            return job.status;
        }
        match self.rest {
            Rest::Stopped => "stopped",
            Rest::StorageFull => "storage-full",
            Rest::Available if self.optimizing.is_some_and(|(_, end)| now < end) => {
                "storage-optimization"
            }
            Rest::Available => "available",
        }
    }

    /// Returns a setting in force, as text.
    pub(in crate::sandbox) fn text(&self, member: &str) -> &str {
        self.members.get(member).and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns a setting in force, as a number.
    pub(in crate::sandbox) fn number(&self, member: &str) -> Option<i64> {
        self.members.get(member).and_then(Value::as_i64)
    }

    /// Returns a setting in force, as a truth value.
    pub(in crate::sandbox) fn flag(&self, member: &str) -> bool {
        self.members.get(member).and_then(Value::as_bool).unwrap_or(false)
    }

    /// Returns the maintenance window.
    pub(in crate::sandbox) fn window(&self) -> Option<Window> {
        Window::weekly(self.text("PreferredMaintenanceWindow"))
    }

    /// Returns the disk in force.
    pub(super) fn disk(&self) -> Disk {
        Disk {
            kind: self.text("StorageType").to_owned(),
            size: self.number("AllocatedStorage").unwrap_or_default(),
            iops: self.number("Iops"),
            throughput: self.number("StorageThroughput"),
        }
    }

    /// Returns the value of a key as it is in force.
    pub(super) fn current(&self, key: &str) -> Value {
        match key {
            "Port" => json!(self.port),
            "DBSubnetGroupName" => json!(self.subnet_group),
            "DBParameterGroupName" => json!(self.parameter_group),
            "DBInstanceIdentifier" => json!(self.name),
            "ManageMasterUserPassword" => json!(self.secret.is_some()),
            "VpcSecurityGroupIds" => {
                let groups = self.members.get("VpcSecurityGroups").and_then(Value::as_array);
                groups.into_iter().flatten().map(|g| g["VpcSecurityGroupId"].clone()).collect()
            }
            _ => self.members.get(key).cloned().unwrap_or(Value::Null),
        }
    }

    /// Remembers what is described now, for stale reads of the write that follows.
    pub(in crate::sandbox) fn remember(
        &mut self,
        now: Timestamp,
        groups: &BTreeMap<String, SubnetGroup>,
    ) {
        self.before = Some((now, Some(self.describe(now, groups))));
    }

    /// Describes the instance as a read sees it that knows nothing from `stale` on.
    pub(in crate::sandbox) fn seen(
        &self,
        now: Timestamp,
        stale: Option<Timestamp>,
        groups: &BTreeMap<String, SubnetGroup>,
    ) -> Option<Value> {
        match (&self.before, stale) {
            (Some((written, before)), Some(stale)) if *written >= stale => before.clone(),
            _ => Some(self.describe(now, groups)),
        }
    }

    /// Describes the instance at a time.
    pub(in crate::sandbox) fn describe(
        &self,
        now: Timestamp,
        groups: &BTreeMap<String, SubnetGroup>,
    ) -> Value {
        let mut all = self.members.clone();
        let mut set = |member: &str, value: Value| all.insert(member.to_owned(), value);
        set("DBInstanceIdentifier", json!(self.name));
        set("DBInstanceArn", json!(self.arn));
        set("DBInstanceStatus", json!(self.status(now)));
        set("PendingModifiedValues", Value::Object(self.pending()));
        set(
            "DBParameterGroups",
            json!([{
                "DBParameterGroupName": self.parameter_group,
                "ParameterApplyStatus": self.parameter_status,
            }]),
        );
        if let Some(group) = groups.get(&self.subnet_group) {
            let mut described = group.describe(&self.subnet_group);
            if let Some(members) = described.as_object_mut() {
                members.remove("DBSubnetGroupArn");
                members.remove("SupportedNetworkTypes");
            }
            set("DBSubnetGroup", described);
        }
        let tag = |(key, value): (&String, &String)| json!({"Key": key, "Value": value});
        set("TagList", self.tags.iter().map(tag).collect());
        if self.born {
            let zone = "Z29XKXDKYMONMX";
            let address = format!("{}.{}", self.name, self.host);
            let endpoint = json!({"Address": address, "Port": self.port, "HostedZoneId": zone});
            set("Endpoint", endpoint);
        }
        self.describe_state(now, &mut all);
        Value::Object(all)
    }

    fn describe_state(&self, now: Timestamp, all: &mut Map<String, Value>) {
        if let Some(secret) = &self.secret {
            let mut secret = secret.clone();
            secret["SecretStatus"] = json!(if self.born { "active" } else { "creating" });
            all.insert("MasterUserSecret".to_owned(), secret);
        }
        if self.born && self.number("BackupRetentionPeriod") > Some(0) {
            // RDS uploads transaction logs every five minutes.
            let second = now.as_second() - now.as_second().rem_euclid(300);
            if let Ok(restorable) = Timestamp::from_second(second) {
                all.insert("LatestRestorableTime".to_owned(), time(restorable));
            }
        }
        if let Some(at) = self.restart_at {
            all.insert("AutomaticRestartTime".to_owned(), time(at));
        }
        if let Some((from, to)) = self.optimizing.filter(|(_, end)| now < *end) {
            let whole = to.duration_since(from).as_secs_f64().max(1e-9);
            let percent = 100.0 * now.duration_since(from).as_secs_f64() / whole;
            all.insert("PercentProgress".to_owned(), json!(format!("{percent:.0}")));
        }
    }

    /// Lists what was asked for and is not in force yet.
    pub(in crate::sandbox) fn pending(&self) -> Map<String, Value> {
        let jobs = self.jobs.iter().flat_map(|job| &job.lands);
        let all = jobs.chain(&self.queued).filter(|(key, _)| changes::is_shown(key));
        all.map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    }
}

fn describe_all(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let (now, stale) = (site.now, site.stale);
    let rds = &site.state.rds;
    let name = args.text("DBInstanceIdentifier")?.map(str::to_lowercase);
    let filters = args.filters()?;
    check_filters(&filters)?;
    // An ARN is accepted where an identifier is.
    let name = name.map(|n| n.rsplit(':').next().unwrap_or_default().to_owned());
    let chosen = rds
        .instances
        .iter()
        .filter(|(key, _)| name.as_ref().is_none_or(|name| name == *key))
        .filter(|(_, instance)| filters.iter().all(|(f, any)| passes(instance, f, any)))
        .map(|(key, instance)| (key.as_str(), instance));
    let answer = page::RDS.answer(args, "DBInstances", chosen, |_, instance: &Instance| {
        instance.seen(now, stale, &rds.subnet_groups)
    })?;
    match name {
        Some(name) if answer["DBInstances"] == json!([]) => Err(no_instance(&name)),
        _ => Ok(answer),
    }
}

fn check_filters(filters: &[(&str, Vec<String>)]) -> Result<(), Refusal> {
    const KNOWN: [&str; 5] =
        ["db-instance-id", "dbi-resource-id", "engine", "db-cluster-id", "domain"];
    match filters.iter().find(|(name, _)| !KNOWN.contains(name)) {
        Some((name, _)) => Err(Refusal::value(format!("Unrecognized filter name: {name}"))),
        None => Ok(()),
    }
}

fn passes(instance: &Instance, filter: &str, any: &[String]) -> bool {
    let is = |value: &str| any.iter().any(|asked| asked == value);
    match filter {
        "db-instance-id" => {
            any.iter().any(|asked| *asked == instance.arn || asked.to_lowercase() == instance.name)
        }
        "dbi-resource-id" => is(instance.text("DbiResourceId")),
        "engine" => is(instance.engine.name),
        "db-cluster-id" => cluster_of(instance).is_some_and(is),
        _ => false,
    }
}

/// Returns the name of the default parameter group of an instance's family.
pub(super) fn default_group(engine: &Engine, version: &str) -> String {
    format!("default.{}", engine.family(version).unwrap_or_default())
}
