//! `levelset status [OBJECT]`: how every object stands, from the agent's store.
//!
//! It reads what the last pass of each object wrote, whether or not an agent runs, and asks AWS
//! nothing.

use super::error::Error;
use super::output::Output;
use super::settings::Flags;
use super::store::{choose, read, told};
use super::{Exit, Format};
use crate::model::Freeze;
use crate::report::{Style, Told, json, text};
use crate::status::{Record, Store};

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
    let (records, freezes) =
        read(flags, async |store| Ok((store.all().await?, store.freezes().await?)))?;
    let chosen = choose(&records, arguments.object.as_deref())?;
    output.print(&render(&chosen, &freezes, arguments, output.style()))?;
    Ok(Exit::Done)
}

fn render(records: &[&Record], freezes: &[Freeze], arguments: &Arguments, style: Style) -> String {
    let told: Vec<Told<'_>> = records.iter().map(|record| told(record)).collect();
    match (arguments.output, told.as_slice(), &arguments.object) {
        (Format::Json, told, _) => json::status(told, freezes),
        (Format::Text, [one], Some(_)) => text::object(one, style),
        (Format::Text, told, _) => text::status(told, freezes, style),
    }
}
