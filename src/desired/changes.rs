//! What a change set led to, and what is to be done about it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{Generation, Key, Revision};

/// Holds what is persisted about an object, so that its generation survives a restart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The object.
    pub key: Key,
    /// How often its spec has changed.
    pub generation: Generation,
    /// The digest of the spec that this generation stands for.
    pub digest: Arc<str>,
    /// The commit in which it appeared, if it is known.
    pub revision: Option<Revision>,
    /// True when the last pass found its manifest gone.
    pub was_removed: bool,
}

/// Says why a key is to be looked at; for the log, since the queue takes the key alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// Its manifest was seen for the first time since the start.
    Appeared,
    /// It declares something else.
    Spec,
    /// Only its annotations changed.
    Annotations,
    /// Its manifest is gone for certain.
    Vanished,
    /// Its manifest was gone and is back.
    Returned,
    /// Other things are wrong with its file than before.
    Problems,
    /// The `Network` that it names changed.
    Dependency,
    /// A guard froze or released it together with others.
    Frozen,
}

/// Lists what a change set led to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "the keys go to the queue and the generations to the store"]
pub struct Changes {
    /// The keys that are to be looked at.
    pub keys: BTreeMap<Key, Change>,
    /// The generations that are to be persisted before they are worked on.
    pub persist: Vec<Known>,
}

/// Says that there is nothing of this digest to confirm.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotFrozen {
    /// Nothing is frozen.
    #[error("cannot confirm the removals {digest}: nothing is frozen")]
    Nothing {
        /// The digest that was to be confirmed.
        digest: String,
    },
    /// Other objects are frozen by now.
    #[error("cannot confirm the removals {digest}: by now the frozen removals are {current}")]
    Other {
        /// The digest that was to be confirmed.
        digest: String,
        /// The digest of what is frozen.
        current: String,
    },
}
