//! API budgets: no more calls than our share of what AWS allows, and fewer when it says so.
//!
//! In: a call. Out: the same call, later. One token bucket per account, region and service, refilled
//! over tokio's time; a ledger counts what came of the calls.
//!
//! Invariants: in any window of time no more calls leave than the burst plus the rate over the
//! window; part of the bucket is kept for writes, which also makes reads yield to a write that waits;
//! within each of the two, calls leave in the order in which they came; a call that finds no token
//! waits, and after a bounded wait is answered `Throttled` without having been sent. On throttling by
//! AWS the rate is halved and the rest of the burst is lost, down to what is kept for writes, so that
//! reads go on at the halved rate at once; the rate then grows back along a straight line.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::model::cloud::{Admission, CallFuture};
use crate::model::{Call, CallError, Cloud, ErrorClass, Scope, Target};

/// States how many calls a service takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// How many calls may leave at once.
    pub burst: u32,
    /// How many calls a second may leave in the long run.
    pub per_second: f64,
    /// How many tokens of the burst only a write may take.
    pub write_reserve: u32,
}

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
    /// 100 and 20 a second ("Request throttling for the Amazon EC2 API").
    fn default() -> Self {
        let budget = |burst, per_second, write_reserve| Budget { burst, per_second, write_reserve };
        Self {
            services: BTreeMap::from([
                ("rds".to_owned(), budget(150, 6.0, 30)),
                ("ec2".to_owned(), budget(50, 10.0, 10)),
            ]),
            default: budget(20, 5.0, 4),
            longest_wait: Duration::from_secs(60),
        }
    }
}

impl Budgets {
    fn of(&self, service: &str) -> Budget {
        self.services.get(service).copied().unwrap_or(self.default)
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

/// Counts the calls that had one outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LedgerEntry {
    /// The service's endpoint prefix.
    pub service: String,
    /// The operation.
    pub operation: String,
    /// What came of it.
    pub outcome: Outcome,
    /// How many calls, since the start of the process.
    pub calls: u64,
}

/// Shows how one bucket stands.
#[derive(Debug, Clone, PartialEq)]
pub struct BudgetLevel {
    /// The account and region.
    pub scope: Scope,
    /// The service's endpoint prefix.
    pub service: String,
    /// How many calls could leave now.
    pub tokens: f64,
    /// How many tokens a second it gains now.
    pub per_second: f64,
    /// What it is configured to.
    pub budget: Budget,
}

/// Sends calls no faster than the budgets allow.
pub struct Budgeted<C> {
    inner: C,
    budgets: Budgets,
    buckets: Mutex<BTreeMap<(Scope, String), Arc<Bucket>>>,
    ledger: Mutex<BTreeMap<(String, String, Outcome), u64>>,
}

impl<C: Cloud> Budgeted<C> {
    /// Puts budgets on the calls of `inner`.
    pub fn new(inner: C, budgets: Budgets) -> Self {
        Self { inner, budgets, buckets: Mutex::default(), ledger: Mutex::default() }
    }

    /// Returns the counts of all calls so far.
    pub fn ledger(&self) -> Vec<LedgerEntry> {
        lock(&self.ledger)
            .iter()
            .map(|((service, operation, outcome), calls)| LedgerEntry {
                service: service.clone(),
                operation: operation.clone(),
                outcome: *outcome,
                calls: *calls,
            })
            .collect()
    }

    /// Returns how every bucket that was ever used stands now.
    pub fn levels(&self) -> Vec<BudgetLevel> {
        let now = Instant::now();
        lock(&self.buckets)
            .iter()
            .map(|((scope, service), bucket)| {
                let mut level = lock(&bucket.level);
                level.refill(&bucket.budget, now);
                BudgetLevel {
                    scope: scope.clone(),
                    service: service.clone(),
                    tokens: level.tokens,
                    per_second: level.rate,
                    budget: bucket.budget,
                }
            })
            .collect()
    }

