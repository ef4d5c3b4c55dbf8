//! Deleting, restarting, stopping and starting an instance.

use std::collections::BTreeMap;

use serde_json::json;

use super::cluster::member::cluster_of;
use super::instance::Instance;
use super::lifecycle::End;
use super::{Laws, no_instance, snapshot};
use crate::sandbox::args::Args;
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::Site;

/// Deletes an instance, with a final snapshot or expressly without.
pub(super) fn delete(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let skip = args.flag("SkipFinalSnapshot")?;
    let last = args.text("FinalDBSnapshotIdentifier")?;
    let now = site.now;
    let instance = site.state.rds.instance(args.required("DBInstanceIdentifier")?)?;
    if instance.status(now) == "deleting" {
        return Err(Refusal::state(format!(
            "Instance {} is already being deleted.",
            instance.name
        )));
    }
    if instance.flag("DeletionProtection") {
        return Err(Refusal::combination(
            "Cannot delete protected DB Instance, please disable deletion protection and try again.",
        ));
    }
    let name = instance.name.clone();
    if cluster_of(instance).is_some() && !skip {
        return Err(Refusal::combination(
            "FinalDBSnapshotIdentifier can not be specified when deleting a cluster instance",
        ));
    }
    match (skip, last) {
        (false, None) => {
            return Err(Refusal::combination(
                "FinalDBSnapshotIdentifier is required unless SkipFinalSnapshot is specified.",
            ));
        }
        (true, Some(_)) => {
            return Err(Refusal::combination(
                "FinalDBSnapshotIdentifier cannot be specified when deleting with SkipFinalSnapshot.",
            ));
        }
        (false, Some(_)) if !instance.born => {
            return Err(Refusal::state(format!(
                "Instance {name} is not in a state for a final snapshot."
            )));
        }
        (false, Some(last)) => snapshot::take(site, &name, last)?,
        (true, None) => {}
    }
    let takes = site.settings.durations.deleting;
    act(site, &name, |instance, laws| {
        // Nothing that was under way or queued comes into force any more.
        instance.jobs.clear();
        instance.queued.clear();
        instance.push(now, ("deleting", takes), BTreeMap::new(), End::Gone, laws);
    })
}

/// Restarts an instance, which puts static parameters into force.
pub(super) fn reboot(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = args.required("DBInstanceIdentifier")?.to_lowercase();
    let now = site.now;
    let instance = site.state.rds.instance(&name)?;
    expect(instance, &["available", "storage-optimization"], instance.status(now))?;
    if args.flag("ForceFailover")? && !instance.flag("MultiAZ") {
        return Err(Refusal::combination("A forced failover takes a Multi-AZ instance."));
    }
    let takes = site.settings.durations.rebooting;
    act(site, &name, |instance, laws| {
        instance.push(now, ("rebooting", takes), BTreeMap::new(), End::Restarted, laws);
    })
}

/// Stops an instance for up to seven days; what was queued is dropped.
pub(super) fn stop(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = args.required("DBInstanceIdentifier")?.to_lowercase();
    let now = site.now;
    let instance = site.state.rds.instance(&name)?;
    expect(instance, &["available"], instance.status(now))?;
    let takes = site.settings.durations.stopping;
    act(site, &name, |instance, laws| {
        instance.queued.clear();
        instance.push(now, ("stopping", takes), BTreeMap::new(), End::Stopped, laws);
    })
}

/// Starts a stopped instance.
pub(super) fn start(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = args.required("DBInstanceIdentifier")?.to_lowercase();
    let now = site.now;
    let instance = site.state.rds.instance(&name)?;
    expect(instance, &["stopped"], instance.status(now))?;
    act(site, &name, |instance, laws| instance.begin_start(now, laws))
}

fn expect(instance: &Instance, states: &[&str], status: &str) -> Result<(), Refusal> {
    if states.contains(&status) {
        return Ok(());
    }
    let name = &instance.name;
    Err(Refusal::state(format!(
        "Instance {name} is not in {} state: {status}",
        states.join(" or ")
    )))
}

fn act(site: &mut Site<'_>, name: &str, act: impl FnOnce(&mut Instance, Laws<'_>)) -> Answer {
    let laws = Laws { settings: site.settings, catalog: &site.shared.catalog };
    let groups = &site.state.rds.subnet_groups;
    let instance = site.state.rds.instances.get_mut(name).ok_or_else(|| no_instance(name))?;
    instance.remember(site.now, groups);
    act(instance, laws);
    instance.rearm(site.now, laws);
    Ok(json!({"DBInstance": instance.describe(site.now, groups)}))
}
