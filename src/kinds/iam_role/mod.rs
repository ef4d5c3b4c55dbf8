//! IAM roles with their trust, inline and attached policies.
//!
//! [`spec`] is the manifest section, `check` what it alone proves wrong, `expand` the resources that
//! it asks for, `rules` the field rules, `calls` the calls as data, `facts` what answers mean.
//!
//! Roles are the account's, not a region's. One pass reads all of them in two lists:
//! `GetAccountAuthorizationDetails` has trust, policies, boundary and tags, and lacks description
//! and session duration, which `ListRoles` has. With pages of 1,000 that is 2 calls per 1,000 roles;
//! role by role it would be at least 3,000 (`GetRole`, `ListRolePolicies`,
//! `ListAttachedRolePolicies`) and one `GetRolePolicy` per inline policy. Both lists hold every role
//! of the account: a path narrows only the second one, and an account has no more than some thousand.

mod calls;
mod check;
mod expand;
mod facts;
mod import;
mod permissions;
mod rules;
pub(crate) mod sdk;
pub mod spec;

use serde_json::{Map, Value};

use crate::model::kind::{Deletion, List, Lists};
use crate::model::{Bound, Call, Delta, ErrorClass, Import, Kind, KindName, Notice, Observed, Offer, Permission, Readiness, ResourceId, Rule};

/// The name of the kind.
pub const NAME: KindName = KindName::new("iam_role");

/// The kind.
pub const KIND: IamRole = IamRole;

/// States the facts of the kind.
#[derive(Debug, Clone, Copy)]
pub struct IamRole;

impl Kind for IamRole {
    fn name(&self) -> KindName {
        NAME
    }

    fn service(&self) -> &'static str {
        "iam"
    }

    fn is_global(&self) -> bool {
        true
    }

    fn restless(&self) -> &'static [&'static str] {
        &["RoleLastUsed"]
    }

    fn lists(&self) -> &'static [List] {
        const PAGING: ((&str, u32), (&str, &str)) = (("MaxItems", 1000), ("Marker", "Marker"));
        const LISTS: &[List] = &[
            List {
                operation: "GetAccountAuthorizationDetails",
                answer: "RoleDetailList",
                identifier: "RoleName",
                only: Some(("Filter", &["Role"])),
                flag: None,
                region: None,
                page_size: PAGING.0,
                marker: PAGING.1,
            },
            List {
                operation: "ListRoles",
                answer: "Roles",
                identifier: "RoleName",
                only: None,
                flag: None,
                region: None,
                page_size: PAGING.0,
                marker: PAGING.1,
            },
        ];
        LISTS
    }

    fn assemble(&self, lists: Lists) -> Vec<(String, Map<String, Value>)> {
        facts::assemble(lists)
    }

    fn confirm(&self, name: &str) -> Option<Call> {
        Some(Call::new("iam", "GetRole").with("RoleName", name))
    }

    /// `GetRole` says that a role exists, and nothing of its policies.
    fn is_whole_by_name(&self) -> bool {
        false
    }

    /// The tags are read where the manifest declares some.
    fn reads_of_each(&self) -> &'static [&'static str] {
        &["ListRoleTags"]
    }

    fn read_tags(&self, actual: &Observed) -> Option<Call> {
        Some(Call::new("iam", "ListRoleTags").with("RoleName", actual.text("RoleName")?))
    }

    fn trail_events(&self, field: &str) -> &'static [&'static str] {
        match field {
            "trust" => &["UpdateAssumeRolePolicy"],
            "policies" => &["AttachRolePolicy", "DetachRolePolicy"],
            "inline" | "databaseAccess" => &["PutRolePolicy", "DeleteRolePolicy"],
            "permissionsBoundary" => {
                &["PutRolePermissionsBoundary", "DeleteRolePermissionsBoundary"]
            }
            "tags" => &["TagRole", "UntagRole"],
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

    fn permissions(&self) -> &'static [Permission] {
        permissions::PERMISSIONS
    }

    fn classify(&self, code: &str) -> ErrorClass {
        facts::classify(code)
    }
}
