//! What a merge would do to the live cloud: object by object, field by field, three ways.
//!
//! A [`Review`] is a plan of the merge result beside a plan of its base, both against the same
//! observation: what only the first holds is the merge's doing, what both hold is so already.
//!
//! Invariant: equal proposals against an equal cloud give equal reviews, whenever they are made: a
//! time stands in it only where a person set it, a window by its weekday and never by its next date.

use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::trail::Changed;
use super::{
    Action, Disruption, Holds, Key, Notice, Problem, Refusal, ResourceId, Revision, Severity, Wait,
};

/// Holds what a merge would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Review {
    /// What is merged into, as people call it: a branch.
    pub onto: String,
    /// The tip of that.
    pub base: Revision,
    /// The tip of what is merged.
    pub head: Revision,
    /// What it was compared with.
    pub look: Look,
    /// Why nothing comes of the merge, if so.
    pub trouble: Option<Trouble>,
    /// What is wrong in the files that the merge changes, and elsewhere because of it.
    pub problems: Vec<Problem>,
    /// Why the objects that vanish do not count as removed, if a guard holds them.
    pub frozen: Option<String>,
    /// The objects that the merge touches, those that need the most care first.
    pub objects: Vec<ObjectReview>,
}

/// Says what a proposal was compared with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Look {
    /// The cloud, as it was read for this.
    Live,
    /// Saved answers.
    Saved,
    /// Nothing: says why the cloud is not shown.
    Withheld(String),
}

/// Says why nothing comes of a merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Trouble {
    /// Both sides changed the same places of these files.
    Conflicts(Vec<Arc<str>>),
    /// The agent would not take the result; says why.
    Refused(String),
}

/// Holds what a merge would do to one object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReview {
    /// The object.
    pub key: Key,
    /// What the merge does to its manifest.
    pub edit: Edit,
    /// The environment that it names.
    pub environment: String,
    /// The file of its manifest.
    pub path: Arc<str>,
    /// Who keeps the agent from doing anything about it.
    pub holds: Holds,
    /// Why it cannot be planned, if so.
    pub obstacle: Option<String>,
    /// What happens to its resources, in the order of their dependencies; none for those that are
    /// and stay as declared.
    pub effects: Vec<Effect>,
}

/// Says what a merge does to the manifest of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Edit {
    /// Declares it for the first time.
    Added,
    /// Declares something else.
    Changed,
    /// Changes what its annotations say and nothing else.
    Annotated,
    /// Declares it no longer.
    Removed,
    /// Changes the `Network` that it names.
    Reached,
    /// Makes its file one that cannot be taken; the last good version stays in force.
    Broken,
}

/// Holds what happens to one resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Effect {
    /// The resource.
    pub resource: ResourceId,
    /// The manifest section that declares it.
    pub section: String,
    /// What is to be done about it once merged.
    pub action: Action,
    /// True when the merge changes what is to be done; false when it is so already.
    pub proposed: bool,
    /// When it is done.
    pub when: When,
    /// The fields that differ, or that the merge changes.
    pub fields: Vec<FieldReview>,
    /// What waits beside the fields.
    pub waits: Vec<Told<Wait>>,
    /// What is never done by itself.
    pub refusals: Vec<Told<Refusal>>,
    /// What a reader should know.
    pub notices: Vec<Told<Notice>>,
}

/// Joins what is told to whether the merge brings it about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Told<T> {
    /// What is told.
    #[serde(flatten)]
    pub what: T,
    /// True when it is so because of the merge; false when it is so already.
    pub proposed: bool,
}

/// Holds one field, three ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldReview {
    /// The field's path in the manifest section.
    pub field: String,
    /// What AWS has; `None` when that is nothing, or was not looked at.
    pub actual: Option<Value>,
    /// What the base declares; `None` when it declares nothing.
    pub before: Option<Value>,
    /// What the merge result declares; `None` when it declares nothing.
    pub after: Option<Value>,
    /// Why it is told.
    pub cause: FieldCause,
    /// What the change disrupts.
    pub disruption: Disruption,
    /// True when a difference in the field is a danger (public access, protection off).
    pub security: bool,
    /// When it is applied.
    pub when: When,
    /// Who made drift of it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_by: Option<Changed>,
}

/// Says why a field is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FieldCause {
    /// The merge declares another value; AWS has what the base declares.
    Changed,
    /// The merge declares another value, and AWS has neither.
    Overtaken,
    /// A value of a resource that is made.
    New,
    /// Somebody changed it in AWS; the merge has no part in it.
    Drifted,
    /// AWS does not have yet, or no longer has, what the base declares; the merge has no part in it.
    Behind,
    /// The merge declares what AWS has already.
    Accepted,
    /// The merge declares it otherwise, and nothing differs by that.
    Same,
}

