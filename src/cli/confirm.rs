//! `levelset confirm DIGEST`: what a guard froze is meant.

use super::Exit;
use super::clock::now;
use super::error::Error;
use super::output::Output;
use super::settings::Flags;
use super::store::{ask, read};
use crate::model::{Ask, Freeze};
use crate::status::Store;

const WHAT: &str = "\
The digest stands for exactly the objects that `levelset status` shows with it. If others are frozen
by the time that the agent looks, nothing is released.";

/// Say that what a guard froze is meant, so that exactly this set is released
#[derive(Debug, clap::Args)]
#[command(after_help = WHAT)]
pub(super) struct Arguments {
    /// The digest that `levelset status` shows
    digest: String,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let digest = &arguments.digest;
    let freezes = read(flags, async |store| store.freezes().await)?;
    let Some(freeze) = freezes.iter().find(|freeze| freeze.digest == *digest) else {
        let frozen = freezes.iter().map(line).collect();
        return Err(Error::NotFrozen { digest: digest.clone(), frozen });
    };
    ask(flags, &[Ask::Confirm { digest: digest.clone() }], now())?;
    let objects: String = freeze.objects.iter().map(|object| format!("  {object}\n")).collect();
    output.print(&format!("confirmed: {}\n{objects}", freeze.message))?;
    Ok(Exit::Done)
}

fn line(freeze: &Freeze) -> String {
    format!("{}: {}", freeze.digest, freeze.message)
}
