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
    let external_id = layers.optional(&at("externalId"), check::text);
    let endpoint_url = layers.optional(&at("endpointUrl"), check::endpoint);
    let production = layers.setting(&at("production"), name == "production", check::boolean);
    let environment = Environment {
        account: account?,
        region: region?,
        role_arn,
        external_id,
        endpoint_url,
        production,
    };
    check_role(layers, name, &environment);
    Some(environment)
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
fn check_role(layers: &mut Layers<'_>, name: &str, environment: &Environment) {
    if let Some(arn) = &environment.role_arn {
        let account = arn.value.split(':').nth(4).unwrap_or_default();
        if account != environment.account.value.as_str() {
            let message = format!(
                "the role is of account {account}, and the environment of {}",
                environment.account.value
            );
            layers.report(&format!("environments.{name}.roleArn"), &arn.source, message);
        }
    } else if let Some(external) = &environment.external_id {
        let message = "an external id has no effect without a roleArn";
        layers.report(&format!("environments.{name}.externalId"), &external.source, message);
    }
}

/// Clients are kept per account and region, so two environments of one have to agree on the way.
fn same_scope(layers: &mut Layers<'_>, found: &BTreeMap<String, Environment>) {
    let way = |environment: &Environment| {
        let text = |setting: &Option<Setting<String>>| setting.as_ref().map(|s| s.value.clone());
        let url = environment.endpoint_url.as_ref().map(|url| url.value.clone());
        (text(&environment.role_arn), text(&environment.external_id), url)
    };
    for (index, (name, environment)) in found.iter().enumerate() {
        let earlier = found.iter().take(index).find(|(_, other)| {
            other.scope() == environment.scope() && way(other) != way(environment)
        });
        if let Some((other, _)) = earlier {
            let message = format!(
                "it is the same account and region as environments.{other}, reached in another way; use the same roleArn, externalId and endpointUrl"
            );
            let source = &environment.account.source;
            layers.report(&format!("environments.{name}"), source, message);
        }
    }
}
