//! A thin client of the EC2 Query protocol: signs a form, sends it, returns the XML of a success.
//!
//! Why not `aws-sdk-ec2`, when every other service goes through its SDK: of EC2's six hundred
//! operations two reads are needed, and the crate costs about 500 CPU seconds and a single compiler
//! process of 7.2 GiB (measured, version 1.274, debug build); its compiled form alone has 647 MB,
//! where RDS's has 157. A build has to fit in 4 GiB. What is written here instead is the transport
//! only: the signature is the SDK's own (`aws-sigv4`), credentials come from the same wallet as the
//! SDK's, and the operations are tables in the kinds that need them
//! ([`crate::kinds::sdk::query`]). A test has an independent judge check signatures and policies.
//!
//! Invariants: one request per call, no redirects, bounded in time.

use std::sync::Arc;

use aws_credential_types::Credentials;
use aws_sdk_rds::config::endpoint::{DefaultResolver, Params, ResolveEndpoint};
use aws_sigv4::http_request::{SignableBody, SignableRequest, SigningSettings, sign};
use aws_sigv4::sign::v4;
use aws_types::SdkConfig;
use reqwest::header::CONTENT_TYPE;
use reqwest::redirect::Policy;
use url::Url;

use super::credentials::{self, Wallet, time_of};
use super::{Account, Timeouts};
use crate::kinds::sdk::query::{Body, Query};
use crate::kinds::sdk::{Failure, chain, xml};
use crate::model::{Clock, Region};

const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";

/// Sends signed forms to EC2 in one region.
pub(crate) struct Ec2 {
    http: reqwest::Client,
    endpoint: Url,
    region: Region,
    wallet: Wallet,
    clock: Arc<dyn Clock>,
}

impl Ec2 {
    /// Makes the client of an account's region.
    pub(crate) async fn new(
        account: &Account,
        config: &SdkConfig,
        timeouts: Timeouts,
        wallet: Wallet,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Failure> {
        let region = account.scope.region.clone();
        let endpoint = match account.endpoints.of("ec2") {
            Some(url) => url.clone(),
            None => default_endpoint(&region, config).await?,
        };
        let http = reqwest::Client::builder()
            .redirect(Policy::none())
            .connect_timeout(timeouts.connect)
            .timeout(timeouts.attempt)
            .user_agent(concat!("levelset/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Failure::Unsent { reason: chain(&error) })?;
        Ok(Self { http, endpoint, region, wallet, clock })
    }

    async fn send(&self, fields: Vec<(String, String)>) -> Result<String, Failure> {
        let credentials = self.wallet.draw().await.map_err(|error| credentials::failure(&error))?;
        let body =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let mut request = self.http.post(self.endpoint.clone()).header(CONTENT_TYPE, FORM);
        for (name, value) in self.signature(credentials, &body)? {
            request = request.header(name, value);
        }
        let response = request.body(body).send().await.map_err(|error| unanswered(&error))?;
        let status = response.status();
        let text = response.text().await.map_err(|error| unanswered(&error))?;
        if status.is_success() { Ok(text) } else { Err(refused(status.as_u16(), &text)) }
    }

    /// Returns the headers that sign a request (Signature Version 4).
    fn signature(
        &self,
        credentials: Credentials,
        body: &str,
    ) -> Result<Vec<(&'static str, String)>, Failure> {
        let unsent = |reason: String| Failure::Unsent { reason };
        let identity = credentials.into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(self.region.as_str())
            .name("ec2")
            .time(time_of(&*self.clock))
            .settings(SigningSettings::default())
            .build()
            .map_err(|error| unsent(chain(&error)))?
            .into();
        let headers = [(CONTENT_TYPE.as_str(), FORM)];
        let request = SignableRequest::new(
            "POST",
            self.endpoint.as_str(),
            headers.into_iter(),
            SignableBody::Bytes(body.as_bytes()),
        )
        .map_err(|error| unsent(chain(&error)))?;
        let signed = sign(request, &params).map_err(|error| unsent(chain(&error)))?;
        let (headers, _) = signed.into_parts().0.into_parts();
        Ok(headers.iter().map(|header| (header.name(), header.value().to_owned())).collect())
    }
}

impl Query for Ec2 {
    fn post(&self, fields: Vec<(String, String)>) -> Body<'_> {
        Box::pin(self.send(fields))
    }
}

/// Returns EC2's address in a region.
///
/// The partitions' domains come from the SDK: EC2 and RDS follow the same pattern in all of them.
async fn default_endpoint(region: &Region, config: &SdkConfig) -> Result<Url, Failure> {
    let unsent = |reason: String| Failure::Unsent { reason };
    if let Some(url) = config.endpoint_url() {
        return Url::parse(url).map_err(|error| unsent(format!("{url} is no address: {error}")));
    }
    let params = Params::builder()
        .region(region.as_str().to_owned())
        .use_fips(config.use_fips().unwrap_or_default())
        .use_dual_stack(config.use_dual_stack().unwrap_or_default())
        .build()
        .map_err(|error| unsent(chain(&error)))?;
    let rds = DefaultResolver::new()
        .resolve_endpoint(&params)
        .await
        .map_err(|error| unsent(error.to_string()))?;
    let ec2 = rds.url().replacen("://rds", "://ec2", 1);
    Url::parse(&ec2).map_err(|error| unsent(format!("{ec2} is no address: {error}")))
}

/// Says how far a request came that got no answer.
fn unanswered(error: &reqwest::Error) -> Failure {
    let reason = chain(error);
    if error.is_connect() || error.is_builder() {
        Failure::Unsent { reason }
    } else if error.is_timeout() {
        Failure::Lost { code: "Timeout", reason }
    } else {
        Failure::Lost { code: "Connection", reason }
    }
}

/// Reads an error of EC2: `Response/Errors/Error` with `Code` and `Message`.
fn refused(status: u16, body: &str) -> Failure {
    let error = xml::parse(body).ok().and_then(|root| root.find("Error").cloned());
    let text = |name| error.as_ref().and_then(|error| error.find(name)).map(|e| e.text.clone());
    Failure::Refused {
        status,
        code: text("Code"),
        message: text("Message").unwrap_or_else(|| format!("status {status} without a message")),
    }
}
