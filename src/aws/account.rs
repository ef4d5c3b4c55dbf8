//! Which accounts there are, and how each is reached.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_credential_types::provider::SharedCredentialsProvider;
use url::Url;

use crate::config::{Config, Environment};
use crate::model::Scope;

/// Lists the accounts and regions that calls may go to.
#[derive(Debug, Clone, Default)]
pub struct Accounts {
    /// One entry per account and region; of two for the same scope, the last counts.
    pub accounts: Vec<Account>,
    /// How long a call may take.
    pub timeouts: Timeouts,
}

impl From<&Config> for Accounts {
    /// Takes the accounts of every environment; sessions of assumed roles bear the agent's name.
    fn from(config: &Config) -> Self {
        let session_name = session_name(&config.agent_name.value);
        let role = |environment: &Environment, arn: &str| Role {
            arn: arn.to_owned(),
            external_id: environment.external_id.as_ref().map(|id| id.value.clone()),
            session_name: session_name.clone(),
        };
        let account = |environment: &Environment| Account {
            role: environment.role_arn.as_ref().map(|arn| role(environment, &arn.value)),
            roles: environment
                .roles
                .iter()
                .map(|(of, arn)| (of.clone(), role(environment, &arn.value)))
                .collect(),
            endpoints: Endpoints {
                default: environment.endpoint_url.as_ref().map(|url| url.value.clone()),
                services: BTreeMap::new(),
            },
            ..Account::new(environment.scope())
        };
        let accounts = config.environments.values().map(account).collect();
        Self { accounts, timeouts: Timeouts::default() }
    }
}

/// Makes a session name that STS takes: 2 to 64 of `[\w+=,.@-]`.
fn session_name(agent: &str) -> String {
    let taken = |letter: char| letter.is_ascii_alphanumeric() || "_+=,.@-".contains(letter);
    let agent = agent.chars().map(|letter| if taken(letter) { letter } else { '-' });
    "levelset-".chars().chain(agent).take(64).collect()
}

/// Describes how one account and region is reached.
#[derive(Debug, Clone)]
pub struct Account {
    /// The account and region.
    pub scope: Scope,
    /// The role to assume; without one the base credentials are used as they are.
    pub role: Option<Role>,
    /// Roles to assume instead, by the name of a kind (`iam_role`) or of a service (`rds`).
    pub roles: BTreeMap<String, Role>,
    /// Where the services are, when not at AWS.
    pub endpoints: Endpoints,
    /// The base credentials; `None` is the AWS default chain (environment, profile, web identity,
    /// container, instance).
    pub credentials: Option<SharedCredentialsProvider>,
}

impl Account {
    /// Describes an account that the default credential chain reaches at AWS.
    pub fn new(scope: Scope) -> Self {
        let (roles, endpoints) = (BTreeMap::new(), Endpoints::default());
        Self { scope, role: None, roles, endpoints, credentials: None }
    }

    /// Returns the role for a kind: its own, or its service's, or the account's.
    pub fn role_of(&self, kind: &str, service: &str) -> Option<&Role> {
        self.roles.get(kind).or_else(|| self.roles.get(service)).or(self.role.as_ref())
    }
}

/// Names a role to assume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// The role's ARN.
    pub arn: String,
    /// The external id that the role's trust policy asks for.
    pub external_id: Option<String>,
    /// The session's name, as CloudTrail shows it (2 to 64 of `[\w+=,.@-]`).
    pub session_name: String,
}

/// Says where services are instead of at AWS, for emulators and private endpoints.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Endpoints {
    /// The endpoint of every service without its own entry.
    pub default: Option<Url>,
    /// The endpoint of one service, by its endpoint prefix: `rds`, `ec2`, `sts`.
    pub services: BTreeMap<String, Url>,
}

impl Endpoints {
    /// Sends every service to one address.
    pub fn all(url: Url) -> Self {
        Self { default: Some(url), services: BTreeMap::new() }
    }

    /// Returns the address of a service, if it is not AWS's own.
    pub fn of(&self, service: &str) -> Option<&Url> {
        self.services.get(service).or(self.default.as_ref())
    }
}

/// Says how long a call may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands.
    pub connect: Duration,
    /// Until the answer is read to its end.
    pub attempt: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { connect: Duration::from_secs(5), attempt: Duration::from_secs(30) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccountId, Region};

    #[test]
    fn a_session_is_named_after_the_agent_in_letters_that_sts_takes() {
        assert_eq!(session_name("prod"), "levelset-prod");
        assert_eq!(session_name("prod eu/ü"), "levelset-prod-eu--");
        assert_eq!(session_name(&"x".repeat(100)).len(), 64);
    }

    #[test]
    fn a_kind_has_its_own_role_or_that_of_its_service_or_the_accounts() {
        let scope = Scope { account: AccountId::new("111111111111"), region: Region::new("r") };
        let role = |arn: &str| Role {
            arn: arn.to_owned(),
            external_id: None,
            session_name: "levelset".to_owned(),
        };
        let mut account = Account::new(scope);
        assert_eq!(account.role_of("db_instance", "rds"), None);
        account.role = Some(role("all"));
        account.roles.insert("rds".to_owned(), role("databases"));
        account.roles.insert("db_instance".to_owned(), role("instances"));
        let arn = |kind, service| account.role_of(kind, service).map(|role| role.arn.as_str());
        assert_eq!(arn("db_instance", "rds"), Some("instances"));
        assert_eq!(arn("db_subnet_group", "rds"), Some("databases"));
        assert_eq!(arn("vpc", "ec2"), Some("all"));
    }

    #[test]
    fn a_service_has_its_own_address_or_the_common_one() {
        let url = |text: &str| Url::parse(text).unwrap();
        let mut endpoints = Endpoints::all(url("http://127.0.0.1:1"));
        endpoints.services.insert("sts".to_owned(), url("http://127.0.0.1:2"));
        assert_eq!(endpoints.of("rds"), Some(&url("http://127.0.0.1:1")));
        assert_eq!(endpoints.of("sts"), Some(&url("http://127.0.0.1:2")));
        assert_eq!(Endpoints::default().of("rds"), None);
    }
}
