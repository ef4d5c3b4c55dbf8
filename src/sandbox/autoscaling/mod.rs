//! Auto Scaling groups, whose instances come and go over time.
//!
//! Not modelled, on purpose: scaling policies (a person sets the desired capacity), health, load
//! balancers (a target group is its ARN), mixed instances policies, instance refreshes, lifecycle hooks.

mod group;

use std::collections::BTreeMap;

use jiff::Timestamp;
use rand::rngs::StdRng;
use serde_json::{Map, Value, json};

use self::group::Group;
use super::args::{Args, missing};
use super::ec2::Template;
use super::page;
use super::refusal::{Answer, Refusal};
use super::services::{Operation, Site};

const fn operation(
    name: &'static str,
    accepts: &'static [&'static str],
    run: fn(&mut Site<'_>, Args<'_>) -> Answer,
) -> Operation {
    Operation { service: "autoscaling", name, accepts, run }
}

/// The operations.
pub(super) const OPERATIONS: &[Operation] = &[
    operation(
        "DescribeAutoScalingGroups",
        &["AutoScalingGroupNames", "MaxRecords", "NextToken"],
        describe,
    ),
    operation(
        "CreateAutoScalingGroup",
        &[
            "AutoScalingGroupName",
            "LaunchTemplate",
            "MinSize",
            "MaxSize",
            "DesiredCapacity",
            "VPCZoneIdentifier",
            "HealthCheckType",
            "HealthCheckGracePeriod",
            "TerminationPolicies",
            "CapacityRebalance",
            "MaxInstanceLifetime",
            "TargetGroupARNs",
            "Tags",
        ],
        create,
    ),
    operation(
        "UpdateAutoScalingGroup",
        &[
            "AutoScalingGroupName",
            "LaunchTemplate",
            "MinSize",
            "MaxSize",
            "DesiredCapacity",
            "VPCZoneIdentifier",
            "HealthCheckType",
            "HealthCheckGracePeriod",
            "TerminationPolicies",
            "CapacityRebalance",
            "MaxInstanceLifetime",
        ],
        update,
    ),
    operation("CreateOrUpdateTags", &["Tags"], tag),
    operation("AttachLoadBalancerTargetGroups", TARGETS, attach),
    operation("DetachLoadBalancerTargetGroups", TARGETS, detach),
    operation("SuspendProcesses", &["AutoScalingGroupName", "ScalingProcesses"], suspend),
    operation("SetInstanceProtection", PROTECTION, protect),
    operation("DeleteAutoScalingGroup", &["AutoScalingGroupName", "ForceDelete"], delete),
];

const TARGETS: &[&str] = &["AutoScalingGroupName", "TargetGroupARNs"];
const PROTECTION: &[&str] = &["AutoScalingGroupName", "InstanceIds", "ProtectedFromScaleIn"];

/// The settings that are kept as they are given.
const SETTINGS: [&str; 8] = [
    "MinSize",
    "MaxSize",
    "DesiredCapacity",
    "HealthCheckType",
    "HealthCheckGracePeriod",
    "TerminationPolicies",
    "CapacityRebalance",
    "VPCZoneIdentifier",
];

/// Holds the groups of an account and region by name.
#[derive(Debug, Default)]
pub(super) struct State {
    groups: BTreeMap<String, Group>,
}

impl State {
    /// Brings every group up to a time.
    pub(super) fn advance(
        &mut self,
        now: Timestamp,
        templates: &BTreeMap<String, Template>,
        random: &mut StdRng,
    ) {
        for group in self.groups.values_mut() {
            group.advance(now, templates, random);
        }
        self.groups.retain(|_, group| !(group.is_leaving && group.instances.is_empty()));
    }

    /// Tells whether an instance is in a security group.
    pub(super) fn is_in_group(&self, id: &str) -> bool {
        self.groups.values().any(|group| group.is_in_group(id))
    }
}

/// The one code for everything that is wrong with a request, a group that does not exist too.
fn invalid(text: impl Into<String>) -> Refusal {
    Refusal::new("ValidationError", text)
}

