//! The HTTP door: AWS's wire format on a listener, for the real SDK, the AWS CLI or boto3.
//!
//! The access key says who calls: twelve digits are an account, a key that `AssumeRole` handed out
//! stands for its role, any other key for the default account. Signatures are not verified; a
//! request without one is refused. Under `/_sandbox/` are `health`, `calls?since=N` (the log) and
//! `instances/ACCOUNT/REGION` (what an omniscient reader sees), as JSON.

mod line;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{ConnectInfo, Path, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Json, Response};
use axum::routing::{any, get};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use self::line::{Cut, Lines};
use super::Sandbox;
use super::log::Record;
use super::refusal::Refusal;
use super::wire::{self, Dialect};
use crate::model::{AccountId, Call, Region, Scope};

/// Serves the cloud until `shutdown` completes.
///
/// # Errors
///
/// What the listener reports.
pub async fn serve(
    sandbox: Sandbox,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let door = Door { sandbox, requests: Arc::new(AtomicU64::new(0)) };
    let router = Router::new()
        .route("/", any(request))
        .route("/_sandbox/health", get(async || Json(json!({"status": "ok"}))))
        .route("/_sandbox/calls", get(calls))
        .route("/_sandbox/instances/{account}/{region}", get(instances))
        .with_state(door);
    axum::serve(Lines(listener), router.into_make_service_with_connect_info::<Cut>())
        .with_graceful_shutdown(shutdown)
        .await
}

#[derive(Clone)]
struct Door {
    sandbox: Sandbox,
    requests: Arc<AtomicU64>,
}

impl Door {
    fn request_id(&self) -> String {
        let number = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        format!("00000000-0000-4000-8000-{number:012x}")
    }
}

/// Holds what the `Authorization` header says.
struct Signer {
    key: String,
    region: Region,
    service: String,
}

async fn request(
    State(door): State<Door>,
    ConnectInfo(cut): ConnectInfo<Cut>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let id = door.request_id();
    let signer = match signer(&headers) {
        Ok(signer) => signer,
        Err(refusal) => return refused("rds", &id, &refusal),
    };
    let form =
        if method == Method::GET { uri.query().unwrap_or_default().as_bytes() } else { &body };
    match run(&door.sandbox, &signer, &headers, form).await {
        Ok((action, value)) => {
            let xml = wire::answer(&signer.service, &action, &id, &value);
            respond(StatusCode::OK, &id, xml)
        }
        Err(refusal) if refusal.is_lost() => {
            // The connection ends here, before a byte of this is written.
            cut.cut();
            StatusCode::BAD_GATEWAY.into_response()
        }
        Err(refusal) => refused(&signer.service, &id, &refusal),
    }
}

async fn run(
    sandbox: &Sandbox,
    signer: &Signer,
    headers: &HeaderMap,
    form: &[u8],
) -> Result<(String, Value), Refusal> {
    let token = text(headers, "x-amz-security-token");
    let account = sandbox.account_of(&signer.key, token)?;
    let form = wire::read(Dialect::of(&signer.service), form)?;
    let call = Call {
        service: signer.service.clone().into(),
        operation: form.action.clone().into(),
        params: form.params,
    };
    let scope = Scope { account, region: signer.region.clone() };
    let value = sandbox.door(&signer.key).send(&scope, &call).await?;
    Ok((form.action, value))
}

/// Reads `AWS4-HMAC-SHA256 Credential=KEY/DATE/REGION/SERVICE/aws4_request, …`.
fn signer(headers: &HeaderMap) -> Result<Signer, Refusal> {
    let header = text(headers, header::AUTHORIZATION.as_str()).ok_or_else(|| {
        Refusal::new("MissingAuthenticationToken", "Request is missing Authentication Token")
    })?;
    let incomplete =
        || Refusal::new("IncompleteSignature", "the Authorization header is incomplete");
    let fields = header.strip_prefix("AWS4-HMAC-SHA256").ok_or_else(incomplete)?;
    let credential = fields
        .split(',')
        .find_map(|field| field.trim().strip_prefix("Credential="))
        .ok_or_else(incomplete)?;
    match credential.split('/').collect::<Vec<_>>().as_slice() {
        [key, _date, region, service, "aws4_request"] if !key.is_empty() => Ok(Signer {
            key: (*key).to_owned(),
            region: Region::new(*region),
            service: (*service).to_owned(),
        }),
        _ => Err(incomplete()),
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

fn refused(service: &str, id: &str, refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::BAD_REQUEST);
    respond(status, id, wire::error(service, id, refusal))
}

fn respond(status: StatusCode, id: &str, xml: String) -> Response {
    let headers = [("content-type", "text/xml;charset=UTF-8"), ("x-amzn-requestid", id)];
    (status, headers, xml).into_response()
}

#[derive(Deserialize)]
struct Since {
    #[serde(default)]
    since: u64,
}

async fn calls(State(door): State<Door>, Query(from): Query<Since>) -> Json<Vec<Record>> {
    Json(door.sandbox.calls_since(from.since))
}

async fn instances(
    State(door): State<Door>,
    Path((account, region)): Path<(String, String)>,
) -> Json<Value> {
    let scope = Scope { account: AccountId::new(account), region: Region::new(region) };
    Json(json!({"DBInstances": door.sandbox.inspect(&scope)}))
}
