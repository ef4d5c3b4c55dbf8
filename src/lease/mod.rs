//! The right to write: who holds it, and until when.
//!
//! In: a state directory, and later a shared database. Out: a [`Fence`](crate::model::Fence) that
//! is asked before each call that changes something, and the token that every stored write carries.
//!
//! Invariants: two agents never hold the right to the same shard at the same time; a token is never
//! granted twice. It does not know what is written.

pub mod single;

pub use single::{Single, StateDirectory, StateError};
