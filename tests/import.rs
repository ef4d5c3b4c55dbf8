//! `levelset import` from outside: what it writes plans to no change.

mod cases;
mod moto;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

/// A command that sees nothing of the environment of the test run.
fn levelset(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_levelset"));
    command.args(words).env_clear().stdin(Stdio::null()).output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Is an account that somebody saved, and a folder for its manifests.
struct Saved {
    folder: TempDir,
}

impl Saved {
    fn of(answers: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("observed.json"), answers.to_string()).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().unwrap().to_owned()
    }

    /// Imports into the folder `out`.
    fn import(&self, more: &[&str]) -> Output {
        let (observed, out) = (self.text("observed.json"), self.text("out"));
        let words = ["import", "--observed", &observed, "--out", &out];
        levelset(&[&words, more].concat())
    }

    /// Plans what was written against the same answers.
    fn plan(&self) -> Value {
        let (observed, out) = (self.text("observed.json"), self.text("out"));
        let output = levelset(&["plan", &out, "--observed", &observed, "-o", "json"]);
        assert!(code(&output) != 1, "{}", err(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// Says what a plan would do beside taking resources over; nothing, if it changes nothing.
fn changes(plan: &Value) -> Vec<String> {
    let objects = plan["objects"].as_array().unwrap().iter();
    let resources = objects.flat_map(|object| object["resources"].as_array().unwrap().clone());
    let is_quiet = |resource: &Value| {
        let rests = ["adopt", "nothing", "read"].map(Value::from).contains(&resource["action"]);
        let is_empty = |list: &str| resource[list] == json!([]);
        rests
            && ["changes", "waits", "refusals"].into_iter().all(is_empty)
            && resource["verdict"]["state"] == "go"
    };
    resources.filter(|it| !is_quiet(it)).map(|it| it.to_string()).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

/// Returns the folder of an account with the files that are made of it.
fn folder(account: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import").join(account)
}

fn account(name: &str) -> Saved {
    Saved::of(&serde_json::from_str(&read(&folder(name).join("observed.json"))).unwrap())
}

fn good() -> Saved {
    account("good")
}

/// Imports an account and holds what is written against its folder.
#[track_caller]
fn check(name: &str, region: &str, files: &[&str]) {
    let saved = account(name);
    let output = saved.import(&["--region", region]);
    assert_eq!(code(&output), 0, "{}", err(&output));
    assert_eq!(changes(&saved.plan()), [""; 0]);
    let mut wrong = Vec::new();
    for file in files.iter().chain(&["summary.txt"]) {
        let found = match *file {
            "summary.txt" => out(&output),
            file => read(&saved.path("out").join(file)),
        };
        let expected = fs::read_to_string(folder(name).join(file)).unwrap_or_default();
        if found != expected {
            wrong.push(format!("=== {file}\n{found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_account_becomes_manifests_that_a_person_reads() {
    check("good", "eu-west-1", &["orders.yaml", "networks/shared-prod.yaml"]);
}

#[test]
fn buckets_and_groups_become_parts_of_the_workspaces_that_they_belong_to() {
    check("web", "us-east-1", &["shop.yaml", "shared.yaml", "networks/prod.yaml"]);
}

#[test]
fn what_is_there_is_never_overwritten() {
    let saved = good();
    assert_eq!(code(&saved.import(&[])), 0);
    let again = saved.import(&[]);
    assert_eq!(code(&again), 0, "the same again is no other file: {}", err(&again));
    let file = saved.path("out/orders.yaml");
    fs::write(&file, "mine\n").unwrap();
    fs::remove_file(saved.path("out/networks/shared-prod.yaml")).unwrap();
    let refused = saved.import(&[]);
    assert_eq!(code(&refused), 1);
    assert!(err(&refused).contains("orders.yaml is there already"), "{}", err(&refused));
    assert_eq!(read(&file), "mine\n");
    let other = saved.path("out/networks/shared-prod.yaml");
    assert!(!other.exists(), "nothing is written where one file would be overwritten");
}

#[test]
fn a_link_or_a_pipe_in_the_way_is_a_file_that_is_there() {
    for make in [&["ln", "-s", "nowhere"][..], &["mkfifo"]] {
        let saved = good();
        fs::create_dir(saved.path("out")).unwrap();
        let file = saved.path("out/orders.yaml");
        let made = std::process::Command::new(make[0]).args(&make[1..]).arg(&file).status();
        assert!(made.unwrap().success());
        let refused = saved.import(&[]);
        assert_eq!(code(&refused), 1, "{make:?}");
        assert!(err(&refused).contains("orders.yaml is there already"), "{}", err(&refused));
        assert!(!saved.path("out/networks").exists(), "{make:?}: nothing else is written");
    }
}

#[test]
fn without_a_folder_manifests_go_to_standard_output_and_the_summary_beside_it() {
    let saved = good();
    let observed = saved.text("observed.json");
    let output = levelset(&["import", "--observed", &observed]);
    assert_eq!(code(&output), 0);
    assert_eq!(out(&output).matches("\n---\n").count(), 1, "{}", out(&output));
    assert!(err(&output).contains("left out"), "{}", err(&output));
    let json = levelset(&["import", "--observed", &observed, "-o", "json"]);
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let texts = json["objects"].as_array().unwrap().iter().map(|it| it["text"].as_str().unwrap());
    assert_eq!(texts.collect::<Vec<_>>().join("---\n"), out(&output));
    let not_yet = ["subnet", "custom"];
    assert_eq!(json["notYet"], json!(not_yet));
}

#[test]
fn only_what_is_asked_for_is_imported() {
    let saved = good();
    let output = saved.import(&["--tag", "team=nobody"]);
    assert_eq!(code(&output), 0);
    assert!(!saved.path("out").exists(), "{}", out(&output));
    let output = saved.import(&["--vpc", "vpc-0a1b2c3d"]);
    assert!(saved.path("out/orders.yaml").exists(), "{}", out(&output));
}

#[test]
fn who_names_no_place_is_told_what_to_name() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("levelset.yaml");
    fs::write(&config, "environments: {}\n").unwrap();
    let output = levelset(&["import", "--config", config.to_str().unwrap()]);
    assert_eq!(code(&output), 1);
    assert!(err(&output).contains("--region"), "{}", err(&output));
    let output = levelset(&["import", "--region", "eu-west-1", "--tag", "team"]);
    assert!(err(&output).contains("KEY=VALUE"), "{}", err(&output));
}
