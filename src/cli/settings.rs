//! The settings of the agent, from every layer.
//!
//! In: the flags that every verb takes, the environment, `levelset.yaml`. Out: a [`Config`], or all
//! that is wrong with it.

use std::path::PathBuf;

use super::GLOBAL;
use super::error::Error;
use crate::config::{self, Config, ConfigProblem, Overrides};
use crate::kinds;

/// Holds the flags that are settings.
#[derive(Debug, clap::Args)]
pub(super) struct Flags {
    /// The settings file [default: levelset.yaml here, or /etc/levelset/levelset.yaml]
    #[arg(long, global = true, value_name = "FILE", help_heading = GLOBAL)]
    config: Option<PathBuf>,
    /// Where the agent keeps its state [default: /var/lib/levelset]
    #[arg(long, global = true, value_name = "FOLDER", help_heading = GLOBAL)]
    state_dir: Option<PathBuf>,
    /// The least important lines that are logged: error, warn, info, debug or trace
    #[arg(long, global = true, value_name = "LEVEL", help_heading = GLOBAL)]
    log_level: Option<String>,
    /// The form of a line of the log: text or json
    #[arg(long, global = true, value_name = "FORMAT", help_heading = GLOBAL)]
    log_format: Option<String>,
}

impl Flags {
    /// Reads the settings; `more` are settings that a verb has flags for.
    ///
    /// # Errors
    ///
    /// [`Error::Settings`] with everything that is wrong.
    pub(super) fn load(&self, more: &[Flag<'_>]) -> Result<Config, Error> {
        let file = self.config.clone().or_else(|| config::default_file(&variable));
        let config = config::load(&self.overrides(more), &variable, file.as_deref());
        let config = config.map_err(Error::Settings)?;
        match unknown_roles(&config) {
            problems if problems.is_empty() => Ok(config),
            problems => Err(Error::Settings(problems)),
        }
    }

    /// Returns the settings file that is used though nobody named it.
    pub(super) fn found_file(&self) -> Option<PathBuf> {
        match self.config {
            Some(_) => None,
            None => config::default_file(&variable),
        }
    }

    fn overrides(&self, more: &[Flag<'_>]) -> Overrides {
        let state = self.state_dir.as_ref().map(|path| path.to_string_lossy().into_owned());
        let mut overrides = Overrides::new();
        let own = [
            Flag { setting: "stateDirectory", flag: "--state-dir", value: state },
            Flag { setting: "log.level", flag: "--log-level", value: self.log_level.clone() },
            Flag { setting: "log.format", flag: "--log-format", value: self.log_format.clone() },
        ];
        for flag in own.iter().chain(more) {
            if let Some(value) = &flag.value {
                overrides.set(flag.setting, flag.flag, value);
            }
        }
        overrides
    }
}

/// Finds roles for what is neither a kind nor a service: they would never be used.
fn unknown_roles(config: &Config) -> Vec<ConfigProblem> {
    let mut known: Vec<String> = kinds::all()
        .iter()
        .flat_map(|kind| [kind.service().to_owned(), kind.name().to_string()])
        .collect();
    known.sort_unstable();
    known.dedup();
    let roles = config.environments.iter().flat_map(|(environment, it)| {
        it.roles.iter().map(move |(name, role)| (environment, name, role))
    });
    roles
        .filter(|(_, name, _)| !known.contains(name))
        .map(|(environment, name, role)| ConfigProblem {
            setting: format!("environments.{environment}.roles.{name}"),
            source: role.source.clone(),
            message: "there is no such kind or service".to_owned(),
            hint: Some(format!("possible are {}", known.join(", "))),
        })
        .collect()
}

/// Joins a flag to the setting that it stands for.
#[derive(Debug, Clone)]
pub(super) struct Flag<'a> {
    /// The dotted name of the setting.
    pub(super) setting: &'a str,
    /// The flag, with its dashes.
    pub(super) flag: &'a str,
    /// What was given.
    pub(super) value: Option<String>,
}

/// Names the person at the terminal: what is asked of the agent is told under this name.
///
/// `sudo` says who became somebody else. The name is told and not proven: whoever may write the
/// store may ask.
pub(super) fn person() -> String {
    let named = ["SUDO_USER", "USER", "LOGNAME"].into_iter().filter_map(variable);
    let shown = |name: String| name.chars().filter(|letter| !letter.is_control()).collect();
    let mut names = named.map(shown).filter(|name: &String| !name.is_empty());
    names.next().unwrap_or_else(|| "somebody without a name".to_owned())
}

#[expect(clippy::disallowed_methods, reason = "hands the environment to config, which reads it")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
