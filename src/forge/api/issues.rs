//! Issues, and the comments on them, as GitHub has them and Gitea took them over.
//!
//! Source: "Issues" and "Issue comments" in GitHub's REST API; `/repos/{owner}/{repo}/issues` in the
//! API description that Gitea and Forgejo serve. A pull request is an issue to both.

use serde::Deserialize;
use serde_json::{Value, json};

use super::caller::parse;
use super::{Caller, Comment, Issue};
use crate::forge::refusal::Refusal;
use crate::forge::wire::Method;

/// Speaks about the issues of a repository; it knows how a host calls the length of a page.
pub(super) struct Issues<'a> {
    pub(super) caller: &'a Caller,
    pub(super) page: (&'static str, &'static str),
    /// How the host calls who wrote an issue, in a search.
    pub(super) author: &'static str,
}

#[derive(Deserialize)]
pub(super) struct User {
    pub(super) login: String,
}

#[derive(Deserialize)]
struct Note {
    id: u64,
    #[serde(default)]
    body: Option<String>,
    /// `null` when the person is gone.
    user: Option<User>,
}

#[derive(Deserialize)]
struct Listed {
    number: u64,
    #[serde(default)]
    body: Option<String>,
    user: Option<User>,
    pull_request: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Added {
    number: u64,
}

impl Issues<'_> {
    pub(super) async fn comments(&self, number: u64) -> Result<Vec<Comment>, Refusal> {
        let mut url = self.caller.of(&["issues", &number.to_string(), "comments"])?;
        url.query_pairs_mut().extend_pairs([self.page]);
        let found = self.caller.pages::<Note>(url).await?;
        Ok(found.into_iter().map(|it| comment(it.id, it.user, it.body)).collect())
    }

    pub(super) async fn add_comment(&self, number: u64, body: &str) -> Result<String, Refusal> {
        let url = self.caller.of(&["issues", &number.to_string(), "comments"])?;
        let answer = self.caller.write(Method::Post, url, json!({ "body": body })).await?;
        Ok(parse::<Note>(&answer)?.id.to_string())
    }

    pub(super) async fn edit_comment(&self, id: &str, body: &str) -> Result<(), Refusal> {
        let url = self.caller.of(&["issues", "comments", id])?;
        self.caller.write(Method::Patch, url, json!({ "body": body })).await.map(drop)
    }

    /// Lists those of somebody, open or not.
    pub(super) async fn of(&self, author: &str) -> Result<Vec<Comment>, Refusal> {
        let mut url = self.caller.of(&["issues"])?;
        let search = [("state", "all"), (self.author, author), self.page];
        url.query_pairs_mut().extend_pairs(search);
        let found = self.caller.pages::<Listed>(url).await?.into_iter();
        let found = found.filter(|it| it.pull_request.is_none());
        Ok(found.map(|it| comment(it.number, it.user, it.body)).collect())
    }

    pub(super) async fn add(&self, issue: &Issue) -> Result<String, Refusal> {
        let url = self.caller.of(&["issues"])?;
        let body = json!({ "title": issue.title, "body": issue.body });
        let answer = self.caller.write(Method::Post, url, body).await?;
        Ok(parse::<Added>(&answer)?.number.to_string())
    }

    pub(super) async fn edit(&self, id: &str, issue: &Issue) -> Result<(), Refusal> {
        let body = json!({ "title": issue.title, "body": issue.body, "state": "open" });
        self.change(id, body).await
    }

    pub(super) async fn close(&self, id: &str) -> Result<(), Refusal> {
        self.change(id, json!({ "state": "closed" })).await
    }

    async fn change(&self, id: &str, body: Value) -> Result<(), Refusal> {
        let url = self.caller.of(&["issues", id])?;
        self.caller.write(Method::Patch, url, body).await.map(drop)
    }
}

fn comment(id: u64, user: Option<User>, body: Option<String>) -> Comment {
    Comment {
        id: id.to_string(),
        author: user.map(|user| user.login).unwrap_or_default(),
        body: body.unwrap_or_default(),
    }
}
