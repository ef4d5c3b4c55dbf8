//! Settings in layers: default, file, environment, flag; the later one wins.
//!
//! In: `levelset.yaml`, an environment, [`Overrides`]. Out: a [`Config`] in which every value knows
//! its [`Source`], or every [`ConfigProblem`] at once, each naming the layer that it comes from.
//!
//! Invariants: a secret stands in the environment or in a file of its own, never in the settings
//! file, and no type here prints one; nothing but the settings file is read. It does not connect to
//! anything, so a good configuration may still name a repository that is not there.

mod check;
mod environments;
mod forge;
mod hooks;
mod keys;
mod layers;
mod read;
mod repository;
mod setting;
mod webhooks;
mod yaml;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use url::Url;

use crate::model::webhook::Host;
use crate::model::{AccountId, Region, Scope};

pub use layers::Overrides;
pub use setting::{ConfigProblem, Secret, Setting, Source};

/// The name of the settings file, looked for in the working directory and in `/etc/levelset`.
pub const FILE_NAME: &str = "levelset.yaml";

/// Holds every setting of the agent.
#[derive(Debug, Clone)]
pub struct Config {
    /// The agent's name, the first part of every ownership tag (`agent.name`; default `levelset`).
    pub agent_name: Setting<String>,
    /// Where the manifests are (`repository`); `None` when no layer names a repository.
    pub repository: Option<Repository>,
    /// Where the agent keeps its state (`stateDirectory`; default `/var/lib/levelset`, or
    /// `$XDG_STATE_HOME/levelset` when not root).
    pub state_directory: Setting<PathBuf>,
    /// Where HTTP is served (`listen`; default `127.0.0.1:8080`).
    pub listen: Setting<SocketAddr>,
    /// The names under which HTTP is answered besides addresses and `localhost` (`hosts`, separated by
    /// commas; default none).
    pub hosts: Setting<Vec<String>>,
    /// How many objects are worked on at once (`workers`; default 4; from 1 to 64).
    pub workers: Setting<u16>,
    /// How much may change by itself at once (`guards`).
    pub guards: Guards,
    /// What is logged, and how (`log`).
    pub log: Log,
    /// The accounts that manifests may name, by the name of the environment (`environments`).
    pub environments: BTreeMap<String, Environment>,
    /// The types that the section `custom` of a manifest may declare (`customTypes`; default `*`):
    /// types and beginnings with a `*` at the end, with spaces between them. Services that give
    /// rights are never meant by a pattern that does not name them.
    pub custom_types: Setting<Vec<String>>,
    /// The secrets of the hosts whose webhooks are taken (`webhooks`); empty for none.
    pub webhooks: BTreeMap<Host, WebhookSecrets>,
    /// The host that is told how commits stand (`forge`); `None` when it names no credentials.
    pub forge: Option<Forge>,
    /// The addresses that are told of drift and trouble, by name (`hooks`); empty for none.
    pub hooks: BTreeMap<String, Hook>,
    /// Whether CloudTrail is asked who made drift (`cloudTrail`; default false).
    pub cloud_trail: Setting<bool>,
}

/// Says where commits get their statuses, and who the agent is there.
#[derive(Debug, Clone)]
pub struct Forge {
    /// The host's kind (`forge.host`; default: by the name in `repository.url`, where it is github.com,
    /// gitlab.com, bitbucket.org or codeberg.org).
    pub host: Option<Setting<Host>>,
    /// The root of its API (`forge.apiUrl`; default: where the host in `repository.url` has it).
    pub api_url: Option<Setting<Url>>,
    /// The path of the repository at the host (`forge.repository`; default: that of `repository.url`).
    pub repository: Option<Setting<String>>,
    /// Where a status leads (`forge.linkUrl`).
    pub link_url: Option<Setting<Url>>,
    /// A PEM file with certificate authorities to trust besides the system's (`forge.caFile`).
    pub ca_file: Option<Setting<PathBuf>>,
    /// Whether open pull requests get a comment and a status (`forge.pullRequests`; default true).
    pub pull_requests: Setting<bool>,
    /// Whether pull requests from forks are compared with the cloud (`forge.planForks`; default
    /// false).
    pub plan_forks: Setting<bool>,
    /// Whether an object that only a person sets right gets an issue (`forge.issues`; default false).
    pub issues: Setting<bool>,
    /// Who the agent is.
    pub login: ForgeLogin,
}

/// Says who the agent is to the API of a Git host.
#[derive(Debug, Clone)]
pub enum ForgeLogin {
    /// `forge.tokenFile` or `LEVELSET_FORGE_TOKEN`.
    Token {
        /// The user beside it (`forge.username`), where the host wants one.
        username: Option<Setting<String>>,
        /// The token.
        token: Setting<Secret>,
    },
    /// `forge.appId` with `forge.appKeyFile` or `LEVELSET_FORGE_APP_KEY`.
    App {
        /// The id of the GitHub App, or its client id.
        id: Setting<String>,
        /// Its private key, in PEM.
        key: Setting<Secret>,
    },
}

