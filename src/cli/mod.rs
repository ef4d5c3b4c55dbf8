//! The commands: one file per verb, and what they share.
//!
//! In: the words of the command line. Out: text on the streams of an [`Output`], and an [`Exit`].
//!
//! Invariants: only this room prints, and only through [`Output`]; an error is printed once, as its
//! chain of causes, by [`error`]; standard output carries the result and nothing else.

mod accept;
mod agent;
pub mod alerts;
mod annals;
mod budget;
mod catalog;
pub mod clock;
mod cloud;
mod completions;
mod confirm;
mod demo;
mod engine;
pub mod error;
mod explain;
mod figures;
mod following;
mod forge;
mod history;
mod hooks;
mod iam_policy;
mod import;
mod kinds;
mod logging;
mod manifests;
pub mod output;
mod plan;
mod progress;
mod pulls;
mod reason;
mod report;
mod repository;
mod resume;
mod retry;
mod run;
mod saved;
mod schema;
mod settings;
mod snooze;
mod standing;
mod status;
mod store;
mod suspend;
mod sync;
pub mod telling;
mod validate;
mod webhooks;

use std::ffi::OsString;
use std::process::ExitCode;

use anstream::ColorChoice;
use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

use error::Error;
use output::Output;

const EXIT_CODES: &str = "\
Exit codes:
  0  done; for `plan` and `report`: nothing to do
  1  an error, a mistake in a manifest, or a mistake on the command line
  2  for `plan` and `report` only: something is not as declared, or would be changed";

/// Keeps AWS level with Git.
#[derive(Debug, Parser)]
#[command(name = "levelset", version, after_help = EXIT_CODES, propagate_version = true)]
#[command(subcommand_required = true, arg_required_else_help = false)]
struct Arguments {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    verb: Verb,
}

/// Holds what every verb takes.
#[derive(Debug, clap::Args)]
pub(crate) struct Global {
    /// Colours: `auto` looks at the terminal, NO_COLOR and CLICOLOR_FORCE
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GLOBAL)]
    color: Colour,
    #[command(flatten)]
    settings: settings::Flags,
}

pub(crate) const GLOBAL: &str = "Global options";

/// Names the form of a report that has no other forms than these.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Run(run::Arguments),
    Validate(validate::Arguments),
    Plan(plan::Arguments),
    Report(report::Arguments),
    Sync(sync::Arguments),
    Status(status::Arguments),
    Explain(explain::Arguments),
    History(history::Arguments),
    Retry(retry::Arguments),
    Suspend(suspend::Arguments),
    Snooze(snooze::Arguments),
    Resume(resume::Arguments),
    Confirm(confirm::Arguments),
    Accept(accept::Arguments),
    Import(import::Arguments),
    Budget(budget::Arguments),
    Demo(demo::Arguments),
    /// Print the JSON Schema of the manifests, for editors
    Schema,
    Kinds(kinds::Arguments),
    IamPolicy(iam_policy::Arguments),
    Completions(completions::Arguments),
}

/// Says how a command ended, where that is no error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// It did what was asked.
    Done,
    /// It did what was asked, and the answer is that something is wrong.
    Wrong,
    /// It did what was asked, and the answer is that something is not as declared.
    Different,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => Self::SUCCESS,
            Exit::Wrong => Self::from(1),
            Exit::Different => Self::from(2),
        }
    }
}

/// Runs the command that the words ask for, on the streams of the process.
pub fn main(words: impl IntoIterator<Item = OsString>) -> ExitCode {
    match Arguments::try_parse_from(words) {
        Ok(arguments) => {
            let mut output = Output::of_process(arguments.global.color.into());
            match run(arguments, &mut output) {
                Ok(exit) => exit.into(),
                Err(error) => {
                    output.error(&error);
                    ExitCode::from(1)
                }
            }
        }
        Err(usage) => Output::of_process(ColorChoice::Auto).usage(&usage),
    }
}

fn run(arguments: Arguments, output: &mut Output) -> Result<Exit, Error> {
    let settings = &arguments.global.settings;
    match arguments.verb {
        Verb::Run(arguments) => run::run(&arguments, settings, output),
        Verb::Validate(arguments) => validate::run(&arguments, settings, output),
        Verb::Plan(arguments) => plan::run(&arguments, settings, output),
        Verb::Report(arguments) => report::run(&arguments, settings, output),
        Verb::Sync(arguments) => sync::run(&arguments, settings, output),
        Verb::Status(arguments) => status::run(&arguments, settings, output),
        Verb::Demo(arguments) => demo::run(&arguments, output),
        Verb::History(arguments) => history::run(&arguments, settings, output),
        Verb::Retry(arguments) => retry::run(&arguments, settings, output),
        Verb::Explain(arguments) => explain::run(&arguments, settings, output),
        Verb::Suspend(arguments) => suspend::run(&arguments, settings, output),
        Verb::Snooze(arguments) => snooze::run(&arguments, settings, output),
        Verb::Resume(arguments) => resume::run(&arguments, settings, output),
        Verb::Confirm(arguments) => confirm::run(&arguments, settings, output),
        Verb::Accept(arguments) => accept::run(&arguments, settings, output),
        Verb::Import(arguments) => import::run(&arguments, settings, output),
        Verb::Budget(arguments) => budget::run(&arguments, settings, output),
        Verb::Schema => schema::run(output),
        Verb::Kinds(arguments) => kinds::run(&arguments, output),
        Verb::IamPolicy(arguments) => iam_policy::run(&arguments, output),
        Verb::Completions(arguments) => completions::run(&arguments, output),
    }
}

/// Makes the runtime that a verb needs which waits for others.
fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Error::Start)
}

/// Returns the description of the whole command line.
fn command() -> clap::Command {
    Arguments::command()
}

impl From<Colour> for ColorChoice {
    fn from(colour: Colour) -> Self {
        match colour {
            Colour::Auto => Self::Auto,
            Colour::Always => Self::Always,
            Colour::Never => Self::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn every_verb_and_every_option_says_what_it_is() {
        for verb in command().get_subcommands() {
            assert!(verb.get_about().is_some(), "{}", verb.get_name());
            for argument in verb.get_arguments() {
                assert!(argument.get_help().is_some(), "{} {}", verb.get_name(), argument.get_id());
            }
        }
    }
}
