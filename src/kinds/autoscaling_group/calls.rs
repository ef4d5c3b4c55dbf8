//! The calls that make, change, take over, leave and delete an Auto Scaling group, as data.
//!
//! Source: the API reference of Auto Scaling. A group is never deleted with `ForceDelete`, which ends
//! instances past their lifecycle hooks and the draining of their connections: it is scaled to nothing
//! first, and deleted when its instances are gone.

use serde_json::{Map, Value, json};

use super::facts::instances;
use super::rules::DEFAULT_VERSION;
use crate::model::desired::ownership;
use crate::model::kind::Deletion;
use crate::model::{Bound, Call, Delta, Notice, Observed};

/// How many target groups one call takes (`AttachLoadBalancerTargetGroups`).
const TARGET_GROUPS: usize = 10;

fn call(operation: &'static str, name: &str) -> Call {
    Call::new("autoscaling", operation).with("AutoScalingGroupName", name)
}

/// Returns the call that makes the group with everything at once.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let name = &*desired.id.name;
    let mut create = call("CreateAutoScalingGroup", name)
        .with("LaunchTemplate", template(desired.declared("launchTemplate")));
    for (field, value) in &desired.fields {
        if let Some((parameter, value)) = parameter(field, value, desired) {
            create = create.with(parameter, value);
        }
    }
    let targets = desired.declared("targetGroups").map(texts).unwrap_or_default();
    if !targets.is_empty() {
        create = create.with("TargetGroupARNs", targets);
    }
    let tags = desired.declared("tags").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut list = tag_list(name, &tags, |key| propagates(desired, key).unwrap_or(true));
    list.extend(owner_tag(name, &desired.owner));
    vec![create.with("Tags", list)]
}

/// Returns the calls that mend exactly these differences: instances are registered in a new target
/// group before they are judged by it, and before they leave an old one.
pub(super) fn update(desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
    let name = &*desired.id.name;
    let of = |field: &str| deltas.iter().find(|delta| delta.field == field);
    let mut calls = Vec::new();
    let there = actual.member("TargetGroupARNs").map(texts).unwrap_or_default();
    let wanted = of("targetGroups").map(|delta| texts(&delta.to));
    let wanted = wanted.unwrap_or_else(|| there.clone());
    calls.extend(targets("AttachLoadBalancerTargetGroups", name, &less(&wanted, &there)));
    calls.extend(settings(desired, deltas));
    calls.extend(targets("DetachLoadBalancerTargetGroups", name, &less(&there, &wanted)));
    calls.extend(tags(desired, actual, [of("tags"), of("propagateTags")]));
    calls
}

fn settings(desired: &Bound, deltas: &[Delta]) -> Option<Call> {
    let mut update = call("UpdateAutoScalingGroup", &desired.id.name);
    let bare = update.params.len();
    for delta in deltas {
        if delta.parameter == "LaunchTemplate" {
            update = update.with("LaunchTemplate", template(desired.declared("launchTemplate")));
        } else if let Some((parameter, value)) = parameter(&delta.field, &delta.to, desired) {
            update = update.with(parameter, value);
        }
    }
    (update.params.len() > bare).then_some(update)
}

/// Returns the parameter that creations and updates share, with a value in the form that they take.
fn parameter(field: &str, value: &Value, desired: &Bound) -> Option<(&'static str, Value)> {
    Some(match field {
        "minSize" => ("MinSize", value.clone()),
        "maxSize" => ("MaxSize", value.clone()),
        "desiredCapacity" => ("DesiredCapacity", value.clone()),
        "subnets" => ("VPCZoneIdentifier", texts(value).join(",").into()),
        "healthCheck.types" => ("HealthCheckType", health(value)),
        "healthCheck.gracePeriodSeconds" => ("HealthCheckGracePeriod", value.clone()),
        "terminationPolicies" => ("TerminationPolicies", value.clone()),
        "capacityRebalance" => ("CapacityRebalance", value.clone()),
        // AWS takes 0 as "no more", and a new group has none anyway.
        "maxInstanceLifetimeSeconds" if desired.declared(field).is_some() => {
            ("MaxInstanceLifetime", value.clone())
        }
        _ => return None,
    })
}

