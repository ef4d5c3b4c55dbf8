//! The figures that nobody else keeps: every AWS call, the budgets, the length of the queue.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::aws::BudgetLevel;
use crate::model::cloud::{Admission, CallFuture};
use crate::model::{Call, CallError, Cloud, Freeze, Target};
use crate::reconcile::engine::Engine;
use crate::reconcile::work_queue::WorkQueue;
use crate::status::Metrics;

/// How often gauges are set.
const EVERY: Duration = Duration::from_secs(1);

/// Counts every call on its way to the cloud.
pub(super) struct Counted {
    /// Where the calls go.
    pub(super) inner: Arc<dyn Cloud>,
    /// Where they are counted.
    pub(super) metrics: Arc<Metrics>,
}

impl Counted {
    fn count(&self, call: &Call, error: Option<&CallError>) {
        let outcome = match error {
            None => "ok".to_owned(),
            Some(error) => format!("{:?}", error.class).to_lowercase(),
        };
        self.metrics.aws_call(&call.service, &call.operation, &outcome);
    }

    async fn wait<'a>(
        &'a self,
        target: &'a Target,
        call: &'a Call,
    ) -> Result<CallFuture<'a>, CallError> {
        let admitted = self.inner.admit(target, call).await;
        let sending = admitted.inspect_err(|error| self.count(call, Some(error)))?;
        Ok(Box::pin(async move {
            let answer = sending.await;
            self.count(call, answer.as_ref().err());
            answer
        }))
    }
}

impl Cloud for Counted {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(async move { self.wait(target, call).await?.await })
    }

    fn admit<'a>(&'a self, target: &'a Target, call: &'a Call) -> Admission<'a> {
        Box::pin(self.wait(target, call))
    }
}

/// Sets the gauges until `stop`; `levels` says how full the budgets are.
pub(super) async fn follow(
    engine: Arc<Engine>,
    queue: Arc<WorkQueue>,
    metrics: Arc<Metrics>,
    levels: impl Fn() -> Vec<BudgetLevel> + Send,
    stop: CancellationToken,
) {
    loop {
        queue.read(|queue, now| {
            metrics.queue_depth(queue.ready_depth(now));
            metrics.queue_oldest(queue.oldest_age(now));
            metrics.queue_added(queue.counters().adds);
        });
        guards(&engine, &metrics);
        for level in levels() {
            metrics.aws_budget(&level.scope, &level.service, level.tokens);
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
    }
}

/// Says how much the guards of the fleet hold, and whether Git is stale.
fn guards(engine: &Engine, metrics: &Metrics) {
    let snapshot = engine.desired.snapshot();
    let vanished = snapshot.frozen.as_ref().map_or(0, |frozen| frozen.keys.len());
    metrics.frozen(Freeze::VANISHING, vanished);
    metrics.frozen(Freeze::DRIFT, engine.mass_drift().frozen().len());
    metrics.source_stale(engine.staleness(&snapshot).is_some());
}
