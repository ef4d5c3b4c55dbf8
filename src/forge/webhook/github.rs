//! GitHub and GitHub Enterprise Server.
//!
//! Source: "Validating webhook deliveries" and "Webhook events and payloads" in GitHub's
//! documentation.

use std::borrow::Cow;

use super::event::{self, Event};
use super::{Message, Secrets, is_form, signature};
use crate::model::webhook::Webhook;

/// Takes what is signed over the raw body; the older header with SHA-1 proves nothing.
pub(super) fn prove<'a>(webhook: &Webhook<'a>, secrets: &Secrets) -> Option<Message<'a>> {
    let signature = webhook.header("x-hub-signature-256")?.strip_prefix("sha256=")?;
    let body = webhook.body;
    let is_signed = secrets.plain().any(|key| signature::is_hex_of(signature, key, &[body]));
    is_signed.then(|| Message {
        delivery: webhook.header("x-github-delivery"),
        payload: if is_form(webhook) { form(body) } else { body.into() },
    })
}

/// Takes the document out of a form, which is what GitHub sends unless it is told otherwise.
fn form(body: &[u8]) -> Cow<'_, [u8]> {
    let mut pairs = url::form_urlencoded::parse(body);
    let payload = pairs.find(|(name, _)| name == "payload");
    payload.map_or(Cow::default(), |(_, value)| value.into_owned().into_bytes().into())
}

pub(super) fn event(webhook: &Webhook<'_>, payload: &[u8]) -> Event {
    match webhook.header("x-github-event") {
        Some("push") => event::push(payload),
        Some("pull_request") => event::pull_request(payload),
        _ => Event::Other,
    }
}
