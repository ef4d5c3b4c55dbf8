//! Signs one request with Signature Version 4, sends it, and says how far it came.
//!
//! The transport of the services that are spoken without their SDK crates: Query forms
//! ([`super::query`]), JSON ([`super::json`]) and XML ([`super::rest`], [`super::s3`]). The signature is the SDK's own (`aws-sigv4`), and
//! credentials come from the same wallet as the SDK's.
//!
//! Invariants: one request per call, no redirects, bounded in time.

use std::sync::Arc;

use aws_credential_types::Credentials;
use aws_sigv4::http_request::{
    PayloadChecksumKind, PercentEncodingMode, SignableBody, SignableRequest, SigningSettings,
    UriPathNormalizationMode, sign,
};
use aws_sigv4::sign::v4;
use reqwest::Method;
use reqwest::header::HeaderMap;
use reqwest::redirect::Policy;
use sha2::{Digest, Sha256};
use url::Url;

use super::Timeouts;
use super::credentials::{self, Wallet, time_of};
use crate::kinds::sdk::{Failure, chain};
use crate::model::{Clock, Region};

/// Sends signed requests to one address.
pub(super) struct Signed {
    http: reqwest::Client,
    endpoint: Url,
    /// The region that requests are signed for.
    region: Region,
    /// The name that requests are signed for.
    service: &'static str,
    wallet: Wallet,
    clock: Arc<dyn Clock>,
    settings: SigningSettings,
}

/// Is an answer, whatever its status.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: String,
}

