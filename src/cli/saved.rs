//! Planning against saved answers of the AWS CLI: the answers, the memory and the places for it.
//!
//! In: the file of `--observed`. Out: a cloud that answers reads, and an engine that needs no settings.

use std::path::Path;
use std::sync::Arc;

use super::error::Error;
use super::output::Output;
use crate::config::Config;
use crate::desired::Snapshot;
use crate::kinds;
use crate::lease::StateDirectory;
use crate::model::{AccountId, Region, Scope};
use crate::observe::saved::Saved;
use crate::reconcile::engine::{Engine, Environment};
use crate::status::{InMemory, Sqlite, Store};

/// Reads saved answers.
///
/// # Errors
///
/// [`Error::Observed`] when the file cannot be read or holds something else.
pub(super) fn saved(path: &Path) -> Result<Saved, Error> {
    let failed = |source| Error::Observed { path: path.to_owned(), source };
    let text = std::fs::read_to_string(path).map_err(|error| failed(Box::new(error)))?;
    Saved::parse(&text, kinds::all()).map_err(|error| failed(Box::new(error)))
}

/// Returns what the agent on this machine remembers, so that drift is told from a change in Git.
///
/// Saved answers are planned without it: the same file gives the same plan anywhere.
///
/// # Errors
///
/// [`Error::Store`] when there is a store and it cannot be read.
pub(super) async fn memory(config: &Config, is_offline: bool) -> Result<Arc<dyn Store>, Error> {
    let path = StateDirectory::store_file(&config.state_directory.value);
    if is_offline || !path.exists() {
        return Ok(Arc::new(InMemory::new()));
    }
    Ok(Arc::new(Sqlite::open_read_only(&path).await.map_err(Error::Store)?))
}

/// Takes saved answers, which are of one account, for those of every environment that is not
/// configured.
pub(super) fn assume(engine: &mut Engine, declared: &Snapshot, output: &mut Output) {
    for entry in declared.objects.values() {
        let name = entry.object.environment();
        if engine.environments.contains_key(name) {
            continue;
        }
        output.note(&format!(
            "the environment \"{name}\" is not configured: the saved answers are taken for its account"
        ));
        let scope =
            Scope { account: AccountId::new("000000000000"), region: Region::new("us-east-1") };
        let assumed = Environment { scope, production: name == "production" };
        engine.environments.insert(name.to_owned(), assumed);
    }
}
