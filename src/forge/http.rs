//! HTTP to a host, over reqwest.
//!
//! Invariants: a request ends within [`LONGEST`]; an answer is read up to [`LARGEST`]; credentials go
//! to the host that they are for and to no other, whatever it redirects to.

use std::time::Duration;

use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::redirect::{Attempt, Policy};
use reqwest::{Certificate, Client, Response};

use super::wire::{Answer, Method, NoAnswer, Request, Wire, WireFuture};

/// How long a host may take to answer in full.
pub const LONGEST: Duration = Duration::from_secs(20);

/// How long it may take until a connection stands.
const CONNECT: Duration = Duration::from_secs(5);

/// How much of an answer is read; a page of 100 pull requests of GitHub has about 2 MiB.
pub const LARGEST: usize = 8 << 20;

/// Follows that many redirects, as a renamed repository of GitHub gives one.
const REDIRECTS: usize = 3;

/// Sends requests over HTTP/1.1.
#[derive(Debug, Clone)]
pub struct Http {
    client: Client,
}

/// Says why no client can be made.
#[derive(Debug, thiserror::Error)]
#[error("cannot prepare HTTPS")]
pub struct Unprepared(#[from] reqwest::Error);

impl Http {
    /// Makes a client that trusts the system's authorities, and those of a PEM file beside them.
    ///
    /// # Errors
    ///
    /// When the PEM file holds no certificate.
    pub fn new(authorities: Option<&[u8]>) -> Result<Self, Unprepared> {
        let mut builder = Client::builder()
            .redirect(Policy::custom(follow))
            .connect_timeout(CONNECT)
            .timeout(LONGEST)
            .user_agent(concat!("levelset/", env!("CARGO_PKG_VERSION")));
        for certificate in
            authorities.map(Certificate::from_pem_bundle).transpose()?.into_iter().flatten()
        {
            builder = builder.add_root_certificate(certificate);
        }
        Ok(Self { client: builder.build()? })
    }

    async fn exchange(&self, request: Request) -> Result<Answer, NoAnswer> {
        let method = match request.method {
            Method::Get => reqwest::Method::GET,
            Method::Post => reqwest::Method::POST,
            Method::Put => reqwest::Method::PUT,
            Method::Patch => reqwest::Method::PATCH,
        };
        let mut building = self.client.request(method, request.url.clone());
        for (name, value) in &request.headers {
            building = building.header(*name, value);
        }
        if let Some((name, value)) = request.secret() {
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| NoAnswer("the credentials hold a line break".to_owned()))?;
            value.set_sensitive(true);
            building = building.header(name, value);
        }
        if let Some(body) = request.bytes() {
            building = building.header(CONTENT_TYPE, request.media_type()).body(body);
        }
        let response = building.send().await.map_err(unanswered)?;
        read(response).await
    }
}

impl Wire for Http {
    fn send(&self, request: Request) -> WireFuture<'_> {
        Box::pin(self.exchange(request))
    }
}

/// Follows a redirect within the same origin; any other is an answer like every other.
fn follow(attempt: Attempt<'_>) -> reqwest::redirect::Action {
    let is_same = attempt.previous().first().map(url::Url::origin) == Some(attempt.url().origin());
    if is_same && attempt.previous().len() <= REDIRECTS { attempt.follow() } else { attempt.stop() }
}

async fn read(mut response: Response) -> Result<Answer, NoAnswer> {
    let status = response.status().as_u16();
    let text = |(name, value): (&reqwest::header::HeaderName, &HeaderValue)| {
        Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
    };
    let headers = response.headers().iter().filter_map(text).collect();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(unanswered)? {
        if body.len() + chunk.len() > LARGEST {
            return Err(NoAnswer(format!("the answer is larger than {} MiB", LARGEST >> 20)));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer { status, headers, body })
}

/// Words an error without its URL: its place is in the message around it, and that of a hook is a secret.
fn unanswered(error: reqwest::Error) -> NoAnswer {
    let error = error.without_url();
    if error.is_timeout() {
        return NoAnswer(format!("it did not answer within {} seconds", LONGEST.as_secs()));
    }
    let mut cause: &dyn std::error::Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    NoAnswer(cause.to_string())
}
