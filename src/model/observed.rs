//! What AWS answered about one resource, or why it is not known.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Holds one resource as AWS described it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observed {
    /// The members of the describe answer, under the API's names.
    pub members: Map<String, Value>,
    /// The resource's tags, or `None` when they were not part of the answer and not yet read.
    pub tags: Option<BTreeMap<String, String>>,
    /// When the answer came.
    pub at: Timestamp,
}

impl Observed {
    /// Returns the member at a dotted path, for example `DBSubnetGroup.DBSubnetGroupName` or
    /// `DBParameterGroups.0.DBParameterGroupName`.
    ///
    /// A missing member and an explicit null are the same: `None`.
    pub fn member(&self, path: &str) -> Option<&Value> {
        let mut parts = path.split('.');
        let mut value = self.members.get(parts.next()?)?;
        for part in parts {
            value = match value {
                Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                _ => value.get(part)?,
            };
        }
        (!value.is_null()).then_some(value)
    }

    /// Returns the text at a dotted path.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.member(path).and_then(Value::as_str)
    }
}

/// Says what is known of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Observation {
    /// AWS described it.
    Present(Arc<Observed>),
    /// A complete read, confirmed by a read of this one name, found nothing.
    Absent,
    /// Nothing may be concluded.
    Unknown(Doubt),
}

/// Says why nothing is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Doubt {
    /// AWS asked to slow down, or the budget is used up.
    Throttled,
    /// The credentials may not read; holds what AWS said.
    Denied(String),
    /// The read failed or was incomplete; holds what happened.
    Failed(String),
    /// The saved answers hold no list of this kind; holds the list's name.
    NotRecorded(String),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Throttled => f.write_str("the read was throttled"),
            Self::Denied(text) => write!(f, "the read was denied: {text}"),
            Self::Failed(text) => write!(f, "the read failed: {text}"),
            Self::NotRecorded(list) => write!(f, "the saved answers hold no {list}"),
        }
    }
}
