//! What Git said last of an object that it declares no longer.
//!
//! In: [`Annals`], which read the history of the branch. Out: the most that may become of what the
//! object left, and what suspends it. The agent reads the tip of a branch: what a commit said that was pushed together with a
//! later one, or while no agent could record what it read, is in the history alone.
//!
//! A history that cannot be read allows nothing (yet); one that never declared the object allows to
//! retain.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::policy::DeletionPolicy;
use crate::model::{Holder, Key, Revision};

/// Holds what Git said last of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Last {
    /// What the newest commit that declares it says about its deletion.
    pub deletion: DeletionPolicy,
    /// The annotations of that manifest that suspend the object.
    pub suspended: Vec<Holder>,
    /// The commit after that one: it took the object away.
    pub gone_in: Revision,
}

/// The future of what Git said last: nothing where no commit declares the object, or the code of why
/// that cannot be known now.
pub type LastWord<'a> = Pin<Box<dyn Future<Output = Result<Option<Last>, String>> + Send + 'a>>;

/// Reads the history of the branch.
pub trait Annals: Send + Sync {
    /// Returns what the newest commit before `revision` says that declares an object.
    fn last_word<'a>(&'a self, key: &'a Key, revision: &'a Revision) -> LastWord<'a>;
}

/// Says what is known of how an object was declared last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Told {
    /// The least careful deletion that Git allows; nothing where the history was not asked.
    pub(super) deletion: Option<DeletionPolicy>,
    /// What suspends the object, if the history tells.
    pub(super) suspended: Option<Vec<Holder>>,
    /// The commit that took the object away, if the history tells.
    pub(super) gone_in: Option<Revision>,
}

/// Remembers what was read in the annals, if there are any.
#[derive(Default)]
pub struct Words {
    annals: Option<Arc<dyn Annals>>,
    known: Mutex<BTreeMap<Key, (Revision, Told)>>,
}

impl Words {
    /// Makes an empty memory of what these annals say.
    pub fn of(annals: Arc<dyn Annals>) -> Self {
        Self { annals: Some(annals), known: Mutex::default() }
    }

    /// Returns what Git said last of an object whose manifest is gone at `revision`, or the code of why
    /// that is not known.
    pub(super) async fn told(
        &self,
        key: &Key,
        revision: Option<&Revision>,
    ) -> Result<Told, String> {
        let Some(annals) = &self.annals else { return Ok(Told::default()) };
        let Some(revision) = revision else { return Err("NothingRead".to_owned()) };
        if let Some(told) = self.known(key, revision) {
            return Ok(told);
        }
        let told = match annals.last_word(key, revision).await? {
            Some(Last { deletion, suspended, gone_in }) => Told {
                deletion: Some(deletion),
                suspended: Some(suspended),
                gone_in: Some(gone_in),
            },
            None => {
                tracing::warn!(object = %key, "no commit of the branch declares it: it is retained");
                Told { deletion: Some(DeletionPolicy::Retain), ..Told::default() }
            }
        };
        self.all().insert(key.clone(), (revision.clone(), told.clone()));
        Ok(told)
    }

    /// Forgets an object.
    pub(super) fn forget(&self, key: &Key) {
        self.all().remove(key);
    }

    fn known(&self, key: &Key, revision: &Revision) -> Option<Told> {
        let all = self.all();
        all.get(key).filter(|(at, _)| at == revision).map(|(_, told)| told.clone())
    }

    fn all(&self) -> std::sync::MutexGuard<'_, BTreeMap<Key, (Revision, Told)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
