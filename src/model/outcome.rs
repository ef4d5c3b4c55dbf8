//! What became of the steps of a plan.

use serde::{Deserialize, Serialize};

use super::{CallError, Step};

/// Reports what became of one step.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The step as planned.
    pub step: Step,
    /// What came of it.
    pub outcome: StepOutcome,
}

/// Says what came of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepOutcome {
    /// No call was due.
    Unneeded,
    /// Every call was accepted; the next pass looks whether it had effect.
    Accepted {
        /// How many calls were made.
        calls: u32,
    },
    /// A call was refused in a way that is no failure (throttled, not ready, already there, or a
    /// change of storage that may come too soon after another).
    Postponed {
        /// What AWS said.
        error: CallError,
    },
    /// A call failed; counts toward the ceiling.
    Failed {
        /// How many calls had been accepted before.
        accepted: u32,
        /// What AWS said.
        error: CallError,
    },
    /// Not tried, because the right to write was lost, Git is stale or the agent is stopping; says
    /// which.
    Withheld {
        /// Why.
        reason: String,
    },
}