fn describe(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let names = args.texts("AutoScalingGroupNames")?.unwrap_or_default();
    let (scope, templates) = (site.scope, &site.state.ec2.templates);
    let groups = site.state.autoscaling.groups.iter();
    let groups = groups.filter(|(name, _)| names.is_empty() || names.contains(name));
    let groups = groups.map(|(name, group)| (name.as_str(), group));
    page::AUTO_SCALING.answer(args, "AutoScalingGroups", groups, |name, group| {
        let arn = format!(
            "arn:aws:autoscaling:{}:{}:autoScalingGroup:0:autoScalingGroupName/{name}",
            scope.region, scope.account
        );
        Some(group.describe(name, &arn, templates))
    })
}

fn create(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = args.required("AutoScalingGroupName")?.to_owned();
    if site.state.autoscaling.groups.contains_key(&name) {
        let text = format!("AutoScalingGroup by this name already exists - {name}");
        return Err(Refusal::new("AlreadyExists", text));
    }
    let mut group = Group {
        settings: Map::from_iter([
            ("HealthCheckType".to_owned(), json!("EC2")),
            ("HealthCheckGracePeriod".to_owned(), json!(0)),
            ("TerminationPolicies".to_owned(), json!(["Default"])),
            ("NewInstancesProtectedFromScaleIn".to_owned(), json!(false)),
        ]),
        tags: BTreeMap::new(),
        targets: args.texts("TargetGroupARNs")?.unwrap_or_default(),
        suspended: Vec::new(),
        instances: BTreeMap::new(),
        zones: Vec::new(),
        created: site.now,
        is_leaving: false,
    };
    for required in ["MinSize", "MaxSize"] {
        args.integer(required)?.ok_or_else(|| missing(required))?;
    }
    if !args.has("LaunchTemplate") || !args.has("VPCZoneIdentifier") {
        return Err(invalid("a launch template and a subnet are needed"));
    }
    let desired = args.integer("DesiredCapacity")?.or(args.integer("MinSize")?);
    group.settings.insert("DesiredCapacity".to_owned(), json!(desired));
    change(site, &mut group, args)?;
    for tag in args.objects("Tags")? {
        set_tag(&mut group, tag)?;
    }
    group.advance(site.now, &site.state.ec2.templates, site.random);
    site.state.autoscaling.groups.insert(name, group);
    Ok(json!({}))
}

fn found<'a>(site: &'a mut Site<'_>, args: Args<'_>) -> Result<&'a mut Group, Refusal> {
    let name = args.required("AutoScalingGroupName")?;
    let group = site.state.autoscaling.groups.get_mut(name);
    let group =
        group.ok_or_else(|| invalid(format!("AutoScalingGroup name not found - {name}")))?;
    if group.is_leaving {
        let text = "the group is being deleted";
        return Err(Refusal::new("ScalingActivityInProgress", text));
    }
    Ok(group)
}

fn update(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let mut group = found(site, args)?.clone();
    change(site, &mut group, args)?;
    let name = args.required("AutoScalingGroupName")?.to_owned();
    group.advance(site.now, &site.state.ec2.templates, site.random);
    site.state.autoscaling.groups.insert(name, group);
    Ok(json!({}))
}

/// Sets what a call says, or refuses all of it.
fn change(site: &Site<'_>, group: &mut Group, args: Args<'_>) -> Result<(), Refusal> {
    for member in SETTINGS {
        if let Some(value) = args.get(member) {
            group.settings.insert(member.to_owned(), value.clone());
        }
    }
    if let Some(template) = args.object("LaunchTemplate")? {
        group.settings.insert("LaunchTemplate".to_owned(), template_of(site, template)?);
    }
    if let Some(seconds) = args.integer("MaxInstanceLifetime")? {
        group.settings.remove("MaxInstanceLifetime");
        if seconds != 0 {
            group.settings.insert("MaxInstanceLifetime".to_owned(), json!(seconds));
        }
    }
    if let Some(subnets) = args.text("VPCZoneIdentifier")? {
        group.zones = zones(site, subnets)?;
    }
    fit(group, args.integer("DesiredCapacity")?)
}

fn template_of(site: &Site<'_>, args: Args<'_>) -> Result<Value, Refusal> {
    let id = args.required("LaunchTemplateId")?;
    let version = args.text("Version")?.unwrap_or("$Default");
    let template = site.state.ec2.templates.get(id);
    let template = template.filter(|template| template.number(version).is_some());
    let template =
        template.ok_or_else(|| invalid(format!("there is no version {version} of {id}")))?;
    Ok(json!({"LaunchTemplateId": id, "LaunchTemplateName": template.name(), "Version": version}))
}

