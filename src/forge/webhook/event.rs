//! What a payload says, as far as it is needed: which repository, which branches, which request.
//!
//! Every member may be missing: a payload that says less than it should is doubt, and doubt wakes.

use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Says what happened at the host.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Branches or tags moved.
    Push(Push),
    /// A pull request, which GitLab calls a merge request, was opened, moved or closed.
    PullRequest(PullRequest),
    /// Something that nobody here needs.
    Other,
}

/// Names a repository.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Repository {
    /// Its path at the host, for example `acme/environments`.
    pub(super) path: Option<String>,
    /// The branch that counts when none is named.
    pub(super) default_branch: Option<String>,
}

/// Says what a push moved.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Push {
    pub(super) repository: Repository,
    /// What moved; empty when the payload does not say it.
    pub(super) moves: Vec<Move>,
}

/// Says how one reference moved.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// The branch has another commit.
    Branch(String),
    /// Something else moved: a tag, a note; or a branch was deleted.
    Nothing,
}

/// Names a pull request.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PullRequest {
    pub(super) repository: Repository,
    /// The number within the repository.
    pub(super) number: u64,
}

impl Move {
    /// Reads a full reference and the commit that it has now: zeros when it was deleted.
    pub(super) fn of(reference: &str, after: &str) -> Self {
        let is_deleted = !after.is_empty() && after.bytes().all(|byte| byte == b'0');
        match reference.strip_prefix("refs/heads/") {
            Some(branch) if !is_deleted => Self::Branch(branch.to_owned()),
            _ => Self::Nothing,
        }
    }
}

impl Push {
    /// Makes a push of which nothing is known but that it is one.
    pub(super) fn unknown() -> Self {
        Self::default()
    }
}

/// Reads a payload; one that is not what its event promises gives `None`.
pub(super) fn read<T: DeserializeOwned>(payload: &[u8]) -> Option<T> {
    serde_json::from_slice(payload).ok()
}

/// The form of a push that GitHub, Gitea and Forgejo share.
///
/// Source: "Webhook events and payloads", push, in GitHub's documentation.
#[derive(Debug, Deserialize)]
struct PushPayload {
    #[serde(rename = "ref")]
    reference: String,
    #[serde(default)]
    after: String,
    #[serde(default)]
    repository: RepositoryPayload,
}

#[derive(Debug, Default, Deserialize)]
struct RepositoryPayload {
    full_name: Option<String>,
    default_branch: Option<String>,
}

#[derive(Debug, Deserialize)]
struct PullRequestPayload {
    number: u64,
    #[serde(default)]
    repository: RepositoryPayload,
}

impl From<RepositoryPayload> for Repository {
    fn from(payload: RepositoryPayload) -> Self {
        Self { path: payload.full_name, default_branch: payload.default_branch }
    }
}

/// Reads a push in the form that GitHub, Gitea and Forgejo share.
pub(super) fn push(payload: &[u8]) -> Event {
    let Some(push) = read::<PushPayload>(payload) else { return Event::Push(Push::unknown()) };
    Event::Push(Push {
        moves: vec![Move::of(&push.reference, &push.after)],
        repository: push.repository.into(),
    })
}

/// Reads a pull request in the form that GitHub, Gitea and Forgejo share.
pub(super) fn pull_request(payload: &[u8]) -> Event {
    let Some(request) = read::<PullRequestPayload>(payload) else { return Event::Other };
    Event::PullRequest(PullRequest {
        number: request.number,
        repository: request.repository.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_branch_moves_and_a_tag_or_a_deletion_does_not() {
        let commit = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
        let branch = Move::Branch("feature/a".to_owned());
        assert_eq!(Move::of("refs/heads/feature/a", commit), branch);
        assert_eq!(Move::of("refs/heads/feature/a", ""), branch);
        assert_eq!(Move::of("refs/heads/feature/a", &"0".repeat(40)), Move::Nothing);
        assert_eq!(Move::of("refs/tags/v1", commit), Move::Nothing);
    }

    #[test]
    fn a_push_that_cannot_be_read_is_a_push_all_the_same() {
        for payload in [&b""[..], b"{", b"[]", b"{\"ref\":7}", b"{\"after\":\"\"}"] {
            assert_eq!(push(payload), Event::Push(Push::unknown()));
        }
        assert_eq!(pull_request(b"{}"), Event::Other);
    }
}
