//! The in-memory cache of what Git declares: the last good object of each key, and its generation.
//!
//! In: the change sets of the source, read by [`manifest`](crate::manifest). Out: a [`Snapshot`]
//! that anyone may hold for as long as they like, and after each change set the keys that are to
//! be looked at and the generations that are to be persisted ([`Changes`]).
//!
//! Invariants:
//!
//! - An object is replaced by a better one or stays as it is: a file that no longer parses changes
//!   nothing about the objects that it declared.
//! - A key counts as removed only after a full list, when every file that may hold it has been
//!   read, and when the [`Guard`] finds that not too many vanish at once. Before that it is kept.
//! - A version from which sections are gone that the policy would delete is not taken while the
//!   [`Guard`] finds that too much leaves at once: the one before stays.
//! - A removed object is not forgotten before the reconciler says so ([`Cache::forget`]), and is no
//!   longer removed when its manifest returns. The same key in another file is the same object.
//! - A generation starts at 1 and grows by one with each new digest, across restarts, and goes on
//!   from where it was when a forgotten object returns.
//!
//! A snapshot shares every object with the one before; a change set copies one map of pointers (see
//! the benchmark `desired`), a change of the source's health copies nothing.
//!
//! It does no I/O: the store is read before and written after by whoever drives it. It does not
//! judge what a removal does to the cloud; that is the policy's.

mod cache;
mod changes;
mod generation;
mod guard;
mod snapshot;

#[cfg(test)]
mod folder;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod tests;

pub use cache::Cache;
pub use changes::{Change, Changes, Known, NotFrozen};
pub use guard::{FreezeReason, Frozen, Guard};
pub use snapshot::{Entry, Orphan, Reader, Removed, Snapshot};
