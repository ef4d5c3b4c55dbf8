//! The Git host that is told how commits stand, from the settings.
//!
//! In: the settings, and where the repository is. Out: its API, and with what we mark what we write.

use std::path::PathBuf;
use std::sync::Arc;

use url::Url;

use super::clock::system_clock;
use super::error::Error;
use crate::config::{Config, ConfigProblem, Forge, ForgeLogin, Secret, Setting, Source};
use crate::forge::api::{Api, Bitbucket, Caller, GitHub, GitLab, Gitea, Place};
use crate::forge::app::App;
use crate::forge::courier::Tally;
use crate::forge::credentials::{Credentials, ReadSecret};
use crate::forge::http::Http;
use crate::forge::peer::Marks;
use crate::model::webhook::Host;
use crate::source::{Location, Transport};
use crate::status::Metrics;

/// Holds the host and our marks.
pub(super) struct Told {
    /// The host.
    pub(super) api: Arc<dyn Api>,
    /// With what we mark what we write.
    pub(super) marks: Marks,
    /// Its kind.
    pub(super) host: Host,
    /// The branch that is followed, if it is named.
    pub(super) branch: Option<String>,
}

/// Prepares the host; asks it nothing. `None` when the settings name no credentials.
///
/// # Errors
///
/// When it is not said where the repository is at the host, or a file cannot be read.
pub(super) fn told(config: &Config, location: &Location) -> Result<Option<Told>, Error> {
    let Some(forge) = &config.forge else { return Ok(None) };
    let place = place(forge, location).map_err(|problem| Error::Settings(vec![problem]))?;
    let host = place.host;
    if forge.issues.value && host == Host::Bitbucket {
        return Err(Error::Settings(vec![no_issues(&forge.issues)]));
    }
    let http = Http::new(authorities(forge.ca_file.as_ref())?.as_deref()).map_err(Error::Host)?;
    let credentials = credentials(&forge.login)?;
    let caller = Caller::new(Arc::new(http), place, credentials, system_clock());
    let api: Arc<dyn Api> = match host {
        Host::GitHub => Arc::new(GitHub(caller)),
        Host::GitLab => Arc::new(GitLab(caller)),
        Host::Gitea => Arc::new(Gitea(caller)),
        Host::Bitbucket => Arc::new(Bitbucket(caller)),
    };
    let link = forge.link_url.as_ref().map(|url| url.value.to_string());
    let marks = Marks { agent: config.agent_name.value.clone(), link };
    Ok(Some(Told { api, marks, host, branch: location.branch().map(str::to_owned) }))
}

/// Joins what the settings say to what the repository's URL says.
fn place(forge: &Forge, location: &Location) -> Result<Place, ConfigProblem> {
    let origin = origin(location);
    let named = forge.host.as_ref().map(|host| host.value);
    let host = named.or_else(|| kind(origin.as_ref()?.host_str()?));
    let host = host.ok_or_else(|| missing("forge.host", "github, gitlab, gitea or bitbucket"))?;
    let api = forge.api_url.as_ref().map(|url| url.value.clone());
    let root = api.or_else(|| Place::root_of(host, origin.as_ref()?));
    let root = root.ok_or_else(|| missing("forge.apiUrl", "the root of the host's API"))?;
    let path = forge.repository.as_ref().map(|path| path.value.clone()).or_else(|| location.path());
    let path = path.ok_or_else(|| missing("forge.repository", "for example acme/environments"))?;
    let repository = path.strip_suffix(".git").unwrap_or(&path).to_owned();
    Ok(Place { host, root, repository })
}

/// Returns where the host of a remote repository has its pages: where it serves Git over HTTP, or else
/// at the usual port of the server that it is read from over SSH.
fn origin(location: &Location) -> Option<Url> {
    match location.transport() {
        Transport::Http(_) => Url::parse(location.shown()).ok()?.join("/").ok(),
        Transport::Ssh(endpoint) => Url::parse(&format!("https://{}/", endpoint.host)).ok(),
        Transport::Local(_) => None,
    }
}

fn kind(name: &str) -> Option<Host> {
    match name {
        "github.com" => Some(Host::GitHub),
        "gitlab.com" => Some(Host::GitLab),
        "codeberg.org" => Some(Host::Gitea),
        "bitbucket.org" => Some(Host::Bitbucket),
        _ => None,
    }
}

