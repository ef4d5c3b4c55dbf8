//! What the cloud looked like when a write arrived.

use std::collections::BTreeMap;

use levelset::model::{Call, Scope};
use serde_json::{Map, Value, json};

use crate::sim::access::{groups, role};
use crate::sim::reading::{in_force, tags_of};
use crate::sim::spec::OWNER_TAG;
use crate::sim::world::{ACCOUNTS, World, scope as environment};

/// What the cloud looked like when a write arrived.
#[derive(Default)]
pub(in crate::sim) struct Portrait {
    /// The name of what the call is about.
    pub(super) name: Option<String>,
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
        if call.service != "rds" {
            return Self::of_access(world, scope, call);
        }
        let mut portrait = Self { name: target(&call.params), ..Self::default() };
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

    /// Looks at the security group or the role that a call is about.
    fn of_access(world: &World, scope: &Scope, call: &Call) -> Self {
        let param = |name: &str| call.params.get(name).cloned().unwrap_or_default();
        let ids = [param("GroupId"), param("Resources")[0].clone()];
        let group = groups(world, scope).into_iter().find(|group| ids.contains(&group["GroupId"]));
        let name = group.as_ref().and_then(|group| group["GroupName"].as_str().map(str::to_owned));
        let name = name.or_else(|| target(&call.params));
        let found = group.or_else(|| role(world, scope, name.as_deref()?));
        let uses = |instance: &Map<String, Value>| {
            found.as_ref().is_some_and(|found| {
                instance.get("MonitoringRoleArn").is_some_and(|arn| *arn == found["Arn"])
                    || in_force(instance, "VpcSecurityGroupIds") == json!([found["GroupId"]])
            })
        };
        // Roles are the whole account's.
        let place = environment(scope.account.as_str() == ACCOUNTS[0].1);
        let users = world.sandbox.inspect(&place).into_iter().filter(uses);
        let text = |it: Map<String, Value>| it["DBInstanceIdentifier"].as_str().map(str::to_owned);
        let owner = tags_of(&param("TagSpecifications")[0]["Tags"]).remove(OWNER_TAG);
        let is_twin = |group: &Value| {
            owner.is_some() && tags_of(&group["Tags"]).get(OWNER_TAG) == owner.as_ref()
        };
        Self {
            users: users.filter_map(text).collect(),
            twins: groups(world, scope)
                .into_iter()
                .filter(is_twin)
                .map(|it| it.to_string())
                .collect(),
            tags: found.as_ref().map(|found| tags_of(&found["Tags"])),
            name,
            instance: None,
        }
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
    let filter = params.get("Filters").map(|filters| &filters[0]);
    let filtered = filter.filter(|filter| filter["Name"] == "group-name");
    let filtered = filtered.and_then(|filter| filter["Values"][0].as_str());
    let names = [
        "DBInstanceIdentifier",
        "DBSubnetGroupName",
        "DBParameterGroupName",
        "GroupName",
        "RoleName",
    ];
    names.into_iter().find_map(text).or(arn).or(filtered).map(str::to_lowercase)
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
