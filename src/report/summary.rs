//! How many steps of some plans do what.
//!
//! In: plans. Out: a [`Summary`], which also answers whether anything is to be done.

use serde::Serialize;

use crate::model::{Action, Plan, Step, Verdict};

/// Counts resources by what happens to them; each resource is counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Made now.
    pub create: usize,
    /// Changed now.
    pub change: usize,
    /// Taken over now.
    pub adopt: usize,
    /// Due later.
    pub deferred: usize,
    /// Held up by something that settles by itself.
    pub waiting: usize,
    /// Held up by a resource that is not there.
    pub blocked: usize,
    /// Different, and left so by the policy.
    pub reported: usize,
    /// Never done without a person.
    pub refused: usize,
    /// As declared.
    pub unchanged: usize,
}

impl Summary {
    /// Counts the steps of plans.
    pub fn of(plans: &[Plan]) -> Self {
        let mut summary = Self::default();
        for step in plans.iter().flat_map(|plan| &plan.steps) {
            *summary.count(step) += 1;
        }
        summary
    }

    /// Tells whether any resource is not as declared, whether or not it is mended now.
    pub fn has_differences(&self) -> bool {
        *self != Self { unchanged: self.unchanged, ..Self::default() }
    }

    fn count(&mut self, step: &Step) -> &mut usize {
        match (&step.verdict, step.action) {
            (Verdict::Refused, _) => &mut self.refused,
            (Verdict::Waiting { .. }, _) => &mut self.waiting,
            (Verdict::Deferred { .. }, _) => &mut self.deferred,
            (Verdict::Blocked { .. }, _) => &mut self.blocked,
            (Verdict::Reported, _) => &mut self.reported,
            (Verdict::Go, Action::Create) => &mut self.create,
            (Verdict::Go, Action::Update) => &mut self.change,
            (Verdict::Go, Action::Adopt) => &mut self.adopt,
            (Verdict::Go, _) if !step.refusals.is_empty() => &mut self.refused,
            (Verdict::Go, _) if !step.waits.is_empty() => &mut self.waiting,
            (Verdict::Go, Action::Nothing | Action::Read) => &mut self.unchanged,
        }
    }

    /// Returns the counts that a reader wants to see: the actions always, the rest when not zero.
    pub(crate) fn phrases(&self) -> Vec<String> {
        let always = [(self.create, "to create"), (self.change, "to change")];
        let seldom = [
            (self.adopt, "to adopt"),
            (self.deferred, "deferred"),
            (self.waiting, "waiting"),
            (self.blocked, "blocked"),
            (self.reported, "reported only"),
        ];
        let last = [(self.refused, "refused"), (self.unchanged, "unchanged")];
        let seldom = seldom.into_iter().filter(|(count, _)| *count > 0);
        let all = always.into_iter().chain(seldom).chain(last);
        all.map(|(count, what)| format!("{count} {what}")).collect()
    }
}
