//! GitHub and GitHub Enterprise Server.
//!
//! Source: the REST API of GitHub, version 2022-11-28.

use serde::Deserialize;
use serde_json::json;

use super::caller::parse;
use super::{Api, ApiFuture, Caller, Comment, CommitStatus, PullRequest, State};
use crate::forge::credentials::Credentials;
use crate::forge::wire::Method;
use crate::model::Revision;

/// Speaks with a repository of GitHub.
pub struct GitHub(pub Caller);

#[derive(Deserialize)]
struct User {
    login: String,
}

#[derive(Deserialize)]
struct Slug {
    slug: String,
}

#[derive(Deserialize)]
struct Request {
    number: u64,
    html_url: String,
    head: Side,
    base: Side,
}

#[derive(Deserialize)]
struct Side {
    sha: String,
    #[serde(rename = "ref")]
    branch: String,
    /// `null` when it is gone.
    repo: Option<Repository>,
}

#[derive(Deserialize)]
struct Repository {
    full_name: String,
}

#[derive(Deserialize)]
struct Note {
    id: u64,
    #[serde(default)]
    body: Option<String>,
    /// `null` when the person is gone.
    user: Option<User>,
}

/// The words for a state; the host has none for a commit whose place another one took.
const fn word(state: State) -> &'static str {
    match state {
        State::Pending => "pending",
        State::Success => "success",
        State::Failure => "failure",
        State::Superseded => "error",
    }
}

impl Api for GitHub {
    fn set_status<'a>(&'a self, status: &'a CommitStatus) -> ApiFuture<'a, ()> {
        Box::pin(async move {
            let url = self.0.of(&["statuses", status.revision.as_str()])?;
            let mut body = json!({
                "state": word(status.state),
                "context": status.context,
                "description": status.description,
            });
            if let Some(link) = &status.link {
                body["target_url"] = json!(link);
            }
            self.0.write(Method::Post, url, body).await.map(drop)
        })
    }

    fn pull_requests(&self) -> ApiFuture<'_, Vec<PullRequest>> {
        Box::pin(async move {
            let mut url = self.0.of(&["pulls"])?;
            url.query_pairs_mut().extend_pairs([("state", "open"), ("per_page", "100")]);
            let found = self.0.pages::<Request>(url).await?;
            Ok(found.into_iter().map(PullRequest::from).collect())
        })
    }

    fn comments(&self, number: u64) -> ApiFuture<'_, Vec<Comment>> {
        Box::pin(async move {
            let mut url = self.0.of(&["issues", &number.to_string(), "comments"])?;
            url.query_pairs_mut().append_pair("per_page", "100");
            let found = self.0.pages::<Note>(url).await?;
            Ok(found.into_iter().map(Comment::from).collect())
        })
    }

    fn add_comment<'a>(&'a self, number: u64, body: &'a str) -> ApiFuture<'a, String> {
        Box::pin(async move {
            let url = self.0.of(&["issues", &number.to_string(), "comments"])?;
            let answer = self.0.write(Method::Post, url, json!({ "body": body })).await?;
            Ok(parse::<Note>(&answer)?.id.to_string())
        })
    }

    fn edit_comment<'a>(&'a self, _: u64, id: &'a str, body: &'a str) -> ApiFuture<'a, ()> {
        Box::pin(async move {
            let url = self.0.of(&["issues", "comments", id])?;
            self.0.write(Method::Patch, url, json!({ "body": body })).await.map(drop)
        })
    }

    fn myself(&self) -> ApiFuture<'_, String> {
        Box::pin(async move {
            if let Credentials::App(app) = self.0.credentials() {
                let slug: Slug = self.0.read_as_app(app, self.0.at(&["app"])?).await?;
                return Ok(format!("{}[bot]", slug.slug));
            }
            Ok(self.0.read::<User>(self.0.at(&["user"])?).await?.login)
        })
    }
}

impl From<Request> for PullRequest {
    fn from(request: Request) -> Self {
        let name = |side: &Side| side.repo.as_ref().map(|repo| repo.full_name.clone());
        let is_fork = request.head.repo.is_none() || name(&request.head) != name(&request.base);
        Self {
            number: request.number,
            head: Revision::new(request.head.sha),
            head_branch: request.head.branch,
            base_branch: request.base.branch,
            is_fork,
            link: request.html_url,
        }
    }
}

impl From<Note> for Comment {
    fn from(note: Note) -> Self {
        Self {
            id: note.id.to_string(),
            author: note.user.map(|user| user.login).unwrap_or_default(),
            body: note.body.unwrap_or_default(),
        }
    }
}
