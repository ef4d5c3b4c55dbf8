//! Commits of a Git repository, as trees and change sets.
//!
//! In: a [`Location`] and the [`Access`] to it. Out: [`Tree`], [`ChangeSet`] and [`SourceHealth`].
//!
//! A child process ([`fetch_child`]) fetches the tip of the branch into a bare mirror in the state
//! directory; the parent reads trees and blobs from the mirror's object database. Nothing is
//! checked out, no history is kept, and the cost of a commit is that of the directories and files
//! that it touched. A mirror beside it holds history, for who asks what was before ([`walk_back`]) and for
//! pull requests.
//!
//! Invariants: a fetch never outlives its deadline; a failed, partial or empty reading is a
//! [`SourceError`] with a stable code and never an empty tree; the mirror is disposable and heals by
//! being made anew; credentials appear in the child's standard input and nowhere else. Where
//! [`Signatures`] are asked for, no file of a commit is delivered before its signature was verified.
//!
//! For a pull request, [`propose`] merges two commits in memory and says what the merge changes
//! ([`Proposal`]); nothing is written to the repository.
//!
//! It does not parse manifests, or decide what a vanished file means.
//! It has no part in who owns the state directory: the lease on it is taken before.
//!
//! [`ChangeSet`]: crate::model::tree::ChangeSet
//! [`SourceHealth`]: crate::model::tree::SourceHealth

mod access;
mod child;
mod classify;
mod error;
mod fetch;
mod files;
mod folder;
mod heads;
mod history;
mod host_key;
mod location;
mod mirror;
mod pace;
mod proposal;
mod read;
mod signature;
mod snapshot;
#[cfg(test)]
pub(crate) mod testing;
mod transfer;
mod watcher;
mod worktree;

pub use access::{Access, Credentials, Fetched};
pub use child::{FETCH_COMMAND, fetch_child};
pub use error::{SourceError, Unverified};
pub use heads::{Heads, fetch_heads};
pub use history::{brought_in, walk_back};
pub use location::{Endpoint, Location, Transport};
pub use pace::Pace;
pub use proposal::{Checkout, Merged, Proposal, merge, propose};
pub use signature::Signatures;
pub use snapshot::Cost;
pub use watcher::{Poke, Watched, Watcher};
pub use worktree::read_worktree;

use crate::model::tree::Tree;

/// Prepares the process for the use of Git; call it before the first thread starts.
///
/// The Git library sets environment variables of the TLS library on its first use, which is not
/// safe once other threads may read the environment.
pub fn init() {
    let _ = git2::Oid::hash_object(git2::ObjectType::Blob, b"");
}

/// Fetches the branch and reads the whole folder at its tip.
///
/// # Errors
///
/// A [`SourceError`]; a folder that is missing or without manifests is one too.
pub async fn read_once(location: &Location, access: &Access) -> Result<Tree, SourceError> {
    read_with_cost(location, access).await.map(|(tree, _)| tree)
}

/// Does what [`read_once`] does, and says what the reading cost.
///
/// # Errors
///
/// Those of [`read_once`].
pub async fn read_with_cost(
    location: &Location,
    access: &Access,
) -> Result<(Tree, Cost), SourceError> {
    let reading = read::fetch_and_read(&fetch::ChildFetcher, location, access, None, true).await?;
    // Whoever reads once asked for the tip, not for what was good before it.
    if let Some(refused) = reading.refused {
        return Err(SourceError::Unverified(refused));
    }
    // Without a delivery before it, a reading is never "the same as before".
    let delivery = reading.delivery.ok_or_else(|| SourceError::MirrorCorrupt {
        path: access.mirror(location),
        detail: "nothing was read".to_owned(),
    })?;
    let (revision, entries) = (delivery.changes.revision, delivery.changes.changed);
    Ok((Tree { revision, entries }, delivery.cost))
}
