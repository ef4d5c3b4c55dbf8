//! A Git host in memory: what the four APIs take, and what they refuse.
//!
//! Beyond what it answers it keeps a list of manners that were broken, such as two writes at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use levelset::forge::api::{Api, Bitbucket, Caller, GitHub, GitLab, Gitea, Place};
use levelset::forge::credentials::Credentials;
use levelset::forge::http::LONGEST;
use levelset::forge::wire::{Answer, Body, Method, NoAnswer, Request, Wire, WireFuture};
use levelset::model::Clock;
use levelset::model::webhook::Host;
use serde_json::{Value, json};
use url::Url;

use super::schema;

pub(super) const REPOSITORY: &str = "acme/environments";
const TOKEN: &str = "t0ken";

/// Says how the host is.
#[derive(Debug, Clone)]
pub(super) enum Weather {
    Fine,
    /// Nobody answers.
    Down,
    /// It takes longer than anybody waits.
    Slow,
    /// It answers everything with this status and these headers.
    Answers(u16, Vec<(&'static str, String)>),
}

/// A status that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) revision: String,
    /// The name, or Bitbucket's key.
    pub(super) context: String,
    pub(super) state: String,
    pub(super) description: String,
    pub(super) at: Timestamp,
}

/// An issue that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Issue {
    pub(super) number: u64,
    pub(super) author: String,
    pub(super) title: String,
    pub(super) body: String,
    pub(super) is_open: bool,
}

pub(super) struct State {
    pub(super) weather: Weather,
    /// The commits that it knows; `None` for every one.
    pub(super) commits: Option<BTreeSet<String>>,
    pub(super) token: String,
    pub(super) taken: Vec<Taken>,
    pub(super) comments: Vec<(u64, String, String)>,
    pub(super) issues: Vec<Issue>,
    /// The files of each branch.
    pub(super) branches: BTreeMap<String, BTreeMap<String, Vec<u8>>>,
    /// The open pull requests, as GitHub lists them.
    pub(super) pulls: Vec<Value>,
    /// When it was written to, whether or not it took it.
    pub(super) writes: Vec<Timestamp>,
    pub(super) reads: usize,
    /// What a host would mind, or ban us for.
    pub(super) rude: Vec<String>,
    next_id: u64,
}

/// The host; it is asked as any other.
pub(super) struct FakeHost {
    kind: Host,
    clock: Arc<dyn Clock>,
    state: Mutex<State>,
}

impl FakeHost {
    pub(super) fn new(kind: Host, clock: Arc<dyn Clock>) -> Arc<Self> {
        let state = State {
            weather: Weather::Fine,
            commits: None,
            token: TOKEN.to_owned(),
            taken: Vec::new(),
            comments: Vec::new(),
            issues: Vec::new(),
            branches: BTreeMap::new(),
            pulls: Vec::new(),
            writes: Vec::new(),
            reads: 0,
            rude: Vec::new(),
            next_id: 1,
        };
        Arc::new(Self { kind, clock, state: Mutex::new(state) })
    }

