//! The port through which every AWS call leaves.
//!
//! Three things stand behind it: the SDK ([`crate::aws`]), the sandbox in process
//! ([`crate::sandbox`]), and saved answers (`plan --observed`). Budgets wrap any of them.

use std::future::Future;
use std::pin::Pin;

use serde_json::Value;

use super::{Call, CallError, KindName, Scope};

/// Says where a call goes and for which kind, so that credentials can differ per kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The account and region.
    pub scope: Scope,
    /// The kind on whose behalf the call is made.
    pub kind: KindName,
}

/// The future of one call's answer.
pub type CallFuture<'a> = Pin<Box<dyn Future<Output = Result<Value, CallError>> + Send + 'a>>;

/// Sends calls to AWS and returns the answers as JSON in the API's member names.
pub trait Cloud: Send + Sync {
    /// Sends one call once; retrying is the queue's business.
    ///
    /// # Errors
    ///
    /// A [`CallError`] whose class says what the failure means.
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a>;
}
