//! The calls of the four APIs: what is sent, and what is made of the answers.

use std::sync::{Arc, Mutex};

use aws_lc_rs::encoding::{AsDer as _, Pkcs8V1Der};
use aws_lc_rs::rsa::{KeyPair, KeySize};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use levelset::forge::api::{
    Annotation, Api as _, Caller, CommitStatus, Edit, GitHub, Place, State,
};
use levelset::forge::app::App;
use levelset::forge::credentials::Credentials;
use levelset::forge::proposal::propose;
use levelset::forge::refusal::Refusal;
use levelset::forge::wire::{Answer, Method, Request, Wire, WireFuture};
use levelset::model::webhook::Host;
use levelset::model::{Clock, Revision};
use serde_json::{Value, json};
use url::Url;

use super::host::{FakeHost, api, blob};
use super::schema;

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_second(1_795_910_400).unwrap()
    }
}

fn status(state: State) -> CommitStatus {
    CommitStatus {
        revision: Revision::new("6113728f27ae82c7b1a177c8d03f9e96e0adf246"),
        context: "levelset/prod/sync".to_owned(),
        state,
        description: "2 objects to converge".to_owned(),
        link: None,
        branch: Some("main".to_owned()),
        annotations: None,
    }
}

#[tokio::test]
async fn every_host_has_its_own_words_for_the_states() {
    for (kind, words) in [
        (Host::GitHub, ["pending", "failure", "success", "error"]),
        (Host::GitLab, ["running", "failed", "success", "canceled"]),
        (Host::Gitea, ["pending", "failure", "success", "warning"]),
        (Host::Bitbucket, ["INPROGRESS", "FAILED", "SUCCESSFUL", "STOPPED"]),
    ] {
        let host = FakeHost::new(kind, Arc::new(Fixed));
        let api = host.api();
        for state in [State::Pending, State::Failure, State::Success, State::Superseded] {
            api.set_status(&status(state)).await.unwrap();
        }
        let taken = host.with(|state| state.taken.clone());
        assert_eq!(taken.iter().map(|it| it.state.as_str()).collect::<Vec<_>>(), words);
        assert!(taken.iter().all(|it| it.description == "2 objects to converge"), "{kind}");
    }
}

#[tokio::test]
async fn a_status_that_runs_already_is_taken_for_done_by_gitlab() {
    let host = FakeHost::new(Host::GitLab, Arc::new(Fixed));
    let api = host.api();
    for _ in 0..3 {
        api.set_status(&status(State::Pending)).await.unwrap();
    }
    assert_eq!(host.with(|state| state.taken.len()), 1);
    api.set_status(&status(State::Success)).await.unwrap();
    api.set_status(&status(State::Pending)).await.unwrap();
    assert_eq!(host.with(|state| state.taken.len()), 3, "what ended can run again");
}

#[tokio::test]
async fn the_thousand_and_first_status_is_refused_for_good() {
    let host = FakeHost::new(Host::GitHub, Arc::new(Fixed));
    let api = host.api();
    for _ in 0..1000 {
        api.set_status(&status(State::Pending)).await.unwrap();
    }
    let refusal = api.set_status(&status(State::Success)).await.unwrap_err();
    assert!(matches!(refusal, Refusal::Refused { status: 422, .. }), "{refusal}");
}

#[tokio::test]
async fn credentials_that_are_not_taken_are_a_denial_without_their_text() {
    for kind in Host::ALL {
        let host = FakeHost::new(kind, Arc::new(Fixed));
        host.with(|state| "another".clone_into(&mut state.token));
        let refusal = host.api().set_status(&status(State::Success)).await.unwrap_err();
        assert!(matches!(refusal, Refusal::Denied { status: 401, .. }), "{kind}: {refusal}");
        assert!(!format!("{refusal} {refusal:?}").contains("t0ken"));
    }
}

