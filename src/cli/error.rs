//! What can go wrong in a command, and the one place that words it.
//!
//! In: the error of a room. Out: `error: what`, its causes, and a hint, each on its line. The exit
//! code of every one of them is 1.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;

use crate::report::Style;
use crate::report::style::Ink;

/// Says why a command did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The result could not be written.
    #[error("cannot write to standard output")]
    Print(#[source] io::Error),
    /// A folder of manifests could not be read.
    #[error("cannot read the manifests in {path}", path = path.display())]
    Manifests {
        /// The folder or file.
        path: PathBuf,
        /// What happened.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A folder holds no manifests at all, which a check must not take for a success.
    #[error("there are no manifests in {path}", path = path.display())]
    NoManifests {
        /// The folder.
        path: PathBuf,
    },
}

impl Error {
    /// Says what to do about it.
    fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Print(_) => None,
            Self::Manifests { .. } => Some("give the folder that holds the manifests, or one file"),
            Self::NoManifests { .. } => {
                Some("a manifest is a file whose name ends with .yaml or .yml")
            }
        }
    }
}

/// Renders an error, the chain of its causes, and what to do.
pub fn render(error: &Error, style: Style) -> String {
    let mut text = format!("{} {error}\n", style.paint(Ink::Bad, "error:"));
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!("  {} {error}\n", style.paint(Ink::Faint, "caused by:")));
        cause = error.source();
    }
    if let Some(hint) = error.hint() {
        text.push_str(&format!("  {} {hint}\n", style.paint(Ink::Help, "hint:")));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot open a.yaml")]
    struct Outer(#[source] io::Error);

    #[test]
    fn an_error_is_told_with_every_cause_and_what_to_do() {
        let inner = Outer(io::Error::other("the disk is gone"));
        let error = Error::Manifests { path: "teams".into(), source: Box::new(inner) };
        let expected = "\
error: cannot read the manifests in teams
  caused by: cannot open a.yaml
  caused by: the disk is gone
  hint: give the folder that holds the manifests, or one file
";
        assert_eq!(render(&error, Style::Plain), expected);
    }
}
