//! One fetch inside the child: connect, list, choose the branch, download its tip.
//!
//! In: a [`FetchRequest`]. Out: the commit at the tip, whose tree is complete in the mirror.
//!
//! Invariants: credentials are given at most once, and only to the host and scheme of the request;
//! other hosts are not followed; an SSH host is trusted by our own known hosts file alone. A
//! failure of the mirror itself leads to one rebuild; a failure of the network never does.

use std::cell::RefCell;
use std::collections::BTreeMap;

use git2::{
    AutotagOption, CertificateCheckStatus, Cred, CredentialType, Direction, ErrorClass, ErrorCode,
    FetchOptions, Oid, ProxyOptions, RemoteCallbacks, RemoteRedirect, Repository,
};
use secrecy::ExposeSecret;
use tokio::time::Instant;
use url::Url;

use super::SourceError;
use super::access::{FetchRequest, Fetched, WireCredentials};
use super::classify::classify;
use super::host_key::HostKey;
use super::mirror::{self, Lock, TIP};

/// Says in which part of a fetch libgit2 failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Reading or making the mirror.
    Mirror,
    /// Reaching the repository and listing its branches.
    Connect,
    /// Receiving objects.
    Download,
}

/// Holds what the callbacks saw, by which a failure is told apart without reading messages.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) credentials_given: bool,
    pub(crate) credentials_refused: bool,
    pub(crate) credentials_missing: bool,
    pub(crate) other_host: Option<String>,
    pub(crate) certificate: bool,
    pub(crate) host_key: Option<HostKey>,
    pub(crate) listed: bool,
    pub(crate) last_activity: Instant,
}

impl Seen {
    fn new() -> Self {
        Self {
            credentials_given: false,
            credentials_refused: false,
            credentials_missing: false,
            other_host: None,
            certificate: false,
            host_key: None,
            listed: false,
            last_activity: now(),
        }
    }

    fn touch(&mut self) {
        self.last_activity = now();
    }
}

fn now() -> Instant {
    Instant::now()
}

enum Failure {
    /// The mirror is at fault: it is rebuilt once.
    Mirror(git2::Error),
    /// The cause is known.
    Known(SourceError),
}

impl From<SourceError> for Failure {
    fn from(error: SourceError) -> Self {
        Self::Known(error)
    }
}

/// Brings the tip of the branch into the mirror.
pub(crate) fn fetch(request: &FetchRequest) -> Result<Fetched, SourceError> {
    let unusable = |error: std::io::Error| SourceError::MirrorUnusable {
        path: request.mirror.clone(),
        detail: error.to_string(),
    };
    let _lock = Lock::exclusive(&request.mirror).map_err(unusable)?;
    mirror::clean(&request.mirror).map_err(unusable)?;
    let mut reason = mirror::worn_out(&request.mirror);
    if request.rebuild {
        reason = Some("the mirror could not be read".to_owned());
    }
    if let Some(reason) = reason {
        return rebuild(request, reason);
    }
    let updated = match Repository::open_bare(&request.mirror) {
        Ok(repository) => update(request, &repository),
        Err(error) => Err(Failure::Mirror(error)),
    };
    match updated {
        Ok(fetched) => Ok(fetched),
        Err(Failure::Known(error)) => Err(error),
        Err(Failure::Mirror(error)) => rebuild(request, error.message().to_owned()),
    }
}

fn rebuild(request: &FetchRequest, reason: String) -> Result<Fetched, SourceError> {
    let unusable =
        |detail: String| SourceError::MirrorUnusable { path: request.mirror.clone(), detail };
    let repository = mirror::start_building(&request.mirror)
        .map_err(|error| unusable(error.message().to_owned()))?;
    if let Some(kept) = &request.keep {
        // What the old mirror lacks, the repository may still have.
        let _ = mirror::take_over(&request.mirror, &repository, kept);
    }
    let fetched = update(request, &repository).map_err(|failure| match failure {
        Failure::Known(error) => error,
        Failure::Mirror(error) => unusable(error.message().to_owned()),
    })?;
    drop(repository);
    mirror::finish_building(&request.mirror).map_err(|error| unusable(error.to_string()))?;
    Ok(Fetched { rebuilt: Some(reason), ..fetched })
}