#[tokio::test]
async fn a_comment_is_added_read_and_edited_at_every_host() {
    for kind in Host::ALL {
        let host = FakeHost::new(kind, Arc::new(Fixed));
        let api = host.api();
        let id = api.add_comment(7, "<!-- a -->\none").await.unwrap();
        api.edit_comment(7, &id, "<!-- a -->\ntwo").await.unwrap();
        let comments = api.comments(7).await.unwrap();
        assert_eq!(comments.len(), 1, "{kind}");
        assert_eq!((&comments[0].id, comments[0].body.as_str()), (&id, "<!-- a -->\ntwo"));
        assert_eq!(comments[0].author, api.myself().await.unwrap());
        let missing = api.edit_comment(7, "99", "x").await.unwrap_err();
        assert!(matches!(missing, Refusal::Missing { .. }), "{kind}: {missing}");
    }
}

#[tokio::test]
async fn a_changed_file_is_proposed_once_and_not_when_it_is_another_one_by_now() {
    for kind in [Host::GitHub, Host::GitLab, Host::Gitea, Host::Bitbucket] {
        let host = FakeHost::new(kind, Arc::new(Fixed));
        let files = [("teams/a.yaml".to_owned(), b"before".to_vec())];
        host.with(|state| state.branches.insert("main".to_owned(), files.into()));
        let edit = |branch: &str, before: &[u8]| Edit {
            branch: branch.to_owned(),
            onto: "main".to_owned(),
            path: "teams/a.yaml".to_owned(),
            blob: blob(before),
            before: before.to_vec(),
            after: b"after".to_vec(),
            title: "t".to_owned(),
            body: "b".to_owned(),
        };
        let api = host.api();
        let good = edit("levelset/accept/a-1", b"before");
        for _ in 0..2 {
            let link = propose(&*api, &good).await.unwrap();
            assert_eq!(link, "https://git.example/pull/1", "{kind}");
        }
        let after = host.with(|state| state.branches[&good.branch]["teams/a.yaml"].clone());
        assert_eq!((after.as_slice(), host.with(|state| state.pulls.len())), (&b"after"[..], 1));
        let stale = propose(&*api, &edit("levelset/accept/a-2", b"older")).await.unwrap_err();
        assert!(matches!(stale, Refusal::Refused { status: 409, .. }), "{kind}: {stale}");
        let branches = host.with(|state| state.branches.len());
        assert_eq!((branches, host.with(|state| state.pulls.len())), (2, 1), "{kind}");
    }
}

/// Answers with what it is given, page by page.
struct Pages(Vec<Answer>);

impl Wire for Pages {
    fn send(&self, request: Request) -> WireFuture<'_> {
        let pairs: Vec<_> = request.url.query_pairs().into_owned().collect();
        let page = pairs.iter().find(|(name, _)| name == "page");
        let number: usize = page.map_or(1, |(_, number)| number.parse().unwrap());
        let answer = self.0[number - 1].clone();
        Box::pin(async move { Ok(answer) })
    }
}

fn page(body: &Value, link: Option<&str>) -> Answer {
    let headers = link.map(|url| ("link".to_owned(), format!("<{url}>; rel=\"next\"")));
    let body = body.to_string().into_bytes();
    Answer { status: 200, headers: headers.into_iter().collect(), body }
}

fn root() -> Url {
    Url::parse("https://git.example/api").unwrap()
}

#[tokio::test]
async fn the_examples_of_githubs_own_description_are_read() {
    let pulls = schema::example("/repos/{owner}/{repo}/pulls", Method::Get, "200");
    let wire = Arc::new(Pages(vec![page(&pulls, None)]));
    let github = api(Host::GitHub, root(), wire, Arc::new(Fixed));
    let found = github.pull_requests().await.unwrap();
    assert_eq!((found[0].number, found[0].base_branch.as_str()), (1347, "master"));
    assert_eq!(found[0].head_branch, "new-topic");
    assert!(!found[0].is_fork && found[0].link.starts_with("https://"));
    let path = "/repos/{owner}/{repo}/issues/{issue_number}/comments";
    let comments = schema::example(path, Method::Get, "200");
    let wire = Arc::new(Pages(vec![page(&comments, None)]));
    let github = api(Host::GitHub, root(), wire, Arc::new(Fixed));
    let found = github.comments(1347).await.unwrap();
    assert_eq!((found[0].author.as_str(), found[0].body.as_str()), ("octocat", "Me too"));
}

