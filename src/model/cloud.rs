//! The port through which every AWS call leaves.
//!
//! Three things stand behind it: the SDK ([`crate::aws`]), the sandbox in process
//! ([`crate::sandbox`]), and saved answers (`plan --observed`). Budgets wrap any of them.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use super::{AccountId, Call, CallError, Cause, KindName, Scope};

/// Says where a call goes and for which kind, so that credentials can differ per kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The account and region.
    pub scope: Scope,
    /// The kind on whose behalf the call is made.
    pub kind: KindName,
    /// Why it is made.
    pub cause: Cause,
}

/// The future of one call's answer.
pub type CallFuture<'a> = Pin<Box<dyn Future<Output = Result<Value, CallError>> + Send + 'a>>;

/// The future of a call's admission: it ends when the call may leave.
pub type Admission<'a> =
    Pin<Box<dyn Future<Output = Result<CallFuture<'a>, CallError>> + Send + 'a>>;

/// Sends calls to AWS and returns the answers as JSON in the API's member names.
///
/// A cloud in front of another one hands an admission on, or what it guards would be asked too
/// early.
pub trait Cloud: Send + Sync {
    /// Sends one call once; retrying is the queue's business.
    ///
    /// # Errors
    ///
    /// A [`CallError`] whose class says what the failure means.
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a>;

    /// Waits until one call may leave, and returns it: it is sent, without a further wait, when the
    /// returned future is polled for the first time, and not at all when that is dropped.
    ///
    /// For whoever has to prove something at the last moment, such as the right to write.
    ///
    /// # Errors
    ///
    /// A [`CallError`] of a call that was not sent: it waited for too long, or may not leave.
    fn admit<'a>(&'a self, target: &'a Target, call: &'a Call) -> Admission<'a> {
        Box::pin(async move { Ok(self.call(target, call)) })
    }

    /// Tells whether a call to an account waits for its budget now, so that one that is made later
    /// would wait too.
    fn is_waited_for(&self, _account: &AccountId) -> bool {
        false
    }
}

impl<C: Cloud + ?Sized> Cloud for Arc<C> {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        (**self).call(target, call)
    }

    fn admit<'a>(&'a self, target: &'a Target, call: &'a Call) -> Admission<'a> {
        (**self).admit(target, call)
    }

    fn is_waited_for(&self, account: &AccountId) -> bool {
        (**self).is_waited_for(account)
    }
}
