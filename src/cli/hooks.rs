//! The hooks that are told of drift and trouble, from the settings.

use std::sync::Arc;

use secrecy::ExposeSecret as _;

use super::clock::system_clock;
use super::error::Error;
use super::forge::{authorities, reader};
use crate::config::{Config, Hook as Settings, HookFormat, Secret, Setting};
use crate::forge::courier::Tally;
use crate::forge::hook::{self, Form, Hook, Key, NO_ADDRESS};
use crate::forge::http::Http;
use crate::forge::peer::Peer;
use crate::status::Metrics;

/// Joins a hook to its name.
pub(super) type Named = (String, Arc<dyn Peer>);

/// Prepares the hooks; tells them nothing yet.
///
/// # Errors
///
/// When a file cannot be read, an address is none, or a secret could be anybody's.
pub(super) fn hooks(config: &Config) -> Result<Vec<Named>, Error> {
    let one = |(name, settings): (&String, &Settings)| {
        let hook = hook(&config.agent_name.value, name, settings)?;
        Ok((name.clone(), Arc::new(hook) as Arc<dyn Peer>))
    };
    config.hooks.iter().map(one).collect()
}

fn hook(agent: &str, name: &str, settings: &Settings) -> Result<Hook, Error> {
    check(&settings.url, |text| match hook::address(text.expose_secret()) {
        Some(_) => Ok(()),
        None => Err(NO_ADDRESS.to_owned()),
    })?;
    if let Some(secret) = &settings.secret {
        check(secret, |text| Key::of(text).map(drop).map_err(|error| error.to_string()))?;
    }
    let http =
        Http::new(authorities(settings.ca_file.as_ref())?.as_deref()).map_err(Error::Host)?;
    let settings = hook::Settings {
        name: name.to_owned(),
        agent: agent.to_owned(),
        url: reader(&settings.url)?,
        form: match settings.format.value {
            HookFormat::Json => Form::Json,
            HookFormat::Slack => Form::Slack,
        },
        secret: settings.secret.as_ref().map(reader).transpose()?,
    };
    Ok(Hook::new(settings, Arc::new(http), system_clock()))
}

/// Reads a secret once, so that one that is no good is told at the start.
fn check(
    secret: &Setting<Secret>,
    good: impl FnOnce(&secrecy::SecretString) -> Result<(), String>,
) -> Result<(), Error> {
    let unusable = |source| Error::Secret { from: secret.source.to_string(), source };
    let text = secret.value.read().map_err(unusable)?;
    good(&text).map_err(|why| unusable(std::io::Error::new(std::io::ErrorKind::InvalidData, why)))
}

/// Counts the messages of one hook.
pub(super) struct Counted {
    /// The figures.
    pub(super) metrics: Arc<Metrics>,
    /// The name of the hook.
    pub(super) hook: String,
}

impl Tally for Counted {
    fn carried(&self, result: &'static str) {
        self.metrics.hook_write(&self.hook, result);
    }

    fn owed(&self, posts: usize) {
        self.metrics.hook_owed(&self.hook, posts);
    }
}