/// Holds the secrets that prove the webhooks of a host: either of them does.
#[derive(Debug, Clone)]
pub struct WebhookSecrets {
    /// The secret (`webhooks.HOST.secretFile` or `LEVELSET_WEBHOOKS_HOST_SECRET`).
    pub secret: Setting<Secret>,
    /// The one before it, while the host may still use it (`webhooks.HOST.previousSecretFile` or
    /// `LEVELSET_WEBHOOKS_HOST_PREVIOUS_SECRET`).
    pub previous: Option<Setting<Secret>>,
}

/// Says where drift and trouble are told, and in which form.
#[derive(Debug, Clone)]
pub struct Hook {
    /// The address, which is a secret (`hooks.NAME.urlFile` or `LEVELSET_HOOKS_NAME_URL`).
    pub url: Setting<Secret>,
    /// The form (`hooks.NAME.format`; default `json`).
    pub format: Setting<HookFormat>,
    /// What messages are signed with (`hooks.NAME.secretFile` or `LEVELSET_HOOKS_NAME_SECRET`); JSON
    /// always is.
    pub secret: Option<Setting<Secret>>,
    /// A PEM file with certificate authorities to trust besides the system's (`hooks.NAME.caFile`).
    pub ca_file: Option<Setting<PathBuf>>,
}

/// Names the form of what a hook is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookFormat {
    /// Signed JSON for programs.
    Json,
    /// The text that Slack takes, and those that follow it.
    Slack,
}

/// Says where the manifests are and how they are read.
#[derive(Debug, Clone)]
pub struct Repository {
    /// A URL (`repository.url`) or a path on this machine (`repository.path`).
    pub location: Setting<String>,
    /// The branch (`repository.branch`); `None` is the default branch of the repository.
    pub branch: Option<Setting<String>>,
    /// The folder of the repository that is read, with its folders (`repository.folder`; default
    /// `.`, the root).
    pub folder: Setting<String>,
    /// The time between two looks at the branch (`repository.pollIntervalSeconds`; default 60).
    pub poll_interval: Setting<Duration>,
    /// The time between two readings of every file (`repository.relistMinutes`; default 20).
    pub relist_interval: Setting<Duration>,
    /// The longest time that a fetch may take (`repository.fetchTimeoutSeconds`; default 60).
    pub fetch_timeout: Setting<Duration>,
    /// How long the repository may stay unconfirmed before the agent says so
    /// (`repository.staleAfterSeconds`; default 900, or three poll intervals if that is more).
    pub stale_after: Setting<Duration>,
    /// How long it may stay unconfirmed before nothing is written any more
    /// (`repository.stopWritingAfterSeconds`; default 21600, or `staleAfterSeconds` if that is
    /// more).
    pub stop_writing_after: Setting<Duration>,
    /// What the server asks for.
    pub login: Option<Login>,
    /// The OpenSSH known hosts file (`repository.knownHostsFile`).
    pub known_hosts: Option<Setting<PathBuf>>,
    /// A PEM file with certificate authorities to trust besides the system's
    /// (`repository.caFile`).
    pub ca_file: Option<Setting<PathBuf>>,
    /// Which signatures a commit needs to be applied (`repository.signatures`); `None` for none.
    pub signatures: Option<Signatures>,
}

/// Says whose signatures count; one of the two files is always there.
#[derive(Debug, Clone)]
pub struct Signatures {
    /// Keys of SSH in OpenSSH's format (`repository.signatures.allowedSignersFile`).
    pub allowed_signers: Option<Setting<PathBuf>>,
    /// Armored keys of OpenPGP (`repository.signatures.openPgpKeysFile`).
    pub openpgp_keys: Option<Setting<PathBuf>>,
    /// A commit that is trusted by its id (`repository.signatures.since`); all after it have to be
    /// signed. Without it, that is the first one that is read.
    pub since: Option<Setting<String>>,
}

/// Says who the agent is to the Git server.
#[derive(Debug, Clone)]
pub enum Login {
    /// `repository.username` with `repository.passwordFile` or `LEVELSET_REPOSITORY_PASSWORD`.
    Password {
        /// The user.
        username: Setting<String>,
        /// The password.
        password: Setting<Secret>,
    },
    /// `repository.tokenFile` or `LEVELSET_REPOSITORY_TOKEN`.
    Token {
        /// The user that the host wants beside a token (`repository.username`; default
        /// `x-access-token`).
        username: Setting<String>,
        /// The token.
        token: Setting<Secret>,
    },
    /// `repository.sshKeyFile`.
    SshKey {
        /// The private key.
        key: Setting<PathBuf>,
        /// What protects the key: `repository.sshKeyPassphraseFile` or
        /// `LEVELSET_REPOSITORY_SSH_KEY_PASSPHRASE`.
        passphrase: Option<Setting<Secret>>,
    },
}

