//! `levelset retry OBJECT...`: lets objects that were given up try again.

use super::Exit;
use super::clock::now;
use super::error::Error;
use super::output::Output;
use super::settings::Flags;
use super::store::{ask, choose, read};
use crate::model::{Ask, Key};
use crate::status::Store;

const WHAT: &str = "\
Forgets the failures of an object, the changes that had no effect on it and the contests over its
fields. A running agent makes its next pass within a second or two; the minimum interval between two
passes and the API budgets hold. Without a running agent, the next `levelset run` or `sync` does it.";

/// Let an object that was given up after too many failures try again
#[derive(Debug, clap::Args)]
#[command(after_help = WHAT)]
pub(super) struct Arguments {
    /// The objects: their names, or Workspace/NAME where the name is not enough
    #[arg(required_unless_present = "all", value_name = "OBJECT")]
    objects: Vec<String>,
    /// Every object that the store holds
    #[arg(long, conflicts_with = "objects")]
    all: bool,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let keys = keys(arguments, flags)?;
    let asks: Vec<Ask> = keys.iter().cloned().map(|object| Ask::Retry { object }).collect();
    ask(flags, &asks, now())?;
    let lines = keys.iter().map(|key| format!("{key} tries again with its next pass\n"));
    output.print(&lines.collect::<String>())?;
    Ok(Exit::Done)
}

fn keys(arguments: &Arguments, flags: &Flags) -> Result<Vec<Key>, Error> {
    let records = read(flags, async |store| store.all().await)?;
    let named = arguments.objects.iter().map(|name| choose(&records, Some(name)));
    let chosen = match arguments.all {
        true => choose(&records, None)?,
        false => named.collect::<Result<Vec<_>, Error>>()?.concat(),
    };
    Ok(chosen.into_iter().map(|record| record.key.clone()).collect())
}
