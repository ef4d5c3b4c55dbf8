//! RDS: instances, clusters, parameter groups, subnet groups and snapshots of one account and region.
//!
//! Time passes in [`State::advance`] alone: it brings every instance up to the time of the call,
//! event by event in the order of their own times, so that what a read sees does not depend on how
//! often anybody read before.

pub(super) mod actions;
pub(super) mod changes;
pub(super) mod cluster;
pub(super) mod create;
pub(super) mod engine;
pub(super) mod flavour;
pub(super) mod instance;
pub(super) mod lifecycle;
pub(super) mod modify;
pub(super) mod parameter_group;
pub(super) mod parameters;
pub(super) mod settings;
pub(super) mod snapshot;
pub(super) mod storage;
pub(super) mod subnet_group;
pub(super) mod tags;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Map, Value};

use self::cluster::Cluster;
use self::engine::Catalog;
use self::instance::Instance;
use self::parameter_group::ParameterGroup;
use self::subnet_group::SubnetGroup;
use super::refusal::Refusal;
use super::settings::Settings;

/// Holds what RDS keeps for an account and region, by name.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) instances: BTreeMap<String, Instance>,
    pub(super) parameter_groups: BTreeMap<String, ParameterGroup>,
    pub(super) subnet_groups: BTreeMap<String, SubnetGroup>,
    pub(super) snapshots: BTreeMap<String, Map<String, Value>>,
    pub(super) clusters: BTreeMap<String, Cluster>,
    pub(super) cluster_parameter_groups: cluster::group::Groups,
    pub(super) cluster_snapshots: BTreeMap<String, Value>,
}

/// Holds what decides how things go on by themselves.
#[derive(Clone, Copy)]
pub(super) struct Laws<'a> {
    pub(super) settings: &'a Settings,
    pub(super) catalog: &'a Catalog,
}

impl State {
    /// Lets time pass for every cluster and instance.
    pub(super) fn advance(&mut self, now: Timestamp, laws: Laws<'_>) {
        cluster::lifecycle::advance(self, now, laws);
        let is_due = |i: &Instance| i.next_event().is_some_and(|at| at <= now);
        let due: Vec<String> = self
            .instances
            .iter()
            .filter(|(_, i)| is_due(i))
            .map(|(name, _)| name.clone())
            .collect();
        for name in due {
            let Some(mut instance) = self.instances.remove(&name) else { continue };
            let before = (instance.text("DBInstanceClass").to_owned(), instance.restarts);
            instance.advance(now, laws);
            let changes =
                (before.0 != instance.text("DBInstanceClass"), before.1 != instance.restarts);
            let cluster = cluster::member::cluster_of(&instance).map(str::to_owned);
            if !instance.gone {
                self.instances.insert(instance.name.clone(), instance);
            }
            if let Some(cluster) = cluster.and_then(|cluster| self.clusters.get_mut(&cluster)) {
                let (class, restarted) = changes;
                cluster::member::note(cluster, &self.instances, (&name, class, restarted));
            }
        }
    }

    /// Returns an instance by name, in any letter case.
    pub(super) fn instance(&mut self, name: &str) -> Result<&mut Instance, Refusal> {
        self.instances.get_mut(&name.to_lowercase()).ok_or_else(|| no_instance(name))
    }
}

/// Writes a time as the AWS CLI shows it, to the millisecond that RDS gives.
pub(super) fn time(at: Timestamp) -> Value {
    let millis = at.as_millisecond();
    let at = Timestamp::from_millisecond(millis).unwrap_or(at);
    let format = match millis.rem_euclid(1000) {
        0 => "%Y-%m-%dT%H:%M:%S+00:00",
        _ => "%Y-%m-%dT%H:%M:%S.%6f+00:00",
    };
    Value::from(at.strftime(format).to_string())
}

/// Says that an instance does not exist.
pub(super) fn no_instance(name: &str) -> Refusal {
    Refusal::new("DBInstanceNotFound", format!("DBInstance {name} not found."))
}

/// Checks and lower-cases an identifier, by the rules that RDS states for all its names.
pub(super) fn identifier(text: &str, longest: usize) -> Result<String, Refusal> {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let clean = text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    if !starts || !clean || text.len() > longest || text.ends_with('-') || text.contains("--") {
        return Err(Refusal::value(format!(
            "The identifier {text} is not valid: it has 1 to {longest} letters, digits or hyphens, \
             begins with a letter, does not end with a hyphen and has no two hyphens in a row"
        )));
    }
    Ok(text.to_lowercase())
}
