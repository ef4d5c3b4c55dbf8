//! From layers to the host that is told how commits stand.

use super::layers::{Layers, Text};
use super::{Forge, ForgeLogin, check};
use crate::model::webhook::Host;

pub(super) fn forge(layers: &mut Layers<'_>) -> Option<Forge> {
    let host = layers.optional("forge.host", host);
    let api_url = layers.optional("forge.apiUrl", check::endpoint);
    let repository = layers.optional("forge.repository", repository);
    let link_url = layers.optional("forge.linkUrl", check::endpoint);
    let ca_file = layers.path("forge.caFile");
    let pull_requests = layers.setting("forge.pullRequests", true, check::boolean);
    let plan_forks = layers.setting("forge.planForks", false, check::boolean);
    let issues = layers.setting("forge.issues", false, check::boolean);
    let login = login(layers)?;
    if let (ForgeLogin::App { id, .. }, Some(host)) = (&login, &host)
        && host.value != Host::GitHub
    {
        layers.report("forge.appId", &id.source, "only GitHub has apps of this kind");
    }
    Some(Forge {
        host,
        api_url,
        repository,
        link_url,
        ca_file,
        pull_requests,
        plan_forks,
        issues,
        login,
    })
}

/// Without a way to log in, nothing is told.
fn login(layers: &mut Layers<'_>) -> Option<ForgeLogin> {
    let token = layers.secret("forge.token");
    let username = layers.optional("forge.username", check::text);
    let id = layers.optional("forge.appId", check::text);
    let key = layers.secret("forge.appKey");
    match (token, id, key) {
        (Some(token), None, None) => Some(ForgeLogin::Token { username, token }),
        (None, Some(id), Some(key)) => Some(ForgeLogin::App { id, key }),
        (None, None, None) => {
            let name = layers.names("forge").into_iter().next();
            if let Some((_, source)) = name {
                let message = "it names no credentials; set tokenFile, or appId and appKeyFile";
                layers.report("forge", &source, message);
            }
            None
        }
        (None, id, key) => {
            let source = id.map(|id| id.source).or_else(|| key.map(|key| key.source));
            let message = "an app takes both, appId and appKeyFile";
            layers.report("forge", &source.unwrap_or(super::Source::Default), message);
            None
        }
        (Some(token), ..) => {
            let message = "a token and an app exclude each other; keep one of them";
            layers.report("forge", &token.source, message);
            None
        }
    }
}

fn host(text: &Text) -> Result<Host, String> {
    let word = check::text(text)?;
    let known = Host::ALL.map(Host::as_str).join(", ");
    Host::of(&word).ok_or_else(|| format!("\"{word}\" is no host; possible are {known}"))
}

/// Takes the path of a repository at its host: names with slashes between.
fn repository(text: &Text) -> Result<String, String> {
    let path = check::text(text)?;
    let is_name = |name: &str| !matches!(name, "" | "." | "..");
    match path.contains('/') && path.split('/').all(is_name) {
        true => Ok(path),
        false => Err(format!("\"{path}\" is no path of a repository, such as acme/environments")),
    }
}
