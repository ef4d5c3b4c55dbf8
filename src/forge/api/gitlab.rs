//! GitLab.
//!
//! Source: "Commits API" (commit statuses), "Merge requests API", "Notes API", "Issues API" and "Users API" in
//! GitLab's documentation.

use serde::Deserialize;
use serde_json::json;

use super::caller::parse;
use super::{
    Api, ApiFuture, Caller, Comment, CommitStatus, Edit, Issue, PullRequest, State, edits,
};
use crate::forge::refusal::Refusal;
use crate::forge::wire::Method;
use crate::model::Revision;

/// Speaks with a project of GitLab.
pub struct GitLab(pub Caller);

#[derive(Deserialize)]
struct User {
    username: String,
}

#[derive(Deserialize)]
struct Request {
    iid: u64,
    web_url: String,
    sha: String,
    source_branch: String,
    target_branch: String,
    /// `null` when it is gone.
    source_project_id: Option<u64>,
    target_project_id: u64,
}

#[derive(Deserialize)]
struct Note {
    id: u64,
    body: String,
    author: User,
    /// True for what GitLab notes by itself.
    #[serde(default)]
    system: bool,
    /// Set for those on single lines.
    #[serde(rename = "type")]
    kind: Option<String>,
}

#[derive(Deserialize)]
struct Listed {
    iid: u64,
    #[serde(default)]
    description: Option<String>,
    author: User,
}

#[derive(Deserialize)]
struct Added {
    iid: u64,
}

/// The words for a state. It is a state machine that goes only from `running` to an end, so nothing
/// is ever `pending`: that would have a second start.
const fn word(state: State) -> &'static str {
    match state {
        State::Pending => "running",
        State::Success => "success",
        State::Failure => "failed",
        State::Superseded => "canceled",
    }
}

impl Api for GitLab {
    fn set_status<'a>(&'a self, status: &'a CommitStatus) -> ApiFuture<'a, ()> {
        Box::pin(async move {
            let url = self.0.of(&["statuses", status.revision.as_str()])?;
            let mut body = json!({
                "state": word(status.state),
                "name": status.context,
                "description": status.description,
            });
            if let Some(link) = &status.link {
                body["target_url"] = json!(link);
            }
            // Without it GitLab takes the first branch that holds the commit.
            if let Some(branch) = &status.branch {
                body["ref"] = json!(branch);
            }
            match self.0.write(Method::Post, url, body).await {
                // It is running already: the state machine refuses a transition to itself.
                Err(Refusal::Refused { status: 400, .. }) if status.state == State::Pending => {
                    Ok(())
                }
                answered => answered.map(drop),
            }
        })
    }

    fn pull_requests(&self) -> ApiFuture<'_, Vec<PullRequest>> {
        Box::pin(async move {
            let mut url = self.0.of(&["merge_requests"])?;
            url.query_pairs_mut().extend_pairs([("state", "opened"), ("per_page", "100")]);
            let found = self.0.pages::<Request>(url).await?;
            Ok(found.into_iter().map(PullRequest::from).collect())
        })
    }

    fn comments(&self, number: u64) -> ApiFuture<'_, Vec<Comment>> {
        Box::pin(async move {
            let mut url = self.0.of(&["merge_requests", &number.to_string(), "notes"])?;
            url.query_pairs_mut().append_pair("per_page", "100");
            let found = self.0.pages::<Note>(url).await?.into_iter();
            let is_comment = |note: &Note| !note.system && note.kind.is_none();
            Ok(found.filter(is_comment).map(Comment::from).collect())
        })
    }

    fn add_comment<'a>(&'a self, number: u64, body: &'a str) -> ApiFuture<'a, String> {
        Box::pin(async move {
            let url = self.0.of(&["merge_requests", &number.to_string(), "notes"])?;
            let answer = self.0.write(Method::Post, url, json!({ "body": body })).await?;
            Ok(parse::<Note>(&answer)?.id.to_string())
        })
    }

    fn edit_comment<'a>(&'a self, number: u64, id: &'a str, body: &'a str) -> ApiFuture<'a, ()> {
        Box::pin(async move {
            let url = self.0.of(&["merge_requests", &number.to_string(), "notes", id])?;
            self.0.write(Method::Put, url, json!({ "body": body })).await.map(drop)
        })
    }

    fn own_issues(&self) -> ApiFuture<'_, Vec<Comment>> {
        Box::pin(async move {
            let mut url = self.0.of(&["issues"])?;
            url.query_pairs_mut().extend_pairs([("scope", "created_by_me"), ("per_page", "100")]);
            let found = self.0.pages::<Listed>(url).await?;
            Ok(found.into_iter().map(Comment::from).collect())
        })
    }

    fn add_issue<'a>(&'a self, issue: &'a Issue) -> ApiFuture<'a, String> {
        Box::pin(async move {
            let url = self.0.of(&["issues"])?;
            let body = json!({ "title": issue.title, "description": issue.body });
            let answer = self.0.write(Method::Post, url, body).await?;
            Ok(parse::<Added>(&answer)?.iid.to_string())
        })
    }

    fn edit_issue<'a>(&'a self, id: &'a str, issue: &'a Issue) -> ApiFuture<'a, ()> {
        Box::pin(async move {
            let (title, description) = (&issue.title, &issue.body);
            let body =
                json!({ "title": title, "description": description, "state_event": "reopen" });
            self.0.write(Method::Put, self.0.of(&["issues", id])?, body).await.map(drop)
        })
    }

    fn close_issue<'a>(&'a self, id: &'a str) -> ApiFuture<'a, ()> {
        Box::pin(async move {
            let body = json!({ "state_event": "close" });
            self.0.write(Method::Put, self.0.of(&["issues", id])?, body).await.map(drop)
        })
    }

    fn push<'a>(&'a self, edit: &'a Edit) -> ApiFuture<'a, ()> {
        Box::pin(edits::push_to_gitlab(&self.0, edit))
    }

    fn open_pull_request<'a>(&'a self, edit: &'a Edit) -> ApiFuture<'a, String> {
        Box::pin(edits::open_at_gitlab(&self.0, edit))
    }

    fn myself(&self) -> ApiFuture<'_, String> {
        Box::pin(async move { Ok(self.0.read::<User>(self.0.at(&["user"])?).await?.username) })
    }
}

impl From<Request> for PullRequest {
    fn from(request: Request) -> Self {
        Self {
            number: request.iid,
            head: Revision::new(request.sha),
            head_branch: request.source_branch,
            base_branch: request.target_branch,
            is_fork: request.source_project_id != Some(request.target_project_id),
            link: request.web_url,
        }
    }
}

impl From<Listed> for Comment {
    fn from(issue: Listed) -> Self {
        let body = issue.description.unwrap_or_default();
        Self { id: issue.iid.to_string(), author: issue.author.username, body }
    }
}

impl From<Note> for Comment {
    fn from(note: Note) -> Self {
        Self { id: note.id.to_string(), author: note.author.username, body: note.body }
    }
}
