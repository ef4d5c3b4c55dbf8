//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for Amazon EC2" in the Service Authorization
//! Reference. Only templates that carry an ownership tag, whoever's, may be changed or deleted; a
//! template that is taken over is tagged first. What instances are started from a template is checked
//! where a group is made or changed, not here.

use crate::model::{Grant, Permission};

const TEMPLATES: &[&str] = &["arn:aws:ec2:*:*:launch-template/*"];

const fn needs(operation: &'static str, grants: &'static [Grant]) -> Permission {
    Permission { operation, grants }
}

/// States an action on templates that carry an ownership tag.
const fn owned(actions: &'static [&'static str]) -> Grant {
    Grant::of(actions, TEMPLATES).when("Null", "aws:ResourceTag/levelset:owner", &["false"])
}

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    needs("DescribeLaunchTemplates", &[Grant::of(&["ec2:DescribeLaunchTemplates"], &["*"])]),
    needs(
        "DescribeLaunchTemplateVersions",
        &[Grant::of(&["ec2:DescribeLaunchTemplateVersions"], &["*"])],
    ),
    needs(
        "CreateLaunchTemplate",
        &[Grant::of(&["ec2:CreateLaunchTemplate", "ec2:CreateTags"], TEMPLATES)],
    ),
    needs("CreateLaunchTemplateVersion", &[owned(&["ec2:CreateLaunchTemplateVersion"])]),
    needs("ModifyLaunchTemplate", &[owned(&["ec2:ModifyLaunchTemplate"])]),
    needs("CreateTags", &[Grant::of(&["ec2:CreateTags"], TEMPLATES)]),
    needs("DeleteLaunchTemplate", &[owned(&["ec2:DeleteLaunchTemplate"])]),
];
