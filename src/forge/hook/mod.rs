//! Hooks: an HTTP address of the settings that is told what a person should know of an object.
//!
//! In: a [`Alert`](crate::model::alert::Alert) in the outbox, under [`Topic::Hook`], and what the hook was told last. Out: a
//! request with the [`News`], as signed JSON or as the text that Slack takes.
//!
//! Invariants: the address is a secret, since that of Slack lets anybody write: it is read at each
//! delivery, and is neither in a name nor in an error; of an answer only the status and how long to wait
//! are taken over, because whoever answers may repeat the address.

mod body;
mod signature;

use std::sync::Arc;

use secrecy::ExposeSecret as _;
use sha2::{Digest as _, Sha256};
use url::Url;

pub use signature::{Key, Unusable};

use super::api::ApiFuture;
use super::credentials::ReadSecret;
use super::peer::Peer;
use super::refusal::Refusal;
use super::wire::{Answer, Method, Request, Wire};
use crate::model::alert::{Alert, News};
use crate::model::outbox::{Post, Topic};
use crate::model::{Clock, Key as Object};

/// The headers of an answer that say how long to wait.
const WAITS: [&str; 5] = [
    "retry-after",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "ratelimit-remaining",
    "ratelimit-reset",
];

/// Names the form of what a hook is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSON for programs.
    Json,
    /// `{"text": ...}` for people, as Slack and those that follow it take it.
    Slack,
}

/// Says what a hook is.
pub struct Settings {
    /// Its name: letters and digits.
    pub name: String,
    /// The name of the agent.
    pub agent: String,
    /// Reads the address.
    pub url: ReadSecret,
    /// The form.
    pub form: Form,
    /// Reads the secret that it is signed with.
    pub secret: Option<ReadSecret>,
}

/// Tells one hook.
pub struct Hook {
    settings: Settings,
    label: String,
    wire: Arc<dyn Wire>,
    clock: Arc<dyn Clock>,
}

impl Hook {
    /// Makes a hook; nothing is sent yet.
    pub fn new(settings: Settings, wire: Arc<dyn Wire>, clock: Arc<dyn Clock>) -> Self {
        let label = format!("the hook \"{}\"", settings.name);
        Self { settings, label, wire, clock }
    }

    async fn tell(&self, post: &Post) -> Result<Option<String>, Refusal> {
        let Topic::Hook { object, .. } = &post.wanted.topic else { return Ok(None) };
        let told = post.sent.as_deref().and_then(Alert::from_text).unwrap_or_default();
        let Some(now) = Alert::from_text(&post.wanted.content) else { return Ok(None) };
        let Some(news) = News::of(&told, &now) else { return Ok(None) };
        let request = self.request(post, object, &news)?;
        let answer = self.wire.send(request).await;
        let answer = answer.map_err(|no| Refusal::Unavailable(no.to_string()))?;
        Refusal::of(&without_words(answer), self.clock.now()).map_or(Ok(None), Err)
    }

    fn request(&self, post: &Post, object: &Object, news: &News<'_>) -> Result<Request, Refusal> {
        let url = self.settings.url.as_ref()().map_err(|error| unreadable("address", &error))?;
        let url = address(url.expose_secret())
            .ok_or_else(|| Refusal::Denied { status: 0, said: NO_ADDRESS.to_owned() })?;
        let body = match self.settings.form {
            Form::Json => body::json(&self.settings.agent, object, post.wanted.at, news),
            Form::Slack => body::slack(&self.settings.agent, object, news),
        };
        let mut request = Request::write(Method::Post, url, body);
        if let Some(read) = &self.settings.secret {
            let secret = read().map_err(|error| unreadable("secret", &error))?;
            let key = Key::of(&secret)
                .map_err(|error| Refusal::Denied { status: 0, said: error.to_string() })?;
            let id = self.id(post);
            let bytes = request.bytes().unwrap_or_default();
            request.headers.extend(key.headers(&id, self.clock.now(), &bytes));
        }
        Ok(request)
    }

    /// Names what is told, the same for each attempt, so that a receiver knows what it has already.
    fn id(&self, post: &Post) -> String {
        let Post { wanted, sent, .. } = post;
        let (time, topic) = (wanted.at.as_millisecond().to_string(), wanted.topic.to_string());
        let told = sent.as_deref().unwrap_or_default();
        let whole: [&str; 5] = [&self.settings.agent, &topic, &time, told, &wanted.content];
        let digest = Sha256::digest(whole.join("\n"));
        format!("msg_{}", &hex::encode(digest)[..32])
    }
}

impl Peer for Hook {
    fn name(&self) -> &str {
        &self.label
    }

    fn takes(&self, topic: &Topic) -> bool {
        matches!(topic, Topic::Hook { hook, .. } if *hook == self.settings.name)
    }

    fn deliver<'a>(&'a self, post: &'a Post) -> ApiFuture<'a, Option<String>> {
        Box::pin(self.tell(post))
    }
}

/// What is said of an address that is none; without the address.
pub const NO_ADDRESS: &str =
    "the address of the hook is no URL that begins with http:// or https://";

/// Reads the address of a hook.
pub fn address(text: &str) -> Option<Url> {
    let text = text.trim();
    let is_one = !text.contains(|c: char| c.is_control() || c.is_whitespace());
    Url::parse(text).ok().filter(|url| is_one && matches!(url.scheme(), "http" | "https"))
}

fn unreadable(what: &str, error: &std::io::Error) -> Refusal {
    Refusal::Denied { status: 0, said: format!("its {what} cannot be read: {error}") }
}

/// Leaves the status and what says how long to wait.
fn without_words(answer: Answer) -> Answer {
    let headers = answer.headers.into_iter().filter(|(name, _)| WAITS.contains(&name.as_str()));
    Answer { status: answer.status, headers: headers.collect(), body: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_url() {
        assert!(address(" https://hooks.example/T0/x\n").is_some());
        for text in
            ["", "hooks.example/x", "ftp://hooks.example/x", "https://a/x\r\nY: z", "https://a/ b"]
        {
            assert!(address(text).is_none(), "{text:?}");
        }
    }
}
