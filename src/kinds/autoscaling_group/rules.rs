//! What is known about every field of an Auto Scaling group.
//!
//! Source: the API reference of `AutoScalingGroup` and `UpdateAutoScalingGroup`. How many instances
//! there are belongs to scaling policies unless it is declared; what instances were made from is
//! theirs, so that no field here disrupts those that run, save by ending them.

use crate::model::{Compare, Disruption, Rule};

/// What a group says of the version of its launch template: the one that the template says is in
/// force.
pub(super) const DEFAULT_VERSION: &str = "$Default";

const fn same(field: &'static str, member: &'static str) -> Rule {
    Rule::new(field, member, member)
}

/// The rules, in the order in which reports show them.
pub(super) const RULES: &[Rule] = &[
    Rule::new("launchTemplate", "LaunchTemplate.LaunchTemplateId", "LaunchTemplate"),
    Rule::new("launchTemplateVersion", "LaunchTemplate.Version", "LaunchTemplate"),
    same("minSize", "MinSize").always(),
    same("maxSize", "MaxSize").always().disrupts(Disruption::Brief),
    same("desiredCapacity", "DesiredCapacity").always().disrupts(Disruption::Brief),
    Rule::new("subnets", "SubnetIds", "VPCZoneIdentifier")
        .compare(Compare::Set)
        .disrupts(Disruption::Brief),
    Rule::new("targetGroups", "TargetGroupARNs", "TargetGroupARNs").compare(Compare::Set),
    Rule::new("healthCheck.types", "HealthChecks", "HealthCheckType").compare(Compare::Set),
    same("healthCheck.gracePeriodSeconds", "HealthCheckGracePeriod"),
    same("terminationPolicies", "TerminationPolicies").compare(Compare::List),
    same("capacityRebalance", "CapacityRebalance"),
    same("maxInstanceLifetimeSeconds", "MaxInstanceLifetime"),
    Rule::new("tags", "Tags", "Tags").compare(Compare::Tags),
    Rule::new("propagateTags", "PropagatedTags", "Tags").compare(Compare::Members { names: &[] }),
    Rule::new("templateVersion", "LaunchTemplate.Version", "LaunchTemplate")
        .compare(Compare::WriteOnly),
];
