//! Gitea and Forgejo.
//!
//! Source: the API description that Gitea and Forgejo serve as `/swagger.v1.json`.

use serde::Deserialize;
use serde_json::json;

use super::issues::{Issues, User};
use super::{
    Api, ApiFuture, Caller, Comment, CommitStatus, Edit, Issue, PullRequest, State, edits,
};
use crate::forge::wire::Method;
use crate::model::Revision;

/// Speaks with a repository of Gitea or Forgejo.
pub struct Gitea(pub Caller);

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
    repo_id: i64,
}

const fn word(state: State) -> &'static str {
    match state {
        State::Pending => "pending",
        State::Success => "success",
        State::Failure => "failure",
        State::Superseded => "warning",
    }
}

impl Gitea {
    fn issues(&self) -> Issues<'_> {
        Issues { caller: &self.0, page: ("limit", "50"), author: "created_by" }
    }
}

impl Api for Gitea {
    fn set_status<'a>(&'a self, status: &'a CommitStatus) -> ApiFuture<'a, ()> {
        Box::pin(async move {
            let url = self.0.of(&["statuses", status.revision.as_str()])?;
            let body = json!({
                "state": word(status.state),
                "context": status.context,
                "description": status.description,
                "target_url": status.link.as_deref().unwrap_or_default(),
            });
            self.0.write(Method::Post, url, body).await.map(drop)
        })
    }

    fn pull_requests(&self) -> ApiFuture<'_, Vec<PullRequest>> {
        Box::pin(async move {
            let mut url = self.0.of(&["pulls"])?;
            url.query_pairs_mut().extend_pairs([("state", "open"), ("limit", "50")]);
            let found = self.0.pages::<Request>(url).await?;
            Ok(found.into_iter().map(PullRequest::from).collect())
        })
    }

    fn comments(&self, number: u64) -> ApiFuture<'_, Vec<Comment>> {
        Box::pin(async move { self.issues().comments(number).await })
    }

    fn add_comment<'a>(&'a self, number: u64, body: &'a str) -> ApiFuture<'a, String> {
        Box::pin(async move { self.issues().add_comment(number, body).await })
    }

    fn edit_comment<'a>(&'a self, _: u64, id: &'a str, body: &'a str) -> ApiFuture<'a, ()> {
        Box::pin(async move { self.issues().edit_comment(id, body).await })
    }

    fn own_issues(&self) -> ApiFuture<'_, Vec<Comment>> {
        Box::pin(async move { self.issues().of(&self.myself().await?).await })
    }

    fn add_issue<'a>(&'a self, issue: &'a Issue) -> ApiFuture<'a, String> {
        Box::pin(async move { self.issues().add(issue).await })
    }

    fn edit_issue<'a>(&'a self, id: &'a str, issue: &'a Issue) -> ApiFuture<'a, ()> {
        Box::pin(async move { self.issues().edit(id, issue).await })
    }

    fn close_issue<'a>(&'a self, id: &'a str) -> ApiFuture<'a, ()> {
        Box::pin(async move { self.issues().close(id).await })
    }

    fn push<'a>(&'a self, edit: &'a Edit) -> ApiFuture<'a, ()> {
        Box::pin(edits::push_to_gitea(&self.0, edit))
    }

    fn open_pull_request<'a>(&'a self, edit: &'a Edit) -> ApiFuture<'a, String> {
        Box::pin(edits::open(&self.0, edit))
    }

    fn myself(&self) -> ApiFuture<'_, String> {
        Box::pin(async move { Ok(self.0.read::<User>(self.0.at(&["user"])?).await?.login) })
    }
}

impl From<Request> for PullRequest {
    fn from(request: Request) -> Self {
        Self {
            number: request.number,
            is_fork: request.head.repo_id != request.base.repo_id,
            head: Revision::new(request.head.sha),
            head_branch: request.head.branch,
            base_branch: request.base.branch,
            link: request.html_url,
        }
    }
}
