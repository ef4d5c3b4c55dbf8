//! A Git server that takes pushes and fires a webhook, and the built agent that follows it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use levelset::cli::clock::SystemClock;
use levelset::model::{AccountId, Region, Scope};
use levelset::sandbox::{Sandbox, Settings, http};
use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;

use crate::support::git::{Behaviour, HttpServer, Repo, git};

/// The longest that anything is waited for, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// The secret of the webhooks.
const SECRET: &str = "It's a Secret to Everybody";

/// Fires the webhook of GitHub for each branch that was pushed, as the host would.
const HOOK: &str = r#"#!/usr/bin/env python3
import hashlib, hmac, json, sys, urllib.request, uuid
address, secret = ADDRESS, SECRET
for line in sys.stdin:
    before, after, ref = line.split()
    body = json.dumps({"ref": ref, "before": before, "after": after, "commits": [],
        "repository": {"full_name": "r", "default_branch": "main"}}).encode()
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    request = urllib.request.Request("http://" + address + "/webhooks/github", body, {
        "Content-Type": "application/json", "X-GitHub-Event": "push",
        "X-GitHub-Delivery": str(uuid.uuid4()), "X-Hub-Signature-256": "sha256=" + signature})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    print(opener.open(request, timeout=10).read().decode())
"#;

pub(super) fn scope() -> Scope {
    Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") }
}

/// Returns the manifest of a workspace with a database.
pub(super) fn manifest(name: &str) -> String {
    format!(
        "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {{name: {name}}}\n\
         spec:\n  environment: staging\n  resources:\n    database: {{engine: postgres, version: \
         \"15\", sizeClass: db.r6g.large}}\n    network: {{vpcRef: shared}}\n  reconcilePolicy: \
         {{resyncIntervalSeconds: 3600}}\n"
    )
}

/// A repository on a server, somebody who pushes to it, a cloud, and an agent between them.
pub(super) struct Stage {
    folder: TempDir,
    server: HttpServer,
    clone: Repo,
    pub(super) cloud: Sandbox,
    agent: Option<Child>,
    address: String,
}

impl Stage {
    /// Does what [`Stage::begin_with`] does, without anything more.
    pub(super) async fn begin() -> Self {
        Self::begin_with("", &[]).await
    }

    /// Pushes a first manifest, and starts an agent that asks the server by itself once an hour, with
    /// more settings and files beside them.
    pub(super) async fn begin_with(settings: &str, files: &[(&str, &str)]) -> Self {
        let cloud = Sandbox::new(Arc::new(SystemClock), Settings::fast(5));
        cloud.seed_vpc(&scope(), "shared", "10.0.0.0/16", &["a", "b"]);
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(http::serve(cloud.clone(), listener, std::future::pending()));
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q", "--bare", "-b", "main", "r"]);
        git(&folder.path().join("r"), &["config", "http.receivepack", "true"]);
        let server = HttpServer::start(folder.path(), Behaviour::Serve);
        let clone = Repo::empty();
        let mut stage = Self { folder, server, clone, cloud, agent: None, address: String::new() };
        stage.push("team-a");
        stage.configure(&endpoint, settings);
        files.iter().for_each(|(name, text)| stage.write(name, text));
        stage.start();
        stage
    }

    fn configure(&self, endpoint: &str, more: &str) {
        let settings = format!(
            "repository: {{url: \"{}\", branch: main, pollIntervalSeconds: 3600}}\n\
             stateDirectory: state\nlisten: 127.0.0.1:0\nwebhooks: {{github: {{secretFile: \
             webhook-secret}}}}\nenvironments:\n  staging: {{account: \"111122223333\", region: \
             eu-west-1, endpointUrl: \"{endpoint}\"}}\n{more}",
            self.server.url()
        );
        self.write("levelset.yaml", &settings);
        self.write("webhook-secret", &format!("{SECRET}\n"));
    }

