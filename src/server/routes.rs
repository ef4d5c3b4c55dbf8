//! The routes, and what every answer has in common.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::{Value, json};

use super::answer::{line, problem, tagged};
use super::catalog::{Catalog, CatalogError, Listed};
use super::hosts::Hosts;
use super::page::Page;
use super::webhooks;
use crate::model::webhook::Webhooks;
use crate::model::{Key, ObjectKind};
use crate::status::{Metrics, metrics};

/// The version that manifests carry, and so the lists of them.
const API_VERSION: &str = "platform.kby.io/v1alpha1";

/// An answer that takes longer is given up; nothing that is asked here waits for AWS.
const LONGEST_ANSWER: Duration = Duration::from_secs(10);

/// No route takes a larger body, but the one for webhooks.
const LARGEST_BODY: usize = 1 << 20;

/// Headers of every answer that does not set them itself: no guessing of types, no frames, no
/// scripts, no referrer.
const SECURITY: [(&str, &str); 4] = [
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
    ("referrer-policy", "no-referrer"),
];

/// Holds what the routes answer from.
#[derive(Clone)]
pub struct Site {
    /// What the agent knows.
    pub catalog: Arc<dyn Catalog>,
    /// Its figures.
    pub metrics: Metrics,
    /// Who takes webhooks; `None` when nobody does.
    pub webhooks: Option<Arc<dyn Webhooks>>,
    /// The program's version.
    pub version: &'static str,
    /// The names under which it answers.
    pub hosts: Hosts,
}

/// Makes the routes; others may be merged into it before [`guarded`] closes it.
pub fn router(site: Site) -> Router {
    let hosts = site.hosts.clone();
    let routes = Router::new()
        .route("/healthz", get(alive))
        .route("/readyz", get(ready))
        .route("/metrics", get(figures))
        .route("/version", get(version))
        .route("/api/v1/workspaces", get(workspaces))
        .route("/api/v1/workspaces/{name}", get(workspace))
        .route("/api/v1/networks", get(networks))
        .route("/api/v1/networks/{name}", get(network))
        .route("/api/v1/problems", get(problems))
        .route("/api/v1/freezes", get(freezes))
        .with_state(site.clone())
        .merge(webhooks::routes(site));
    guarded(routes).layer(from_fn(move |request, next| admit(hosts.clone(), request, next)))
}

/// Refuses requests under a name that is not the agent's. Deliveries of Git hosts prove by their
/// signature whose they are, and come under any name.
async fn admit(hosts: Hosts, request: Request, next: Next) -> Response {
    let is_signed = request.uri().path().starts_with("/webhooks/");
    let stranger = hosts.stranger(request.headers(), request.uri());
    let Some(name) = stranger.filter(|_| !is_signed) else {
        return next.run(request).await;
    };
    let detail = format!(
        "this agent does not answer under the name {name}; ask it by its address or as localhost, \
         or add the name to its setting hosts"
    );
    secured(problem(StatusCode::MISDIRECTED_REQUEST, request.uri().path(), &detail))
}

/// Gives routes the answers for unknown paths and methods, the limits and the security headers.
fn guarded(routes: Router) -> Router {
    routes
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(from_fn(guard))
}

async fn guard(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let answer = tokio::time::timeout(LONGEST_ANSWER, next.run(request)).await;
    secured(answer.unwrap_or_else(|_| {
        problem(StatusCode::SERVICE_UNAVAILABLE, &path, "the agent is too busy to answer")
    }))
}

