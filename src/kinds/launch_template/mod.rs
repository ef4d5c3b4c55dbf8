//! EC2 launch templates: what the instances of a `compute` group are made from.
//!
//! [`spec`] is the resource that an entry of the section asks for, `rules` the field rules, `calls` the
//! calls as data, `facts` what answers mean. The section itself is the Auto Scaling group's.
//!
//! A template cannot be changed: a version is added, and one of them is the default one, which is in
//! force for groups that ask for `$Default`, as ours do. So the default version is what is held against
//! Git. A difference makes a version from it, which says in its description what it replaces; when it
//! is to be seen, it becomes the default one. An agent that is stopped in between finds it there and
//! makes no second one. Where somebody makes another version the default one, that is compared: what
//! differs in it is mended by one more version, and what Git does not declare stays. Where somebody goes
//! back to the version before ours, ours is put into force again. Versions are never deleted, since a
//! group of somebody else may name one; AWS takes 10,000 for a template.
//!
//! AWS calls of a pass: `DescribeLaunchTemplates` and `DescribeLaunchTemplateVersions` of `$Default`
//! and `$Latest` of all templates at once, both with pages of 200: 10 calls for 1,000 templates, and up
//! to 5 more for those whose newest version is not the default one.
//!
//! Invariants: nothing here touches a running instance; no version is made that changes nothing.

mod calls;
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
    Bound, Call, Delta, ErrorClass, Kind, KindName, Notice, Observed, Permission, Readiness, Refusal,
    ResourceId, Rule, Usage,
};

/// The name of the kind.
pub const NAME: KindName = KindName::new("launch_template");

/// The kind.
pub const KIND: LaunchTemplate = LaunchTemplate;

/// The versions that are looked at: the one in force, and the newest.
const VERSIONS: &[&str] = &["$Default", "$Latest"];

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct LaunchTemplate;

impl Kind for LaunchTemplate {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "ec2"
    }

    fn client_token(&self) -> Option<&'static str> {
        Some("ClientToken")
    }

    fn lists(&self) -> &'static [List] {
        const LISTS: &[List] = &[
            List {
                operation: "DescribeLaunchTemplates",
                answer: "LaunchTemplates",
                identifier: "LaunchTemplateName",
                only: None,
                flag: None,
                region: None,
                page_size: ("MaxResults", 200),
                marker: ("NextToken", "NextToken"),
            },
            List {
                operation: "DescribeLaunchTemplateVersions",
                answer: "LaunchTemplateVersions",
                identifier: "LaunchTemplateId",
                only: Some(("Versions", VERSIONS)),
                flag: None,
                region: None,
                page_size: ("MaxResults", 200),
                marker: ("NextToken", "NextToken"),
            },
        ];
        LISTS
    }

    fn assemble(&self, lists: Lists) -> Vec<(String, Map<String, Value>)> {
        facts::assemble(lists)
    }

    fn confirm(&self, name: &str) -> Option<Call> {
        let call = Call::new("ec2", "DescribeLaunchTemplateVersions");
        Some(call.with("LaunchTemplateName", name).with("Versions", json!(VERSIONS)))
    }

    /// It shows no tags.
    fn is_whole_by_name(&self) -> bool {
        false
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    fn readiness(&self, actual: &Observed) -> Readiness {
        facts::readiness(actual)
    }

    fn notices(&self, _desired: &Bound, actual: &Observed) -> Vec<Notice> {
        facts::notices(actual)
    }

    fn objections(&self, desired: &Bound, actual: &Observed) -> Vec<Refusal> {
        facts::objections(desired, actual)
    }

    fn import(&self) -> Option<&'static dyn Import> {
        Some(&KIND)
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

    fn own(&self, _id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
        calls::own(actual, owner)
    }

    /// AWS deletes a security group that a template names, and instances start no more.
    fn usages(&self) -> &'static [Usage] {
        const USAGES: &[Usage] = &[Usage::by(
            "GroupId",
            "security_group",
            &["LaunchTemplateData", "SecurityGroupIds"],
        )];
        USAGES
    }

    fn delete(&self, _id: &ResourceId, actual: &Observed, _snapshot: Option<&str>) -> Deletion {
        Deletion { calls: calls::delete(actual), notices: Vec::new() }
    }

    fn permissions(&self) -> &'static [Permission] {
        permissions::PERMISSIONS
    }

    fn classify(&self, code: &str) -> ErrorClass {
        facts::classify(code)
    }
}
