//! Any other type of resource, through AWS's Cloud Control API.
//!
//! [`spec`] is the manifest section, `check` what it alone proves wrong, `expand` the resources that
//! it asks for, [`types`] which types are taken, `schema` what a type's schema says, `single` how one
//! is read, `calls` the calls as data, `patch` the JSON Patch of a change, `facts` what answers mean.
//!
//! AWS has no list with the properties of these resources: each costs a `GetResource` a pass, and a
//! `GetResourceRequestStatus` while AWS carries out a request. The schema of a type is asked for once
//! a day (`DescribeType`).

mod calls;
mod check;
mod expand;
mod facts;
mod patch;
mod permissions;
mod schema;
pub(crate) mod sdk;
mod single;
pub mod spec;
pub mod types;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::model::kind::{Deletion, List, Lists};
use crate::model::singly::Singly;
use crate::model::{
    Bound, Call, Compare, Delta, ErrorClass, Kind, KindName, Notice, Observed, Permission, Readiness,
    ResourceId, Rule,
};

/// The name of the kind.
pub const NAME: KindName = KindName::new("custom");

/// The kind.
pub const KIND: Custom = Custom;

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct Custom;

/// The one rule: what may change and how values are compared stands in the type's schema.
const RULES: &[Rule] =
    &[Rule::new("properties", "Properties", "PatchDocument").compare(Compare::Properties)];

impl Kind for Custom {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "cloudcontrolapi"
    }

    fn serves(&self, service: &str) -> bool {
        matches!(service, "cloudcontrolapi" | "cloudformation")
    }

    /// The name that a manifest gives is what most types are known by.
    fn trail_name(&self, id: &ResourceId, outputs: &BTreeMap<String, Value>) -> String {
        let _ = outputs;
        id.name.rsplit('/').next().unwrap_or_default().to_owned()
    }

    fn lists(&self) -> &'static [List] {
        &[]
    }

    fn assemble(&self, _lists: Lists) -> Vec<(String, Map<String, Value>)> {
        Vec::new()
    }

    fn confirm(&self, _name: &str) -> Option<Call> {
        None
    }

    fn singly(&self) -> Option<&'static dyn Singly> {
        Some(&KIND)
    }

    fn client_token(&self) -> Option<&'static str> {
        Some("ClientToken")
    }

    fn reads_of_each(&self) -> &'static [&'static str] {
        &["GetResource"]
    }

    fn rules(&self) -> &'static [Rule] {
        RULES
    }

    fn readiness(&self, actual: &Observed) -> Readiness {
        facts::readiness(actual)
    }

    fn notices(&self, _desired: &Bound, actual: &Observed) -> Vec<Notice> {
        facts::notices(actual)
    }

    fn outputs(&self, actual: &Observed) -> BTreeMap<String, Value> {
        facts::outputs(actual)
    }

    fn create(&self, desired: &Bound) -> Vec<Call> {
        calls::create(desired)
    }

    fn update(&self, desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
        calls::update(desired, actual, deltas)
    }

    fn own(&self, id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
        calls::own(id, actual, owner)
    }

    fn delete(&self, id: &ResourceId, actual: &Observed, _snapshot: Option<&str>) -> Deletion {
        calls::delete(id, actual)
    }

    fn permissions(&self) -> &'static [Permission] {
        permissions::PERMISSIONS
    }

    fn classify(&self, code: &str) -> ErrorClass {
        facts::classify(code)
    }
}
