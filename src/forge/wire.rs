//! The port to HTTP: one request, one answer.
//!
//! The requests of the hosts' APIs are values, so that a test can answer them without a network and in
//! virtual time.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use url::Url;

/// Names a method of HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Adds, or sets.
    Post,
    /// Replaces.
    Put,
    /// Changes.
    Patch,
}

impl Method {
    /// Returns the word of HTTP.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
        }
    }
}

/// Holds one request.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is done.
    pub method: Method,
    /// To what; holds no credentials.
    pub url: Url,
    /// Headers beside the credentials.
    pub headers: Vec<(&'static str, String)>,
    /// The header of the credentials; no trait prints its value.
    pub credentials: Option<(&'static str, SecretString)>,
    /// What is sent with it.
    pub body: Option<Body>,
}

/// Holds what is sent with a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// JSON.
    Json(Value),
    /// The fields of a form, in their order (`application/x-www-form-urlencoded`).
    Form(Vec<(String, String)>),
}

impl Request {
    /// Makes a request without a body.
    pub fn get(url: Url) -> Self {
        let (headers, credentials, body) = (Vec::new(), None, None);
        Self { method: Method::Get, url, headers, credentials, body }
    }

    /// Makes a request that changes something.
    pub fn write(method: Method, url: Url, body: Value) -> Self {
        Self { method, body: Some(Body::Json(body)), ..Self::get(url) }
    }

    /// Makes a request that sends a form.
    pub fn form(url: Url, fields: Vec<(String, String)>) -> Self {
        Self { method: Method::Post, body: Some(Body::Form(fields)), ..Self::get(url) }
    }

    /// Returns the body if it is JSON.
    pub fn json(&self) -> Option<&Value> {
        match &self.body {
            Some(Body::Json(value)) => Some(value),
            Some(Body::Form(_)) | None => None,
        }
    }

    /// Returns the bytes of the body, as they are sent and signed.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        self.body.as_ref().map(|body| match body {
            // A value is always written.
            Body::Json(value) => serde_json::to_vec(value).unwrap_or_default(),
            Body::Form(fields) => {
                let mut form = url::form_urlencoded::Serializer::new(String::new());
                form.extend_pairs(fields);
                form.finish().into_bytes()
            }
        })
    }

    /// Returns the media type of the body.
    pub fn media_type(&self) -> &'static str {
        match &self.body {
            Some(Body::Form(_)) => "application/x-www-form-urlencoded",
            Some(Body::Json(_)) | None => "application/json",
        }
    }

    /// Returns the value of the header of the credentials, for whoever sends it.
    pub fn secret(&self) -> Option<(&'static str, &str)> {
        self.credentials.as_ref().map(|(name, value)| (*name, value.expose_secret()))
    }
}

/// Shows what is asked and of whom, for errors; neither headers nor body.
impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.method.as_str(), self.url)
    }
}

/// Holds what a host answered, whatever its status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// The headers that are text, their names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    /// Returns the first header of a name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Says why there is no answer; nothing is known of what became of the request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoAnswer(pub String);

/// The future of an answer.
pub type WireFuture<'a> = Pin<Box<dyn Future<Output = Result<Answer, NoAnswer>> + Send + 'a>>;

/// Sends requests.
pub trait Wire: Send + Sync {
    /// Sends one request, and returns the answer or gives up after a bounded time.
    fn send(&self, request: Request) -> WireFuture<'_>;
}
