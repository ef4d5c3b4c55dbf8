//! The sentence: expand, observe, diff, plan, apply, status.
//!
//! In: a key. Out: what the record of the object now says, and when it is due again.

use std::collections::BTreeMap;

use rand::Rng;

use super::engine::Engine;
use super::gate::PassGate;
use super::next::{Next, next};
use super::sight::{Sighting, look};
use crate::apply::apply;
use crate::desired::Entry;
use crate::model::outcome::Attempt;
use crate::model::plan::Plan;
use crate::model::status::Memory;
use crate::model::{Key, Problem};
use crate::plan::{Request, State, plan, remember};
use crate::status::build::{Found, build, events};
use crate::status::{Record, StoreError};

/// Reports a pass to whoever drives it.
#[must_use]
#[derive(Debug)]
pub struct Passed {
    /// When the object is due again; `None` when only a change or a person brings it back.
    pub next: Next,
    /// The steps and what became of them.
    pub attempts: Vec<Attempt>,
}
