//! Under which names the agent answers.
//!
//! In: the `Host` of a request. Out: whether it is served. A page that a person has open can have its
//! own name resolve to a loopback address and then read what listens there (DNS rebinding); its
//! requests carry that name, which nobody has given to the agent.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};

/// Holds the names of the agent; an IP address and `localhost` need no entry.
#[derive(Debug, Clone, Default)]
pub struct Hosts(Arc<BTreeSet<String>>);

impl Hosts {
    /// Takes the names under which the agent is asked from elsewhere; their case carries no meaning.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        Self(Arc::new(names.into_iter().map(str::to_ascii_lowercase).collect()))
    }

    /// Returns the name of a request that is not served.
    ///
    /// Browsers always send one; a request without any is served.
    pub(super) fn stranger(&self, headers: &HeaderMap, uri: &Uri) -> Option<String> {
        let sent = headers.get_all(HOST).iter().map(|host| host.to_str().unwrap_or("?").to_owned());
        let absolute = uri.authority().map(ToString::to_string);
        sent.chain(absolute).find(|host| !self.admits(host))
    }

    /// A name that cannot be read is nobody's.
    fn admits(&self, host: &str) -> bool {
        let Ok(authority) = host.parse::<Authority>() else { return false };
        let name = authority.host().to_ascii_lowercase();
        let address = name.trim_start_matches('[').trim_end_matches(']');
        name == "localhost" || address.parse::<IpAddr>().is_ok() || self.0.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn stranger(host: &str, uri: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        if !host.is_empty() {
            headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        }
        Hosts::new(["Levelset.example.com"]).stranger(&headers, &uri.parse().unwrap())
    }

    #[test]
    fn addresses_localhost_and_the_names_that_are_set_are_served() {
        for host in [
            "",
            "127.0.0.1",
            "127.0.0.1:8080",
            "10.1.2.3:80",
            "[::1]:8080",
            "[::1]",
            "localhost",
            "LOCALHOST:8080",
            "levelset.example.com",
            "LEVELSET.example.com:443",
        ] {
            assert_eq!(stranger(host, "/"), None, "{host}");
        }
    }

    #[test]
    fn every_other_name_is_a_stranger_wherever_it_stands() {
        for host in [
            "evil.example",
            "evil.example:8080",
            "localhost.evil.example",
            "levelset.example.com.evil.example",
            "127.0.0.1.evil.example",
            "a b",
            "user@evil.example",
        ] {
            assert_eq!(stranger(host, "/").as_deref(), Some(host));
        }
        let absolute = stranger("localhost", "http://evil.example/metrics");
        assert_eq!(absolute.as_deref(), Some("evil.example"));
    }
}
