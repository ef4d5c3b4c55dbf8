//! What Git hosts send unasked: the ports to whoever takes it, and to whoever it wakes.
//!
//! A webhook is a hint and nothing else: it is proven to come from the host, it may wake somebody, and
//! what it says is read again from the repository. One that is lost costs a poll interval.

use std::fmt;

/// Names a Git host by its kind; for each there is one form of webhook and one API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// GitHub, and GitHub Enterprise Server.
    GitHub,
    /// GitLab.
    GitLab,
    /// Gitea, and Forgejo.
    Gitea,
    /// Bitbucket Cloud.
    Bitbucket,
}

impl Host {
    /// Every host.
    pub const ALL: [Self; 4] = [Self::GitHub, Self::GitLab, Self::Gitea, Self::Bitbucket];

    /// Returns the word for it, as paths, settings and metrics have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
            Self::Gitea => "gitea",
            Self::Bitbucket => "bitbucket",
        }
    }

    /// Returns the host of a word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|host| host.as_str() == word)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Holds a request of a host as it arrived: nothing of it is believed yet.
#[derive(Debug, Clone)]
pub struct Webhook<'a> {
    /// The host that it claims to come from.
    pub host: Host,
    /// The headers that are text, in the order in which they arrived.
    pub headers: Vec<(&'a str, &'a str)>,
    /// The body as it arrived, since signatures are over its bytes.
    pub body: &'a [u8],
}

impl<'a> Webhook<'a> {
    /// Returns the first header of a name, whatever its case; one without a value counts as absent.
    pub fn header(&self, name: &str) -> Option<&'a str> {
        let mut named = self.headers.iter().filter(|(it, _)| it.eq_ignore_ascii_case(name));
        named.next().map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }
}

/// Says what became of a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Receipt {
    /// The branch that is followed may have moved, and is looked at.
    Woken,
    /// A pull request may have moved, and is looked at.
    PullRequest,
    /// It is about another branch or another repository.
    Unrelated,
    /// It is of a kind that nobody needs, such as the host's test.
    Ignored,
    /// It came before; the host, or a person, sent it again.
    Duplicate,
    /// It has no signature, or not that of a secret that is known.
    Refused,
    /// It was not read: it is too large, in a form that is not taken, or there is no room for it.
    Unread,
}

impl Receipt {
    /// Every one, so that each is counted from the first scrape.
    pub const ALL: [Self; 7] = [
        Self::Woken,
        Self::PullRequest,
        Self::Unrelated,
        Self::Ignored,
        Self::Duplicate,
        Self::Refused,
        Self::Unread,
    ];

    /// Returns the word for it, as metrics and answers have it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Woken => "woken",
            Self::PullRequest => "pull_request",
            Self::Unrelated => "unrelated",
            Self::Ignored => "ignored",
            Self::Duplicate => "duplicate",
            Self::Refused => "refused",
            Self::Unread => "unread",
        }
    }
}

/// Takes webhooks.
pub trait Webhooks: Send + Sync {
    /// Tells whether any are expected of a host: whether a secret of it is known.
    fn expects(&self, host: Host) -> bool;

    /// Proves a webhook, and wakes whom it concerns; returns at once.
    fn receive(&self, webhook: &Webhook<'_>) -> Receipt;
}

/// Is rung by what is proven to come from a host.
///
/// Ringing returns at once, and any number of rings while one is heeded count as one.
pub trait Bell: Send + Sync {
    /// The branch that is followed may have moved.
    fn branch(&self);

    /// A pull request of this number may have been opened, moved or closed.
    fn pull_request(&self, number: u64);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_the_word_by_which_it_is_found() {
        for host in Host::ALL {
            assert_eq!(Host::of(host.as_str()), Some(host));
        }
        assert_eq!(Host::of("GitHub"), None);
    }

    #[test]
    fn the_case_of_a_headers_name_does_not_matter_and_an_empty_header_is_absent() {
        let headers = vec![("X-Event", " push "), ("x-empty", " "), ("x-event", "other")];
        let webhook = Webhook { host: Host::Gitea, headers, body: b"" };
        assert_eq!(webhook.header("x-event"), Some("push"));
        assert_eq!(webhook.header("X-Empty"), None);
        assert_eq!(webhook.header("x-none"), None);
    }
}
