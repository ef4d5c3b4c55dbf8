//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for Amazon EC2 Auto Scaling" in the Service
//! Authorization Reference, and "Control Amazon EC2 launch template usage in Auto Scaling groups" in
//! the user guide: whoever makes or changes a group with a launch template has to be allowed what the
//! start of its instances takes. Only groups that carry an ownership tag, whoever's, may be changed or
//! deleted; a group that is taken over is tagged first. Narrow `ec2:RunInstances` and `iam:PassRole`
//! to your own images, subnets and roles where you can.

use crate::model::{Grant, Permission};

const GROUPS: &[&str] = &["arn:aws:autoscaling:*:*:autoScalingGroup:*:autoScalingGroupName/*"];

/// What AWS asks for when it looks at the launch template of a group.
const START: Grant = Grant::of(&["ec2:CreateTags", "ec2:RunInstances"], &["*"]);

/// The role in the instance profile of a launch template.
const ROLES: Grant = Grant::of(&["iam:PassRole"], &["arn:aws:iam::*:role/*"]).when(
    "StringLike",
    "iam:PassedToService",
    &["ec2.amazonaws.com*"],
);

/// The image of a launch template, where a parameter holds it; AWS's own are under `aws/service`.
const IMAGES: Grant = Grant::of(&["ssm:GetParameters"], &["arn:aws:ssm:*:*:parameter/*"]);

/// The role under which Auto Scaling works, which the first group of an account makes.
const OWN_ROLE: Grant = Grant::of(
    &["iam:CreateServiceLinkedRole"],
    &["arn:aws:iam::*:role/aws-service-role/autoscaling.amazonaws.com/*"],
);

const fn needs(operation: &'static str, grants: &'static [Grant]) -> Permission {
    Permission { operation, grants }
}

/// States an action on groups that carry an ownership tag.
const fn owned(actions: &'static [&'static str]) -> Grant {
    Grant::of(actions, GROUPS).when("Null", "aws:ResourceTag/levelset:owner", &["false"])
}

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    needs(
        "DescribeAutoScalingGroups",
        &[Grant::of(&["autoscaling:DescribeAutoScalingGroups"], &["*"])],
    ),
    needs(
        "CreateAutoScalingGroup",
        &[
            Grant::of(&["autoscaling:CreateAutoScalingGroup"], GROUPS),
            Grant::of(&["autoscaling:CreateOrUpdateTags"], GROUPS),
            START,
            ROLES,
            IMAGES,
            OWN_ROLE,
        ],
    ),
    needs(
        "UpdateAutoScalingGroup",
        &[owned(&["autoscaling:UpdateAutoScalingGroup"]), START, ROLES, IMAGES],
    ),
    needs("CreateOrUpdateTags", &[Grant::of(&["autoscaling:CreateOrUpdateTags"], GROUPS)]),
    needs(
        "AttachLoadBalancerTargetGroups",
        &[owned(&["autoscaling:AttachLoadBalancerTargetGroups"])],
    ),
    needs(
        "DetachLoadBalancerTargetGroups",
        &[owned(&["autoscaling:DetachLoadBalancerTargetGroups"])],
    ),
    needs("DeleteAutoScalingGroup", &[owned(&["autoscaling:DeleteAutoScalingGroup"])]),
];
