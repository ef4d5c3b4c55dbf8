//! How a kind is read of which AWS has no list with the detail: one resource at a time.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::handle::Receipt;
use super::{Bound, Call, ResourceId};

/// The members of an observation that is put together of several reads.
pub mod member {
    /// The identifier under which AWS keeps the resource.
    pub const IDENTIFIER: &str = "Identifier";
    /// What AWS has.
    pub const PROPERTIES: &str = "Properties";
    /// The request that AWS is carrying out, or that failed lately.
    pub const REQUEST: &str = "Request";
    /// What is known of the resource's type.
    pub const TYPE: &str = "Type";
    /// The member of the facts of a type that says that there is no such type.
    pub const MISSING: &str = "missing";
}

/// Says how far AWS came with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// It is being carried out.
    InFlight,
    /// It was carried out.
    Done,
    /// It failed, for a reason that may pass by itself.
    FailedForNow,
    /// It failed, for a reason that somebody has to mend.
    Failed,
}

/// States how the resources of a kind are read one by one. Pure: calls and answers are data.
pub trait Singly: Send + Sync + 'static {
    /// Returns the read of what AWS knows of a resource's type, which all resources of it share.
    fn read_type(&self, id: &ResourceId) -> Call;

    /// Takes from its answer what comparisons need; `None` when it cannot be read.
    fn facts(&self, answer: &Value) -> Option<Value>;

    /// Returns what stands for the facts of a type that may not be read, or that does not exist.
    fn without_facts(&self, reason: &str, exists: bool) -> Value;

    /// Returns the read of a request by its name.
    fn read_request(&self, request: &str) -> Call;

    /// Takes the request from its answer.
    fn request(&self, answer: &Value) -> Option<Value>;

    /// Says how far AWS came with a request, and whether it was to create the resource.
    fn stage(&self, request: &Value) -> (Stage, bool);

    /// Returns the read of a resource by its identifier.
    fn read(&self, id: &ResourceId, identifier: &str) -> Call;

    /// Takes identifier and properties from its answer; `None` when they cannot be read.
    fn resource(&self, answer: &Value) -> Option<(String, Map<String, Value>)>;

    /// Returns the identifier, where what is declared determines it.
    fn identifier(&self, declared: &Bound, facts: &Value) -> Option<String>;

    /// Returns the tags of a resource; `None` where its type carries none.
    fn tags(
        &self,
        properties: &Map<String, Value>,
        facts: &Value,
    ) -> Option<BTreeMap<String, String>>;

    /// Adds to a resource that is to be made what only the facts of its type tell: where the
    /// ownership tag goes.
    fn prepare(&self, declared: &mut Bound, facts: &Value);

    /// Reads what the answer to a write says of its request.
    fn receipt(&self, answer: &Value) -> Option<Receipt>;
}
