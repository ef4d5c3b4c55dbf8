//! What an identity has to be allowed for the calls of this kind.
//!
//! Source: "Actions, resources, and condition keys for AWS Secrets Manager" in the Service
//! Authorization Reference, and the operations in the API reference. Nothing here reads a value:
//! `secretsmanager:GetSecretValue` is not needed. Narrow the resources to names of your own where you
//! can.

use crate::model::{Grant, Permission};

const SECRETS: &[&str] = &["arn:aws:secretsmanager:*:*:secret:*"];

/// Keys that are not AWS's own.
const KEYS: Grant = Grant::of(
    &["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey"],
    &["arn:aws:kms:*:*:key/*"],
)
.when("StringLike", "kms:ViaService", &["secretsmanager.*.amazonaws.com"]);

/// The function that rotates a value, which Secrets Manager tries in the name of the caller.
const FUNCTIONS: Grant =
    Grant::of(&["lambda:InvokeFunction"], &["arn:aws:lambda:*:*:function:*"]);

const fn on_secrets(operation: &'static str, grants: &'static [Grant]) -> Permission {
    Permission { operation, grants }
}

/// The permissions by operation.
pub(super) const PERMISSIONS: &[Permission] = &[
    on_secrets("ListSecrets", &[Grant::of(&["secretsmanager:ListSecrets"], &["*"])]),
    on_secrets("DescribeSecret", &[Grant::of(&["secretsmanager:DescribeSecret"], SECRETS)]),
    on_secrets("GetResourcePolicy", &[Grant::of(&["secretsmanager:GetResourcePolicy"], SECRETS)]),
    on_secrets(
        "CreateSecret",
        &[
            Grant::of(
                &[
                    "secretsmanager:CreateSecret",
                    "secretsmanager:ReplicateSecretToRegions",
                    "secretsmanager:TagResource",
                ],
                SECRETS,
            ),
            KEYS,
        ],
    ),
    on_secrets("UpdateSecret", &[Grant::of(&["secretsmanager:UpdateSecret"], SECRETS), KEYS]),
    on_secrets("PutResourcePolicy", &[Grant::of(&["secretsmanager:PutResourcePolicy"], SECRETS)]),
    on_secrets(
        "DeleteResourcePolicy",
        &[Grant::of(&["secretsmanager:DeleteResourcePolicy"], SECRETS)],
    ),
    on_secrets(
        "RotateSecret",
        &[Grant::of(&["secretsmanager:RotateSecret"], SECRETS), KEYS, FUNCTIONS],
    ),
    on_secrets("CancelRotateSecret", &[Grant::of(&["secretsmanager:CancelRotateSecret"], SECRETS)]),
    on_secrets(
        "ReplicateSecretToRegions",
        &[Grant::of(&["secretsmanager:ReplicateSecretToRegions"], SECRETS), KEYS],
    ),
    on_secrets(
        "RemoveRegionsFromReplication",
        &[Grant::of(&["secretsmanager:RemoveRegionsFromReplication"], SECRETS)],
    ),
    on_secrets("TagResource", &[Grant::of(&["secretsmanager:TagResource"], SECRETS)]),
    on_secrets("RestoreSecret", &[Grant::of(&["secretsmanager:RestoreSecret"], SECRETS)]),
    on_secrets("DeleteSecret", &[Grant::of(&["secretsmanager:DeleteSecret"], SECRETS)]),
];