fn zones(site: &Site<'_>, subnets: &str) -> Result<Vec<String>, Refusal> {
    let zone = |id: &str| {
        let zone = site.state.ec2.subnet(id, "AvailabilityZone").map(str::to_owned);
        zone.ok_or_else(|| invalid(format!("The subnet ID '{id}' does not exist")))
    };
    let mut zones = subnets.split(',').map(zone).collect::<Result<Vec<_>, _>>()?;
    zones.sort();
    zones.dedup();
    Ok(zones)
}

/// Keeps the desired capacity between its bounds: one that is asked for has to be, any other moves.
fn fit(group: &mut Group, asked: Option<i64>) -> Result<(), Refusal> {
    let (least, most) = (group.number("MinSize"), group.number("MaxSize"));
    if least > most {
        return Err(invalid(format!(
            "Max bound, {most}, must be greater than or equal to min bound, {least}"
        )));
    }
    let desired = group.number("DesiredCapacity");
    if asked.is_some() && !(least..=most).contains(&desired) {
        return Err(invalid(format!(
            "Desired capacity:{desired} must be between {least} and {most}"
        )));
    }
    group.settings.insert("DesiredCapacity".to_owned(), json!(desired.clamp(least, most)));
    Ok(())
}

fn tag(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    for tag in args.objects("Tags")? {
        let name = tag.required("ResourceId")?;
        let group = site.state.autoscaling.groups.get_mut(name);
        set_tag(group.ok_or_else(|| invalid(format!("{name} not found")))?, tag)?;
    }
    Ok(json!({}))
}

fn set_tag(group: &mut Group, tag: Args<'_>) -> Result<(), Refusal> {
    let (key, value) = (tag.required("Key")?, tag.text("Value")?.unwrap_or_default());
    if key.starts_with("aws:") {
        return Err(invalid("Tag keys starting with 'aws:' are reserved"));
    }
    let propagates =
        tag.boolean("PropagateAtLaunch")?.ok_or_else(|| missing("PropagateAtLaunch"))?;
    group.tags.insert(key.to_owned(), (value.to_owned(), propagates));
    Ok(())
}

fn arns(args: Args<'_>) -> Result<Vec<String>, Refusal> {
    let arns = args.texts("TargetGroupARNs")?.unwrap_or_default();
    match (1..=10).contains(&arns.len()) {
        true => Ok(arns),
        false => Err(invalid("a call takes 1 to 10 target groups")),
    }
}

fn attach(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let arns = arns(args)?;
    let group = found(site, args)?;
    group.targets.retain(|arn| !arns.contains(arn));
    group.targets.extend(arns);
    Ok(json!({}))
}

fn detach(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let arns = arns(args)?;
    let group = found(site, args)?;
    if arns.iter().any(|arn| !group.targets.contains(arn)) {
        return Err(invalid("Trying to remove Target Groups that are not part of the group"));
    }
    group.targets.retain(|arn| !arns.contains(arn));
    Ok(json!({}))
}

fn suspend(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let processes = args.texts("ScalingProcesses")?.unwrap_or_default();
    found(site, args)?.suspended.extend(processes);
    Ok(json!({}))
}

fn protect(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let (ids, flag) =
        (args.texts("InstanceIds")?.unwrap_or_default(), args.flag("ProtectedFromScaleIn")?);
    for (_, instance) in found(site, args)?.instances.iter_mut().filter(|(id, _)| ids.contains(id))
    {
        instance.is_protected = flag;
    }
    Ok(json!({}))
}

fn delete(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let is_forced = args.flag("ForceDelete")?;
    let group = found(site, args)?;
    if is_forced {
        group.is_leaving = true;
        return Ok(json!({}));
    }
    if group.is_busy() {
        let text =
            "You cannot delete an AutoScalingGroup while there are scaling activities in progress";
        return Err(Refusal::new("ScalingActivityInProgress", text));
    }
    if !group.instances.is_empty() {
        let text =
            "You cannot delete an AutoScalingGroup while there are instances still in the group.";
        return Err(Refusal::new("ResourceInUse", text));
    }
    let name = args.required("AutoScalingGroupName")?;
    site.state.autoscaling.groups.remove(name);
    Ok(json!({}))
}
