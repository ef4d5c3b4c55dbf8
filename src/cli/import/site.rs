//! Which account and region are read, and what the manifests call them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Arguments;
use crate::cli::cloud;
use crate::cli::error::Error;
use crate::config::{Config, Environment, Setting};
use crate::model::{AccountId, Call, Cause, Clock, KindName, Region, Scope, Target};

/// The name of an environment that the settings do not hold.
const UNNAMED: &str = "production";

/// Says what is read.
pub(in crate::cli) struct Site {
    /// The settings, with the environment that is read.
    pub(in crate::cli) config: Config,
    /// What the manifests call it.
    pub(in crate::cli) name: String,
    /// The account and region.
    pub(in crate::cli) scope: Scope,
    /// Whether the stricter defaults of production hold.
    pub(in crate::cli) production: bool,
    /// True when the settings do not hold it.
    pub(in crate::cli) is_new: bool,
}

/// Finds what is read.
///
/// # Errors
///
/// [`Error::NoPlace`] when it cannot be told, or the account cannot be asked for.
pub(super) async fn site(
    arguments: &Arguments,
    config: Config,
    clock: &Arc<dyn Clock>,
) -> Result<Site, Error> {
    if let Some(name) = known(arguments, &config)? {
        let environment = &config.environments[&name];
        let (scope, production) = (environment.scope(), environment.production.value);
        return Ok(Site { name, scope, production, is_new: false, config });
    }
    let name = arguments.environment.clone().unwrap_or_else(|| UNNAMED.to_owned());
    if arguments.observed.is_some() {
        let region = arguments.region.clone().unwrap_or_else(|| "us-east-1".to_owned());
        return Ok(added(config, name, AccountId::new("000000000000"), Region::new(region)));
    }
    let Some(region) = arguments.region.clone().map(Region::new) else {
        return Err(Error::NoPlace("neither an environment nor a region is named".to_owned()));
    };
    let asking =
        added(config.clone(), name.clone(), AccountId::new("000000000000"), region.clone());
    let account = account(&asking, clock).await?;
    Ok(added(config, name, account, region))
}

/// Returns the entry of the settings that is meant, if there is one.
fn known(arguments: &Arguments, config: &Config) -> Result<Option<String>, Error> {
    let is_in = |environment: &Environment| match &arguments.region {
        Some(region) => environment.region.value.as_str() == region,
        None => true,
    };
    if let Some(name) = &arguments.environment {
        return match config.environments.get(name) {
            Some(environment) if is_in(environment) => Ok(Some(name.clone())),
            Some(environment) => {
                let region = &environment.region.value;
                Err(Error::NoPlace(format!("the environment \"{name}\" is in {region}")))
            }
            None if config.environments.is_empty() || arguments.observed.is_some() => Ok(None),
            None => {
                let names: Vec<&str> = config.environments.keys().map(String::as_str).collect();
                let known = names.join(", ");
                let text =
                    format!("the settings hold no environment \"{name}\" (they hold {known})");
                Err(Error::NoPlace(text))
            }
        };
    }
    let found: BTreeMap<&String, &Environment> =
        config.environments.iter().filter(|(_, environment)| is_in(environment)).collect();
    match found.keys().map(|name| (*name).clone()).collect::<Vec<_>>().as_slice() {
        [] => Ok(None),
        [only] => Ok(Some(only.clone())),
        many => Err(Error::NoPlace(format!("the settings hold {}", many.join(", ")))),
    }
}

/// Adds an environment to the settings that they do not hold.
fn added(mut config: Config, name: String, account: AccountId, region: Region) -> Site {
    let production = name == UNNAMED;
    let scope = Scope { account: account.clone(), region: region.clone() };
    let environment = Environment {
        account: Setting::default_of(account),
        region: Setting::default_of(region),
        role_arn: None,
        roles: BTreeMap::new(),
        external_id: None,
        endpoint_url: None,
        production: Setting::default_of(production),
    };
    config.environments.insert(name.clone(), environment);
    Site { config, name, scope, production, is_new: true }
}

/// Asks whose the credentials are.
async fn account(site: &Site, clock: &Arc<dyn Clock>) -> Result<AccountId, Error> {
    let cloud = cloud::aws(&site.config, clock);
    let kind = KindName::new("db_instance");
    let target = Target { scope: site.scope.clone(), kind, cause: Cause::Identity };
    let call = Call::new("sts", "GetCallerIdentity");
    let answer = cloud.call(&target, &call).await;
    let answer = answer.map_err(|error| Error::NoPlace(error.to_string()))?;
    let account = answer.get("Account").and_then(serde_json::Value::as_str);
    let unknown = || Error::NoPlace("AWS does not say whose the credentials are".to_owned());
    account.map(AccountId::new).ok_or_else(unknown)
}