/// Says how many objects may vanish, or be reverted, before a person is asked, and how long what
/// vanished is kept.
///
/// The larger of the number and the share counts.
#[derive(Debug, Clone)]
pub struct Guards {
    /// As a number of objects (`guards.maxObjects`; default 5; up to 100000).
    pub max_objects: Setting<usize>,
    /// As a share of all objects in percent (`guards.maxPercent`; default 20; up to 100).
    pub max_percent: Setting<u8>,
    /// How long a revert counts (`guards.periodSeconds`; default 3600; from 60 to 604800).
    pub period: Setting<Duration>,
    /// How long what Git declares no longer is kept before it is deleted, so that putting it back
    /// cancels the deletion (`guards.deletionGraceSeconds`; default 3600; from 0 to 2592000).
    pub deletion_grace: Setting<Duration>,
}

/// Says what is logged, and how.
#[derive(Debug, Clone)]
pub struct Log {
    /// The form of a line (`log.format`; default `text`).
    pub format: Setting<LogFormat>,
    /// The least important lines that are written (`log.level`; default `info`).
    pub level: Setting<tracing::Level>,
}

/// Names the form of a line of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Describes the account that an environment stands for.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The account id, twelve digits (`account`).
    pub account: Setting<AccountId>,
    /// The region (`region`).
    pub region: Setting<Region>,
    /// The role to assume (`roleArn`); without one, the agent's own credentials are used.
    pub role_arn: Option<Setting<String>>,
    /// Roles to assume for some kinds instead (`roles`), by the name of a kind (`iam_role`) or of a
    /// service (`rds`); the kind's own comes first.
    pub roles: BTreeMap<String, Setting<String>>,
    /// The external id that the trust policies of these roles ask for (`externalId`).
    pub external_id: Option<Setting<String>>,
    /// Where the services are, when not at AWS (`endpointUrl`).
    pub endpoint_url: Option<Setting<Url>>,
    /// True for stricter defaults (`production`; default: whether the name is `production`).
    pub production: Setting<bool>,
}

impl Environment {
    /// Returns the account and region.
    pub fn scope(&self) -> Scope {
        Scope { account: self.account.value.clone(), region: self.region.value.clone() }
    }
}

impl Config {
    /// Returns the repository, for a verb that needs one.
    ///
    /// # Errors
    ///
    /// A problem that says how to name one.
    pub fn repository(&self) -> Result<&Repository, ConfigProblem> {
        self.repository.as_ref().ok_or_else(|| {
            let hint = "set repository.url or repository.path in levelset.yaml, or LEVELSET_REPOSITORY_URL";
            ConfigProblem::new("repository", Source::Default, "no repository is named").hint(hint)
        })
    }

    /// Tells what an agent that is to work by itself lacks besides a repository.
    ///
    /// # Errors
    ///
    /// A problem that says how to configure an environment, when there is none: no manifest could
    /// name a place then.
    pub fn require_environments(&self) -> Result<(), ConfigProblem> {
        if !self.environments.is_empty() {
            return Ok(());
        }
        let message = "no environment is configured, so no manifest has a place in AWS";
        let hint = "add the name that manifests use, with its account and region, to levelset.yaml: \
                    environments: {production: {account: \"111122223333\", region: eu-west-1}}";
        Err(ConfigProblem::new("environments", Source::Default, message).hint(hint))
    }
}

/// Returns the settings file to use when no flag names one.
///
/// `LEVELSET_CONFIG`, or else the first of `levelset.yaml` and `/etc/levelset/levelset.yaml` that
/// exists.
pub fn default_file(env: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    if let Some(path) = env("LEVELSET_CONFIG").filter(|path| !path.is_empty()) {
        return Some(PathBuf::from(path));
    }
    let places = [PathBuf::from(FILE_NAME), Path::new("/etc/levelset").join(FILE_NAME)];
    places.into_iter().find(|path| path.exists())
}

/// Reads every layer.
///
/// `env` looks up one variable of the environment; an empty one counts as absent.
///
/// # Errors
///
/// Every problem of every layer.
pub fn load(
    overrides: &Overrides,
    env: &dyn Fn(&str) -> Option<String>,
    file: Option<&Path>,
) -> Result<Config, Vec<ConfigProblem>> {
    let mut layers = layers::Layers::open(overrides, env, file)?;
    let config = read::config(&mut layers, env);
    let mut problems = layers.problems;
    problems.sort_by_key(|problem| match &problem.source {
        Source::File { line, column, .. } => (0, *line, *column),
        _ => (1, 0, 0),
    });
    if problems.is_empty() { Ok(config) } else { Err(problems) }
}

#[cfg(test)]
mod tests;
