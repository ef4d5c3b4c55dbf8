//! What is known about every field of a role.
//!
//! Source: the API reference of `RoleDetail`, `Role` and the operations that change them. All that
//! says who gets in and what he may do is a danger when it differs. A role under another path is
//! another role, so nothing is changed while the path is refused.

use crate::model::{Compare, Rule};

/// The beginning of the names of inline policies that Levelset makes by itself.
pub(super) const RESERVED: &str = "levelset-";

/// The name of the inline policy that gives access to the database.
pub(super) const DATABASE_ACCESS: &str = "levelset-database-access";

const fn rule(field: &'static str, member: &'static str, parameter: &'static str) -> Rule {
    Rule::new(field, member, parameter).with("path")
}

/// The rules, in the order in which reports show them.
pub(super) const RULES: &[Rule] = &[
    Rule::new("name", "RoleName", "RoleName")
        .compare(Compare::FoldCase)
        .immutable("RoleNameImmutable"),
    Rule::new("path", "Path", "Path").immutable("RolePathImmutable").always(),
    rule("trust", "AssumeRolePolicyDocument", "PolicyDocument")
        .compare(Compare::PolicyDocument)
        .always()
        .security(),
    rule("policies", "AttachedManagedPolicies", "PolicyArn")
        .compare(Compare::SetOf("PolicyArn"))
        .always()
        .security(),
    rule("inline", "RolePolicyList", "PolicyDocument")
        .compare(Compare::PolicyDocuments { reserved: Some(RESERVED) })
        .always()
        .security(),
    rule("databaseAccess", "RolePolicyList", "PolicyDocument")
        .compare(Compare::PolicyDocuments { reserved: None })
        .always()
        .security(),
    rule(
        "permissionsBoundary",
        "PermissionsBoundary.PermissionsBoundaryArn",
        "PermissionsBoundary",
    )
    .security(),
    rule("maxSessionDurationSeconds", "MaxSessionDuration", "MaxSessionDuration"),
    rule("description", "Description", "Description"),
    rule("tags", "Tags", "Tags").compare(Compare::Tags),
];
