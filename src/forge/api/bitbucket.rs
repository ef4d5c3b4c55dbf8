//! Bitbucket Cloud.
//!
//! Source: "Commit statuses", "Pullrequests" and "Users" in the REST API of Bitbucket Cloud.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::caller::parse;
use super::{Api, ApiFuture, Caller, Comment, CommitStatus, Edit, PullRequest, State, edits};
use crate::forge::refusal::Refusal;
use crate::forge::wire::Method;
use crate::model::Revision;

/// Speaks with a repository of Bitbucket Cloud.
pub struct Bitbucket(pub Caller);

/// A key is at most so long; a longer one is refused with 400.
const LONGEST_KEY: usize = 40;

/// A list is cut off after so many pages.
const MOST_PAGES: usize = 50;

#[derive(Deserialize)]
struct Page<T> {
    #[serde(default = "Vec::new")]
    values: Vec<T>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct User {
    uuid: String,
}

#[derive(Deserialize)]
struct Request {
    id: u64,
    source: Side,
    destination: Side,
    links: Links,
}

#[derive(Deserialize)]
struct Side {
    branch: Branch,
    /// `null` when it is gone.
    commit: Option<Commit>,
    /// `null` when it is gone.
    repository: Option<Repository>,
}

#[derive(Deserialize)]
struct Branch {
    name: String,
}

#[derive(Deserialize)]
struct Commit {
    hash: String,
}

#[derive(Deserialize)]
struct Repository {
    full_name: String,
}

#[derive(Deserialize)]
pub(super) struct Links {
    html: Link,
}

#[derive(Deserialize)]
struct Link {
    href: String,
}

#[derive(Deserialize)]
struct Note {
    id: u64,
    content: Content,
    user: Option<User>,
    #[serde(default)]
    deleted: bool,
    /// Set for those on single lines.
    inline: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    raw: String,
}

impl Links {
    /// Returns where people look at it.
    pub(super) fn page(self) -> String {
        self.html.href
    }
}

const fn word(state: State) -> &'static str {
    match state {
        State::Pending => "INPROGRESS",
        State::Success => "SUCCESSFUL",
        State::Failure => "FAILED",
        State::Superseded => "STOPPED",
    }
}

/// Returns the key under which a status is replaced: the same for the same context.
fn key(context: &str) -> String {
    let mut key = hex::encode(Sha256::digest(context));
    key.truncate(LONGEST_KEY);
    key
}

impl Bitbucket {
    async fn list<T: DeserializeOwned>(&self, first: Url) -> Result<Vec<T>, Refusal> {
        let (mut found, mut next) = (Vec::new(), Some(first));
        for _ in 0..MOST_PAGES {
            let Some(url) = next.take() else { return Ok(found) };
            let page: Page<T> = self.0.read(url).await?;
            found.extend(page.values);
            next = page.next.map(|url| self.0.own(&url)).transpose()?;
        }
        Err(Refusal::endless())
    }

    /// Where people look at a commit: a status has to lead somewhere.
    fn commit(&self, revision: &Revision) -> String {
        format!("https://bitbucket.org/{}/commits/{revision}", self.0.repository())
    }
}

impl Api for Bitbucket {
    fn set_status<'a>(&'a self, status: &'a CommitStatus) -> ApiFuture<'a, ()> {
        Box::pin(async move {
            let url = self.0.of(&["commit", status.revision.as_str(), "statuses", "build"])?;
            let mut body = json!({
                "key": key(&status.context),
                "name": status.context,
                "state": word(status.state),
                "description": status.description,
                "url": status.link.clone().unwrap_or_else(|| self.commit(&status.revision)),
            });
            if let Some(branch) = &status.branch {
                body["refname"] = json!(branch);
            }
            self.0.write(Method::Post, url, body).await.map(drop)
        })
    }

    fn pull_requests(&self) -> ApiFuture<'_, Vec<PullRequest>> {
        Box::pin(async move {
            let mut url = self.0.of(&["pullrequests"])?;
            url.query_pairs_mut().extend_pairs([("state", "OPEN"), ("pagelen", "50")]);
            let found = self.list::<Request>(url).await?;
            Ok(found.into_iter().filter_map(pull_request).collect())
        })
    }

    fn comments(&self, number: u64) -> ApiFuture<'_, Vec<Comment>> {
        Box::pin(async move {
            let mut url = self.0.of(&["pullrequests", &number.to_string(), "comments"])?;
            url.query_pairs_mut().append_pair("pagelen", "100");
            let found = self.list::<Note>(url).await?.into_iter();
            let is_comment = |note: &Note| !note.deleted && note.inline.is_none();
            Ok(found.filter(is_comment).map(Comment::from).collect())
        })
    }

    fn add_comment<'a>(&'a self, number: u64, body: &'a str) -> ApiFuture<'a, String> {
        Box::pin(async move {
            let url = self.0.of(&["pullrequests", &number.to_string(), "comments"])?;
            let body = json!({ "content": { "raw": body } });
            let answer = self.0.write(Method::Post, url, body).await?;
            Ok(parse::<Note>(&answer)?.id.to_string())
        })
    }

    fn edit_comment<'a>(&'a self, number: u64, id: &'a str, body: &'a str) -> ApiFuture<'a, ()> {
        Box::pin(async move {
            let url = self.0.of(&["pullrequests", &number.to_string(), "comments", id])?;
            let body = json!({ "content": { "raw": body } });
            self.0.write(Method::Put, url, body).await.map(drop)
        })
    }

    fn push<'a>(&'a self, edit: &'a Edit) -> ApiFuture<'a, ()> {
        Box::pin(edits::push_to_bitbucket(&self.0, edit))
    }

    fn open_pull_request<'a>(&'a self, edit: &'a Edit) -> ApiFuture<'a, String> {
        Box::pin(edits::open_at_bitbucket(&self.0, edit))
    }

    fn myself(&self) -> ApiFuture<'_, String> {
        Box::pin(async move { Ok(self.0.read::<User>(self.0.at(&["user"])?).await?.uuid) })
    }
}

/// One whose commit is gone has nothing to be looked at.
fn pull_request(request: Request) -> Option<PullRequest> {
    let name = |side: &Side| side.repository.as_ref().map(|it| it.full_name.clone());
    let source = name(&request.source);
    Some(PullRequest {
        number: request.id,
        is_fork: source.is_none() || source != name(&request.destination),
        head: Revision::new(request.source.commit?.hash),
        head_branch: request.source.branch.name,
        base_branch: request.destination.branch.name,
        link: request.links.page(),
    })
}

impl From<Note> for Comment {
    fn from(note: Note) -> Self {
        Self {
            id: note.id.to_string(),
            author: note.user.map(|user| user.uuid).unwrap_or_default(),
            body: note.content.raw,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_has_forty_characters_and_is_the_same_for_the_same_context() {
        let long = format!("levelset/{}/validate", "x".repeat(63));
        assert_eq!(key(&long).len(), 40);
        assert_eq!(key(&long), key(&long));
        assert_ne!(key("levelset/a/sync"), key("levelset/b/sync"));
    }
}
