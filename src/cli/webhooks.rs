//! Webhooks, joined to what they wake.
//!
//! In: the settings, where the repository is, and a [`Waker`]. Out: a receiver for the HTTP server, or
//! nothing when no secret is set.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use tokio::sync::Notify;

use super::clock::system_clock;
use super::error::Error;
use crate::config::{Config, Secret, Setting, WebhookSecrets};
use crate::forge::webhook::{Followed, Receiver, Secrets};
use crate::model::webhook::{Bell, Host, Webhooks};
use crate::source::{Location, Poke};

/// Wakes whoever looks at what a webhook is about.
pub(super) struct Waker {
    /// Wakes the task that reads the branch.
    pub(super) branch: Poke,
    /// Wakes the task that follows pull requests; nobody, where none are followed.
    pub(super) pulls: Arc<Notify>,
}

impl Bell for Waker {
    fn branch(&self) {
        self.branch.poke();
    }

    /// Which one it is makes no difference: all that are open are listed with one call.
    fn pull_request(&self, _number: u64) {
        self.pulls.notify_one();
    }
}

/// Reads the secrets of every host.
///
/// # Errors
///
/// When a secret cannot be read, or proves nothing.
pub(super) fn secrets(config: &Config) -> Result<BTreeMap<Host, Secrets>, Error> {
    config.webhooks.iter().map(|(host, settings)| Ok((*host, of_host(settings)?))).collect()
}

/// Makes a receiver that wakes; `None` when there are no secrets.
pub(super) fn receiver(
    secrets: BTreeMap<Host, Secrets>,
    config: &Config,
    location: &Location,
    waker: Waker,
) -> Option<Arc<dyn Webhooks>> {
    if secrets.is_empty() {
        return None;
    }
    let told = config.forge.as_ref().and_then(|forge| forge.repository.as_ref());
    let path = told.map(|path| path.value.clone()).or_else(|| location.path());
    let followed = Followed::new(path.as_deref(), location.branch());
    Some(Arc::new(Receiver::new(secrets, followed, Arc::new(waker), system_clock())))
}

fn of_host(settings: &WebhookSecrets) -> Result<Secrets, Error> {
    let mut texts = Vec::new();
    for secret in [Some(&settings.secret), settings.previous.as_ref()].into_iter().flatten() {
        let text = secret.value.read().map_err(|source| unreadable(secret, source))?;
        // Told of each alone, so that the layer that is named is the right one.
        Secrets::new([text.clone()]).map_err(|unusable| {
            unreadable(secret, io::Error::new(io::ErrorKind::InvalidData, unusable))
        })?;
        texts.push(text);
    }
    Secrets::new(texts).map_err(|unusable| {
        unreadable(&settings.secret, io::Error::new(io::ErrorKind::InvalidData, unusable))
    })
}

fn unreadable(secret: &Setting<Secret>, source: io::Error) -> Error {
    Error::Secret { from: secret.source.to_string(), source }
}
