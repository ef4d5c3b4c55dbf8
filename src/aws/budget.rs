//! API budgets: no more calls than our share of what AWS allows, and fewer when it says so.
//!
//! In: a call. Out: the same call, later. One token bucket per account, region and service, refilled
//! over tokio's time; a ledger counts what the calls were for and what came of them.
//!
//! Invariants: in any window of time no more calls leave than the burst plus the rate over the
//! window; part of the bucket is kept for writes, which also makes reads yield to a write that waits;
//! within each of the two, calls leave in the order in which they came; a call that finds no token
//! waits, and after a bounded wait is answered `Throttled` without having been sent. On throttling by
//! AWS the rate is halved and the rest of the burst is lost, down to what is kept for writes, so that
//! reads go on at the halved rate at once; the rate then grows back along a straight line.

mod bucket;
mod forecast;
mod waiting;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use self::bucket::Bucket;
pub use self::forecast::{Holding, forecast};
use self::waiting::Waiting;
use crate::model::budget::{Count, Fill, Level};
use crate::model::cloud::{Admission, CallFuture};
use crate::model::{AccountId, Budget, Call, CallError, Cause, Cloud, ErrorClass, Scope, Target};

/// States the budgets of all services.
#[derive(Debug, Clone, PartialEq)]
pub struct Budgets {
    /// The budget of a service, by its endpoint prefix.
    pub services: BTreeMap<String, Budget>,
    /// The budget of a service that has none of its own.
    pub default: Budget,
    /// How long a call may wait for its token.
    pub longest_wait: Duration,
}

impl Default for Budgets {
    /// Takes half of what AWS documents per account and region: RDS a burst of 300 and 12 a second
    /// ("Quotas and constraints for Amazon RDS", API request limits), EC2 describe calls a burst of
    /// 100 and 20 a second ("Request throttling for the Amazon EC2 API"), Route 53 5 a second for a
    /// whole account ("Quotas" in the Route 53 Developer Guide), CloudTrail 2 lookups a second
    /// (LookupEvents in its API Reference).
    fn default() -> Self {
        let budget = |burst, per_second, write_reserve| Budget { burst, per_second, write_reserve };
        Self {
            services: BTreeMap::from([
                ("rds".to_owned(), budget(150, 6.0, 30)),
                ("ec2".to_owned(), budget(50, 10.0, 10)),
                ("route53".to_owned(), budget(5, 2.5, 1)),
                ("cloudtrail".to_owned(), budget(2, 1.0, 0)),
            ]),
            default: budget(20, 5.0, 4),
            longest_wait: Duration::from_secs(60),
        }
    }
}

impl Budgets {
    /// Returns the budget of a service.
    pub fn of(&self, service: &str) -> Budget {
        self.services.get(service).copied().unwrap_or(self.default)
    }
}

/// Returns how many calls a second AWS documents for everybody in an account and region, where it
/// does: "Quotas and constraints for Amazon RDS", "Request throttling for the Amazon EC2 API", "Quotas"
/// in the Route 53 Developer Guide.
pub fn documented_per_second(service: &str) -> Option<f64> {
    match service {
        "rds" => Some(12.0),
        "ec2" => Some(20.0),
        "route53" => Some(5.0),
        "cloudtrail" => Some(2.0),
        _ => None,
    }
}

/// Says what came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// AWS did it.
    Accepted,
    /// It failed in this way.
    Failed(ErrorClass),
    /// It was not sent, because the budget gave no token in time.
    Withheld,
}

impl Outcome {
    /// Returns the word for labels: `ok`, `withheld`, or the error's class in lower case.
    pub fn word(self) -> String {
        match self {
            Self::Accepted => "ok".to_owned(),
            Self::Failed(class) => format!("{class:?}").to_lowercase(),
            Self::Withheld => "withheld".to_owned(),
        }
    }

    /// Returns what so many calls of this outcome cost.
    pub fn count(self, calls: u64) -> Count {
        let of = |is_it: bool| if is_it { calls } else { 0 };
        Count {
            sent: of(self != Self::Withheld),
            throttled: of(self == Self::Failed(ErrorClass::Throttled)),
            withheld: of(self == Self::Withheld),
        }
    }
}

/// Counts the calls of one operation that had one cause and one outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// What was called, and why.
    pub line: Line,
    /// What came of it.
    pub outcome: Outcome,
    /// How many calls.
    pub calls: u64,
}

/// Names a line of the ledger.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// The account and region.
    pub scope: Scope,
    /// The service's endpoint prefix.
    pub service: String,
    /// The operation.
    pub operation: String,
    /// Why it was called.
    pub cause: Cause,
}

