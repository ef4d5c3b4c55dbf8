//! From layers to the accounts that manifests may name.

use std::collections::BTreeMap;

use super::layers::Layers;
use super::{Environment, Setting, Source, check};

pub(super) fn environments(layers: &mut Layers<'_>) -> BTreeMap<String, Environment> {
    let mut found = BTreeMap::new();
    for (name, source) in layers.names("environments") {
        if name.is_empty() || name.contains('.') {
            let message = "the name of an environment is not empty and holds no dot";
            layers.report(&format!("environments.{name}"), &source, message);
        } else if let Some(environment) = environment(layers, &name, &source) {
            found.insert(name, environment);
        }
    }
    same_scope(layers, &found);
    found
}

fn environment(layers: &mut Layers<'_>, name: &str, source: &Source) -> Option<Environment> {
    let at = |member: &str| format!("environments.{name}.{member}");
    let account = required(layers, &at("account"), source, check::account);
    let region = required(layers, &at("region"), source, check::region);
    let role_arn = layers.optional(&at("roleArn"), check::role_arn);
    let roles = roles(layers, &at("roles"));
    let external_id = layers.optional(&at("externalId"), check::text);
    let endpoint_url = layers.optional(&at("endpointUrl"), check::endpoint);
    let production = layers.setting(&at("production"), name == "production", check::boolean);
    let environment = Environment {
        account: account?,
        region: region?,
        role_arn,
        roles,
        external_id,
        endpoint_url,
        production,
    };
    check_roles(layers, name, &environment);
    Some(environment)
}

/// Takes the roles of kinds and services; whether there are such is not known here.
fn roles(layers: &mut Layers<'_>, section: &str) -> BTreeMap<String, Setting<String>> {
    let mut found = BTreeMap::new();
    for (name, _) in layers.names(section) {
        let role = layers.optional(&format!("{section}.{name}"), check::role_arn);
        found.extend(role.map(|role| (name, role)));
    }
    found
}

fn required<T>(
    layers: &mut Layers<'_>,
    name: &str,
    source: &Source,
    check: fn(&super::layers::Text) -> Result<T, String>,
) -> Option<Setting<T>> {
    let before = layers.problems.len();
    let setting = layers.optional(name, check);
    if setting.is_none() && layers.problems.len() == before {
        layers.report(name, source, "it is missing");
    }
    setting
}

/// A role of another account would make every call land there.
fn check_roles(layers: &mut Layers<'_>, name: &str, environment: &Environment) {
    let wanted = environment.account.value.as_str();
    let base = environment.role_arn.iter().map(|arn| ("roleArn".to_owned(), arn));
    let special = environment.roles.iter().map(|(of, arn)| (format!("roles.{of}"), arn));
    for (setting, arn) in base.chain(special) {
        let account = arn.value.split(':').nth(4).unwrap_or_default();
        if account != wanted {
            let message =
                format!("the role is of account {account}, and the environment of {wanted}");
            layers.report(&format!("environments.{name}.{setting}"), &arn.source, message);
        }
    }
    let has_role = environment.role_arn.is_some() || !environment.roles.is_empty();
    if let Some(external) = environment.external_id.as_ref().filter(|_| !has_role) {
        let message = "an external id has no effect without a roleArn";
        layers.report(&format!("environments.{name}.externalId"), &external.source, message);
    }
}

/// Clients are kept per account and region, so two environments of one have to agree on the way.
fn same_scope(layers: &mut Layers<'_>, found: &BTreeMap<String, Environment>) {
    let way = |environment: &Environment| {
        let text = |setting: &Option<Setting<String>>| setting.as_ref().map(|s| s.value.clone());
        let url = environment.endpoint_url.as_ref().map(|url| url.value.clone());
        let roles: Vec<_> =
            environment.roles.iter().map(|(of, arn)| (of.clone(), arn.value.clone())).collect();
        (text(&environment.role_arn), roles, text(&environment.external_id), url)
    };
    for (index, (name, environment)) in found.iter().enumerate() {
        let earlier = found.iter().take(index).find(|(_, other)| {
            other.scope() == environment.scope() && way(other) != way(environment)
        });
        if let Some((other, _)) = earlier {
            let message = format!(
                "it is the same account and region as environments.{other}, reached in another way; use the same roleArn, roles, externalId and endpointUrl"
            );
            let source = &environment.account.source;
            layers.report(&format!("environments.{name}"), source, message);
        }
    }
}
