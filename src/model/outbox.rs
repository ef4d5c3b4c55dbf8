//! What is to stand at the Git host and what hooks are to know, and what does: the port to where both
//! are kept.
//!
//! It holds levels, not events: for each topic the one content that is wanted now, and the one that
//! the host took last. Where they are the same nothing is sent, after a restart as well.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Key, Revision, Token};

/// Names something at the host that has one content at a time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// The status of a commit.
    Status {
        /// The commit.
        revision: Revision,
        /// The name of the status: `levelset/NAME/sync`.
        context: String,
    },
    /// Our one comment on a pull request.
    Comment {
        /// The number of the pull request.
        pull_request: u64,
    },
    /// Our one issue about an object.
    Issue {
        /// The object.
        object: Key,
    },
    /// What a hook of the settings was told of an object.
    Hook {
        /// The name of the hook, which holds no space.
        hook: String,
        /// The object.
        object: Key,
    },
}

impl Topic {
    /// Tells whether it is about an object, whose content may stay for as long as the object does.
    ///
    /// It is over when its content is empty. What is about a commit or a pull request passes by itself.
    pub const fn is_lasting(&self) -> bool {
        matches!(self, Self::Issue { .. } | Self::Hook { .. })
    }
}

/// Writes `status REVISION CONTEXT`, `comment NUMBER`, `issue OBJECT` or `hook NAME OBJECT`.
impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status { revision, context } => write!(f, "status {revision} {context}"),
            Self::Comment { pull_request } => write!(f, "comment {pull_request}"),
            Self::Issue { object } => write!(f, "issue {object}"),
            Self::Hook { hook, object } => write!(f, "hook {hook} {object}"),
        }
    }
}

/// Says that a text names no topic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" names nothing at a host")]
pub struct NoTopic(String);

impl FromStr for Topic {
    type Err = NoTopic;

    fn from_str(text: &str) -> Result<Self, NoTopic> {
        let mut words = text.splitn(3, ' ');
        let topic = match (words.next(), words.next(), words.next()) {
            (Some("status"), Some(revision), Some(context)) => Some(Self::Status {
                revision: Revision::new(revision),
                context: context.to_owned(),
            }),
            (Some("comment"), Some(number), None) => {
                number.parse().ok().map(|pull_request| Self::Comment { pull_request })
            }
            (Some("issue"), Some(object), None) => {
                object.parse().ok().map(|object| Self::Issue { object })
            }
            (Some("hook"), Some(hook), Some(object)) => {
                object.parse().ok().map(|object| Self::Hook { hook: hook.to_owned(), object })
            }
            _ => None,
        };
        topic.ok_or_else(|| NoTopic(text.to_owned()))
    }
}

/// Says what is to stand at the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Where.
    pub topic: Topic,
    /// What; the same text is the same content.
    pub content: String,
    /// Since when it is wanted, kept to the millisecond.
    pub at: Timestamp,
}

/// Holds a topic: what is wanted, what stands, and how it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// What is wanted, and since when.
    pub wanted: Wanted,
    /// What the host took last.
    pub sent: Option<String>,
    /// What the host calls it, for example the id of a comment.
    pub handle: Option<String>,
    /// How often in a row it was not taken.
    pub failures: u32,
    /// Not before this time is it tried again, kept to the millisecond.
    pub not_before: Option<Timestamp>,
    /// Why the host never takes it; what is wanted next is tried again.
    pub refused: Option<String>,
}

impl Post {
    /// Makes a post of which the host knows nothing.
    pub fn new(wanted: Wanted) -> Self {
        let (sent, handle, not_before, refused) = (None, None, None, None);
        Self { wanted, sent, handle, failures: 0, not_before, refused }
    }

    /// Tells whether nothing is to be sent.
    pub fn is_settled(&self) -> bool {
        self.refused.is_some() || self.sent.as_ref() == Some(&self.wanted.content)
    }

    /// Tells whether nobody needs to know of it any more.
    pub fn is_over(&self, before: Timestamp) -> bool {
        let passes = !self.wanted.topic.is_lasting() || self.wanted.content.is_empty();
        passes && self.is_settled() && self.wanted.at < before
    }

