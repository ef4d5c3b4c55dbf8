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
        let hold = || (wallet.clone(), Arc::clone(&clock));
        let query = |protocol| {
            let (own, time) = hold();
            QueryClient::new(protocol, account, &config, timeouts, own, time)
        };
        let (ec2, iam) = (query(query::EC2).await?, query(query::IAM).await?);
        let auto_scaling = query(query::AUTO_SCALING).await?;
        let cloudformation = query(query::CLOUDFORMATION).await?;
        let json = |protocol, account| {
            let (own, time) = hold();
            JsonClient::new(protocol, account, &config, timeouts, own, time)
        };
        let cloud_control = json(json::CLOUD_CONTROL, account).await?;
        let secrets_manager = json(json::SECRETS_MANAGER, account).await?;
        let global = Account {
            scope: Scope {
                account: account.scope.account.clone(),
                region: home(account.scope.region.partition())?.0,
            },
            ..account.clone()
        };
        let trails =
            [json(json::CLOUD_TRAIL, account).await?, json(json::CLOUD_TRAIL, &global).await?];
        let (own, time) = hold();
        let route53 = RestClient::new(account, &config, timeouts, own, time)?;
        let (own, time) = hold();
        let s3 = S3Client::new(account, &config, timeouts, own, time)?;
        let rds = aws_sdk_rds::config::Builder::from(&for_service(&config, account, "rds"))
            .interceptor(WholeAnswers)
            .build();
        Ok(Self {
            sts: aws_sdk_sts::Client::new(&for_service(&config, account, "sts")),
            clients: Clients {
                rds: aws_sdk_rds::Client::from_conf(rds),
                ec2: Box::new(ec2),
                auto_scaling: Box::new(auto_scaling),
                iam: Box::new(iam),
                cloudformation: Box::new(cloudformation),
                cloud_control: Box::new(cloud_control),
                secrets_manager: Box::new(secrets_manager),
                route53: Box::new(route53),
                s3: Box::new(s3),
            },
            trails,
            wallet,
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
