//! What people ask of a running agent, beside what Git declares.
//!
//! Two natures: a *level* holds until somebody lifts it (a suspension, a snooze, a confirmed
//! removal); a *request* is carried out once (a retry, a resumption, a confirmation). Whoever acts
//! on them looks at what stands in the store, never at how it got there.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Difference, Key};

/// Says what is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "camelCase")]
pub enum Ask {
    /// Nothing may be written for the object; it is still observed. A level.
    Suspend {
        /// The object.
        object: Key,
        /// Why, in the person's words.
        reason: Option<String>,
    },
    /// Drift of the object is reported and not reverted until a time. A level.
    Snooze {
        /// The object.
        object: Key,
        /// When reverting begins again.
        until: Timestamp,
        /// Why, in the person's words.
        reason: Option<String>,
    },
    /// The suspension and the snooze that were asked for are lifted. A request: the object is
    /// looked at once more.
    Resume {
        /// The object.
        object: Key,
    },
    /// Failures, changes without effect and contests of the object are forgotten. A request.
    Retry {
        /// The object.
        object: Key,
    },
    /// What a guard froze under this digest is meant. A request.
    Confirm {
        /// The digest that was shown.
        digest: String,
    },
    /// The removal of the object was confirmed: no guard asks about it again. A level, which the
    /// agent sets when it carries out a confirmation, and lifts when the manifest returns.
    Remove {
        /// The object.
        object: Key,
        /// The digest of the set that was confirmed.
        digest: String,
    },
    /// Drift of the object was confirmed: no guard holds these differences. A level, which the agent
    /// sets when it carries out a confirmation, and lifts when they are gone.
    Revert {
        /// The object.
        object: Key,
        /// What is reverted, each with the value that it had when it was shown.
        differences: BTreeSet<Difference>,
        /// The digest of the set that was confirmed.
        digest: String,
    },
}

impl Ask {
    /// Returns the word for what is asked; a subject has at most one of each.
    pub const fn verb(&self) -> &'static str {
        match self {
            Self::Suspend { .. } => "suspend",
            Self::Snooze { .. } => "snooze",
            Self::Resume { .. } => "resume",
            Self::Retry { .. } => "retry",
            Self::Confirm { .. } => "confirm",
            Self::Remove { .. } => "remove",
            Self::Revert { .. } => "revert",
        }
    }

    /// Returns the object that it is about; a confirmation is about a digest.
    pub const fn object(&self) -> Option<&Key> {
        match self {
            Self::Suspend { object, .. }
            | Self::Snooze { object, .. }
            | Self::Resume { object }
            | Self::Retry { object }
            | Self::Remove { object, .. }
            | Self::Revert { object, .. } => Some(object),
            Self::Confirm { .. } => None,
        }
    }

    /// Returns what it is about: an object, or the digest that is confirmed.
    pub fn subject(&self) -> String {
        match self {
            Self::Confirm { digest } => digest.clone(),
            other => other.object().map(ToString::to_string).unwrap_or_default(),
        }
    }

    /// Tells whether it is done with once it has been carried out.
    pub const fn is_request(&self) -> bool {
        matches!(self, Self::Resume { .. } | Self::Retry { .. } | Self::Confirm { .. })
    }

    /// Tells whether asking for it lifts `other`.
    pub fn lifts(&self, other: &Self) -> bool {
        matches!(self, Self::Resume { .. })
            && matches!(other, Self::Suspend { .. } | Self::Snooze { .. })
            && self.object() == other.object()
    }
}

/// Holds something that was asked and stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Which one it is. Numbers grow in the order in which asks are written, and none comes twice:
    /// the same thing asked again has a new one.
    pub number: u64,
    /// What.
    #[serde(flatten)]
    pub ask: Ask,
    /// Who asked.
    pub by: String,
    /// When, kept to the millisecond.
    pub at: Timestamp,
}
