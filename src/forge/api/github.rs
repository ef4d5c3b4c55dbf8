//! GitHub and GitHub Enterprise Server.
//!
//! Source: the REST API of GitHub, version 2022-11-28. A check run takes at most 50 annotations with a
//! call, and is for apps alone ("Check runs").

use serde::Deserialize;
use serde_json::{Value, json};

use super::issues::{Issues, User};
use super::{
    Annotation, Api, ApiFuture, Caller, Comment, CommitStatus, Edit, Issue, PullRequest, State,
    edits,
};
use crate::forge::credentials::Credentials;
use crate::forge::refusal::Refusal;
use crate::forge::wire::Method;
use crate::model::Revision;

/// Speaks with a repository of GitHub.
pub struct GitHub(pub Caller);

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

/// The words for a state; the host has none for a commit whose place another one took.
const fn word(state: State) -> &'static str {
    match state {
        State::Pending => "pending",
        State::Success => "success",
        State::Failure => "failure",
        State::Superseded => "error",
    }
}

/// The words for how a check run ended; one about lines is never under way.
const fn conclusion(state: State) -> &'static str {
    match state {
        State::Success => "success",
        State::Failure => "failure",
        State::Pending => "neutral",
        State::Superseded => "cancelled",
    }
}

fn annotation(it: &Annotation) -> Value {
    json!({
        "path": it.path,
        "start_line": it.line,
        "end_line": it.line,
        "annotation_level": "failure",
        "title": it.title,
        "message": it.message,
    })
}

impl GitHub {
    /// Makes a check run, which takes the place of the one before of its name.
    async fn check(&self, status: &CommitStatus, lines: &[Annotation]) -> Result<(), Refusal> {
        let annotations: Vec<Value> = lines.iter().map(annotation).collect();
        let mut body = json!({
            "name": status.context,
            "head_sha": status.revision,
            "status": "completed",
            "conclusion": conclusion(status.state),
            "output": {
                "title": status.description,
                "summary": status.description,
                "annotations": annotations,
            },
        });
        if let Some(link) = &status.link {
            body["details_url"] = json!(link);
        }
        self.0.write(Method::Post, self.0.of(&["check-runs"])?, body).await.map(drop)
    }

    fn issues(&self) -> Issues<'_> {
        Issues { caller: &self.0, page: ("per_page", "100"), author: "creator" }
    }
}

impl Api for GitHub {
    fn set_status<'a>(&'a self, status: &'a CommitStatus) -> ApiFuture<'a, ()> {
        Box::pin(async move {
            // Only an app may make check runs, and not each may.
            if let (Credentials::App(_), Some(lines)) = (self.0.credentials(), &status.annotations)
            {
                match self.check(status, lines).await {
                    Err(Refusal::Denied { status: 403, .. }) => {}
                    checked => return checked,
                }
            }
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
        Box::pin(edits::push_to_github(&self.0, edit))
    }

    fn open_pull_request<'a>(&'a self, edit: &'a Edit) -> ApiFuture<'a, String> {
        Box::pin(edits::open(&self.0, edit))
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
