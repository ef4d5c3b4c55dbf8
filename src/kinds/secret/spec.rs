//! The `secrets` section of a manifest.
//!
//! In: the section of a manifest. Out: [`Secret`]s by name; [`check`](super::check) finds what they
//! alone prove wrong, [`resources`](super::expand) makes the resources of them.
//!
//! Invariants: a field that is not declared is `None` and not managed; an empty mapping or text means
//! none; no field holds a value of a secret: it is made when the secret is, or it is somebody else's.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::Offer;

pub use super::check::check;
pub use super::expand::{Placement, resource_id, resources, secret_name};

/// What a secret offers to the texts of other resources; its value is no output.
pub const OFFERS: &[Offer] = &[Offer::text("arn", "ARN"), Offer::text("name", "Name")];

/// A policy document, as its JSON says it.
pub type Document = BTreeMap<String, Value>;

/// Declares one secret of AWS Secrets Manager.
///
/// A field that is left out is not managed: what AWS has stays. The value is written once, when the
/// secret is made, and never read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Secret {
    /// The name in AWS. Default: `WORKSPACE/NAME`, for example `team-payments-prod/api-key`. A secret
    /// cannot be renamed: another name is another secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    pub name: Option<String>,
    /// A description; an empty text means none. It may hold references, such as
    /// `${database.endpoint}`. Default: not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The KMS key that encrypts the value: an ARN, an id, an alias, or a reference.
    /// `alias/aws/secretsmanager` is AWS's own. Default: not managed; AWS takes its own for a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kms_key: Option<String>,
    /// How the first value is made. It has an effect only when the secret is made: the value is never
    /// read and never overwritten. Default: nobody but its owner writes the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generate: Option<Generate>,
    /// How the value is changed from time to time. Nothing rotates at the moment in which this is
    /// declared or changed. Default: not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// Copies in other regions, by region. Others are removed; an empty mapping means none. Default:
    /// not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<BTreeMap<String, Replica>>,
    /// The policy that says who else may use the secret; an empty mapping means none. Its texts may
    /// hold references, such as `${iam.api.arn}`. Default: not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<Document>,
    /// Tags. Declared keys are enforced; keys that are not declared, or no longer, are left alone.
    /// Values may hold references. Default: not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, String>>,
    /// For how many days a secret that is deleted can be brought back, 7 to 30. It is kept in a tag
    /// of the secret, so that it holds when the manifest is gone. Default: 30.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 7, max = 30))]
    pub recovery_window_days: Option<u32>,
    /// Whether an existing secret of this name that has no ownership tag is taken over; its value
    /// stays. Default `false`: it is refused.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub adopt: bool,
}

/// Says how the first value is made: a random text, alone or in a JSON object.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Generate {
    /// How many characters the random text has, 8 to 4096. Default: 32.
    #[schemars(range(min = 8, max = 4096))]
    pub length: u32,
    /// Characters that are left out. Default: none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub exclude_characters: String,
    /// Whether digits are left out. Default `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclude_numbers: bool,
    /// Whether the punctuation characters of ASCII are left out. Default `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclude_punctuation: bool,
    /// Whether upper-case letters are left out. Default `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclude_uppercase: bool,
    /// Whether lower-case letters are left out. Default `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclude_lowercase: bool,
    /// Whether spaces may be in it. Default `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub include_space: bool,
    /// Whether a character of each sort that is not left out has to be in it. Default `true`.
    pub require_each_type: bool,
    /// The other members of the JSON object that the value is then, for example
    /// `{username: app, host: "${database.endpoint}"}`. They are no secrets. The secret is made when
    /// what they refer to is known; what changes later does not change the value, and is told.
    /// Default: the value is the random text alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<BTreeMap<String, Value>>,
    /// The member of that object that holds the random text, for example `password`. Default:
    /// none; `template` needs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Default for Generate {
    fn default() -> Self {
        Self {
            length: 32,
            exclude_characters: String::new(),
            exclude_numbers: false,
            exclude_punctuation: false,
            exclude_uppercase: false,
            exclude_lowercase: false,
            include_space: false,
            require_each_type: true,
            template: None,
            key: None,
        }
    }
}

/// Says how the value is changed from time to time, by a Lambda function.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Rotation {
    /// Whether it is: `false` turns it off, and takes no other field. Default `true`.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub enabled: bool,
    /// The ARN of the function, or a reference to it. Secrets Manager has to be allowed to call it.
    /// Default: none; a rotation that is on needs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lambda_arn: Option<String>,
    /// How many days lie between two rotations, 1 to 1000. Default: what `schedule`
    /// says; a rotation that is on needs one of the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub every_days: Option<u32>,
    /// When it rotates: `rate(10 days)`, or a `cron(...)` in UTC. Default: what `everyDays` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"cron(0 4 ? * SUN *)")]
    pub schedule: Option<String>,
    /// For how many hours from its start a rotation may begin, for example `3h`. Default: not managed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
}

fn yes() -> bool {
    true
}

/// Declares a copy in another region.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Replica {
    /// The KMS key of that region that encrypts the copy. It has an effect only when the copy is made.
    /// Default: AWS's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kms_key: Option<String>,
}
