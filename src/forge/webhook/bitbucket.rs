//! Bitbucket Cloud; Bitbucket Data Center speaks another language and is not taken.
//!
//! Source: "Manage webhooks" and "Event payloads" in Atlassian's documentation of Bitbucket Cloud.

use serde::Deserialize;

use super::event::{self, Event, Move, PullRequest, Push, Repository};
use super::{Message, Secrets, signature};
use crate::model::webhook::Webhook;

pub(super) fn prove<'a>(webhook: &Webhook<'a>, secrets: &Secrets) -> Option<Message<'a>> {
    let signature = webhook.header("x-hub-signature")?.strip_prefix("sha256=")?;
    let body = webhook.body;
    let is_signed = secrets.plain().any(|key| signature::is_hex_of(signature, key, &[body]));
    let delivery = webhook.header("x-request-uuid");
    is_signed.then(|| Message { delivery, payload: body.into() })
}

#[derive(Debug, Deserialize)]
struct PushPayload {
    push: Changes,
    #[serde(default)]
    repository: RepositoryPayload,
}

#[derive(Debug, Deserialize)]
struct Changes {
    #[serde(default)]
    changes: Vec<Change>,
}

#[derive(Debug, Deserialize)]
struct Change {
    /// `null` when it was deleted.
    new: Option<Target>,
}

#[derive(Debug, Deserialize)]
struct Target {
    #[serde(rename = "type")]
    kind: String,
    name: String,
}

#[derive(Debug, Default, Deserialize)]
struct RepositoryPayload {
    full_name: Option<String>,
}

#[derive(Debug, Deserialize)]
struct PullRequestPayload {
    #[serde(rename = "pullrequest")]
    pull_request: Numbered,
    #[serde(default)]
    repository: RepositoryPayload,
}

#[derive(Debug, Deserialize)]
struct Numbered {
    id: u64,
}

impl From<RepositoryPayload> for Repository {
    fn from(payload: RepositoryPayload) -> Self {
        Self { path: payload.full_name, default_branch: None }
    }
}

pub(super) fn event(webhook: &Webhook<'_>, payload: &[u8]) -> Event {
    match webhook.header("x-event-key") {
        Some("repo:push") => push(payload),
        Some(key) if key.starts_with("pullrequest:") => pull_request(payload),
        _ => Event::Other,
    }
}

fn push(payload: &[u8]) -> Event {
    let Some(push) = event::read::<PushPayload>(payload) else {
        return Event::Push(Push::unknown());
    };
    let moves = push.push.changes.into_iter().map(|change| match change.new {
        Some(target) if target.kind == "branch" => Move::Branch(target.name),
        _ => Move::Nothing,
    });
    Event::Push(Push { moves: moves.collect(), repository: push.repository.into() })
}

fn pull_request(payload: &[u8]) -> Event {
    let Some(request) = event::read::<PullRequestPayload>(payload) else { return Event::Other };
    Event::PullRequest(PullRequest {
        number: request.pull_request.id,
        repository: request.repository.into(),
    })
}
