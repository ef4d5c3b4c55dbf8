//! From an entry of the `compute` section to the Auto Scaling group that it asks for.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::rules::DEFAULT_VERSION;
use super::spec::Group;
use crate::model::desired::Field;
use crate::model::{Input, Output, Resource, ResourceId, Scope};

/// Says where a group lives, whose it is, and what it is made with.
#[derive(Debug, Clone)]
pub struct Placement<'a> {
    /// The account and region.
    pub scope: &'a Scope,
    /// The name of the workspace, with which names begin that are not declared.
    pub workspace: &'a str,
    /// The value of the ownership tag.
    pub owner: &'a str,
    /// The launch template, which has to carry the same ownership tag.
    pub template: &'a ResourceId,
    /// The subnets that the network has for it; `None` where there is no network.
    pub subnets: Option<Input>,
    /// Whether an existing group without our tag is taken over.
    pub adopt: bool,
}

/// Returns the name of a group in AWS.
pub fn group_name(workspace: &str, key: &str, group: &Group) -> String {
    group.name.clone().unwrap_or_else(|| format!("{workspace}-{key}"))
}

/// Returns the name of a group's launch template in AWS.
pub fn template_name(workspace: &str, key: &str, group: &Group) -> String {
    group.launch_template.clone().unwrap_or_else(|| group_name(workspace, key, group))
}

/// Returns the id of a group.
pub fn resource_id(scope: &Scope, workspace: &str, key: &str, group: &Group) -> ResourceId {
    let name = group_name(workspace, key, group).into();
    ResourceId { kind: super::NAME, scope: scope.clone(), name }
}

/// Makes the resource of one group.
pub fn resource(key: &str, group: &Group, placement: &Placement<'_>) -> Resource {
    let known = |(field, value): (&'static str, Value)| (Field::from(field), Input::Known(value));
    let mut fields: BTreeMap<Field, Input> = declared(group).into_iter().map(known).collect();
    let adopt = group.adopt || placement.adopt;
    let template = |member: &str| of_template(placement, member, adopt);
    fields.insert("launchTemplate".into(), template("LaunchTemplateId"));
    fields.insert("templateVersion".into(), template("DefaultVersionNumber"));
    if group.subnets.is_none()
        && let Some(subnets) = placement.subnets.clone()
    {
        fields.insert("subnets".into(), subnets);
    }
    Resource {
        id: resource_id(placement.scope, placement.workspace, key, group),
        section: Cow::Owned(format!("compute.{key}")),
        fields,
        initial: BTreeMap::new(),
        owner: placement.owner.to_owned(),
        adopt,
        notices: Vec::new(),
        refusals: Vec::new(),
    }
}

/// A template of the name that somebody else has is never taken for ours; one that is nobody's is where
/// it is taken over with the group.
fn of_template(placement: &Placement<'_>, member: &str, adopt: bool) -> Input {
    let output = Output {
        of: placement.template.clone(),
        member: member.to_owned(),
        typed: true,
        owner: Some(placement.owner.to_owned()),
        adopt,
    };
    Input::Template {
        value: format!("${{launchTemplate.{member}}}").into(),
        outputs: BTreeMap::from([(format!("launchTemplate.{member}"), output)]),
        needs: BTreeSet::new(),
    }
}

fn declared(group: &Group) -> Vec<(&'static str, Value)> {
    let health = group.health_check.as_ref();
    let fields = [
        ("launchTemplateVersion", Some(json!(DEFAULT_VERSION))),
        ("minSize", Some(json!(group.min_size))),
        ("maxSize", Some(json!(group.max_size))),
        ("desiredCapacity", group.desired_capacity.map(|it| json!(it))),
        ("subnets", group.subnets.as_ref().map(|it| json!(it))),
        ("targetGroups", group.target_groups.as_ref().map(|it| json!(it))),
        ("healthCheck.types", health.and_then(|it| it.types.as_ref()).map(|it| json!(it))),
        (
            "healthCheck.gracePeriodSeconds",
            health.and_then(|it| it.grace_period_seconds).map(|it| json!(it)),
        ),
        ("terminationPolicies", group.termination_policies.as_deref().map(order)),
        ("capacityRebalance", group.capacity_rebalance.map(|it| json!(it))),
        ("maxInstanceLifetimeSeconds", group.max_instance_lifetime_seconds.map(|it| json!(it))),
        ("tags", group.tags.as_ref().map(|it| json!(it))),
        ("propagateTags", propagated(group)),
    ];
    fields.into_iter().filter_map(|(field, value)| Some((field, value?))).collect()
}

fn order(policies: &[String]) -> Value {
    if policies.is_empty() { json!(["Default"]) } else { json!(policies) }
}

/// Says of each declared tag whether instances get it.
fn propagated(group: &Group) -> Option<Value> {
    let propagate = group.propagate_tags?;
    let tags: BTreeMap<&String, bool> =
        group.tags.iter().flatten().map(|(key, _)| (key, propagate)).collect();
    (!tags.is_empty()).then(|| json!(tags))
}