#[tokio::test]
async fn the_pull_requests_of_the_other_hosts_are_read_in_the_shapes_of_their_documentation() {
    let sha = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
    let gitea = json!([{ "number": 7, "html_url": "https://a/7",
        "head": { "sha": sha, "ref": "change", "repo_id": 1 },
        "base": { "sha": sha, "ref": "main", "repo_id": 2 } }]);
    let gitlab = json!([{ "iid": 7, "web_url": "https://a/7", "sha": sha, "source_branch": "change",
        "target_branch": "main", "source_project_id": 1, "target_project_id": 2 }]);
    let side = |branch: &str, name: &str| {
        json!({ "branch": { "name": branch },
        "commit": { "hash": sha }, "repository": { "full_name": name } })
    };
    let bitbucket = json!({ "values": [{ "id": 7, "links": { "html": { "href": "https://a/7" } },
        "source": side("change", "other/environments"),
        "destination": side("main", "acme/environments") }] });
    for (kind, body) in [(Host::Gitea, gitea), (Host::GitLab, gitlab), (Host::Bitbucket, bitbucket)]
    {
        let wire = Arc::new(Pages(vec![page(&body, None)]));
        let found = api(kind, root(), wire, Arc::new(Fixed)).pull_requests().await.unwrap();
        let request = &found[0];
        assert_eq!((request.number, request.head.as_str()), (7, sha), "{kind}");
        assert_eq!((&*request.head_branch, &*request.base_branch), ("change", "main"));
        assert!(request.is_fork, "{kind}");
    }
}