fn no_issues(setting: &Setting<bool>) -> ConfigProblem {
    ConfigProblem {
        setting: "forge.issues".to_owned(),
        source: setting.source.clone(),
        message: "issues of Bitbucket are not known".to_owned(),
        hint: Some("name a hook in `hooks` instead".to_owned()),
    }
}

fn missing(setting: &str, what: &str) -> ConfigProblem {
    ConfigProblem {
        setting: setting.to_owned(),
        source: Source::Default,
        message: "the URL of the repository does not say it".to_owned(),
        hint: Some(format!("set it: {what}")),
    }
}

/// Reads a file of certificates, if one is named.
pub(super) fn authorities(file: Option<&Setting<PathBuf>>) -> Result<Option<Vec<u8>>, Error> {
    let Some(file) = file else { return Ok(None) };
    let read = std::fs::read(&file.value);
    read.map(Some).map_err(|source| Error::Secret { from: file.source.to_string(), source })
}

fn credentials(login: &ForgeLogin) -> Result<Credentials, Error> {
    Ok(match login {
        ForgeLogin::Token { username: None, token } => Credentials::Token(reader(token)?),
        ForgeLogin::Token { username: Some(username), token } => {
            Credentials::Basic { username: username.value.clone(), password: reader(token)? }
        }
        ForgeLogin::App { id, key } => {
            Credentials::App(Arc::new(App::new(id.value.clone(), reader(key)?)))
        }
    })
}

/// Makes the way to a secret, which is read once here so that a wrong path is told at the start.
pub(super) fn reader(secret: &Setting<Secret>) -> Result<ReadSecret, Error> {
    let from = || secret.source.to_string();
    secret.value.read().map_err(|source| Error::Secret { from: from(), source })?;
    let secret = secret.value.clone();
    Ok(Arc::new(move || secret.read()))
}

impl Tally for Metrics {
    fn carried(&self, result: &'static str) {
        self.host_write(result);
    }

    fn owed(&self, posts: usize) {
        self.host_owed(posts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::SecretString;

    fn forge() -> Forge {
        let token = Setting::default_of(Secret::Value(SecretString::from("t")));
        Forge {
            host: None,
            api_url: None,
            repository: None,
            link_url: None,
            ca_file: None,
            pull_requests: Setting::default_of(true),
            plan_forks: Setting::default_of(false),
            issues: Setting::default_of(false),
            login: ForgeLogin::Token { username: None, token },
        }
    }

    fn found(forge: &Forge, url: &str) -> Result<(Host, String, String), String> {
        let place = place(forge, &Location::parse(url, None, "").unwrap());
        let shown = |place: Place| (place.host, place.root.to_string(), place.repository);
        place.map(shown).map_err(|problem| problem.to_string())
    }

    #[test]
    fn the_url_of_the_repository_says_where_it_is_at_the_public_hosts() {
        for (url, host, root, repository) in [
            ("https://github.com/a/b.git", Host::GitHub, "https://api.github.com/", "a/b"),
            ("git@gitlab.com:a/b/c.git", Host::GitLab, "https://gitlab.com/api/v4", "a/b/c"),
            ("ssh://git@codeberg.org/a/b", Host::Gitea, "https://codeberg.org/api/v1", "a/b"),
            ("https://bitbucket.org/a/b", Host::Bitbucket, "https://api.bitbucket.org/2.0", "a/b"),
        ] {
            let expected = (host, root.to_owned(), repository.to_owned());
            assert_eq!(found(&forge(), url), Ok(expected), "{url}");
        }
    }

    #[test]
    fn a_host_of_another_name_has_to_be_named_and_a_path_on_this_machine_more() {
        let url = "https://git.example:8443/a/b.git";
        let error = found(&forge(), url).unwrap_err();
        assert!(error.starts_with("forge.host: the URL of the repository"), "{error}");
        let named = Forge { host: Some(Setting::default_of(Host::GitHub)), ..forge() };
        let root = "https://git.example:8443/api/v3".to_owned();
        assert_eq!(found(&named, url), Ok((Host::GitHub, root, "a/b".to_owned())));
        assert!(found(&named, "/srv/r").unwrap_err().starts_with("forge.apiUrl"));
        let api_url = Some(Setting::default_of(Url::parse("http://127.0.0.1:3000/api").unwrap()));
        let there = Forge { api_url, ..named };
        assert!(found(&there, "/srv/r").unwrap_err().starts_with("forge.repository"));
    }
}
