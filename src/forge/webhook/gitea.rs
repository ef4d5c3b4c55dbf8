//! Gitea and Forgejo, which grew from one program and sign alike.
//!
//! Source: "Webhooks" in the documentation of Gitea and of Forgejo. Without a secret both send the
//! header with nothing in it, which proves nothing.

use super::event::{self, Event};
use super::{Message, Secrets, signature};
use crate::model::webhook::Webhook;

pub(super) fn prove<'a>(webhook: &Webhook<'a>, secrets: &Secrets) -> Option<Message<'a>> {
    let signature = either(webhook, "signature")?;
    let body = webhook.body;
    let is_signed = secrets.plain().any(|key| signature::is_hex_of(signature, key, &[body]));
    is_signed.then(|| Message { delivery: either(webhook, "delivery"), payload: body.into() })
}

pub(super) fn event(webhook: &Webhook<'_>, payload: &[u8]) -> Event {
    match either(webhook, "event") {
        Some("push") => event::push(payload),
        Some("pull_request") => event::pull_request(payload),
        _ => Event::Other,
    }
}

/// Returns a header by the name that Forgejo gives it, or else by Gitea's.
fn either<'a>(webhook: &Webhook<'a>, what: &str) -> Option<&'a str> {
    let header = |program: &str| webhook.header(&format!("x-{program}-{what}"));
    header("forgejo").or_else(|| header("gitea"))
}