#[tokio::test]
async fn a_list_is_read_to_its_end_and_never_at_another_origin() {
    let note = |id: u64| json!([{ "id": id, "body": "x", "user": { "login": "a" } }]);
    let first = page(&note(1), Some("https://git.example/api/x?page=2"));
    let wire = Arc::new(Pages(vec![first.clone(), page(&note(2), None)]));
    let found = api(Host::Gitea, root(), wire, Arc::new(Fixed)).comments(7).await.unwrap();
    assert_eq!(found.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    for url in ["https://evil.example/api/x?page=2", "https://git.example:8443/x?page=2"] {
        let wire = Arc::new(Pages(vec![page(&note(1), Some(url)), page(&note(2), None)]));
        let api = api(Host::Gitea, root(), wire, Arc::new(Fixed));
        assert!(api.comments(7).await.is_err(), "{url}");
    }
    let endless = page(&note(1), Some("https://git.example/api/x?page=1"));
    let wire = Arc::new(Pages(vec![endless]));
    assert!(api(Host::Gitea, root(), wire, Arc::new(Fixed)).comments(7).await.is_err());
}

/// Returns a status that is about lines, as many as a call takes.
fn about_lines() -> CommitStatus {
    let annotation = |line| Annotation {
        path: "teams/a.yaml".to_owned(),
        line,
        title: "there is no field foo".to_owned(),
        message: "there is no field foo; did you mean port?".to_owned(),
    };
    let annotations = Some((1..=50).map(annotation).collect());
    CommitStatus { annotations, ..status(State::Failure) }
}

#[tokio::test]
async fn an_app_shows_mistakes_at_their_lines_and_a_status_where_it_may_not() {
    for is_allowed in [true, false] {
        let wire = Arc::new(Impatient { is_allowed, ..Impatient::default() });
        let root = Url::parse("https://api.github.com").unwrap();
        let place = Place { host: Host::GitHub, root, repository: "acme/environments".to_owned() };
        let github = GitHub(Caller::new(wire.clone(), place, app(), Arc::new(Fixed)));
        github.set_status(&about_lines()).await.unwrap();
        let log = wire.log.lock().unwrap().clone();
        assert!(log.iter().any(|line| line.contains("/check-runs")), "{log:?}");
        let last = log.last().unwrap();
        assert_eq!(last.contains("/statuses/"), !is_allowed, "{log:?}");
        assert!(last.ends_with("201"), "{log:?}");
        let before = log.len();
        github.set_status(&status(State::Success)).await.unwrap();
        let log = wire.log.lock().unwrap().clone();
        assert!(log[before..].iter().all(|line| !line.contains("/check-runs")), "{log:?}");
    }
}

#[tokio::test]
async fn a_token_makes_no_check_run() {
    let host = FakeHost::new(Host::GitHub, Arc::new(Fixed));
    host.api().set_status(&about_lines()).await.unwrap();
    assert_eq!(host.with(|state| state.taken.len()), 1);
}

/// Plays GitHub to an app, and takes each of its tokens twice.
#[derive(Default)]
struct Impatient {
    /// Whether the app may make check runs.
    is_allowed: bool,
    granted: Mutex<u32>,
    uses: Mutex<u32>,
    log: Mutex<Vec<String>>,
}

impl Impatient {
    fn answer(&self, request: &Request) -> (u16, Value) {
        let path = request.url.path().to_owned();
        if path.ends_with("/installation") {
            return (200, json!({ "id": 7 }));
        }
        if path.ends_with("/access_tokens") {
            *self.granted.lock().unwrap() += 1;
            *self.uses.lock().unwrap() = 0;
            let token = format!("ghs_{}", self.granted.lock().unwrap());
            return (201, json!({ "token": token, "expires_at": "2099-01-01T00:00:00Z" }));
        }
        if path.ends_with("/check-runs") && !self.is_allowed {
            return (403, json!({ "message": "Resource not accessible by integration" }));
        }
        let mut uses = self.uses.lock().unwrap();
        *uses += 1;
        let valid = format!("Bearer ghs_{}", self.granted.lock().unwrap());
        match *uses <= 2 && request.secret().unwrap().1 == valid {
            true => (201, json!({})),
            false => (401, json!({ "message": "Bad credentials" })),
        }
    }
}

impl Wire for Impatient {
    fn send(&self, request: Request) -> WireFuture<'_> {
        schema::check(&request);
        let (status, body) = self.answer(&request);
        self.log.lock().unwrap().push(format!("{request} {status}"));
        let body = body.to_string().into_bytes();
        Box::pin(async move { Ok(Answer { status, headers: Vec::new(), body }) })
    }
}

fn app() -> Credentials {
    let pair = KeyPair::generate(KeySize::Rsa2048).unwrap();
    let der: Pkcs8V1Der<'_> = pair.as_der().unwrap();
    let text = STANDARD.encode(der.as_ref());
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{text}\n-----END PRIVATE KEY-----\n");
    Credentials::App(Arc::new(App::new("12345", Arc::new(move || Ok(pem.clone().into())))))
}

#[tokio::test]
async fn a_token_of_an_app_that_ends_early_is_renewed_in_the_middle_of_a_call() {
    let wire = Arc::new(Impatient::default());
    let root = Url::parse("https://api.github.com").unwrap();
    let place = Place { host: Host::GitHub, root, repository: "acme/environments".to_owned() };
    let github = GitHub(Caller::new(wire.clone(), place, app(), Arc::new(Fixed)));
    for _ in 0..3 {
        github.set_status(&status(State::Success)).await.unwrap();
    }
    let log = wire.log.lock().unwrap().clone();
    let status = |code| {
        format!(
            "POST https://api.github.com/repos/acme/environments/statuses/{} {code}",
            status(State::Success).revision
        )
    };
    assert_eq!(log[2..=4], [status(201), status(201), status(401)]);
    assert_eq!(log.last().unwrap(), &status(201));
    assert_eq!(*wire.granted.lock().unwrap(), 2);
}
