//! One Aurora cluster: what is kept of it, how it is described, and the reads.
//!
//! The instances in it are instances of the account, as in AWS; which of them is the writer is kept
//! here. `create` makes one, `modify` changes it, `lifecycle` lets time pass, `member` is what is
//! particular to the instances in it, `group` holds the cluster parameter groups.

pub(in crate::sandbox) mod create;
pub(in crate::sandbox) mod group;
pub(in crate::sandbox) mod lifecycle;
pub(in crate::sandbox) mod member;
pub(in crate::sandbox) mod modify;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use self::lifecycle::Job;
use super::engine::Engine;
use super::instance::Instance;
use super::{State, settings};
use crate::model::Window;
use crate::sandbox::args::Args;
use crate::sandbox::page;
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};

/// The operations on clusters.
pub(in crate::sandbox) const OPERATIONS: &[Operation] = &[
    Operation {
        service: "rds",
        name: "DescribeDBClusters",
        accepts: &["DBClusterIdentifier", "MaxRecords", "Marker"],
        run: describe_all,
    },
    Operation {
        service: "rds",
        name: "CreateDBCluster",
        accepts: create::ACCEPTS,
        run: create::create,
    },
    Operation {
        service: "rds",
        name: "ModifyDBCluster",
        accepts: modify::ACCEPTS,
        run: modify::modify,
    },
    Operation {
        service: "rds",
        name: "DeleteDBCluster",
        accepts: &[
            "DBClusterIdentifier",
            "SkipFinalSnapshot",
            "FinalDBSnapshotIdentifier",
            "DeleteAutomatedBackups",
        ],
        run: lifecycle::delete,
    },
    Operation {
        service: "rds",
        name: "FailoverDBCluster",
        accepts: &["DBClusterIdentifier", "TargetDBInstanceIdentifier"],
        run: lifecycle::fail_over,
    },
];

/// Holds one cluster.
#[derive(Debug)]
pub(in crate::sandbox) struct Cluster {
    pub(in crate::sandbox) name: String,
    pub(super) engine: &'static Engine,
    /// The settings in force, as they are described.
    pub(in crate::sandbox) members: Map<String, Value>,
    pub(in crate::sandbox) tags: BTreeMap<String, String>,
    pub(in crate::sandbox) arn: String,
    pub(super) host: String,
    pub(super) born: bool,
    pub(super) gone: bool,
    /// What is being done to it, in order.
    pub(super) jobs: VecDeque<Job>,
    /// What waits for the maintenance window.
    pub(super) queued: BTreeMap<&'static str, Value>,
    pub(super) window_at: Option<Timestamp>,
    pub(super) parameter_group: String,
    pub(super) subnet_group: String,
    pub(super) secret: Option<Value>,
    /// The instance that writes, once there is one.
    pub(in crate::sandbox) writer: Option<String>,
    /// The instances that have to restart before the parameters are in force there.
    pub(super) stale: BTreeSet<String>,
    /// When the last write came, and what was described before it (nothing before the creation).
    pub(super) before: Option<(Timestamp, Option<Value>)>,
}

/// Lists the instances in a cluster.
pub(super) fn instances<'s>(
    all: &'s BTreeMap<String, Instance>,
    cluster: &'s str,
) -> impl Iterator<Item = &'s Instance> {
    all.values().filter(move |instance| member::cluster_of(instance) == Some(cluster))
}

/// Says that a cluster does not exist.
pub(super) fn no_cluster(name: &str) -> Refusal {
    Refusal::new("DBClusterNotFoundFault", format!("DBCluster {name} not found."))
}

/// Finds a cluster by name, in any letter case.
pub(super) fn find<'s>(state: &'s mut State, name: &str) -> Result<&'s mut Cluster, Refusal> {
    state.clusters.get_mut(&name.to_lowercase()).ok_or_else(|| no_cluster(name))
}

