//! What we ask of a host: the port [`Api`], and the four hosts behind it.
//!
//! In: values of ours. Out: calls of a host's API, in its own words and limits, or a [`Refusal`].
//!
//! A further call is a method of [`Api`], and one function in each of `github`, `gitlab`, `gitea` and
//! `bitbucket`, made of what [`Caller`] has: `read` for one object, `pages` for a list of any
//! length, `write` for a change. Waiting, trying again and sparing the host are not decided here but by
//! whoever calls.
//!
//! Invariants: every list is read to its end or it is a refusal; a page of another origin is never
//! asked for, so that credentials stay where they belong.

mod bitbucket;
mod caller;
mod edits;
mod gitea;
mod github;
mod gitlab;
mod issues;

use std::future::Future;
use std::pin::Pin;

use crate::model::Revision;

pub use bitbucket::Bitbucket;
pub use caller::{Caller, Place};
pub use gitea::Gitea;
pub use github::GitHub;
pub use gitlab::GitLab;

use super::refusal::Refusal;

/// The future of a call.
pub type ApiFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, Refusal>> + Send + 'a>>;

/// Speaks with one repository at a host; one whose issues are not known refuses what is about them.
pub trait Api: Send + Sync {
    /// Writes the status of a commit; the same again is taken for done.
    fn set_status<'a>(&'a self, status: &'a CommitStatus) -> ApiFuture<'a, ()>;

    /// Lists the open pull requests.
    fn pull_requests(&self) -> ApiFuture<'_, Vec<PullRequest>>;

    /// Lists the comments on a pull request, those on single lines left out.
    fn comments(&self, number: u64) -> ApiFuture<'_, Vec<Comment>>;

    /// Adds a comment to a pull request; returns its id.
    fn add_comment<'a>(&'a self, number: u64, body: &'a str) -> ApiFuture<'a, String>;

    /// Replaces the text of a comment.
    fn edit_comment<'a>(&'a self, number: u64, id: &'a str, body: &'a str) -> ApiFuture<'a, ()>;

    /// Lists the issues that we wrote, open or not, with their numbers for ids.
    fn own_issues(&self) -> ApiFuture<'_, Vec<Comment>> {
        Box::pin(async { Err(no_issues()) })
    }

    /// Adds an issue; returns its number.
    fn add_issue<'a>(&'a self, _issue: &'a Issue) -> ApiFuture<'a, String> {
        Box::pin(async { Err(no_issues()) })
    }

    /// Replaces title and text of an issue, and opens it if it is closed.
    fn edit_issue<'a>(&'a self, _id: &'a str, _issue: &'a Issue) -> ApiFuture<'a, ()> {
        Box::pin(async { Err(no_issues()) })
    }

    /// Closes an issue.
    fn close_issue<'a>(&'a self, _id: &'a str) -> ApiFuture<'a, ()> {
        Box::pin(async { Err(no_issues()) })
    }

    /// Puts a changed file on a branch of its own; refuses when the file is another one by now, or when
    /// there is such a branch.
    fn push<'a>(&'a self, edit: &'a Edit) -> ApiFuture<'a, ()>;

    /// Opens a pull request for a branch that was pushed; returns where people look at it.
    fn open_pull_request<'a>(&'a self, edit: &'a Edit) -> ApiFuture<'a, String>;

    /// Returns who we are, as [`Comment::author`] has it.
    fn myself(&self) -> ApiFuture<'_, String>;
}

fn no_issues() -> Refusal {
    Refusal::Refused { status: 0, said: "issues of this host are not known".to_owned() }
}

/// Says how a commit stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It is being worked on, or waits.
    Pending,
    /// All of it is so.
    Success,
    /// Something of it does not come about.
    Failure,
    /// A later commit took its place before all of it was so.
    Superseded,
}

/// Holds what is to stand beside a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommitStatus {
    /// The commit.
    pub revision: Revision,
    /// The name of the status, unique within the commit: `levelset/NAME/sync`.
    pub context: String,
    /// How it stands.
    pub state: State,
    /// A clause for people of up to [`LONGEST_DESCRIPTION`] bytes, without a duration.
    pub description: String,
    /// Where more is told, over HTTP or HTTPS.
    pub link: Option<String>,
    /// The branch that the commit is on, where it is known.
    pub branch: Option<String>,
    /// The mistakes that are shown at their lines, for a status that is about lines.
    pub annotations: Option<Vec<Annotation>>,
}

/// Says something about a line of a file.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Annotation {
    /// The file, from the root of the repository.
    pub path: String,
    /// The line, counted from 1.
    pub line: u32,
    /// One clause.
    pub title: String,
    /// A sentence or two.
    pub message: String,
}

/// So many annotations are shown: what GitHub takes with one call.
pub const MOST_ANNOTATIONS: usize = 50;

/// What every host takes, in bytes. GitHub takes 140 characters, the others more.
pub const LONGEST_DESCRIPTION: usize = 140;

/// Describes an open pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PullRequest {
    /// Its number within the repository.
    pub number: u64,
    /// Its newest commit; Bitbucket tells the first twelve digits.
    pub head: Revision,
    /// The branch that is to be merged.
    pub head_branch: String,
    /// The branch that it is to be merged into.
    pub base_branch: String,
    /// True when it comes from another repository, or from one that is gone.
    pub is_fork: bool,
    /// Where people look at it.
    pub link: String,
}

/// Holds a change of one file that is to be a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The branch that is made for it.
    pub branch: String,
    /// The branch that it is to be merged into.
    pub onto: String,
    /// The file, from the root of the repository.
    pub path: String,
    /// The id of the blob that the file is now.
    pub blob: String,
    /// What the file is now.
    pub before: Vec<u8>,
    /// What it is to be.
    pub after: Vec<u8>,
    /// The title, and the message of the commit.
    pub title: String,
    /// The text, in the host's Markdown.
    pub body: String,
}

/// Holds what an issue says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// The title.
    pub title: String,
    /// The text, in the host's Markdown.
    pub body: String,
}

/// Holds a comment on a pull request, or the text of an issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// Its id at the host.
    pub id: String,
    /// Who wrote it.
    pub author: String,
    /// The text, in the host's Markdown.
    pub body: String,
}
