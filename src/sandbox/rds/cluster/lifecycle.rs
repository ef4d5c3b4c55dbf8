//! How a cluster changes as time passes: jobs, its maintenance window, failovers, its end.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp, ToSpan};
use serde_json::{Value, json};

use super::{Cluster, find, group, instances, member, no_cluster};
use crate::sandbox::args::Args;
use crate::sandbox::rds::instance::Instance;
use crate::sandbox::rds::{Laws, State, engine, identifier, settings, time};
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::Site;

/// Holds one thing that is done to a cluster.
#[derive(Debug)]
pub(in crate::sandbox) struct Job {
    /// The status while it runs.
    pub(super) status: &'static str,
    pub(super) starts: Timestamp,
    pub(super) ends: Timestamp,
    /// The settings that come into force at its end.
    pub(super) lands: BTreeMap<&'static str, Value>,
}

/// The key of the job that makes another instance the writer.
const WRITER: &str = "Writer";
/// The key of the job that is the end of the cluster.
const GONE: &str = "Gone";

pub(super) fn span(takes: Duration) -> SignedDuration {
    SignedDuration::try_from(takes).unwrap_or(SignedDuration::ZERO)
}

/// Lets time pass for every cluster; what it does to its instances begins at the time of the event.
pub(in crate::sandbox) fn advance(state: &mut State, now: Timestamp, laws: Laws<'_>) {
    let names: Vec<String> = state.clusters.keys().cloned().collect();
    for name in names {
        let Some(mut cluster) = state.clusters.remove(&name) else { continue };
        while let Some(at) = cluster.next_event().filter(|at| *at <= now && !cluster.gone) {
            cluster.step(at, &mut state.instances, laws);
        }
        if !cluster.gone {
            state.clusters.insert(name, cluster);
        }
    }
}

impl Cluster {
    fn next_event(&self) -> Option<Timestamp> {
        self.jobs.front().map_or(self.window_at, |job| Some(job.ends))
    }

    fn step(&mut self, at: Timestamp, all: &mut BTreeMap<String, Instance>, laws: Laws<'_>) {
        if let Some(job) = self.jobs.pop_front() {
            self.born = true;
            for (key, value) in job.lands {
                self.land(key, value, all);
            }
        } else if self.window_at.take() == Some(at) {
            let mut values = std::mem::take(&mut self.queued);
            if let Some(version) = self.minor_upgrade(at, all, laws) {
                values.entry("EngineVersion").or_insert_with(|| json!(version));
            }
            self.work(at, values, all, laws);
        }
        self.rearm(at, all, laws);
    }

    /// Starts the work that these settings take, one after the other.
    pub(super) fn work(
        &mut self,
        at: Timestamp,
        values: BTreeMap<&'static str, Value>,
        all: &mut BTreeMap<String, Instance>,
        laws: Laws<'_>,
    ) {
        for (key, value) in values {
            let durations = &laws.settings.durations;
            let (status, takes) = match key {
                "EngineVersion" => ("upgrading", durations.upgrading),
                "IAMDatabaseAuthenticationEnabled" => ("modifying", durations.configuring),
                "ManageMasterUserPassword" | "MasterUserPassword" => {
                    ("resetting-master-credentials", durations.configuring)
                }
                _ => ("modifying", durations.configuring),
            };
            if key == "EngineVersion" {
                member::upgrade(self, at, &value, all, laws);
            }
            let starts = self.jobs.back().map_or(at, |job| job.ends.max(at));
            let ends = starts + span(takes);
            let lands = BTreeMap::from([(key, value)]);
            self.jobs.push_back(Job { status, starts, ends, lands });
        }
    }

    /// Puts a setting into force.
    pub(super) fn land(
        &mut self,
        key: &'static str,
        value: Value,
        all: &BTreeMap<String, Instance>,
    ) {
        match key {
            WRITER => self.writer = value.as_str().map(str::to_owned),
            GONE => self.gone = true,
            "MasterUserPassword" => {}
            "ManageMasterUserPassword" => self.secret = value.is_object().then_some(value),
            "DBClusterParameterGroupName" => {
                value.as_str().unwrap_or_default().clone_into(&mut self.parameter_group);
                self.stale = instances(all, &self.name).map(|it| it.name.clone()).collect();
            }
            "VpcSecurityGroupIds" => {
                let ids: Vec<String> = serde_json::from_value(value).unwrap_or_default();
                self.members.insert("VpcSecurityGroups".to_owned(), settings::memberships(&ids));
            }
            "PendingCloudwatchLogsExports" => self.export_logs(&value),
            "StorageType" if value == "aurora" => drop(self.members.remove(key)),
            _ => drop(self.members.insert(key.to_owned(), value)),
        }
        if key == "EngineVersion" && self.parameter_group.starts_with("default.") {
            self.parameter_group = group::default_name(self.engine, self.text("EngineVersion"));
        }
    }

    fn export_logs(&mut self, value: &Value) {
        let list = |member: &str| -> Vec<String> {
            serde_json::from_value(value[member].clone()).unwrap_or_default()
        };
        let now = self.members.remove("EnabledCloudwatchLogsExports").unwrap_or_default();
        let mut logs: Vec<String> = serde_json::from_value(now).unwrap_or_default();
        logs.retain(|log| !list("LogTypesToDisable").contains(log));
        logs.extend(list("LogTypesToEnable"));
        logs.sort();
        logs.dedup();
        if !logs.is_empty() {
            self.members.insert("EnabledCloudwatchLogsExports".to_owned(), json!(logs));
        }
    }

