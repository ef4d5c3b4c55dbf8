//! `levelset status [OBJECT]`: how every object stands, from the agent's store.
//!
//! It reads what the last pass of each object wrote, whether or not an agent runs, and asks AWS
//! nothing.

use super::error::Error;
use super::output::Output;
use super::settings::Flags;
use super::{Exit, Format, runtime};
use crate::lease::StateDirectory;
use crate::report::{Style, Told, json, text};
use crate::status::{Record, Sqlite, Store};

/// Show how every object stands, or everything about one, from the agent's store
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// One object: its name, or Workspace/NAME where the name is not enough
    object: Option<String>,
    /// The form of the report
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
    let records = runtime()?.block_on(async {
        let store = Sqlite::open_read_only(&path).await.map_err(Error::Store)?;
        let records = store.all().await.map_err(Error::Store);
        store.close().await;
        records
    })?;
    let chosen = choose(&records, arguments.object.as_deref())?;
    output.print(&render(&chosen, arguments, output.style()))?;
    Ok(Exit::Done)
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
    let Some(name) = object else {
        let mut all: Vec<&Record> = records.iter().collect();
        all.sort_by(|a, b| a.key.cmp(&b.key));
        return Ok(all);
    };
    let is_named = |record: &&Record| *record.key.name == *name || record.key.to_string() == name;
    let found: Vec<&Record> = records.iter().filter(is_named).collect();
    match found.len() {
        1 => Ok(found),
        0 => Err(Error::UnknownObject { name: name.to_owned() }),
        _ => Err(Error::AmbiguousObject { name: name.to_owned() }),
    }
}

fn render(records: &[&Record], arguments: &Arguments, style: Style) -> String {
    let told: Vec<Told<'_>> = records
        .iter()
        .map(|record| Told {
            key: &record.key,
            generation: record.generation,
            status: &record.status,
        })
        .collect();
    match (arguments.output, told.as_slice(), &arguments.object) {
        (Format::Json, told, _) => json::status(told),
        (Format::Text, [one], Some(_)) => text::object(one, style),
        (Format::Text, told, _) => text::status(told, style),
    }
}
