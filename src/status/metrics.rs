//! The figures that the agent exposes, in OpenMetrics text.
//!
//! In: what the worker, the queue, the cloud and the source report. Out: [`Metrics::encode`].
//! A [`Metrics`] is a value with a registry of its own, so that several agents can live in one
//! process. Names that begin with `workqueue_` are those of client-go, which dashboards know.
//!
//! It holds no figure per object: the number of series does not grow with the number of manifests.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use prometheus_client::encoding::text::encode;
use tokio::time::Instant;

use crate::model::budget::Level;
use crate::model::status::Truth;
use crate::model::webhook::{Host, Receipt};
use crate::model::{Cause, ObjectStatus};

mod family;

use family::{
    Budget, Call, Condition, Families, Guarded, Hooked, Outcome, Received, Told, WRITTEN, Written,
};

/// The media type of [`Metrics::encode`]'s text.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Says how a pass ended, for `reconcile_total`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PassResult {
    /// Everything is as declared.
    Converged,
    /// At least one change was accepted.
    Changed,
    /// Something has to settle, or is deferred or reported.
    Waiting,
    /// Something is never done by itself.
    Refused,
    /// Something could not be read; also counted in `reconcile_errors_total`.
    Unknown,
    /// An attempt failed; also counted in `reconcile_errors_total`.
    Failed,
}

impl PassResult {
    /// Every result, so that each is exposed from the first scrape.
    pub const ALL: [Self; 6] =
        [Self::Converged, Self::Changed, Self::Waiting, Self::Refused, Self::Unknown, Self::Failed];

    /// Returns the value of the label.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Converged => "converged",
            Self::Changed => "changed",
            Self::Waiting => "waiting",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
            Self::Failed => "failed",
        }
    }
}

/// Counts and measures; cloning shares the figures.
#[derive(Debug, Clone)]
pub struct Metrics {
    families: Arc<Families>,
    running: Arc<Mutex<Running>>,
}

#[derive(Debug, Default)]
struct Running {
    next: u64,
    since: BTreeMap<u64, Instant>,
}

impl Metrics {
    /// Makes the figures of a program of this version, all at zero.
    pub fn new(version: &str) -> Self {
        Self { families: Arc::new(Families::new(version)), running: Arc::default() }
    }

    /// Sets how many keys are ready to be worked on and not yet taken.
    pub fn queue_depth(&self, keys: usize) {
        self.families.depth.set(count(keys));
    }

    /// Sets for how long the key that has been ready for the longest time has waited.
    pub fn queue_oldest(&self, age: Duration) {
        self.families.oldest.set(age.as_secs_f64());
    }

    /// Sets how many keys have been added to the queue since it was made.
    pub fn queue_added(&self, total: u64) {
        self.families.adds.inc_by(total.saturating_sub(self.families.adds.get()));
    }

    /// Counts a key that was added again after a failure.
    pub fn queue_retried(&self) {
        self.families.retries.inc();
    }

    /// Records how long a key was due before it was taken.
    pub fn queue_waited(&self, waited: Duration) {
        self.families.queue_time.observe(waited.as_secs_f64());
    }

    /// Notes that work on a key begins; it ends when the value is dropped.
    #[must_use]
    pub fn begin(&self) -> Working {
        let since = Instant::now();
        let mut running = self.running();
        let number = running.next;
        running.next += 1;
        running.since.insert(number, since);
        drop(running);
        Working { metrics: self.clone(), number, since }
    }

    /// Records a pass.
    pub fn reconciled(&self, result: PassResult, took: Duration) {
        self.families.passes.get_or_create(&Outcome::of(result)).inc();
        self.families.pass_time.observe(took.as_secs_f64());
        if matches!(result, PassResult::Failed | PassResult::Unknown) {
            self.families.errors.inc();
        }
    }

    /// Counts an error that no pass could report, such as a record that cannot be written.
    pub fn reconcile_error(&self) {
        self.families.errors.inc();
    }

