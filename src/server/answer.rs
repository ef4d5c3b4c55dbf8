//! The forms of an answer: JSON with an entity tag, plain text, a problem document.

use axum::Json;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// Answers with JSON, or with 304 when the client has it already.
///
/// The tag is a digest of the body, so that equal content has an equal tag after a restart as well.
pub(super) fn tagged(request: &HeaderMap, content: &Value) -> Response {
    let body = content.to_string();
    let tag = format!("\"{}\"", hex::encode(&Sha256::digest(&body)[..16]));
    let known = request.get_all(IF_NONE_MATCH).iter().any(|sent| matches(sent, &tag));
    let mut response = match known {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(CONTENT_TYPE, "application/json")], body).into_response(),
    };
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        response.headers_mut().insert(ETAG, tag);
    }
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Compares weakly, as If-None-Match does (RFC 9110, 13.1.2).
fn matches(sent: &HeaderValue, tag: &str) -> bool {
    let Ok(sent) = sent.to_str() else { return false };
    sent.split(',').map(str::trim).any(|candidate| {
        candidate == "*" || candidate.strip_prefix("W/").unwrap_or(candidate) == tag
    })
}

/// Answers with one line of text that must not be kept.
pub(super) fn line(status: StatusCode, text: &str) -> Response {
    let headers = [(CONTENT_TYPE, "text/plain; charset=utf-8"), (CACHE_CONTROL, "no-store")];
    (status, headers, format!("{text}\n")).into_response()
}

/// Answers with a problem document (RFC 9457) that says no more than the status does by its type.
pub(super) fn problem(status: StatusCode, path: &str, detail: &str) -> Response {
    let body = json!({
        "type": "about:blank",
        "title": status.canonical_reason().unwrap_or("Error"),
        "status": status.as_u16(),
        "detail": detail,
        "instance": path,
    });
    let mut response = (status, Json(body)).into_response();
    let kind = HeaderValue::from_static("application/problem+json");
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_matches_alone_in_a_list_weakly_and_by_the_star() {
        let sent = |text: &'static str| HeaderValue::from_static(text);
        for text in ["\"a\"", "\"b\", \"a\"", "W/\"a\"", "*"] {
            assert!(matches(&sent(text), "\"a\""), "{text}");
        }
        for text in ["", "a", "\"b\"", "\"a", "W/\"b\""] {
            assert!(!matches(&sent(text), "\"a\""), "{text}");
        }
    }
}