/// AWS looks at EC2 in any case, and takes it alone only to say that there is nothing else.
fn health(types: &Value) -> Value {
    let types = texts(types);
    if types.is_empty() { "EC2".into() } else { types.join(",").into() }
}

fn template(id: Option<&Value>) -> Value {
    json!({"LaunchTemplateId": id, "Version": DEFAULT_VERSION})
}

fn targets(operation: &'static str, name: &str, arns: &[&str]) -> Vec<Call> {
    let some = |arns: &[&str]| call(operation, name).with("TargetGroupARNs", arns);
    arns.chunks(TARGET_GROUPS).map(some).collect()
}

/// Returns the one call that sets the tags that differ, in what instances get of them too.
fn tags(desired: &Bound, actual: &Observed, deltas: [Option<&Delta>; 2]) -> Option<Call> {
    let declared = desired.declared("tags").and_then(Value::as_object)?;
    let [values, propagation] = deltas;
    let differs = |key: &String| {
        let in_values = values.is_some_and(|delta| delta.to.get(key).is_some());
        let now = actual.member("PropagatedTags").and_then(|it| it.get(key)?.as_bool());
        in_values || (propagation.is_some() && now != propagates(desired, key))
    };
    let set: Map<String, Value> = declared
        .iter()
        .filter(|(key, _)| differs(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let list = tag_list(&desired.id.name, &set, |key| {
        let now = actual.member("PropagatedTags").and_then(|it| it.get(key)?.as_bool());
        propagates(desired, key).or(now).unwrap_or(true)
    });
    (!list.is_empty())
        .then(|| Call::new("autoscaling", "CreateOrUpdateTags").with("Tags", list))
}

/// Says whether Git gives a tag to instances; `None` where it does not say.
fn propagates(desired: &Bound, key: &str) -> Option<bool> {
    desired.declared("propagateTags")?.get(key)?.as_bool()
}

fn tag_list(name: &str, tags: &Map<String, Value>, propagates: impl Fn(&str) -> bool) -> Vec<Value> {
    let tag = |(key, value): (&String, &Value)| {
        json!({
            "ResourceId": name,
            "ResourceType": "auto-scaling-group",
            "Key": key,
            "Value": value,
            "PropagateAtLaunch": propagates(key),
        })
    };
    tags.iter().map(tag).collect()
}

/// The ownership tag is the group's alone: an instance belongs to its group.
fn owner_tag(name: &str, owner: &str) -> Vec<Value> {
    tag_list(name, &ownership(owner), |_| false)
}

/// Returns the call that sets the ownership tag.
pub(super) fn own(name: &str, owner: &str) -> Vec<Call> {
    vec![Call::new("autoscaling", "CreateOrUpdateTags").with("Tags", owner_tag(name, owner))]
}

/// Returns the calls that scale the group to nothing and delete it, which AWS takes only when its
/// instances are gone.
pub(super) fn delete(name: &str, actual: &Observed) -> Deletion {
    let sizes = ["MinSize", "MaxSize", "DesiredCapacity"];
    let is_empty = sizes.iter().all(|member| actual.member(member).and_then(Value::as_u64) == Some(0));
    let mut calls = Vec::new();
    if !is_empty {
        let update = call("UpdateAutoScalingGroup", name);
        calls.push(sizes.iter().fold(update, |update, member| update.with(member, 0)));
    }
    calls.push(call("DeleteAutoScalingGroup", name));
    let count = instances(actual).count();
    let notice = Notice {
        field: String::new(),
        code: "InstancesTerminated".to_owned(),
        message: format!("its {count} instances are ended, and nothing that they hold is kept"),
    };
    Deletion { calls, notices: (count > 0).then_some(notice).into_iter().collect() }
}

fn less<'a>(list: &[&'a str], others: &[&str]) -> Vec<&'a str> {
    list.iter().filter(|item| !others.contains(item)).copied().collect()
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