impl Cluster {
    /// Returns the status at a time.
    pub(in crate::sandbox) fn status(&self, now: Timestamp) -> &'static str {
        self.jobs.front().filter(|job| job.starts <= now).map_or("available", |job| job.status)
    }

    pub(super) fn text(&self, member: &str) -> &str {
        self.members.get(member).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn flag(&self, member: &str) -> bool {
        self.members.get(member).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn window(&self) -> Option<Window> {
        Window::weekly(self.text("PreferredMaintenanceWindow"))
    }

    /// Remembers what is described now, for stale reads of the write that follows.
    pub(super) fn remember(&mut self, now: Timestamp, all: &BTreeMap<String, Instance>) {
        self.before = Some((now, Some(self.describe(now, all))));
    }

    fn seen(
        &self,
        now: Timestamp,
        stale: Option<Timestamp>,
        all: &BTreeMap<String, Instance>,
    ) -> Option<Value> {
        match (&self.before, stale) {
            (Some((written, before)), Some(stale)) if *written >= stale => before.clone(),
            _ => Some(self.describe(now, all)),
        }
    }

    /// Describes the cluster at a time.
    pub(in crate::sandbox) fn describe(
        &self,
        now: Timestamp,
        all: &BTreeMap<String, Instance>,
    ) -> Value {
        let mut described = self.members.clone();
        let mut set = |member: &str, value: Value| described.insert(member.to_owned(), value);
        set("DBClusterIdentifier", json!(self.name));
        set("DBClusterArn", json!(self.arn));
        set("Status", json!(self.status(now)));
        set("DBClusterParameterGroup", json!(self.parameter_group));
        set("DBSubnetGroup", json!(self.subnet_group));
        set("DBClusterMembers", instances(all, &self.name).map(|it| self.member(it)).collect());
        let tag = |(key, value): (&String, &String)| json!({"Key": key, "Value": value});
        set("TagList", self.tags.iter().map(tag).collect());
        set("Endpoint", json!(format!("{}.cluster-{}", self.name, self.host)));
        set("ReaderEndpoint", json!(format!("{}.cluster-ro-{}", self.name, self.host)));
        if let Some(secret) = &self.secret {
            let mut secret = secret.clone();
            secret["SecretStatus"] = json!(if self.born { "active" } else { "creating" });
            set("MasterUserSecret", secret);
        }
        // AWS answers the member only when something is pending.
        let pending = self.pending();
        if !pending.is_empty() {
            set("PendingModifiedValues", Value::Object(pending));
        }
        Value::Object(described)
    }

    fn member(&self, instance: &Instance) -> Value {
        let is_stale = self.stale.contains(&instance.name);
        json!({
            "DBInstanceIdentifier": instance.name,
            "IsClusterWriter": self.writer.as_ref() == Some(&instance.name),
            "DBClusterParameterGroupStatus": if is_stale { "pending-reboot" } else { "in-sync" },
            "PromotionTier": instance.number("PromotionTier").unwrap_or(1),
        })
    }

    /// Lists what was asked for and is not in force yet.
    fn pending(&self) -> Map<String, Value> {
        let jobs = self.jobs.iter().flat_map(|job| &job.lands);
        let all = jobs.chain(&self.queued).filter(|(key, _)| modify::is_shown(key));
        all.map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
    }
}

fn describe_all(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let (now, stale, rds) = (site.now, site.stale, &site.state.rds);
    let name = args.text("DBClusterIdentifier")?.map(str::to_lowercase);
    // An ARN is accepted where an identifier is.
    let name = name.map(|n| n.rsplit(':').next().unwrap_or_default().to_owned());
    let chosen = rds
        .clusters
        .iter()
        .filter(|(key, _)| name.as_ref().is_none_or(|name| name == *key))
        .map(|(key, cluster)| (key.as_str(), cluster));
    let answer = page::RDS.answer(args, "DBClusters", chosen, |_, cluster: &Cluster| {
        cluster.seen(now, stale, &rds.instances)
    })?;
    match name {
        Some(name) if answer["DBClusters"] == json!([]) => Err(no_cluster(&name)),
        _ => Ok(answer),
    }
}

/// Checks that a range of Serverless v2 is one: halves, in order.
pub(super) fn range(args: Args<'_>) -> Result<Option<Value>, Refusal> {
    let Some(range) = args.get("ServerlessV2ScalingConfiguration") else { return Ok(None) };
    let number = |member: &str| range.get(member).and_then(Value::as_f64);
    match (number("MinCapacity"), number("MaxCapacity")) {
        (Some(least), Some(most))
            if least <= most && most >= 1.0 && (least * 2.0).fract() == 0.0 =>
        {
            Ok(Some(range.clone()))
        }
        _ => Err(Refusal::value(format!("Serverless v2 capacity {range} is not valid."))),
    }
}

/// Returns the value of the member that lists security groups.
pub(super) fn security_groups(ids: &[String]) -> Value {
    settings::memberships(ids)
}
