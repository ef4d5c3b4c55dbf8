//! One repository at a host, and how it is called.

use std::sync::Arc;

use jiff::Timestamp;
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use crate::forge::app::{App, below};
use crate::forge::credentials::{Credentials, basic, scheme};
use crate::forge::refusal::Refusal;
use crate::forge::wire::{Answer, Method, Request, Wire};
use crate::model::Clock;
use crate::model::webhook::Host;

/// A list of more pages than this is no list of ours: with 100 items each, 5,000.
const MOST_PAGES: usize = 50;

/// Says where a repository is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The host's kind.
    pub host: Host,
    /// The root of its API, for example `https://api.github.com` or `https://git.example.com/api/v4`.
    pub root: Url,
    /// The path of the repository at the host, for example `acme/environments`.
    pub repository: String,
}

impl Place {
    /// Returns the root of the API of a host whose pages are at an origin (`https://git.example/`).
    ///
    /// Source: "Getting started with the REST API" of each; for GitHub Enterprise Server, "REST API
    /// endpoints" (`/api/v3`).
    pub fn root_of(host: Host, origin: &Url) -> Option<Url> {
        let root = match host {
            Host::GitHub if origin.host_str() == Some("github.com") => "https://api.github.com",
            Host::GitHub => "/api/v3",
            Host::GitLab => "/api/v4",
            Host::Gitea => "/api/v1",
            Host::Bitbucket => "https://api.bitbucket.org/2.0",
        };
        origin.join(root).ok()
    }
}

/// Calls the API of a host about one repository.
pub struct Caller {
    wire: Arc<dyn Wire>,
    place: Place,
    credentials: Credentials,
    clock: Arc<dyn Clock>,
}

impl Caller {
    /// Makes a caller; asks nothing yet.
    pub fn new(
        wire: Arc<dyn Wire>,
        place: Place,
        credentials: Credentials,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { wire, place, credentials, clock }
    }

    /// Returns the credentials.
    pub(super) fn credentials(&self) -> &Credentials {
        &self.credentials
    }

    /// Returns the path of the repository at the host.
    pub(super) fn repository(&self) -> &str {
        &self.place.repository
    }

    /// Returns the URL of something at the host, from the root of its API.
    pub(super) fn at(&self, segments: &[&str]) -> Result<Url, Refusal> {
        below(&self.place.root, segments)
    }

    /// Returns the URL of something of the repository.
    pub(super) fn of(&self, segments: &[&str]) -> Result<Url, Refusal> {
        let path: Vec<&str> = match self.place.host {
            // One segment: its slashes are escaped ("Namespaced paths" in GitLab's documentation).
            Host::GitLab => vec!["projects", &self.place.repository],
            Host::Bitbucket => {
                ["repositories"].into_iter().chain(self.place.repository.split('/')).collect()
            }
            Host::GitHub | Host::Gitea => {
                ["repos"].into_iter().chain(self.place.repository.split('/')).collect()
            }
        };
        below(&self.at(&path)?, segments)
    }

    /// Reads one object.
    pub(super) async fn read<T: DeserializeOwned>(&self, url: Url) -> Result<T, Refusal> {
        parse(&self.call(Request::get(url)).await?)
    }

    /// Reads one object that only a GitHub App itself may read.
    pub(super) async fn read_as_app<T: DeserializeOwned>(
        &self,
        app: &App,
        url: Url,
    ) -> Result<T, Refusal> {
        let proof = app.credentials(self.clock.now())?;
        let request = Request { credentials: Some(proof), ..Request::get(url) };
        parse(&self.send(request).await?)
    }

    /// Reads a list of which the host tells the next page in a `Link` header (RFC 8288).
    pub(super) async fn pages<T: DeserializeOwned>(&self, first: Url) -> Result<Vec<T>, Refusal> {
        let (mut found, mut next) = (Vec::new(), Some(first));
        for _ in 0..MOST_PAGES {
            let Some(url) = next.take() else { return Ok(found) };
            let answer = self.call(Request::get(url)).await?;
            found.extend(parse::<Vec<T>>(&answer)?);
            next =
                answer.header("link").and_then(next_page).map(|url| self.own(&url)).transpose()?;
        }
        Err(Refusal::endless())
    }

    /// Reads a file as it is.
    pub(super) async fn bytes(&self, url: Url) -> Result<Vec<u8>, Refusal> {
        Ok(self.call(Request::get(url)).await?.body)
    }

    /// Sends a form; returns the answer.
    pub(super) async fn send_form(
        &self,
        url: Url,
        fields: Vec<(String, String)>,
    ) -> Result<Answer, Refusal> {
        self.call(Request::form(url, fields)).await
    }

