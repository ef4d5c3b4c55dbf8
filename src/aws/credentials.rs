//! The credentials of one scope and role: resolved once, kept until shortly before they end.
//!
//! Both ways out (the SDK's clients and those of the Query protocols) draw from the same [`Wallet`], and a call
//! draws from it before anything is sent, so that a missing credential or a refused role is known
//! for what it is: a call that certainly did not leave.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use aws_config::sts::AssumeRoleProvider;
use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider, future};
use aws_sdk_sts::operation::assume_role::AssumeRoleError;
use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use aws_types::SdkConfig;
use tokio::sync::Mutex;

use super::Role;
use crate::kinds::sdk::{Failure, chain};
use crate::model::{Clock, ErrorClass};

/// How long before their end credentials are renewed, so that no request is signed with ones that
/// end on the way.
const MARGIN: Duration = Duration::from_secs(120);

/// Keeps credentials until shortly before they end; clones share one pocket.
#[derive(Clone)]
pub(crate) struct Wallet {
    source: SharedCredentialsProvider,
    held: Arc<Mutex<Option<Credentials>>>,
    clock: Arc<dyn Clock>,
}

impl Wallet {
    /// Opens a wallet that is filled from `source`.
    pub(crate) fn new(source: SharedCredentialsProvider, clock: Arc<dyn Clock>) -> Self {
        Self { source, held: Arc::default(), clock }
    }

    /// Returns credentials that are good for the next call; concurrent callers wait for one renewal.
    pub(crate) async fn draw(&self) -> Result<Credentials, CredentialsError> {
        let mut held = self.held.lock().await;
        let renew_after = time_of(&*self.clock) + MARGIN;
        if let Some(credentials) = held.as_ref()
            && credentials.expiry().is_none_or(|end| end > renew_after)
        {
            return Ok(credentials.clone());
        }
        let fresh = self.source.provide_credentials().await?;
        Ok(held.insert(fresh).clone())
    }

    /// Forgets what is held, because AWS no longer takes it.
    pub(crate) async fn discard(&self) {
        self.held.lock().await.take();
    }
}

impl std::fmt::Debug for Wallet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wallet").field("source", &self.source).finish_non_exhaustive()
    }
}

impl ProvideCredentials for Wallet {
    fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
    where
        Self: 'a,
    {
        future::ProvideCredentials::new(self.draw())
    }
}

/// Returns the time as the SDK takes it. A time that the system cannot represent becomes the epoch,
/// with which nothing is ever signed successfully.
pub(crate) fn time_of(clock: &dyn Clock) -> SystemTime {
    SystemTime::try_from(clock.now()).unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Makes the provider that assumes `role` with the credentials of `config`.
pub(crate) async fn assume(role: &Role, config: &SdkConfig) -> SharedCredentialsProvider {
    let mut builder =
        AssumeRoleProvider::builder(&role.arn).session_name(&role.session_name).configure(config);
    if let Some(id) = &role.external_id {
        builder = builder.external_id(id);
    }
    SharedCredentialsProvider::new(builder.build().await)
}

const NOT_FOUND: &str = "no AWS credentials were found in the environment, a profile, a web \
                         identity, the container's role or the machine's role";

/// Says what it means that there are no credentials.
pub(crate) fn failure(error: &CredentialsError) -> Failure {
    let reason = chain(error);
    let refused = std::iter::successors(Some(error as &(dyn Error + 'static)), |&e| e.source())
        .find_map(<dyn Error>::downcast_ref::<SdkError<AssumeRoleError, HttpResponse>>)
        .and_then(SdkError::code);
    let (class, code) = match (refused, error) {
        (Some(code), _) => match ErrorClass::of_common(code) {
            // The call that needed the credentials was not sent, whatever became of this one.
            Some(ErrorClass::Ambiguous) => (ErrorClass::Transient, code),
            class => (class.unwrap_or(ErrorClass::Denied), code),
        },
        (None, CredentialsError::CredentialsNotLoaded(_)) => (ErrorClass::Denied, "NoCredentials"),
        (None, CredentialsError::InvalidConfiguration(_)) => {
            (ErrorClass::Denied, "InvalidCredentialsConfiguration")
        }
        (None, _) => (ErrorClass::Transient, "CredentialsUnavailable"),
    };
    // The SDK's text lists every provider on a line of its own, and what each did not find.
    let reason = match code {
        "NoCredentials" => NOT_FOUND.to_owned(),
        _ => reason,
    };
    Failure::NoCredentials { class, code: code.to_owned(), reason }
}
