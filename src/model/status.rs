//! What is told about an object: rebuilt on every pass, stored, and shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::delta::Wait;
use super::handle::Handle;
use super::policy::DeletionPolicy;
use super::trail::Changed;
use super::{
    Action, Delta, Difference, Disruption, Generation, Holder, Notice, Refusal, ResourceId,
    Revision,
};

/// Holds the status of one object, in the shape of the API's `status`.
///
/// It never contains a duration or a secret.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectStatus {
    /// The generation that the last pass worked on.
    pub observed_generation: Generation,
    /// The commit that it came from.
    pub revision: Option<Revision>,
    /// When the last pass ended.
    pub last_reconciled_time: Option<Timestamp>,
    /// When the object was last found as declared.
    pub last_converged_time: Option<Timestamp>,
    /// When the next pass is due.
    pub next_run_time: Option<Timestamp>,
    /// The conditions, by type.
    pub conditions: Vec<Condition>,
    /// The resources, in the order of their dependencies.
    pub resources: Vec<ResourceStatus>,
    /// The differences that nobody declared, as long as they are there.
    pub drift: Vec<DriftStatus>,
    /// Who made drift, also of what has been reverted since: the latest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub traced: Vec<Traced>,
}

impl ObjectStatus {
    /// Returns the condition of a type.
    pub fn condition(&self, name: &str) -> Option<&Condition> {
        self.conditions.iter().find(|condition| condition.kind == name)
    }

    /// Tells whether two statuses say the same but for the times of the passes.
    pub fn is_same_but_for_times(&self, other: &Self) -> bool {
        let Self {
            observed_generation,
            revision,
            last_reconciled_time: _,
            last_converged_time: _,
            next_run_time: _,
            conditions,
            resources,
            drift,
            traced,
        } = self;
        *observed_generation == other.observed_generation
            && *revision == other.revision
            && *conditions == other.conditions
            && *resources == other.resources
            && *drift == other.drift
            && *traced == other.traced
    }

    /// Tells whether the object is as declared.
    pub fn is_ready(&self) -> bool {
        self.condition(Condition::READY).is_some_and(|condition| condition.status == Truth::True)
    }
}

/// Holds one condition, after the Kubernetes convention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// The type: one of the constants of this type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether it holds.
    pub status: Truth,
    /// One word in CamelCase that says why.
    pub reason: String,
    /// A sentence for people.
    pub message: String,
    /// When the status last changed.
    pub last_transition_time: Timestamp,
}

impl Condition {
    /// Everything is as declared and settled.
    pub const READY: &'static str = "Ready";
    /// Nobody changed anything behind Git's back, or it is not known.
    pub const DRIFTED: &'static str = "Drifted";
    /// The agent is working towards the declared state.
    pub const PROGRESSING: &'static str = "Progressing";
    /// The manifest in Git is good, or its last good version is in force.
    pub const VALID: &'static str = "Valid";
    /// The last `maxRetries` attempts failed; nothing more is tried.
    pub const FAILED: &'static str = "Failed";
    /// Changes are accepted and have no effect; nothing more is sent for these fields.
    pub const STALLED: &'static str = "Stalled";
    /// Somebody else sets a field as often as the agent reverts it; its reverts are slowed down.
    pub const CONTESTED: &'static str = "Contested";
    /// Nothing is changed for the object, because an annotation or a person says so.
    pub const SUSPENDED: &'static str = "Suspended";
    /// Drift is reported and not reverted for a while, because an annotation or a person says so.
    pub const SNOOZED: &'static str = "Snoozed";
    /// A guard of the fleet holds the object's removal or its reverts until a person confirms.
    pub const FROZEN: &'static str = "Frozen";
    /// Git has not been confirmed for too long, or its newest commit is not applied; what is declared may
    /// be out of date.
    pub const STALE: &'static str = "Stale";

    /// The reason of a suspension or a snooze that is lifted in Git.
    pub const BY_ANNOTATION: &'static str = "Annotation";
    /// The reason of a suspension or a snooze that is lifted with `levelset resume`.
    pub const BY_COMMAND: &'static str = "Command";
    /// The reason of a suspension that is lifted only by both.
    pub const BY_BOTH: &'static str = "AnnotationAndCommand";
}

/// Says whether a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Truth {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// Nobody knows.
    Unknown,
}

/// Holds what is told about one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceStatus {
    /// The resource.
    pub id: ResourceId,
    /// What the last pass meant to do.
    pub action: Action,
    /// One word: `Converged`, `Created`, `Updated`, `Waiting`, `Deferred`, `Frozen`, `Reported`,
    /// `Refused`, `Blocked`, `Failed`, `Unknown`, `Retained`, `Deleting`, `Deleted`.
    pub state: String,
    /// A sentence for people.
    pub message: String,
    /// When `state` last changed.
    pub since: Timestamp,
    /// The worst disruption of what is to be done.
    pub disruption: Disruption,
    /// What is to be mended.
    pub deltas: Vec<Delta>,
    /// What waits.
    pub waits: Vec<Wait>,
    /// What is refused.
    pub refusals: Vec<Refusal>,
    /// What a reader should know.
    pub notices: Vec<Notice>,
    /// What others may refer to, for example the endpoint. No secrets.
    pub outputs: Arc<BTreeMap<String, Value>>,
}