    /// Waits for a token. Who does not use it has spent it all the same: a bucket that is too
    /// empty is safe.
    async fn wait<'a>(
        &'a self,
        target: &'a Target,
        call: &'a Call,
    ) -> Result<CallFuture<'a>, CallError> {
        let bucket = self.bucket(&target.scope, &call.service);
        let deadline = Instant::now() + self.budgets.longest_wait;
        if timeout_at(deadline, bucket.take(call.is_read())).await.is_err() {
            self.count(call, Outcome::Withheld);
            return Err(withheld(target, call));
        }
        let sending = self.inner.admit(target, call).await?;
        Ok(Box::pin(self.send(bucket, call, sending)))
    }

    async fn send(
        &self,
        bucket: Arc<Bucket>,
        call: &Call,
        sending: CallFuture<'_>,
    ) -> Result<Value, CallError> {
        let result = sending.await;
        self.count(
            call,
            result.as_ref().map_or_else(|e| Outcome::Failed(e.class), |_| Outcome::Accepted),
        );
        if matches!(&result, Err(error) if error.class == ErrorClass::Throttled) {
            lock(&bucket.level).throttled(&bucket.budget, Instant::now());
        }
        result
    }

    fn bucket(&self, scope: &Scope, service: &str) -> Arc<Bucket> {
        let mut buckets = lock(&self.buckets);
        let bucket = buckets
            .entry((scope.clone(), service.to_owned()))
            .or_insert_with(|| Arc::new(Bucket::new(self.budgets.of(service))));
        Arc::clone(bucket)
    }

    fn count(&self, call: &Call, outcome: Outcome) {
        let key = (call.service.to_string(), call.operation.to_string(), outcome);
        *lock(&self.ledger).entry(key).or_default() += 1;
    }
}

impl<C: Cloud> Cloud for Budgeted<C> {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(async move { self.wait(target, call).await?.await })
    }

    fn admit<'a>(&'a self, target: &'a Target, call: &'a Call) -> Admission<'a> {
        Box::pin(self.wait(target, call))
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

/// Holds the tokens of one account, region and service, and the two lines that wait for them.
struct Bucket {
    budget: Budget,
    level: Mutex<Level>,
    reads: tokio::sync::Mutex<()>,
    writes: tokio::sync::Mutex<()>,
}

impl Bucket {
    fn new(budget: Budget) -> Self {
        let level = Level {
            tokens: f64::from(budget.burst),
            rate: budget.per_second,
            at: Instant::now(),
            halved_at: None,
        };
        Self {
            budget,
            level: Mutex::new(level),
            reads: Default::default(),
            writes: Default::default(),
        }
    }

    /// Waits for a token. Only the first of each line looks at the level (tokio's mutex is fair); a
    /// read leaves the reserve alone, so no read passes while a write waits.
    async fn take(&self, read: bool) {
        let (line, floor) =
            if read { (&self.reads, self.budget.write_reserve) } else { (&self.writes, 0) };
        let _first_in_line = line.lock().await;
        loop {
            let taken = lock(&self.level).take(&self.budget, f64::from(floor), Instant::now());
            match taken {
                Ok(()) => return,
                Err(when) => sleep_until(when).await,
            }
        }
    }
}

/// How long a rate takes to grow from nothing to what is configured.
const RECOVERY_SECONDS: f64 = 120.0;

/// The share of the configured rate below which throttling does not push it.
const FLOOR: f64 = 1.0 / 16.0;

/// Within this time of a halving, further throttling is the same event: the calls were in flight.
const SAME_EVENT: Duration = Duration::from_secs(1);

/// Holds the state of a bucket at a moment.
#[derive(Debug)]
struct Level {
    tokens: f64,
    rate: f64,
    at: Instant,
    halved_at: Option<Instant>,
}

impl Level {
    /// Takes one token above `floor`, or says when to look again.
    fn take(&mut self, budget: &Budget, floor: f64, now: Instant) -> Result<(), Instant> {
        self.refill(budget, now);
        let missing = floor + 1.0 - self.tokens;
        if missing <= 0.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        // The rate may grow meanwhile: this is the latest moment. Timers tick in milliseconds.
        let wait = Duration::from_secs_f64((missing / self.rate).clamp(0.001, 3_600.0));
        Err(now + wait)
    }

    /// Adds what was gained since the last look; the rate grows along a straight line.
    fn refill(&mut self, budget: &Budget, now: Instant) {
        let elapsed = now.saturating_duration_since(self.at).as_secs_f64();
        let growth = budget.per_second / RECOVERY_SECONDS;
        let growing = ((budget.per_second - self.rate) / growth).clamp(0.0, elapsed);
        let reached = self.rate + growth * growing;
        let gained = f64::midpoint(self.rate, reached) * growing + reached * (elapsed - growing);
        self.tokens = (self.tokens + gained).min(f64::from(budget.burst));
        self.rate = reached;
        self.at = now;
    }

    /// Halves the rate and ends the burst, once per event.
    ///
    /// The reserve stays: without it, reads would wait until it is whole again (at the defaults of
    /// RDS, for ten seconds and more), which is a standstill and no slower pace.
    fn throttled(&mut self, budget: &Budget, now: Instant) {
        self.refill(budget, now);
        if self.halved_at.is_some_and(|at| now.saturating_duration_since(at) < SAME_EVENT) {
            return;
        }
        self.rate = (self.rate / 2.0).max(budget.per_second * FLOOR);
        self.tokens = self.tokens.min(f64::from(budget.write_reserve));
        self.halved_at = Some(now);
    }
}

#[cfg(test)]
mod tests;
