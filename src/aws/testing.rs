//! A cloud with answers of the test's choosing, which remembers what it was asked and when.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::model::cloud::CallFuture;
use crate::model::{
    AccountId, Call, CallError, Cause, Cloud, ErrorClass, KindName, Region, Scope, Target,
};

/// When each call left, and its name.
pub(crate) type Sent = Vec<(Instant, String)>;

/// Answers calls with a function of the call.
pub(crate) struct Answering<F> {
    answer: F,
    latency: Duration,
    sent: Arc<Mutex<Sent>>,
}

impl<F> Answering<F>
where
    F: Fn(&Call) -> Result<Value, CallError> + Send + Sync,
{
    pub(crate) fn with(answer: F) -> (Self, Arc<Mutex<Sent>>) {
        let sent = Arc::default();
        (Self { answer, latency: Duration::ZERO, sent: Arc::clone(&sent) }, sent)
    }

    pub(crate) fn taking(mut self, latency: Duration) -> Self {
        self.latency = latency;
        self
    }
}

impl<F> Cloud for Answering<F>
where
    F: Fn(&Call) -> Result<Value, CallError> + Send + Sync,
{
    fn call<'a>(&'a self, _target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(async move {
            self.sent.lock().unwrap().push((Instant::now(), call.to_string()));
            let answer = (self.answer)(call);
            if !self.latency.is_zero() {
                sleep(self.latency).await;
            }
            answer
        })
    }
}

/// Accepts every call.
pub(crate) fn accept(_call: &Call) -> Result<Value, CallError> {
    Ok(json!({}))
}

/// Makes a failure.
pub(crate) fn failure(class: ErrorClass, code: &str) -> CallError {
    CallError {
        class,
        operation: "Any".to_owned(),
        code: code.to_owned(),
        message: "said AWS".to_owned(),
    }
}

pub(crate) fn target(account: &str) -> Target {
    Target {
        scope: Scope { account: AccountId::new(account), region: Region::new("eu-west-1") },
        kind: KindName::new("db_instance"),
        cause: Cause::List,
    }
}

pub(crate) fn read() -> Call {
    Call::new("rds", "DescribeDBInstances")
}

pub(crate) fn write() -> Call {
    Call::new("rds", "ModifyDBInstance")
}
