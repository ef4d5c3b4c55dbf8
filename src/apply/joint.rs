//! Several steps whose calls AWS takes as one: all of them, or none.
//!
//! In: the steps of a plan from one on, and what their kind says about joining. Out: the steps that go
//! together and their one call. What each step asks for stays its own: when AWS refuses the joint call
//! as invalid, which does nothing, each is sent by itself, so that one bad record holds up no other.

use serde_json::Value;

use super::{Gate, outcome, single};
use crate::model::outcome::StepOutcome;
use crate::model::{Call, CallError, Cloud, ErrorClass, Plan, Step, Target};

/// Says how the calls of one kind become one; `None` where they cannot.
pub type Join<'a> = dyn Fn(&Step, &[&Call]) -> Option<Call> + Send + Sync + 'a;

/// Holds steps that go together.
pub(super) struct Joint<'a> {
    /// Their positions in the plan.
    pub(super) members: Vec<usize>,
    steps: Vec<&'a Step>,
    call: Call,
}

impl<'a> Joint<'a> {
    /// Finds what goes together with the step at a position, of those that `is_open` says are still
    /// to be made; `None` when it goes alone.
    pub(super) fn of(
        plan: &'a Plan,
        at: usize,
        join: &Join<'_>,
        is_open: impl Fn(usize) -> bool,
    ) -> Option<Self> {
        let first = plan.steps.get(at)?;
        let [call] = first.calls.as_slice() else { return None };
        let mut joint = Self { members: vec![at], steps: vec![first], call: call.clone() };
        for (at, step) in plan.steps.iter().enumerate().skip(at + 1) {
            let is_like = step.resource.kind == first.resource.kind
                && step.resource.scope == first.resource.scope;
            let [call] = step.calls.as_slice() else { continue };
            if !is_like || !step.is_work() || !is_open(at) {
                continue;
            }
            if let Some(both) = join(first, &[&joint.call, call]) {
                joint.members.push(at);
                joint.steps.push(step);
                joint.call = both;
            }
        }
        (joint.members.len() > 1).then_some(joint)
    }

    /// Sends the one call and returns what became of each step.
    pub(super) async fn attempt(&self, cloud: &dyn Cloud, gate: &dyn Gate) -> Vec<StepOutcome> {
        let Some(first) = self.steps.first() else { return Vec::new() };
        let id = &first.resource;
        let target =
            Target { scope: id.scope.clone(), kind: id.kind.clone(), cause: first.cause() };
        let admitted = match cloud.admit(&target, &self.call).await {
            Ok(admitted) => admitted,
            Err(error) => return self.all(|step, call| outcome(step, call, Err(error.clone()))),
        };
        for (step, call) in self.each() {
            if let Err(reason) = gate.enter(step, call).await {
                return self.all(|_, _| StepOutcome::Withheld { reason: reason.clone() });
            }
        }
        let answer = admitted.await;
        for (step, call) in self.each() {
            gate.leave(step, call, &answer).await;
        }
        if is_invalid(&answer) {
            let mut outcomes = Vec::with_capacity(self.steps.len());
            for step in &self.steps {
                outcomes.push(single(step, cloud, gate).await);
            }
            return outcomes;
        }
        self.all(|step, call| outcome(step, call, answer.clone()))
    }

    fn each(&self) -> impl Iterator<Item = (&'a Step, &'a Call)> {
        self.steps.iter().filter_map(|step| Some((*step, step.calls.first()?)))
    }

    fn all(&self, outcome: impl Fn(&Step, &Call) -> StepOutcome) -> Vec<StepOutcome> {
        self.each().map(|(step, call)| outcome(step, call)).collect()
    }
}

fn is_invalid(answer: &Result<Value, CallError>) -> bool {
    answer.as_ref().is_err_and(|error| error.class == ErrorClass::Invalid)
}
