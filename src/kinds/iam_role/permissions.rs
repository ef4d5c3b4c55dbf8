//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for AWS Identity and Access Management" in the
//! Service Authorization Reference. Whoever may write roles can give himself any right: bound the
//! identity with a permissions boundary that asks for a boundary on what it makes
//! (`iam:PermissionsBoundary`).

use crate::model::{Grant, Permission};

const ROLES: &[&str] = &["arn:aws:iam::*:role/*"];

const fn on_roles(operation: &'static str, grants: &'static [Grant]) -> Permission {
    Permission { operation, grants }
}

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    on_roles(
        "GetAccountAuthorizationDetails",
        &[Grant::of(&["iam:GetAccountAuthorizationDetails"], &["*"])],
    ),
    on_roles("ListRoles", &[Grant::of(&["iam:ListRoles"], &["*"])]),
    on_roles("GetRole", &[Grant::of(&["iam:GetRole"], ROLES)]),
    on_roles("ListRoleTags", &[Grant::of(&["iam:ListRoleTags"], ROLES)]),
    on_roles(
        "CreateRole",
        &[Grant::of(
            &["iam:CreateRole", "iam:TagRole", "iam:PutRolePermissionsBoundary"],
            ROLES,
        )],
    ),
    on_roles(
        "UpdateAssumeRolePolicy",
        &[Grant::of(&["iam:UpdateAssumeRolePolicy"], ROLES)],
    ),
    on_roles("UpdateRole", &[Grant::of(&["iam:UpdateRole"], ROLES)]),
    on_roles("PutRolePolicy", &[Grant::of(&["iam:PutRolePolicy"], ROLES)]),
    on_roles("DeleteRolePolicy", &[Grant::of(&["iam:DeleteRolePolicy"], ROLES)]),
    on_roles("AttachRolePolicy", &[Grant::of(&["iam:AttachRolePolicy"], ROLES)]),
    on_roles("DetachRolePolicy", &[Grant::of(&["iam:DetachRolePolicy"], ROLES)]),
    on_roles(
        "PutRolePermissionsBoundary",
        &[Grant::of(&["iam:PutRolePermissionsBoundary"], ROLES)],
    ),
    on_roles(
        "DeleteRolePermissionsBoundary",
        &[Grant::of(&["iam:DeleteRolePermissionsBoundary"], ROLES)],
    ),
    on_roles("DeleteRole", &[Grant::of(&["iam:DeleteRole"], ROLES)]),
    on_roles("TagRole", &[Grant::of(&["iam:TagRole"], ROLES)]),
];
