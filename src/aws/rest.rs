//! A thin client of Route 53's REST protocol: signs a request, sends it, returns the XML of a success.
//!
//! The operations are tables in the kind that needs them ([`crate::kinds::sdk::rest`]); why there is no
//! SDK crate behind it stands in [`super::query`].
//!
//! Invariant: Route 53 is one for a partition, so requests are signed for the region where that has it,
//! whatever the environment's region.

use std::sync::Arc;

use aws_types::SdkConfig;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Method;
use url::Url;

use super::credentials::Wallet;
use super::signed::Signed;
use super::{Account, Timeouts};
use crate::kinds::sdk::rest::{Incoming, Outgoing, Reply, Rest};
use crate::kinds::sdk::{Failure, xml};
use crate::model::{Clock, Region};

const SERVICE: &str = "route53";

/// Where Route 53 lives: the partition, the region that requests are signed for, and the address.
///
/// Source: the endpoint rules of Route 53 in AWS's SDKs.
const HOMES: &[(&str, &str, &str)] = &[
    ("aws", "us-east-1", "https://route53.amazonaws.com"),
    ("aws-cn", "cn-northwest-1", "https://route53.amazonaws.com.cn"),
    ("aws-us-gov", "us-gov-west-1", "https://route53.us-gov.amazonaws.com"),
    ("aws-iso", "us-iso-east-1", "https://route53.c2s.ic.gov"),
    ("aws-iso-b", "us-isob-east-1", "https://route53.sc2s.sgov.gov"),
];

/// Route 53's address with validated cryptography; the one of GovCloud is so anyway.
const FIPS: &str = "https://route53-fips.amazonaws.com";

/// What a query may hold as it is (RFC 3986, unreserved characters), so that the signature and the
/// request agree.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Sends signed requests to Route 53.
pub(crate) struct RestClient {
    signed: Signed,
}

impl RestClient {
    /// Makes the client for an account.
    pub(crate) fn new(
        account: &Account,
        config: &SdkConfig,
        timeouts: Timeouts,
        wallet: Wallet,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Failure> {
        let (region, url) = place(account, config)?;
        Ok(Self { signed: Signed::new((SERVICE, url, region), timeouts, wallet, clock)? })
    }

    async fn carry(&self, request: Outgoing) -> Result<Incoming, Failure> {
        let url = address(self.signed.endpoint(), &request);
        let method = if request.method == "GET" { Method::GET } else { Method::POST };
        let headers: &[(&str, &str)] = match request.body.is_empty() {
            true => &[],
            false => &[("content-type", "application/xml")],
        };
        let answer = self.signed.send((method, url), headers, request.body).await?;
        match answer.is_success() {
            true => Ok(Incoming { headers: Vec::new(), body: answer.body }),
            false => Err(refused(answer.status, &answer.body)),
        }
    }
}

impl Rest for RestClient {
    fn send(&self, request: Outgoing) -> Reply<'_> {
        Box::pin(self.carry(request))
    }
}

/// Returns the region that requests are signed for and the address: the account's own, or AWS's.
fn place(account: &Account, config: &SdkConfig) -> Result<(Region, Url), Failure> {
    let unsent = |reason: String| Failure::Unsent { reason };
    let partition = account.scope.region.partition();
    let home = HOMES.iter().find(|(known, ..)| *known == partition);
    let own = account.endpoints.of(SERVICE).map(Url::as_str).or_else(|| config.endpoint_url());
    // A partition that is not known is an error when Route 53 is asked for, not before.
    let (_, region, url) = home.unwrap_or(&("", "us-east-1", "https://route53.invalid"));
    let address = match (own, config.use_fips().unwrap_or_default(), partition) {
        (Some(own), ..) => own,
        (None, true, "aws") => FIPS,
        (None, ..) => url,
    };
    let url =
        Url::parse(address).map_err(|error| unsent(format!("{address} is no address: {error}")))?;
    Ok((Region::new(*region), url))
}

