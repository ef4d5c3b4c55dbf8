//! A thin client of S3's REST protocol: finds the address of a bucket, signs a request, sends it,
//! returns the answer of a success.
//!
//! The operations are tables in the kind that needs them ([`crate::kinds::sdk::rest`]); why there is no
//! SDK crate behind it stands in [`super::query`].
//!
//! A bucket is addressed by a host of its own, `NAME.s3.REGION.amazonaws.com`, and in the path where the
//! account names an address of S3 (an emulator, an appliance), or where a dot in its name keeps the
//! certificate from fitting the host.
//!
//! Invariant: every request goes to the address of the environment's region, and is signed for it.

use std::sync::Arc;

use aws_types::SdkConfig;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use sha2::{Digest, Sha256};
use url::Url;

use super::credentials::Wallet;
use super::rest::{address, refused};
use super::signed::{Answer, Signed};
use super::{Account, Timeouts};
use crate::kinds::sdk::Failure;
use crate::kinds::sdk::rest::{Incoming, Outgoing, Reply, Rest};
use crate::model::{Clock, Region};

const SERVICE: &str = "s3";

/// The domains of the partitions.
///
/// Source: the endpoint rules of S3 in AWS's SDKs.
const DOMAINS: &[(&str, &str)] = &[
    ("aws", "amazonaws.com"),
    ("aws-cn", "amazonaws.com.cn"),
    ("aws-us-gov", "amazonaws.com"),
    ("aws-iso", "c2s.ic.gov"),
    ("aws-iso-b", "sc2s.sgov.gov"),
    ("aws-iso-e", "cloud.adc-e.uk"),
    ("aws-iso-f", "csp.hci.ic.gov"),
    ("aws-eusc", "amazonaws.eu"),
];

/// Sends signed requests to S3.
pub(crate) struct S3Client {
    signed: Signed,
    /// Whether buckets are addressed in the path.
    by_path: bool,
}

impl S3Client {
    /// Makes the client for an account's region.
    pub(crate) fn new(
        account: &Account,
        config: &SdkConfig,
        timeouts: Timeouts,
        wallet: Wallet,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Failure> {
        let (url, by_path) = place(account, config)?;
        let place = (SERVICE, url, account.scope.region.clone());
        let signed = Signed::new(place, timeouts, wallet, clock)?.for_objects();
        Ok(Self { signed, by_path })
    }

    async fn carry(&self, mut request: Outgoing) -> Result<Incoming, Failure> {
        let endpoint = host(self.signed.endpoint(), self.by_path, &mut request)?;
        let url = address(&endpoint, &request);
        let method = Method::from_bytes(request.method.as_bytes())
            .map_err(|error| Failure::Unsent { reason: error.to_string() })?;
        let headers = headers(&request);
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = self.signed.send((method, url), &headers, request.body).await?;
        match answer.is_success() {
            true => Ok(Incoming { headers: texts(&answer), body: answer.body }),
            false => Err(explained(&answer)),
        }
    }
}

impl Rest for S3Client {
    fn send(&self, request: Outgoing) -> Reply<'_> {
        Box::pin(self.carry(request))
    }
}

/// Returns the address of S3, and whether it is one of the account's own.
fn place(account: &Account, config: &SdkConfig) -> Result<(Url, bool), Failure> {
    let own = account.endpoints.of(SERVICE).map(Url::as_str).or_else(|| config.endpoint_url());
    let address = match own {
        Some(own) => own.to_owned(),
        None => regional(&account.scope.region, config),
    };
    let wrong = |error| Failure::Unsent { reason: format!("{address} is no address: {error}") };
    Ok((Url::parse(&address).map_err(wrong)?, own.is_some()))
}

fn regional(region: &Region, config: &SdkConfig) -> String {
    let domain = DOMAINS.iter().find(|(partition, _)| *partition == region.partition());
    // A partition that is not known is an error when S3 is asked for, not before.
    let domain = domain.map_or("invalid", |(_, domain)| domain);
    let fips = if config.use_fips().unwrap_or_default() { "-fips" } else { "" };
    let both = if config.use_dual_stack().unwrap_or_default() { "dualstack." } else { "" };
    format!("https://s3{fips}.{both}{region}.{domain}")
}

/// Returns the host that a request goes to; a bucket that is part of it leaves the path.
fn host(endpoint: &Url, by_path: bool, request: &mut Outgoing) -> Result<Url, Failure> {
    let bucket = request.path.first().filter(|name| !name.is_empty() && !name.contains('.'));
    let Some(bucket) = bucket.filter(|_| !by_path) else { return Ok(endpoint.clone()) };
    let mut url = endpoint.clone();
    let host = format!("{bucket}.{}", endpoint.host_str().unwrap_or_default());
    url.set_host(Some(&host))
        .map_err(|error| Failure::Unsent { reason: format!("{host} is no host: {error}") })?;
    request.path.remove(0);
    Ok(url)
}

