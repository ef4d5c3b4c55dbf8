//! A thin client of AWS's Query protocols: signs a form, sends it, returns the XML of a success.
//!
//! Why not an SDK crate for EC2 and IAM, when RDS and STS go through theirs: of EC2's six hundred
//! operations a few are needed, and the crate costs about 500 CPU seconds and a single compiler
//! process of 7.2 GiB (measured, version 1.274, debug build); its compiled form alone has 647 MB,
//! where RDS's has 157. A build has to fit in 4 GiB. IAM speaks the same kind of form and XML, so it
//! needs no third way. What is written here is the protocol only: [`super::signed`] signs and sends,
//! and the operations are tables in the kinds that need them ([`crate::kinds::sdk::query`]). A test has an independent judge check
//! signatures and policies.
//!
//! Invariant: a global service is signed for the one region of the partition that it lives in,
//! whatever the environment's region.

use std::sync::Arc;

use aws_sdk_rds::config::endpoint::{DefaultResolver, Params, ResolveEndpoint};
use aws_types::SdkConfig;
use reqwest::header::CONTENT_TYPE;
use url::Url;

use super::credentials::Wallet;
use super::signed::Signed;
use super::{Account, Timeouts};
use crate::kinds::sdk::query::{Body, Protocol, Query};
use crate::kinds::sdk::{Failure, chain, xml};
use crate::model::{Clock, Region};

const FORM: &str = "application/x-www-form-urlencoded; charset=utf-8";

/// Where IAM lives: the partition, the region that requests are signed for, and the address.
///
/// Source: the endpoint rules of IAM in AWS's SDKs, and "IAM endpoints" in the AWS General
/// Reference. IAM has one address per partition, so there is no pattern to follow.
const IAM: &[(&str, &str, &str)] = &[
    ("aws", "us-east-1", "https://iam.amazonaws.com"),
    ("aws-cn", "cn-north-1", "https://iam.cn-north-1.amazonaws.com.cn"),
    ("aws-us-gov", "us-gov-west-1", "https://iam.us-gov.amazonaws.com"),
    ("aws-iso", "us-iso-east-1", "https://iam.us-iso-east-1.c2s.ic.gov"),
    ("aws-iso-b", "us-isob-east-1", "https://iam.us-isob-east-1.sc2s.sgov.gov"),
    ("aws-eusc", "eusc-de-east-1", "https://iam.eusc-de-east-1.amazonaws.eu"),
];

/// IAM's address with validated cryptography; the one of GovCloud is so anyway.
const IAM_FIPS: &str = "https://iam-fips.amazonaws.com";

/// Sends signed forms to one service.
pub(crate) struct QueryClient {
    protocol: Protocol,
    signed: Signed,
}

impl QueryClient {
    /// Makes the client of a service for an account's region.
    pub(crate) async fn new(
        protocol: Protocol,
        account: &Account,
        config: &SdkConfig,
        timeouts: Timeouts,
        wallet: Wallet,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Failure> {
        let place = &account.scope.region;
        let region = match protocol.is_global {
            true => home(place.partition())?.0,
            false => place.clone(),
        };
        let url = match account.endpoints.of(protocol.service) {
            Some(url) => url.clone(),
            None => default_endpoint(&protocol, place, config).await?,
        };
        let signed = Signed::new((protocol.service, url, region), timeouts, wallet, clock)?;
        Ok(Self { protocol, signed })
    }

    async fn send(&self, fields: Vec<(String, String)>) -> Result<String, Failure> {
        let body =
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
        let answer = self.signed.post(&[(CONTENT_TYPE.as_str(), FORM)], body).await?;
        match answer.is_success() {
            true => Ok(answer.body),
            false => Err(refused(answer.status, &answer.body)),
        }
    }
}

impl Query for QueryClient {
    fn protocol(&self) -> Protocol {
        self.protocol
    }

    fn post(&self, fields: Vec<(String, String)>) -> Body<'_> {
        Box::pin(self.send(fields))
    }
}

/// Returns the region and the address of IAM in a partition; what an account has once has its events in
/// that region.
pub(super) fn home(partition: &str) -> Result<(Region, &'static str), Failure> {
    let found = IAM.iter().find(|(known, ..)| *known == partition);
    let (_, region, url) = found.ok_or_else(|| Failure::Unsent {
        reason: format!("the address of IAM in the partition {partition} is not known"),
    })?;
    Ok((Region::new(*region), url))
}

