//! The log of an agent: on standard error, in the form that the settings ask for.

use std::io::{self, IsTerminal};

use tracing::Level;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, fmt};

use crate::config::{Log, LogFormat};

/// Starts to log; once for a process.
pub(super) fn start(log: &Log) {
    let registry = tracing_subscriber::registry().with(filter(log.level.value));
    // A second start is a mistake of ours that must not end an agent.
    let _ = match log.format.value {
        LogFormat::Text => {
            let colours = io::stderr().is_terminal();
            registry.with(fmt::layer().with_writer(io::stderr).with_ansi(colours)).try_init()
        }
        LogFormat::Json => registry
            .with(fmt::layer().json().flatten_event(true).with_writer(io::stderr))
            .try_init(),
    };
}

/// Our own lines from the level on; of the libraries only what is wrong.
fn filter(level: Level) -> EnvFilter {
    let others = LevelFilter::WARN.min(LevelFilter::from_level(level));
    EnvFilter::new(format!("{others},levelset={level}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_speak_up_only_when_something_is_wrong() {
        assert_eq!(filter(Level::DEBUG).to_string(), "levelset=debug,warn");
        assert_eq!(filter(Level::ERROR).to_string(), "levelset=error,error");
    }
}
