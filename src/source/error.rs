//! What can go wrong between a Git repository and its files, as values with a stable code.
//!
//! In: a failed step. Out: a [`SourceError`] whose text says what was attempted, where, and what to
//! do. The fetch child sends it to its parent as JSON, so it holds text only.
//!
//! Invariants: no variant holds a secret, and no text holds a duration that grows.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Says why a repository, or a folder on disk, was not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum SourceError {
    /// The repository, branch or folder is written in a way that cannot be used.
    #[error("the location \"{given}\" cannot be used: {reason}")]
    InvalidLocation {
        /// What was given, without a password.
        given: String,
        /// What is wrong with it and what to write.
        reason: String,
    },
    /// The URL holds a password, which would end up in logs.
    #[error(
        "the URL of the repository on {host} holds a password; take it out of the URL and give it as the credentials of the source"
    )]
    CredentialsInUrl {
        /// The host of the URL.
        host: String,
    },
    /// The name of the host has no address.
    #[error(
        "cannot fetch {url}: the host {host} is unknown; check its spelling and the DNS of this machine"
    )]
    UnknownHost {
        /// The repository.
        url: String,
        /// The host.
        host: String,
    },
    /// Nothing listens, or nothing lets us through.
    #[error(
        "cannot fetch {url}: {host} port {port} refuses the connection or cannot be reached; check the port, the firewall and that the server runs"
    )]
    ConnectionRefused {
        /// The repository.
        url: String,
        /// The host.
        host: String,
        /// The TCP port.
        port: u16,
    },
    /// The certificate was not accepted, or the peer does not speak TLS.
    #[error(
        "cannot fetch {url}: TLS with {host} failed ({detail}); if the server uses a private certificate authority, give its file as the source's CA file"
    )]
    TlsFailed {
        /// The repository.
        url: String,
        /// The host.
        host: String,
        /// What the TLS library says.
        detail: String,
    },
    /// The server asks for credentials and none are configured.
    #[error("cannot fetch {url}: the server asks for credentials and the source has none")]
    CredentialsMissing {
        /// The repository.
        url: String,
    },
    /// The server refused the credentials, or the account may not read the repository.
    #[error(
        "cannot fetch {url}: the server refused the credentials of the source ({detail}); check that they are valid and may read the repository"
    )]
    AuthenticationFailed {
        /// The repository.
        url: String,
        /// What the server or the SSH library says.
        detail: String,
    },
    /// The SSH host key is not in the known hosts.
    #[error(
        "cannot fetch {url}: the SSH host key of {host} is not known; its fingerprint is {fingerprint}; if this is the fingerprint that the host's owner publishes, add to the known hosts file: {line}"
    )]
    HostKeyUnknown {
        /// The repository.
        url: String,
        /// The host.
        host: String,
        /// `SHA256:` and the hash in base64, as `ssh-keygen -l` prints it.
        fingerprint: String,
        /// The line for the known hosts file.
        line: String,
    },
    /// The SSH host key differs from the known one: a changed server or an attack.
    #[error(
        "cannot fetch {url}: the SSH host key of {host} is not the known one; its fingerprint is {fingerprint}; ask the host's owner whether the key was changed, and only then replace the host's line in the known hosts file by: {line}"
    )]
    HostKeyChanged {
        /// The repository.
        url: String,
        /// The host.
        host: String,
        /// `SHA256:` and the hash in base64, as `ssh-keygen -l` prints it.
        fingerprint: String,
        /// The line for the known hosts file.
        line: String,
    },
    /// The server sends us to another host.
    #[error(
        "cannot fetch {url}: the server redirects elsewhere ({detail}), which is not followed; give the final URL"
    )]
    RedirectRefused {
        /// The repository.
        url: String,
        /// From where to where.
        detail: String,
    },
    /// The HTTP server answered with a status that is neither success nor explained otherwise.
    #[error(
        "cannot fetch {url}: the server answered HTTP status {status}; it is tried again by itself"
    )]
    ServerError {
        /// The repository.
        url: String,
        /// The HTTP status.
        status: u16,
    },
    /// There is no such repository, or the credentials do not let us see it.
    #[error(
        "cannot fetch {url}: there is no repository, or the credentials may not see it; check the URL or path"
    )]
    RepositoryNotFound {
        /// The repository.
        url: String,
    },
    /// Something is there, and it is not a Git repository.
    #[error(
        "cannot fetch {url}: it is not a Git repository ({detail}); give the folder that holds .git, a bare repository, or the URL that git clone takes"
    )]
    NotARepository {
        /// The repository.
        url: String,
        /// What was found.
        detail: String,
    },
    /// The repository uses SHA-256 object ids.
    #[error(
        "cannot fetch {url}: the repository uses SHA-256 object ids, which are not supported; use a repository with SHA-1 object ids"
    )]
    UnsupportedFormat {
        /// The repository.
        url: String,
    },
    /// A repository on this machine belongs to another user.
    #[error(
        "cannot fetch {url}: the folder belongs to another user; run the agent as its owner, or list it under safe.directory in the system's Git configuration"
    )]
    NotOwned {
        /// The repository.
        url: String,
    },
    /// The repository has no such branch.
    #[error("cannot fetch {url}: there is no branch \"{branch}\"; {}", branches(.existing))]
    BranchNotFound {
        /// The repository.
        url: String,
        /// The branch, or `HEAD` when the repository names no default branch.
        branch: String,
        /// Up to five branches that exist.
        existing: Vec<String>,
    },
    /// The repository holds no such commit.
    #[error(
        "there is no commit \"{revision}\" in {url}; fetch it first, or correct the name of the branch or commit"
    )]
    RevisionNotFound {
        /// The repository.
        url: String,
        /// What was asked for.
        revision: String,
    },
    /// Two commits have no common history, as far as it was fetched.
    #[error(
        "{base} and {head} have no common history in {url}; fetch the whole history (fetch-depth: 0 in GitHub Actions, GIT_DEPTH: 0 in GitLab CI)"
    )]
    NoCommonHistory {
        /// The repository.
        url: String,
        /// What is merged into.
        base: String,
        /// What is merged.
        head: String,
    },
    /// The folder is not in the commit; the last files stay in force.
    #[error(
        "the folder \"{folder}\" is not in commit {revision} of {url}; nothing is removed; put it back or correct the folder; if all of it is meant to go, leave a .yaml file of comments there, and `levelset status` shows what to confirm"
    )]
    FolderMissing {
        /// The repository.
        url: String,
        /// The folder.
        folder: String,
        /// The commit.
        revision: String,
    },
    /// The folder holds no manifest; the last files stay in force.
    #[error(
        "the folder \"{folder}\" holds no .yaml or .yml file in commit {revision} of {url}; nothing is removed; put a manifest into it or correct the folder; if all of it is meant to go, leave a file of comments there, and `levelset status` shows what to confirm"
    )]
    FolderEmpty {
        /// The repository.
        url: String,
        /// The folder, `.` for the root of the repository.
        folder: String,
        /// The commit.
        revision: String,
    },
    /// The fetch did not end within its deadline and was killed.
    #[error(
        "cannot fetch {url}: it did not end within {seconds} s and was stopped; it is tried again by itself"
    )]
    Timeout {
        /// The repository.
        url: String,
        /// The deadline, in seconds.
        seconds: u64,
    },
    /// The server accepted the connection and then said nothing.
    #[error(
        "cannot fetch {url}: the server sent nothing for {seconds} s; it is tried again by itself"
    )]
    ServerSilent {
        /// The repository.
        url: String,
        /// The limit for one answer, in seconds.
        seconds: u64,
    },
    /// The transfer failed in a way that no other code describes.
    #[error("cannot fetch {url}: {detail}; it is tried again by itself")]
    TransferFailed {
        /// The repository.
        url: String,
        /// What the Git library says.
        detail: String,
    },
    /// The mirror in the state directory cannot be created or written.
    #[error("cannot write the mirror {}: {detail}; check its rights and the free space", path.display())]
    MirrorUnusable {
        /// The mirror.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
    /// The mirror was rebuilt and still cannot be read.
    #[error("cannot read the mirror {}: {detail}; it is rebuilt by itself", path.display())]
    MirrorCorrupt {
        /// The mirror.
        path: PathBuf,
        /// What the Git library says.
        detail: String,
    },
    /// The fetch child could not be started or died without an answer.
    #[error("cannot fetch {url}: the fetch process {detail}; it is tried again by itself")]
    ChildFailed {
        /// The repository.
        url: String,
        /// What happened to it.
        detail: String,
    },
    /// The tip is not applied, because it is not signed as the settings ask.
    #[error(transparent)]
    Unverified(Unverified),
    /// What says which signatures count cannot be used.
    #[error("no signature of a commit can be verified: {}: {detail}", path.display())]
    KeysUnusable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it and what to do.
        detail: String,
    },
    /// A file or folder on disk cannot be read.
    #[error("cannot read {}: {detail}", path.display())]
    ReadFailed {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        detail: String,
    },
}

