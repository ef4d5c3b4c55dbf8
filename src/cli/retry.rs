//! `levelset retry OBJECT`: lets an object that was given up try again.

use super::error::Error;
use super::output::Output;
use super::settings::Flags;
use super::status::choose;
use super::{Exit, runtime};
use crate::lease::StateDirectory;
use crate::model::Key;
use crate::status::{Sqlite, Store};

/// Let an object that was given up after too many failures try again
///
/// The agent tries with its next pass, at the time that `levelset status` shows.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The object: its name, or Workspace/NAME where the name is not enough
    object: String,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let config = flags.load(&[])?;
    let path = StateDirectory::store_file(&config.state_directory.value);
    let key = runtime()?.block_on(retry(&path, &arguments.object))?;
    output.print(&format!("{key} tries again with its next pass\n"))?;
    Ok(Exit::Done)
}

async fn retry(path: &std::path::Path, object: &str) -> Result<Key, Error> {
    let reader = Sqlite::open_read_only(path).await.map_err(Error::Store)?;
    let records = reader.all().await.map_err(Error::Store)?;
    reader.close().await;
    let key = choose(&records, Some(object))?.first().map(|record| record.key.clone());
    let store = Sqlite::open(path).await.map_err(Error::Store)?;
    let key = key.unwrap_or_else(|| Key::workspace(object));
    let done = store.retry(&key).await.map_err(Error::Store);
    store.close().await;
    done.map(|_| key)
}
