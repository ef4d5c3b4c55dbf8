//! The clients of each scope and role, and the way of a call to the right ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use aws_config::timeout::TimeoutConfig;
use aws_config::{AppName, BehaviorVersion, Region};
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_rds::config::retry::RetryConfig;
use aws_sdk_rds::config::{IdentityCache, StalledStreamProtectionConfig};
use aws_types::SdkConfig;
use serde_json::{Map, Value, json};
use tokio::sync::OnceCell;

use super::class::call_error;
use super::credentials::{self, Wallet};
use super::json::JsonClient;
use super::query::{QueryClient, home};
use super::rest::RestClient;
use super::s3::S3Client;
use super::{Account, Accounts, Role, Timeouts};
use crate::kinds;
use crate::kinds::sdk::{Clients, Failure, WholeAnswers, json, query};
use crate::model::cloud::CallFuture;
use crate::model::{Call, CallError, Clock, Cloud, ErrorClass, Kind, Scope, Target};

/// Sends calls to AWS.
///
/// Clients are made at the first call for a scope and role, and kept; nothing is read or sent before.
pub struct Aws {
    accounts: BTreeMap<Scope, Account>,
    sessions: Mutex<Sessions>,
    timeouts: Timeouts,
    clock: Arc<dyn Clock>,
}

/// The sessions by the environment's scope and the role, if one is assumed.
type Sessions = BTreeMap<(Scope, Option<String>), Arc<OnceCell<Arc<Session>>>>;

/// Holds what calls to one scope in one role need.
struct Session {
    wallet: Wallet,
    sts: aws_sdk_sts::Client,
    clients: Clients,
    /// CloudTrail in the account's region, and where it has the events of what an account has once.
    trails: [JsonClient; 2],
}

impl Aws {
    /// Makes the port to these accounts; `clock` dates signatures and the end of credentials.
    pub fn new(accounts: Accounts, clock: Arc<dyn Clock>) -> Self {
        let timeouts = accounts.timeouts;
        let accounts =
            accounts.accounts.into_iter().map(|account| (account.scope.clone(), account)).collect();
        Self { accounts, sessions: Mutex::default(), timeouts, clock }
    }

    async fn send(&self, target: &Target, call: &Call) -> Result<Value, CallError> {
        let kind = kinds::find(&target.kind);
        let result = self.route(target, kind, call).await;
        result.map_err(|failure| {
            call_error(call, failure, |code| {
                kind.map_or(ErrorClass::Invalid, |kind| kind.classify(code))
            })
        })
    }

    /// Finds the scope's session and the code that knows the operation.
    async fn route(
        &self,
        target: &Target,
        kind: Option<&dyn Kind>,
        call: &Call,
    ) -> Result<Value, Failure> {
        let session = self.session(target, kind).await?;
        session.wallet.draw().await.map_err(|error| credentials::failure(&error))?;
        let result = match (&*call.service, kind) {
            ("sts", _) => session.identity(call).await,
            ("cloudtrail", kind) => {
                let is_global = kind.is_some_and(Kind::is_global);
                json::ask(session.trail(is_global), json::LOOKUP, call).await
            }
            (service, Some(kind)) if kind.serves(service) => {
                match kinds::send(&target.kind, &session.clients, call) {
                    Some(sending) => sending.await,
                    None => Err(Failure::unknown_operation(&call.operation)),
                }
            }
            _ => Err(Failure::unknown_operation(&call.to_string())),
        };
        if let Err(Failure::Refused { code: Some(code), .. }) = &result
            && ErrorClass::of_common(code) == Some(ErrorClass::Denied)
        {
            session.wallet.discard().await;
        }
        result
    }

    /// Returns the session for a kind's calls, opened at the first of them.
    async fn session(
        &self,
        target: &Target,
        kind: Option<&dyn Kind>,
    ) -> Result<Arc<Session>, Failure> {
        let (account, role) = self.way(target, kind)?;
        let key = (account.scope.clone(), role.map(|role| role.arn.clone()));
        let cell = {
            let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(sessions.entry(key).or_default())
        };
        let open = || async {
            let clock = Arc::clone(&self.clock);
            Session::open(account, role, self.timeouts, clock).await.map(Arc::new)
        };
        cell.get_or_try_init(open).await.cloned()
    }

    /// Returns the account entry and the role for a kind's calls.
    ///
    /// What an account has once is reached by any of its environments, as long as they agree on the
    /// role: otherwise nobody could tell which one a call uses.
    fn way(
        &self,
        target: &Target,
        kind: Option<&dyn Kind>,
    ) -> Result<(&Account, Option<&Role>), Failure> {
        let service = kind.map_or("", |kind| kind.service());
        let home = |scope: &Scope| kind.map_or_else(|| scope.clone(), |kind| kind.home(scope));
        let mut ways = self
            .accounts
            .values()
            .filter(|account| account.scope == target.scope || home(&account.scope) == target.scope)
            .map(|account| (account, account.role_of(target.kind.as_str(), service)));
        let first = ways.next().ok_or_else(|| Failure::Unsendable {
            code: "UnknownAccount",
            reason: format!("no account entry is configured for {}", target.scope),
        })?;
        match ways.find(|(_, role)| *role != first.1) {
            None => Ok(first),
            Some((other, _)) => Err(Failure::NoCredentials {
                class: ErrorClass::Denied,
                code: "AmbiguousRole".to_owned(),
                reason: format!(
                    "{service} belongs to the whole account, and the environments in {} and {} \
                     reach it in different roles; give both the same one under roles.{service}",
                    first.0.scope.region, other.scope.region
                ),
            }),
        }
    }
}

