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
            let lines = fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
            // Where in the program a line comes from is of use to who debugs it.
            let is_debugged = log.level.value >= Level::DEBUG;
            registry.with(lines.with_target(is_debugged)).try_init()
        }
        LogFormat::Json => registry
            .with(fmt::layer().json().flatten_event(true).with_writer(io::stderr))
            .try_init(),
    };
}

/// Our own lines from the level on; of the libraries only their errors, because what they warn of
/// comes back as the error of a call and is told there, once. Who debugs wants more.
fn filter(level: Level) -> EnvFilter {
    let others = if level >= Level::DEBUG { LevelFilter::WARN } else { LevelFilter::ERROR };
    EnvFilter::new(format!("{others},levelset={level}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_speak_up_only_when_something_is_wrong() {
        assert_eq!(filter(Level::DEBUG).to_string(), "levelset=debug,warn");
        assert_eq!(filter(Level::INFO).to_string(), "levelset=info,error");
        assert_eq!(filter(Level::ERROR).to_string(), "levelset=error,error");
    }
}
