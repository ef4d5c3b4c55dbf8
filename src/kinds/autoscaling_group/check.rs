//! What the `compute` section alone proves wrong, before AWS is asked.
//!
//! In: the groups by name. Out: every [`Finding`] at once; what concerns the instances themselves is
//! found by `check_template`.
//!
//! Source: the API reference of `CreateAutoScalingGroup` and `CreateLaunchTemplate`.

use std::collections::BTreeMap;

use super::check_template;
use super::spec::{Group, HealthCheck, group_name, template_name};
use crate::kinds::policy_document::Place;
use crate::kinds::tag_rules::{self, Tagged};
use crate::model::problem::pointer_part;
use crate::model::Finding;
use crate::model::reference::has_marker;

pub(super) type Findings = Vec<Finding>;

/// Of the 50 tags of a group, one is Levelset's own.
const TAGS: Tagged = Tagged { what: "a group", most: 49, reserved: &[] };

/// What may say that an instance is broken, beside EC2 itself.
const HEALTH: [&str; 3] = ["EBS", "ELB", "VPC_LATTICE"];

/// The termination policies that AWS has.
const POLICIES: [&str; 7] = [
    "AllocationStrategy",
    "ClosestToNextInstanceHour",
    "Default",
    "NewestInstance",
    "OldestInstance",
    "OldestLaunchConfiguration",
    "OldestLaunchTemplate",
];

/// The seconds of a day, and of a year.
const LIFETIME: std::ops::RangeInclusive<u32> = 86_400..=31_536_000;

/// Finds what the section alone proves wrong; `workspace` is empty where it cannot be told.
pub fn check(
    groups: &BTreeMap<String, Group>,
    workspace: &str,
    has_network: bool,
) -> Vec<Finding> {
    let mut found = Findings::new();
    for (key, group) in groups {
        let place = Place::new(format!("/{}", pointer_part(key)));
        name(key, group, workspace, &place, &mut found);
        sizes(group, &place, &mut found);
        subnets(group, has_network, &place, &mut found);
        if let Some(health) = &group.health_check {
            health_check(health, &place.under("healthCheck"), &mut found);
        }
        order(group, &place, &mut found);
        targets(group, &place, &mut found);
        tag_rules::check(&TAGS, group.tags.as_ref(), &place.under("tags"), &mut found);
        check_template::check(group, &place, &mut found);
    }
    found
}

fn name(key: &str, group: &Group, workspace: &str, place: &Place, found: &mut Findings) {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if key.is_empty() || key.len() > 63 || !key.chars().all(is_plain) {
        let message = format!("\"{key}\" is no name for a group of a workspace");
        let hint = "up to 63 lower-case letters, digits and hyphens; name: takes any name of AWS";
        found.push(place.error("InvalidGroupName", message).hint(hint));
    }
    let named = if group.name.is_some() { place.under("name") } else { place.clone() };
    let template = template_name(workspace, key, group);
    let allowed = |c: char| c.is_ascii_alphanumeric() || "().-/_".contains(c);
    if !(3..=128).contains(&template.len()) || !template.chars().all(allowed) {
        let is_own = group.launch_template.is_some();
        let place = if is_own { place.under("launchTemplate") } else { named };
        let message = format!("\"{template}\" is no name for a launch template");
        let hint = "3 to 128 letters, digits and characters of ().-/_";
        found.push(place.error("InvalidGroupName", message).hint(hint));
        return;
    }
    let whole = group_name(workspace, key, group);
    let allowed = |c: char| c.is_ascii_graphic() && c != ':';
    if !(1..=255).contains(&whole.len()) || !whole.chars().all(allowed) {
        let message = format!("\"{whole}\" is no name for an Auto Scaling group");
        let hint = "1 to 255 ASCII characters, no blank and no colon among them";
        found.push(named.error("InvalidGroupName", message).hint(hint));
    }
}

