//! Where the manifests are: a repository, a branch, a folder.
//!
//! In: three texts of the configuration. Out: a checked [`Location`].
//!
//! Invariants: a location never holds a password, so that it can be printed anywhere; its folder
//! is a plain relative path inside the repository.

use std::fmt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use url::Url;

use super::SourceError;

/// Says how the repository is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// A bare repository or a work tree on this machine.
    Local(PathBuf),
    /// HTTP or HTTPS.
    Http(Endpoint),
    /// SSH, from a URL or from the short form `user@host:path`.
    Ssh(Endpoint),
}

/// Names the server of a remote repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The host name or address.
    pub host: String,
    /// The TCP port.
    pub port: u16,
    /// The user name in the URL.
    pub user: Option<String>,
}

/// Names a folder of a branch of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    url: String,
    shown: String,
    transport: Transport,
    branch: Option<String>,
    folder: String,
}

impl Location {
    /// Checks the texts of a location.
    ///
    /// `repository` is a path, a `file://`, `http://`, `https://` or `ssh://` URL, or
    /// `user@host:path`. Without a branch, the default branch of the repository is read. An empty
    /// folder is the root of the repository.
    ///
    /// # Errors
    ///
    /// `InvalidLocation` for a text that cannot be used, `CredentialsInUrl` for a URL with a
    /// password.
    pub fn parse(
        repository: &str,
        branch: Option<&str>,
        folder: &str,
    ) -> Result<Self, SourceError> {
        let (url, shown, transport) = parse_repository(repository)?;
        let branch = branch.map(parse_branch).transpose()?;
        Ok(Self { url, shown, transport, branch, folder: parse_folder(folder)? })
    }

    /// Returns the URL or path of the repository as libgit2 takes it.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Returns the URL or path of the repository for people.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Returns the path of a remote repository at its server, without slashes at its ends; `None` for
    /// a repository on this machine.
    pub fn path(&self) -> Option<String> {
        if matches!(self.transport, Transport::Local(_)) {
            return None;
        }
        let path = match Url::parse(&self.url) {
            Ok(url) if url.has_host() => url.path().to_owned(),
            _ => self.url.split_once(':')?.1.to_owned(),
        };
        Some(path.trim_matches('/').to_owned())
    }

    /// Returns how the repository is reached.
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Returns the branch, or `None` for the default branch.
    pub fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    /// Returns the folder without slashes at its ends, empty for the root.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns the name of the mirror: the same for the same repository and branch.
    pub(crate) fn mirror_name(&self) -> String {
        let mut hash = Sha256::new();
        hash.update(&self.url);
        hash.update("\n");
        hash.update(self.branch.as_deref().unwrap_or_default());
        hex::encode(&hash.finalize()[..12])
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)?;
        if let Some(branch) = &self.branch {
            write!(f, " branch {branch}")?;
        }
        if !self.folder.is_empty() {
            write!(f, " folder {}", self.folder)?;
        }
        Ok(())
    }
}

fn invalid(given: &str, reason: impl Into<String>) -> SourceError {
    SourceError::InvalidLocation { given: given.to_owned(), reason: reason.into() }
}

type Repository = (String, String, Transport);

fn parse_repository(text: &str) -> Result<Repository, SourceError> {
    if text.is_empty() {
        return Err(invalid(text, "it is empty; give a URL or a path"));
    }
    if text.contains("://") {
        return parse_url(text);
    }
    match scp_form(text) {
        Some((user, host)) => {
            let endpoint = Endpoint { host: host.to_owned(), port: 22, user };
            Ok((text.to_owned(), text.to_owned(), Transport::Ssh(endpoint)))
        }
        None => parse_path(Path::new(text)),
    }
}

/// Recognises `user@host:path` and `host:path` by Git's own rule: a colon before the first slash.
fn scp_form(text: &str) -> Option<(Option<String>, &str)> {
    let (before, path) = text.split_once(':')?;
    if before.is_empty() || before.contains('/') || path.is_empty() || Path::new(text).exists() {
        return None;
    }
    match before.split_once('@') {
        Some((user, host)) => Some((Some(user.to_owned()), host)),
        None => Some((None, before)),
    }
}

fn parse_path(path: &Path) -> Result<Repository, SourceError> {
    let shown = path.display().to_string();
    let absolute = std::path::absolute(path).map_err(|error| invalid(&shown, error.to_string()))?;
    let Some(text) = absolute.to_str() else {
        return Err(invalid(&shown, "the path is not valid UTF-8; rename the folder"));
    };
    Ok((text.to_owned(), text.to_owned(), Transport::Local(absolute.clone())))
}

