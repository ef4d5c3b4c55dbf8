//! Carries a plan out, step by step, and reports what became of each.
//!
//! In: a [`Plan`]. Out: one [`Attempt`] per step, in the same order.
//!
//! Invariants: it chooses nothing: it sends the calls of the steps whose verdict is `Go`, in order,
//! once; the [`Gate`] is asked right before each mutating call leaves, when everything else has been
//! waited for; a failed step does not stop a step that does not need it. It retries nothing: the
//! queue does. What AWS takes as one call is sent as one.

mod joint;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

pub use self::joint::Join;
use self::joint::Joint;
use crate::model::outcome::{Attempt, StepOutcome};
use crate::model::{Call, CallError, Cloud, ErrorClass, Plan, Step, Target};

/// The future of a gate's answer.
pub type GateFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Stands before every mutating call: the right to write, and the record of the intent.
pub trait Gate: Send + Sync {
    /// Allows a call that leaves at once, or says why it is withheld. What has to be on disk before
    /// the call is on disk when this returns.
    fn enter<'a>(&'a self, step: &'a Step, call: &'a Call) -> GateFuture<'a, Result<(), String>>;

    /// Hears what became of a call.
    fn leave<'a>(
        &'a self,
        step: &'a Step,
        call: &'a Call,
        answer: &'a Result<Value, CallError>,
    ) -> GateFuture<'a, ()>;
}

/// Carries out a plan; `join` says which calls AWS takes as one.
pub async fn apply(
    plan: &Plan,
    cloud: &dyn Cloud,
    gate: &dyn Gate,
    join: &Join<'_>,
) -> Vec<Attempt> {
    let mut outcomes: BTreeMap<usize, StepOutcome> = BTreeMap::new();
    for (at, step) in plan.steps.iter().enumerate() {
        if outcomes.contains_key(&at) {
            continue;
        }
        let outcome = match step.is_work() {
            false => StepOutcome::Unneeded,
            true => match Joint::of(plan, at, join, |at| !outcomes.contains_key(&at)) {
                None => single(step, cloud, gate).await,
                Some(joint) => {
                    let made = joint.attempt(cloud, gate).await;
                    outcomes.extend(joint.members.iter().copied().zip(made));
                    continue;
                }
            },
        };
        outcomes.insert(at, outcome);
    }
    plan.steps
        .iter()
        .zip(outcomes.into_values())
        .map(|(step, outcome)| Attempt { step: step.clone(), outcome })
        .collect()
}

/// Sends the calls of one step.
async fn single(step: &Step, cloud: &dyn Cloud, gate: &dyn Gate) -> StepOutcome {
    let id = &step.resource;
    let target = Target { scope: id.scope.clone(), kind: id.kind.clone(), cause: step.cause() };
    let mut accepted = 0;
    for call in &step.calls {
        let admitted = match cloud.admit(&target, call).await {
            Ok(admitted) => admitted,
            Err(error) => return refused(step, call, accepted, error),
        };
        if let Err(reason) = gate.enter(step, call).await {
            return StepOutcome::Withheld { reason };
        }
        let answer = admitted.await;
        gate.leave(step, call, &answer).await;
        match answer {
            Ok(_) => accepted += 1,
            Err(error) => return refused(step, call, accepted, error),
        }
    }
    StepOutcome::Accepted { calls: accepted }
}

/// Says what became of a step of one call.
fn outcome(step: &Step, call: &Call, answer: Result<Value, CallError>) -> StepOutcome {
    match answer {
        Ok(_) => StepOutcome::Accepted { calls: 1 },
        Err(error) => refused(step, call, 0, error),
    }
}

fn refused(step: &Step, call: &Call, accepted: u32, error: CallError) -> StepOutcome {
    let may_be_locked = error.class == ErrorClass::Invalid && step.changes_storage(call);
    match may_be_locked || is_postponed(error.class) {
        true => StepOutcome::Postponed { error },
        false => StepOutcome::Failed { accepted, error },
    }
}

/// A call that met the wrong moment is not a failure: the next pass looks again.
fn is_postponed(class: ErrorClass) -> bool {
    match class {
        ErrorClass::Throttled
        | ErrorClass::NotReady
        | ErrorClass::AlreadyExists
        | ErrorClass::NotFound => true,
        ErrorClass::Denied
        | ErrorClass::Invalid
        | ErrorClass::Transient
        | ErrorClass::Ambiguous => false,
    }
}
