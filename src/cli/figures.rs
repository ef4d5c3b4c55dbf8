//! The figures that nobody else keeps: every AWS call, the budgets, the length of the queue.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::aws::BudgetLevel;
use crate::model::cloud::CallFuture;
use crate::model::{Call, Cloud, Target};
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

impl Cloud for Counted {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(async move {
            let answer = self.inner.call(target, call).await;
            let outcome = match &answer {
                Ok(_) => "ok".to_owned(),
                Err(error) => format!("{:?}", error.class).to_lowercase(),
            };
            self.metrics.aws_call(&call.service, &call.operation, &outcome);
            answer
        })
    }
}

/// Sets the gauges until `stop`; `levels` says how full the budgets are.
pub(super) async fn follow(
    queue: Arc<WorkQueue>,
    metrics: Arc<Metrics>,
    levels: impl Fn() -> Vec<BudgetLevel> + Send,
    stop: CancellationToken,
) {
    loop {
        metrics.queue_depth(queue.read(|queue, now| queue.ready_depth(now)));
        for level in levels() {
            metrics.aws_budget(&level.scope, &level.service, level.tokens);
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
    }
}
