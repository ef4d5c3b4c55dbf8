//! A value and the layer that it comes from.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use secrecy::SecretString;

/// Names the layer that a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Nobody set it.
    Default,
    /// The settings file.
    File {
        /// The file.
        path: Arc<str>,
        /// The line, counted from 1.
        line: u32,
        /// The column, counted from 1 in characters.
        column: u32,
    },
    /// The variable of this name.
    Environment(String),
    /// The flag of this name, for example `--listen`.
    Flag(String),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("the default"),
            Self::File { path, line, column } => write!(f, "{path}:{line}:{column}"),
            Self::Environment(name) | Self::Flag(name) => f.write_str(name),
        }
    }
}

/// Holds a value together with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub source: Source,
}

impl<T> Setting<T> {
    /// Makes a setting that nobody set.
    pub fn default_of(value: T) -> Self {
        Self { value, source: Source::Default }
    }

    pub(super) fn map<U>(self, change: impl FnOnce(T) -> U) -> Setting<U> {
        Setting { value: change(self.value), source: self.source }
    }
}

/// Holds a secret, or the file that has it; neither is printed by any trait.
#[derive(Debug, Clone)]
pub enum Secret {
    /// The secret itself, from the environment.
    Value(SecretString),
    /// A file, read anew at each use so that a rotated secret is picked up.
    File(PathBuf),
}

impl Secret {
    /// Returns the secret; of a file, without the line end behind it.
    ///
    /// # Errors
    ///
    /// What the system says when the file cannot be read.
    pub fn read(&self) -> std::io::Result<SecretString> {
        match self {
            Self::Value(secret) => Ok(secret.clone()),
            Self::File(path) => {
                let named = |error: std::io::Error| {
                    std::io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                };
                // Nobody may ever write into a pipe.
                if !std::fs::metadata(path).map_err(named)?.is_file() {
                    return Err(named(std::io::Error::other("it is no regular file")));
                }
                let mut text = std::fs::read_to_string(path).map_err(named)?;
                text.truncate(text.trim_end_matches(['\r', '\n']).len());
                Ok(SecretString::from(text))
            }
        }
    }
}

/// Describes one thing that is wrong with the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The setting, for example `repository.url`; empty for the file as a whole.
    pub setting: String,
    /// Where the value comes from.
    pub source: Source,
    /// What is wrong, in one clause without a full stop; holds no secret.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl ConfigProblem {
    pub(super) fn new(setting: &str, source: Source, message: impl Into<String>) -> Self {
        Self { setting: setting.to_owned(), source, message: message.into(), hint: None }
    }

    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Writes `levelset.yaml:3:7: listen: ...` or `listen (from LEVELSET_LISTEN): ...`.
impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.source, self.setting.as_str()) {
            (Source::File { .. }, "") => write!(f, "{}: {}", self.source, self.message),
            (Source::File { .. }, setting) => {
                write!(f, "{}: {setting}: {}", self.source, self.message)
            }
            (Source::Default, setting) => write!(f, "{setting}: {}", self.message),
            (source, setting) => write!(f, "{setting} (from {source}): {}", self.message),
        }?;
        match &self.hint {
            Some(hint) => write!(f, "; {hint}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigProblem {}