    /// Changes something; returns the answer.
    pub(super) async fn write(
        &self,
        method: Method,
        url: Url,
        body: Value,
    ) -> Result<Answer, Refusal> {
        self.call(Request::write(method, url, body)).await
    }

    /// Takes the URL of a page, if it is one of the same origin.
    pub(super) fn own(&self, url: &str) -> Result<Url, Refusal> {
        let url = Url::parse(url).ok().filter(|url| url.origin() == self.place.root.origin());
        url.ok_or_else(|| Refusal::unreadable("list with pages of its own"))
    }

    async fn call(&self, request: Request) -> Result<Answer, Refusal> {
        match self.attempt(request.clone()).await {
            // A token may end, or be taken back, before the time that was told.
            Err(Refusal::Denied { status: 401, .. }) if self.is_renewed().await => {
                self.attempt(request).await
            }
            answered => answered,
        }
    }

    async fn is_renewed(&self) -> bool {
        let Credentials::App(app) = &self.credentials else { return false };
        app.renew().await;
        true
    }

    async fn attempt(&self, mut request: Request) -> Result<Answer, Refusal> {
        let now = self.clock.now();
        request.credentials = Some(self.proof(now).await?);
        self.send(request).await
    }

    async fn send(&self, mut request: Request) -> Result<Answer, Refusal> {
        if self.place.host == Host::GitHub {
            request.headers.push(("accept", "application/vnd.github+json".to_owned()));
            request.headers.push(("x-github-api-version", "2022-11-28".to_owned()));
        }
        let answer = self.wire.send(request).await;
        let answer = answer.map_err(|no| Refusal::Unavailable(no.to_string()))?;
        Refusal::of(&answer, self.clock.now()).map_or(Ok(answer), Err)
    }

    /// Returns the header that proves who we are, in the form that the host wants.
    async fn proof(&self, now: Timestamp) -> Result<(&'static str, SecretString), Refusal> {
        let unreadable = |error: std::io::Error| Refusal::Denied {
            status: 0,
            said: format!("our token cannot be read: {error}"),
        };
        match &self.credentials {
            Credentials::Token(read) => {
                let token = read().map_err(unreadable)?;
                Ok(match self.place.host {
                    Host::GitLab => ("private-token", token),
                    Host::Gitea => ("authorization", scheme("token", &token)),
                    Host::GitHub | Host::Bitbucket => ("authorization", scheme("Bearer", &token)),
                })
            }
            Credentials::Basic { username, password } => {
                Ok(("authorization", basic(username, &password().map_err(unreadable)?)))
            }
            Credentials::App(app) => {
                let token = app.token(&*self.wire, &self.of(&[])?, now).await?;
                Ok(("authorization", scheme("Bearer", &token)))
            }
        }
    }
}

/// Reads the body of an answer.
pub(super) fn parse<T: DeserializeOwned>(answer: &Answer) -> Result<T, Refusal> {
    serde_json::from_slice(&answer.body).map_err(|_| Refusal::unreadable("JSON of the known form"))
}

/// Finds the next page in a `Link` header: `<https://...>; rel="next", <...>; rel="last"`.
fn next_page(link: &str) -> Option<String> {
    let next = link.split(',').find(|one| one.contains("rel=\"next\""))?;
    Some(next.trim().strip_prefix('<')?.split_once('>')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_the_link_of_that_relation() {
        let link = "<https://a/x?page=1>; rel=\"prev\", <https://a/x?page=3>; rel=\"next\"";
        assert_eq!(next_page(link).as_deref(), Some("https://a/x?page=3"));
        assert_eq!(next_page("<https://a/x?page=1>; rel=\"last\""), None);
        assert_eq!(next_page("rel=\"next\""), None);
    }

    #[test]
    fn the_api_of_github_is_elsewhere_and_that_of_its_enterprise_server_is_not() {
        let origin = |url| Url::parse(url).unwrap();
        let root = |host, url| Place::root_of(host, &origin(url)).unwrap().to_string();
        assert_eq!(root(Host::GitHub, "https://github.com"), "https://api.github.com/");
        assert_eq!(root(Host::GitHub, "https://git.example"), "https://git.example/api/v3");
        assert_eq!(root(Host::GitLab, "https://gitlab.com"), "https://gitlab.com/api/v4");
        assert_eq!(root(Host::Gitea, "http://git.example:3000"), "http://git.example:3000/api/v1");
        let bitbucket = root(Host::Bitbucket, "https://bitbucket.org");
        assert_eq!(bitbucket, "https://api.bitbucket.org/2.0");
    }
}
