//! The metric families: names, help texts, buckets and labels.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};

use super::PassResult;
use crate::model::webhook::{Host, Receipt};
use crate::model::{Freeze, status};

/// Upper bounds in seconds: from a pass that reads a fresh cache to one that waits for AWS.
const BUCKETS: [f64; 14] =
    [0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0];

const CONDITIONS: [&str; 9] = [
    status::Condition::READY,
    status::Condition::DRIFTED,
    status::Condition::PROGRESSING,
    status::Condition::VALID,
    status::Condition::FAILED,
    status::Condition::STALLED,
    status::Condition::SUSPENDED,
    status::Condition::FROZEN,
    status::Condition::STALE,
];

type Seconds = Gauge<f64, AtomicU64>;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Outcome {
    result: &'static str,
}

impl Outcome {
    pub(super) fn of(result: PassResult) -> Self {
        Self { result: result.as_str() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Condition {
    pub(super) condition: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Call {
    pub(super) service: String,
    pub(super) operation: String,
    pub(super) cause: &'static str,
    pub(super) outcome: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Budget {
    pub(super) account: String,
    pub(super) region: String,
    pub(super) service: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Guarded {
    pub(super) guard: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Received {
    host: &'static str,
    result: &'static str,
}

impl Received {
    pub(super) fn of(host: Host, receipt: Receipt) -> Self {
        Self { host: host.as_str(), result: receipt.as_str() }
    }
}

/// What may become of a write to the Git host.
pub(super) const WRITTEN: [&str; 6] =
    ["sent", "unavailable", "throttled", "denied", "missing", "refused"];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Written {
    pub(super) result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Told {
    pub(super) hook: String,
    pub(super) result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub(super) struct Hooked {
    pub(super) hook: String,
}

/// Holds every family and the registry that writes them.
#[derive(Debug)]
pub(super) struct Families {
    pub(super) registry: Registry,
    pub(super) depth: Gauge,
    pub(super) oldest: Seconds,
    pub(super) adds: Counter,
    pub(super) retries: Counter,
    pub(super) queue_time: Histogram,
    pub(super) work_time: Histogram,
    pub(super) unfinished: Seconds,
    pub(super) longest: Seconds,
    pub(super) errors: Counter,
    pub(super) passes: Family<Outcome, Counter>,
    pub(super) pass_time: Histogram,
    pub(super) objects: Gauge,
    pub(super) conditions: Family<Condition, Gauge>,
    pub(super) drift: Gauge,
    pub(super) calls: Family<Call, Counter>,
    pub(super) budget: Family<Budget, Gauge<f64, AtomicU64>>,
    pub(super) frozen: Family<Guarded, Gauge>,
    pub(super) budget_rate: Family<Budget, Gauge<f64, AtomicU64>>,
    pub(super) source_up: Gauge,
    pub(super) source_stale: Gauge,
    pub(super) source_unverified: Gauge,
    pub(super) source_success: Seconds,
    pub(super) webhooks: Family<Received, Counter>,
    pub(super) host_writes: Family<Written, Counter>,
    pub(super) host_owed: Gauge,
    pub(super) hook_writes: Family<Told, Counter>,
    pub(super) hook_owed: Family<Hooked, Gauge>,
}

impl Families {
    pub(super) fn new(version: &str) -> Self {
        let mut families = Self {
            registry: Registry::default(),
            depth: Gauge::default(),
            oldest: Seconds::default(),
            adds: Counter::default(),
            retries: Counter::default(),
            queue_time: Histogram::new(BUCKETS),
            work_time: Histogram::new(BUCKETS),
            unfinished: Seconds::default(),
            longest: Seconds::default(),
            errors: Counter::default(),
            passes: Family::default(),
            pass_time: Histogram::new(BUCKETS),
            objects: Gauge::default(),
            conditions: Family::default(),
            drift: Gauge::default(),
            calls: Family::default(),
            budget: Family::default(),
            frozen: Family::default(),
            budget_rate: Family::default(),
            source_up: Gauge::default(),
            source_stale: Gauge::default(),
            source_unverified: Gauge::default(),
            source_success: Seconds::default(),
            webhooks: Family::default(),
            host_writes: Family::default(),
            host_owed: Gauge::default(),
            hook_writes: Family::default(),
            hook_owed: Family::default(),
        };
        families.register_queue();
        families.register_passes();
        families.register_state();
        families.register_peers();
        let build = Info::new([("version", version.to_owned())]);
        families.registry.register("levelset_build", "The program that runs", build);
        families.expose_zeros();
        families
    }

    /// A series that appears with its first event hides that event from a rate.
    fn expose_zeros(&self) {
        for result in PassResult::ALL {
            self.passes.get_or_create(&Outcome::of(result)).inc_by(0);
        }
        for condition in CONDITIONS {
            let label = Condition { condition: condition.to_owned() };
            self.conditions.get_or_create(&label).set(0);
        }
        for guard in Freeze::GUARDS {
            self.frozen.get_or_create(&Guarded { guard }).set(0);
        }
        for result in WRITTEN {
            self.host_writes.get_or_create(&Written { result }).inc_by(0);
        }
        for host in Host::ALL {
            for receipt in Receipt::ALL {
                self.webhooks.get_or_create(&Received::of(host, receipt)).inc_by(0);
            }
        }
    }

    // The registry appends `_total` to a counter's name, `_info` to an info's, and the unit.

    fn register_queue(&mut self) {
        let registry = &mut self.registry;
        let depth = "Keys that are due and not yet taken by a worker";
        registry.register("workqueue_depth", depth, self.depth.clone());
        registry.register("workqueue_adds", "Keys added to the work queue", self.adds.clone());
        let retries = "Keys added to the work queue again after a failed attempt";
        registry.register("workqueue_retries", retries, self.retries.clone());
        registry.register_with_unit(
            "levelset_workqueue_oldest_age",
            "Seconds for which the key that was due first has waited for a worker",
            Unit::Seconds,
            self.oldest.clone(),
        );
        let mut seconds = |name: &str, help: &str, metric: Histogram| {
            registry.register_with_unit(name, help, Unit::Seconds, metric);
        };
        seconds(
            "workqueue_queue_duration",
            "Seconds for which a key was due before a worker took it",
            self.queue_time.clone(),
        );
        seconds(
            "workqueue_work_duration",
            "Seconds for which a worker held a key",
            self.work_time.clone(),
        );
        registry.register_with_unit(
            "workqueue_unfinished_work",
            "Seconds that the passes in progress have lasted so far, added up",
            Unit::Seconds,
            self.unfinished.clone(),
        );
        registry.register_with_unit(
            "workqueue_longest_running_processor",
            "Seconds that the longest pass in progress has lasted so far",
            Unit::Seconds,
            self.longest.clone(),
        );
    }

    fn register_passes(&mut self) {
        let registry = &mut self.registry;
        registry.register("reconcile_errors", "Passes that failed", self.errors.clone());
        registry.register("reconcile", "Passes by how they ended", self.passes.clone());
        registry.register_with_unit(
            "reconcile_duration",
            "Seconds that a pass took, from the first read to the stored status",
            Unit::Seconds,
            self.pass_time.clone(),
        );
    }

    fn register_state(&mut self) {
        let registry = &mut self.registry;
        let objects = "Objects that Git declares";
        registry.register("levelset_managed_objects", objects, self.objects.clone());
        let conditions = "Objects for which the condition is true";
        registry.register("levelset_objects", conditions, self.conditions.clone());
        let drift = "Fields whose actual value differs from Git without a change in Git";
        registry.register("levelset_drift_fields", drift, self.drift.clone());
        let frozen = "Objects that a guard of the fleet holds until a person confirms";
        registry.register("levelset_frozen_objects", frozen, self.frozen.clone());
    }

    fn register_peers(&mut self) {
        let registry = &mut self.registry;
        let calls = "AWS API calls by service, operation, cause and outcome";
        registry.register("levelset_aws_calls", calls, self.calls.clone());
        let budget = "Calls that the budget of an account, region and service allows now";
        registry.register("levelset_aws_budget_tokens", budget, self.budget.clone());
        let rate =
            "Calls a second that the budget gains now; less than configured after throttling";
        registry.register("levelset_aws_budget_calls_per_second", rate, self.budget_rate.clone());
        let webhooks = "Webhooks by host and by what became of them";
        registry.register("levelset_webhooks", webhooks, self.webhooks.clone());
        let writes = "Writes to the Git host by what became of them";
        registry.register("levelset_host_writes", writes, self.host_writes.clone());
        let owed = "Statuses and comments that the Git host does not have yet";
        registry.register("levelset_host_owed", owed, self.host_owed.clone());
        let told = "Messages to hooks by what became of them";
        registry.register("levelset_hook_writes", told, self.hook_writes.clone());
        let owed = "Messages that a hook has not taken yet";
        registry.register("levelset_hook_owed", owed, self.hook_owed.clone());
        let up = "1 when the last read of the repository succeeded, otherwise 0";
        registry.register("levelset_source_up", up, self.source_up.clone());
        let stale = "1 when the repository has not been confirmed for too long, otherwise 0";
        registry.register("levelset_source_stale", stale, self.source_stale.clone());
        let unverified =
            "1 when the newest commit is not applied, because no signature of it counts";
        registry.register("levelset_source_unverified", unverified, self.source_unverified.clone());
        registry.register_with_unit(
            "levelset_source_last_success_timestamp",
            "Time of the last successful read of the repository, in seconds since 1970; 0 for never",
            Unit::Seconds,
            self.source_success.clone(),
        );
    }
}
