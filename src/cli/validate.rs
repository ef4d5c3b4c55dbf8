//! `levelset validate PATH`: everything that is wrong with the manifests of a folder, offline.
//!
//! It reads them as the agent reads a commit: the same parser, the same checks between files. Where
//! there are settings that hold environments, the manifests may name no others.

use std::path::PathBuf;

use clap::ValueEnum;

use super::Exit;
use super::error::Error;
use super::manifests::{self, Manifests};
use super::output::Output;
use super::settings::Flags;
use crate::report::{Style, json, sarif, text};

/// Check manifests without the cloud; tells every mistake with its place
#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The folder that holds the manifests, or one file
    #[arg(default_value = ".")]
    path: PathBuf,
    /// The form of the report; `sarif` is what code hosts show in a pull request
    #[arg(long, short, value_name = "FORMAT", default_value = "text")]
    output: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
    Sarif,
}

pub(super) fn run(
    arguments: &Arguments,
    flags: &Flags,
    output: &mut Output,
) -> Result<Exit, Error> {
    let config = flags.load(&[])?;
    let environments: Vec<&str> = config.environments.keys().map(String::as_str).collect();
    let read = manifests::read_for(&arguments.path, &environments)?;
    let report = render(&read, arguments.output, output.style());
    output.print(&report)?;
    Ok(if read.is_broken() { Exit::Wrong } else { Exit::Done })
}

fn render(read: &Manifests, format: Format, style: Style) -> String {
    match format {
        Format::Text => {
            let (objects, files) = (read.snapshot().objects.len(), read.files);
            text::checked(objects, files, &read.problems, style)
        }
        Format::Json => json::problems(&read.problems),
        Format::Sarif => sarif::problems(&read.problems),
    }
}