    /// Moves an object from one status to the next; `None` is an object that is not there.
    ///
    /// Called with what was exposed before, so that the figures stay right without counting anew.
    pub fn object(&self, before: Option<&ObjectStatus>, after: Option<&ObjectStatus>) {
        for (status, other, step) in [(before, after, -1), (after, before, 1)] {
            let Some(status) = status else { continue };
            self.families.objects.inc_by(step);
            self.families.drift.inc_by(step * count(status.drift.len()));
            for kind in holding(status).filter(|kind| !other.is_some_and(|it| holds(it, kind))) {
                let label = Condition { condition: kind.to_owned() };
                self.families.conditions.get_or_create(&label).inc_by(step);
            }
        }
    }

    /// Counts AWS calls; `outcome` is `ok`, `withheld` (not sent, for lack of budget) or the error's
    /// class in lower case.
    pub fn aws_calls(
        &self,
        service: &str,
        operation: &str,
        cause: Cause,
        outcome: &str,
        calls: u64,
    ) {
        let label = Call {
            service: service.to_owned(),
            operation: operation.to_owned(),
            cause: cause.as_str(),
            outcome: outcome.to_owned(),
        };
        self.families.calls.get_or_create(&label).inc_by(calls);
    }

    /// Sets how full a bucket is and how fast it fills.
    pub fn aws_budget(&self, level: &Level) {
        let label = Budget {
            account: level.scope.account.to_string(),
            region: level.scope.region.to_string(),
            service: level.service.clone(),
        };
        self.families.budget.get_or_create(&label).set(level.fill.tokens);
        self.families.budget_rate.get_or_create(&label).set(level.fill.per_second);
    }

    /// Sets how many objects a guard holds; `guard` is a constant of
    /// [`Freeze`](crate::model::Freeze).
    pub fn frozen(&self, guard: &'static str, objects: usize) {
        self.families.frozen.get_or_create(&Guarded { guard }).set(count(objects));
    }

    /// Sets whether the repository has not been confirmed for too long.
    pub fn source_stale(&self, stale: bool) {
        self.families.source_stale.set(stale.into());
    }

    /// Sets whether the newest commit is not applied for want of a signature that counts.
    pub fn source_unverified(&self, unverified: bool) {
        self.families.source_unverified.set(unverified.into());
    }

    /// Notes that the repository was read, and when.
    pub fn source_succeeded(&self, at: Timestamp) {
        self.families.source_up.set(1);
        let seconds = at.as_duration().as_secs_f64();
        self.families.source_success.set(seconds);
    }

    /// Notes that the repository could not be read.
    pub fn source_failed(&self) {
        self.families.source_up.set(0);
    }

    /// Counts a webhook.
    pub fn webhook(&self, host: Host, receipt: Receipt) {
        self.families.webhooks.get_or_create(&Received::of(host, receipt)).inc();
    }

    /// Counts a write to the Git host by its result: `sent`, or why not.
    pub fn host_write(&self, result: &'static str) {
        self.families.host_writes.get_or_create(&Written { result }).inc();
    }

    /// Sets how many contents the Git host does not have yet.
    pub fn host_owed(&self, posts: usize) {
        self.families.host_owed.set(count(posts));
    }

    /// Counts a message to a hook by its result: `sent`, or why not.
    pub fn hook_write(&self, hook: &str, result: &'static str) {
        self.families.hook_writes.get_or_create(&Told { hook: hook.to_owned(), result }).inc();
    }

    /// Sets how many messages a hook has not taken yet.
    pub fn hook_owed(&self, hook: &str, posts: usize) {
        let label = Hooked { hook: hook.to_owned() };
        self.families.hook_owed.get_or_create(&label).set(count(posts));
    }

    /// Exposes the figures of a hook before its first message.
    pub fn hook_known(&self, hook: &str) {
        self.hook_owed(hook, 0);
        for result in WRITTEN {
            let label = Told { hook: hook.to_owned(), result };
            self.families.hook_writes.get_or_create(&label).inc_by(0);
        }
    }

    /// Writes every figure in OpenMetrics text.
    pub fn encode(&self) -> String {
        self.measure_running();
        let mut text = String::new();
        // Writing to a `String` cannot fail.
        let _ = encode(&mut text, &self.families.registry);
        text
    }