fn parse_url(text: &str) -> Result<Repository, SourceError> {
    let Ok(url) = Url::parse(text) else {
        let scheme = text.split("://").next().unwrap_or_default();
        return Err(invalid(&format!("{scheme}://..."), "it is not a valid URL"));
    };
    let host = url.host_str().unwrap_or_default().to_owned();
    if url.password().is_some() {
        return Err(SourceError::CredentialsInUrl { host });
    }
    match url.scheme() {
        "file" => match url.to_file_path() {
            Ok(path) => parse_path(&path),
            Err(()) => Err(invalid(text, "a file URL has three slashes, as in file:///srv/git/r")),
        },
        "http" | "https" => Ok(remote(&url, host, Transport::Http)),
        "ssh" => Ok(remote(&url, host, Transport::Ssh)),
        other => Err(invalid(
            &without_user(&url),
            format!("the scheme \"{other}\" is not supported; use https, ssh or a path"),
        )),
    }
}

fn remote(url: &Url, host: String, transport: fn(Endpoint) -> Transport) -> Repository {
    let port = url.port_or_known_default().unwrap_or(22);
    let user = Some(url.username()).filter(|user| !user.is_empty()).map(str::to_owned);
    if url.scheme() == "ssh" {
        return (url.to_string(), url.to_string(), transport(Endpoint { host, port, user }));
    }
    // A token is often written as the user of an HTTP URL: it goes with the credentials, not with
    // the URL, which is printed.
    let plain = without_user(url);
    (plain.clone(), plain, transport(Endpoint { host, port, user }))
}

fn without_user(url: &Url) -> String {
    let mut url = url.clone();
    // It fails for URLs that cannot have a user, which is what is wanted.
    let _ = url.set_username("");
    url.to_string()
}

fn parse_branch(text: &str) -> Result<String, SourceError> {
    let name = text.strip_prefix("refs/heads/").unwrap_or(text);
    if git2::Reference::is_valid_name(&format!("refs/heads/{name}")) {
        return Ok(name.to_owned());
    }
    Err(invalid(text, "it is not a valid branch name"))
}

fn parse_folder(text: &str) -> Result<String, SourceError> {
    let parts: Vec<&str> =
        text.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err(invalid(text, "a folder does not leave the repository; take out the \"..\""));
    }
    Ok(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Location, SourceError> {
        Location::parse(text, None, "")
    }

    #[test]
    fn the_short_ssh_form_is_told_from_a_path() {
        let location = parse("git@git.example:team/manifests.git").unwrap();
        let Transport::Ssh(endpoint) = location.transport() else { panic!("{location:?}") };
        assert_eq!((endpoint.host.as_str(), endpoint.port), ("git.example", 22));
        assert_eq!(endpoint.user.as_deref(), Some("git"));
        assert!(matches!(parse("./a:b").unwrap().transport(), Transport::Local(_)));
        assert!(matches!(parse("/srv/git/r.git").unwrap().transport(), Transport::Local(_)));
    }

    #[test]
    fn a_password_in_a_url_is_refused_without_printing_it() {
        let error = parse("https://bot:hunter2@git.example/r").unwrap_err();
        assert_eq!(error.code(), "CredentialsInUrl");
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }

    #[test]
    fn a_token_written_as_the_user_of_a_url_is_never_printed() {
        let location = parse("https://ghp_secret@git.example/r").unwrap();
        assert_eq!(location.to_string(), "https://git.example/r");
        let error = parse("git://ghp_secret@git.example/r").unwrap_err();
        assert!(!error.to_string().contains("ghp_secret"), "{error}");
        let error = parse("https://ghp_secret@git.example:port/r").unwrap_err();
        assert!(!error.to_string().contains("ghp_secret"), "{error}");
    }

    #[test]
    fn the_folder_is_a_plain_path_inside_the_repository() {
        let folder = |text| Location::parse("/r", None, text);
        assert_eq!(folder("./teams//prod/").unwrap().folder(), "teams/prod");
        assert_eq!(folder(".").unwrap().folder(), "");
        assert_eq!(folder("../x").unwrap_err().code(), "InvalidLocation");
    }

    #[test]
    fn mirrors_are_separate_for_each_repository_and_branch() {
        let name = |url, branch| Location::parse(url, branch, "").unwrap().mirror_name();
        assert_eq!(name("/r", Some("main")), name("/r", Some("refs/heads/main")));
        assert_ne!(name("/r", Some("main")), name("/r", Some("dev")));
        assert_ne!(name("/r", None), name("/s", None));
    }

    #[test]
    fn a_remote_repository_has_a_path_at_its_server() {
        for (url, path) in [
            ("https://git.example/acme/environments.git", Some("acme/environments.git")),
            ("ssh://git@git.example:2222/acme/environments", Some("acme/environments")),
            ("git@git.example:acme/environments.git", Some("acme/environments.git")),
            ("git.example:/acme/environments", Some("acme/environments")),
            ("/srv/git/r.git", None),
            ("file:///srv/git/r.git", None),
        ] {
            assert_eq!(parse(url).unwrap().path().as_deref(), path, "{url}");
        }
    }

    #[test]
    fn a_branch_name_that_git_refuses_is_refused() {
        assert!(Location::parse("/r", Some("a..b"), "").is_err());
        assert!(Location::parse("/r", Some(""), "").is_err());
    }
}
