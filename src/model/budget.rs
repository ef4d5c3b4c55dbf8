//! What calls cost: the budget of a service, how full it is, and what was spent on what.

use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Scope;

/// Says why a call was made; the set is closed, so that it can be a metric's label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Cause {
    /// To see every resource of a kind: the read that all objects share.
    List,
    /// To see one resource: whether it is absent, or what became of a write.
    Confirm,
    /// To see what a list does not show of one resource: its parameters, its tags.
    Detail,
    /// To make what Git declares.
    Create,
    /// To carry out a change in Git.
    Change,
    /// To put back what was changed outside Git.
    Revert,
    /// To put our tag on a resource that is taken over.
    Adopt,
    /// To take away, or let go of, what Git declares no longer.
    Remove,
    /// To prove which account the credentials belong to.
    Identity,
    /// To find out who changed something outside Git.
    Trace,
}

impl Cause {
    /// Every cause, in the order of reports.
    pub const ALL: [Self; 10] = [
        Self::List,
        Self::Confirm,
        Self::Detail,
        Self::Create,
        Self::Change,
        Self::Revert,
        Self::Adopt,
        Self::Remove,
        Self::Identity,
        Self::Trace,
    ];

    /// Returns the word for labels, the store and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Confirm => "confirm",
            Self::Detail => "detail",
            Self::Create => "create",
            Self::Change => "change",
            Self::Revert => "revert",
            Self::Adopt => "adopt",
            Self::Remove => "remove",
            Self::Identity => "identity",
            Self::Trace => "trace",
        }
    }

    /// Returns the cause of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == word)
    }
}

/// States how many calls a service takes.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// How many calls may leave at once.
    pub burst: u32,
    /// How many calls a second may leave in the long run.
    pub per_second: f64,
    /// How many tokens of the burst only a write may take.
    pub write_reserve: u32,
}

/// How long a rate takes to grow from nothing to what is configured.
pub const RECOVERY_SECONDS: f64 = 120.0;

/// Says how full a bucket is, and how fast it fills now.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fill {
    /// How many calls could leave now.
    pub tokens: f64,
    /// How many tokens a second it gains now; less than configured after throttling.
    pub per_second: f64,
}

impl Fill {
    /// Returns a full bucket.
    pub fn full(budget: &Budget) -> Self {
        Self { tokens: f64::from(budget.burst), per_second: budget.per_second }
    }

    /// Returns how it stands a while later, if nothing is spent: the rate grows along a straight
    /// line, and the tokens with it.
    #[must_use]
    pub fn after(self, budget: &Budget, elapsed: Duration) -> Self {
        let elapsed = elapsed.as_secs_f64();
        let growth = budget.per_second / RECOVERY_SECONDS;
        let growing = ((budget.per_second - self.per_second) / growth).clamp(0.0, elapsed);
        let reached = self.per_second + growth * growing;
        let gained =
            f64::midpoint(self.per_second, reached) * growing + reached * (elapsed - growing);
        let tokens = (self.tokens + gained).min(f64::from(budget.burst));
        Self { tokens, per_second: reached }
    }
}

/// Shows how the bucket of one account, region and service stood at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Level {
    /// The account and region.
    pub scope: Scope,
    /// The service's endpoint prefix.
    pub service: String,
    /// How full it was.
    pub fill: Fill,
    /// What it is configured to.
    pub budget: Budget,
    /// When that was.
    pub at: Timestamp,
}

impl Level {
    /// Returns how it stands now, if nothing was spent since; a clock that went back changes
    /// nothing.
    #[must_use]
    pub fn at(self, now: Timestamp) -> Self {
        let elapsed = Duration::try_from(now.duration_since(self.at)).unwrap_or_default();
        Self { fill: self.fill.after(&self.budget, elapsed), at: now, ..self }
    }
}

/// Counts calls of one operation for one cause, in one account and region.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Spent {
    /// The account and region.
    pub scope: Scope,
    /// The service's endpoint prefix.
    pub service: String,
    /// The operation.
    pub operation: String,
    /// Why the calls were made.
    pub cause: Cause,
    /// How many.
    pub count: Count,
}

/// Counts calls by what they cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Count {
    /// Calls that were sent.
    pub sent: u64,
    /// Of those, the ones that AWS throttled.
    pub throttled: u64,
    /// Calls that were not sent, because the budget gave no token in time.
    pub withheld: u64,
}

impl Count {
    /// Adds another count.
    pub fn add(&mut self, other: Self) {
        self.sent += other.sent;
        self.throttled += other.throttled;
        self.withheld += other.withheld;
    }
}

/// Says what resyncs at an interval cost one account, region and service, at most.
#[derive(Debug, Clone, PartialEq)]
pub struct Forecast {
    /// The account and region.
    pub scope: Scope,
    /// The service's endpoint prefix.
    pub service: String,
    /// How many objects have resources there.
    pub objects: usize,
    /// What is read, and how often.
    pub reads: Vec<Read>,
    /// Our share of what AWS allows.
    pub budget: Budget,
    /// What AWS documents for everybody in the account and region; `None` where it documents nothing.
    pub documented_per_second: Option<f64>,
}

/// Says what one operation costs in resyncs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Read {
    /// The operation.
    pub operation: String,
    /// How many calls it takes each time: the pages of a list.
    pub calls: usize,
    /// How many times a second it is made.
    pub times_per_second: f64,
}

impl Forecast {
    /// Returns how many calls a second leave in the long run.
    pub fn per_second(&self) -> f64 {
        self.reads.iter().map(|read| read.calls as f64 * read.times_per_second).sum()
    }

    /// Tells whether the budget is enough.
    pub fn fits(&self) -> bool {
        self.per_second() <= self.budget.per_second
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget = Budget { burst: 10, per_second: 2.0, write_reserve: 4 };

    #[test]
    fn a_bucket_fills_at_its_rate_up_to_the_burst() {
        let empty = Fill { tokens: 0.0, per_second: 2.0 };
        assert_eq!(empty.after(&BUDGET, Duration::from_secs(3)).tokens, 6.0);
        assert_eq!(empty.after(&BUDGET, Duration::from_secs(60)), Fill::full(&BUDGET));
    }

    #[test]
    fn a_halved_rate_grows_back_while_nobody_looks() {
        let halved = Fill { tokens: 0.0, per_second: 1.0 };
        let later = halved.after(&BUDGET, Duration::from_secs(30));
        assert_eq!(later.per_second, 1.5);
        assert_eq!(halved.after(&BUDGET, Duration::from_secs(600)), Fill::full(&BUDGET));
    }

    #[test]
    fn every_cause_has_a_word_of_its_own() {
        for cause in Cause::ALL {
            assert_eq!(Cause::of(cause.as_str()), Some(cause));
        }
        assert_eq!(Cause::of("nothing"), None);
    }
}
