//! What people ask of a running agent: the built program, beside an agent of the built program, on a
//! cloud in memory behind HTTP.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use git2::{IndexAddOption, Repository, Signature};
use levelset::cli::clock::SystemClock;
use levelset::model::{AccountId, Ask, Call, Key, Region, Scope};
use levelset::sandbox::faults::{Effect, Rule};
use levelset::sandbox::{Sandbox, Settings, http};
use levelset::status::{Sqlite, Store};
use serde_json::Value;
use tempfile::TempDir;

/// The longest that anything is waited for, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(60);

pub(super) const DATABASE: &str = "\
apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata:
  name: payments
spec:
  environment: production
  resources:
    database:
      engine: postgres
      version: \"15\"
      sizeClass: db.r6g.large
      backups: {retentionDays: 14}
    network:
      vpcRef: shared
  reconcilePolicy: {resyncIntervalSeconds: 10, maxRetries: 1}
";

/// A manifest whose object needs no cloud: its environment is not configured.
fn placeless(name: &str) -> String {
    DATABASE.replace("payments", name).replace("production", "nowhere")
}

pub(super) fn scope() -> Scope {
    Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") }
}

/// A repository, a cloud, and an agent between them that may be killed and started again.
pub(super) struct World {
    folder: TempDir,
    pub(super) cloud: Sandbox,
    agent: Option<Child>,
    starts: usize,
}

impl World {
    /// Serves a cloud and commits the manifests; no agent runs yet.
    pub(super) async fn new(files: &[(&str, &str)]) -> Self {
        let settings = Settings { default_account: scope().account, ..Settings::fast(3) };
        let cloud = Sandbox::new(Arc::new(SystemClock), settings);
        cloud.seed_vpc(&scope(), "shared", "10.0.0.0/16", &["a", "b"]);
        let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(http::serve(cloud.clone(), listener, std::future::pending()));
        let folder = tempfile::tempdir().unwrap();
        let settings = format!(
            "environments:\n  production: {{account: \"{}\", region: eu-west-1, endpointUrl: \"{endpoint}\"}}\n\
             repository: {{path: repository, pollIntervalSeconds: 5}}\nstateDirectory: state\n\
             listen: 127.0.0.1:0\n",
            scope().account
        );
        fs::write(folder.path().join("levelset.yaml"), settings).unwrap();
        Repository::init(folder.path().join("repository")).unwrap();
        let world = Self { folder, cloud, agent: None, starts: 0 };
        world.commit(files);
        world
    }

    /// Adds a line to the settings.
    pub(super) fn set(&self, line: &str) {
        let path = self.folder.path().join("levelset.yaml");
        let settings = fs::read_to_string(&path).unwrap();
        fs::write(path, format!("{settings}{line}\n")).unwrap();
    }

    /// Commits exactly these files.
    pub(super) fn commit(&self, files: &[(&str, &str)]) {
        let repository = Repository::open(self.folder.path().join("repository")).unwrap();
        let workdir = repository.workdir().unwrap();
        let mut index = repository.index().unwrap();
        index.clear().unwrap();
        for entry in fs::read_dir(workdir).unwrap().map(Result::unwrap) {
            if entry.path().is_file() {
                fs::remove_file(entry.path()).unwrap();
            }
        }
        for (name, text) in files {
            fs::write(workdir.join(name), text).unwrap();
        }
        index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
        index.write().unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        let author = Signature::now("A", "a@example.com").unwrap();
        let parent = repository.head().ok().map(|head| head.peel_to_commit().unwrap());
        let parents: Vec<_> = parent.iter().collect();
        repository.commit(Some("HEAD"), &author, &author, "change", &tree, &parents).unwrap();
    }

