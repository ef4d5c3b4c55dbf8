//! `POST /webhooks/HOST`: the body is read within bounds, and handed to whoever takes webhooks.
//!
//! Invariants: a body is read only when somebody expects it, and all bodies together take a bounded
//! room; who is proven is answered with 200 whatever the event, because hosts switch off what answers
//! with errors.

use std::sync::Arc;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Path, Request, State};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum::routing::post;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::answer::{line, problem};
use super::routes::Site;
use crate::model::webhook::{Host, Receipt, Webhook, Webhooks};

/// What GitHub sends at most ("Webhook events and payloads"); other hosts send less.
const LARGEST_BODY: usize = 25 << 20;

/// What all bodies that are being read may take together, in KiB.
const ROOM: usize = 64 << 10;

/// Holds what the route answers from.
#[derive(Clone)]
struct Door {
    site: Site,
    room: Arc<Semaphore>,
}

/// Makes the route.
pub(super) fn routes(site: Site) -> Router {
    let door = Door { site, room: Arc::new(Semaphore::new(ROOM)) };
    Router::new().route("/webhooks/{host}", post(take)).with_state(door)
}

async fn take(State(door): State<Door>, Path(word): Path<String>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let expecting = door.site.webhooks.as_ref().zip(Host::of(&word));
    let Some((webhooks, host)) = expecting.filter(|(webhooks, host)| webhooks.expects(*host))
    else {
        let detail = "no webhooks are expected here; name a secret in webhooks.HOST.secretFile";
        return problem(StatusCode::NOT_FOUND, &path, detail);
    };
    let (receipt, response) = match door.read(webhooks.as_ref(), host, request).await {
        Ok(receipt) => (receipt, answer(receipt, &path)),
        Err((status, detail)) => (Receipt::Unread, problem(status, &path, detail)),
    };
    door.site.metrics.webhook(host, receipt);
    response
}

type Unread = (StatusCode, &'static str);

impl Door {
    async fn read(
        &self,
        webhooks: &dyn Webhooks,
        host: Host,
        request: Request,
    ) -> Result<Receipt, Unread> {
        let (head, body) = request.into_parts();
        let limit = length(&head.headers)?;
        let _place = self.place(limit)?;
        let body = to_bytes(body, limit).await.map_err(|_| TOO_LARGE)?;
        let headers = texts(&head.headers);
        Ok(webhooks.receive(&Webhook { host, headers, body: &body }))
    }

    /// Takes room for a body, or none when it is not there at once: a hint is not worth a wait.
    fn place(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Unread> {
        let kib = u32::try_from(bytes.div_ceil(1 << 10)).map_err(|_| TOO_LARGE)?;
        Arc::clone(&self.room).try_acquire_many_owned(kib).map_err(|_| NO_ROOM)
    }
}

const TOO_LARGE: Unread =
    (StatusCode::PAYLOAD_TOO_LARGE, "the body is larger than 25 MiB, or it was not sent in full");
const NO_ROOM: Unread = (StatusCode::SERVICE_UNAVAILABLE, "too many large bodies are being read");

/// Returns the length of the body as it is told, or else the longest one.
fn length(headers: &HeaderMap) -> Result<usize, Unread> {
    let Some(told) = headers.get(CONTENT_LENGTH) else { return Ok(LARGEST_BODY) };
    let length = told.to_str().ok().and_then(|text| text.parse().ok());
    length.filter(|length| *length <= LARGEST_BODY).ok_or(TOO_LARGE)
}

fn texts(headers: &HeaderMap) -> Vec<(&str, &str)> {
    let texts =
        headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)));
    texts.collect()
}

fn answer(receipt: Receipt, path: &str) -> Response {
    match receipt {
        Receipt::Refused => {
            let detail = "the signature or token is missing, or it is not that of our secret";
            problem(StatusCode::UNAUTHORIZED, path, detail)
        }
        Receipt::Unread => {
            let detail = "a form is not taken; choose the content type application/json";
            problem(StatusCode::UNSUPPORTED_MEDIA_TYPE, path, detail)
        }
        taken => line(StatusCode::OK, taken.as_str()),
    }
}