impl Cloud for Aws {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        Box::pin(self.send(target, call))
    }
}

/// What all clients of a session have in common.
struct Ties<'a> {
    account: &'a Account,
    config: &'a SdkConfig,
    timeouts: Timeouts,
    wallet: Wallet,
    clock: Arc<dyn Clock>,
}

impl Ties<'_> {
    fn held(&self) -> (Wallet, Arc<dyn Clock>) {
        (self.wallet.clone(), Arc::clone(&self.clock))
    }

    async fn query(&self, protocol: query::Protocol) -> Result<Box<QueryClient>, Failure> {
        let (wallet, clock) = self.held();
        let (account, config) = (self.account, self.config);
        QueryClient::new(protocol, account, config, self.timeouts, wallet, clock)
            .await
            .map(Box::new)
    }

    async fn json(
        &self,
        protocol: json::Protocol,
        account: &Account,
    ) -> Result<JsonClient, Failure> {
        let (wallet, clock) = self.held();
        JsonClient::new(protocol, account, self.config, self.timeouts, wallet, clock).await
    }

    async fn clients(&self) -> Result<Clients, Failure> {
        let Self { account, config, timeouts, .. } = *self;
        let rds = aws_sdk_rds::config::Builder::from(&for_service(config, account, "rds"))
            .interceptor(WholeAnswers)
            .build();
        let (wallet, clock) = self.held();
        let route53 = RestClient::new(account, config, timeouts, wallet, clock)?;
        let (wallet, clock) = self.held();
        let s3 = S3Client::new(account, config, timeouts, wallet, clock)?;
        Ok(Clients {
            rds: aws_sdk_rds::Client::from_conf(rds),
            ec2: self.query(query::EC2).await?,
            auto_scaling: self.query(query::AUTO_SCALING).await?,
            iam: self.query(query::IAM).await?,
            cloudformation: self.query(query::CLOUDFORMATION).await?,
            cloud_control: Box::new(self.json(json::CLOUD_CONTROL, account).await?),
            secrets_manager: Box::new(self.json(json::SECRETS_MANAGER, account).await?),
            route53: Box::new(route53),
            s3: Box::new(s3),
        })
    }
}

/// Returns the account where it has the events of what it has once, and not in every region.
fn global(account: &Account) -> Result<Account, Failure> {
    let region = home(account.scope.region.partition())?.0;
    let scope = Scope { account: account.scope.account.clone(), region };
    Ok(Account { scope, ..account.clone() })
}

impl Session {
    async fn open(
        account: &Account,
        role: Option<&Role>,
        timeouts: Timeouts,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Failure> {
        let base = base_config(account, timeouts).await;
        let source = match role {
            Some(role) => credentials::assume(role, &for_service(&base, account, "sts")).await,
            None => base.credentials_provider().ok_or_else(|| Failure::Unsent {
                reason: "the configuration has no source of credentials".to_owned(),
            })?,
        };
        let wallet = Wallet::new(source, Arc::clone(&clock));
        let config = base
            .into_builder()
            .credentials_provider(SharedCredentialsProvider::new(wallet.clone()))
            .build();
        let ties = Ties { account, config: &config, timeouts, wallet, clock };
        let global = global(account)?;
        let trails = [
            ties.json(json::CLOUD_TRAIL, account).await?,
            ties.json(json::CLOUD_TRAIL, &global).await?,
        ];
        Ok(Self {
            sts: aws_sdk_sts::Client::new(&for_service(&config, account, "sts")),
            clients: ties.clients().await?,
            trails,
            wallet: ties.wallet,
        })
    }

    fn trail(&self, is_global: bool) -> &JsonClient {
        let [own, global] = &self.trails;
        if is_global { global } else { own }
    }

    /// Answers `GetCallerIdentity`, the only call to STS.
    async fn identity(&self, call: &Call) -> Result<Value, Failure> {
        if call.operation != "GetCallerIdentity" {
            return Err(Failure::unknown_operation(&call.operation));
        }
        let answer = self.sts.get_caller_identity().send().await?;
        let members =
            [("UserId", answer.user_id()), ("Account", answer.account()), ("Arn", answer.arn())];
        let present =
            members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), json!(value?))));
        Ok(Value::Object(present.collect::<Map<_, _>>()))
    }
}

/// Reads the shared AWS configuration (endpoints, FIPS, profile) and sets what is ours to decide.
async fn base_config(account: &Account, timeouts: Timeouts) -> SdkConfig {
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .region(Region::new(account.scope.region.as_str().to_owned()))
        .retry_config(RetryConfig::disabled())
        .timeout_config(
            TimeoutConfig::builder()
                .connect_timeout(timeouts.connect)
                .operation_attempt_timeout(timeouts.attempt)
                .operation_timeout(timeouts.attempt)
                .build(),
        )
        // Answers are small and read whole within the attempt's time.
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
        // The wallet keeps credentials; a second cache would keep ones that it has discarded.
        .identity_cache(IdentityCache::no_cache());
    if let Ok(name) = AppName::new("levelset") {
        loader = loader.app_name(name);
    }
    if let Some(credentials) = &account.credentials {
        loader = loader.credentials_provider(credentials.clone());
    }
    loader.load().await
}

/// Points a configuration at the service's address, if the account names one.
fn for_service(config: &SdkConfig, account: &Account, service: &str) -> SdkConfig {
    match account.endpoints.of(service) {
        Some(url) => config.to_builder().endpoint_url(url.as_str()).build(),
        None => config.clone(),
    }
}