    /// Looks at, or changes, what it holds.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut State) -> T) -> T {
        look(&mut self.state.lock().unwrap())
    }

    pub(super) fn weather(&self, weather: Weather) {
        self.with(|state| state.weather = weather);
    }

    /// Returns what stands at it: of each commit and context the newest state and words.
    pub(super) fn stands(&self, context: &str) -> Option<(String, String)> {
        self.with(|state| {
            let mut named = state.taken.iter().filter(|taken| taken.context == context);
            named.next_back().map(|taken| (taken.state.clone(), taken.description.clone()))
        })
    }

    pub(super) fn writes(&self) -> usize {
        self.with(|state| state.writes.len())
    }

    /// Speaks with it as the agent does.
    pub(super) fn api(self: &Arc<Self>) -> Arc<dyn Api> {
        let origin = match self.kind {
            Host::GitHub => "https://github.com",
            _ => "https://git.example",
        };
        let root = Place::root_of(self.kind, &Url::parse(origin).unwrap()).unwrap();
        api(self.kind, root, self.clone(), self.clock.clone())
    }

    /// Serves it on loopback for as long as the test runs; returns the root of its API.
    pub(super) async fn serve(self: &Arc<Self>) -> Url {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let root = Url::parse(&format!("http://{}/api", listener.local_addr().unwrap())).unwrap();
        let (host, base) = (self.clone(), root.clone());
        let routes = axum::Router::new().fallback(async move |request: axum::extract::Request| {
            let request = read(&base, request).await;
            let answer = host.answer(request).await.unwrap();
            (axum::http::StatusCode::from_u16(answer.status).unwrap(), answer.body)
        });
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        root
    }

    async fn answer(&self, request: Request) -> Result<Answer, NoAnswer> {
        match self.arrives(&request) {
            Weather::Fine => Ok(self.with(|state| self.take(state, &request))),
            Weather::Down => Err(NoAnswer("connection refused".to_owned())),
            Weather::Slow => {
                tokio::time::sleep(LONGEST).await;
                Err(NoAnswer("it did not answer in time".to_owned()))
            }
            Weather::Answers(status, headers) => {
                let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value));
                let body = json!({ "message": "as the weather is" }).to_string().into_bytes();
                Ok(Answer { status, headers: headers.collect(), body })
            }
        }
    }

    /// Notes the request, and how polite it is.
    fn arrives(&self, request: &Request) -> Weather {
        let now = self.clock.now();
        self.with(|state| {
            if request.method == Method::Get {
                state.reads += 1;
                return state.weather.clone();
            }
            let since = |seconds: i64| {
                let recent = |at: &&Timestamp| now.duration_since(**at).as_secs() < seconds;
                state.writes.iter().rev().take_while(recent).count()
            };
            let (second, minute, hour) = (since(1), since(60), since(3600));
            if second > 0 || minute >= 80 || hour >= 500 {
                let rude = format!("{request}: {second} in a second, {minute}, {hour} in an hour");
                state.rude.push(rude);
            }
            state.writes.push(now);
            state.weather.clone()
        })
    }

    fn take(&self, state: &mut State, request: &Request) -> Answer {
        let told = request.secret().map(|(name, value)| format!("{name}: {value}"));
        let expected = match self.kind {
            Host::GitHub | Host::Bitbucket => format!("authorization: Bearer {}", state.token),
            Host::GitLab => format!("private-token: {}", state.token),
            Host::Gitea => format!("authorization: token {}", state.token),
        };
        if told != Some(expected) {
            return answer(401, json!({ "message": "Bad credentials" }));
        }
        if self.kind == Host::GitHub {
            schema::check(request);
        }
        let path = request.url.path().to_owned();
        let body = fields(request);
        if let Some(revision) = revision(&path) {
            return self.status(state, revision, &body);
        }
        if let Some(number) = issue(&path) {
            return self.issue(state, request, number, &body);
        }
        if let Some(answer) = self.edit_file(state, request, &path, &body) {
            return answer;
        }
        match (request.method, path.as_str()) {
            (Method::Get, path) if path.ends_with("/user") => answer(200, user("levelset-bot")),
            (Method::Get, path) if path.ends_with("/pulls") => {
                answer(200, state.pulls.clone().into())
            }
            (Method::Get, _) => self.list(state),
            (Method::Post, _) => self.add(state, &body),
            (_, path) => self.edit(state, path, &body),
        }
    }

    fn status(&self, state: &mut State, revision: &str, body: &Value) -> Answer {
        if state.commits.as_ref().is_some_and(|known| !known.contains(revision)) {
            let message = format!("No commit found for SHA: {revision}");
            let status = if self.kind == Host::GitHub { 422 } else { 404 };
            return answer(status, json!({ "message": message }));
        }
        let text = |member: &str| body[member].as_str().unwrap_or_default().to_owned();
        let context = match self.kind {
            Host::GitHub | Host::Gitea => text("context"),
            Host::GitLab => text("name"),
            Host::Bitbucket => text("key"),
        };
        let taken = Taken {
            revision: revision.to_owned(),
            context,
            state: text("state"),
            description: text("description"),
            at: self.clock.now(),
        };
        if let Some((status, message)) = self.minds(state, &taken, body) {
            return answer(status, json!({ "message": message }));
        }
        state.taken.push(taken);
        answer(201, json!({ "id": 1 }))
    }

    /// Says what the kind of host refuses about a status.
    fn minds(&self, state: &State, new: &Taken, body: &Value) -> Option<(u16, String)> {
        let same = |old: &&Taken| {
            old.revision == new.revision && old.context.eq_ignore_ascii_case(&new.context)
        };
        let no = |status: u16, text: &str| Some((status, text.to_owned()));
        match self.kind {
            Host::GitHub if new.description.chars().count() > 140 => {
                no(422, "description is too long (maximum is 140 characters)")
            }
            Host::GitHub if state.taken.iter().filter(same).count() >= 1000 => {
                no(422, "This SHA and context has reached the maximum number of statuses.")
            }
            Host::GitLab => {
                let words = ["pending", "running", "success", "failed", "canceled"];
                let before = state.taken.iter().rfind(same).map(|old| old.state.as_str());
                match (before, new.state.as_str()) {
                    (_, state) if !words.contains(&state) => no(400, "state is invalid"),
                    (Some("running"), "running") => {
                        no(400, "Cannot transition status via :run from :running")
                    }
                    (Some("running"), "pending") => {
                        no(400, "Cannot transition status via :enqueue from :running")
                    }
                    _ => None,
                }
            }
            Host::Bitbucket if new.context.len() > 40 || body["url"].as_str().is_none() => {
                no(400, "Bad request")
            }
            _ => None,
        }
    }

    /// Takes what makes a branch with a changed file, and a pull request for it.
    fn edit_file(
        &self,
        state: &mut State,
        request: &Request,
        path: &str,
        body: &Value,
    ) -> Option<Answer> {
        let text = |member: &str| body[member].as_str().unwrap_or_default().to_owned();
        let no = |status, message: &str| Some(answer(status, json!({ "message": message })));
        let done = || Some(answer(201, json!({})));
        let (_, file) = path.split_once("/contents/").unwrap_or((path, ""));
        match (self.kind, request.method) {
            (Host::GitHub, Method::Get) if path.contains("/git/ref/heads/") => {
                Some(answer(200, json!({ "object": { "sha": "f".repeat(40) } })))
            }
            (Host::GitHub, Method::Get) if !file.is_empty() => {
                Some(answer(200, json!({ "sha": blob(&state.branches["main"][file]) })))
            }
            (Host::GitHub, Method::Post) if path.ends_with("/git/refs") => {
                let branch = text("ref").replace("refs/heads/", "");
                if state.branches.contains_key(&branch) {
                    return no(422, "Reference already exists");
                }
                state.branches.insert(branch, state.branches["main"].clone());
                done()
            }
            (Host::GitHub | Host::Gitea, Method::Put) if !file.is_empty() => {
                let to = if self.kind == Host::Gitea { text("new_branch") } else { text("branch") };
                let mut files = state.branches[&text("branch")].clone();
                if self.kind == Host::Gitea && state.branches.contains_key(&to) {
                    return no(409, "branch already exists");
                }
                if blob(&files[file]) != text("sha") {
                    return no(409, "sha does not match");
                }
                files.insert(file.to_owned(), STANDARD.decode(text("content")).unwrap());
                state.branches.insert(to, files);
                done()
            }
            (Host::GitLab, Method::Get) if path.contains("/repository/files/") => {
                let file = path.rsplit('/').next().unwrap().replace("%2F", "/");
                let id = blob(&state.branches["main"][&file]);
                Some(answer(200, json!({ "blob_id": id, "last_commit_id": "c" })))
            }
            (Host::GitLab, Method::Post) if path.ends_with("/repository/commits") => {
                if state.branches.contains_key(&text("branch")) {
                    return no(400, "A branch called x already exists");
                }
                let action = &body["actions"][0];
                let mut files = state.branches[&text("start_branch")].clone();
                let after = STANDARD.decode(action["content"].as_str().unwrap()).unwrap();
                files.insert(action["file_path"].as_str().unwrap().to_owned(), after);
                state.branches.insert(text("branch"), files);
                done()
            }
            (Host::Bitbucket, _) => self.edit_at_bitbucket(state, request, path, body),
            (_, Method::Post) if path.ends_with("/pulls") || path.ends_with("/merge_requests") => {
                let link = format!("https://git.example/pull/{}", state.pulls.len() + 1);
                let branch = if self.kind == Host::GitLab { "source_branch" } else { "head" };
                state.pulls.push(self.pull(&text(branch), &link));
                Some(answer(201, json!({ "html_url": link, "web_url": link })))
            }
            (Host::GitLab, Method::Get) if path.ends_with("/merge_requests") => {
                Some(answer(200, state.pulls.clone().into()))
            }
            _ => None,
        }
    }

    /// Takes the same in the words of Bitbucket, where files are read as they are and sent in a form.
    fn edit_at_bitbucket(
        &self,
        state: &mut State,
        request: &Request,
        path: &str,
        body: &Value,
    ) -> Option<Answer> {
        let text = |member: &str| body[member].as_str().unwrap_or_default().to_owned();
        let tip = "f".repeat(40);
        match request.method {
            Method::Get if path.ends_with("/refs/branches/main") => {
                Some(answer(200, json!({ "target": { "hash": tip } })))
            }
            Method::Get if path.contains("/src/") => {
                let file = path.split_once(&format!("/src/{tip}/")).unwrap().1;
                let body = state.branches["main"][file].clone();
                Some(Answer { status: 200, headers: Vec::new(), body })
            }
            Method::Post if path.ends_with("/src") => {
                if text("parents") != tip || state.branches.contains_key(&text("branch")) {
                    return Some(answer(409, json!({ "error": { "message": "no descendant" } })));
                }
                let mut files = state.branches["main"].clone();
                let sent = body.as_object().unwrap().iter();
                files.extend(sent.filter_map(|(name, value)| {
                    Some((name.strip_prefix('/')?.to_owned(), value.as_str()?.as_bytes().to_vec()))
                }));
                state.branches.insert(text("branch"), files);
                Some(answer(201, json!({})))
            }
            Method::Post if path.ends_with("/pullrequests") => {
                let link = format!("https://git.example/pull/{}", state.pulls.len() + 1);
                let branch = body["source"]["branch"]["name"].as_str().unwrap();
                state.pulls.push(self.pull(branch, &link));
                Some(answer(201, json!({ "links": { "html": { "href": link } } })))
            }
            Method::Get if path.ends_with("/pullrequests") => {
                Some(answer(200, json!({ "values": state.pulls })))
            }
            _ => None,
        }
    }

    fn pull(&self, branch: &str, link: &str) -> Value {
        let side = |branch: &str| {
            json!({ "sha": "e".repeat(40), "ref": branch, "repo": { "full_name": REPOSITORY },
                "repo_id": 1 })
        };
        match self.kind {
            Host::GitLab => json!({ "iid": 1, "web_url": link, "sha": "e".repeat(40),
                "source_branch": branch, "target_branch": "main", "source_project_id": 1,
                "target_project_id": 1 }),
            Host::Bitbucket => {
                let side = |branch: &str| {
                    json!({ "branch": { "name": branch }, "commit": { "hash": "eeeeeeeeeeee" },
                        "repository": { "full_name": REPOSITORY } })
                };
                json!({ "id": 1, "links": { "html": { "href": link } }, "source": side(branch),
                    "destination": side("main") })
            }
            _ => {
                json!({ "number": 1, "html_url": link, "head": side(branch), "base": side("main") })
            }
        }
    }

    /// Takes what is asked of issues: of all of them, or of one.
    fn issue(
        &self,
        state: &mut State,
        request: &Request,
        number: Option<u64>,
        body: &Value,
    ) -> Answer {
        let text = |member: &str| body[member].as_str().map(str::to_owned);
        let description = if self.kind == Host::GitLab { "description" } else { "body" };
        let change = |issue: &mut Issue| {
            let (title, words) = (text("title"), text(description));
            issue.title = title.unwrap_or_else(|| issue.title.clone());
            issue.body = words.unwrap_or_else(|| issue.body.clone());
            match body["state"].as_str().or(body["state_event"].as_str()) {
                Some("open" | "reopen") => issue.is_open = true,
                Some("closed" | "close") => issue.is_open = false,
                Some(other) => panic!("there is no state {other}"),
                None => {}
            }
        };
        match (request.method, number) {
            (Method::Get, None) => {
                self.asks_for_its_own(request);
                answer(200, state.issues.iter().map(|it| self.shown(it)).collect())
            }
            (Method::Post, None) => {
                let author = "levelset-bot".to_owned();
                let number = 100 + state.issues.len() as u64;
                let (title, body) = (String::new(), String::new());
                let mut issue = Issue { number, author, title, body, is_open: true };
                change(&mut issue);
                assert!(!issue.title.is_empty() && issue.title.len() <= 255, "{issue:?}");
                state.issues.push(issue.clone());
                answer(201, self.shown(&issue))
            }
            (_, Some(number)) => match state.issues.iter_mut().find(|it| it.number == number) {
                Some(issue) => {
                    change(issue);
                    answer(200, self.shown(issue))
                }
                None => answer(404, json!({ "message": "Not Found" })),
            },
            (method, None) => panic!("{method:?} of all issues"),
        }
    }

    fn asks_for_its_own(&self, request: &Request) {
        let (name, value) = match self.kind {
            Host::GitHub => ("creator", "levelset-bot"),
            Host::Gitea => ("created_by", "levelset-bot"),
            _ => ("scope", "created_by_me"),
        };
        let mut pairs = request.url.query_pairs();
        assert!(pairs.any(|(it, of)| it == name && of == value), "{request}");
    }

    fn shown(&self, issue: &Issue) -> Value {
        let Issue { number, author, title, body, .. } = issue;
        match self.kind {
            Host::GitLab => {
                json!({ "iid": number, "title": title, "description": body, "author": user(author) })
            }
            _ => json!({ "number": number, "title": title, "body": body, "user": user(author) }),
        }
    }

    fn note(&self, (id, author, body): &(u64, String, String)) -> Value {
        match self.kind {
            Host::GitHub | Host::Gitea => json!({ "id": id, "body": body, "user": user(author) }),
            Host::GitLab => {
                json!({ "id": id, "body": body, "author": user(author), "system": false, "type": null })
            }
            Host::Bitbucket => {
                json!({ "id": id, "content": { "raw": body }, "user": user(author) })
            }
        }
    }

    fn list(&self, state: &State) -> Answer {
        let notes: Vec<Value> = state.comments.iter().map(|note| self.note(note)).collect();
        match self.kind {
            Host::Bitbucket => answer(200, json!({ "values": notes })),
            _ => answer(200, notes.into()),
        }
    }

    fn add(&self, state: &mut State, body: &Value) -> Answer {
        let text = text(body);
        if text.chars().count() > 65_536 {
            return answer(
                422,
                json!({ "message": "body is too long (maximum is 65536 characters)" }),
            );
        }
        let note = (state.next_id, "levelset-bot".to_owned(), text);
        state.next_id += 1;
        state.comments.push(note.clone());
        answer(201, self.note(&note))
    }

    fn edit(&self, state: &mut State, path: &str, body: &Value) -> Answer {
        let id: u64 = path.rsplit('/').next().unwrap().parse().unwrap();
        match state.comments.iter_mut().find(|note| note.0 == id) {
            Some(note) => {
                note.2 = text(body);
                answer(200, self.note(note))
            }
            None => answer(404, json!({ "message": "Not Found" })),
        }
    }
}

