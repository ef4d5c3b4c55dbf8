//! `levelset demo`: the agent at work on a cloud in memory, a repository and a console.
//!
//! The agent, its source and its store are the real ones; only AWS is the [`Sandbox`], in which
//! everything takes a second. Nothing outside a temporary folder is touched.
//!
//! [`Sandbox`]: crate::sandbox::Sandbox

mod acts;
mod stage;

use super::error::Error;
use super::output::Output;
use super::{Exit, runtime};
use crate::source;

/// Show Levelset at work on a cloud in memory; needs no AWS account and touches nothing
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

pub(super) fn run(_: &Arguments, output: &mut Output) -> Result<Exit, Error> {
    source::init();
    runtime()?.block_on(async {
        let stage = stage::Stage::build().await?;
        let played = acts::play(&stage, output).await;
        stage.close().await;
        played
    })?;
    Ok(Exit::Done)
}