    /// A command as alice gives it, with nothing else of the environment of the test run.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_levelset"));
        command.args(words).env_clear().stdin(Stdio::null()).current_dir(self.folder.path());
        command.envs([("AWS_ACCESS_KEY_ID", "test"), ("AWS_SECRET_ACCESS_KEY", "test")]);
        command.env("AWS_EC2_METADATA_DISABLED", "true").env("USER", "alice");
        command
    }

    pub(super) fn output(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// Gives a command that has to succeed, and returns what it says.
    pub(super) fn says(&self, words: &[&str]) -> String {
        let output = self.output(words);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join(format!("log-{}", self.starts))
    }

    /// Starts an agent, and waits until it has read the commit.
    pub(super) fn start(&mut self) {
        self.starts += 1;
        let log = File::create(self.log()).unwrap();
        let child = self.command(&["run", "--log-format", "json"]).stderr(log).spawn().unwrap();
        self.agent = Some(child);
        self.until("the agent has read the commit", |world| {
            fs::read_to_string(world.log()).unwrap().contains("commit read")
        });
    }

    fn signal(&self, signal: &str) {
        let pid = self.agent.as_ref().unwrap().id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Asks the agent to stop, and waits until it has.
    pub(super) fn stop(&mut self) {
        self.signal("-TERM");
        assert!(self.agent.take().unwrap().wait().unwrap().success());
    }

    fn kill(&mut self) {
        let mut agent = self.agent.take().unwrap();
        agent.kill().unwrap();
        agent.wait().unwrap();
    }

    /// Waits until something is so, and returns how long that took.
    pub(super) fn until(&self, goal: &str, is_so: impl Fn(&Self) -> bool) -> Duration {
        let start = Instant::now();
        while !is_so(self) {
            if start.elapsed() > PATIENCE {
                let log = fs::read_to_string(self.log()).unwrap_or_default();
                panic!("not so: {goal}\n{}\n{log}", self.says(&["status"]));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        start.elapsed()
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.says(&["status", "-o", "json"])).unwrap()
    }

    /// Returns the reason of a condition of `payments`, where it is of this status.
    pub(super) fn reason(&self, kind: &str, truth: &str) -> String {
        let status = self.status();
        let conditions = status["objects"][0]["status"]["conditions"].as_array();
        let is_it = |it: &&Value| it["type"] == kind && it["status"] == truth;
        let found = conditions.into_iter().flatten().find(is_it);
        found.map_or(String::new(), |it| it["reason"].as_str().unwrap().to_owned())
    }

    fn retention(&self) -> Value {
        self.cloud.inspect(&scope()).remove(0)["BackupRetentionPeriod"].clone()
    }

    /// Changes how long backups are kept, as somebody with the console would.
    fn console(&self) {
        let call = Call::new("rds", "ModifyDBInstance")
            .with("DBInstanceIdentifier", "payments")
            .with("BackupRetentionPeriod", 1)
            .with("ApplyImmediately", true);
        self.until("the console is obeyed", |world| {
            world.cloud.door("console").ask(&scope(), &call).is_ok()
        });
        self.until("the change is in force", |world| world.retention() == 1);
    }

    fn creates(&self) -> usize {
        let calls = self.cloud.calls_since(0);
        calls.iter().filter(|call| call.operation == "CreateDBInstance").count()
    }

    /// Returns how many passes the agent has made.
    fn passes(&self) -> u64 {
        let log = fs::read_to_string(self.log()).unwrap();
        let entries = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let address = entries.filter_map(|it| it["address"].as_str().map(str::to_owned)).next();
        let mut stream = TcpStream::connect(address.unwrap()).unwrap();
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let counts = answer.lines().filter(|it| it.starts_with("reconcile_duration_seconds_count"));
        counts.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() as u64).sum()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(mut agent) = self.agent.take() {
            let _ = agent.kill();
            let _ = agent.wait();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drift_of_a_suspended_object_is_reported_and_reverted_within_seconds_of_its_resumption() {
    let mut world = World::new(&[("a.yaml", DATABASE)]).await;
    world.start();
    world.until("it converges", |world| world.reason("Ready", "True") == "Converged");
    world.says(&["suspend", "payments", "--reason", "failover test"]);
    world.until("it is suspended", |world| world.reason("Suspended", "True") == "Command");
    world.console();
    world.until("drift is told", |world| !world.reason("Drifted", "True").is_empty());
    assert_eq!(world.retention(), 1);
    let plan = world.output(&["plan", "repository"]);
    let plan = String::from_utf8(plan.stdout).unwrap();
    assert!(plan.contains("  suspended by alice since "), "{plan}");
    let explained = world.says(&["explain", "payments"]);
    for told in [
        "Workspace/payments is not level",
        "(failover test); nothing is changed",
        "backups.retentionDays [Drift] 14 is declared, AWS has 1; Reported",
        "`levelset resume Workspace/payments`",
    ] {
        assert!(explained.contains(told), "{told} is not in\n{explained}");
    }
    world.kill();
    world.start();
    std::thread::sleep(Duration::from_secs(12));
    assert_eq!(world.retention(), 1, "it is suspended still, after a restart and a resync");
    let lifted = world.says(&["resume", "payments"]);
    assert!(lifted.starts_with("the suspension of Workspace/payments by alice since "), "{lifted}");
    let took = world.until("it is reverted", |world| world.retention() == 14);
    assert!(took < Duration::from_secs(8), "{took:?}");
    let history = world.says(&["history", "payments"]);
    assert!(
        history.contains("Resumed") && history.contains("alice asked for `resume`"),
        "{history}"
    );
}

/// An object that was given up, whose cause is mended.
async fn given_up() -> World {
    let mut world = World::new(&[("a.yaml", DATABASE)]).await;
    world.cloud.inject(Rule::new(Effect::Deny).operation("CreateDBInstance"));
    world.start();
    world.until("it is given up", |world| world.reason("Failed", "True") == "RetriesExhausted");
    world.cloud.clear_faults();
    assert_eq!(world.creates(), 1);
    world
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_retry_takes_effect_at_once() {
    let world = given_up().await;
    let explained = world.says(&["explain", "payments"]);
    assert!(explained.contains("`levelset retry Workspace/payments`"), "{explained}");
    world.says(&["retry", "--all"]);
    let took = world.until("it is tried again", |world| world.creates() == 2);
    assert!(took < Duration::from_secs(5), "{took:?}");
    world.until("it converges", |world| world.reason("Ready", "True") == "Converged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_of_an_agent_that_is_killed_before_it_acts_is_not_lost() {
    let mut world = given_up().await;
    world.signal("-STOP");
    world.says(&["retry", "payments"]);
    let explained: Value =
        serde_json::from_str(&world.says(&["explain", "payments", "--format", "json"])).unwrap();
    assert_eq!(explained["level"], false);
    assert_eq!(explained["asked"][0]["ask"], "retry");
    assert_eq!(explained["asked"][0]["by"], "alice");
    world.kill();
    assert_eq!(world.creates(), 1);
    world.start();
    world.until("it is tried again", |world| world.creates() == 2);
    world.until("it converges", |world| world.reason("Ready", "True") == "Converged");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_storm_of_a_thousand_requests_costs_one_pass_at_a_time() {
    let mut world = World::new(&[("a.yaml", DATABASE)]).await;
    world.start();
    world.until("it converges", |world| world.reason("Ready", "True") == "Converged");
    let (before, start) = (world.passes(), Instant::now());
    let store = Sqlite::open_beside(&world.folder.path().join("state/levelset.db")).await.unwrap();
    for _ in 0..1000 {
        let retry = Ask::Retry { object: Key::workspace("payments") };
        store.ask(&[retry], "alice", jiff::Timestamp::UNIX_EPOCH).await.unwrap();
    }
    while !store.asked_since(0).await.unwrap().is_empty() {
        assert!(start.elapsed() < PATIENCE, "the last request is not carried out");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let (passes, seconds) = (world.passes() - before, start.elapsed().as_secs());
    println!("{passes} passes in {seconds} seconds");
    assert!(passes >= 1 && passes <= seconds + 2, "{passes} passes in {seconds} seconds");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_vanished_together_is_shown_with_its_digest_and_released_by_it() {
    let names: Vec<String> = (0..7).map(|number| format!("w{number}")).collect();
    let files: Vec<(String, String)> =
        names.iter().map(|name| (format!("{name}.yaml"), placeless(name))).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let mut world = World::new(&files).await;
    world.start();
    world.until("all are known", |world| {
        world.says(&["status"]).contains("0 of 7 as declared; 7 EnvironmentUnknown")
    });
    world.commit(&files[..1]);
    let frozen = |world: &World| world.status()["frozen"].as_array().unwrap().clone();
    world.until("they are frozen", |world| !frozen(world).is_empty());
    let digest = frozen(&world)[0]["digest"].as_str().unwrap().to_owned();
    let status = world.says(&["status"]);
    let told = format!("`levelset confirm {digest}` releases exactly these");
    assert!(status.contains("frozen: 6 objects vanished") && status.contains(&told), "{status}");
    let wrong = world.output(&["confirm", "feedfeedfeed"]);
    let told = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(told.contains("nothing is frozen under the digest \"feedfeedfeed\""), "{told}");
    assert!(told.contains(&format!("  - {digest}: 6 objects vanished")), "{told}");
    let confirmed = world.says(&["confirm", &digest]);
    assert!(confirmed.contains("  Workspace/w6\n"), "{confirmed}");
    // They own nothing, so that nothing is left to do, and they are forgotten.
    world.until("they are removed", |world| {
        frozen(world).is_empty() && !world.says(&["status"]).contains("Workspace/w6")
    });
    assert!(world.says(&["history", "w6"]).contains("Removed"));
    world.kill();
    world.start();
    std::thread::sleep(Duration::from_secs(2));
    assert!(frozen(&world).is_empty(), "nobody is asked again after a restart");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resumption_names_the_annotation_that_still_suspends() {
    let annotated = DATABASE.replace(
        "  name: payments\n",
        "  name: payments\n  annotations:\n    platform.kby.io/suspend: \"true\"\n",
    );
    let mut world = World::new(&[("a.yaml", &annotated)]).await;
    world.start();
    world.until("it is suspended", |world| world.reason("Suspended", "True") == "Annotation");
    let resumed = world.output(&["resume", "payments"]);
    assert_eq!(resumed.status.code(), Some(1));
    let (said, but) = (String::from_utf8(resumed.stdout), String::from_utf8(resumed.stderr));
    assert_eq!(said.unwrap(), "Workspace/payments is neither suspended nor snoozed by command\n");
    assert!(but.unwrap().contains("the annotation at a.yaml:6"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_cannot_be_is_refused_with_what_to_do() {
    let world = World::new(&[("a.yaml", DATABASE)]).await;
    let none = world.output(&["suspend", "payments"]);
    assert_eq!(none.status.code(), Some(1));
    assert!(String::from_utf8(none.stderr).unwrap().contains("has the agent run"));
    assert!(!world.folder.path().join("state").exists());
    world.says(&["sync", "repository"]);
    for (words, expected) in [
        (&["retry", "nobody"][..], "no object \"nobody\""),
        (&["retry"], "<OBJECT>"),
        (&["snooze", "payments"], "--until <TIME>"),
        (&["snooze", "payments", "--until", "2020-01-01"], "that is not ahead"),
        (&["snooze", "payments", "--until", "soon"], "no RFC 3339 time and no date"),
        (&["snooze", "payments", "--for", "soon"], "--for <LENGTH>"),
        (&["suspend", "payments", "--reason", "a\nb"], "line break"),
        (&["confirm", "feed"], "nothing at all is frozen"),
    ] {
        let output = world.output(words);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{words:?}: {said}");
        assert!(said.contains(expected), "{words:?}: {said}");
    }
    world.says(&["snooze", "payments", "--for", "4h"]);
    world.says(&["sync", "repository"]);
    assert_eq!(world.reason("Snoozed", "True"), "Command", "sync respects what is asked");
}