/// Returns the address of a regional service: the account's own, or AWS's.
pub(super) async fn endpoint(
    service: &str,
    account: &Account,
    config: &SdkConfig,
) -> Result<Url, Failure> {
    if let Some(url) = account.endpoints.of(service) {
        return Ok(url.clone());
    }
    let address = match config.endpoint_url() {
        Some(url) => url.to_owned(),
        None => regional_address(service, &account.scope.region, config).await?,
    };
    let unsent = |error| Failure::Unsent { reason: format!("{address} is no address: {error}") };
    Url::parse(&address).map_err(unsent)
}

/// Returns a service's address for an account's region.
///
/// The partitions' domains come from the SDK: EC2 and RDS follow the same pattern in all of them.
async fn default_endpoint(
    protocol: &Protocol,
    region: &Region,
    config: &SdkConfig,
) -> Result<Url, Failure> {
    let unsent = |reason: String| Failure::Unsent { reason };
    let address = match config.endpoint_url() {
        Some(url) => url.to_owned(),
        None if protocol.is_global => global_address(region, config)?.to_owned(),
        None => regional_address(protocol.service, region, config).await?,
    };
    Url::parse(&address).map_err(|error| unsent(format!("{address} is no address: {error}")))
}

fn global_address(region: &Region, config: &SdkConfig) -> Result<&'static str, Failure> {
    let (_, address) = home(region.partition())?;
    match (config.use_fips().unwrap_or_default(), region.partition()) {
        (false, _) | (true, "aws-us-gov") => Ok(address),
        (true, "aws") => Ok(IAM_FIPS),
        (true, partition) => Err(Failure::Unsent {
            reason: format!("IAM has no FIPS address in the partition {partition}"),
        }),
    }
}

async fn regional_address(
    service: &str,
    region: &Region,
    config: &SdkConfig,
) -> Result<String, Failure> {
    let params = Params::builder()
        .region(region.as_str().to_owned())
        .use_fips(config.use_fips().unwrap_or_default())
        .use_dual_stack(config.use_dual_stack().unwrap_or_default())
        .build()
        .map_err(|error| Failure::Unsent { reason: chain(&error) })?;
    let rds = DefaultResolver::new()
        .resolve_endpoint(&params)
        .await
        .map_err(|error| Failure::Unsent { reason: error.to_string() })?;
    Ok(rds.url().replacen("://rds", &format!("://{service}"), 1))
}

/// Reads an error: `Error` with `Code` and `Message`, in EC2's `Response/Errors` or in IAM's
/// `ErrorResponse`.
fn refused(status: u16, body: &str) -> Failure {
    let error = xml::parse(body).ok().and_then(|root| root.find("Error").cloned());
    let text = |name| error.as_ref().and_then(|error| error.find(name)).map(|e| e.text.clone());
    Failure::Refused {
        status,
        code: text("Code"),
        message: text("Message").unwrap_or_else(|| format!("status {status} without a message")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::sdk::query::{EC2, IAM};

    async fn address(protocol: Protocol, region: &str, fips: bool) -> String {
        let config = SdkConfig::builder().use_fips(fips).build();
        match default_endpoint(&protocol, &Region::new(region), &config).await {
            Ok(url) => url.to_string(),
            Err(failure) => format!("{failure:?}"),
        }
    }

    #[tokio::test]
    async fn iam_is_where_the_partition_has_it_whatever_the_region() {
        let cases = [
            ("eu-west-1", "us-east-1", "https://iam.amazonaws.com/"),
            ("us-west-2", "us-east-1", "https://iam.amazonaws.com/"),
            ("cn-northwest-1", "cn-north-1", "https://iam.cn-north-1.amazonaws.com.cn/"),
            ("us-gov-east-1", "us-gov-west-1", "https://iam.us-gov.amazonaws.com/"),
        ];
        for (region, signed_for, url) in cases {
            assert_eq!(address(IAM, region, false).await, url);
            let home = home(Region::new(region).partition()).unwrap().0;
            assert_eq!(home.as_str(), signed_for, "{region}");
        }
        assert_eq!(address(IAM, "eu-west-1", true).await, "https://iam-fips.amazonaws.com/");
        let refused = address(IAM, "cn-north-1", true).await;
        assert!(refused.contains("no FIPS address"), "{refused}");
    }

    #[tokio::test]
    async fn ec2_is_in_every_region_under_the_partitions_domain() {
        let cases = [
            ("eu-west-1", false, "https://ec2.eu-west-1.amazonaws.com/"),
            ("cn-north-1", false, "https://ec2.cn-north-1.amazonaws.com.cn/"),
            ("us-east-1", true, "https://ec2-fips.us-east-1.amazonaws.com/"),
        ];
        for (region, fips, url) in cases {
            assert_eq!(address(EC2, region, fips).await, url);
        }
    }
}
