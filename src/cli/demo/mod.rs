//! `levelset demo`: the agent at work on a cloud in memory, a repository and a console.
//!
//! The agent, its source, its store and the manifests are the real ones; only AWS is the
//! [`Sandbox`], in which everything takes a second. Nothing outside a temporary folder is touched.
//!
//! Invariant: what an act claims is checked against the cloud's own state and the log of its calls,
//! not only against what the agent says of itself.
//!
//! [`Sandbox`]: crate::sandbox::Sandbox

mod acts;
mod example;
mod keep;
mod show;
mod stage;
mod watch;

use super::error::Error;
use super::output::Output;
use super::{Exit, runtime};
use crate::source;
use stage::Stage;

/// Show Levelset at work on a cloud in memory; needs no AWS account and touches nothing
///
/// Exit code 0: all of it really happened; 1: something did not, and which.
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Go on after the last act, and say how to change things by hand
    #[arg(long)]
    keep: bool,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Error> {
    source::init();
    runtime()?.block_on(async {
        let stage = Stage::build().await?;
        let played = play(arguments, &stage, output).await;
        stage.close().await;
        played
    })?;
    Ok(Exit::Done)
}

async fn play(arguments: &Arguments, stage: &Stage, output: &mut Output) -> Result<(), Error> {
    acts::play(stage, output).await?;
    if arguments.keep {
        keep::keep(stage, output).await?;
    }
    Ok(())
}
