//! What an identity has to be allowed for the calls of this kind.
//!
//! Sources: "Actions, resources, and condition keys for Amazon RDS" in the Service Authorization
//! Reference; "Password management with Amazon Aurora and AWS Secrets Manager" and "Using
//! service-linked roles for Amazon Aurora" in the Aurora User Guide.

use crate::model::{Grant, Permission};

const CLUSTERS: &[&str] = &["arn:aws:rds:*:*:cluster:*"];

/// A cluster together with what it is made in.
const CLUSTERS_AND_GROUPS: &[&str] = &[
    "arn:aws:rds:*:*:cluster-pg:*",
    "arn:aws:rds:*:*:cluster:*",
    "arn:aws:rds:*:*:og:*",
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

/// RDS's own role, which the first database of an account makes.
const SERVICE_ROLE: Grant = Grant::of(
    &["iam:CreateServiceLinkedRole"],
    &["arn:aws:iam::*:role/aws-service-role/rds.amazonaws.com/AWSServiceRoleForRDS"],
)
.when("StringEquals", "iam:AWSServiceName", &["rds.amazonaws.com"]);

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    Permission {
        operation: "DescribeDBClusters",
        grants: &[Grant::of(&["rds:DescribeDBClusters"], &["*"])],
    },
    Permission {
        operation: "DescribeDBInstances",
        grants: &[Grant::of(&["rds:DescribeDBInstances"], &["*"])],
    },
    Permission {
        operation: "CreateDBCluster",
        grants: &[
            Grant::of(&["rds:CreateDBCluster"], CLUSTERS_AND_GROUPS),
            Grant::of(&["rds:AddTagsToResource"], CLUSTERS),
            PASSWORD,
            KEYS,
            SERVICE_ROLE,
        ],
    },
    Permission {
        operation: "RestoreDBClusterFromSnapshot",
        grants: &[
            Grant::of(
                &["rds:RestoreDBClusterFromSnapshot"],
                &[
                    "arn:aws:rds:*:*:cluster-pg:*",
                    "arn:aws:rds:*:*:cluster-snapshot:*",
                    "arn:aws:rds:*:*:cluster:*",
                    "arn:aws:rds:*:*:og:*",
                    "arn:aws:rds:*:*:snapshot:*",
                    "arn:aws:rds:*:*:subgrp:*",
                ],
            ),
            Grant::of(&["rds:AddTagsToResource"], CLUSTERS),
            KEYS,
            SERVICE_ROLE,
        ],
    },
    Permission {
        operation: "ModifyDBCluster",
        grants: &[
            Grant::of(
                &["rds:ModifyDBCluster"],
                &[
                    "arn:aws:rds:*:*:cluster-pg:*",
                    "arn:aws:rds:*:*:cluster:*",
                    "arn:aws:rds:*:*:og:*",
                    "arn:aws:rds:*:*:pg:*",
                ],
            ),
            PASSWORD,
            KEYS,
        ],
    },
    Permission {
        operation: "DeleteDBCluster",
        grants: &[
            Grant::of(
                &["rds:DeleteDBCluster"],
                &["arn:aws:rds:*:*:cluster-snapshot:*", "arn:aws:rds:*:*:cluster:*"],
            ),
            Grant::of(
                &["rds:AddTagsToResource", "rds:CreateDBClusterSnapshot"],
                &["arn:aws:rds:*:*:cluster-snapshot:*", "arn:aws:rds:*:*:cluster:*"],
            ),
        ],
    },
    Permission {
        operation: "AddTagsToResource",
        grants: &[Grant::of(&["rds:AddTagsToResource"], CLUSTERS)],
    },
];
