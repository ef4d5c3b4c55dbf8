//! The sentence: expand, observe, diff, plan, apply, status.
//!
//! In: a key. Out: the new record of the object, and when it is due again. Everything that a pass
//! knows of earlier ones it reads from the store.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::engine::Engine;
use super::gate::PassGate;
use super::next::{Next, next, nothing_follows};
use super::sight::{Sighting, look};
use crate::apply::apply;
use crate::desired::Entry;
use crate::manifest::expand::Place;
use crate::model::outcome::{Attempt, StepOutcome};
use crate::model::plan::Verdict;
use crate::model::status::Memory;
use crate::model::{Generation, Key, ObjectStatus, Plan, Problem, ResourceId, Revision};
use crate::plan::{Request, plan, remember};
use crate::status::build::{Found, build, events};
use crate::status::metrics::PassResult;
use crate::status::{Record, StoreError};

/// Reports a pass to whoever drives it.
#[must_use]
#[derive(Debug)]
pub struct Passed {
    /// When the object is due again.
    pub next: Next,
    /// How the pass ended.
    pub result: PassResult,
    /// The status before.
    pub before: Option<ObjectStatus>,
    /// The status after.
    pub status: ObjectStatus,
}
