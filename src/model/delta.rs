//! The differences between what is declared and what AWS has.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Apply, Disruption, ResourceId};

/// Describes one field that differs and can be mended in place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delta {
    /// The field's path in the manifest section.
    pub field: String,
    /// The request parameter that sets it.
    pub parameter: String,
    /// The actual value; null when there is none.
    pub from: Value,
    /// The declared value, in the form that the call takes.
    pub to: Value,
    /// Why the two count as different, in one clause.
    pub why: String,
    /// What mending it disrupts.
    pub disruption: Disruption,
    /// True when it is reverted at once, window or not.
    pub security: bool,
    /// When AWS applies it once accepted.
    #[serde(default)]
    pub apply: Apply,
    /// Where the difference comes from; set by the planner.
    #[serde(default)]
    pub origin: Origin,
    /// When AWS may apply it; set by the planner from the object's policy.
    #[serde(default)]
    pub timing: Timing,
}

/// Says when AWS may apply a change, where AWS leaves a choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Timing {
    /// What AWS applies at once in any case is applied at once; the rest is queued by AWS for the
    /// maintenance window. `ApplyImmediately` is not sent.
    #[default]
    Window,
    /// At once: `disruption: immediate`. `ApplyImmediately` is sent, unless somebody else's change
    /// is queued, which it would flush.
    Immediate,
}

/// Says where a difference comes from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Git changed, or the resource was never converged.
    #[default]
    Git,
    /// AWS changed behind our back: the declared value was in force before.
    Drift,
}

/// Names one difference that nobody declared, together with what AWS has.
///
/// Another actual value is another difference: a word about the one is no word about the other.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Difference {
    /// The resource.
    pub resource: ResourceId,
    /// The field's path in the manifest section, or [`Difference::EXISTENCE`].
    pub field: String,
    /// The actual value as JSON text.
    pub actual: String,
}

impl Difference {
    /// Stands in the place of a field when the resource itself was deleted outside Git.
    pub const EXISTENCE: &'static str = "existence";

    /// Stands in the place of the actual value of a resource that was deleted outside Git.
    pub const DELETED: &'static str = "deleted";

    /// Makes the difference of one field.
    pub fn new(resource: &ResourceId, field: &str, actual: &Value) -> Self {
        Self { resource: resource.clone(), field: field.to_owned(), actual: actual.to_string() }
    }

    /// Makes the difference of a resource that was deleted outside Git.
    pub fn gone(resource: &ResourceId) -> Self {
        Self::new(resource, Self::EXISTENCE, &Value::from(Self::DELETED))
    }
}

/// Holds what the differ found for one resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diff {
    /// What is to be mended now.
    pub deltas: Vec<Delta>,
    /// What differs, and why it waits.
    pub waits: Vec<Wait>,
    /// What differs and is never mended by itself.
    pub refusals: Vec<Refusal>,
    /// What a reader should know.
    pub notices: Vec<Notice>,
}

impl Diff {
    /// Tells whether nothing is to be done, waited for or refused.
    pub fn is_settled(&self) -> bool {
        self.deltas.is_empty() && self.waits.is_empty() && self.refusals.is_empty()
    }
}

/// Says that a field differs but has to wait.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Wait {
    /// The field, or empty for the whole resource.
    pub field: String,
    /// A stable code, for example `Pending`, `StorageOptimization`.
    pub code: String,
    /// What it waits for, for people; holds no duration.
    pub reason: String,
}

impl Wait {
    /// The code of drift that a guard holds until a person confirms it.
    pub const FROZEN: &'static str = "Frozen";

    /// The code of drift that the policy reports and leaves.
    pub const REPORTED: &'static str = "Reported";

    /// The code of a change that AWS accepted and does not show yet.
    pub const READBACK: &'static str = "ReadbackLag";

    /// The code of a restart for which no maintenance window is known: a person declares one.
    pub const WINDOW_UNKNOWN: &'static str = "WindowUnknown";
}

/// Says that something is never done by itself.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Refusal {
    /// The field, or empty for the whole resource.
    pub field: String,
    /// A stable code, for example `StorageShrink`.
    pub code: String,
    /// What is refused and why.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl Notice {
    /// The code of the notice that a resource was deleted outside Git.
    pub const VANISHED: &'static str = "Vanished";
}

/// Tells a reader something that needs no action of the agent.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Notice {
    /// The field, or empty for the whole resource.
    pub field: String,
    /// A stable code, for example `AheadOfGit`, `RebootRequired`.
    pub code: String,
    /// The fact.
    pub message: String,
}
