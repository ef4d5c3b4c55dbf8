//! Proves which account credentials belong to, before the first write.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use tokio::sync::OnceCell;

use crate::model::cloud::CallFuture;
use crate::model::{AccountId, Call, CallError, Cloud, ErrorClass, Scope, Target};

/// Lets reads pass, and writes only to a scope whose credentials have been proven to belong to it.
///
/// The proof is one `GetCallerIdentity` per scope and process, before its first write. A mismatch is
/// refused; a failure leaves the question open and is asked again with the next write. Neither is
/// ever taken for a proof.
pub struct Asserted<C> {
    inner: C,
    proofs: Mutex<BTreeMap<Scope, Arc<OnceCell<()>>>>,
}

impl<C: Cloud> Asserted<C> {
    /// Guards the writes of `inner`.
    pub fn new(inner: C) -> Self {
        Self { inner, proofs: Mutex::default() }
    }

    async fn send(&self, target: &Target, call: &Call) -> Result<Value, CallError> {
        if !call.is_read() {
            let proof = self.proof(&target.scope);
            proof.get_or_try_init(|| self.prove(target, call)).await?;
        }
        self.inner.call(target, call).await
    }

    fn proof(&self, scope: &Scope) -> Arc<OnceCell<()>> {
        let mut proofs = self.proofs.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(proofs.entry(scope.clone()).or_default())
    }

    /// Asks whose the credentials are. An error names the write that was held back.
    async fn prove(&self, target: &Target, write: &Call) -> Result<(), CallError> {
        let held_back = |class, code: &str, message| CallError {
            class,
            operation: write.operation.to_string(),
            code: code.to_owned(),
            message,
        };
        let question = Call::new("sts", "GetCallerIdentity");
        let answer = self.inner.call(target, &question).await.map_err(|error| {
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

/// Says what the failure of the question means for the write, which certainly did not leave.
fn unproven(class: ErrorClass) -> ErrorClass {
    match class {
        ErrorClass::Throttled | ErrorClass::Denied => class,
        _ => ErrorClass::Transient,
    }
}

impl<C: Cloud> Cloud for Asserted<C> {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(self.send(target, call))
    }
}