fn secured(mut response: Response) -> Response {
    for (name, value) in SECURITY {
        let name = HeaderName::from_static(name);
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

async fn unknown_path(uri: Uri) -> Response {
    problem(StatusCode::NOT_FOUND, uri.path(), "nothing is served at this path")
}

async fn wrong_method(method: Method, uri: Uri) -> Response {
    let detail = format!("this path does not take {method}");
    problem(StatusCode::METHOD_NOT_ALLOWED, uri.path(), &detail)
}

async fn alive(State(site): State<Site>) -> Response {
    match site.catalog.health().stuck {
        None => line(StatusCode::OK, "ok"),
        Some(why) => line(StatusCode::SERVICE_UNAVAILABLE, &why),
    }
}

async fn ready(State(site): State<Site>) -> Response {
    let health = site.catalog.health();
    match health.stuck.or(health.not_ready) {
        None => line(StatusCode::OK, "ready"),
        Some(why) => line(StatusCode::SERVICE_UNAVAILABLE, &why),
    }
}

async fn figures(State(site): State<Site>) -> Response {
    let headers = [(CONTENT_TYPE, metrics::CONTENT_TYPE), (CACHE_CONTROL, "no-store")];
    (headers, site.metrics.encode()).into_response()
}

async fn version(State(site): State<Site>, headers: HeaderMap) -> Response {
    tagged(&headers, &json!({ "version": site.version }))
}

async fn workspaces(State(site): State<Site>, headers: HeaderMap, uri: Uri) -> Response {
    list(&site, ObjectKind::Workspace, &headers, &uri).await
}

async fn networks(State(site): State<Site>, headers: HeaderMap, uri: Uri) -> Response {
    list(&site, ObjectKind::Network, &headers, &uri).await
}

async fn workspace(
    State(site): State<Site>,
    Path(name): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    object(&site, &Key::new(ObjectKind::Workspace, name), &headers, &uri).await
}

async fn network(
    State(site): State<Site>,
    Path(name): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    object(&site, &Key::new(ObjectKind::Network, name), &headers, &uri).await
}

async fn problems(State(site): State<Site>, headers: HeaderMap) -> Response {
    let found = site.catalog.problems();
    let items = serde_json::to_value(found).unwrap_or(Value::Null);
    tagged(&headers, &collection("ProblemList", items))
}

async fn freezes(State(site): State<Site>, headers: HeaderMap, uri: Uri) -> Response {
    match site.catalog.freezes().await {
        Ok(found) => {
            let items = serde_json::to_value(found).unwrap_or(Value::Null);
            tagged(&headers, &collection("FreezeList", items))
        }
        Err(error) => unavailable(&uri, &error),
    }
}

async fn list(site: &Site, kind: ObjectKind, headers: &HeaderMap, uri: &Uri) -> Response {
    let page = match Page::of(uri) {
        Ok(page) => page,
        Err(why) => return problem(StatusCode::BAD_REQUEST, uri.path(), &why),
    };
    match site.catalog.list(kind, &page).await {
        Ok(Listed { items, next }) => {
            let mut list = collection(&format!("{kind}List"), items.into());
            if let Some(next) = next {
                list["metadata"] = json!({ "continue": next });
            }
            tagged(headers, &list)
        }
        Err(error) => unavailable(uri, &error),
    }
}

fn collection(kind: &str, items: Value) -> Value {
    json!({ "apiVersion": API_VERSION, "kind": kind, "items": items })
}

async fn object(site: &Site, key: &Key, headers: &HeaderMap, uri: &Uri) -> Response {
    match site.catalog.get(key).await {
        Ok(Some(object)) => tagged(headers, &object),
        Ok(None) => {
            let detail = format!("Git declares no {} of the name {}", key.kind, key.name);
            problem(StatusCode::NOT_FOUND, uri.path(), &detail)
        }
        Err(error) => unavailable(uri, &error),
    }
}

fn unavailable(uri: &Uri, error: &CatalogError) -> Response {
    problem(StatusCode::SERVICE_UNAVAILABLE, uri.path(), &error.to_string())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_does_not_come_is_given_up() {
        let routes = guarded(Router::new().route("/", get(std::future::pending::<Response>)));
        let service = TowerToHyperService::new(routes);
        let start = tokio::time::Instant::now();
        let response = service.call(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(start.elapsed(), LONGEST_ANSWER);
        assert_eq!(response.headers()["x-content-type-options"], "nosniff");
    }
}
