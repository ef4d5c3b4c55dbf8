//! Turns a failure of libgit2 into the condition that a person can act on.
//!
//! In: the error, the stage, and what the callbacks saw. Out: a [`SourceError`].
//!
//! Codes, error classes and what was seen decide. libgit2 has no code for three conditions (HTTP
//! status, refused redirect, SHA-256 repository); for these alone the text is read, in [`Said`]:
//! the library is compiled in, so that its texts change only with its version, and the tests
//! against real servers notice. Addresses are probed after a failure, never before.

use std::io::ErrorKind;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use git2::{ErrorClass, ErrorCode};

use super::SourceError;
use super::access::{FetchRequest, Server};
use super::host_key::names_host;
use super::transfer::{Seen, Stage};

/// Returns the condition that made a fetch fail.
pub(crate) fn classify(
    request: &FetchRequest,
    seen: &Seen,
    stage: Stage,
    error: &git2::Error,
) -> SourceError {
    let Some(server) = &request.server else { return classify_local(request, error) };
    by_what_was_seen(request, server, seen, error)
        .or_else(|| by_address(request, server, seen, stage, error))
        .or_else(|| by_code(request, server, seen, error))
        .or_else(|| by_text(request, error))
        .unwrap_or_else(|| SourceError::TransferFailed { url: url(request), detail: detail(error) })
}

fn url(request: &FetchRequest) -> String {
    request.shown.clone()
}

/// Returns the message on one line, cut to a bearable length.
fn detail(error: &git2::Error) -> String {
    let line = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(300).collect()
}

fn classify_local(request: &FetchRequest, error: &git2::Error) -> SourceError {
    let url = url(request);
    if matches!(Said::by(error), Some(Said::OtherFormat)) {
        return SourceError::UnsupportedFormat { url };
    }
    match error.code() {
        ErrorCode::Owner => SourceError::NotOwned { url },
        ErrorCode::NotFound if !std::path::Path::new(&request.url).exists() => {
            SourceError::RepositoryNotFound { url }
        }
        ErrorCode::NotFound => SourceError::NotARepository { url, detail: detail(error) },
        _ => SourceError::TransferFailed { url, detail: detail(error) },
    }
}

fn by_what_was_seen(
    request: &FetchRequest,
    server: &Server,
    seen: &Seen,
    error: &git2::Error,
) -> Option<SourceError> {
    if let Some(other) = &seen.other_host {
        let detail = format!("to {other}");
        return Some(SourceError::RedirectRefused { url: url(request), detail });
    }
    if seen.credentials_missing {
        return Some(SourceError::CredentialsMissing { url: url(request) });
    }
    if seen.credentials_refused {
        return Some(refused(request, "they were not accepted".to_owned()));
    }
    if error.code() == ErrorCode::Certificate && seen.host_key.is_some() {
        return host_key(request, server, seen);
    }
    None
}

fn refused(request: &FetchRequest, detail: String) -> SourceError {
    SourceError::AuthenticationFailed { url: url(request), detail }
}

fn host_key(request: &FetchRequest, server: &Server, seen: &Seen) -> Option<SourceError> {
    let key = seen.host_key.as_ref()?;
    let known = request.known_hosts.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
    let (url, host) = (url(request), server.host.clone());
    let (fingerprint, line) = (key.fingerprint(), key.line(server));
    if known.is_some_and(|known| names_host(&known, server)) {
        return Some(SourceError::HostKeyChanged { url, host, fingerprint, line });
    }
    Some(SourceError::HostKeyUnknown { url, host, fingerprint, line })
}

