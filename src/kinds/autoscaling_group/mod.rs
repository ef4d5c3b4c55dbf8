//! Auto Scaling groups: how many instances there are, where, and when one is replaced.
//!
//! [`spec`] is the manifest section, `check` what it alone proves wrong, `expand` the group that it asks
//! for, `rules` the field rules, `calls` the calls as data, `facts` what answers mean.
//!
//! What instances are made from is a launch template's matter. The group names it by its id, since a
//! template that is made anew has the same name and another id, and takes `$Default` of it: the version
//! that the template itself says is in force, which is held against Git. So a version that somebody
//! makes starts nothing by itself (as it would with `$Latest`), and a change is in force with one call
//! and at once for every group (a number would need a second call, and between the two the group would
//! start what Git does not declare any more). AWS checks `ec2:RunInstances` of whoever changes the
//! group, not of whoever makes a version: who may change templates decides what starts.
//!
//! No change here replaces a running instance: an instance refresh, which is how AWS does that, is
//! left to people, and a notice says how many instances are of an older version.
//!
//! AWS calls of a pass: `DescribeAutoScalingGroups` with pages of 100, so 10 calls for 1,000 groups.
//!
//! Invariants: how many instances there are is sent when it is declared, and never else; a group is
//! never deleted by force.

mod calls;
mod check;
mod check_template;
mod expand;
mod facts;
mod import;
mod permissions;
mod rules;
pub(crate) mod sdk;
pub mod spec;

use serde_json::{Map, Value, json};

use crate::model::import::Import;
use crate::model::kind::{Deletion, List, Lists};
use crate::model::{
    Bound, Call, Delta, ErrorClass, Kind, KindName, Notice, Observed, Offer, Permission, Readiness,
    Refusal, ResourceId, Rule, Usage,
};

/// The name of the kind.
pub const NAME: KindName = KindName::new("autoscaling_group");

/// The kind.
pub const KIND: AutoscalingGroup = AutoscalingGroup;

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct AutoscalingGroup;

impl Kind for AutoscalingGroup {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "autoscaling"
    }

    /// Which instances there are, and how many scaling policies foresee.
    fn restless(&self) -> &'static [&'static str] {
        &["HealthStatus", "LifecycleState", "PredictedCapacity", "WarmPoolSize"]
    }

    fn lists(&self) -> &'static [List] {
        const LISTS: &[List] = &[List {
            operation: "DescribeAutoScalingGroups",
            answer: "AutoScalingGroups",
            identifier: "AutoScalingGroupName",
            only: None,
            flag: None,
            region: None,
            page_size: ("MaxRecords", 100),
            marker: ("NextToken", "NextToken"),
        }];
        LISTS
    }

    fn assemble(&self, lists: Lists) -> Vec<(String, Map<String, Value>)> {
        facts::assemble(lists)
    }

    fn confirm(&self, name: &str) -> Option<Call> {
        let call = Call::new("autoscaling", "DescribeAutoScalingGroups");
        Some(call.with("AutoScalingGroupNames", json!([name])))
    }

    /// AWS answers an empty list where no group has the name.
    fn is_found_by_search(&self) -> bool {
        true
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    fn readiness(&self, actual: &Observed) -> Readiness {
        facts::readiness(actual)
    }

    fn notices(&self, desired: &Bound, actual: &Observed) -> Vec<Notice> {
        facts::notices(desired, actual)
    }

    fn objections(&self, _desired: &Bound, actual: &Observed) -> Vec<Refusal> {
        facts::objections(actual)
    }

    fn import(&self) -> Option<&'static dyn Import> {
        Some(&KIND)
    }

    fn offers(&self) -> &'static [Offer] {
        spec::OFFERS
    }

    fn starts_empty(&self, _desired: &Bound) -> bool {
        false
    }

    fn create(&self, desired: &Bound) -> Vec<Call> {
        calls::create(desired)
    }

    fn update(&self, desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
        calls::update(desired, actual, deltas)
    }

    fn own(&self, id: &ResourceId, _actual: &Observed, owner: &str) -> Vec<Call> {
        calls::own(&id.name, owner)
    }

    /// AWS deletes a template that a group still starts instances from.
    fn usages(&self) -> &'static [Usage] {
        const USAGES: &[Usage] = &[
            Usage::by("LaunchTemplateId", "launch_template", &["LaunchTemplate", "LaunchTemplateId"]),
            Usage::by(
                "LaunchTemplateId",
                "launch_template",
                &["MixedInstancesPolicy", "LaunchTemplate", "LaunchTemplateSpecification", "LaunchTemplateId"],
            ),
        ];
        USAGES
    }

    fn protection(&self, actual: &Observed) -> Option<Refusal> {
        facts::protection(actual)
    }

    fn delete(&self, id: &ResourceId, actual: &Observed, _snapshot: Option<&str>) -> Deletion {
        calls::delete(&id.name, actual)
    }

    fn permissions(&self) -> &'static [Permission] {
        permissions::PERMISSIONS
    }

    fn classify(&self, code: &str) -> ErrorClass {
        facts::classify(code)
    }
}
