//! How an Auto Scaling group that exists is declared: as an entry of `compute`, in which its launch
//! template stands too.
//!
//! How many instances there are is left to scaling, save where the bounds leave no choice. A group that
//! an entry would start other instances for cannot be declared: one with a launch configuration or a
//! mixed instances policy, and one that names a version of its template instead of the one in force.

use serde_json::{Value, json};

use super::facts::{instances, suspended};
use super::rules::{DEFAULT_VERSION, RULES};
use crate::model::import::{Around, Draft, Import, Section, Several, Writer};
use crate::model::{Observed, inverse};

/// What a list says that AWS has, and what to say of it.
const LISTS: [(&str, &str); 2] =
    [("LoadBalancerNames", "classic load balancers"), ("EnabledMetrics", "metrics of the group")];

/// Settings without a field, and what AWS says where nobody set them.
const SETTINGS: [(&str, &str); 11] = [
    (
        "AvailabilityZoneDistribution",
        r#"{"CapacityDistributionStrategy":"balanced-best-effort"}"#,
    ),
    ("AvailabilityZoneImpairmentPolicy", r#"{"ZonalShiftEnabled":false}"#),
    ("CapacityReservationSpecification", r#"{"CapacityReservationPreference":"default"}"#),
    ("Context", ""),
    ("DefaultCooldown", "300"),
    ("DefaultInstanceWarmup", ""),
    ("DesiredCapacityType", "units"),
    ("InstanceMaintenancePolicy", ""),
    ("NewInstancesProtectedFromScaleIn", "false"),
    ("PlacementGroup", ""),
    ("WarmPoolConfiguration", ""),
];

impl Import for super::AutoscalingGroup {
    fn passed_over(&self, _name: &str, actual: &Observed) -> Option<String> {
        let set = |member: &str| actual.member(member).is_some_and(|it| !it.is_null() && *it != "");
        if set("LaunchConfigurationName") {
            return Some("it has a launch configuration, and an entry a launch template".to_owned());
        }
        if set("MixedInstancesPolicy") {
            return Some("it has a mixed instances policy, for which there is no field".to_owned());
        }
        let version = actual.text("LaunchTemplate.Version");
        if let Some(version) = version.filter(|version| *version != DEFAULT_VERSION) {
            return Some(format!(
                "it takes version {version} of its launch template, and an entry {DEFAULT_VERSION}, the one \
                 in force: say so in AWS, and it can be imported"
            ));
        }
        let subnets = actual.member("SubnetIds").and_then(Value::as_array);
        subnets
            .is_none_or(Vec::is_empty)
            .then(|| "it names zones and no subnets, which an entry needs".to_owned())
    }

    fn known_as(&self, actual: &Observed) -> Vec<(String, Option<&'static str>)> {
        let arn = actual.text("AutoScalingGroupARN");
        arn.map(|arn| (arn.to_owned(), Some("arn"))).into_iter().collect()
    }

    fn draft(&self, name: &str, actual: &Observed, around: &dyn Around) -> Option<Draft> {
        let template = actual.text("LaunchTemplate.LaunchTemplateId").unwrap_or_default();
        let section = match around.find(template) {
            Some(_) => Section::Several(Several {
                path: "compute",
                keys: vec![name.to_owned()],
                joint: Some("-"),
                end: None,
                common: Vec::new(),
            }),
            None => Section::Nowhere("its launch template was not found".to_owned()),
        };
        let mut writer = Writer::new(RULES, actual, section);
        writer.draft.needs.extend(around.find(template).map(|(id, _)| id.clone()));
        writer.draft.name = Some(("name", name.to_owned()));
        sizes(&mut writer);
        subnets(&mut writer, around);
        writer.declare(&["targetGroups", "healthCheck.types"]);
        writer.unless("healthCheck.gracePeriodSeconds", 0);
        writer.unless("terminationPolicies", json!(["Default"]));
        writer.unless("capacityRebalance", false);
        writer.unless("maxInstanceLifetimeSeconds", 0);
        tags(&mut writer, actual, around);
        told(&mut writer, actual);
        Some(writer.draft)
    }
}

fn sizes(writer: &mut Writer<'_>) {
    writer.declare(&["minSize", "maxSize"]);
    if writer.value("minSize") == writer.value("maxSize") {
        writer.declare(&["desiredCapacity"]);
    }
}

fn subnets(writer: &mut Writer<'_>, around: &dyn Around) {
    writer.declare(&["subnets"]);
    let ids = writer.value("subnets").unwrap_or_default();
    let mut ids = ids.as_array().into_iter().flatten().filter_map(Value::as_str);
    let vpc = ids.find_map(|id| around.find(id)?.1.text("VpcId"));
    writer.draft.vpc = vpc.map(str::to_owned);
}

/// Declares the tags that its template has too, as an entry does, and whether instances get them, where
/// one word says it of all.
fn tags(writer: &mut Writer<'_>, actual: &Observed, around: &dyn Around) {
    let Some(mut tags) = inverse::tags(actual) else { return };
    let template = actual.text("LaunchTemplate.LaunchTemplateId").and_then(|id| around.find(id));
    let of_template = template.and_then(|(_, template)| inverse::tags(template)).unwrap_or_default();
    let all: Vec<String> = tags.keys().cloned().collect();
    tags.retain(|key, value| of_template.get(key) == Some(value));
    let left: Vec<&str> =
        all.iter().filter(|key| !tags.contains_key(*key)).map(String::as_str).collect();
    if !left.is_empty() {
        let left = left.join(", ");
        writer.remark(format!("tags that its launch template lacks are not declared, and stay: {left}"));
    }
    if tags.is_empty() {
        return;
    }
    let gets = |key: &String| actual.member("PropagatedTags")?.get(key)?.as_bool();
    let propagate: Vec<bool> = tags.keys().map(|key| gets(key).unwrap_or(false)).collect();
    writer.draft.sheet.put("tags", tags);
    match (propagate.contains(&true), propagate.contains(&false)) {
        (false, _) => writer.draft.sheet.put("propagateTags", false),
        (true, false) => {}
        (true, true) => writer.remark("of its tags, instances get some and not all, and so it stays"),
    }
}

/// Says what an entry has no field for.
fn told(writer: &mut Writer<'_>, actual: &Observed) {
    let list = |member: &str| actual.member(member).and_then(Value::as_array);
    let has = |(member, _): &&(&str, &str)| list(member).is_some_and(|items| !items.is_empty());
    let lists = LISTS.iter().filter(has).map(|(_, what)| (*what).to_owned());
    let is_set = |(member, nothing): &&(&str, &str)| {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let value = actual.member(member).filter(|value| !value.is_null()).map(text);
        value.is_some_and(|value| !value.is_empty() && value != *nothing)
    };
    let settings = SETTINGS.iter().filter(is_set).map(|(member, _)| (*member).to_owned());
    let unknown: Vec<String> = lists.chain(settings).collect();
    if !unknown.is_empty() {
        writer.remark(format!("of the group is not declared, and stays: {}", unknown.join(", ")));
    }
    let processes = suspended(actual);
    if !processes.is_empty() {
        writer.remark(format!("suspended by hand, and left so: {}", processes.join(", ")));
    }
    let by_hand: Vec<&str> = instances(actual)
        .filter(|it| it.get("LaunchTemplate").is_none_or(Value::is_null))
        .filter_map(|it| it.get("InstanceId")?.as_str())
        .collect();
    if !by_hand.is_empty() {
        writer.remark(format!("not made from its template, and left: {}", by_hand.join(", ")));
    }
    writer.remark("not read, not declared, and stays: scaling policies, schedules, lifecycle hooks");
}
