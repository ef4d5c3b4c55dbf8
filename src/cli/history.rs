//! `levelset history OBJECT`: what happened to an object, newest first, from the agent's store.
//!
//! Also of one that was removed and is done with: what was deleted, and when, stays to be seen.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::error::Error;
use super::output::Output;
use super::settings::Flags;
use super::store::{named, read};
use super::{Exit, Format};
use crate::model::Key;
use crate::report::json::document;
use crate::status::{Event, Sqlite, Store, StoreError};

/// Show what happened to an object, newest first, from the agent's store
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The object: its name, or Workspace/NAME where the name is not enough
    object: String,
    /// The most events to show
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    limit: u32,
    /// The form of the list
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    output: Format,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let keys = read(flags, keys)?;
    let key = named(&keys, |key| key, &arguments.object)?;
    let events = read(flags, async |store| store.history(key, arguments.limit).await)?;
    output.print(&render(&events, arguments.output))?;
    Ok(Exit::Done)
}

/// Lists the objects that are known, and those that were.
async fn keys(store: &Sqlite) -> Result<BTreeSet<Key>, StoreError> {
    let known = store.all().await?.into_iter().map(|record| record.key);
    let gone = store.forgotten().await?.into_iter().map(|last| last.key);
    Ok(known.chain(gone).collect())
}

fn render(events: &[Event], format: Format) -> String {
    match format {
        Format::Json => {
            let events: Vec<Value> = events.iter().map(value).collect();
            document(&json!({ "events": events }))
        }
        Format::Text if events.is_empty() => "nothing has happened yet\n".to_owned(),
        Format::Text => events
            .iter()
            .map(|event| format!("{:.0}  {:<10} {}\n", event.at, event.reason, event.message))
            .collect(),
    }
}

fn value(event: &Event) -> Value {
    json!({
        "object": event.key,
        "at": event.at,
        "reason": event.reason,
        "message": event.message,
    })
}