    fn measure_running(&self) {
        let running = self.running();
        let ages = running.since.values().map(|since| since.elapsed().as_secs_f64());
        let (sum, longest) =
            ages.fold((0.0, 0.0_f64), |(sum, longest), age| (sum + age, longest.max(age)));
        self.families.unfinished.set(sum);
        self.families.longest.set(longest);
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stands for work on one key, from [`Metrics::begin`] until it is dropped.
#[derive(Debug)]
pub struct Working {
    metrics: Metrics,
    number: u64,
    since: Instant,
}

impl Drop for Working {
    fn drop(&mut self) {
        self.metrics.running().since.remove(&self.number);
        self.metrics.families.work_time.observe(self.since.elapsed().as_secs_f64());
    }
}

/// Lists the conditions that hold.
fn holding(status: &ObjectStatus) -> impl Iterator<Item = &str> {
    let holding = status.conditions.iter().filter(|condition| condition.status == Truth::True);
    holding.map(|condition| &*condition.kind)
}

fn holds(status: &ObjectStatus, kind: &str) -> bool {
    status.condition(kind).is_some_and(|condition| condition.status == Truth::True)
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::budget::Fill;
    use crate::model::{self, AccountId, Freeze, Region, Scope, status};

    fn line<'a>(text: &'a str, series: &str) -> Option<&'a str> {
        text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '))
    }

    fn ready(truth: Truth) -> ObjectStatus {
        let condition = status::Condition {
            kind: "Ready".to_owned(),
            status: truth,
            reason: "Converged".to_owned(),
            message: String::new(),
            last_transition_time: Timestamp::UNIX_EPOCH,
        };
        ObjectStatus { conditions: vec![condition], ..ObjectStatus::default() }
    }