fn sizes(group: &Group, place: &Place, found: &mut Findings) {
    let Group { min_size, max_size, desired_capacity, .. } = group;
    if min_size > max_size {
        let message = format!("minSize {min_size} is more than maxSize {max_size}");
        found.push(place.under("minSize").error("SizesCrossed", message));
    } else if let Some(desired) = desired_capacity.filter(|it| !(min_size..=max_size).contains(&it)) {
        let message = format!("desiredCapacity {desired} is not between {min_size} and {max_size}");
        let hint = "left out, it belongs to scaling policies";
        found.push(place.under("desiredCapacity").error("SizesCrossed", message).hint(hint));
    }
    let lifetime = group.max_instance_lifetime_seconds.unwrap_or_default();
    if lifetime != 0 && !LIFETIME.contains(&lifetime) {
        let message = format!("{lifetime} seconds are no lifetime of an instance");
        let hint = "86400 (a day) to 31536000 (a year), or 0 for no end";
        found.push(place.under("maxInstanceLifetimeSeconds").error("InvalidLifetime", message).hint(hint));
    }
}

fn subnets(group: &Group, has_network: bool, place: &Place, found: &mut Findings) {
    let ids = group.subnets.as_deref();
    if ids.is_none() && !has_network {
        let hint = "add network: with a vpcRef beside compute:, or subnets: to the group";
        found.push(place.error("NoSubnets", "the group has no subnets to start instances in").hint(hint));
    }
    if ids.is_some_and(<[String]>::is_empty) {
        let message = "a group needs a subnet to start instances in";
        found.push(place.under("subnets").error("NoSubnets", message));
    }
    each_id(ids, "subnet-", &place.under("subnets"), "subnet", found);
    match &group.subnet_tags {
        Some(_) if ids.is_some() => {
            let message = "subnets says already which ones";
            found.push(place.under("subnetTags").error("SubnetsSaidTwice", message));
        }
        Some(tags) if tags.is_empty() => {
            let message = "no tag chooses no subnet";
            let hint = "leave it out for all subnets of the VPC";
            found.push(place.under("subnetTags").error("NoSubnets", message).hint(hint));
        }
        _ => {}
    }
}

/// Tells of texts that are neither ids nor references.
pub(super) fn each_id(
    ids: Option<&[String]>,
    prefix: &str,
    place: &Place,
    what: &str,
    found: &mut Findings,
) {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    let is_id = |id: &str| {
        let digits = id.strip_prefix(prefix).unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(is_digit)
    };
    for (at, id) in ids.into_iter().flatten().enumerate() {
        if !is_id(id) && !has_marker(id) {
            let message = format!("\"{id}\" is no id of a {what}");
            let hint = format!("as in {prefix}0123456789abcdef0");
            found.push(place.under(&at.to_string()).error("InvalidId", message).hint(hint));
        }
    }
}

fn health_check(health: &HealthCheck, place: &Place, found: &mut Findings) {
    for (at, name) in health.types.iter().flatten().enumerate() {
        if !HEALTH.contains(&name.as_str()) {
            let message = format!("\"{name}\" is nothing that is asked beside EC2");
            let hint = "ELB, EBS or VPC_LATTICE; EC2 itself is always asked";
            found.push(place.item("types", at).error("UnknownHealthCheck", message).hint(hint));
        }
    }
}

fn order(group: &Group, place: &Place, found: &mut Findings) {
    for (at, policy) in group.termination_policies.iter().flatten().enumerate() {
        let is_known = POLICIES.contains(&policy.as_str());
        if !is_known && !policy.starts_with("arn:") && !has_marker(policy) {
            let message = format!("\"{policy}\" is no termination policy");
            let hint = POLICIES.join(", ");
            let place = place.item("terminationPolicies", at);
            found.push(place.error("UnknownTerminationPolicy", message).hint(hint));
        }
    }
}

fn targets(group: &Group, place: &Place, found: &mut Findings) {
    for (at, arn) in group.target_groups.iter().flatten().enumerate() {
        let is_arn = arn.starts_with("arn:") && arn.contains(":targetgroup/");
        if !is_arn && !has_marker(arn) {
            let message = format!("\"{arn}\" is no ARN of a target group");
            let hint = "arn:aws:elasticloadbalancing:REGION:ACCOUNT:targetgroup/NAME/ID";
            found.push(place.item("targetGroups", at).error("InvalidTargetGroup", message).hint(hint));
        }
    }
}

