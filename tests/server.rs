//! The HTTP API, health and metrics.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use levelset::model::webhook::{Host, Receipt, Webhook, Webhooks};
use levelset::model::{Freeze, Key, ObjectKind, Position, Problem, Severity};
use levelset::server::{
    Catalog, CatalogError, CatalogFuture, Health, Hosts, Limits, Listed, Listener, Page, Site,
    router,
};
use levelset::status::Metrics;
use reqwest::{Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// A catalog of which a test can change everything.
#[derive(Default)]
struct Shelf {
    objects: Mutex<BTreeMap<Key, Value>>,
    health: Mutex<Health>,
    broken: Mutex<Option<String>>,
    delay: Mutex<Duration>,
}

impl Shelf {
    async fn wait(&self) -> Result<(), CatalogError> {
        let delay = *self.delay.lock().unwrap();
        tokio::time::sleep(delay).await;
        self.broken.lock().unwrap().clone().map_or(Ok(()), |why| Err(CatalogError(why)))
    }
}

impl Catalog for Shelf {
    fn list<'a>(&'a self, kind: ObjectKind, page: &'a Page) -> CatalogFuture<'a, Listed> {
        Box::pin(async move {
            self.wait().await?;
            let objects = self.objects.lock().unwrap();
            let after = page.after.as_deref().unwrap_or_default();
            let of_kind = objects.iter().filter(|(key, _)| key.kind == kind && *key.name > *after);
            let mut of_kind = of_kind.peekable();
            let page: Vec<_> = of_kind.by_ref().take(page.limit).collect();
            let last = page.last().map(|(key, _)| key.name.to_string());
            let next = last.filter(|_| of_kind.peek().is_some());
            Ok(Listed { items: page.into_iter().map(|(_, item)| item.clone()).collect(), next })
        })
    }

    fn get<'a>(&'a self, key: &'a Key) -> CatalogFuture<'a, Option<Value>> {
        Box::pin(async move {
            self.wait().await?;
            Ok(self.objects.lock().unwrap().get(key).cloned())
        })
    }

    fn problems(&self) -> Vec<Problem> {
        vec![Problem {
            position: Position { path: "a.yaml".into(), line: 3, column: 5 },
            severity: Severity::Error,
            code: "UnknownField".to_owned(),
            message: "there is no field foo".to_owned(),
            hint: None,
            source_line: "    foo: 1".to_owned(),
            length: 3,
        }]
    }

    fn freezes(&self) -> CatalogFuture<'_, Vec<Freeze>> {
        Box::pin(async {
            self.wait().await?;
            Ok(vec![Freeze {
                guard: Freeze::VANISHING.to_owned(),
                digest: "0123456789ab".to_owned(),
                reason: "TooMany".to_owned(),
                message: "objects vanished".to_owned(),
                objects: [Key::workspace("pay")].into(),
                revision: None,
                since: jiff::Timestamp::UNIX_EPOCH,
            }])
        })
    }

    fn health(&self) -> Health {
        self.health.lock().unwrap().clone()
    }
}

/// Takes the webhooks of GitHub that end with a full stop.
impl Webhooks for Shelf {
    fn expects(&self, host: Host) -> bool {
        host == Host::GitHub
    }

    fn receive(&self, webhook: &Webhook<'_>) -> Receipt {
        assert_eq!(webhook.header("x-github-event"), Some("push"));
        match webhook.body {
            [.., b'.'] => Receipt::Woken,
            [.., b'='] => Receipt::Unread,
            _ => Receipt::Refused,
        }
    }
}

struct Agent {
    shelf: Arc<Shelf>,
    metrics: Metrics,
    address: SocketAddr,
    stop: CancellationToken,
    served: JoinHandle<()>,
    client: reqwest::Client,
}

impl Agent {
    async fn start(limits: Limits) -> Self {
        let (shelf, metrics) = (Arc::new(Shelf::default()), Metrics::new("1.2.3"));
        let site = Site {
            catalog: shelf.clone(),
            metrics: metrics.clone(),
            webhooks: Some(shelf.clone()),
            version: "1.2.3",
            hosts: Hosts::new(["levelset.example.com"]),
        };
        let listener = Listener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let (address, stop) = (listener.address(), CancellationToken::new());
        let serve = listener.serve(router(site), stop.clone(), limits);
        let mut tasks = tokio::task::JoinSet::new();
        tasks.spawn(serve);
        let served = task(async move { tasks.join_next().await.unwrap().unwrap() });
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { shelf, metrics, address, stop, served, client }
    }

