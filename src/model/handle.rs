//! What has to be remembered of a resource that is found by no name: its identifier and the request
//! that AWS may still be carrying out.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::desired::Field;

/// Says under which identifier AWS keeps a resource, and what it was last asked to do with it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Handle {
    /// The identifier of a resource that is known to be ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identifier: Option<String>,
    /// The last request whose end nobody has seen yet, or that failed lately.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket: Option<Ticket>,
}

impl Handle {
    /// Tells whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Names a request that AWS carries out after it has answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Ticket {
    /// AWS's name of the request.
    pub request: String,
    /// When it was sent.
    pub at: Timestamp,
    /// The [`digest`] of what was declared then.
    pub declared: String,
}

/// Is what the answer to a write says of the request and the resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// AWS's name of the request.
    pub request: String,
    /// The identifier of the resource, if AWS knows it by now.
    pub identifier: Option<String>,
}

/// Returns a short digest of what is declared, to tell one declaration from another.
pub fn digest(declared: &BTreeMap<Field, Value>) -> String {
    let text = serde_json::to_string(declared).unwrap_or_default();
    hex::encode(Sha256::digest(text)).chars().take(16).collect()
}
