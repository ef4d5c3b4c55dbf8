//! What an identity has to be allowed for the calls of this kind.
//!
//! Sources: "Actions, resources, and condition keys for Amazon RDS" in the Service Authorization
//! Reference; "Password management with Amazon RDS and AWS Secrets Manager", "Enhanced Monitoring"
//! and "Using service-linked roles for Amazon RDS" in the RDS User Guide.

use crate::model::{Grant, Permission};

const INSTANCES: &[&str] = &["arn:aws:rds:*:*:db:*"];

/// An instance together with what it is made in.
const INSTANCES_AND_GROUPS: &[&str] = &[
    "arn:aws:rds:*:*:db:*",
    "arn:aws:rds:*:*:og:*",
    "arn:aws:rds:*:*:pg:*",
    "arn:aws:rds:*:*:subgrp:*",
];

/// The master password that RDS keeps in Secrets Manager.
const PASSWORD: Grant = Grant::of(
    &["secretsmanager:CreateSecret", "secretsmanager:TagResource"],
    &["arn:aws:secretsmanager:*:*:secret:rds!*"],
);

/// Keys of the storage and of secrets, where they are not AWS's own.
const KEYS: Grant = Grant::of(
    &["kms:CreateGrant", "kms:Decrypt", "kms:DescribeKey", "kms:GenerateDataKey"],
    &["arn:aws:kms:*:*:key/*"],
)
.when("StringLike", "kms:ViaService", &["rds.*.amazonaws.com", "secretsmanager.*.amazonaws.com"]);

/// The role of Enhanced Monitoring.
const MONITORING: Grant = Grant::of(&["iam:PassRole"], &["arn:aws:iam::*:role/*"]).when(
    "StringEquals",
    "iam:PassedToService",
    &["monitoring.rds.amazonaws.com"],
);

/// RDS's own role, which the first database of an account makes.
const SERVICE_ROLE: Grant = Grant::of(
    &["iam:CreateServiceLinkedRole"],
    &["arn:aws:iam::*:role/aws-service-role/rds.amazonaws.com/AWSServiceRoleForRDS"],
)
.when("StringEquals", "iam:AWSServiceName", &["rds.amazonaws.com"]);

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    Permission {
        operation: "DescribeDBInstances",
        grants: &[Grant::of(&["rds:DescribeDBInstances"], &["*"])],
    },
    Permission {
        operation: "CreateDBInstance",
        grants: &[
            Grant::of(&["rds:CreateDBInstance"], INSTANCES_AND_GROUPS),
            // Of a member, the cluster is asked about as well.
            Grant::of(&["rds:CreateDBInstance"], &["arn:aws:rds:*:*:cluster:*"]),
            Grant::of(&["rds:AddTagsToResource"], INSTANCES),
            PASSWORD,
            KEYS,
            MONITORING,
            SERVICE_ROLE,
        ],
    },
    Permission {
        operation: "RestoreDBInstanceFromDBSnapshot",
        grants: &[
            Grant::of(
                &["rds:RestoreDBInstanceFromDBSnapshot"],
                &[
                    "arn:aws:rds:*:*:db:*",
                    "arn:aws:rds:*:*:og:*",
                    "arn:aws:rds:*:*:pg:*",
                    "arn:aws:rds:*:*:snapshot:*",
                    "arn:aws:rds:*:*:subgrp:*",
                ],
            ),
            Grant::of(&["rds:AddTagsToResource"], INSTANCES),
            PASSWORD,
            KEYS,
            SERVICE_ROLE,
        ],
    },
    Permission {
        operation: "ModifyDBInstance",
        grants: &[
            Grant::of(&["rds:ModifyDBInstance"], INSTANCES_AND_GROUPS),
            PASSWORD,
            KEYS,
            MONITORING,
        ],
    },
    Permission {
        operation: "DeleteDBInstance",
        grants: &[
            Grant::of(&["rds:DeleteDBInstance"], INSTANCES),
            // Asked for since August 2024, for the final snapshot and the tags that it takes over.
            Grant::of(
                &["rds:AddTagsToResource", "rds:CreateDBSnapshot"],
                &["arn:aws:rds:*:*:db:*", "arn:aws:rds:*:*:snapshot:*"],
            ),
        ],
    },
    Permission {
        operation: "AddTagsToResource",
        grants: &[Grant::of(&["rds:AddTagsToResource"], INSTANCES)],
    },
];
