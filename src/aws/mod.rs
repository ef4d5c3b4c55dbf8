//! AWS itself behind the [`Cloud`](crate::model::Cloud) port: accounts, clients, budgets, identity.
//!
//! In: calls as data. Out: answers as JSON under the API's member names, or a
//! [`CallError`](crate::model::CallError) that says what the failure means. [`Aws`] sends; around it
//! go two decorators, outermost first: [`Asserted`] lets nothing through to an account that has not
//! been proven to be the one that is named, and [`Budgeted`] spends the API budget of the call's
//! account, region and service; the proof spends one too.
//!
//! Invariants: a call is sent at most once (the SDK's own retries are off: retrying is the queue's
//! business); every call is bounded in time; a write whose fate is not known is `Ambiguous`, never a
//! plain failure; error texts are shown and never read.
//!
//! This module deliberately does not know the operations: the kinds' `sdk.rs` do.

mod account;
mod budget;
mod class;
mod client;
mod credentials;
mod identity;
mod json;
mod query;
mod rest;
mod s3;
mod signed;
#[cfg(test)]
mod testing;

pub use crate::model::Budget;
pub use account::{Account, Accounts, Endpoints, Role, Timeouts};
pub use budget::{
    Budgeted, Budgets, Holding, LedgerEntry, Line, Outcome, documented_per_second, forecast,
};
pub use client::Aws;
pub use identity::Asserted;
