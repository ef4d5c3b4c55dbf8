//! What an object in Git asks of AWS, one resource at a time.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Notice, Refusal, ResourceId};

/// The key of the tag that marks what Levelset owns; its value is `AGENT/KIND/NAME`.
pub const OWNER_TAG: &str = "levelset:owner";

/// Names a field by its path in the manifest section.
pub type Field = Cow<'static, str>;

/// Describes one resource that an object expands to, before references are resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// The resource.
    pub id: ResourceId,
    /// The manifest section that its fields live in, for example `database`; for reports.
    pub section: Cow<'static, str>,
    /// The declared fields (a field that is not declared is not managed).
    pub fields: BTreeMap<Field, Input>,
    /// Values that are sent at creation only and never compared: the documented safe defaults.
    pub initial: BTreeMap<Field, Value>,
    /// The value of the ownership tag.
    pub owner: String,
    /// True when the manifest says that an existing resource without our tag may be taken over.
    pub adopt: bool,
    /// Facts for the reader that follow from the manifest alone.
    pub notices: Vec<Notice>,
    /// Reasons, from the manifest alone, why no call may be made for this resource.
    pub refusals: Vec<Refusal>,
}

/// Holds the value of a field, or says where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Input {
    /// The manifest states it.
    Known(Value),
    /// Another resource's describe answer holds it.
    Output {
        /// The resource that has it.
        of: ResourceId,
        /// The member of its answer.
        member: String,
    },
}

impl Resource {
    /// Lists the resources whose outputs are needed, without duplicates.
    pub fn references(&self) -> Vec<&ResourceId> {
        let mut found: Vec<&ResourceId> = self
            .fields
            .values()
            .filter_map(|input| match input {
                Input::Output { of, .. } => Some(of),
                Input::Known(_) => None,
            })
            .collect();
        found.sort();
        found.dedup();
        found
    }
}

/// Describes one resource with every value known: the desired side of the differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    /// The resource.
    pub id: ResourceId,
    /// The declared fields.
    pub fields: BTreeMap<Field, Value>,
    /// Values for creation only.
    pub initial: BTreeMap<Field, Value>,
    /// The value of the ownership tag.
    pub owner: String,
    /// True when an existing resource may be taken over.
    pub adopt: bool,
}

impl Bound {
    /// Returns a declared value, or the one that creation would send.
    pub fn value(&self, field: &str) -> Option<&Value> {
        self.fields.get(field).or_else(|| self.initial.get(field))
    }

    /// Returns a declared value.
    pub fn declared(&self, field: &str) -> Option<&Value> {
        self.fields.get(field)
    }
}
