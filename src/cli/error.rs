//! What can go wrong in a command, and the one place that words it.
//!
//! In: the error of a room. Out: `error: what`, its causes, and a hint, each on its line. The exit
//! code of every one of them is 1.

use std::error::Error as _;
use std::io;
use std::path::PathBuf;

use jiff::Timestamp;

use super::following::Lost;
use crate::config::ConfigProblem;
use crate::forge::http::Unprepared;
use crate::forge::refusal::Refusal;
use crate::lease::StateError;
use crate::model::outbox::OutboxError;
use crate::report::Style;
use crate::report::style::Ink;
use crate::server::ServeError;
use crate::source::SourceError;
use crate::status::StoreError;

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
    /// The settings are not usable.
    #[error("the settings cannot be used")]
    Settings(Vec<ConfigProblem>),
    /// The saved answers could not be read.
    #[error("cannot read the saved answers in {path}", path = path.display())]
    Observed {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The settings file is in the repository, and the pull request may have written it.
    #[error("the settings in {file} are not those of the base", file = file.display())]
    SettingsOfHead {
        /// The file.
        file: PathBuf,
    },
    /// A pull request could not be made.
    #[error("cannot propose the change of {path}: {refusal}")]
    Propose {
        /// The file, from the root of the repository.
        path: String,
        /// What the host said.
        refusal: Refusal,
    },
    /// A file could not be written.
    #[error("cannot write {path}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What happened.
        source: io::Error,
    },
    /// The agent's store could not be read or written.
    #[error(transparent)]
    Store(StoreError),
    /// What a person asks could not be written beside the agent.
    #[error(transparent)]
    Ask(StoreError),
    /// Nothing of this digest is frozen.
    #[error("nothing is frozen under the digest \"{digest}\"")]
    NotFrozen {
        /// What was to be confirmed.
        digest: String,
        /// What is frozen now, one line each.
        frozen: Vec<String>,
    },
    /// A snooze would end before it begins.
    #[error("cannot snooze until {until}: that is not ahead, it is {now}")]
    NotAhead {
        /// When it would end.
        until: Timestamp,
        /// The time.
        now: Timestamp,
    },
    /// The repository could not be read.
    #[error(transparent)]
    Source(SourceError),
    /// A secret, or an address that holds one, that the settings point at could not be read, or is none.
    #[error("cannot use the secret or the address that {from} names")]
    Secret {
        /// The layer that names it.
        from: String,
        /// What happened.
        source: io::Error,
    },
    /// The Git host's API cannot be spoken to.
    #[error(transparent)]
    Host(Unprepared),
    /// What is to be told could not be read from the store.
    #[error(transparent)]
    Outbox(OutboxError),
    /// The state directory cannot be used.
    #[error(transparent)]
    State(StateError),
    /// The address of the HTTP server cannot be taken.
    #[error(transparent)]
    Serve(ServeError),
    /// The agent stopped following the repository without being asked to.
    #[error("the agent no longer follows the repository: {0}")]
    Ended(Lost),
    /// The demo could not go on.
    #[error("the demo cannot go on")]
    Demo(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Something that the demo shows did not happen.
    #[error("the demo failed: expected that {claim}; {instead}")]
    Untrue {
        /// What should be so.
        claim: String,
        /// What is so.
        instead: String,
    },
    /// An object could not be planned.
    #[error("cannot plan: {0}")]
    Plan(String),
    /// It cannot be told which account and region to read.
    #[error("cannot tell what to import: {0}")]
    NoPlace(String),
    /// A file is there already, and is somebody's work.
    #[error("{path} is there already and says something else", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Nothing at all could be read.
    #[error("nothing could be read: {0}")]
    Unread(String),
    /// No manifest declares an object of this name.
    #[error("no manifest declares the object \"{name}\"")]
    NotDeclared {
        /// The name.
        name: String,
    },
    /// The store holds no object of this name.
    #[error("the store holds no object \"{name}\"")]
    UnknownObject {
        /// The name.
        name: String,
    },
    /// Several objects have this name.
    #[error("\"{name}\" is the name of several objects")]
    AmbiguousObject {
        /// The name.
        name: String,
    },
    /// The machine did not give what the program needs to start.
    #[error("cannot start")]
    Start(#[source] io::Error),
}

impl Error {
    /// Makes the error of a demo that cannot go on.
    pub(super) fn demo(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Demo(source.into())
    }

    /// Makes the error of a demo that waits for something that does not happen.
    pub(super) fn untimely(claim: &str, patience: std::time::Duration) -> Self {
        let instead = format!("it was waited for {} seconds", patience.as_secs());
        Self::Untrue { claim: claim.to_owned(), instead }
    }

    /// Lists what is wrong where it is more than one thing.
    fn details(&self) -> Vec<String> {
        match self {
            Self::Settings(problems) => problems.iter().map(ToString::to_string).collect(),
            Self::NotFrozen { frozen, .. } => frozen.clone(),
            _ => Vec::new(),
        }
    }

    /// Says what to do about it.
    fn hint(&self) -> Option<&'static str> {
        let hint = match self {
            Self::Print(_)
            | Self::Settings(_)
            | Self::Start(_)
            | Self::Store(_)
            | Self::Source(_)
            | Self::Secret { .. }
            | Self::Host(_)
            | Self::Outbox(_)
            | Self::Write { .. }
            | Self::State(_)
            | Self::Serve(_)
            | Self::Demo(_)
            | Self::Untrue { .. }
            | Self::Plan(_) => return None,
            Self::Manifests { .. } => "give the folder that holds the manifests, or one file",
            Self::NoManifests { .. } => "a manifest is a file whose name ends with .yaml or .yml",
            Self::Observed { .. } => {
                "the file is one JSON object of the AWS CLI's lists: {\"DBInstances\": [...]}"
            }
            Self::SettingsOfHead { .. } => {
                "a pull request may not choose accounts and roles; name the settings with --config"
            }
            Self::Ask(_) => "run it as a user who may write the agent's state directory",
            Self::NotFrozen { frozen, .. } if frozen.is_empty() => {
                "nothing at all is frozen; `levelset status` shows what is"
            }
            Self::NotFrozen { .. } => "confirm one of these, after a look at its objects",
            Self::NotAhead { .. } => "give a later time, or a length of time with --for",
            Self::Ended(_) => "start it again, and report it with the last lines of the log",
            Self::NotDeclared { .. } => "name the folder that holds its manifest with --in",
            Self::UnknownObject { .. } => "`levelset status` lists all of them",
            Self::Propose { .. } => {
                "`--dry-run` prints the patch; pull first, if the file is another one by now"
            }
            Self::NoPlace(_) => {
                "name an entry of the settings with --environment, or a region with --region"
            }
            Self::Exists { .. } => {
                "nothing was written; name another folder with --out, or move the file away"
            }
            Self::Unread(_) => {
                "look at the credentials, and at what `levelset iam-policy` asks for"
            }
            Self::AmbiguousObject { .. } => "write Workspace/NAME or Network/NAME",
        };
        Some(hint)
    }
}

/// Renders an error, the chain of its causes, and what to do.
pub fn render(error: &Error, style: Style) -> String {
    let mut text = format!("{} {error}\n", style.paint(Ink::Bad, "error:"));
    for detail in error.details() {
        text.push_str(&format!("  - {detail}\n"));
    }
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
