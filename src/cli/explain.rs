//! `levelset explain OBJECT`: whether an object is level, if not why not, and what to do.
//!
//! It reads what the last pass wrote and what people asked since; it asks AWS nothing.

use super::error::Error;
use super::output::Output;
use super::settings::Flags;
use super::store::{find, read, told};
use super::{Exit, Format};
use crate::report::explain::{Known, explain};
use crate::report::{json, text};
use crate::status::Store;

/// Explain one object: is it level, if not why not, what happens next, what can be done
///
/// From the agent's store alone: nothing is compared again and AWS is asked nothing.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The object: its name, or Workspace/NAME where the name is not enough
    object: String,
    /// The form of the answer
    #[arg(long, short, value_name = "FORMAT", default_value = "text", alias = "format")]
    output: Format,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let record = find(flags, &arguments.object)?;
    let (asked, freezes) = read(flags, async |store| {
        Ok((store.asked_of(&record.key).await?, store.freezes().await?))
    })?;
    let known = Known { told: told(&record), asked: &asked, freezes: &freezes };
    let explanation = explain(&known);
    output.print(&match arguments.output {
        Format::Text => text::explain(&explanation, output.style()),
        Format::Json => json::document(&explanation),
    })?;
    Ok(Exit::Done)
}
