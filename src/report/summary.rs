//! How many steps of some plans do what.
//!
//! In: plans. Out: a [`Summary`], which also answers whether anything is to be done.

use serde::Serialize;

use crate::model::{Action, Plan, Step, Verdict};

/// Counts resources: by what is to happen to them, and how many of them have to wait.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// To be made, now or later.
    pub create: usize,
    /// To be changed, now or later.
    pub change: usize,
    /// To be taken over, now or later.
    pub adopt: usize,
    /// No longer declared and to be left in AWS, now or later.
    pub retain: usize,
    /// No longer declared and to be deleted, now or later.
    pub delete: usize,
    /// Different, and left so by the policy.
    pub reported: usize,
    /// Different, in whole or in part, and never mended without a person; also counted above if
    /// there is something else to do.
    pub refused: usize,
    /// As declared.
    pub unchanged: usize,
    /// Due at a later time; also counted above.
    pub deferred: usize,
    /// Held up by something that settles by itself, or not known; counted above if there is
    /// something to do.
    pub waiting: usize,
    /// Held up by a resource that is not there; counted above if there is something to do.
    pub blocked: usize,
}

impl Summary {
    /// Counts the steps of plans.
    pub fn of(plans: &[Plan]) -> Self {
        let mut summary = Self::default();
        for step in plans.iter().flat_map(|plan| &plan.steps) {
            summary.count_action(step);
            summary.count_hindrance(step);
        }
        summary
    }

    /// Tells whether any resource is not as declared, or not known to be, whether or not it is
    /// mended now.
    pub fn has_differences(&self) -> bool {
        *self != Self { unchanged: self.unchanged, ..Self::default() }
    }

    fn count_action(&mut self, step: &Step) {
        let count = match (&step.verdict, step.action) {
            (Verdict::Refused, _) => &mut self.refused,
            (Verdict::Reported, _) => &mut self.reported,
            (_, Action::Create) => &mut self.create,
            (_, Action::Update) => &mut self.change,
            (_, Action::Adopt) => &mut self.adopt,
            (_, Action::Retain) if !step.is_settled() => &mut self.retain,
            (_, Action::Delete) if !step.is_settled() => &mut self.delete,
            _ if !step.refusals.is_empty() => &mut self.refused,
            _ if step.is_settled() => &mut self.unchanged,
            _ => return,
        };
        *count += 1;
    }

    fn count_hindrance(&mut self, step: &Step) {
        let acts = matches!(step.action, Action::Create | Action::Update | Action::Adopt);
        if acts && !matches!(step.verdict, Verdict::Refused) && !step.refusals.is_empty() {
            self.refused += 1;
        }
        let only_waits = !step.waits.is_empty() && !step.is_work() && step.refusals.is_empty();
        let count = match step.verdict {
            Verdict::Deferred { .. } => &mut self.deferred,
            Verdict::Waiting { .. } => &mut self.waiting,
            Verdict::Blocked { .. } => &mut self.blocked,
            Verdict::Go if only_waits => &mut self.waiting,
            Verdict::Go | Verdict::Reported | Verdict::Refused => return,
        };
        *count += 1;
    }

    /// Returns the counts as a sentence: the first group always, the rest when not zero.
    pub(crate) fn sentence(&self) -> String {
        let always = [(self.create, "to create"), (self.change, "to change")];
        let seldom = [
            (self.adopt, "to adopt"),
            (self.retain, "to leave"),
            (self.delete, "to delete"),
            (self.reported, "reported only"),
        ];
        let last = [(self.refused, "refused"), (self.unchanged, "unchanged")];
        let held =
            [(self.deferred, "deferred"), (self.waiting, "waiting"), (self.blocked, "blocked")];
        let actions = always.into_iter().chain(not_zero(seldom)).chain(last);
        match phrases(not_zero(held)) {
            held if held.is_empty() => phrases(actions),
            held => format!("{}; {held}", phrases(actions)),
        }
    }
}

type Count = (usize, &'static str);

fn not_zero<const N: usize>(counts: [Count; N]) -> impl Iterator<Item = Count> {
    counts.into_iter().filter(|(count, _)| *count > 0)
}

fn phrases(counts: impl Iterator<Item = Count>) -> String {
    counts.map(|(count, what)| format!("{count} {what}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::delta::Wait;
    use crate::report::text::sample;

    fn of(steps: Vec<Step>) -> Summary {
        Summary::of(&[Plan { steps, ..sample::plan() }])
    }

    #[test]
    fn a_creation_that_waits_is_a_creation_and_a_wait() {
        let verdict = Verdict::Waiting { code: "Dependency".into(), on: "the group".into() };
        let step = Step { verdict, ..sample::step("db_instance", Action::Create) };
        let expected = Summary { create: 1, waiting: 1, ..Summary::default() };
        assert_eq!(of(vec![step]), expected);
        assert_eq!(
            expected.sentence(),
            "1 to create, 0 to change, 0 refused, 0 unchanged; 1 waiting"
        );
    }

    #[test]
    fn what_is_not_known_counts_as_a_difference_and_not_as_unchanged() {
        let verdict = Verdict::Waiting { code: "Unknown".into(), on: "the read".into() };
        let step = Step { verdict, ..sample::step("db_instance", Action::Nothing) };
        let summary = of(vec![step, sample::step("vpc", Action::Read)]);
        assert_eq!(summary, Summary { waiting: 1, unchanged: 1, ..Summary::default() });
        assert!(summary.has_differences());
        assert!(!of(vec![sample::step("vpc", Action::Read)]).has_differences());
    }

    #[test]
    fn a_field_that_only_waits_keeps_its_resource_from_being_unchanged() {
        let wait = Wait { field: String::new(), code: "Pending".into(), reason: String::new() };
        let step = Step { waits: vec![wait], ..sample::step("db_instance", Action::Nothing) };
        assert_eq!(of(vec![step]), Summary { waiting: 1, ..Summary::default() });
    }
}
