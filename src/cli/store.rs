//! The agent's store, as the commands open it beside the agent: to look, or to ask something.
//!
//! In: the settings. Out: what the store holds, or a number of asks written as one. Neither needs a
//! running agent, and neither makes a store.

use jiff::Timestamp;

use super::error::Error;
use super::runtime;
use super::settings::{Flags, person};
use crate::lease::StateDirectory;
use crate::model::{Ask, Key};
use crate::report::Told;
use crate::status::{Record, Sqlite, Store, StoreError};

/// Reads from the store.
///
/// # Errors
///
/// When there is no store, or it cannot be read.
pub(super) fn read<T>(
    flags: &Flags,
    look: impl AsyncFnOnce(&Sqlite) -> Result<T, StoreError>,
) -> Result<T, Error> {
    let config = flags.load(&[])?;
    let path = StateDirectory::store_file(&config.state_directory.value);
    runtime()?.block_on(async {
        let store = Sqlite::open_read_only(&path).await.map_err(Error::Store)?;
        let found = look(&store).await;
        store.close().await;
        found.map_err(Error::Store)
    })
}

/// Writes what the person at the terminal asks, all or none.
///
/// # Errors
///
/// When there is no store, or this user may not write it.
pub(super) fn ask(flags: &Flags, asks: &[Ask], now: Timestamp) -> Result<(), Error> {
    let config = flags.load(&[])?;
    let path = StateDirectory::store_file(&config.state_directory.value);
    runtime()?.block_on(async {
        let store = Sqlite::open_beside(&path).await.map_err(Error::Ask)?;
        let asked = store.ask(asks, &person(), now).await;
        store.close().await;
        asked.map_err(Error::Ask)
    })
}

/// Returns the record of the object that a person names.
///
/// # Errors
///
/// When it is the name of no object, or of several.
pub(super) fn find(flags: &Flags, object: &str) -> Result<Record, Error> {
    let records = read(flags, async |store| store.all().await)?;
    one(&records, object).cloned()
}

/// Returns the records that are asked for, in the order of their keys.
///
/// # Errors
///
/// When a name is given and it is the name of no object, or of several.
pub(super) fn choose<'a>(
    records: &'a [Record],
    object: Option<&str>,
) -> Result<Vec<&'a Record>, Error> {
    if let Some(name) = object {
        return one(records, name).map(|record| vec![record]);
    }
    let mut all: Vec<&Record> = records.iter().collect();
    all.sort_by(|a, b| a.key.cmp(&b.key));
    Ok(all)
}

fn one<'a>(records: &'a [Record], name: &str) -> Result<&'a Record, Error> {
    named(records, |record| &record.key, name)
}

/// Returns the one item whose object a person names.
///
/// # Errors
///
/// When it is the name of no object, or of several.
pub(super) fn named<'a, T>(
    items: impl IntoIterator<Item = &'a T>,
    key: impl Fn(&T) -> &Key,
    name: &str,
) -> Result<&'a T, Error> {
    let is_named = |item: &&T| *key(item).name == *name || key(item).to_string() == name;
    let mut found = items.into_iter().filter(is_named);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (None, _) => Err(Error::UnknownObject { name: name.to_owned() }),
        (Some(_), Some(_)) => Err(Error::AmbiguousObject { name: name.to_owned() }),
    }
}

/// Joins a record to its name, as the reports show it.
pub(super) fn told(record: &Record) -> Told<'_> {
    Told { key: &record.key, generation: record.generation, status: &record.status }
}
