//! `levelset suspend OBJECT`: nothing is written for an object until it is resumed.

use super::clock::now;
use super::error::Error;
use super::output::Output;
use super::settings::Flags;
use super::store::{ask, find};
use super::{Exit, reason};
use crate::model::Ask;

const WHAT: &str = "\
Nothing is changed in AWS for the object until `levelset resume`; it is still looked at, and its
drift reported. A running agent follows within a second or two; a call that is under way is ended.
The suspension outlives restarts. For one that everybody sees in Git, use the annotation
platform.kby.io/suspend.";

/// Stop every change of an object until it is resumed; drift is still reported
#[derive(Debug, clap::Args)]
#[command(after_help = WHAT)]
pub(super) struct Arguments {
    /// The object: its name, or Workspace/NAME where the name is not enough
    object: String,
    /// Why, for those who wonder
    #[arg(long, value_name = "TEXT", value_parser = reason::parse)]
    reason: Option<String>,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let object = find(flags, &arguments.object)?.key;
    let line = format!("{object} is suspended until `levelset resume {}`\n", object.name);
    ask(flags, &[Ask::Suspend { object, reason: arguments.reason.clone() }], now())?;
    output.print(&line)?;
    Ok(Exit::Done)
}
