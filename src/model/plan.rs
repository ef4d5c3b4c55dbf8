//! What one pass is going to do: an immutable value that leaves apply nothing to choose.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Call, Cause, Delta, Difference, Disruption, Holds, Key, Notice, Origin, Refusal, ResourceId,
    Revision,
};
use crate::model::delta::Wait;
use crate::model::status::Traced;

/// Holds the steps for one object in the order of their dependencies.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The object.
    pub key: Key,
    /// The commit that was compared.
    pub revision: Option<Revision>,
    /// Who suspends or snoozes the object.
    #[serde(default)]
    pub holds: Holds,
    /// One step per resource.
    pub steps: Vec<Step>,
    /// Who made the drift that it shows, where passes have found that out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traced: Vec<Traced>,
}

/// Holds what is to happen to one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The resource.
    pub resource: ResourceId,
    /// The manifest section, for reports.
    pub section: String,
    /// What kind of step it is.
    pub action: Action,
    /// Whether it happens now.
    pub verdict: Verdict,
    /// The differences that it mends.
    pub deltas: Vec<Delta>,
    /// The calls, in order. Empty unless the verdict is [`Verdict::Go`] or it is only deferred.
    pub calls: Vec<Call>,
    /// The worst disruption among the differences.
    pub disruption: Disruption,
    /// When AWS applies what disrupts, where that is the next maintenance window and not now.
    #[serde(default)]
    pub effective: Option<Timestamp>,
    /// Differences that wait.
    pub waits: Vec<Wait>,
    /// Differences that are never mended by themselves.
    pub refusals: Vec<Refusal>,
    /// What a reader should know.
    pub notices: Vec<Notice>,
}

/// Names what a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The resource is as declared.
    Nothing,
    /// It does not exist and is made.
    Create,
    /// It exists and is changed in place.
    Update,
    /// It exists without our tag, the manifest says it is ours, and it is tagged.
    Adopt,
    /// It is only read.
    Read,
    /// Git declares it no longer; it stays in AWS, and its tag says so.
    Retain,
    /// Git declares it no longer, and it is deleted.
    Delete,
}

/// Says whether a step happens now, and why not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// It happens now, or there is nothing to do.
    Go,
    /// Something has to settle first; it is not a failure.
    Waiting {
        /// A stable code.
        code: String,
        /// What it waits for; holds no duration.
        on: String,
    },
    /// It happens later.
    Deferred {
        /// When, in UTC.
        until: Timestamp,
        /// Why, for people.
        why: String,
    },
    /// It is reported and left, as the policy says.
    Reported,
    /// A resource that it needs is not there.
    Blocked {
        /// That resource.
        by: ResourceId,
    },
    /// It never happens by itself; the refusals say why.
    Refused,
}

impl Plan {
    /// Tells whether any call is to be made now.
    pub fn has_work(&self) -> bool {
        self.steps.iter().any(Step::is_work)
    }
}

impl Step {
    /// Tells whether the step makes a call now.
    pub fn is_work(&self) -> bool {
        self.verdict == Verdict::Go && !self.calls.is_empty()
    }

    /// Tells whether the difference of a field stays out of the calls, because it waits or is refused.
    pub fn is_held(&self, field: &str) -> bool {
        self.waits.iter().any(|wait| wait.field == field)
            || self.refusals.iter().any(|refusal| refusal.field == field)
    }

    /// Tells whether a field was changed outside Git, or, for [`Difference::EXISTENCE`], the whole of it
    /// was deleted.
    pub fn has_drift(&self, field: &str) -> bool {
        let vanished = || self.notices.iter().any(|notice| notice.code == Notice::VANISHED);
        let drifted = |delta: &Delta| delta.field == field && delta.origin == Origin::Drift;
        self.deltas.iter().any(drifted) || (field == Difference::EXISTENCE && vanished())
    }

    /// Returns the differences that the calls mend.
    pub fn sent(&self) -> impl Iterator<Item = &Delta> {
        self.deltas.iter().filter(|delta| !self.is_held(&delta.field))
    }

    /// Says why its calls are made.
    pub fn cause(&self) -> Cause {
        match self.action {
            Action::Create => Cause::Create,
            Action::Adopt => Cause::Adopt,
            Action::Retain | Action::Delete => Cause::Remove,
            Action::Nothing | Action::Update | Action::Read => {
                let is_drift = self.sent().all(|delta| delta.origin == Origin::Drift);
                if is_drift { Cause::Revert } else { Cause::Change }
            }
        }
    }

    /// Tells whether a call changes storage, of which AWS refuses the next change for hours, with the
    /// code of a bad request.
    pub fn changes_storage(&self, call: &Call) -> bool {
        self.deltas.iter().any(|delta| {
            delta.disruption == Disruption::StorageLock
                && call.params.contains_key(&delta.parameter)
        })
    }

    /// Tells whether the resource is as declared, or gone or left for good, and nothing is waited
    /// for or refused.
    pub fn is_settled(&self) -> bool {
        let rests = match self.action {
            Action::Nothing | Action::Read => true,
            Action::Retain | Action::Delete => self.calls.is_empty(),
            Action::Create | Action::Update | Action::Adopt => false,
        };
        rests && self.verdict == Verdict::Go && self.waits.is_empty() && self.refusals.is_empty()
    }

    /// Tells whether Git declares the resource no longer.
    pub fn is_farewell(&self) -> bool {
        matches!(self.action, Action::Retain | Action::Delete)
    }
}