fn update(request: &FetchRequest, repository: &Repository) -> Result<Fetched, Failure> {
    let seen = RefCell::new(Seen::new());
    let fail = |stage: Stage, error: git2::Error| {
        if stage == Stage::Mirror || (stage == Stage::Download && is_local(&error)) {
            return Failure::Mirror(error);
        }
        Failure::Known(classify(request, &seen.borrow(), stage, &error))
    };
    if request.server.is_none() {
        // The local transport drops the code of this error, so that it is asked for here.
        Repository::open(&request.url).map_err(|error| fail(Stage::Connect, error))?;
    }
    let mut remote =
        repository.remote_anonymous(&request.url).map_err(|e| fail(Stage::Connect, e))?;
    let mut connection = remote
        .connect_auth(Direction::Fetch, Some(callbacks(request, &seen)), Some(proxy()))
        .map_err(|error| fail(Stage::Connect, error))?;
    let branches =
        Branches::list(&connection, &request.heads).map_err(|error| fail(Stage::Connect, error))?;
    seen.borrow_mut().listed = true;
    let (branch, name, tip) = branches.choose(request)?;
    let missing = missing(repository, &branches, (&name, tip));
    if !missing.is_empty() {
        connection
            .remote()
            .fetch(&missing, Some(&mut options(request, &seen)), None)
            .map_err(|error| fail(Stage::Download, error))?;
    }
    let commit = repository.refname_to_id(TIP).map_err(|error| fail(Stage::Mirror, error))?;
    repository
        .find_commit(commit)
        .and_then(|commit| commit.tree())
        .map_err(|error| fail(Stage::Mirror, error))?;
    let heads = branches.heads.iter().map(|(name, id)| (name.clone(), id.to_string())).collect();
    Ok(Fetched { commit: commit.to_string(), branch, heads, rebuilt: None })
}

/// Lists what the last fetch did not bring, as what goes where; nothing when all of it is there.
fn missing(repository: &Repository, branches: &Branches, tip: (&str, Oid)) -> Vec<String> {
    let heads = branches.heads.iter().map(|(name, id)| (name.as_str(), *id, beside(name)));
    let all = std::iter::once((tip.0, tip.1, TIP.to_owned())).chain(heads);
    all.filter(|(_, id, local)| repository.refname_to_id(local).ok() != Some(*id))
        .map(|(name, _, local)| format!("+{name}:{local}"))
        .collect()
}

/// Names the reference of the mirror that follows one beside the branch.
fn beside(name: &str) -> String {
    format!("refs/levelset/heads/{}", name.trim_start_matches("refs/"))
}

/// True when the failure lies in the mirror and not between us and the server.
fn is_local(error: &git2::Error) -> bool {
    !matches!(
        error.class(),
        ErrorClass::Net
            | ErrorClass::Http
            | ErrorClass::Ssl
            | ErrorClass::Ssh
            | ErrorClass::Callback
    ) && !matches!(
        error.code(),
        ErrorCode::Timeout | ErrorCode::Auth | ErrorCode::Certificate | ErrorCode::User
    )
}

fn proxy<'a>() -> ProxyOptions<'a> {
    let mut proxy = ProxyOptions::new();
    proxy.auto();
    proxy
}

fn options<'a>(request: &'a FetchRequest, seen: &'a RefCell<Seen>) -> FetchOptions<'a> {
    let mut options = FetchOptions::new();
    options.remote_callbacks(callbacks(request, seen));
    options.proxy_options(proxy());
    options.download_tags(AutotagOption::None);
    options.update_fetchhead(false);
    options.follow_redirects(RemoteRedirect::None);
    if request.server.is_some() && !request.history {
        // The local transport of libgit2 refuses a depth.
        options.depth(1);
    }
    options
}

fn callbacks<'a>(request: &'a FetchRequest, seen: &'a RefCell<Seen>) -> RemoteCallbacks<'a> {
    let mut callbacks = RemoteCallbacks::new();
    callbacks.credentials(|url, user, allowed| {
        let mut seen = seen.borrow_mut();
        seen.touch();
        credentials(request, &mut seen, url, user, allowed)
    });
    callbacks.certificate_check(|certificate, _host| {
        let mut seen = seen.borrow_mut();
        seen.touch();
        seen.certificate = true;
        seen.host_key = certificate.as_hostkey().and_then(HostKey::read);
        // libgit2 then decides by the known hosts file in the home folder that the parent set.
        Ok(CertificateCheckStatus::CertificatePassthrough)
    });
    callbacks.transfer_progress(|_| {
        seen.borrow_mut().touch();
        true
    });
    callbacks.sideband_progress(|_| {
        seen.borrow_mut().touch();
        true
    });
    callbacks
}