impl Wire for FakeHost {
    fn send(&self, request: Request) -> WireFuture<'_> {
        Box::pin(self.answer(request))
    }
}

/// Reads what arrived over HTTP as what was sent.
async fn read(root: &Url, request: axum::extract::Request) -> Request {
    let (head, body) = request.into_parts();
    // The rules are those of the public host, whose API is at the root.
    let path = head.uri.path().strip_prefix("/api").unwrap();
    let method = match head.method.as_str() {
        "GET" => Method::Get,
        "POST" => Method::Post,
        "PUT" => Method::Put,
        _ => Method::Patch,
    };
    let text = |name: &str| Some(head.headers.get(name)?.to_str().unwrap().to_owned());
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    Request {
        method,
        url: root.join(path).unwrap(),
        headers: text("accept").into_iter().map(|value| ("accept", value)).collect(),
        credentials: text("authorization").map(|value| ("authorization", value.into())),
        body: (!body.is_empty()).then(|| sent(&body, text("content-type").as_deref())),
    }
}

fn sent(body: &[u8], media_type: Option<&str>) -> Body {
    match media_type {
        Some("application/x-www-form-urlencoded") => {
            Body::Form(url::form_urlencoded::parse(body).into_owned().collect())
        }
        _ => Body::Json(serde_json::from_slice(body).unwrap()),
    }
}

