//! What must always hold, by name, and how it is told that it does not.

use std::fmt;

/// Names what must always hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::sim) enum Law {
    NothingIsMadeTwice,
    AbsenceIsProven,
    IntentsComeFirst,
    OnlyOursIsTouched,
    NothingIsDeletedEarly,
    DeletionNeedsGitsWord,
    DependentsGoFirst,
    DangerEndsAtOnce,
    FrozenMeansStill,
    StaleMeansStill,
    NothingIsSentInVain,
    OnlyWhatIsDeclaredTravels,
    NobodysQueueIsFlushed,
    WritesChangeSomething,
    PassesKeepTheirDistance,
    FailuresHaveACeiling,
    WaitingIsNotFailing,
    StatusHoldsNoDuration,
    SecretsStayOut,
    ReadyMeansSo,
    NoLoopIsHot,
    SuspendedMeansStill,
    DriftIsLeftWhereAsked,
    APersonsWordIsKept,
    OnlyKnownAccountsAreCalled,
    ChangesStartAtOnce,
    BudgetsAreKept,
    GenerationsGrow,
    OnlyTheHolderWrites,
    OnlyWhatIsGoneIsRemoved,
    EverythingConverges,
}

/// Says which law was broken, and how.
#[derive(Debug, Clone)]
pub(in crate::sim) struct Violation {
    pub(in crate::sim) law: Law,
    text: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} does not hold: {}", self.law, self.text)
    }
}

pub(super) type Held = Result<(), Violation>;

pub(super) fn broken(law: Law, text: impl Into<String>) -> Violation {
    Violation { law, text: text.into() }
}

pub(super) fn hold(law: Law, holds: bool, text: impl FnOnce() -> String) -> Held {
    if holds { Ok(()) } else { Err(broken(law, text())) }
}
