//! The built agent on a real repository and a cloud over HTTP: what vanishes together stays, and a
//! repository that is out of reach is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use levelset::cli::clock::SystemClock;
use levelset::model::{AccountId, Region, Scope};
use levelset::sandbox::{Sandbox, Settings, http};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::support::git::Repo;
use crate::support::keys::{SshKey, commit, signed_git};

const OBJECTS: [&str; 3] = ["team-a", "team-b", "team-c"];

/// A folder without this file would be no folder to Git, and one without any manifest is refused.
const NOTES: (&str, &str) = ("teams/notes.yaml", "# no object\n");

fn scope() -> Scope {
    Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") }
}

fn manifest(name: &str) -> String {
    format!(
        "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {{name: {name}}}\n\
         spec:\n  environment: staging\n  resources:\n    database: {{engine: postgres, version: \
         \"15\", sizeClass: db.r6g.large}}\n    network: {{vpcRef: shared}}\n  reconcilePolicy: \
         {{resyncIntervalSeconds: 10}}\n"
    )
}

/// An agent at work, which ends with the test.
struct Agent {
    child: Child,
    address: String,
    log: Arc<Mutex<Vec<Value>>>,
    _state: TempDir,
}

impl Agent {
    /// Starts an agent that looks at the repository every five seconds.
    fn start(repository: &Repo, endpoint: &str) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), "", repository, endpoint)
    }

    /// Starts one in a folder of its own, with more settings of the repository.
    fn start_in(state: TempDir, more: &str, repository: &Repo, endpoint: &str) -> Self {
        let settings = format!(
            "repository: {{path: \"{}\", branch: main, folder: teams, pollIntervalSeconds: 5, \
             staleAfterSeconds: 10{more}}}\nstateDirectory: state\nlisten: 127.0.0.1:0\nenvironments:\n  \
             staging: {{account: \"111122223333\", region: eu-west-1, endpointUrl: \
             \"{endpoint}\"}}\n",
            repository.path().display()
        );
        std::fs::write(state.path().join("levelset.yaml"), settings).unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_levelset"))
            .args(["run", "--log-format", "json"])
            .env_clear()
            .envs([("AWS_ACCESS_KEY_ID", "111122223333"), ("AWS_SECRET_ACCESS_KEY", "test")])
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .current_dir(state.path())
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = Arc::new(Mutex::new(Vec::new()));
        let (lines, kept) = (BufReader::new(child.stderr.take().unwrap()).lines(), log.clone());
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                kept.lock().unwrap().push(serde_json::from_str(&line).unwrap_or(line.into()));
            }
        });
        let mut agent = Self { child, address: String::new(), log, _state: state };
        let address = |agent: &Self| {
            agent
                .lines(|line| line["address"].is_string())
                .pop()
                .map(|line| line["address"].clone())
        };
        agent.wait("an address", || address(&agent).is_some());
        agent.address = address(&agent).unwrap().as_str().unwrap().to_owned();
        agent
    }

    fn lines(&self, is_meant: impl Fn(&Value) -> bool) -> Vec<Value> {
        self.log.lock().unwrap().iter().filter(|line| is_meant(line)).cloned().collect()
    }

    fn wait(&self, what: &str, is_so: impl Fn() -> bool) {
        let start = Instant::now();
        while !is_so() {
            if start.elapsed() > Duration::from_secs(60) {
                panic!("no {what}: {:#?}", self.log.lock().unwrap());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Returns the answer to one GET, headers and body.
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn is_ready(&self) -> bool {
        self.get("/readyz").starts_with("HTTP/1.1 200")
    }

    fn figure(&self, series: &str) -> Option<String> {
        let text = self.get("/metrics");
        let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        value.map(str::to_owned)
    }

    /// Returns a condition of each object.
    fn conditions(&self, kind: &str) -> Vec<Value> {
        let answer = self.get("/api/v1/workspaces");
        let body: Value = serde_json::from_str(answer.split("\r\n\r\n").nth(1).unwrap()).unwrap();
        let items = body["items"].as_array().unwrap().iter();
        let condition = |item: &Value| {
            let all = item["status"]["conditions"].as_array()?;
            all.iter().find(|condition| condition["type"] == kind).cloned()
        };
        items.filter_map(condition).collect()
    }

    /// Tells whether a condition of all objects is this.
    fn all_are(&self, kind: &str, status: &str) -> bool {
        let found = self.conditions(kind);
        found.len() == OBJECTS.len() && found.iter().all(|it| it["status"] == status)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves a cloud for as long as the test runs.
async fn cloud() -> (Sandbox, String) {
    let sandbox = Sandbox::new(Arc::new(SystemClock), Settings::fast(5));
    sandbox.seed_vpc(&scope(), "shared", "10.0.0.0/16", &["a", "b"]);
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(http::serve(sandbox.clone(), listener, std::future::pending()));
    (sandbox, endpoint)
}

fn repository() -> Repo {
    let repository = Repo::empty();
    declare(&repository);
    repository
}

/// Commits all the manifests.
fn declare(repository: &Repo) {
    let files = OBJECTS.map(|name| (format!("teams/{name}.yaml"), manifest(name)));
    let files = files.iter().map(|(path, text)| (path.as_str(), text.as_str()));
    repository.commit(&files.chain([NOTES]).collect::<Vec<_>>());
}

fn writes(sandbox: &Sandbox) -> usize {
    sandbox.calls_since(0).iter().filter(|call| call.is_write()).count()
}

fn is_about_the_folder(line: &Value) -> bool {
    line["level"] == "WARN" && line["code"] == "FolderMissing"
}

fn is_about_a_digest(line: &Value) -> bool {
    line["level"] == "WARN" && line["digest"].is_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_moved_or_emptied_deletes_nothing_and_is_told_once() {
    let (sandbox, endpoint) = cloud().await;
    let repository = repository();
    let agent = Agent::start(&repository, &endpoint);
    agent.wait("convergence", || agent.all_are("Ready", "True"));
    let before = writes(&sandbox);

    repository.git(&["mv", "teams", "moved"]);
    repository.commit_all();
    agent.wait("word of the folder", || !agent.lines(is_about_the_folder).is_empty());
    repository.commit(&[("moved/more.txt", "more\n")]);
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(agent.lines(is_about_the_folder).len(), 1);

    repository.git(&["rm", "-q", "-r", "moved"]);
    repository.commit(&[NOTES]);
    agent.wait("frozen objects", || agent.all_are("Frozen", "True"));
    repository.commit(&[("teams/more.yaml", "# nothing either\n")]);
    let figure = || agent.figure("levelset_frozen_objects{guard=\"vanishing\"}");
    agent.wait("figure", || figure().as_deref() == Some("3"));
    std::thread::sleep(Duration::from_secs(6));
    let told = agent.lines(is_about_a_digest);
    assert_eq!(told.len(), 1, "{told:?}");
    let condition = &agent.conditions("Frozen")[0];
    assert_eq!(condition["reason"], "NothingLeft");
    let command = format!("`levelset confirm {}`", told[0]["digest"].as_str().unwrap());
    assert!(condition["message"].as_str().unwrap().contains(&command), "{condition}");
    assert!(agent.is_ready(), "{}", agent.get("/readyz"));

    declare(&repository);
    agent.wait("released objects", || agent.all_are("Frozen", "False"));
    agent.wait("figure", || figure().as_deref() == Some("0"));
    assert_eq!((writes(&sandbox), sandbox.inspect(&scope()).len()), (before, OBJECTS.len()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repository_out_of_reach_makes_the_agent_unready_until_it_is_back() {
    let (_sandbox, endpoint) = cloud().await;
    let repository = repository();
    let agent = Agent::start(&repository, &endpoint);
    agent.wait("readiness", || agent.is_ready());
    assert_eq!(agent.figure("levelset_source_stale").as_deref(), Some("0"));

    let elsewhere = repository.path().with_extension("away");
    std::fs::rename(repository.path(), &elsewhere).unwrap();
    agent.wait("unreadiness", || !agent.is_ready());
    let answer = agent.get("/readyz");
    assert!(answer.contains("Git has not been confirmed since 2"), "{answer}");
    agent.wait("figure", || agent.figure("levelset_source_stale").as_deref() == Some("1"));
    agent.wait("conditions", || agent.all_are("Stale", "True"));

    std::fs::rename(&elsewhere, repository.path()).unwrap();
    agent.wait("readiness", || agent.is_ready());
    agent.wait("conditions", || agent.all_are("Stale", "False"));
    let told = agent.lines(|line| {
        line["message"].as_str().is_some_and(|text| text.starts_with("Git has not been confirmed"))
    });
    assert_eq!(told.len(), 1, "{told:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_without_a_signature_is_told_and_the_last_good_one_stays_in_force() {
    let (_sandbox, endpoint) = cloud().await;
    let (repository, key) = (repository(), SshKey::ed25519());
    let good = commit(&repository, &key.options(), "notes: 1");
    let state = tempfile::tempdir().unwrap();
    std::fs::write(state.path().join("signers"), key.line("ann@example.com", "")).unwrap();
    let more = ", signatures: {allowedSignersFile: signers}";
    let agent = Agent::start_in(state, more, &repository, &endpoint);
    agent.wait("readiness", || agent.is_ready());
    assert_eq!(agent.figure("levelset_source_unverified").as_deref(), Some("0"));

    let unsigned = repository.commit(&[("teams/team-a.yaml", "")]);
    agent.wait("unreadiness", || !agent.is_ready());
    let answer = agent.get("/readyz");
    assert!(answer.contains(&format!("commit {unsigned}")), "{answer}");
    assert!(answer.contains("it is not signed") && answer.contains("git merge -S"), "{answer}");
    agent.wait("figure", || agent.figure("levelset_source_unverified").as_deref() == Some("1"));
    agent.wait("conditions", || agent.all_are("Stale", "True"));
    let condition = &agent.conditions("Stale")[0];
    assert_eq!(condition["reason"], "RevisionUnverified");
    // For longer than the repository may be out of reach.
    std::thread::sleep(Duration::from_secs(12));
    assert_eq!(agent.figure("levelset_source_stale").as_deref(), Some("0"));
    assert_eq!(agent.figure("levelset_source_up").as_deref(), Some("1"));
    assert!(agent.all_are("Frozen", "False"), "nothing is gone");

    repository.git(&["checkout", "-q", "--detach", &good]);
    signed_git(&repository, &key.options(), &["merge", "-q", "-S", "-s", "ours", &unsigned]);
    repository.git(&["branch", "-f", "main", "HEAD"]);
    agent.wait("readiness", || agent.is_ready());
    agent.wait("conditions", || agent.all_are("Stale", "False"));
    let told = agent.lines(|line| line["code"] == "RevisionUnverified");
    assert_eq!(told.len(), 1, "{told:?}");
}
