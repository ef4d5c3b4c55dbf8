//! A thin client of AWS's JSON protocols (awsJson1.0 and 1.1): signs a document, sends it, returns
//! the document of a success.
//!
//! The operations are tables in the kinds that need them ([`crate::kinds::sdk::json`]); why there is
//! no SDK crate behind it stands in [`super::query`].

use std::sync::Arc;

use aws_types::SdkConfig;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::credentials::Wallet;
use super::query::endpoint;
use super::signed::{Answer, Signed};
use super::{Account, Timeouts};
use crate::kinds::sdk::Failure;
use crate::kinds::sdk::json::{Json, Protocol};
use crate::kinds::sdk::query::Body;
use crate::model::Clock;

/// Sends signed documents to one service.
pub(crate) struct JsonClient {
    protocol: Protocol,
    signed: Signed,
}

impl JsonClient {
    /// Makes the client of a service for an account's region.
    pub(crate) async fn new(
        protocol: Protocol,
        account: &Account,
        config: &SdkConfig,
        timeouts: Timeouts,
        wallet: Wallet,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Failure> {
        let url = endpoint(protocol.service, account, config).await?;
        let place = (protocol.service, url, account.scope.region.clone());
        Ok(Self { protocol, signed: Signed::new(place, timeouts, wallet, clock)? })
    }

    async fn send(&self, operation: &str, body: SecretString) -> Result<String, Failure> {
        let target = format!("{}.{operation}", self.protocol.target);
        let headers =
            [("content-type", self.protocol.content_type), ("x-amz-target", target.as_str())];
        let answer = self.signed.post(&headers, body.expose_secret().to_owned()).await?;
        if answer.is_success() { Ok(answer.body) } else { Err(refused(&answer)) }
    }
}

impl Json for JsonClient {
    fn post<'a>(&'a self, operation: &'a str, body: SecretString) -> Body<'a> {
        Box::pin(self.send(operation, body))
    }
}

/// Reads an error: its code stands in a header or in `__type`, with or without a namespace and an
/// address, as the protocol's description allows.
fn refused(answer: &Answer) -> Failure {
    let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
    let text = |name: &str| body.get(name).and_then(Value::as_str);
    let header = answer.headers.get("x-amzn-errortype").and_then(|value| value.to_str().ok());
    let code = header.or_else(|| text("__type")).or_else(|| text("code"));
    let plain = |code: &str| {
        let code = code.split(':').next().unwrap_or_default();
        code.rsplit('#').next().unwrap_or_default().to_owned()
    };
    let message = text("message").or_else(|| text("Message")).map(str::to_owned);
    Failure::Refused {
        status: answer.status,
        code: code.map(plain),
        message: message.unwrap_or_else(|| format!("status {} without a message", answer.status)),
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderMap;

    use super::*;

    #[test]
    fn the_code_of_an_error_is_found_wherever_the_protocol_puts_it() {
        let cases = [
            (
                None,
                r#"{"__type":"com.amazonaws.cloudcontrol#AlreadyExistsException","message":"m"}"#,
            ),
            (None, r#"{"__type":"AlreadyExistsException","Message":"m"}"#),
            (Some("AlreadyExistsException:http://internal.amazon.com/"), r#"{"message":"m"}"#),
        ];
        for (header, body) in cases {
            let mut headers = HeaderMap::new();
            if let Some(value) = header {
                headers.insert("x-amzn-errortype", value.parse().unwrap());
            }
            let Failure::Refused { code, message, .. } =
                refused(&Answer { status: 400, headers, body: body.to_owned() })
            else {
                panic!("{body}")
            };
            assert_eq!((code.as_deref(), &*message), (Some("AlreadyExistsException"), "m"));
        }
        let answer = Answer { status: 502, headers: HeaderMap::new(), body: "<html>".to_owned() };
        assert!(matches!(refused(&answer), Failure::Refused { code: None, .. }));
    }
}
