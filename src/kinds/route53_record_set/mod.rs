//! Route 53 record sets: the ones that a workspace's `dns` section declares.
//!
//! [`spec`] is the manifest section, `check` what it alone proves wrong, `expand` the resources that it
//! asks for, `names` how zones and record sets are named here, `rules` the field rules, `calls` the
//! calls as data, `zone` how a zone is found and read, `amid` what a new record meets there, `marker`
//! whose a record set is, `routing` the routing policies, `alias` the zones of AWS's own names,
//! `facts` what answers mean.
//!
//! A record set is known by its zone, name, type and set identifier. One list holds those of a zone,
//! 300 a page, and is shared by all that are declared in it: a pass costs 1 call per 100 zones of the
//! account and 1 per 300 record sets of each zone in use.
//!
//! Route 53 gives record sets no tags. Beside each of ours stands a TXT record that says whose it is;
//! it is made, changed and deleted in the same change batch. So ownership is in the zone itself: who
//! has lost the store knows it still, and two agents know it of each other. What has no such record
//! was made by somebody else and is refused, unless the manifest says `adopt: true`.

mod alias;
mod amid;
mod calls;
mod check;
mod check_values;
mod expand;
mod facts;
mod import;
mod marker;
mod names;
mod permissions;
mod routing;
mod rules;
pub(crate) mod sdk;
pub mod spec;
mod zone;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::model::kind::{Deletion, List, Lists};
use crate::model::within::Within;
use crate::model::{Bound, Call, Delta, ErrorClass, Import, Kind, KindName, Observed, Permission, Readiness, Refusal, ResourceId, Rule};

/// The name of the kind.
pub const NAME: KindName = KindName::new("route53_record_set");

/// The kind.
pub const KIND: RecordSet = RecordSet;

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct RecordSet;

impl Kind for RecordSet {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "route53"
    }

    fn trail_part(&self, id: &ResourceId) -> Option<String> {
        id.name.split('/').nth(1).map(str::to_owned)
    }

    /// Events of record sets are those of their zone, which is known by its id or else by its name.
    fn trail_name(&self, id: &ResourceId, outputs: &BTreeMap<String, Value>) -> String {
        let _ = outputs;
        let zone = id.name.split('/').next().unwrap_or_default();
        zone.rsplit(':').next().unwrap_or_default().to_owned()
    }

    fn is_global(&self) -> bool {
        true
    }

    fn lists(&self) -> &'static [List] {
        const LISTS: &[List] = &[List {
            operation: "ListHostedZones",
            answer: "HostedZones",
            identifier: "Id",
            only: None,
            flag: None,
            region: None,
            page_size: ("MaxItems", 100),
            marker: ("Marker", "NextMarker"),
        }];
        LISTS
    }

    fn assemble(&self, lists: Lists) -> Vec<(String, Map<String, Value>)> {
        zone::assemble(lists)
    }

    fn confirm(&self, _name: &str) -> Option<Call> {
        None
    }

    fn within(&self) -> Option<&'static dyn Within> {
        Some(&KIND)
    }

    fn join(&self, calls: &[&Call]) -> Option<Call> {
        calls::join(calls)
    }

    fn import(&self) -> Option<&'static dyn Import> {
        Some(&KIND)
    }

    fn rules(&self) -> &'static [Rule] {
        rules::RULES
    }

    fn readiness(&self, actual: &Observed) -> Readiness {
        facts::readiness(actual)
    }

    fn objections(&self, desired: &Bound, actual: &Observed) -> Vec<Refusal> {
        amid::objections(desired, actual)
    }

    fn identity(&self, actual: &Observed) -> Option<String> {
        names::identity(actual)
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

    fn own(&self, id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
        calls::own(id, actual, owner)
    }

    fn delete(&self, _id: &ResourceId, actual: &Observed, _snapshot: Option<&str>) -> Deletion {
        calls::delete(actual)
    }

    fn permissions(&self) -> &'static [Permission] {
        permissions::PERMISSIONS
    }

    fn classify(&self, code: &str) -> ErrorClass {
        facts::classify(code)
    }
}
