//! GitLab, with a signing token or with the plain one that it had before.
//!
//! Source: "Webhooks" and "Webhook events" in GitLab's documentation; the signing token is the scheme
//! of Standard Webhooks (<https://www.standardwebhooks.com>).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde::Deserialize;

use super::event::{self, Event, Move, PullRequest, Push, Repository};
use super::{Message, Secrets, signature};
use crate::model::webhook::Webhook;

/// How far the time of a signature may lie from ours, in seconds and in both directions.
const TOLERANCE: i64 = 300;

pub(super) fn prove<'a>(
    webhook: &Webhook<'a>,
    secrets: &Secrets,
    now: Timestamp,
) -> Option<Message<'a>> {
    let is_proven = is_signed(webhook, secrets, now) || has_token(webhook, secrets);
    let named = |name| webhook.header(name);
    is_proven.then(|| Message {
        delivery: named("webhook-id")
            .or_else(|| named("idempotency-key"))
            .or_else(|| named("x-gitlab-event-uuid")),
        payload: webhook.body.into(),
    })
}

fn has_token(webhook: &Webhook<'_>, secrets: &Secrets) -> bool {
    let Some(token) = webhook.header("x-gitlab-token") else { return false };
    secrets.plain().any(|secret| signature::is_same(token, secret))
}

/// Takes a signature over id, time and body, of which there may be several, with a space between.
fn is_signed(webhook: &Webhook<'_>, secrets: &Secrets, now: Timestamp) -> bool {
    let header = |name| webhook.header(name);
    let (Some(id), Some(time), Some(signatures)) =
        (header("webhook-id"), header("webhook-timestamp"), header("webhook-signature"))
    else {
        return false;
    };
    let parts = [id.as_bytes(), b".", time.as_bytes(), b".", webhook.body];
    let sent =
        signatures.split(' ').filter_map(|one| STANDARD.decode(one.strip_prefix("v1,")?).ok());
    is_recent(time, now)
        && sent
            .into_iter()
            .any(|sent| secrets.signing().any(|key| signature::is_of(&sent, key, &parts)))
}

fn is_recent(time: &str, now: Timestamp) -> bool {
    let seconds = time.parse::<i64>().ok();
    let away = seconds.map(|seconds| seconds.abs_diff(now.as_second()));
    away.is_some_and(|away| away <= TOLERANCE.unsigned_abs())
}

#[derive(Debug, Deserialize)]
struct PushPayload {
    #[serde(rename = "ref")]
    reference: String,
    #[serde(default)]
    after: String,
    #[serde(default)]
    project: Project,
}

#[derive(Debug, Default, Deserialize)]
struct Project {
    path_with_namespace: Option<String>,
    default_branch: Option<String>,
}

#[derive(Debug, Deserialize)]
struct MergeRequestPayload {
    object_attributes: Attributes,
    #[serde(default)]
    project: Project,
}

#[derive(Debug, Deserialize)]
struct Attributes {
    iid: u64,
}

impl From<Project> for Repository {
    fn from(project: Project) -> Self {
        Self { path: project.path_with_namespace, default_branch: project.default_branch }
    }
}

pub(super) fn event(webhook: &Webhook<'_>, payload: &[u8]) -> Event {
    match webhook.header("x-gitlab-event") {
        Some("Push Hook") => push(payload),
        Some("Merge Request Hook") => merge_request(payload),
        _ => Event::Other,
    }
}

fn push(payload: &[u8]) -> Event {
    let Some(push) = event::read::<PushPayload>(payload) else {
        return Event::Push(Push::unknown());
    };
    Event::Push(Push {
        moves: vec![Move::of(&push.reference, &push.after)],
        repository: push.project.into(),
    })
}

fn merge_request(payload: &[u8]) -> Event {
    let Some(request) = event::read::<MergeRequestPayload>(payload) else { return Event::Other };
    Event::PullRequest(PullRequest {
        number: request.object_attributes.iid,
        repository: request.project.into(),
    })
}