/// Returns the headers of a request; those that change a part of a bucket have to carry a digest of
/// their document (`httpChecksumRequired` in the API's description).
fn headers(request: &Outgoing) -> Vec<(&'static str, String)> {
    let mut headers = request.headers.clone();
    if request.body.is_empty() {
        return headers;
    }
    let is_json = request.body.starts_with('{');
    let media = if is_json { "application/json" } else { "application/xml" };
    headers.push(("content-type", media.to_owned()));
    if !request.query.is_empty() {
        headers.push(("x-amz-checksum-sha256", STANDARD.encode(Sha256::digest(&request.body))));
        headers.push(("x-amz-sdk-checksum-algorithm", "SHA256".to_owned()));
    }
    headers
}

fn texts(answer: &Answer) -> Vec<(String, String)> {
    let text = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    answer.headers.iter().filter_map(text).collect()
}

/// Reads an error, and adds in which region the bucket is, of one that is elsewhere.
fn explained(answer: &Answer) -> Failure {
    let failure = refused(answer.status, &answer.body);
    let region = answer.headers.get("x-amz-bucket-region").and_then(|it| it.to_str().ok());
    match (failure, region) {
        (Failure::Refused { status: status @ (301 | 307 | 400), code, message }, Some(region)) => {
            let message = format!("{message} (the bucket is in {region})");
            Failure::Refused { status, code, message }
        }
        (failure, _) => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccountId, Scope};

    fn config(fips: bool, both: bool) -> SdkConfig {
        SdkConfig::builder().use_fips(fips).use_dual_stack(both).build()
    }

    fn request(bucket: &str) -> Outgoing {
        let query = vec![("tagging", String::new())];
        Outgoing { method: "GET", path: vec![bucket.to_owned()], query, ..Outgoing::default() }
    }

    /// Where a request about a bucket goes.
    fn target(region: &str, (fips, both): (bool, bool), own: Option<&str>, bucket: &str) -> String {
        let region = Region::new(region.to_owned());
        let mut account = Account::new(Scope { account: AccountId::new("1"), region });
        if let Some(own) = own {
            account.endpoints = crate::aws::Endpoints::all(Url::parse(own).unwrap());
        }
        let (url, by_path) = place(&account, &config(fips, both)).unwrap();
        let mut request = request(bucket);
        let url = host(&url, by_path, &mut request).unwrap();
        address(&url, &request).to_string()
    }

    #[test]
    fn a_bucket_has_a_host_of_its_own_in_its_region() {
        const PLAIN: (bool, bool) = (false, false);
        for (region, options, bucket, expected) in [
            ("eu-west-1", PLAIN, "a-b", "a-b.s3.eu-west-1.amazonaws.com/"),
            ("us-east-1", (true, false), "a", "a.s3-fips.us-east-1.amazonaws.com/"),
            (
                "us-gov-west-1",
                (true, true),
                "a",
                "a.s3-fips.dualstack.us-gov-west-1.amazonaws.com/",
            ),
            ("cn-north-1", PLAIN, "a", "a.s3.cn-north-1.amazonaws.com.cn/"),
            // The certificate has room for one name before `s3`.
            ("eu-west-1", PLAIN, "a.b", "s3.eu-west-1.amazonaws.com/a.b"),
            ("eu-west-1", PLAIN, "", "s3.eu-west-1.amazonaws.com/"),
        ] {
            let expected = format!("https://{expected}?tagging");
            assert_eq!(target(region, options, None, bucket), expected);
        }
        let own = target("eu-west-1", PLAIN, Some("http://127.0.0.1:4566"), "a");
        assert_eq!(own, "http://127.0.0.1:4566/a?tagging");
    }

    #[test]
    fn a_document_that_changes_a_part_of_a_bucket_carries_its_digest() {
        let mut put = request("a");
        assert_eq!(headers(&put), []);
        put.body = "<a/>".to_owned();
        put.headers.push(("x-amz-expected-bucket-owner", "1".to_owned()));
        let names: Vec<&str> = headers(&put).iter().map(|(name, _)| *name).collect();
        let expected = [
            "x-amz-expected-bucket-owner",
            "content-type",
            "x-amz-checksum-sha256",
            "x-amz-sdk-checksum-algorithm",
        ];
        assert_eq!(names, expected);
        put.query.clear();
        assert_eq!(headers(&put).len(), 2, "the creation of a bucket has none");
    }
}