    #[test]
    fn the_demanded_names_are_there_with_zero_from_the_first_scrape() {
        let text = Metrics::new("1.2.3").encode();
        assert_eq!(line(&text, "reconcile_errors_total"), Some("0"), "{text}");
        assert_eq!(line(&text, "workqueue_depth"), Some("0"));
        assert_eq!(line(&text, "reconcile_duration_seconds_count"), Some("0"));
        assert_eq!(line(&text, r#"reconcile_duration_seconds_bucket{le="+Inf"}"#), Some("0"));
        for result in PassResult::ALL {
            let series = format!("reconcile_total{{result=\"{}\"}}", result.as_str());
            assert_eq!(line(&text, &series), Some("0"));
        }
        for guard in Freeze::GUARDS {
            let series = format!("levelset_frozen_objects{{guard=\"{guard}\"}}");
            assert_eq!(line(&text, &series), Some("0"));
        }
        assert_eq!(line(&text, "levelset_source_stale"), Some("0"));
        assert_eq!(line(&text, r#"levelset_build_info{version="1.2.3"}"#), Some("1"));
        assert!(text.ends_with("# EOF\n"));
    }

    #[test]
    fn the_names_and_types_are_those_that_dashboards_know() {
        let metrics = Metrics::new("0");
        let region = Region::new("eu-west-1");
        let scope = Scope { account: AccountId::new("012345678901"), region };
        metrics.aws_calls("rds", "DescribeDBInstances", Cause::List, "ok", 3);
        metrics.aws_budget(&Level {
            scope,
            service: "rds".to_owned(),
            fill: Fill { tokens: 149.5, per_second: 3.0 },
            budget: model::Budget { burst: 150, per_second: 6.0, write_reserve: 30 },
            at: Timestamp::UNIX_EPOCH,
        });
        metrics.hook_known("ops");
        let text = metrics.encode();
        let prefixed = |prefix: &'static str| {
            text.lines().filter_map(move |line| line.strip_prefix(prefix)).collect::<Vec<_>>()
        };
        let mut types = prefixed("# TYPE ");
        types.sort_unstable();
        let expected = [
            "levelset_aws_budget_calls_per_second gauge",
            "levelset_aws_budget_tokens gauge",
            "levelset_aws_calls counter",
            "levelset_build info",
            "levelset_drift_fields gauge",
            "levelset_frozen_objects gauge",
            "levelset_hook_owed gauge",
            "levelset_hook_writes counter",
            "levelset_host_owed gauge",
            "levelset_host_writes counter",
            "levelset_managed_objects gauge",
            "levelset_objects gauge",
            "levelset_source_last_success_timestamp_seconds gauge",
            "levelset_source_stale gauge",
            "levelset_source_unverified gauge",
            "levelset_source_up gauge",
            "levelset_webhooks counter",
            "levelset_workqueue_oldest_age_seconds gauge",
            "reconcile counter",
            "reconcile_duration_seconds histogram",
            "reconcile_errors counter",
            "workqueue_adds counter",
            "workqueue_depth gauge",
            "workqueue_longest_running_processor_seconds gauge",
            "workqueue_queue_duration_seconds histogram",
            "workqueue_retries counter",
            "workqueue_unfinished_work_seconds gauge",
            "workqueue_work_duration_seconds histogram",
        ];
        assert_eq!(types, expected, "{text}");
        assert_eq!(prefixed("# HELP ").len(), expected.len());
        let budget = r#"levelset_aws_budget_tokens{account="012345678901",region="eu-west-1",service="rds"}"#;
        assert_eq!(line(&text, budget), Some("149.5"));
        let calls = r#"levelset_aws_calls_total{service="rds",operation="DescribeDBInstances",cause="list",outcome="ok"}"#;
        assert_eq!(line(&text, calls), Some("3"), "{text}");
    }

    #[test]
    fn a_failed_pass_and_a_failed_read_count_as_errors() {
        let metrics = Metrics::new("0");
        for result in PassResult::ALL {
            metrics.reconciled(result, Duration::from_millis(20));
        }
        let text = metrics.encode();
        assert_eq!(line(&text, "reconcile_errors_total"), Some("2"));
        assert_eq!(line(&text, "reconcile_duration_seconds_count"), Some("6"));
    }

    #[test]
    fn an_object_is_counted_under_the_conditions_that_hold() {
        let metrics = Metrics::new("0");
        let (yes, no) = (ready(Truth::True), ready(Truth::False));
        metrics.object(None, Some(&yes));
        metrics.object(None, Some(&no));
        assert_eq!(line(&metrics.encode(), r#"levelset_objects{condition="Ready"}"#), Some("1"));
        metrics.object(Some(&yes), Some(&no));
        metrics.object(Some(&no), None);
        let text = metrics.encode();
        assert_eq!(line(&text, r#"levelset_objects{condition="Ready"}"#), Some("0"));
        assert_eq!(line(&text, "levelset_managed_objects"), Some("1"));
    }

    #[tokio::test(start_paused = true)]
    async fn work_in_hand_is_measured_while_it_lasts() {
        let metrics = Metrics::new("0");
        let first = metrics.begin();
        tokio::time::advance(Duration::from_secs(3)).await;
        let second = metrics.begin();
        tokio::time::advance(Duration::from_secs(2)).await;
        let text = metrics.encode();
        assert_eq!(line(&text, "workqueue_unfinished_work_seconds"), Some("7.0"));
        assert_eq!(line(&text, "workqueue_longest_running_processor_seconds"), Some("5.0"));
        drop((first, second));
        let text = metrics.encode();
        assert_eq!(line(&text, "workqueue_unfinished_work_seconds"), Some("0.0"));
        assert_eq!(line(&text, "workqueue_work_duration_seconds_count"), Some("2"));
        assert_eq!(line(&text, "workqueue_work_duration_seconds_sum"), Some("7.0"));
    }

    #[test]
    fn the_source_is_down_until_it_was_read() {
        let metrics = Metrics::new("0");
        assert_eq!(line(&metrics.encode(), "levelset_source_up"), Some("0"));
        metrics.source_succeeded(Timestamp::from_second(1_795_910_400).unwrap());
        let text = metrics.encode();
        assert_eq!(line(&text, "levelset_source_up"), Some("1"));
        let series = "levelset_source_last_success_timestamp_seconds";
        assert_eq!(line(&text, series), Some("1795910400.0"));
    }
}
