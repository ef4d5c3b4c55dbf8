//! A cloud that is only looked at, and asked each question once.
//!
//! In: calls. Out: the answers of the cloud behind it. Two plans of the same moment, before and after
//! a merge, rest on the same answers and cost one read of each.
//!
//! Invariants: no call that changes anything passes; a failed read is asked again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::model::cloud::{Admission, CallFuture};
use crate::model::{Call, CallError, Cloud, ErrorClass, Target};

/// Remembers the answers of a cloud; it lives as long as one look.
pub struct Once<C> {
    cloud: C,
    answers: Mutex<BTreeMap<(Target, String), Arc<Value>>>,
}

impl<C: Cloud> Once<C> {
    /// Puts a memory before a cloud.
    pub fn new(cloud: C) -> Self {
        Self { cloud, answers: Mutex::default() }
    }

    async fn read(&self, target: &Target, call: &Call) -> Result<Value, CallError> {
        if !call.is_read() {
            return Err(refused(call));
        }
        let asked = (target.clone(), question(call));
        let known = self.answers().get(&asked).cloned();
        if let Some(answer) = known {
            return Ok((*answer).clone());
        }
        let answer = self.cloud.call(target, call).await?;
        self.answers().insert(asked, Arc::new(answer.clone()));
        Ok(answer)
    }

    fn answers(&self) -> std::sync::MutexGuard<'_, BTreeMap<(Target, String), Arc<Value>>> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names a call with its parameters, which are ordered.
fn question(call: &Call) -> String {
    format!("{call} {}", Value::Object(call.params.clone()))
}

fn refused(call: &Call) -> CallError {
    CallError {
        class: ErrorClass::Denied,
        operation: call.operation.to_string(),
        code: "OnlyLooks".to_owned(),
        message: "whoever only looks changes nothing".to_owned(),
    }
}

impl<C: Cloud> Cloud for Once<C> {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(self.read(target, call))
    }

    fn admit<'a>(&'a self, target: &'a Target, call: &'a Call) -> Admission<'a> {
        Box::pin(async move { Ok(self.call(target, call)) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;

    use super::*;
    use crate::model::{AccountId, Cause, KindName, Region, Scope};

    /// Counts what it is asked; the first question fails.
    #[derive(Default)]
    struct Counting(AtomicUsize);

    impl Cloud for Counting {
        fn call<'a>(&'a self, _: &'a Target, call: &'a Call) -> CallFuture<'a> {
            let number = self.0.fetch_add(1, Ordering::SeqCst);
            let answer = if number == 0 { Err(refused(call)) } else { Ok(json!(number)) };
            Box::pin(std::future::ready(answer))
        }
    }

    fn target() -> Target {
        let scope = Scope { account: AccountId::new("1"), region: Region::new("eu-west-1") };
        Target { scope, kind: KindName::new("vpc"), cause: Cause::Detail }
    }

    #[tokio::test]
    async fn a_question_is_asked_once_unless_it_failed() {
        let cloud = Once::new(Counting::default());
        let ask = |name: &str| Call::new("rds", "DescribeDBParameters").with("Name", name);
        let target = target();
        assert!(cloud.call(&target, &ask("a")).await.is_err());
        for (name, answer) in [("a", 1), ("a", 1), ("b", 2), ("a", 1)] {
            assert_eq!(cloud.call(&target, &ask(name)).await.unwrap(), json!(answer));
        }
    }

    #[tokio::test]
    async fn no_write_passes() {
        let cloud = Once::new(Counting::default());
        let call = Call::new("rds", "DeleteDBInstance");
        assert_eq!(cloud.call(&target(), &call).await.unwrap_err().code, "OnlyLooks");
        assert_eq!(cloud.cloud.0.load(Ordering::SeqCst), 0);
    }
}
