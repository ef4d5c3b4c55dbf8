//! The `custom` section of a manifest.
//!
//! In: the section of a manifest. Out: [`CustomResource`]s by name; [`check`](super::check) finds
//! what they alone prove wrong, [`resources`](super::expand) makes the resources of them.
//!
//! Invariants: a property that is not declared is not managed; no property holds a password.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::check::{check, is_secret};
pub use super::expand::{Placement, resource_id, resources};

/// Declares one resource of any type that AWS's Cloud Control API knows.
///
/// A property that is left out is not managed: what AWS has stays.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CustomResource {
    /// The type as CloudFormation names it, for example `AWS::SQS::Queue`. A type that has a section
    /// of its own is refused here, and so is one that the agent's settings do not allow.
    #[serde(rename = "type")]
    #[schemars(example = &"AWS::SQS::Queue")]
    pub type_name: String,
    /// The properties under the names of the type's schema; `null` means that AWS must have none of
    /// this name. Texts may hold references, such as `${database.endpoint}`; one that is the whole
    /// text keeps the type of its value. Default: none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub properties: BTreeMap<String, Value>,
    /// Whether an existing resource that is not ours is taken over. Default `false`: it is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopt: bool,
}
