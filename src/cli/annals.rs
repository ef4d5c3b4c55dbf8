//! The history of the branch, as removals ask for it.
//!
//! In: the settings of the repository. Out: what the newest commit that declares an object says about its
//! deletion. The history is fetched when it is asked for, into a mirror beside the one that the agent
//! follows.

use std::path::PathBuf;

use super::repository::{Remote, remote};
use crate::config::{Config, Repository};
use crate::manifest::Files;
use crate::model::policy::DeletionPolicy;
use crate::model::{ChangeSet, Holder, Key, Revision};
use crate::reconcile::annals::{Annals, Last, LastWord, Words};
use crate::source::{Access, Checkout, SourceError, brought_in, fetch_heads, walk_back};

/// Reads the history of the repository that the settings name.
struct History {
    repository: Repository,
    state: PathBuf,
}

/// Returns what removals ask; nothing where the settings name no repository.
pub(super) fn words(config: &Config) -> Words {
    let state = config.state_directory.value.clone();
    let named = config.repository.clone();
    named.map_or_else(Words::default, |repository| {
        Words::of(std::sync::Arc::new(History { repository, state }))
    })
}

impl Annals for History {
    fn last_word<'a>(&'a self, key: &'a Key, revision: &'a Revision) -> LastWord<'a> {
        Box::pin(async move {
            let Remote { location, access, .. } = remote(&self.repository, &self.state)
                .map_err(|error| told(key, "RepositoryUnusable".to_owned(), &error.to_string()))?;
            // History takes longer than a tip.
            let access = Access { deadline: access.deadline * 5, ..access };
            let tell = |error: SourceError| {
                let (code, message) = error.trouble();
                told(key, code, &message)
            };
            let heads = fetch_heads(&location, &access, &[], false).await.map_err(tell)?;
            match search(heads.checkout, key, revision).await {
                Err(error) if !matches!(error, SourceError::RevisionNotFound { .. }) => {
                    let heads = fetch_heads(&location, &access, &[], true).await.map_err(tell)?;
                    search(heads.checkout, key, revision).await
                }
                found => found,
            }
            .map_err(tell)
        })
    }
}

/// Says in the log what a status only names.
fn told(key: &Key, code: String, message: &str) -> String {
    tracing::warn!(object = %key, code, "what Git said last of it cannot be read: {message}");
    code
}

/// Walks back, away from the tasks.
async fn search(
    checkout: Checkout,
    key: &Key,
    revision: &Revision,
) -> Result<Option<Last>, SourceError> {
    let (key, revision) = (key.clone(), revision.clone());
    let path = checkout.repository.clone();
    let walk = move || last(&checkout, &key, &revision);
    tokio::task::spawn_blocking(walk)
        .await
        .unwrap_or_else(|error| Err(SourceError::ReadFailed { path, detail: error.to_string() }))
}

/// Finds the last word: that of the newest commit of the branch that declares the object, or a more
/// careful one on a line that the commit which took it away has merged.
fn last(checkout: &Checkout, key: &Key, revision: &Revision) -> Result<Option<Last>, SourceError> {
    let mut newer = revision.clone();
    let found = walk_back(checkout, revision, |changes: &ChangeSet| {
        let gone_in = std::mem::replace(&mut newer, changes.revision.clone());
        let (deletion, suspended) = word(changes, key)?;
        Some(Last { deletion, suspended, gone_in })
    })?;
    let Some(mut last) = found else { return Ok(None) };
    let merge = last.gone_in.clone();
    brought_in(checkout, &merge, |was: &ChangeSet, is: &ChangeSet| {
        if let Some((deletion, suspended)) = word(was, key).filter(|_| word(is, key).is_none()) {
            last.deletion = last.deletion.min(deletion);
            last.suspended.extend(suspended);
        }
    })?;
    Ok(Some(last))
}

