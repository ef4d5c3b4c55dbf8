//! Which drift a plan mends now, and which of it is not mended before a person says so.
//!
//! In: a plan that was made without a guard. Out: [`Reverts`], on which the guard on mass drift
//! decides. Back: what it [froze](Frozen), with which the plan is made anew. Pure.

use std::collections::BTreeSet;

use super::effect::is_stalled;
use super::holds::is_contested;
use super::{Request, Subject, remembered};
use crate::model::plan::{Action, Verdict};
use crate::model::status::DriftMemory;
use crate::model::{Delta, Difference, Notice, Origin, Plan, ResourceId, Step};

/// Holds drift that is not mended before a person releases it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frozen {
    /// The differences; every other one is mended as ever.
    pub differences: BTreeSet<Difference>,
    /// Why, with what a person can do; holds no duration.
    pub why: String,
}

impl Frozen {
    /// Returns what the last pass found frozen, for somebody who only looks.
    pub fn remembered(memory: &DriftMemory) -> Option<Self> {
        let why = "too many objects drifted at once; `levelset status` names what can be confirmed";
        let differences = memory.frozen.clone();
        (!differences.is_empty()).then(|| Self { differences, why: why.to_owned() })
    }

    /// Tells whether a field is frozen in what it is now.
    ///
    /// Security drift never is: it is left open for nobody, however many objects show it.
    pub(super) fn holds(&self, resource: &ResourceId, delta: &Delta) -> bool {
        is_counted(delta)
            && self.differences.contains(&Difference::new(resource, &delta.field, &delta.from))
    }

    /// Tells whether the making anew of a resource that was deleted outside Git is frozen.
    pub(super) fn holds_gone(&self, resource: &ResourceId) -> bool {
        self.differences.contains(&Difference::gone(resource))
    }
}

/// Lists the drift of one object, as the guard on mass drift counts it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reverts {
    /// What the plan mends now.
    ///
    /// Left out is security drift, and what is mended once an hour at most because it is contested
    /// or stalled: it is a known fight of one object, which would hold a place for ever.
    pub due: BTreeSet<Difference>,
    /// All that is there, also what the policy leaves or what is due later.
    pub present: BTreeSet<Difference>,
    /// Resources of which this pass cannot tell whether their drift is still there.
    pub unseen: BTreeSet<ResourceId>,
}

impl Reverts {
    /// Reads a plan that was made without a guard for this request.
    pub fn of(request: &Request<'_>, plan: &Plan) -> Self {
        let mut reverts = Self::default();
        for (subject, step) in request.subjects.iter().zip(&plan.steps) {
            reverts.add(request, subject, step);
        }
        reverts
    }

    fn add(&mut self, request: &Request<'_>, subject: &Subject<'_>, step: &Step) {
        if matches!(step.verdict, Verdict::Waiting { .. } | Verdict::Blocked { .. }) {
            self.unseen.insert(step.resource.clone());
        }
        let named = |delta: &Delta| Difference::new(&step.resource, &delta.field, &delta.from);
        self.present.extend(step.deltas.iter().filter(|delta| is_counted(delta)).map(named));
        if is_gone(step) {
            self.present.insert(Difference::gone(&step.resource));
        }
        if !step.is_work() {
            return;
        }
        match step.action {
            Action::Update => {
                let due = step.deltas.iter().filter(|delta| is_due(request, subject, step, delta));
                self.due.extend(due.map(named));
            }
            Action::Create if is_gone(step) => {
                self.due.insert(Difference::gone(&step.resource));
            }
            Action::Create
            | Action::Adopt
            | Action::Nothing
            | Action::Read
            | Action::Retain
            | Action::Delete => {}
        }
    }
}

fn is_counted(delta: &Delta) -> bool {
    delta.origin == Origin::Drift && !delta.security
}

fn is_gone(step: &Step) -> bool {
    step.notices.iter().any(|notice| notice.code == Notice::VANISHED)
}

/// Tells whether a step mends a difference that needs a place among the reverts of the fleet.
fn is_due(request: &Request<'_>, subject: &Subject<'_>, step: &Step, delta: &Delta) -> bool {
    let is_slowed = remembered(request, subject)
        .is_some_and(|memory| is_contested(memory, &delta.field) || is_stalled(memory, delta));
    is_counted(delta) && !step.is_held(&delta.field) && !is_slowed
}
