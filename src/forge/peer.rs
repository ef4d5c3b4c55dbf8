//! Whom something is carried to: the port [`Peer`], and the Git host behind it.
//!
//! In: a post of the outbox. Out: what the peer calls it now, or a [`Refusal`]. When it is tried, and how
//! often, is the [`courier`](super::courier)'s business.

use std::sync::Arc;

use super::api::{Api, ApiFuture, CommitStatus};
use super::commit::Content;
use super::refusal::Refusal;
use super::{comment, issue};
use crate::model::Revision;
use crate::model::outbox::{Post, Topic};

/// Takes what is wanted of some topics.
pub trait Peer: Send + Sync {
    /// Returns its name for the log; holds no address.
    fn name(&self) -> &str;

    /// Tells whether a topic is its business.
    fn takes(&self, topic: &Topic) -> bool;

    /// Makes it have what is wanted; returns what it calls it, if it calls it anything.
    fn deliver<'a>(&'a self, post: &'a Post) -> ApiFuture<'a, Option<String>>;
}

/// Says with what everything at the host is marked.
#[derive(Debug, Clone)]
pub struct Marks {
    /// The name of the agent.
    pub agent: String,
    /// Where a status leads that names nothing else, if anywhere.
    pub link: Option<String>,
}

/// Takes what is to stand beside commits, on pull requests and in issues.
pub struct GitHost {
    api: Arc<dyn Api>,
    marks: Marks,
}

impl GitHost {
    /// Makes a peer of a host.
    pub fn new(api: Arc<dyn Api>, marks: Marks) -> Self {
        Self { api, marks }
    }

    async fn set_status(
        &self,
        revision: &Revision,
        context: &str,
        content: &str,
    ) -> Result<(), Refusal> {
        let unreadable = || Refusal::Refused { status: 0, said: "not a status".to_owned() };
        let Content { state, description, branch, link, annotations } =
            Content::from_text(content).ok_or_else(unreadable)?;
        let status = CommitStatus {
            revision: revision.clone(),
            context: context.to_owned(),
            state,
            description,
            link: link.or_else(|| self.marks.link.clone()),
            branch,
            annotations,
        };
        self.api.set_status(&status).await
    }

    async fn stand(&self, post: &Post) -> Result<Option<String>, Refusal> {
        let content = &post.wanted.content;
        match &post.wanted.topic {
            Topic::Status { revision, context } => {
                self.set_status(revision, context, content).await.map(|()| None)
            }
            Topic::Comment { pull_request } => {
                let markers = comment::markers(&self.marks.agent);
                let known = post.handle.as_deref();
                comment::stand(&*self.api, *pull_request, &markers, known, content).await.map(Some)
            }
            Topic::Issue { object } => {
                let marker = issue::marker(&self.marks.agent, object);
                issue::stand(&*self.api, &marker, post.handle.as_deref(), content).await
            }
            Topic::Hook { .. } => Ok(None),
        }
    }
}

impl Peer for GitHost {
    fn name(&self) -> &str {
        "the Git host"
    }

    fn takes(&self, topic: &Topic) -> bool {
        !matches!(topic, Topic::Hook { .. })
    }

    fn deliver<'a>(&'a self, post: &'a Post) -> ApiFuture<'a, Option<String>> {
        Box::pin(self.stand(post))
    }
}
