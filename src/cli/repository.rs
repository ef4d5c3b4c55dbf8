//! The repository that the settings name, as the source reads it.
//!
//! In: the settings. Out: where it is, how it is reached and how often it is asked.

use std::path::{Path, PathBuf};

use super::clock::system_clock;
use super::error::Error;
use crate::config::{Login, Repository, Secret, Setting};
use crate::source::{Access, Credentials, Location, Pace, Signatures};

/// Holds what the source needs to read a repository.
pub(super) struct Remote {
    /// Where it is.
    pub(super) location: Location,
    /// How it is reached.
    pub(super) access: Access,
    /// How often it is asked.
    pub(super) pace: Pace,
}

/// Reads the secrets that the settings point at; connects to nothing.
///
/// # Errors
///
/// When the repository cannot be used as it is named, or a file with a secret cannot be read.
pub(super) fn remote(repository: &Repository, state: &Path) -> Result<Remote, Error> {
    let branch = repository.branch.as_ref().map(|branch| branch.value.as_str());
    let location = Location::parse(&repository.location.value, branch, &repository.folder.value)
        .map_err(Error::Source)?;
    let access = Access {
        deadline: repository.fetch_timeout.value,
        credentials: credentials(repository.login.as_ref())?,
        known_hosts: repository.known_hosts.as_ref().map(|path| path.value.clone()),
        ca_file: repository.ca_file.as_ref().map(|path| path.value.clone()),
        signatures: repository.signatures.as_ref().map(signatures).transpose()?,
        ..Access::new(state).map_err(Error::Source)?
    };
    let pace = Pace {
        poll: repository.poll_interval.value,
        relist: repository.relist_interval.value,
        ..Pace::default()
    };
    Ok(Remote { location, access, pace })
}

/// Takes whose signatures count; keys that cannot be used are told before anything is read.
fn signatures(settings: &crate::config::Signatures) -> Result<Signatures, Error> {
    let path = |path: &Option<Setting<PathBuf>>| path.as_ref().map(|path| path.value.clone());
    let signatures = Signatures {
        allowed_signers: path(&settings.allowed_signers),
        openpgp_keys: path(&settings.openpgp_keys),
        since: settings.since.as_ref().map(|since| since.value.clone()),
        clock: system_clock(),
    };
    signatures.check().map_err(Error::Source)?;
    Ok(signatures)
}

fn credentials(login: Option<&Login>) -> Result<Credentials, Error> {
    Ok(match login {
        None => Credentials::None,
        Some(
            Login::Password { username, password: secret }
            | Login::Token { username, token: secret },
        ) => Credentials::Password { username: username.value.clone(), password: read(secret)? },
        Some(Login::SshKey { key, passphrase }) => Credentials::SshKey {
            private_key: read(&Setting {
                value: Secret::File(key.value.clone()),
                source: key.source.clone(),
            })?,
            passphrase: passphrase.as_ref().map(read).transpose()?,
        },
    })
}

fn read(secret: &Setting<Secret>) -> Result<secrecy::SecretString, Error> {
    secret.value.read().map_err(|source| Error::Secret { from: secret.source.to_string(), source })
}