    /// Wants something else; the same again changes nothing.
    pub fn want(&mut self, wanted: Wanted) {
        if wanted.content == self.wanted.content {
            return;
        }
        let (sent, handle) = (self.sent.take(), self.handle.take());
        *self = Self { sent, handle, ..Self::new(wanted) };
    }

    /// Takes over how it went with what was wanted when `tried` was read.
    ///
    /// What was wanted meanwhile is tried whatever became of the content before it.
    pub fn settle(&mut self, tried: &Self) {
        self.sent.clone_from(&tried.sent);
        self.handle.clone_from(&tried.handle);
        if self.wanted.content == tried.wanted.content {
            self.failures = tried.failures;
            self.not_before = tried.not_before;
            self.refused.clone_from(&tried.refused);
        }
    }
}

/// Says why the outbox did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct OutboxError(Box<dyn std::error::Error + Send + Sync>);

impl OutboxError {
    /// Wraps the error of whatever keeps the posts.
    pub fn new(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self(error.into())
    }
}

/// The future of an answer of the outbox.
pub type OutboxFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, OutboxError>> + Send + 'a>>;

/// Keeps posts across restarts; every write is fenced as those of the agent's store are.
pub trait Outbox: Send + Sync {
    /// Returns every post, ordered by topic.
    fn posts(&self) -> OutboxFuture<'_, Vec<Post>>;

    /// Wants contents, all or none, as [`Post::want`] does.
    fn want<'a>(&'a self, wanted: &'a [Wanted], token: Token) -> OutboxFuture<'a, ()>;

    /// Writes how it went with a post, as [`Post::settle`] does; one that is gone stays gone.
    fn record<'a>(&'a self, tried: &'a Post, token: Token) -> OutboxFuture<'a, ()>;

    /// Forgets posts that are over, as [`Post::is_over`] tells.
    fn forget(&self, before: Timestamp, token: Token) -> OutboxFuture<'_, ()>;
}

/// Stands for a [`Topic`] in JSON.
impl Serialize for Topic {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Topic {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(content: &str) -> Wanted {
        let topic = Topic::Comment { pull_request: 7 };
        Wanted { topic, content: content.to_owned(), at: Timestamp::UNIX_EPOCH }
    }

    #[test]
    fn a_topic_is_read_as_it_is_written() {
        let context = "levelset/a b/sync".to_owned();
        let status = Topic::Status { revision: Revision::new("0123"), context };
        let issue = Topic::Issue { object: Key::workspace("a") };
        let hook = Topic::Hook { hook: "ops".to_owned(), object: Key::workspace("a-b") };
        for topic in [status, Topic::Comment { pull_request: 7 }, issue, hook] {
            assert_eq!(topic.to_string().parse(), Ok(topic));
        }
        let no_topics =
            ["", "status", "status 0123", "comment x", "comment 7 8", "issue 1", "hook ops"];
        for text in no_topics.into_iter().chain(["hook ops x"]) {
            assert!(text.parse::<Topic>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_wanted_again_changes_nothing_and_what_is_new_is_tried_afresh() {
        let mut post =
            Post { failures: 3, refused: Some("no".to_owned()), ..Post::new(wanted("a")) };
        post.handle = Some("9".to_owned());
        let before = post.clone();
        post.want(wanted("a"));
        assert_eq!(post, before);
        assert!(post.is_settled());
        post.want(wanted("b"));
        assert_eq!((post.failures, &post.refused), (0, &None));
        assert_eq!(post.handle.as_deref(), Some("9"));
        assert!(!post.is_settled());
    }

    #[test]
    fn an_outcome_of_what_is_no_longer_wanted_holds_nothing_up() {
        let mut post = Post::new(wanted("a"));
        let tried = Post { refused: Some("no".to_owned()), failures: 1, ..post.clone() };
        post.want(wanted("b"));
        post.settle(&tried);
        assert_eq!((post.failures, &post.refused), (0, &None));
        let sent = Post { sent: Some("a".to_owned()), handle: Some("9".to_owned()), ..tried };
        post.settle(&sent);
        assert!(!post.is_settled() && post.handle.is_some());
        post.settle(&Post { sent: Some("b".to_owned()), ..post.clone() });
        assert!(post.is_settled());
    }
}