/// Adds path and query to an address.
pub(super) fn address(endpoint: &Url, request: &Outgoing) -> Url {
    let encoded = |text: &str| utf8_percent_encode(text, RESERVED).to_string();
    let mut url = endpoint.clone();
    let path: Vec<String> = request.path.iter().map(|part| encoded(part)).collect();
    url.set_path(&format!("{}/{}", endpoint.path().trim_end_matches('/'), path.join("/")));
    if !request.query.is_empty() {
        let pair = |(name, value): &(&str, String)| match value.is_empty() {
            true => encoded(name),
            false => format!("{}={}", encoded(name), encoded(value)),
        };
        let pairs: Vec<String> = request.query.iter().map(pair).collect();
        url.set_query(Some(&pairs.join("&")));
    }
    url
}

/// Reads an error: `Error` with `Code` and `Message`, or, of an invalid batch, a document that is called
/// as its code and holds messages.
pub(super) fn refused(status: u16, body: &str) -> Failure {
    let plain = || format!("status {status} without a message");
    let Ok(root) = xml::parse(body) else {
        return Failure::Refused { status, code: None, message: plain() };
    };
    let text = |name: &str| root.find(name).map(|element| element.text.clone());
    let is_named = root.name != "ErrorResponse" && root.find("Messages").is_some();
    let code = text("Code").or_else(|| is_named.then(|| root.name.clone()));
    Failure::Refused { status, code, message: text("Message").unwrap_or_else(plain) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{AccountId, Scope};

    fn address_in(region: &str, fips: bool) -> (String, String) {
        let region = Region::new(region);
        let account = Account::new(Scope { account: AccountId::new("123456789012"), region });
        let config = SdkConfig::builder().use_fips(fips).build();
        let (region, url) = place(&account, &config).unwrap();
        (region.to_string(), url.to_string())
    }

    #[test]
    fn route_53_is_where_the_partition_has_it_whatever_the_region() {
        for (region, fips, signed_for, url) in [
            ("eu-west-1", false, "us-east-1", "https://route53.amazonaws.com/"),
            ("eu-west-1", true, "us-east-1", "https://route53-fips.amazonaws.com/"),
            ("cn-north-1", false, "cn-northwest-1", "https://route53.amazonaws.com.cn/"),
            ("us-gov-east-1", true, "us-gov-west-1", "https://route53.us-gov.amazonaws.com/"),
        ] {
            assert_eq!(address_in(region, fips), (signed_for.to_owned(), url.to_owned()));
        }
    }

    #[test]
    fn what_a_query_holds_is_encoded_as_it_is_signed() {
        let request = Outgoing {
            method: "GET",
            path: ["2013-04-01", "hostedzone", "Z1", "rrset"].map(str::to_owned).into(),
            query: vec![("name", "\\052.a b+c.".to_owned())],
            ..Outgoing::default()
        };
        let url = address(&Url::parse("http://127.0.0.1:1/").unwrap(), &request);
        let expected = "http://127.0.0.1:1/2013-04-01/hostedzone/Z1/rrset?name=%5C052.a%20b%2Bc.";
        assert_eq!(url.as_str(), expected);
    }

    #[test]
    fn the_code_of_an_error_is_found_in_both_of_its_forms() {
        for body in [
            "<ErrorResponse><Error><Type>Sender</Type><Code>InvalidChangeBatch</Code>\
             <Message>m</Message></Error><RequestId>r</RequestId></ErrorResponse>",
            "<InvalidChangeBatch xmlns=\"https://route53.amazonaws.com/doc/2013-04-01/\"><Messages>\
             <Message>m</Message></Messages></InvalidChangeBatch>",
        ] {
            let Failure::Refused { code, message, .. } = refused(400, body) else {
                panic!("{body}")
            };
            assert_eq!((code.as_deref(), &*message), (Some("InvalidChangeBatch"), "m"));
        }
        for body in ["<html><body>bad gateway</body></html>", "nothing"] {
            assert!(matches!(refused(502, body), Failure::Refused { code: None, .. }), "{body}");
        }
    }
}
