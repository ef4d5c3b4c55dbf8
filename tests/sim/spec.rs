//! What a manifest of the simulation declares, and its text.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use jiff::Timestamp;
use levelset::model::policy::DeletionPolicy;
use levelset::model::{Holder, Key, ObjectKind};
use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::json;

use super::access::Access;

pub(super) const OWNER_TAG: &str = "levelset:owner";

pub(super) const CLASSES: [&str; 4] =
    ["db.t4g.medium", "db.t4g.large", "db.r6g.large", "db.r6g.xlarge"];
/// What every parameter group sets.
pub(super) const PARAMETERS: [&str; 2] = ["log_min_duration_statement", "statement_timeout"];
const BACKUP_WINDOWS: [&str; 3] = ["21:00-21:45", "22:00-23:00", "20:10-20:50"];

/// The maintenance window of every instance that declares one: the simulation jumps into it.
pub(super) const WINDOW: &str = "sun:03:00-sun:05:00";

/// Declares one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Doc {
    pub(super) key: Key,
    pub(super) annotations: Annotations,
    pub(super) spec: Spec,
}

/// The part of a manifest whose change changes no generation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Annotations {
    pub(super) note: u32,
    pub(super) suspended: bool,
    pub(super) snoozed_until: Option<Timestamp>,
    pub(super) adopts: bool,
}

/// The part of a manifest whose change is a new generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Spec {
    Network { resync: u32, deletion: Deletion },
    Workspace(Workspace),
}

/// Says what is to become of what a manifest declares when it is removed; from the most careful
/// word to the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Deletion {
    Retain,
    Snapshot,
    Delete,
}

impl Deletion {
    fn random(random: &mut StdRng) -> Self {
        *pick(random, &[Self::Retain, Self::Retain, Self::Snapshot, Self::Delete])
    }

    /// Draws a word by which something is deleted.
    pub(super) fn doom(random: &mut StdRng) -> Self {
        *pick(random, &[Self::Snapshot, Self::Delete])
    }

    pub(super) fn policy(self) -> DeletionPolicy {
        match self {
            Self::Retain => DeletionPolicy::Retain,
            Self::Snapshot => DeletionPolicy::Snapshot,
            Self::Delete => DeletionPolicy::Delete,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Retain => "retain",
            Self::Snapshot => "snapshot",
            Self::Delete => "delete",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Workspace {
    pub(super) network: &'static str,
    pub(super) production: bool,
    /// False when the manifest has no section `database` (any more).
    pub(super) database: bool,
    pub(super) class: &'static str,
    pub(super) size: Option<i64>,
    pub(super) retention: Option<i64>,
    pub(super) backup_window: Option<&'static str>,
    pub(super) window: bool,
    pub(super) public: Option<bool>,
    pub(super) protection: Option<bool>,
    pub(super) tags: Option<BTreeMap<String, String>>,
    pub(super) parameters: BTreeMap<String, String>,
    pub(super) immediate: bool,
    /// Drift is reported and left.
    pub(super) reports: bool,
    pub(super) deletion: Deletion,
    pub(super) retries: u32,
    pub(super) resync: u32,
    pub(super) access: Box<Access>,
}

impl Workspace {
    pub(super) fn random(random: &mut StdRng) -> Self {
        let mut spec = Self {
            network: if random.random() { "core" } else { "shared" },
            production: random.random(),
            database: true,
            class: CLASSES[0],
            size: random.random_bool(0.3).then_some(20),
            retention: None,
            backup_window: None,
            window: true,
            public: random.random_bool(0.3).then_some(false),
            protection: *pick(random, &[None, None, Some(true), Some(false), Some(false)]),
            tags: None,
            parameters: BTreeMap::new(),
            immediate: random.random(),
            reports: random.random_bool(0.25),
            deletion: Deletion::random(random),
            retries: random.random_range(1..6),
            resync: *pick(random, &[400, 600, 900]),
            access: Box::default(),
        };
        if spec.immediate {
            spec.window = random.random();
        }
        if random.random_bool(0.3) {
            spec.add_parameters();
        }
        for _ in 0..random.random_range(0..4) {
            spec.edit(random);
        }
        spec
    }

    fn add_parameters(&mut self) {
        for name in PARAMETERS {
            self.parameters.insert(name.to_owned(), "500".to_owned());
        }
    }

    /// Sets every parameter to another value.
    pub(super) fn tune(&mut self, random: &mut StdRng) {
        for name in PARAMETERS {
            self.parameters.insert(name.to_owned(), random.random_range(100..1000).to_string());
        }
    }

    /// Changes one thing, as a developer would.
    pub(super) fn edit(&mut self, random: &mut StdRng) {
        match random.random_range(0..11) {
            0 | 1 => self.class = *pick::<&str>(random, &CLASSES),
            2 => self.retention = Some(random.random_range(1..30)),
            // AWS chooses a maintenance window that nobody declares, and refuses one that overlaps.
            3 if self.window => self.backup_window = Some(*pick(random, &BACKUP_WINDOWS)),
            4 => {
                let value = random.random_range(0..100).to_string();
                self.tags.get_or_insert_default().insert("team".to_owned(), value);
            }
            5 => self.size = Some(self.size.unwrap_or(20) + random.random_range(1..10)),
            6 if !self.parameters.is_empty() => {
                let value = random.random_range(100..1000).to_string();
                self.parameters.insert((*pick(random, &PARAMETERS)).to_owned(), value);
            }
            6 if random.random() => self.reports ^= true,
            6 => self.public = Some(false),
            7 => self.deletion = Deletion::random(random),
            8 => self.protection = Some(random.random()),
            9 if self.parameters.is_empty() => self.add_parameters(),
            9 if random.random() => self.parameters.clear(),
            _ => self.retention = None,
        }
    }

    /// Prepares what is declared for its deletion.
    pub(super) fn doom(&mut self, deletion: Deletion) {
        (self.deletion, self.protection) = (deletion, Some(false));
    }
}

pub(super) fn pick<'a, T>(random: &mut StdRng, from: &'a [T]) -> &'a T {
    &from[random.random_range(0..from.len())]
}

impl Doc {
    pub(super) fn workspace(name: &str, spec: Workspace) -> Self {
        let annotations = Annotations::default();
        Self { key: Key::workspace(name), annotations, spec: Spec::Workspace(spec) }
    }

