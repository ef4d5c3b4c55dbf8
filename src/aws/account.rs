//! Which accounts there are, and how each is reached.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_credential_types::provider::SharedCredentialsProvider;
use url::Url;

use crate::model::Scope;

/// Lists the accounts and regions that calls may go to.
#[derive(Debug, Clone, Default)]
pub struct Accounts {
    /// One entry per account and region; of two for the same scope, the last counts.
    pub accounts: Vec<Account>,
    /// How long a call may take.
    pub timeouts: Timeouts,
}

/// Describes how one account and region is reached.
#[derive(Debug, Clone)]
pub struct Account {
    /// The account and region.
    pub scope: Scope,
    /// The role to assume; without one the base credentials are used as they are.
    pub role: Option<Role>,
    /// Where the services are, when not at AWS.
    pub endpoints: Endpoints,
    /// The base credentials; `None` is the AWS default chain (environment, profile, web identity,
    /// container, instance).
    pub credentials: Option<SharedCredentialsProvider>,
}

impl Account {
    /// Describes an account that the default credential chain reaches at AWS.
    pub fn new(scope: Scope) -> Self {
        Self { scope, role: None, endpoints: Endpoints::default(), credentials: None }
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