impl ResourceStatus {
    /// Returns the differences that the last pass meant to mend: neither waited for nor refused.
    pub fn sent(&self) -> impl Iterator<Item = &Delta> {
        let is_held = |field: &str| {
            self.waits.iter().any(|wait| wait.field == field)
                || self.refusals.iter().any(|refusal| refusal.field == field)
        };
        self.deltas.iter().filter(move |delta| !is_held(&delta.field))
    }
}

/// Describes one difference that nobody declared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DriftStatus {
    /// The resource.
    pub resource: ResourceId,
    /// The field.
    pub field: String,
    /// What AWS has.
    pub actual: Value,
    /// What Git declares.
    pub declared: Value,
    /// When it was first seen.
    pub first_seen: Timestamp,
    /// What is done about it: `Reverting`, `Reported`, `Deferred`, `Waiting`, `Frozen`, `Refused`.
    pub disposition: String,
    /// Who made it, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<Changed>,
}

/// Says who made the drift of a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Traced {
    /// The resource.
    pub resource: ResourceId,
    /// The field.
    pub field: String,
    /// When the drift was first seen.
    pub seen: Timestamp,
    /// Who made it.
    pub changed: Changed,
}

/// Holds everything that is remembered about an object between passes and across restarts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Memory {
    /// Failed attempts in a row.
    pub failures: u32,
    /// Passes in a row that only waited.
    pub waits: u32,
    /// Not before this time may the object be worked on, whatever wakes it.
    pub not_before: Option<Timestamp>,
    /// What is remembered per resource, by the text of its id.
    pub resources: BTreeMap<String, ResourceMemory>,
    /// How the object stands to the guard on mass drift.
    pub drift: DriftMemory,
    /// What the object owns, and what it no longer declares and has not let go of yet: what is
    /// needed to take it away when the manifest is gone.
    pub owned: Vec<Owned>,
    /// The annotations that suspended the object at the last pass that saw its manifest.
    pub suspended: Vec<Holder>,
    /// Since when the manifest is gone: the grace period begins here.
    pub removed: Option<Timestamp>,
    /// The commit that took the manifest away, by the history of the branch: another one is another
    /// removal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone_in: Option<Revision>,
}

impl Memory {
    /// Tells whether two memories hold the same but for the time of the next pass.
    pub fn is_same_but_for_times(&self, other: &Self) -> bool {
        let Self { failures, waits, not_before: _, resources, drift, owned, suspended, .. } = self;
        let Self { removed, gone_in, .. } = self;
        *failures == other.failures
            && *waits == other.waits
            && *resources == other.resources
            && *drift == other.drift
            && *owned == other.owned
            && *suspended == other.suspended
            && *removed == other.removed
            && *gone_in == other.gone_in
    }
}

/// Holds what the guard on mass drift has to know of an object after a restart.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DriftMemory {
    /// When drift of the object was last let through; it counts for a period.
    pub let_through: Option<Timestamp>,
    /// The differences that are held until a person confirms them.
    pub frozen: BTreeSet<Difference>,
}

/// Holds what is needed to take a resource away of which no manifest knows any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Owned {
    /// The resource.
    pub id: ResourceId,
    /// The manifest section, for reports.
    pub section: String,
    /// The value of the ownership tag that it got.
    pub owner: String,
    /// What Git said about its deletion at the last pass that saw it declared.
    pub policy: DeletionPolicy,
    /// Since when the manifest declares it no longer; `None` while it does.
    pub left: Option<Timestamp>,
    /// How it is found, where its name does not say.
    #[serde(default, skip_serializing_if = "Handle::is_empty")]
    pub handle: Handle,
    /// What it needed when it was last declared: it is deleted before that.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub needs: BTreeSet<ResourceId>,
}

/// Holds what is remembered about one resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ResourceMemory {
    /// The declared values at the last pass that found everything as declared.
    pub converged: BTreeMap<String, Value>,
    /// The changes that AWS accepted and whose effect has not been seen yet, by field.
    pub accepted_changes: BTreeMap<String, AcceptedChange>,
    /// How it is found, where its name does not say.
    #[serde(skip_serializing_if = "Handle::is_empty")]
    pub handle: Handle,
    /// When drift of a field was last reverted, oldest first; a few times per field.
    pub reverted: BTreeMap<String, Vec<Timestamp>>,
    /// The storage, which takes one change in a while.
    pub storage: StorageMemory,
}

/// Holds what is remembered about the storage of a resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct StorageMemory {
    /// How it was last seen, by member of the describe answer.
    pub seen: BTreeMap<String, Value>,
    /// When it was last changed, as far as is known, or last refused a change.
    pub locked_at: Option<Timestamp>,
    /// What AWS said, where a refusal is all that is known.
    pub refusal: Option<String>,
}

/// Remembers a change of one field that AWS accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AcceptedChange {
    /// The value that was sent.
    pub value: Value,
    /// When it was last accepted.
    pub at: Timestamp,
    /// How many times it has been accepted without effect.
    pub times: u32,
}