impl Answer {
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl Signed {
    pub(super) fn new(
        (service, endpoint, region): (&'static str, Url, Region),
        timeouts: Timeouts,
        wallet: Wallet,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Failure> {
        let http = reqwest::Client::builder()
            .redirect(Policy::none())
            .connect_timeout(timeouts.connect)
            .timeout(timeouts.attempt)
            .user_agent(concat!("levelset/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|error| Failure::Unsent { reason: chain(&error) })?;
        let settings = SigningSettings::default();
        Ok(Self { http, endpoint, region, service, wallet, clock, settings })
    }

    /// Signs as S3 asks for: paths as they are sent, neither encoded once more nor made shorter, and
    /// the digest of the body in a header of its own.
    #[must_use]
    pub(super) fn for_objects(mut self) -> Self {
        self.settings.percent_encoding_mode = PercentEncodingMode::Single;
        self.settings.uri_path_normalization_mode = UriPathNormalizationMode::Disabled;
        self.settings.payload_checksum_kind = PayloadChecksumKind::XAmzSha256;
        self
    }

    /// Posts a body with these headers, which are signed.
    pub(super) async fn post(
        &self,
        headers: &[(&str, &str)],
        body: String,
    ) -> Result<Answer, Failure> {
        self.send((Method::POST, self.endpoint.clone()), headers, body).await
    }

    /// Returns the address to which paths are added.
    pub(super) fn endpoint(&self) -> &Url {
        &self.endpoint
    }

    /// Sends a body with these headers, which are signed.
    pub(super) async fn send(
        &self,
        (method, url): (Method, Url),
        headers: &[(&str, &str)],
        body: String,
    ) -> Result<Answer, Failure> {
        let credentials = self.wallet.draw().await.map_err(|error| credentials::failure(&error))?;
        let mut request = self.http.request(method.clone(), url.clone());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        for (name, value) in self.signature(credentials, (&method, &url), headers, &body)? {
            request = request.header(name, value);
        }
        let response = request.body(body).send().await.map_err(|error| unanswered(&error))?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let body = response.text().await.map_err(|error| unanswered(&error))?;
        Ok(Answer { status, headers, body })
    }

    /// Returns the headers that sign a request.
    fn signature(
        &self,
        credentials: Credentials,
        (method, url): (&Method, &Url),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Vec<(&'static str, String)>, Failure> {
        let unsent = |reason: String| Failure::Unsent { reason };
        let identity = credentials.into();
        let params = v4::SigningParams::builder()
            .identity(&identity)
            .region(self.region.as_str())
            .name(self.service)
            .time(time_of(&*self.clock))
            .settings(self.settings.clone())
            .build()
            .map_err(|error| unsent(chain(&error)))?
            .into();
        let request = SignableRequest::new(
            method.as_str(),
            url.as_str(),
            headers.iter().copied(),
            // Its digest, so that no code that signs sees what may be secret in it.
            SignableBody::Precomputed(hex::encode(Sha256::digest(body))),
        )
        .map_err(|error| unsent(chain(&error)))?;
        let signed = sign(request, &params).map_err(|error| unsent(chain(&error)))?;
        let (headers, _) = signed.into_parts().0.into_parts();
        Ok(headers.iter().map(|header| (header.name(), header.value().to_owned())).collect())
    }
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use aws_credential_types::provider::SharedCredentialsProvider;
    use jiff::Timestamp;

    use super::*;

    struct Midnight;

    impl Clock for Midnight {
        fn now(&self) -> Timestamp {
            "2026-11-30T00:00:00Z".parse().unwrap()
        }
    }

    fn signed(service: &'static str, endpoint: &str, region: &str) -> Signed {
        let credentials = Credentials::new("AKIDEXAMPLE", "secret", None, None, "test");
        let clock: Arc<dyn Clock> = Arc::new(Midnight);
        let wallet = Wallet::new(SharedCredentialsProvider::new(credentials), Arc::clone(&clock));
        let second = Duration::from_secs(1);
        let timeouts = Timeouts { connect: second, attempt: second };
        let place = (service, Url::parse(endpoint).unwrap(), Region::new(region.to_owned()));
        Signed::new(place, timeouts, wallet, clock).unwrap()
    }

    /// Returns the headers that sign a request to a path, or to another host.
    fn headers_of(
        signed: &Signed,
        (method, path): (Method, &str),
        headers: &[(&str, &str)],
        body: &str,
    ) -> Vec<(&'static str, String)> {
        let credentials = Credentials::new("AKIDEXAMPLE", "secret", None, None, "test");
        let url = signed.endpoint.join(path).unwrap();
        signed.signature(credentials, (&method, &url), headers, body).unwrap()
    }

    fn signature_in(made: &[(&'static str, String)]) -> String {
        let (_, value) = made.iter().find(|(name, _)| *name == "authorization").unwrap();
        value.split_once("Signature=").unwrap().1.to_owned()
    }

    /// Returns the signature of a request to Route 53.
    fn signature(method: Method, path: &str, headers: &[(&str, &str)], body: &str) -> String {
        let signed = signed("route53", "https://route53.amazonaws.com/", "us-east-1");
        signature_in(&headers_of(&signed, (method, path), headers, body))
    }

    /// The expected ones were made by botocore (`S3SigV4Auth`).
    #[test]
    fn a_signature_for_s3_is_what_botocore_makes_of_the_same_request() {
        let signed = signed("s3", "https://s3.eu-west-1.amazonaws.com/", "eu-west-1").for_objects();
        let owner = ("x-amz-expected-bucket-owner", "123456789012");
        for (method, path, headers, body, expected) in [
            (
                Method::GET,
                "https://a-b.s3.eu-west-1.amazonaws.com/?tagging",
                vec![owner],
                "",
                "035eb74128d0a8ef52800e84ee390385f6af05eee5c00466fef7f485d6839262",
            ),
            (
                Method::GET,
                "/?bucket-region=eu-west-1&max-buckets=1000&continuation-token=a%2Fb%2Bc%3D",
                Vec::new(),
                "",
                "a0cca43f5bc392e2238fac4a832979ed00327aaec3182f8548245655e8b4a17f",
            ),
            (
                Method::PUT,
                "/a.b?policy",
                vec![("content-type", "application/json"), owner],
                "{\"a\":1}",
                "afce63ca34b6d726e8771fcea96ee2360e91ac80bbddb0e37326fa981ffa5ea3",
            ),
        ] {
            let made = headers_of(&signed, (method, path), &headers, body);
            assert_eq!(signature_in(&made), expected, "{path}");
            let digest = hex::encode(Sha256::digest(body));
            assert!(made.contains(&("x-amz-content-sha256", digest)), "{made:?}");
        }
    }

    /// The expected ones were made by botocore, which knows nothing of this code.
    #[test]
    fn a_signature_is_what_botocore_makes_of_the_same_request() {
        let list = "/2013-04-01/hostedzone/Z1/rrset?name=%5C052.a%20b%2Bc%26d.&type=A";
        assert_eq!(
            signature(Method::GET, list, &[], ""),
            "a5ed057fa092b7f2e178e96be673dd9ee8743a7cca9785ec3a9fec849ff555ed"
        );
        let change = "/2013-04-01/hostedzone/Z1/rrset/";
        assert_eq!(
            signature(Method::POST, change, &[("content-type", "application/xml")], "<a/>"),
            "10a9f3a853768860973e534856a1789db977bc172c7c194ee92d533eb59125aa"
        );
    }
}
