//! From layers to the secrets of webhooks.

use std::collections::BTreeMap;

use super::WebhookSecrets;
use super::layers::Layers;
use crate::model::webhook::Host;

pub(super) fn webhooks(layers: &mut Layers<'_>) -> BTreeMap<Host, WebhookSecrets> {
    let all = Host::ALL.into_iter();
    all.filter_map(|host| Some((host, secrets(layers, host)?))).collect()
}

fn secrets(layers: &mut Layers<'_>, host: Host) -> Option<WebhookSecrets> {
    let secret = layers.secret(&format!("webhooks.{host}.secret"));
    let name = format!("webhooks.{host}.previousSecret");
    let previous = layers.secret(&name);
    if secret.is_none()
        && let Some(previous) = &previous
    {
        let message = "it stands beside a secret and not alone; set the one that takes over too";
        layers.report(&name, &previous.source, message);
    }
    Some(WebhookSecrets { secret: secret?, previous })
}
