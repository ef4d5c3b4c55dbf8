//! Proves which account credentials belong to, before anything else is sent.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::OnceCell;

use crate::model::cloud::{Admission, CallFuture};
use crate::model::{AccountId, Call, CallError, Cause, Cloud, ErrorClass, KindName, Scope, Target};

/// Lets calls pass only to a scope whose credentials have been proven to belong to it.
///
/// The proof is one `GetCallerIdentity` per scope, kind and process (each kind may have credentials
/// of its own), before the first call: a read of another account would tell that all is well with
/// the wrong databases. A mismatch is refused; a
/// failure leaves the question open and is asked again with the next call. Neither is ever taken
/// for a proof.
pub struct Asserted<C> {
    inner: C,
    proofs: Mutex<Proofs>,
}

/// The proof of each scope and kind, once it is there.
type Proofs = BTreeMap<(Scope, KindName), Arc<OnceCell<()>>>;

impl<C: Cloud> Asserted<C> {
    /// Guards the calls of `inner`.
    pub fn new(inner: C) -> Self {
        Self { inner, proofs: Mutex::default() }
    }

    async fn wait<'a>(
        &'a self,
        target: &'a Target,
        call: &'a Call,
    ) -> Result<CallFuture<'a>, CallError> {
        let proof = self.proof(target);
        proof.get_or_try_init(|| self.prove(target, call)).await?;
        self.inner.admit(target, call).await
    }

    fn proof(&self, target: &Target) -> Arc<OnceCell<()>> {
        let mut proofs = self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(proofs.entry((target.scope.clone(), target.kind.clone())).or_default())
    }

    /// Asks whose the credentials are. An error names the call that was held back.
    async fn prove(&self, target: &Target, held: &Call) -> Result<(), CallError> {
        let held_back = |class, code: &str, message| CallError {
            class,
            operation: held.operation.to_string(),
            code: code.to_owned(),
            message,
        };
        let question = Call::new("sts", "GetCallerIdentity");
        let asking = Target { cause: Cause::Identity, ..target.clone() };
        let answer = self.inner.call(&asking, &question).await.map_err(|error| {
            let message = format!("the account was not proven, nothing was sent: {error}");
            held_back(unproven(error.class), &error.code, message)
        })?;
        let expected = &target.scope.account;
        match answer.get("Account").and_then(Value::as_str).map(AccountId::new) {
            Some(actual) if actual == *expected => Ok(()),
            Some(actual) => Err(held_back(
                ErrorClass::Denied,
                "AccountMismatch",
                format!(
                    "the credentials for {} belong to account {actual}, not to {expected}; \
                     nothing was sent",
                    target.scope
                ),
            )),
            None => Err(held_back(
                ErrorClass::Transient,
                "AccountUnknown",
                "GetCallerIdentity was answered without an account; nothing was sent".to_owned(),
            )),
        }
    }
}

/// Says what the failure of the question means for the call, which certainly did not leave.
fn unproven(class: ErrorClass) -> ErrorClass {
    match class {
        ErrorClass::Throttled | ErrorClass::Denied => class,
        _ => ErrorClass::Transient,
    }
}

impl<C: Cloud> Cloud for Asserted<C> {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(async move { self.wait(target, call).await?.await })
    }

    fn admit<'a>(&'a self, target: &'a Target, call: &'a Call) -> Admission<'a> {
        Box::pin(self.wait(target, call))
    }

    fn is_waited_for(&self, account: &AccountId) -> bool {
        self.inner.is_waited_for(account)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;
    use serde_json::json;

    use super::*;
    use crate::aws::testing::{Answering, Sent, failure, read, target, write};

    const MINE: &str = "111111111111";

    fn names(sent: &Mutex<Sent>) -> Vec<String> {
        sent.lock().unwrap().iter().map(|(_, call)| call.clone()).collect()
    }

    fn belongs_to(
        account: &'static str,
    ) -> impl Fn(&Call) -> Result<Value, CallError> + Send + Sync {
        move |_| Ok(json!({"Account": account}))
    }

    #[tokio::test]
    async fn another_account_is_not_even_read() {
        let (cloud, sent) = Answering::with(belongs_to("999999999999"));
        let error = Asserted::new(cloud).call(&target(MINE), &read()).await.unwrap_err();
        assert_eq!(&*error.code, "AccountMismatch");
        assert_eq!(names(&sent), ["sts:GetCallerIdentity"]);
    }

    #[tokio::test]
    async fn the_question_is_asked_once_per_scope_before_the_first_write() {
        let (cloud, sent) = Answering::with(belongs_to(MINE));
        let cloud = Asserted::new(cloud);
        let (target, call) = (target(MINE), write());
        join_all((0..3).map(|_| cloud.call(&target, &call))).await;
        let expected = [
            "sts:GetCallerIdentity",
            "rds:ModifyDBInstance",
            "rds:ModifyDBInstance",
            "rds:ModifyDBInstance",
        ];
        assert_eq!(names(&sent), expected);
    }

    #[tokio::test]
    async fn another_account_is_refused_with_both_numbers_and_nothing_is_sent() {
        let (cloud, sent) = Answering::with(belongs_to("999999999999"));
        let error = Asserted::new(cloud).call(&target(MINE), &write()).await.unwrap_err();
        assert_eq!((error.class, &*error.code), (ErrorClass::Denied, "AccountMismatch"));
        assert_eq!(error.operation, "ModifyDBInstance");
        assert!(error.message.contains(MINE) && error.message.contains("999999999999"), "{error}");
        assert_eq!(names(&sent), ["sts:GetCallerIdentity"]);
    }

    #[tokio::test]
    async fn a_failed_question_is_asked_again_and_never_taken_for_a_proof() {
        let asked = AtomicUsize::new(0);
        let (cloud, sent) = Answering::with(move |call: &Call| match &*call.operation {
            "GetCallerIdentity" => match asked.fetch_add(1, Ordering::SeqCst) {
                0 => Err(failure(ErrorClass::Transient, "Timeout")),
                1 => Ok(json!({})),
                _ => Ok(json!({"Account": MINE})),
            },
            _ => Ok(json!({})),
        });
        let cloud = Asserted::new(cloud);
        let (target, write) = (target(MINE), write());
        for code in ["Timeout", "AccountUnknown"] {
            let error = cloud.call(&target, &write).await.unwrap_err();
            assert_eq!((error.class, &*error.code), (ErrorClass::Transient, code));
        }
        cloud.call(&target, &write).await.unwrap();
        let question = "sts:GetCallerIdentity";
        assert_eq!(names(&sent), [question, question, question, "rds:ModifyDBInstance"]);
    }
}