/// Makes an API of a kind over a wire.
pub(super) fn api(
    kind: Host,
    root: Url,
    wire: Arc<dyn Wire>,
    clock: Arc<dyn Clock>,
) -> Arc<dyn Api> {
    let place = Place { host: kind, root, repository: REPOSITORY.to_owned() };
    let credentials = Credentials::Token(Arc::new(|| Ok(TOKEN.into())));
    let caller = Caller::new(wire, place, credentials, clock);
    match kind {
        Host::GitHub => Arc::new(GitHub(caller)),
        Host::GitLab => Arc::new(GitLab(caller)),
        Host::Gitea => Arc::new(Gitea(caller)),
        Host::Bitbucket => Arc::new(Bitbucket(caller)),
    }
}

/// Finds the commit in the path of a status: `.../statuses/SHA` or `.../commit/SHA/statuses/build`.
fn revision(path: &str) -> Option<&str> {
    let parts: Vec<&str> = path.split('/').collect();
    match parts.as_slice() {
        [.., "commit", revision, "statuses", "build"] | [.., "statuses", revision] => {
            Some(revision)
        }
        _ => None,
    }
}

/// Returns the body of a request; a form as an object of texts.
fn fields(request: &Request) -> Value {
    match &request.body {
        Some(Body::Json(value)) => value.clone(),
        Some(Body::Form(fields)) => {
            fields.iter().map(|(name, value)| (name.clone(), Value::from(&**value))).collect()
        }
        None => Value::Null,
    }
}

/// Returns the id that Git gives to a file.
pub(super) fn blob(bytes: &[u8]) -> String {
    git2::Oid::hash_object(git2::ObjectType::Blob, bytes).unwrap().to_string()
}

/// Finds what a path says of issues: all of them, or one; comments on one are another thing.
fn issue(path: &str) -> Option<Option<u64>> {
    let mut parts = path.rsplit('/');
    match (parts.next()?, parts.next()?) {
        ("issues", _) => Some(None),
        (number, "issues") => number.parse().ok().map(Some),
        _ => None,
    }
}

fn user(name: &str) -> Value {
    json!({ "login": name, "username": name, "uuid": name })
}

fn text(body: &Value) -> String {
    let text = body.get("body").or_else(|| body.pointer("/content/raw"));
    text.and_then(Value::as_str).unwrap().to_owned()
}

fn answer(status: u16, body: Value) -> Answer {
    Answer { status, headers: Vec::new(), body: body.to_string().into_bytes() }
}

/// A day, and more than a host takes to forget.
pub(super) const DAY: Duration = Duration::from_secs(24 * 3600);