    pub(super) fn network(name: &str, random: &mut StdRng) -> Self {
        let key = Key::new(ObjectKind::Network, name);
        let annotations = Annotations::default();
        let spec = Spec::Network { resync: 900, deletion: Deletion::random(random) };
        Self { key, annotations, spec }
    }

    pub(super) fn deletion(&self) -> Deletion {
        match &self.spec {
            Spec::Workspace(spec) => spec.deletion,
            Spec::Network { deletion, .. } => *deletion,
        }
    }

    pub(super) fn as_workspace(&self) -> Option<&Workspace> {
        match &self.spec {
            Spec::Workspace(spec) => Some(spec),
            Spec::Network { .. } => None,
        }
    }

    pub(super) fn retries(&self) -> u32 {
        self.as_workspace().map_or(10, |spec| spec.retries)
    }

    /// Writes the manifest.
    pub(super) fn text(&self) -> String {
        let Self { key, annotations, .. } = self;
        let mut text = format!(
            "---\napiVersion: platform.kby.io/v1alpha1\nkind: {}\nmetadata:\n  name: {}\n  \
             annotations:\n{annotations}spec:\n",
            key.kind, key.name,
        );
        text.push_str(&self.spec_text());
        text
    }

    /// Writes the part whose change is a new generation.
    pub(super) fn spec_text(&self) -> String {
        match &self.spec {
            Spec::Network { resync, deletion } => {
                let deletion = deletion.word();
                format!(
                    "  environment: production\n  reconcilePolicy: {{resyncIntervalSeconds: \
                     {resync}, deletion: {deletion}}}\n"
                )
            }
            Spec::Workspace(spec) => spec.text(),
        }
    }
}

impl Annotations {
    /// Returns what of them suspends an object.
    pub(super) fn holders(&self) -> Vec<Holder> {
        let holder = Holder::Annotation { path: "history".into(), line: 1 };
        if self.suspended { vec![holder] } else { Vec::new() }
    }
}

impl fmt::Display for Annotations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut line =
            |name: &str, value: &str| writeln!(f, "    platform.kby.io/{name}: \"{value}\"");
        line("owner", &format!("team {}", self.note))?;
        if self.suspended {
            line("suspend", "true")?;
        }
        if let Some(until) = self.snoozed_until {
            line("snooze-until", &until.to_string())?;
        }
        if self.adopts {
            line("adopt", "true")?;
        }
        Ok(())
    }
}

impl Workspace {
    fn environment(&self) -> &'static str {
        if self.production { "production" } else { "staging" }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "  environment: {}\n  resources:\n    network: {{vpcRef: {}{}}}\n",
            self.environment(),
            self.network,
            self.access.network_text()
        );
        text.push_str(&self.access.iam_text());
        if self.database {
            text.push_str(&self.database_text());
        }
        text.push_str(&self.policy_text());
        text
    }

    fn database_text(&self) -> String {
        let mut text = format!(
            "    database:\n      engine: postgres\n      version: \"15\"\n      sizeClass: {}\n",
            self.class
        );
        let mut line = |name: &str, value: String| writeln!(text, "      {name}: {value}").unwrap();
        if let Some(size) = self.size {
            line("storage", format!("{{type: gp3, sizeGiB: {size}}}"));
        }
        let retention = self.retention.map(|days| format!("retentionDays: {days}"));
        let window = self.backup_window.map(|window| format!("window: \"{window}\""));
        let backups: Vec<String> = retention.into_iter().chain(window).collect();
        if !backups.is_empty() {
            line("backups", format!("{{{}}}", backups.join(", ")));
        }
        if self.window {
            line("maintenanceWindow", format!("\"{WINDOW}\""));
        }
        if let Some(public) = self.public {
            line("publiclyAccessible", public.to_string());
        }
        if let Some(protection) = self.protection {
            line("deletionProtection", protection.to_string());
        }
        if let Some(tags) = &self.tags {
            line("tags", json!(tags).to_string());
        }
        if self.access.role.is_some() {
            let role = "${iam.monitor.arn}";
            line("monitoring", json!({"intervalSeconds": 60, "roleArn": role}).to_string());
        }
        if !self.parameters.is_empty() {
            line("parameters", json!(self.parameters).to_string());
        }
        text
    }

    fn policy_text(&self) -> String {
        let disruption = if self.immediate { "immediate" } else { "window" };
        let drift = if self.reports { "report" } else { "revert" };
        let (resync, retries, deletion) = (self.resync, self.retries, self.deletion.word());
        format!(
            "  reconcilePolicy: {{resyncIntervalSeconds: {resync}, maxBackoffSeconds: 120, maxRetries: \
             {retries}, disruption: {disruption}, drift: {drift}, deletion: {deletion}}}\n"
        )
    }
}
