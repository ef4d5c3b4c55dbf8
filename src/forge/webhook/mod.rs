//! Webhooks: is it proven, is it new, does it concern us.
//!
//! In: a request as it arrived. Out: a [`Receipt`], and at most one ring of the bell.
//!
//! Invariants: a webhook is proven before anything of it is remembered or read; what does not concern
//! the branch that is followed wakes nobody; doubt wakes, because a look too many costs a question to
//! the Git server and one too few a poll interval. What is remembered is bounded.
//!
//! It does no I/O and keeps nothing of a payload.

mod bitbucket;
mod concern;
mod event;
mod gitea;
mod github;
mod gitlab;
mod secrets;
mod seen;
mod signature;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::Clock;
use crate::model::webhook::{Bell, Host, Receipt, Webhook, Webhooks};

pub use concern::Followed;
pub use secrets::{Secrets, Unusable};

use event::Event;
use seen::Seen;

/// How many deliveries are remembered, by 16 bytes each. A repetition that comes after so many others
/// costs one look.
const REMEMBERED: usize = 4096;

/// Takes the webhooks of every host of which a secret is known.
pub struct Receiver {
    secrets: BTreeMap<Host, Secrets>,
    followed: Followed,
    bell: Arc<dyn Bell>,
    clock: Arc<dyn Clock>,
    seen: Mutex<Seen>,
}

/// Holds what a host says that is proven.
struct Message<'a> {
    /// What is the same when the host sends it again.
    delivery: Option<&'a str>,
    /// The JSON document.
    payload: Cow<'a, [u8]>,
}

impl Receiver {
    /// Makes a receiver that rings `bell` for what concerns what is `followed`.
    pub fn new(
        secrets: BTreeMap<Host, Secrets>,
        followed: Followed,
        bell: Arc<dyn Bell>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { secrets, followed, bell, clock, seen: Mutex::new(Seen::new(REMEMBERED)) }
    }

    /// Returns what is proven by one of the secrets, whatever it says.
    fn proven<'a>(&self, webhook: &Webhook<'a>) -> Option<Message<'a>> {
        let secrets = self.secrets.get(&webhook.host)?;
        match webhook.host {
            Host::GitHub => github::prove(webhook, secrets),
            Host::GitLab => gitlab::prove(webhook, secrets, self.clock.now()),
            Host::Gitea => gitea::prove(webhook, secrets),
            Host::Bitbucket => bitbucket::prove(webhook, secrets),
        }
    }

    /// Remembers a delivery; tells whether it is new.
    fn is_new(&self, host: Host, delivery: &str) -> bool {
        // A panic elsewhere leaves the set as it was before or after one id.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).add(host, delivery)
    }

    fn heed(&self, event: &Event) -> Receipt {
        match event {
            Event::Push(push) if self.followed.is_moved_by(push) => {
                self.bell.branch();
                Receipt::Woken
            }
            Event::PullRequest(request) if self.followed.is_repository(&request.repository) => {
                self.bell.pull_request(request.number);
                Receipt::PullRequest
            }
            Event::Push(_) | Event::PullRequest(_) => Receipt::Unrelated,
            Event::Other => Receipt::Ignored,
        }
    }
}

impl Webhooks for Receiver {
    fn expects(&self, host: Host) -> bool {
        self.secrets.contains_key(&host)
    }

    fn receive(&self, webhook: &Webhook<'_>) -> Receipt {
        let host = webhook.host;
        if is_form(webhook) && host != Host::GitHub {
            return Receipt::Unread;
        }
        let Some(message) = self.proven(webhook) else { return Receipt::Refused };
        if message.delivery.is_some_and(|delivery| !self.is_new(host, delivery)) {
            return Receipt::Duplicate;
        }
        self.heed(&event(webhook, &message.payload))
    }
}

fn event(webhook: &Webhook<'_>, payload: &[u8]) -> Event {
    match webhook.host {
        Host::GitHub => github::event(webhook, payload),
        Host::GitLab => gitlab::event(webhook, payload),
        Host::Gitea => gitea::event(webhook, payload),
        Host::Bitbucket => bitbucket::event(webhook, payload),
    }
}

/// Tells whether the body is a form, which the hosts offer beside JSON.
fn is_form(webhook: &Webhook<'_>) -> bool {
    let kind = webhook.header("content-type").unwrap_or_default();
    kind.to_ascii_lowercase().starts_with("application/x-www-form-urlencoded")
}
