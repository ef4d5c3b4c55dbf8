//! What the cloud looked like when a write arrived.

use std::collections::BTreeMap;

use levelset::model::{Call, Scope};
use serde_json::{Map, Value};

use crate::sim::reading::{in_force, tags_of};
use crate::sim::spec::OWNER_TAG;
use crate::sim::world::World;

/// What the cloud looked like when a write arrived.
#[derive(Default)]
pub(in crate::sim) struct Portrait {
    /// The instance that the call names, if it exists.
    pub(super) instance: Option<Map<String, Value>>,
    /// The tags of what the call names, if it exists.
    pub(super) tags: Option<BTreeMap<String, String>>,
    /// The instances that use the group which the call deletes.
    pub(super) users: Vec<String>,
    /// The instances that carry the ownership tag which the call gives to a new one.
    pub(super) twins: Vec<String>,
}

impl Portrait {
    pub(in crate::sim) fn take(world: &World, scope: &Scope, call: &Call) -> Self {
        let mut portrait = Self::default();
        if call.operation == "CreateDBInstance"
            && let Some(owner) = tags_of(&call.params["Tags"]).get(OWNER_TAG)
        {
            portrait.twins = world.sandbox.instances_tagged(scope, OWNER_TAG, owner);
        }
        if let Some(name) = target(&call.params) {
            portrait.instance = world.sandbox.inspect_instance(scope, &name);
        }
        if let Some(instance) = &portrait.instance {
            portrait.tags = Some(tags_of(&instance["TagList"]));
        } else if let Some(arn) = arn(scope, &call.params) {
            let ask = Call::new("rds", "ListTagsForResource").with("ResourceName", arn);
            let answer = world.sandbox.door("auditor").ask(scope, &ask);
            portrait.tags = answer.ok().map(|answer| tags_of(&answer["TagList"]));
        }
        if call.operation.starts_with("Delete") && portrait.instance.is_none() {
            portrait.users = users(world, scope, call);
        }
        portrait
    }
}

/// Lists the instances that use the group which a call deletes.
fn users(world: &World, scope: &Scope, call: &Call) -> Vec<String> {
    let Some(group) = target(&call.params) else { return Vec::new() };
    let uses = |instance: &Map<String, Value>| {
        ["DBParameterGroupName", "DBSubnetGroupName"]
            .into_iter()
            .any(|member| in_force(instance, member) == group.as_str())
    };
    let all = world.sandbox.inspect(scope).into_iter().filter(uses);
    all.filter_map(|instance| instance["DBInstanceIdentifier"].as_str().map(str::to_owned))
        .collect()
}

/// Returns the name of the resource that a call is about.
pub(super) fn target(params: &Map<String, Value>) -> Option<String> {
    let text = |member: &str| params.get(member).and_then(Value::as_str);
    let arn = text("ResourceName").and_then(|arn| arn.rsplit(':').next());
    let names = ["DBInstanceIdentifier", "DBSubnetGroupName", "DBParameterGroupName"];
    names.into_iter().find_map(text).or(arn).map(str::to_lowercase)
}

fn arn(scope: &Scope, params: &Map<String, Value>) -> Option<String> {
    let text = |member: &str| params.get(member).and_then(Value::as_str);
    if let Some(arn) = text("ResourceName") {
        return Some(arn.to_owned());
    }
    let (kind, name) = match (text("DBSubnetGroupName"), text("DBParameterGroupName")) {
        _ if params.contains_key("DBInstanceIdentifier") => return None,
        (Some(name), _) => ("subgrp", name),
        (None, Some(name)) => ("pg", name),
        (None, None) => return None,
    };
    Some(format!("arn:aws:rds:{}:{}:{kind}:{name}", scope.region, scope.account))
}