/// Sends calls no faster than the budgets allow.
pub struct Budgeted<C> {
    inner: C,
    budgets: Budgets,
    buckets: Mutex<BTreeMap<(Scope, String), Arc<Bucket>>>,
    ledger: Mutex<BTreeMap<(Line, Outcome), u64>>,
    waiting: Waiting,
}

impl<C: Cloud> Budgeted<C> {
    /// Puts budgets on the calls of `inner`.
    pub fn new(inner: C, budgets: Budgets) -> Self {
        Self {
            inner,
            budgets,
            buckets: Mutex::default(),
            ledger: Mutex::default(),
            waiting: Waiting::default(),
        }
    }

    /// Starts from how the buckets stood when the last agent looked, and from what it knew of
    /// throttling.
    ///
    /// What that agent spent after its last look is not known, so a bucket starts with its reserve at
    /// most: restarts in a row cannot spend the burst again and again.
    pub fn restore(&self, levels: &[Level], now: Timestamp) {
        let mut buckets = lock(&self.buckets);
        for level in levels {
            let budget = self.budgets.of(&level.service);
            let last = level.clone().at(now).fill;
            let fill = Fill {
                tokens: last.tokens.min(f64::from(budget.write_reserve)),
                per_second: last.per_second.min(budget.per_second),
            };
            let bucket = Arc::new(Bucket::new(budget, fill));
            buckets.insert((level.scope.clone(), level.service.clone()), bucket);
        }
    }

    /// Returns what was counted since this was last asked.
    pub fn take_ledger(&self) -> Vec<LedgerEntry> {
        std::mem::take(&mut *lock(&self.ledger))
            .into_iter()
            .map(|((line, outcome), calls)| LedgerEntry { line, outcome, calls })
            .collect()
    }

    /// Returns how every bucket that was ever used stands; `now` is the time of day.
    pub fn levels(&self, now: Timestamp) -> Vec<Level> {
        let buckets = lock(&self.buckets);
        let level = |((scope, service), bucket): (&(Scope, String), &Arc<Bucket>)| Level {
            scope: scope.clone(),
            service: service.clone(),
            fill: bucket.fill(),
            budget: bucket.budget(),
            at: now,
        };
        buckets.iter().map(level).collect()
    }

    /// Waits for a token. Who does not use it has spent it all the same: a bucket that is too
    /// empty is safe.
    async fn wait<'a>(
        &'a self,
        target: &'a Target,
        call: &'a Call,
    ) -> Result<CallFuture<'a>, CallError> {
        let bucket = self.bucket(&target.scope, &call.service);
        if !bucket.try_take(call.is_read()) {
            let deadline = Instant::now() + self.budgets.longest_wait;
            let _noted = self.waiting.note(&target.scope.account);
            if timeout_at(deadline, bucket.take(call.is_read())).await.is_err() {
                self.count(target, call, Outcome::Withheld);
                return Err(withheld(target, call));
            }
        }
        let sending = self.inner.admit(target, call).await?;
        Ok(Box::pin(self.send(bucket, target, call, sending)))
    }

    async fn send(
        &self,
        bucket: Arc<Bucket>,
        target: &Target,
        call: &Call,
        sending: CallFuture<'_>,
    ) -> Result<Value, CallError> {
        let result = sending.await;
        let outcome =
            result.as_ref().map_or_else(|e| Outcome::Failed(e.class), |_| Outcome::Accepted);
        self.count(target, call, outcome);
        if outcome == Outcome::Failed(ErrorClass::Throttled) {
            bucket.throttled();
        }
        result
    }

    fn bucket(&self, scope: &Scope, service: &str) -> Arc<Bucket> {
        let mut buckets = lock(&self.buckets);
        let bucket = buckets.entry((scope.clone(), service.to_owned())).or_insert_with(|| {
            let budget = self.budgets.of(service);
            Arc::new(Bucket::new(budget, Fill::full(&budget)))
        });
        Arc::clone(bucket)
    }

    fn count(&self, target: &Target, call: &Call, outcome: Outcome) {
        let line = Line {
            scope: target.scope.clone(),
            service: call.service.to_string(),
            operation: call.operation.to_string(),
            cause: target.cause,
        };
        *lock(&self.ledger).entry((line, outcome)).or_default() += 1;
    }
}

impl<C: Cloud> Cloud for Budgeted<C> {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(async move { self.wait(target, call).await?.await })
    }

    fn admit<'a>(&'a self, target: &'a Target, call: &'a Call) -> Admission<'a> {
        Box::pin(self.wait(target, call))
    }

    fn is_waited_for(&self, account: &AccountId) -> bool {
        self.waiting.is_at(account)
    }
}

fn withheld(target: &Target, call: &Call) -> CallError {
    CallError {
        class: ErrorClass::Throttled,
        operation: call.operation.to_string(),
        code: "BudgetExhausted".to_owned(),
        message: format!("the API budget of {} in {} is used up", call.service, target.scope),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
