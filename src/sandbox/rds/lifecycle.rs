//! How an instance changes as time passes: jobs, maintenance windows, backups, restarts.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp, ToSpan};
use serde_json::{Value, json};

use super::changes::{self, UPGRADE_GROUP, Work};
use super::cluster::member::cluster_of;
use super::instance::{Instance, Rest, default_group};
use super::storage::Disk;
use super::{Laws, engine, settings, time};
use crate::model::Window;

/// Holds one thing that is done to an instance.
#[derive(Debug)]
pub(in crate::sandbox) struct Job {
    /// The status while it runs.
    pub(in crate::sandbox) status: &'static str,
    pub(in crate::sandbox) starts: Timestamp,
    pub(in crate::sandbox) ends: Timestamp,
    /// The settings that come into force at its end.
    pub(in crate::sandbox) lands: BTreeMap<&'static str, Value>,
    /// What else its end means.
    pub(in crate::sandbox) end: End,
}

/// Says what the end of a job means beyond the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sandbox) enum End {
    Nothing,
    Born,
    Restarted,
    Stopped,
    Started,
    Gone,
    /// It has none.
    Stuck,
}

/// How long a job takes that hangs.
const FOR_GOOD: SignedDuration = SignedDuration::from_hours(10 * 365 * 24);

impl Instance {
    /// Returns when something happens next, at the earliest.
    pub(in crate::sandbox) fn next_event(&self) -> Option<Timestamp> {
        let settles = self.parameter_settles.map(|(at, _)| at);
        let own = match self.jobs.front() {
            Some(job) => Some(job.ends),
            None if self.rest == Rest::Stopped => self.restart_at,
            None => [self.window_at, self.backup_at].into_iter().flatten().min(),
        };
        [settles, own].into_iter().flatten().min()
    }

    /// Lets time pass up to `now`.
    pub(in crate::sandbox) fn advance(&mut self, now: Timestamp, laws: Laws<'_>) {
        while let Some(due) = self.next_event().filter(|due| *due <= now && !self.gone) {
            // A window that opened while something else was done is looked at when that ends.
            self.clock = self.clock.max(due);
            self.step(self.clock, due, laws);
        }
    }

    fn step(&mut self, at: Timestamp, due: Timestamp, laws: Laws<'_>) {
        if let Some((_, status)) = self.parameter_settles.take_if(|(settles, _)| *settles == due) {
            self.parameter_status = status;
        } else if let Some(job) = self.jobs.pop_front() {
            self.finish(job, at, laws);
        } else if self.rest == Rest::Stopped {
            self.begin_start(at, laws);
        } else if self.window_at == Some(due) {
            self.maintain(at, laws);
        } else if self.backup_at == Some(due) {
            self.back_up(at, laws);
        }
    }