    fn put(&self, key: &str, object: Value) {
        self.shelf.objects.lock().unwrap().insert(key.parse().unwrap(), object);
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, format!("http://{}{path}", self.address))
    }

    async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }
}

#[expect(clippy::disallowed_methods, reason = "a test ends with its runtime")]
fn task<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    tokio::spawn(work)
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

async fn problem(response: Response, status: StatusCode) -> Value {
    assert_eq!(response.status(), status);
    assert_eq!(header(&response, "content-type"), "application/problem+json");
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["status"], status.as_u16());
    body
}

#[tokio::test]
async fn metrics_are_open_metrics_text_with_the_demanded_names() {
    let agent = Agent::start(Limits::default()).await;
    agent.metrics.queue_depth(3);
    let response = agent.get("/metrics").await;
    assert!(header(&response, "content-type").starts_with("application/openmetrics-text"));
    let text = response.text().await.unwrap();
    for line in
        ["workqueue_depth 3", "reconcile_errors_total 0", "reconcile_duration_seconds_count 0"]
    {
        assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
    }
}

#[tokio::test]
async fn readiness_and_liveness_say_why_not() {
    let agent = Agent::start(Limits::default()).await;
    for (path, body) in [("/healthz", "ok\n"), ("/readyz", "ready\n")] {
        let response = agent.get(path).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.text().await.unwrap(), body);
    }
    let not_ready = Some("the repository has not been read in full yet".to_owned());
    *agent.shelf.health.lock().unwrap() = Health { not_ready, stuck: None };
    assert_eq!(agent.get("/healthz").await.status(), StatusCode::OK);
    let response = agent.get("/readyz").await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.text().await.unwrap(), "the repository has not been read in full yet\n");
    let stuck = Some("the worker loop does not turn".to_owned());
    *agent.shelf.health.lock().unwrap() = Health { not_ready: None, stuck };
    for path in ["/healthz", "/readyz"] {
        assert_eq!(agent.get(path).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    }
}

#[tokio::test]
async fn objects_are_listed_and_read_as_the_catalog_has_them() {
    let agent = Agent::start(Limits::default()).await;
    let payments = json!({"kind": "Workspace", "metadata": {"name": "pay"}, "status": {}});
    let shared = json!({"kind": "Network", "metadata": {"name": "shared"}});
    agent.put("Workspace/pay", payments.clone());
    agent.put("Network/shared", shared.clone());
    let list: Value = agent.get("/api/v1/workspaces").await.json().await.unwrap();
    let expected = json!({"apiVersion": "platform.kby.io/v1alpha1", "kind": "WorkspaceList", "items": [payments]});
    assert_eq!(list, expected);
    let one: Value = agent.get("/api/v1/workspaces/pay").await.json().await.unwrap();
    assert_eq!(one, payments);
    let network: Value = agent.get("/api/v1/networks/shared").await.json().await.unwrap();
    assert_eq!(network, shared);
    let problems: Value = agent.get("/api/v1/problems").await.json().await.unwrap();
    assert_eq!(problems["items"][0]["position"]["line"], 3);
    let freezes: Value = agent.get("/api/v1/freezes").await.json().await.unwrap();
    assert_eq!(freezes["kind"], "FreezeList");
    assert_eq!(freezes["items"][0]["digest"], "0123456789ab");
    assert_eq!(freezes["items"][0]["objects"], json!(["Workspace/pay"]));
    let version: Value = agent.get("/version").await.json().await.unwrap();
    assert_eq!(version, json!({"version": "1.2.3"}));
}