    /// Sets the time of the next maintenance, where there is a reason for one.
    pub(in crate::sandbox) fn rearm(
        &mut self,
        at: Timestamp,
        all: &BTreeMap<String, Instance>,
        laws: Laws<'_>,
    ) {
        let due = !self.queued.is_empty() || self.minor_upgrade(at, all, laws).is_some();
        let after = at.checked_add(1.nanosecond()).unwrap_or(at);
        let next = self.window().map(|window| window.next_start(after));
        self.window_at = due.then(|| self.window_at.or(next)).flatten();
    }

    /// Returns the version that RDS upgrades to by itself: all instances have to allow it.
    fn minor_upgrade(
        &self,
        at: Timestamp,
        all: &BTreeMap<String, Instance>,
        laws: Laws<'_>,
    ) -> Option<String> {
        let version = self.text("EngineVersion");
        let newest = laws.catalog.newest(self.engine, &self.engine.major_of(version), at)?;
        let ahead = engine::order(newest) > engine::order(version);
        let mut own = instances(all, &self.name).peekable();
        let all_allow =
            own.peek().is_some() && own.all(|it| it.born && it.flag("AutoMinorVersionUpgrade"));
        (self.born && ahead && all_allow).then(|| newest.to_owned())
    }

    /// Chooses another writer when there is none, or it is gone, or it restarts with a new class.
    pub(in crate::sandbox) fn choose_writer(
        &mut self,
        all: &BTreeMap<String, Instance>,
        leaves: Option<&str>,
    ) {
        let writer = self.writer.as_deref().filter(|writer| Some(*writer) != leaves);
        let is_there = |name: &str| instances(all, &self.name).any(|it| it.name == name);
        if writer.is_some_and(is_there) {
            return;
        }
        let ready = instances(all, &self.name)
            .filter(|it| Some(it.name.as_str()) != leaves)
            .min_by_key(|it| (!it.born, it.number("PromotionTier").unwrap_or(1)));
        let next = ready.map(|it| it.name.clone());
        self.writer = next.or_else(|| leaves.filter(|name| is_there(name)).map(str::to_owned));
    }
}

/// Makes another instance the writer.
pub(super) fn fail_over(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let (now, takes) = (site.now, span(site.settings.durations.accepting));
    let name = args.required("DBClusterIdentifier")?.to_lowercase();
    let target = args.text("TargetDBInstanceIdentifier")?.map(str::to_lowercase);
    let rds = &mut site.state.rds;
    let cluster = rds.clusters.get_mut(&name).ok_or_else(|| no_cluster(&name))?;
    let other = instances(&rds.instances, &name)
        .map(|it| &it.name)
        .filter(|it| Some(*it) != cluster.writer.as_ref())
        .find(|it| target.as_ref().is_none_or(|target| target == *it));
    let Some(other) = other.filter(|_| cluster.status(now) == "available").cloned() else {
        let text = format!("Cluster {name} cannot fail over now.");
        return Err(Refusal::new("InvalidDBClusterStateFault", text));
    };
    cluster.remember(now, &rds.instances);
    cluster.jobs.push_back(Job {
        status: "failing-over",
        starts: now,
        ends: now + takes,
        lands: BTreeMap::from([(WRITER, json!(other))]),
    });
    Ok(json!({"DBCluster": cluster.describe(now, &rds.instances)}))
}

/// Deletes a cluster without instances, with a final snapshot or expressly without.
pub(super) fn delete(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let (skip, last) = (args.flag("SkipFinalSnapshot")?, args.text("FinalDBSnapshotIdentifier")?);
    let now = site.now;
    let name = args.required("DBClusterIdentifier")?.to_lowercase();
    let has_instances = instances(&site.state.rds.instances, &name).next().is_some();
    let cluster = find(&mut site.state.rds, &name)?;
    if cluster.flag("DeletionProtection") {
        return Err(Refusal::combination(
            "Cannot delete protected Cluster, please disable deletion protection and try again.",
        ));
    }
    if has_instances || cluster.status(now) == "deleting" {
        return Err(Refusal::new(
            "InvalidDBClusterStateFault",
            "Cluster cannot be deleted, it still contains DB instances in non-deleting state.",
        ));
    }
    if skip == last.is_some() {
        return Err(Refusal::combination(
            "FinalDBSnapshotIdentifier is required unless SkipFinalSnapshot is specified.",
        ));
    }
    if let Some(last) = last {
        take_snapshot(site, &name, last)?;
    }
    let takes = span(site.settings.durations.deleting);
    let rds = &mut site.state.rds;
    let cluster = rds.clusters.get_mut(&name).ok_or_else(|| no_cluster(&name))?;
    cluster.remember(now, &rds.instances);
    cluster.jobs.clear();
    cluster.queued.clear();
    cluster.jobs.push_back(Job {
        status: "deleting",
        starts: now,
        ends: now + takes,
        lands: BTreeMap::from([(GONE, Value::Null)]),
    });
    Ok(json!({"DBCluster": cluster.describe(now, &rds.instances)}))
}

fn take_snapshot(site: &mut Site<'_>, cluster: &str, name: &str) -> Result<(), Refusal> {
    let name = identifier(name, 255)?;
    let (arn, at) = (site.rds_arn("cluster-snapshot", &name), time(site.now));
    let rds = &mut site.state.rds;
    if rds.cluster_snapshots.contains_key(&name) {
        let text = format!("The snapshot {name} already exists.");
        return Err(Refusal::new("DBClusterSnapshotAlreadyExistsFault", text));
    }
    let engine = find(rds, cluster)?.engine.name;
    let described = json!({
        "DBClusterSnapshotIdentifier": name,
        "DBClusterSnapshotArn": arn,
        "DBClusterIdentifier": cluster,
        "Engine": engine,
        "SnapshotCreateTime": at,
        "SnapshotType": "manual",
        "Status": "available",
    });
    rds.cluster_snapshots.insert(name, described);
    Ok(())
}