/// Says why a commit is not applied though it was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("commit {tip} of {url} is not applied: {}; {remedy}", self.cause())]
pub struct Unverified {
    /// The repository.
    pub url: String,
    /// The tip of the branch, in hexadecimal.
    pub tip: String,
    /// The commit that is not signed as it should be: the tip or one before it.
    pub commit: String,
    /// What is wrong with it, as a clause that follows "it".
    pub why: String,
    /// What stays in force, and what to do.
    pub remedy: String,
}

impl Unverified {
    /// Returns the cause as a sentence about the tip.
    pub fn cause(&self) -> String {
        match self.commit == self.tip {
            true => format!("it {}", self.why),
            false => format!("commit {} before it {}", self.commit, self.why),
        }
    }
}

impl SourceError {
    /// Returns the stable code of the condition.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InvalidLocation { .. } => "InvalidLocation",
            Self::CredentialsInUrl { .. } => "CredentialsInUrl",
            Self::UnknownHost { .. } => "UnknownHost",
            Self::ConnectionRefused { .. } => "ConnectionRefused",
            Self::TlsFailed { .. } => "TlsFailed",
            Self::CredentialsMissing { .. } => "CredentialsMissing",
            Self::AuthenticationFailed { .. } => "AuthenticationFailed",
            Self::HostKeyUnknown { .. } => "HostKeyUnknown",
            Self::HostKeyChanged { .. } => "HostKeyChanged",
            Self::RedirectRefused { .. } => "RedirectRefused",
            Self::ServerError { .. } => "ServerError",
            Self::RepositoryNotFound { .. } => "RepositoryNotFound",
            Self::NotARepository { .. } => "NotARepository",
            Self::UnsupportedFormat { .. } => "UnsupportedFormat",
            Self::NotOwned { .. } => "NotOwned",
            Self::BranchNotFound { .. } => "BranchNotFound",
            Self::RevisionNotFound { .. } => "RevisionNotFound",
            Self::NoCommonHistory { .. } => "NoCommonHistory",
            Self::FolderMissing { .. } => "FolderMissing",
            Self::FolderEmpty { .. } => "FolderEmpty",
            Self::Timeout { .. } => "Timeout",
            Self::ServerSilent { .. } => "ServerSilent",
            Self::TransferFailed { .. } => "TransferFailed",
            Self::MirrorUnusable { .. } => "MirrorUnusable",
            Self::MirrorCorrupt { .. } => "MirrorCorrupt",
            Self::ChildFailed { .. } => "ChildFailed",
            Self::Unverified(_) => "RevisionUnverified",
            Self::KeysUnusable { .. } => "KeysUnusable",
            Self::ReadFailed { .. } => "ReadFailed",
        }
    }

    /// Returns the code and the sentence, in the form that `SourceHealth` holds.
    pub fn trouble(&self) -> (String, String) {
        (self.code().to_owned(), self.to_string())
    }
}

fn branches(existing: &[String]) -> String {
    if existing.is_empty() {
        return "the repository has no branch yet; push one".to_owned();
    }
    format!("some that exist: {}", existing.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_branch_names_the_branches_that_exist() {
        let missing = |existing: &[&str]| SourceError::BranchNotFound {
            url: "https://git.example/r".to_owned(),
            branch: "mian".to_owned(),
            existing: existing.iter().map(ToString::to_string).collect(),
        };
        assert_eq!(
            missing(&["dev", "main"]).to_string(),
            "cannot fetch https://git.example/r: there is no branch \"mian\"; some that exist: dev, main"
        );
        assert!(missing(&[]).to_string().ends_with("has no branch yet; push one"));
    }

    #[test]
    fn an_error_survives_the_way_from_the_child_to_its_parent() {
        let error = SourceError::ServerError { url: "u".to_owned(), status: 503 };
        let json = serde_json::to_string(&error).unwrap();
        assert_eq!(serde_json::from_str::<SourceError>(&json).unwrap(), error);
    }
}
