//! The agent over HTTP: health, metrics and the API.
//!
//! In: a [`Catalog`] of what the agent knows, its [`Metrics`](crate::status::Metrics), and who takes
//! [`Webhooks`](crate::model::webhook::Webhooks). Out: answers; a webhook may wake somebody, and
//! nothing else here changes anything.
//!
//! Invariants: a client that is slow, silent or rude costs one of a bounded number of connections
//! for a bounded time; an error is a problem document (RFC 9457); no answer is shared with another
//! origin, or given under a name that is not the agent's; a list comes in pages. It does not encrypt and asks for no password: the default address is loopback, and what
//! is in front of another address does both.

mod answer;
mod catalog;
mod hosts;
mod listen;
mod page;
mod routes;
mod webhooks;

pub use catalog::{Catalog, CatalogError, CatalogFuture, Health, Listed};
pub use hosts::Hosts;
pub use listen::{Limits, Listener, ServeError};
pub use page::Page;
pub use routes::{Site, router};
