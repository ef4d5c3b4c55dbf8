//! From layers to the addresses that are told of drift and trouble.

use std::collections::BTreeMap;

use super::layers::{Layers, Text};
use super::{Hook, HookFormat, Source};

pub(super) fn hooks(layers: &mut Layers<'_>) -> BTreeMap<String, Hook> {
    let mut found = BTreeMap::new();
    for (name, source) in layers.names("hooks") {
        let is_plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
        if name.is_empty() || !name.chars().all(is_plain) {
            let message = "the name of a hook is made of lower-case letters and digits";
            layers.report(&format!("hooks.{name}"), &source, message);
        } else if let Some(hook) = hook(layers, &name, &source) {
            found.insert(name, hook);
        }
    }
    found
}

fn hook(layers: &mut Layers<'_>, name: &str, source: &Source) -> Option<Hook> {
    let at = |member: &str| format!("hooks.{name}.{member}");
    let url = layers.secret(&at("url"));
    let format = layers.setting(&at("format"), HookFormat::Json, self::format);
    let secret = layers.secret(&at("secret"));
    let ca_file = layers.path(&at("caFile"));
    if url.is_none() {
        layers.report(&at("urlFile"), source, "it is missing: a file that holds the address");
    }
    if secret.is_none() && format.value == HookFormat::Json {
        let message = "it is missing: JSON is signed, so that the receiver knows whose it is";
        layers.report(&at("secretFile"), source, message);
    }
    Some(Hook { url: url?, format, secret, ca_file })
}

fn format(text: &Text) -> Result<HookFormat, String> {
    match text.text.as_str() {
        "json" => Ok(HookFormat::Json),
        "slack" => Ok(HookFormat::Slack),
        other => Err(format!("\"{other}\" is neither json nor slack")),
    }
}
