//! Holds the end of a run, when nothing has gone wrong for long enough, against what was declared.

use futures_util::FutureExt;
use levelset::model::Key;
use levelset::status::{Record, Store};
use serde_json::json;

use super::{Held, Law, broken, hold};
use crate::sim::access::{group, group_name};
use crate::sim::reading::{in_force, is_as, tags_of};
use crate::sim::script::FOREIGN;
use crate::sim::spec::{OWNER_TAG, Workspace};
use crate::sim::world::{World, scope};

/// Holds every object and every instance against the newest commit.
pub(in crate::sim) fn verify(world: &World) {
    let keys: Vec<Key> = world.repository().declared.keys().cloned().collect();
    let workspaces = world.repository().workspaces();
    world.check(|_| {
        for key in &keys {
            told(world, key)?;
        }
        for (key, spec) in &workspaces {
            converged(world, &key.name, spec)
                .map_err(|text| broken(Law::EverythingConverges, text))?;
        }
        Ok(())
    });
}

fn is_foreign(name: &str) -> bool {
    name == FOREIGN
}

fn told(world: &World, key: &Key) -> Held {
    let record: Option<Record> = world.store.get(key).now_or_never().unwrap().unwrap();
    let Some(record) = record else {
        return Err(broken(Law::EverythingConverges, format!("{key} was never looked at")));
    };
    if is_foreign(&key.name) && !world.repository().was_adopted(key) {
        let refusals = record.status.resources.iter().flat_map(|resource| &resource.refusals);
        let told = refusals.map(|refusal| refusal.code.as_str()).any(|code| code == "NotOwned");
        return hold(Law::EverythingConverges, told, || format!("{key}: not told to be foreign"));
    }
    if is_foreign(&key.name) {
        return Ok(());
    }
    let is_new = record.status.observed_generation == record.generation;
    hold(Law::EverythingConverges, record.status.is_ready() && is_new, || {
        format!("{key} is not converged: {record:#?}")
    })
}

/// Says how the instance of a workspace differs from what is declared.
pub(super) fn converged(world: &World, name: &str, spec: &Workspace) -> Result<(), String> {
    let place = scope(spec.production);
    spec.access.converged(world, &place, name)?;
    if !spec.database {
        return Ok(());
    }
    let Some(instance) = world.sandbox.inspect_instance(&place, name) else {
        return Err(format!("{name} does not exist"));
    };
    let tags = tags_of(&instance["TagList"]);
    if is_foreign(name) {
        let (repository, key) = (world.repository(), Key::workspace(name));
        // What was taken over once stays so.
        let is_right = match tags.contains_key(OWNER_TAG) {
            true => repository.was_adopted(&key),
            false => !repository.is_adopted(&key),
        };
        return if is_right { Ok(()) } else { Err(format!("{name} has {tags:?}")) };
    }
    for (parameter, declared) in spec.declared(name) {
        let actual = in_force(&instance, parameter);
        if !is_as(parameter, &declared, &actual) {
            return Err(format!("{name} has {parameter} = {actual}, declared is {declared}"));
        }
    }
    let group = group(world, &place, &group_name(name)).filter(|_| spec.access.has_group());
    let groups = in_force(&instance, "VpcSecurityGroupIds");
    if group.is_some_and(|group| groups != json!([group["GroupId"]])) {
        return Err(format!("{name} has the groups {groups} and not its own alone"));
    }
    let declared = spec.tags_at_creation(name);
    match declared.iter().find(|(key, value)| tags.get(*key) != Some(value)) {
        Some(missing) => Err(format!("{name} lacks the tag {missing:?} beside {OWNER_TAG}")),
        None => Ok(()),
    }
}

/// Holds the calm after convergence against new writes.
pub(in crate::sim) fn is_quiet(world: &World, writes_before: u64) {
    world.check(|checker| {
        let further = checker.writes() - writes_before;
        hold(Law::WritesChangeSomething, further == 0, || {
            format!("{further} writes were sent after everything had converged")
        })
    });
}