fn credentials(
    request: &FetchRequest,
    seen: &mut Seen,
    url: &str,
    user: Option<&str>,
    allowed: CredentialType,
) -> Result<Cred, git2::Error> {
    let user = user.or_else(|| request.server.as_ref().and_then(|server| server.user.as_deref()));
    if allowed == CredentialType::USERNAME {
        return Cred::username(user.unwrap_or("git"));
    }
    let refuse = |message| git2::Error::new(ErrorCode::Auth, ErrorClass::Callback, message);
    if !same_server(&request.url, url) {
        seen.other_host = Some(url.to_owned());
        return Err(refuse("another host asks for the credentials"));
    }
    if seen.credentials_given {
        seen.credentials_refused = true;
        return Err(refuse("the credentials were refused"));
    }
    let credentials = match &request.credentials {
        WireCredentials::None => {
            seen.credentials_missing = true;
            return Err(refuse("there are no credentials"));
        }
        WireCredentials::Password { username, password } => {
            // SSH has chosen its user already, and insists on it.
            let user = if allowed.is_ssh_key() { user.unwrap_or(username) } else { username };
            Cred::userpass_plaintext(user, password.expose_secret())?
        }
        WireCredentials::SshKey { private_key, passphrase } => {
            let passphrase =
                Some(passphrase.expose_secret()).filter(|passphrase| !passphrase.is_empty());
            let user = user.unwrap_or("git");
            Cred::ssh_key_from_memory(user, None, private_key.expose_secret(), passphrase)?
        }
    };
    seen.credentials_given = true;
    Ok(credentials)
}

/// True when `asked` is the server of `wanted`, or the same host over TLS instead of in clear.
fn same_server(wanted: &str, asked: &str) -> bool {
    match (Url::parse(wanted), Url::parse(asked)) {
        (Ok(wanted), Ok(asked)) => {
            let safer = wanted.scheme() == "http" && asked.scheme() == "https";
            let same = wanted.scheme() == asked.scheme()
                && wanted.port_or_known_default() == asked.port_or_known_default();
            wanted.host() == asked.host() && (same || safer)
        }
        // The short form of SSH is not a URL; SSH does not redirect.
        _ => wanted == asked,
    }
}

/// Holds what the remote lists.
struct Branches {
    /// Short names and tips, in the order of the remote.
    tips: Vec<(String, Oid)>,
    /// What `HEAD` is at; `None` when its branch has no commit yet.
    head: Option<Oid>,
    /// The branch that `HEAD` names; none in a work tree with a detached `HEAD`.
    default: Option<String>,
    /// The references that are asked for beside a branch, as far as they are there.
    heads: BTreeMap<String, Oid>,
}

impl Branches {
    fn list(
        connection: &git2::RemoteConnection<'_, '_, '_>,
        beside: &[String],
    ) -> Result<Self, git2::Error> {
        let heads = BTreeMap::new();
        let mut branches = Self { tips: Vec::new(), head: None, default: None, heads };
        for head in connection.list()? {
            // git2 panics on a reference whose name is not UTF-8; such a branch cannot be ours.
            let read = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                (head.name().to_owned(), head.symref_target().map(str::to_owned))
            }));
            let Ok((name, target)) = read else { continue };
            if beside.contains(&name) {
                branches.heads.insert(name.clone(), head.oid());
            }
            if name == "HEAD" {
                branches.head = Some(head.oid());
                branches.default = target.and_then(|name| short(&name));
            } else if let Some(short) = short(&name) {
                branches.tips.push((short, head.oid()));
            }
        }
        Ok(branches)
    }

    /// Returns the name of the branch, its name at the remote, and its tip.
    fn choose(&self, request: &FetchRequest) -> Result<(String, String, Oid), SourceError> {
        let default = || self.default.clone().unwrap_or_else(|| "HEAD".to_owned());
        let branch = request.branch.clone().unwrap_or_else(default);
        let chosen = match &request.branch {
            Some(_) => self
                .tips
                .iter()
                .find(|(name, _)| *name == branch)
                .map(|(name, tip)| (format!("refs/heads/{name}"), *tip)),
            None => self.head.map(|tip| ("HEAD".to_owned(), tip)),
        };
        match chosen {
            Some((name, tip)) => Ok((branch, name, tip)),
            None => Err(SourceError::BranchNotFound {
                url: request.shown.clone(),
                branch,
                existing: self.tips.iter().take(5).map(|(name, _)| name.clone()).collect(),
            }),
        }
    }
}

fn short(reference: &str) -> Option<String> {
    reference.strip_prefix("refs/heads/").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_go_to_the_host_of_the_request_only() {
        let same = |asked| same_server("http://git.example:8080/r", asked);
        assert!(same("http://git.example:8080/r/info/refs"));
        assert!(same("https://git.example/r"));
        assert!(!same("http://evil.example:8080/r"));
        assert!(!same("http://git.example:9999/r"));
        assert!(!same_server("https://git.example/r", "http://git.example/r"));
        assert!(same_server("git@git.example:r", "git@git.example:r"));
    }
}