#[tokio::test]
async fn what_is_not_there_is_a_problem_document() {
    let agent = Agent::start(Limits::default()).await;
    let missing = problem(agent.get("/api/v1/workspaces/nope").await, StatusCode::NOT_FOUND).await;
    assert_eq!(missing["detail"], "Git declares no Workspace of the name nope");
    assert_eq!(missing["instance"], "/api/v1/workspaces/nope");
    for path in ["/", "/api/v2", "/api/v1/workspaces/a/b", "/api/v1/workspaces/%ff"] {
        let status = agent.get(path).await.status();
        assert!(status.is_client_error(), "{path}: {status}");
    }
    let posted = agent.request(Method::POST, "/api/v1/workspaces").send().await.unwrap();
    assert_eq!(header(&posted, "allow"), "GET,HEAD");
    problem(posted, StatusCode::METHOD_NOT_ALLOWED).await;
    *agent.shelf.broken.lock().unwrap() = Some("the store cannot be read".to_owned());
    let broken = agent.get("/api/v1/workspaces").await;
    let broken = problem(broken, StatusCode::SERVICE_UNAVAILABLE).await;
    assert_eq!(broken["detail"], "the store cannot be read");
}

#[tokio::test]
async fn a_client_that_has_the_answer_gets_it_once() {
    let agent = Agent::start(Limits::default()).await;
    agent.put("Workspace/pay", json!({"spec": 1}));
    let first = agent.get("/api/v1/workspaces/pay").await;
    let tag = header(&first, "etag").to_owned();
    assert!(tag.starts_with('"') && tag.len() > 10, "{tag}");
    let again = |tag: String| {
        agent.request(Method::GET, "/api/v1/workspaces/pay").header("if-none-match", tag).send()
    };
    let unchanged = again(tag.clone()).await.unwrap();
    assert_eq!(unchanged.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(header(&unchanged, "etag"), tag);
    assert!(unchanged.bytes().await.unwrap().is_empty());
    agent.put("Workspace/pay", json!({"spec": 2}));
    assert_eq!(again(tag).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn every_answer_forbids_guessing_and_sharing() {
    let agent = Agent::start(Limits::default()).await;
    for path in ["/metrics", "/healthz", "/api/v1/workspaces", "/nowhere", "/api/v1/networks/x"] {
        let origin = ("origin", "https://elsewhere.example");
        let response =
            agent.request(Method::GET, path).header(origin.0, origin.1).send().await.unwrap();
        assert_eq!(header(&response, "x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header(&response, "x-frame-options"), "DENY", "{path}");
        assert_eq!(header(&response, "access-control-allow-origin"), "", "{path}");
    }
}

impl Agent {
    async fn post(&self, path: &str, body: impl Into<reqwest::Body>) -> Response {
        let request = self.request(Method::POST, path).header("X-GitHub-Event", "push");
        request.body(body).send().await.unwrap()
    }

    async fn webhooks(&self, result: &str) -> u32 {
        let text = self.get("/metrics").await.text().await.unwrap();
        let series = format!("levelset_webhooks_total{{host=\"github\",result=\"{result}\"}} ");
        text.lines().find_map(|line| line.strip_prefix(&series)?.parse().ok()).unwrap()
    }
}

#[tokio::test]
async fn a_webhook_is_answered_by_what_became_of_it_and_counted() {
    let agent = Agent::start(Limits::default()).await;
    let taken = agent.post("/webhooks/github", "a push.").await;
    assert_eq!(taken.status(), StatusCode::OK);
    assert_eq!(taken.text().await.unwrap(), "woken\n");
    let refused = agent.post("/webhooks/github", "a push").await;
    problem(refused, StatusCode::UNAUTHORIZED).await;
    let form = agent.post("/webhooks/github", "payload=").await;
    problem(form, StatusCode::UNSUPPORTED_MEDIA_TYPE).await;
    for result in ["woken", "refused", "unread"] {
        assert_eq!(agent.webhooks(result).await, 1, "{result}");
    }
}

#[tokio::test]
async fn a_webhook_that_nobody_expects_is_not_found() {
    let agent = Agent::start(Limits::default()).await;
    for path in ["/webhooks/gitlab", "/webhooks/GitHub", "/webhooks/x"] {
        let detail = problem(agent.post(path, ".").await, StatusCode::NOT_FOUND).await;
        assert!(detail["detail"].as_str().unwrap().contains("webhooks.HOST.secretFile"));
    }
    problem(agent.get("/webhooks/github").await, StatusCode::METHOD_NOT_ALLOWED).await;
}

#[tokio::test]
async fn a_webhook_is_as_large_as_githubs_largest_and_no_larger() {
    let agent = Agent::start(Limits::default()).await;
    let mut body = vec![b' '; 25 << 20];
    *body.last_mut().unwrap() = b'.';
    assert_eq!(agent.post("/webhooks/github", body.clone()).await.status(), StatusCode::OK);
    body.push(b'.');
    let head = format!(
        "POST /webhooks/github HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = agent.connect().await;
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut start = [0; 12];
    stream.read_exact(&mut start).await.unwrap();
    assert_eq!(&start, b"HTTP/1.1 413");
    assert_eq!(agent.webhooks("unread").await, 1);
}

#[tokio::test]
async fn bodies_that_do_not_arrive_take_a_bounded_room() {
    let agent = Agent::start(Limits::default()).await;
    let mut waiting = Vec::new();
    for _ in 0..2 {
        let mut stream = agent.connect().await;
        let head = "POST /webhooks/github HTTP/1.1\r\nHost: a\r\nContent-Length: 26214400\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        waiting.push(stream);
    }
    let full = async || {
        let body = vec![b'.'; 20 << 20];
        agent.post("/webhooks/github", body).await.status() == StatusCode::SERVICE_UNAVAILABLE
    };
    let start = Instant::now();
    while !full().await {
        assert!(start.elapsed() < Duration::from_secs(8), "two bodies take 50 of 64 MiB");
    }
    let small = agent.post("/webhooks/github", "a push.").await;
    assert_eq!(small.status(), StatusCode::OK, "what fits is still taken");
    drop(waiting);
}

#[tokio::test]
async fn an_address_in_use_is_named_with_advice() {
    let agent = Agent::start(Limits::default()).await;
    let error = Listener::bind(agent.address).await.unwrap_err().to_string();
    let expected = format!(
        "cannot listen on {}: another program listens there; stop it, or choose another address with listen",
        agent.address
    );
    assert_eq!(error, expected);
}

fn tight() -> Limits {
    Limits {
        connections: 2,
        header_timeout: Duration::from_millis(300),
        lifetime: Duration::from_millis(900),
        drain: Duration::from_millis(300),
    }
}

/// Waits until the server closes the connection and returns what it said.
async fn until_closed(stream: &mut TcpStream) -> String {
    let mut said = Vec::new();
    // A reset is a close as well.
    let read = timeout(Duration::from_secs(60), stream.read_to_end(&mut said)).await;
    let _ = read.expect("the server closes the connection");
    String::from_utf8_lossy(&said).into_owned()
}

#[tokio::test]
async fn a_silent_and_a_slow_client_lose_their_connections() {
    let agent = Agent::start(tight()).await;
    let mut silent = agent.connect().await;
    let mut slow = agent.connect().await;
    slow.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost").await.unwrap();
    let (quiet, slow) = tokio::join!(until_closed(&mut silent), until_closed(&mut slow));
    assert!(!quiet.contains("200") && !slow.contains("200"), "{quiet:?} {slow:?}");
}

#[tokio::test]
async fn a_client_that_sends_a_byte_at_a_time_loses_its_connection() {
    let agent = Agent::start(tight()).await;
    let mut stream = agent.connect().await;
    stream.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    let start = Instant::now();
    while stream.write_all(b"a").await.is_ok() && start.elapsed() < Duration::from_secs(60) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}

#[tokio::test]
async fn an_idle_connection_gives_its_place_up() {
    let agent = Agent::start(tight()).await;
    let mut idle = agent.connect().await;
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert!(until_closed(&mut idle).await.contains("200 OK"));
}

#[tokio::test]
async fn hanging_clients_do_not_keep_others_away() {
    let agent = Agent::start(tight()).await;
    let mut hanging = Vec::new();
    for _ in 0..20 {
        hanging.push(agent.connect().await);
    }
    let answer = timeout(Duration::from_secs(60), agent.get("/healthz")).await;
    assert_eq!(answer.expect("an answer in time").status(), StatusCode::OK);
}

#[tokio::test]
async fn a_client_that_reads_nothing_loses_its_connection() {
    let agent = Agent::start(tight()).await;
    agent.put("Workspace/big", json!("x".repeat(32 << 20)));
    let mut deaf = agent.connect().await;
    deaf.write_all(b"GET /api/v1/workspaces/big HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .await
        .unwrap();
    deaf.readable().await.unwrap();
    tokio::time::sleep(Duration::from_secs(6)).await;
    let said = until_closed(&mut deaf).await;
    assert!(said.len() < 32 << 20, "the answer was cut");
}

#[tokio::test]
async fn an_endless_head_is_refused() {
    let agent = Agent::start(Limits::default()).await;
    let mut stream = agent.connect().await;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ").await.unwrap();
    let _ = stream.write_all(&vec![b'a'; 200 << 10]).await;
    let said = until_closed(&mut stream).await;
    assert!(said.starts_with("HTTP/1.1 431"), "{said:?}");
}

#[tokio::test]
async fn a_stop_lets_a_request_end_and_takes_no_new_one() {
    let agent = Agent::start(Limits::default()).await;
    agent.put("Workspace/pay", json!({"spec": 1}));
    *agent.shelf.delay.lock().unwrap() = Duration::from_secs(4);
    let request = agent.request(Method::GET, "/api/v1/workspaces/pay").send();
    let stop = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        agent.stop.cancel();
    };
    let (answer, ()) = tokio::join!(request, stop);
    assert_eq!(answer.unwrap().status(), StatusCode::OK);
    timeout(Duration::from_secs(60), agent.served).await.expect("the server ends").unwrap();
    assert!(TcpStream::connect(agent.address).await.is_err());
}

#[tokio::test]
async fn a_stop_cuts_what_does_not_end() {
    let agent =
        Agent::start(Limits { drain: Duration::from_millis(300), ..Limits::default() }).await;
    *agent.shelf.delay.lock().unwrap() = Duration::from_secs(3600);
    let request = agent.request(Method::GET, "/api/v1/workspaces/pay").send();
    let request = task(request);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let start = Instant::now();
    agent.stop.cancel();
    timeout(Duration::from_secs(60), agent.served).await.expect("the server ends").unwrap();
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    assert!(request.await.unwrap().is_err());
}

#[tokio::test]
async fn a_name_that_is_not_the_agents_is_answered_nothing() {
    let agent = Agent::start(Limits::default()).await;
    let paths = ["/api/v1/workspaces", "/metrics", "/healthz", "/nowhere"];
    for path in paths {
        let asked = agent.request(Method::GET, path).header("host", "rebound.example:8080");
        let told = problem(asked.send().await.unwrap(), StatusCode::MISDIRECTED_REQUEST).await;
        let detail = told["detail"].as_str().unwrap();
        assert!(detail.contains("rebound.example:8080") && detail.contains("hosts"), "{detail}");
    }
    for host in ["localhost:1", "levelset.example.com", "Levelset.Example.com:443"] {
        let asked = agent.request(Method::GET, "/healthz").header("host", host);
        assert_eq!(asked.send().await.unwrap().status(), StatusCode::OK, "{host}");
    }
}

#[tokio::test]
async fn a_long_list_comes_in_pages_that_follow_each_other_by_name() {
    let agent = Agent::start(Limits::default()).await;
    for name in ["a", "b", "c", "d", "e"] {
        agent.put(&format!("Workspace/{name}"), json!(name));
    }
    let page = async |query: &str| -> Value {
        agent.get(&format!("/api/v1/workspaces{query}")).await.json().await.unwrap()
    };
    let whole = page("").await;
    assert_eq!((whole["items"].as_array().unwrap().len(), whole.get("metadata")), (5, None));
    let (mut seen, mut query) = (Vec::new(), "?limit=2".to_owned());
    loop {
        let list = page(&query).await;
        seen.extend(list["items"].as_array().unwrap().clone());
        let Some(next) = list["metadata"]["continue"].as_str() else { break };
        query = format!("?limit=2&continue={next}");
    }
    assert_eq!(seen, *whole["items"].as_array().unwrap());
    assert_eq!(page("?continue=e").await["items"], json!([]));
    let wrong = agent.get("/api/v1/networks?limit=many").await;
    problem(wrong, StatusCode::BAD_REQUEST).await;
}