    /// Adds a job after those that are there.
    pub(super) fn push(
        &mut self,
        at: Timestamp,
        (status, takes): (&'static str, Duration),
        lands: BTreeMap<&'static str, Value>,
        end: End,
        laws: Laws<'_>,
    ) {
        let starts = self.jobs.back().map_or(at, |job| job.ends.max(at));
        let ends = starts + self.vary(takes, laws.settings.durations.jitter);
        self.jobs.push_back(Job { status, starts, ends, lands, end });
    }

    /// Lengthens a duration by up to the share `jitter`, the same way at every replay.
    fn vary(&mut self, takes: Duration, jitter: f64) -> SignedDuration {
        // Steele, Lea, Flood: Fast splittable pseudorandom number generators (SplitMix64).
        self.salt = self.salt.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.salt;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = f64::from(u32::try_from((mixed ^ (mixed >> 31)) >> 32).unwrap_or(0))
            / f64::from(u32::MAX);
        let varied = takes.mul_f64(1.0 + jitter * share);
        SignedDuration::try_from(varied).unwrap_or(SignedDuration::ZERO)
    }

    /// Starts the work that these settings take.
    pub(super) fn work(
        &mut self,
        at: Timestamp,
        values: BTreeMap<&'static str, Value>,
        laws: Laws<'_>,
    ) {
        let mut works: BTreeMap<Work, BTreeMap<&'static str, Value>> = BTreeMap::new();
        for (key, value) in values {
            let work = changes::by_key(key).map_or(Work::Modify, |change| change.work);
            works.entry(work).or_default().insert(key, value);
        }
        for (work, lands) in works {
            let turns_on = lands.get("BackupRetentionPeriod").is_some_and(|days| *days != 0)
                && self.number("BackupRetentionPeriod") == Some(0);
            let end = if work.restarts() { End::Restarted } else { End::Nothing };
            self.push(at, (work.status(), work.takes(&laws.settings.durations)), lands, end, laws);
            if turns_on {
                let backup = ("backing-up", laws.settings.durations.backing_up);
                self.push(at, backup, BTreeMap::new(), End::Nothing, laws);
            }
        }
    }

    fn finish(&mut self, job: Job, at: Timestamp, laws: Laws<'_>) {
        for (key, value) in job.lands {
            self.land(key, value, at, laws);
        }
        match job.end {
            End::Nothing | End::Stuck => {}
            End::Born => {
                self.born = true;
                self.members.insert("InstanceCreateTime".to_owned(), time(at));
                self.members.insert("CertificateDetails".to_owned(), self.certificate(at));
            }
            End::Restarted => self.restarted(),
            End::Stopped => {
                self.rest = Rest::Stopped;
                self.restart_at = at.checked_add((7 * 24).hours()).ok();
            }
            End::Started => (self.rest, self.restart_at) = (Rest::Available, None),
            End::Gone => self.gone = true,
        }
        self.rearm(at, laws);
    }

    fn restarted(&mut self) {
        self.parameter_status = "in-sync";
        self.parameter_settles = None;
        self.restarts += 1;
    }

    fn certificate(&self, at: Timestamp) -> Value {
        let until = at.checked_add((365 * 24).hours()).ok();
        json!({"CAIdentifier": self.text("CACertificateIdentifier"), "ValidTill": until.map(time)})
    }

    /// Puts a setting into force.
    pub(super) fn land(&mut self, key: &'static str, value: Value, at: Timestamp, laws: Laws<'_>) {
        match key {
            "Port" => self.port = value.as_i64().unwrap_or(self.port),
            "DBSubnetGroupName" => {
                value.as_str().unwrap_or_default().clone_into(&mut self.subnet_group)
            }
            "DBParameterGroupName" => self.attach(&value, at, laws),
            UPGRADE_GROUP => {
                value.as_str().unwrap_or_default().clone_into(&mut self.parameter_group)
            }
            "DBInstanceIdentifier" => self.rename(value.as_str().unwrap_or_default()),
            "MasterUserPassword" | "RotateMasterUserPassword" => {}
            "ManageMasterUserPassword" => self.secret = value.is_object().then_some(value),
            "PendingCloudwatchLogsExports" => self.export_logs(&value),
            "VpcSecurityGroupIds" => {
                let ids: Vec<String> = serde_json::from_value(value).unwrap_or_default();
                self.members.insert("VpcSecurityGroups".to_owned(), settings::memberships(&ids));
            }
            "MaxAllocatedStorage" if value.as_i64() <= self.number("AllocatedStorage") => {
                self.members.remove(key);
            }
            _ => {
                self.members.insert(key.to_owned(), value);
                self.follow(key, at, laws);
            }
        }
    }

    /// Adjusts what depends on a setting that just came into force.
    fn follow(&mut self, key: &str, at: Timestamp, laws: Laws<'_>) {
        match key {
            "CACertificateIdentifier" => {
                let details = self.certificate(at);
                self.members.insert("CertificateDetails".to_owned(), details);
            }
            "MultiAZ" => self.place_standby(),
            "EngineVersion" => self.follow_version(),
            "PreferredMaintenanceWindow" => self.move_window(at),
            "PreferredBackupWindow" | "BackupRetentionPeriod" => self.backup_at = None,
            key if changes::is_storage(key) => self.optimize(at, laws),
            _ => {}
        }
    }

    fn optimize(&mut self, at: Timestamp, laws: Laws<'_>) {
        self.members.retain(|_, value| !value.is_null());
        self.rest = Rest::Available;
        let span = |takes| SignedDuration::try_from(takes).unwrap_or(SignedDuration::ZERO);
        let durations = &laws.settings.durations;
        self.optimizing = Some((at, at + span(durations.optimizing)));
        self.locked_until = Some(at + span(durations.storage_lock));
    }

    fn place_standby(&mut self) {
        let zone = self.text("AvailabilityZone").to_owned();
        let other = if zone.ends_with('a') { 'b' } else { 'a' };
        if self.flag("MultiAZ") {
            let standby = format!("{}{other}", &zone[..zone.len().saturating_sub(1)]);
            self.members.insert("SecondaryAvailabilityZone".to_owned(), json!(standby));
        } else {
            self.members.remove("SecondaryAvailabilityZone");
        }
    }

    fn follow_version(&mut self) {
        let version = self.text("EngineVersion").to_owned();
        if self.parameter_group.starts_with("default.") {
            self.parameter_group = default_group(self.engine, &version);
        }
        let group = json!([{
            "OptionGroupName": self.engine.option_group(&version), "Status": "in-sync",
        }]);
        self.members.insert("OptionGroupMemberships".to_owned(), group);
    }

    fn rename(&mut self, name: &str) {
        let prefix = self.arn.len() - self.name.len();
        self.arn = format!("{}{name}", &self.arn[..prefix]);
        name.clone_into(&mut self.name);
    }

    fn attach(&mut self, value: &Value, at: Timestamp, laws: Laws<'_>) {
        value.as_str().unwrap_or_default().clone_into(&mut self.parameter_group);
        self.apply_parameters("pending-reboot", at, laws);
    }

    /// Shows parameters on their way, and `status` once they arrived.
    pub(super) fn apply_parameters(&mut self, status: &'static str, at: Timestamp, laws: Laws<'_>) {
        let waits = self.parameter_settles.is_some_and(|(_, then)| then == "pending-reboot");
        let sticks = waits || self.parameter_status == "pending-reboot";
        let status = if sticks { "pending-reboot" } else { status };
        self.parameter_status = "applying";
        let takes = laws.settings.durations.applying;
        let span = SignedDuration::try_from(takes).unwrap_or(SignedDuration::ZERO);
        self.parameter_settles = Some((at + span, status));
    }

    fn export_logs(&mut self, value: &Value) {
        let list = |member: &str| -> Vec<String> {
            serde_json::from_value(value[member].clone()).unwrap_or_default()
        };
        let now = self.members.get("EnabledCloudwatchLogsExports").cloned().unwrap_or_default();
        let mut logs: Vec<String> = serde_json::from_value(now).unwrap_or_default();
        logs.retain(|log| !list("LogTypesToDisable").contains(log));
        logs.extend(list("LogTypesToEnable"));
        logs.sort();
        logs.dedup();
        self.members.insert("EnabledCloudwatchLogsExports".to_owned(), json!(logs));
        if logs.is_empty() {
            self.members.remove("EnabledCloudwatchLogsExports");
        }
    }

    /// Sets the times of the next maintenance and the next backup, where there are reasons for one.
    pub(in crate::sandbox) fn rearm(&mut self, at: Timestamp, laws: Laws<'_>) {
        let due = !self.queued.is_empty() || self.minor_upgrade(at, laws).is_some();
        self.window_at = match (due, self.window_at) {
            (false, _) => None,
            (true, Some(set)) => Some(set),
            (true, None) => self.window().map(|window| window.next_start(after(at))),
        };
        let backs_up = laws.settings.daily_backups
            && self.born
            && self.number("BackupRetentionPeriod").is_some_and(|days| days > 0);
        let window = Window::daily(self.text("PreferredBackupWindow")).filter(|_| backs_up);
        let next = |window: Window| window.next_start(after(at));
        self.backup_at = window.map(|window| self.backup_at.unwrap_or_else(|| next(window)));
    }

    /// A window that is moved over the present opens at once, if 30 minutes of it are left.
    fn move_window(&mut self, at: Timestamp) {
        let soon = at.checked_add(30.minutes()).unwrap_or(at);
        let opens = self.window().filter(|w| w.is_open(at) && w.is_open(soon)).map(|_| at);
        self.window_at = opens.filter(|_| !self.queued.is_empty());
    }

    fn maintain(&mut self, at: Timestamp, laws: Laws<'_>) {
        let due = self.window_at.take();
        let open = due == Some(at) || self.window().is_some_and(|window| window.is_open(at));
        if open && self.rest == Rest::Available {
            let mut values = std::mem::take(&mut self.queued);
            if let Some(version) = self.minor_upgrade(at, laws) {
                values.entry("EngineVersion").or_insert_with(|| json!(version));
            }
            self.work(at, values, laws);
            // What is under way now comes into force later: look again when it has.
            if !self.jobs.is_empty() {
                return;
            }
        }
        self.rearm(at, laws);
    }

    /// Returns the version that RDS upgrades to by itself in the maintenance window.
    fn minor_upgrade(&self, at: Timestamp, laws: Laws<'_>) -> Option<String> {
        let version = self.text("EngineVersion");
        let newest = laws.catalog.newest(self.engine, &self.engine.major_of(version), at)?;
        let ahead = engine::order(newest) > engine::order(version);
        // The version of an instance in a cluster is the cluster's.
        let own = self.born && cluster_of(self).is_none();
        (own && self.flag("AutoMinorVersionUpgrade") && ahead).then(|| newest.to_owned())
    }

    fn back_up(&mut self, at: Timestamp, laws: Laws<'_>) {
        self.backup_at = None;
        if self.rest == Rest::Available {
            let backup = ("backing-up", laws.settings.durations.backing_up);
            self.push(at, backup, BTreeMap::new(), End::Nothing, laws);
        }
        self.rearm(at, laws);
    }

    /// Starts a stopped instance.
    pub(super) fn begin_start(&mut self, at: Timestamp, laws: Laws<'_>) {
        self.restart_at = None;
        let start = ("starting", laws.settings.durations.stopping);
        self.push(at, start, BTreeMap::new(), End::Started, laws);
    }

    /// Adds a job that does nothing and, as far as anybody will see, never ends.
    pub(in crate::sandbox) fn stick(&mut self, at: Timestamp) {
        let starts = self.jobs.back().map_or(at, |job| job.ends.max(at));
        let ends = starts + FOR_GOOD;
        let job =
            Job { status: "modifying", starts, ends, lands: BTreeMap::new(), end: End::Stuck };
        self.jobs.push_back(job);
    }

    /// Takes such jobs out; what was to follow them follows now.
    pub(in crate::sandbox) fn unstick(&mut self, at: Timestamp) {
        while let Some(place) = self.jobs.iter().position(|job| job.end == End::Stuck) {
            let Some(stuck) = self.jobs.remove(place) else { return };
            let saved = stuck.ends.duration_since(stuck.starts.max(at));
            for job in self.jobs.range_mut(place..) {
                (job.starts, job.ends) = (job.starts - saved, job.ends - saved);
            }
        }
    }

    /// Grows the disk as storage autoscaling does: by a tenth, at least 10 GiB, up to the ceiling.
    pub(in crate::sandbox) fn autoscale(&mut self, at: Timestamp, laws: Laws<'_>) -> bool {
        let Some(ceiling) = self.number("MaxAllocatedStorage") else { return false };
        let disk = self.disk();
        let size = (disk.size + 10.max((disk.size + 9) / 10)).min(ceiling);
        let locked = self.locked_until.is_some_and(|until| at < until);
        if size <= disk.size || locked || !self.jobs.is_empty() {
            return false;
        }
        let grown = Disk { size, ..disk.clone() };
        self.work(at, grown.differences(&disk), laws);
        true
    }
}

fn after(at: Timestamp) -> Timestamp {
    at.checked_add(1.nanosecond()).unwrap_or(at)
}