/// Says when something is applied after the merge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum When {
    /// At once.
    Now,
    /// When the maintenance window opens: its weekday and time, where they are known.
    Window(Option<String>),
    /// When the grace period of a removal is over.
    Grace,
    /// When a snooze ends.
    Until(Timestamp),
    /// When a person confirms what a guard holds.
    Confirmed,
    /// When something has settled.
    Settled {
        /// A stable code.
        code: String,
        /// What it waits for.
        on: String,
    },
    /// Never: the policy, or somebody who suspended the object, leaves it as it is.
    Left,
    /// Never by itself: it is refused.
    Refused,
    /// Nobody knows: AWS could not be read; says why.
    Unknown(String),
    /// Nothing is to be done.
    Nothing,
}

/// Says whether a merge is safe, from yes to no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Safety {
    /// Nothing is interrupted, removed or endangered.
    Safe,
    /// It works, and a person should have seen what it does first.
    Care,
    /// It does not work: a mistake, a conflict, or something that AWS or the agent refuses.
    Broken,
}

/// Says what became of a proposal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// It was merged; the objects that it touched, and how each stands.
    Merged(Vec<(Key, Standing)>),
    /// It was given up.
    Closed,
    /// It goes into another branch.
    Elsewhere,
}

/// Says how an object stands to what was merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    /// It is as declared.
    Converged,
    /// It is being worked on, or waits; the one word of its status.
    Working(String),
    /// It does not become as declared by itself; the one word of its status.
    Stuck(String),
}

impl Review {
    /// Says whether the merge is safe.
    pub fn safety(&self) -> Safety {
        let has_error = self.problems.iter().any(|problem| problem.severity == Severity::Error);
        if self.trouble.is_some() || has_error {
            return Safety::Broken;
        }
        let unsure = self.frozen.is_some() || matches!(self.look, Look::Withheld(_));
        let own = if unsure { Safety::Care } else { Safety::Safe };
        self.objects.iter().map(ObjectReview::safety).fold(own, Safety::max)
    }

    /// Tells whether anything that the merge touches is, or becomes, other than AWS has it.
    pub fn has_differences(&self) -> bool {
        self.objects.iter().any(|object| object.obstacle.is_some() || !object.effects.is_empty())
    }
}

impl ObjectReview {
    /// Says whether what the merge does to the object is safe.
    pub fn safety(&self) -> Safety {
        if self.obstacle.is_some() || self.edit == Edit::Broken {
            return Safety::Broken;
        }
        self.effects.iter().map(Effect::safety).max().unwrap_or(Safety::Safe)
    }

    /// Returns the worst that the merge disrupts.
    pub fn disruption(&self) -> Disruption {
        self.effects.iter().map(Effect::disruption).max().unwrap_or_default()
    }
}

impl Effect {
    /// Says whether what the merge does to the resource is safe.
    ///
    /// What is so already is no reason against the merge.
    pub fn safety(&self) -> Safety {
        if self.refusals.iter().any(|told| told.proposed) {
            return Safety::Broken;
        }
        let is_farewell = matches!(self.action, Action::Delete | Action::Retain | Action::Adopt);
        let is_unknown = matches!(self.when, When::Unknown(_));
        let is_risky = |field: &FieldReview| field.is_proposed() && field.is_risky();
        let needs_care = (self.proposed && is_farewell && self.when != When::Nothing)
            || is_unknown
            || self.fields.iter().any(is_risky);
        if needs_care { Safety::Care } else { Safety::Safe }
    }

    /// Returns the worst that the merge disrupts.
    pub fn disruption(&self) -> Disruption {
        let proposed = self.fields.iter().filter(|field| field.is_proposed());
        proposed.map(|field| field.disruption).max().unwrap_or_default()
    }

    /// Tells whether somebody changed the resource behind Git's back.
    pub fn has_drifted(&self) -> bool {
        let is_drift = |field: &FieldReview| field.cause == FieldCause::Drifted;
        self.fields.iter().any(is_drift)
            || self.notices.iter().any(|told| told.what.code == Notice::VANISHED)
    }
}

impl FieldReview {
    /// Tells whether the merge changes the field in AWS.
    pub fn is_proposed(&self) -> bool {
        matches!(self.cause, FieldCause::Changed | FieldCause::Overtaken)
    }

    /// Tells whether a person should look at the change before it happens.
    ///
    /// Locked storage interrupts nobody.
    fn is_risky(&self) -> bool {
        let interrupts = !matches!(self.disruption, Disruption::None | Disruption::StorageLock);
        interrupts || self.security || self.cause == FieldCause::Overtaken
    }
}
