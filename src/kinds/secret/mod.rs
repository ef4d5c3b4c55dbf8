//! Secrets of AWS Secrets Manager: everything about them but their values.
//!
//! [`spec`] is the manifest section, `check` what it alone proves wrong, `expand` the resources that
//! it asks for, `rules` the field rules, `calls` the calls as data, `value` the one place where a
//! value is made, `facts` what answers mean.
//!
//! AWS calls of a pass: `ListSecrets` with pages of 100, which has everything but copies and policies;
//! `DescribeSecret` for a secret that declares `replicas`, and for one that the list shows otherwise
//! than Git or not at all, since the list lags behind by up to five minutes; `GetResourcePolicy` for
//! one that declares a `policy`. So 1,000 secrets cost 10 calls, and up to 2,000 more where every one
//! declares both; a workspace has at most 50.
//!
//! Invariants: a value is made and sent once, by `sdk`, at the creation; it is never read
//! (`GetSecretValue` is not called), never overwritten and stands in no plan, report, log, error or
//! store; no secret is deleted without a recovery window, and none that a service owns is touched.

mod calls;
mod check;
mod expand;
mod facts;
mod import;
mod permissions;
mod rules;
pub(crate) mod sdk;
pub mod spec;
mod value;

use serde_json::{Map, Value};

use crate::model::kind::{Deletion, List, Lists};
use crate::model::{Bound, Call, Delta, ErrorClass, Import, Kind, KindName, Notice, Observed, Offer, Permission, Readiness, ResourceId, Rule};

/// The name of the kind.
pub const NAME: KindName = KindName::new("secret");

/// The kind.
pub const KIND: Secret = Secret;

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct Secret;

impl Kind for Secret {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "secretsmanager"
    }

    fn client_token(&self) -> Option<&'static str> {
        Some("ClientRequestToken")
    }

    /// When the value was used, rotated and changed.
    fn restless(&self) -> &'static [&'static str] {
        &["LastAccessedDate", "LastChangedDate", "LastRotatedDate", "NextRotationDate"]
    }

    fn lists(&self) -> &'static [List] {
        const LISTS: &[List] = &[List {
            operation: "ListSecrets",
            answer: "SecretList",
            identifier: "Name",
            only: None,
            flag: Some("IncludePlannedDeletion"),
            region: None,
            page_size: ("MaxResults", 100),
            marker: ("NextToken", "NextToken"),
        }];
        LISTS
    }

    fn assemble(&self, lists: Lists) -> Vec<(String, Map<String, Value>)> {
        facts::assemble(lists)
    }

    fn confirm(&self, name: &str) -> Option<Call> {
        Some(Call::new("secretsmanager", "DescribeSecret").with("SecretId", name))
    }

    fn is_bare_by_name(&self) -> bool {
        true
    }

    /// Source: the API reference of `ListSecrets`.
    fn do_lists_lag(&self) -> bool {
        true
    }

    fn is_whole_in_lists(&self, desired: &Bound) -> bool {
        desired.declared("replicas").is_none()
    }

    fn details(&self, desired: &Bound, actual: &Observed) -> Vec<Call> {
        // AWS shows no policy of a secret whose deletion is scheduled.
        let policy = desired.declared("policy").filter(|_| !facts::is_leaving(actual));
        let policy = policy.and(actual.text("ARN"));
        let read = |arn| Call::new("secretsmanager", "GetResourcePolicy").with("SecretId", arn);
        policy.map(read).into_iter().collect()
    }

    fn reads_of_each(&self) -> &'static [&'static str] {
        &["DescribeSecret", "GetResourcePolicy"]
    }

    fn trail_events(&self, field: &str) -> &'static [&'static str] {
        match field.split('.').next() {
            Some("deletionDate") => &["DeleteSecret"],
            Some("policy") => &["PutResourcePolicy", "DeleteResourcePolicy"],
            Some("rotation") => &["RotateSecret", "CancelRotateSecret"],
            Some("replicas") => &["ReplicateSecretToRegions", "RemoveRegionsFromReplication"],
            Some("tags") => &["TagResource", "UntagResource"],
            _ => &[],
        }
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

    fn notices(&self, desired: &Bound, actual: &Observed) -> Vec<Notice> {
        facts::notices(desired, actual)
    }

    fn offers(&self) -> &'static [Offer] {
        spec::OFFERS
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

    fn passing(&self, actual: &Observed) -> Option<Notice> {
        facts::passing(actual)
    }

    fn permissions(&self) -> &'static [Permission] {
        permissions::PERMISSIONS
    }

    fn classify(&self, code: &str) -> ErrorClass {
        facts::classify(code)
    }
}
