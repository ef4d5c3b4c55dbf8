//! Where manifests and the summary go.
//!
//! Invariant: a file that is there is never overwritten, and nothing is written where one would be.

use std::io;
use std::path::{Path, PathBuf};

use super::Arguments;
use super::prove::{Written, file};
use super::summary::{self, Outcome};
use crate::cli::Format;
use crate::cli::error::Error;
use crate::cli::output::Output;

/// Writes the manifests and the summary.
///
/// # Errors
///
/// [`Error::Exists`] when a file says something else already; [`Error::Write`] when one cannot be
/// written.
pub(super) fn write(
    outcome: &Outcome,
    arguments: &Arguments,
    output: &mut Output,
) -> Result<(), Error> {
    if let Some(folder) = &arguments.out {
        files(folder, &outcome.documents)?;
    }
    match (arguments.output, &arguments.out) {
        (Format::Json, out) => output.print(&summary::json(outcome, out.is_some())),
        (Format::Text, Some(_)) => output.print(&summary::text(outcome)),
        (Format::Text, None) => {
            output.note(summary::text(outcome).trim_end());
            let texts = outcome.documents.iter().map(|(_, rendered)| rendered.text.as_str());
            output.print(&texts.collect::<Vec<_>>().join("---\n"))
        }
    }
}

fn files(folder: &Path, documents: &[Written]) -> Result<(), Error> {
    let mut new: Vec<(PathBuf, &str)> = Vec::new();
    for (document, rendered) in documents {
        let path = folder.join(file(&document.key));
        match std::fs::symlink_metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                new.push((path, &rendered.text));
            }
            // Where a link or a pipe leads is nobody's business here.
            Ok(there) if !there.is_file() => return Err(Error::Exists { path }),
            Ok(_) => match std::fs::read(&path) {
                Ok(there) if there == rendered.text.as_bytes() => {}
                Ok(_) => return Err(Error::Exists { path }),
                Err(source) => return Err(Error::Write { path, source }),
            },
            Err(source) => return Err(Error::Write { path, source }),
        }
    }
    new.into_iter().try_for_each(|(path, text)| create(&path, text))
}

/// Makes a file; one that came between the look and the write is not overwritten either.
fn create(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Write { path: path.to_owned(), source };
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(failed)?;
    }
    let mut file = std::fs::File::create_new(path).map_err(failed)?;
    io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)
}
