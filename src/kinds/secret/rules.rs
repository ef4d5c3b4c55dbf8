//! What is known about every field of a secret.
//!
//! Source: the API reference of `SecretListEntry`, `DescribeSecret` and the operations that change
//! them. A scheduled deletion and a policy that lets others in are dangers and mended at once. How a
//! value was made is never compared: the value is not read.

use crate::model::rules::Hold;
use crate::model::{Compare, Rule};

/// The key that AWS leaves out of its answers where it encrypts a secret.
pub(super) const DEFAULT_KEY: &str = "alias/aws/secretsmanager";

/// The tag that holds the recovery window, in days.
pub(super) const RECOVERY_WINDOW: &str = "levelset:recovery-window-days";

/// AWS's recovery window where none is asked for (`DeleteSecret`, member `RecoveryWindowInDays`).
pub(super) const DEFAULT_WINDOW: &str = "30";

/// The tag that holds a digest of what the value was made of, which is no secret.
pub(super) const MADE_OF: &str = "levelset:made-of";

/// The status of a secret without a value.
pub(super) const NO_VALUE: &str = "NoValue";

/// The status of a secret whose deletion is scheduled, of which AWS changes nothing else.
pub(super) const LEAVING: &str = "ScheduledForDeletion";

const LEAVES: Hold = Hold { status: LEAVING, reason: "the secret has to be restored first" };

const VALUELESS: Hold =
    Hold { status: NO_VALUE, reason: "the secret has no value yet that could be rotated" };

/// A field of a secret whose deletion is not scheduled.
const fn rule(field: &'static str, member: &'static str, parameter: &'static str) -> Rule {
    Rule::new(field, member, parameter).holds(&[LEAVES])
}

const fn rotation(field: &'static str, member: &'static str) -> Rule {
    let rule = Rule::new(field, member, "RotationRules").later();
    rule.relevant("RotationEnabled").holds(&[LEAVES, VALUELESS])
}

/// The rules, in the order in which reports show them.
pub(super) const RULES: &[Rule] = &[
    Rule::new("deletionDate", "DeletedDate", "SecretId").compare(Compare::Presence).security(),
    rule("policy", "ResourcePolicy", "ResourcePolicy")
        .compare(Compare::PolicyDocument)
        .security(),
    rule("kmsKey", "KmsKeyId", "KmsKeyId").compare(Compare::ArnTail).unsaid(DEFAULT_KEY),
    rule("description", "Description", "Description"),
    Rule::new("rotation.enabled", "RotationEnabled", "RotationRules")
        .later()
        .holds(&[LEAVES, VALUELESS]),
    rotation("rotation.lambdaArn", "RotationLambdaARN"),
    rotation("rotation.everyDays", "RotationRules").compare(Compare::Schedule),
    rotation("rotation.schedule", "RotationRules").compare(Compare::Schedule),
    rotation("rotation.duration", "RotationRules.Duration").compare(Compare::FoldCase),
    rule("replicas", "ReplicationStatus", "AddReplicaRegions")
        .compare(Compare::SetOf("Region"))
        .always(),
    Rule::new("replicaKeys", "ReplicationStatus", "AddReplicaRegions").compare(Compare::WriteOnly),
    rule("tags", "Tags", "Tags").compare(Compare::Tags),
    rule("recoveryWindowDays", "Tags", "Tags")
        .compare(Compare::TagValue { key: RECOVERY_WINDOW, unsaid: DEFAULT_WINDOW }),
    Rule::new("generate", "SecretString", "GenerateSecretString")
        .compare(Compare::WriteOnly)
        .create_only(),
    Rule::new("generate.template", "SecretString", "GenerateSecretString")
        .compare(Compare::WriteOnly)
        .create_only(),
];
