//! How far an object has come, for somebody who waits for it.
//!
//! In: its status. Out: a [`Standing`]. Pure; the waiting is `sync`'s.

use crate::model::status::Truth;
use crate::model::{Condition, ObjectStatus, ResourceStatus, Wait};
use crate::status::build::state::{
    BLOCKED, CREATED, DEFERRED, DELETING, FAILED, FROZEN, REFUSED, REPORTED, UNKNOWN, UPDATED,
    WAITING,
};

/// Says how far an object has come; the later, the less it is at rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    /// It is as declared.
    Level,
    /// It is as far as its own manifest lets it be: what is left waits for a maintenance window, is
    /// reported only, or is suspended.
    Held,
    /// It goes no further without a person: refused, frozen, given up, without a place or a
    /// maintenance window, or its newest manifest is invalid.
    Stopped,
    /// It is tried again, and only something else can help it: it cannot be read, AWS refuses a
    /// call, or something that it needs is not there.
    Stuck,
    /// The agent or AWS is at work on it.
    Moving,
}

impl Standing {
    /// Judges a status.
    pub(super) fn of(status: &ObjectStatus) -> Self {
        let holds = |kind| status.condition(kind).is_some_and(|it| it.status == Truth::True);
        let any = |states: &[&str]| {
            status.resources.iter().any(|resource| states.contains(&resource.state.as_str()))
        };
        if holds(Condition::FAILED) || is_unplaced(status) {
            Self::Stopped
        } else if holds(Condition::SUSPENDED) {
            Self::Held
        } else if any(&[CREATED, UPDATED, DELETING]) || status.resources.iter().any(is_on_its_way) {
            Self::Moving
        } else if any(&[BLOCKED, FAILED, UNKNOWN]) {
            Self::Stuck
        } else if any(&[REFUSED, FROZEN])
            || any(&[WAITING])
            || holds(Condition::FROZEN)
            || has_refusals(status)
            || is_invalid(status)
        {
            Self::Stopped
        } else if any(&[DEFERRED, REPORTED]) {
            Self::Held
        } else {
            Self::Level
        }
    }

    /// Tells whether whoever waits has got what the manifest asks for.
    pub(super) fn is_good(self) -> bool {
        matches!(self, Self::Level | Self::Held)
    }
}

/// What waits for a person to declare something does not move by itself.
fn is_on_its_way(resource: &ResourceStatus) -> bool {
    let is_open = |wait: &Wait| wait.code == Wait::WINDOW_UNKNOWN;
    resource.state == WAITING && !resource.waits.iter().any(is_open)
}

/// A change that waits for its window may stand beside one that is refused.
fn has_refusals(status: &ObjectStatus) -> bool {
    status.resources.iter().any(|resource| !resource.refusals.is_empty())
}

fn is_unplaced(status: &ObjectStatus) -> bool {
    let ready = status.condition(Condition::READY);
    ready.is_some_and(|ready| ready.reason == "EnvironmentUnknown")
}

fn is_invalid(status: &ObjectStatus) -> bool {
    status.condition(Condition::VALID).is_some_and(|valid| valid.status == Truth::False)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::plan::{Action, Step, Verdict};
    use crate::model::{
        AccountId, Attempt, Disruption, Generation, Holder, Holds, Key, KindName, Refusal, Region,
        ResourceId, Scope, StepOutcome,
    };
    use crate::status::build::{Found, build};

    fn step(verdict: Verdict) -> Step {
        let scope =
            Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") };
        let key = Key::workspace("a");
        Step {
            resource: ResourceId { kind: KindName::new("db_instance"), scope, name: key.name },
            section: "database".to_owned(),
            action: Action::Nothing,
            verdict,
            deltas: Vec::new(),
            calls: Vec::new(),
            disruption: Disruption::None,
            effective: None,
            waits: Vec::new(),
            refusals: Vec::new(),
            notices: Vec::new(),
        }
    }

    fn standing(step: Step, change: impl FnOnce(&mut Found)) -> Standing {
        let now = jiff::Timestamp::UNIX_EPOCH;
        let attempts = vec![Attempt { step, outcome: StepOutcome::Unneeded }];
        let mut found = Found { attempts, ..Found::new(now, Generation(1)) };
        change(&mut found);
        Standing::of(&build(&ObjectStatus::default(), &found))
    }

    fn waiting(code: &str) -> Step {
        step(Verdict::Waiting { code: code.to_owned(), on: "something".to_owned() })
    }

    fn deferred() -> Step {
        step(Verdict::Deferred { until: jiff::Timestamp::MAX, why: "the window".to_owned() })
    }

    fn refusal() -> Refusal {
        Refusal {
            field: "storage.sizeGiB".to_owned(),
            code: "StorageShrink".to_owned(),
            message: "it cannot shrink".to_owned(),
            help: String::new(),
        }
    }

    fn no_window() -> Wait {
        let (field, reason) = ("port".to_owned(), "none is known".to_owned());
        Wait { field, code: Wait::WINDOW_UNKNOWN.to_owned(), reason }
    }

    #[test]
    fn an_object_stands_where_its_resources_stand() {
        for (step, expected) in [
            (step(Verdict::Go), Standing::Level),
            (deferred(), Standing::Held),
            (step(Verdict::Reported), Standing::Held),
            (Step { refusals: vec![refusal()], ..step(Verdict::Refused) }, Standing::Stopped),
            (Step { refusals: vec![refusal()], ..deferred() }, Standing::Stopped),
            (waiting("Unknown"), Standing::Stuck),
            (waiting("NotFound"), Standing::Stuck),
            (waiting("Dependency"), Standing::Stuck),
            (waiting("Creating"), Standing::Moving),
            (Step { waits: vec![no_window()], ..waiting("WindowUnknown") }, Standing::Stopped),
            (waiting("Frozen"), Standing::Stopped),
        ] {
            let verdict = step.verdict.clone();
            assert_eq!(standing(step, |_| ()), expected, "{verdict:?}");
        }
    }

    #[test]
    fn what_keeps_the_whole_object_goes_before_its_resources() {
        let of = |change: fn(&mut Found)| standing(waiting("Creating"), change);
        let by = Holder::Annotation { path: "a.yaml".into(), line: 6 };
        let holds = Holds { suspended: vec![by], ..Holds::default() };
        assert_eq!(standing(waiting("Creating"), |found| found.holds = holds), Standing::Held);
        assert_eq!(of(|found| found.failed = true), Standing::Stopped);
        assert_eq!(of(|found| found.unplaced = Some("no".to_owned())), Standing::Stopped);
        assert!(Standing::Held.is_good() && !Standing::Stopped.is_good());
    }
}
