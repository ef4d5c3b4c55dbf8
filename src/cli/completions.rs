//! `levelset completions SHELL`: a script that a shell loads.

use clap_complete::Shell;

use super::error::Error;
use super::output::Output;
use super::{Exit, command};

/// Print a completion script for a shell
///
/// For example: levelset completions bash > /etc/bash_completion.d/levelset
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The shell
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments, output: &mut Output) -> Result<Exit, Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command(), "levelset", &mut script);
    output.print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