fn by_code(
    request: &FetchRequest,
    server: &Server,
    seen: &Seen,
    error: &git2::Error,
) -> Option<SourceError> {
    let limit = Duration::from_millis(u64::from(request.server_timeout_ms));
    let silent = seen.last_activity.elapsed() >= limit;
    // Over SSH a timeout has no code of its own.
    if error.code() == ErrorCode::Timeout || silent {
        return Some(SourceError::ServerSilent { url: url(request), seconds: limit.as_secs() });
    }
    if error.code() == ErrorCode::Auth {
        return Some(refused(request, detail(error)));
    }
    // A connection that breaks before the server showed a certificate: it does not speak TLS.
    let unfinished = request.url.starts_with("https:")
        && !seen.certificate
        && matches!(error.class(), ErrorClass::Net | ErrorClass::Os);
    let tls = error.class() == ErrorClass::Ssl || error.code() == ErrorCode::Certificate;
    if tls || unfinished {
        let (host, detail) = (server.host.clone(), detail(error));
        return Some(SourceError::TlsFailed { url: url(request), host, detail });
    }
    let ssh = error.class() == ErrorClass::Ssh;
    // What upload-pack writes on its standard error before it ends: there is no such repository.
    if ssh && error.code() == ErrorCode::Eof {
        return Some(SourceError::RepositoryNotFound { url: url(request) });
    }
    if ssh && seen.credentials_given && !seen.listed {
        return Some(refused(request, detail(error)));
    }
    None
}

fn by_text(request: &FetchRequest, error: &git2::Error) -> Option<SourceError> {
    let url = url(request);
    Some(match Said::by(error)? {
        Said::Status(401 | 403) => refused(request, "it may not read the repository".to_owned()),
        Said::Status(404 | 410) => SourceError::RepositoryNotFound { url },
        Said::Status(status) => SourceError::ServerError { url, status },
        Said::ContentType => SourceError::NotARepository { url, detail: detail(error) },
        Said::Redirect => SourceError::RedirectRefused { url, detail: detail(error) },
        Said::OtherFormat => SourceError::UnsupportedFormat { url },
    })
}

/// Asks the network itself why there was no answer.
fn by_address(
    request: &FetchRequest,
    server: &Server,
    seen: &Seen,
    stage: Stage,
    error: &git2::Error,
) -> Option<SourceError> {
    let answered = seen.listed || seen.credentials_given || seen.host_key.is_some();
    let network = matches!(error.class(), ErrorClass::Net | ErrorClass::Os);
    if stage != Stage::Connect || answered || !network {
        return None;
    }
    let host = server.host.clone();
    let Ok(addresses) = (server.host.trim_matches(['[', ']']), server.port).to_socket_addrs()
    else {
        return Some(SourceError::UnknownHost { url: url(request), host });
    };
    let refused = addresses.into_iter().all(|address| {
        let limit = Duration::from_millis(u64::from(request.server_timeout_ms).clamp(1, 5000));
        match TcpStream::connect_timeout(&address, limit) {
            Ok(_) => false,
            Err(error) => error.kind() != ErrorKind::Interrupted,
        }
    });
    refused.then(|| SourceError::ConnectionRefused { url: url(request), host, port: server.port })
}

/// Names what libgit2 says in words only.
#[derive(Debug, PartialEq, Eq)]
enum Said {
    Status(u16),
    ContentType,
    Redirect,
    OtherFormat,
}

impl Said {
    fn by(error: &git2::Error) -> Option<Self> {
        let text = error.message();
        if let Some(status) = text.strip_prefix("unexpected http status code: ") {
            return status.trim().parse().ok().map(Self::Status);
        }
        if text.starts_with("invalid content-type") || text.starts_with("no content-type") {
            return Some(Self::ContentType);
        }
        if text.contains("redirect") {
            return Some(Self::Redirect);
        }
        if text.contains("object format") || text.contains("extensions.objectformat") {
            return Some(Self::OtherFormat);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_http_status_is_read_from_the_words_of_the_library() {
        let error = git2::Error::from_str("unexpected http status code: 503");
        assert_eq!(Said::by(&error), Some(Said::Status(503)));
        assert_eq!(Said::by(&git2::Error::from_str("unexpected EOF")), None);
    }
}
