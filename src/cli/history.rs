//! `levelset history OBJECT`: what happened to an object, newest first, from the agent's store.

use serde_json::{Value, json};

use super::error::Error;
use super::output::Output;
use super::settings::Flags;
use super::status::choose;
use super::{Exit, Format, runtime};
use crate::lease::StateDirectory;
use crate::report::json::document;
use crate::status::{Event, Sqlite, Store};

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
    let config = flags.load(&[])?;
    let path = StateDirectory::store_file(&config.state_directory.value);
    let events = runtime()?.block_on(async {
        let store = Sqlite::open_read_only(&path).await.map_err(Error::Store)?;
        let events = events(&store, arguments).await;
        store.close().await;
        events
    })?;
    output.print(&render(&events, arguments.output))?;
    Ok(Exit::Done)
}

async fn events(store: &Sqlite, arguments: &Arguments) -> Result<Vec<Event>, Error> {
    let records = store.all().await.map_err(Error::Store)?;
    let chosen = choose(&records, Some(&arguments.object))?;
    match chosen.first() {
        Some(record) => store.history(&record.key, arguments.limit).await.map_err(Error::Store),
        None => Ok(Vec::new()),
    }
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
