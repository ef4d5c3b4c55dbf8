//! The clients of each scope, and the way of a call to the right one.

use std::collections::BTreeMap;
use std::sync::Arc;

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
use super::ec2::Ec2;
use super::{Account, Accounts, Timeouts};
use crate::kinds;
use crate::kinds::sdk::{Clients, Failure, WholeAnswers};
use crate::model::cloud::CallFuture;
use crate::model::{Call, CallError, Clock, Cloud, ErrorClass, Kind, Scope, Target};

/// Sends calls to AWS.
///
/// Clients are made at a scope's first call and kept; nothing is read or sent before.
pub struct Aws {
    accounts: BTreeMap<Scope, (Account, OnceCell<Session>)>,
    timeouts: Timeouts,
    clock: Arc<dyn Clock>,
}

/// Holds what calls to one scope need.
struct Session {
    wallet: Wallet,
    sts: aws_sdk_sts::Client,
    clients: Clients,
}

impl Aws {
    /// Makes the port to these accounts; `clock` dates signatures and the end of credentials.
    pub fn new(accounts: Accounts, clock: Arc<dyn Clock>) -> Self {
        let timeouts = accounts.timeouts;
        let accounts = accounts
            .accounts
            .into_iter()
            .map(|account| (account.scope.clone(), (account, OnceCell::new())))
            .collect();
        Self { accounts, timeouts, clock }
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
        let session = self.session(&target.scope).await?;
        session.wallet.draw().await.map_err(|error| credentials::failure(&error))?;
        let result = match (&*call.service, kind) {
            ("sts", _) => session.identity(call).await,
            (service, Some(kind)) if service == kind.service() => {
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

    async fn session(&self, scope: &Scope) -> Result<&Session, Failure> {
        let (account, session) = self.accounts.get(scope).ok_or_else(|| Failure::Unsendable {
            code: "UnknownAccount",
            reason: format!("no account entry is configured for {scope}"),
        })?;
        session
            .get_or_try_init(|| Session::open(account, self.timeouts, Arc::clone(&self.clock)))
            .await
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
        timeouts: Timeouts,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Failure> {
        let base = base_config(account, timeouts).await;
        let source = match &account.role {
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
        let ec2 = Ec2::new(account, &config, timeouts, wallet.clone(), clock).await?;
        let rds = aws_sdk_rds::config::Builder::from(&for_service(&config, account, "rds"))
            .interceptor(WholeAnswers)
            .build();
        Ok(Self {
            sts: aws_sdk_sts::Client::new(&for_service(&config, account, "sts")),
            clients: Clients { rds: aws_sdk_rds::Client::from_conf(rds), ec2: Box::new(ec2) },
            wallet,
        })
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