    /// Writes a file beside the agent's settings.
    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }

    /// Returns everything that the agent has written: its log, and the files of its state.
    pub(super) fn traces(&self) -> Vec<u8> {
        let mut traces = fs::read(self.log()).unwrap();
        for entry in fs::read_dir(self.folder.path().join("state")).unwrap() {
            let path = entry.unwrap().path();
            traces.extend(if path.is_file() { fs::read(path).unwrap() } else { Vec::new() });
        }
        traces
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Starts the agent, waits for its address, and tells the server's hook.
    pub(super) fn start(&mut self) {
        let log = fs::File::create(self.log()).unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_levelset"))
            .args(["run", "--log-format", "json"])
            .env_clear()
            .envs([("AWS_ACCESS_KEY_ID", "111122223333"), ("AWS_SECRET_ACCESS_KEY", "test")])
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stderr(log)
            .spawn();
        self.agent = Some(child.unwrap());
        self.until("an address", |stage| stage.line_with("address").is_some());
        self.address = self.line_with("address").unwrap()["address"].as_str().unwrap().to_owned();
        self.hook(&self.folder.path().join("r/hooks/post-receive"));
    }

    /// Stops the agent without a warning.
    pub(super) fn kill(&mut self) {
        let mut agent = self.agent.take().unwrap();
        agent.kill().unwrap();
        agent.wait().unwrap();
    }

    fn hook(&self, path: &Path) {
        let text = HOOK
            .replace("ADDRESS", &format!("{:?}", self.address))
            .replace("SECRET", &format!("{SECRET:?}"));
        fs::write(path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Commits a manifest of this name and pushes it over HTTP; returns the commit.
    pub(super) fn push(&self, name: &str) -> String {
        self.push_text(name, &manifest(name))
    }

    /// Commits the text of a manifest and pushes it over HTTP; returns the commit.
    pub(super) fn push_text(&self, name: &str, text: &str) -> String {
        let commit = self.clone.commit(&[(&format!("{name}.yaml"), text)]);
        self.clone.git(&["push", "-q", &self.server.url(), "main"]);
        commit
    }

    /// Opens a pull request that adds a manifest; returns its head.
    pub(super) fn propose(&self, number: u64, name: &str) -> String {
        self.clone.git(&["checkout", "-q", "-b", "change"]);
        self.clone.commit(&[(&format!("{name}.yaml"), &manifest(name))]);
        let head = self.clone.git(&["rev-parse", "HEAD"]);
        let target = format!("HEAD:refs/pull/{number}/head");
        self.clone.git(&["push", "-q", &self.server.url(), &target]);
        self.clone.git(&["checkout", "-q", "main"]);
        head
    }

    /// Merges it.
    pub(super) fn merge(&self, number: u64) {
        let message = format!("merge {number}");
        self.clone.git(&["merge", "-q", "--no-ff", "-m", &message, "change"]);
        self.clone.git(&["push", "-q", &self.server.url(), "main"]);
    }

    /// Runs the program beside the agent, with its settings; `CLONE` stands for the clone's folder.
    pub(super) fn levelset(&self, words: &[&str]) -> std::process::Output {
        let clone = self.clone.path().display().to_string();
        let words = words.iter().map(|word| word.replace("CLONE", &clone));
        Command::new(env!("CARGO_BIN_EXE_levelset"))
            .args(words)
            .env_clear()
            .envs([("AWS_ACCESS_KEY_ID", "111122223333"), ("AWS_SECRET_ACCESS_KEY", "test")])
            .env("AWS_EC2_METADATA_DISABLED", "true")
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn line_with(&self, member: &str) -> Option<Value> {
        let log = fs::read_to_string(self.log()).unwrap();
        let mut lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.find(|line| line[member].is_string())
    }

    /// Waits until something is so.
    pub(super) fn until(&self, goal: &str, is_so: impl Fn(&Self) -> bool) {
        let start = Instant::now();
        while !is_so(self) {
            let log = || fs::read_to_string(self.log()).unwrap();
            assert!(start.elapsed() < PATIENCE, "no {goal}: {}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Tells whether a workspace is as declared.
    pub(super) fn is_ready(&self, name: &str) -> bool {
        let answer = self.get(&format!("/api/v1/workspaces/{name}"));
        let conditions = answer["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|it| it["type"] == "Ready" && it["status"] == "True")
    }

    /// Returns a figure of the agent.
    pub(super) fn figure(&self, series: &str) -> Option<String> {
        let text = self.text("/metrics");
        let value = text.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        value.map(str::to_owned)
    }

    fn get(&self, path: &str) -> Value {
        serde_json::from_str(&self.text(path)).unwrap_or_default()
    }

    fn text(&self, path: &str) -> String {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").map_or_else(String::new, |(_, body)| body.to_owned())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.agent.is_some() {
            self.kill();
        }
    }
}