/// Returns what some files say about the deletion of an object, if they declare it, and what suspends it.
fn word(changes: &ChangeSet, key: &Key) -> Option<(DeletionPolicy, Vec<Holder>)> {
    let mut files = Files::default();
    let _ = files.apply(changes);
    let object = files.object(key)?;
    Some((object.policy().deletion, object.holds().suspended))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::testing::World;

    fn manifest(deletion: &str) -> String {
        format!(
            "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {{name: a}}\nspec:\n  \
             environment: production\n  resources: {{}}\n  reconcilePolicy: {{deletion: {deletion}}}\n"
        )
    }

    fn said(world: &World) -> Option<Last> {
        let heads = world.fetch_heads()(Vec::new(), false).unwrap();
        last(&heads.checkout, &Key::workspace("a"), &heads.tip).unwrap()
    }

    #[test]
    fn the_newest_commit_that_declares_an_object_has_the_last_word() {
        let world = World::new();
        world.commit(&[("rest.yaml", Some("# nothing"))]);
        assert_eq!(said(&world), None);
        for deletion in ["retain", "delete", "snapshot"] {
            world.commit(&[("a.yaml", Some(&manifest(deletion)))]);
        }
        let gone_in = Revision::new(world.commit(&[("a.yaml", None)]).to_string());
        let last = Last { deletion: DeletionPolicy::Snapshot, suspended: Vec::new(), gone_in };
        assert_eq!(said(&world), Some(last.clone()));
        world.commit(&[("rest.yaml", Some("# still nothing"))]);
        assert_eq!(said(&world), Some(last), "later commits make no other removal of it");
    }

    #[test]
    fn a_more_careful_word_of_a_line_that_was_merged_counts() {
        let delete = manifest("delete");
        let world = World::new();
        world.commit(&[("a.yaml", Some(&delete)), ("rest.yaml", Some("# nothing"))]);
        let retain = world.branch("refs/heads/side", &[("a.yaml", Some(&manifest("retain")))]);
        world.commit(&[("rest.yaml", Some("# something"))]);
        world.merge(retain, &["a.yaml"]);
        assert_eq!(said(&world).unwrap().deletion, DeletionPolicy::Retain, "gone in the merge");

        world.commit(&[("a.yaml", Some(&delete))]);
        let main = world.tip("refs/heads/main");
        world.commit(&[("a.yaml", Some(&manifest("snapshot")))]);
        let gone = world.commit(&[("a.yaml", None)]);
        world.repository.reference("refs/heads/main", main, true, "").unwrap();
        world.commit(&[("rest.yaml", Some("# nothing"))]);
        world.merge(gone, &["a.yaml"]);
        assert_eq!(said(&world).unwrap().deletion, DeletionPolicy::Snapshot, "gone on the line");
    }

    #[test]
    fn a_line_that_still_declares_the_object_in_its_next_step_has_no_word_there() {
        let world = World::new();
        world.commit(&[("a.yaml", Some(&manifest("retain"))), ("rest.yaml", Some("# nothing"))]);
        let side = world.branch("refs/heads/side", &[("a.yaml", Some(&manifest("delete")))]);
        world.commit(&[("a.yaml", Some(&manifest("delete")))]);
        world.merge(side, &["a.yaml"]);
        assert_eq!(said(&world).unwrap().deletion, DeletionPolicy::Delete);
    }

    #[test]
    fn a_commit_with_a_mistake_has_no_word() {
        let world = World::new();
        world.commit(&[("a.yaml", Some(&manifest("snapshot")))]);
        let mistaken = manifest("delete").replace("environment:", "enviroment:");
        world.commit(&[("a.yaml", Some(&mistaken))]);
        let gone_in =
            Revision::new(world.commit(&[("a.yaml", None), ("b.yaml", Some("#"))]).to_string());
        let found = said(&world).unwrap();
        assert_eq!(found.deletion, DeletionPolicy::Snapshot);
        assert_ne!(found.gone_in, gone_in, "the commit with the mistake declared it no longer");
    }
}
