//! The built program from outside: exit codes, streams, and what people and programs read.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};

use levelset::model::handle::Handle;
use levelset::model::policy::DeletionPolicy;
use levelset::model::status::{Memory, Owned};
use levelset::model::{
    AccountId, Generation, Key, KindName, ObjectKind, ObjectStatus, Region, ResourceId, Scope,
    Shard,
};
use levelset::status::{Event, Record, Sqlite, Store};
use serde_json::Value;
use tempfile::TempDir;

/// The manifest that the contract with its users begins with.
const GOOD: &str = r#"apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata:
  name: team-payments-prod
  annotations:
    platform.kby.io/owner: "payments-team"
spec:
  environment: production
  resources:
    database:
      engine: postgres
      version: "15"
      sizeClass: db.r6g.large
    network:
      vpcRef: shared-prod-vpc
  reconcilePolicy:
    resyncIntervalSeconds: 300
    maxBackoffSeconds: 900
"#;

/// A command that sees nothing of the environment of the test run.
fn levelset(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_levelset"));
    command.args(words).env_clear().stdin(Stdio::null());
    command
}

fn run(words: &[&str]) -> Output {
    levelset(words).output().unwrap()
}

fn out(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn err(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn validate(folder: &Path, more: &[&str]) -> Output {
    let words = [&["validate", folder.to_str().unwrap()], more].concat();
    run(&words)
}

#[test]
fn the_help_names_every_verb_and_the_exit_codes() {
    let output = run(&["--help"]);
    assert_eq!(code(&output), 0);
    for word in [
        "validate",
        "status",
        "schema",
        "kinds",
        "completions",
        "Exit codes",
        "--config",
        "--color",
    ] {
        assert!(out(&output).contains(word), "{word} is not in\n{}", out(&output));
    }
    assert_eq!(err(&output), "");
}

#[test]
fn the_version_is_the_version_of_the_package() {
    assert_eq!(out(&run(&["--version"])), concat!("levelset ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn a_mistake_on_the_command_line_is_a_one_because_two_means_changes() {
    for words in
        [&["frobnicate"][..], &[], &["validate", "--no-such-option"], &["completions", "cmd"]]
    {
        let output = run(words);
        assert_eq!(code(&output), 1, "{words:?}");
        assert_eq!(out(&output), "", "{words:?}");
        assert!(err(&output).contains("--help"), "{words:?}: {}", err(&output));
    }
}

#[test]
fn good_manifests_are_counted_and_pass() {
    let folder = folder(&[("teams/payments.yaml", GOOD)]);
    let output = validate(folder.path(), &[]);
    assert_eq!(out(&output), "1 object in 1 file: 0 errors, 0 notices\n");
    assert_eq!((code(&output), err(&output)), (0, ""));
}

#[test]
fn every_mistake_of_every_file_is_told_at_once_with_its_place() {
    let typo = GOOD.replace("sizeClass", "sizeclass");
    let folder = folder(&[("a.yaml", &typo), ("b/c.yml", "kind: [\n"), ("d.yaml", GOOD)]);
    let output = validate(folder.path(), &[]);
    assert_eq!(code(&output), 1);
    for expected in ["/a.yaml:13:7\n", "sizeClass", "/b/c.yml:"] {
        assert!(out(&output).contains(expected), "{expected} is not in\n{}", out(&output));
    }
}

#[test]
fn a_file_is_named_as_the_person_named_its_folder() {
    let folder = folder(&[("teams/a/x.yaml", "kind: [\n")]);
    for (path, shown) in [
        (".", "--> teams/a/x.yaml:"),
        ("teams", "--> teams/a/x.yaml:"),
        ("./teams/a", "--> teams/a/x.yaml:"),
        ("teams/a/x.yaml", "--> teams/a/x.yaml:"),
        ("teams/../teams/a", "--> teams/../teams/a/x.yaml:"),
    ] {
        let output = levelset(&["validate", path]).current_dir(folder.path()).output().unwrap();
        assert!(out(&output).contains(shown), "{path}: {}", out(&output));
    }
}

#[test]
fn a_folder_that_is_not_there_is_an_error_with_its_cause_and_a_hint() {
    let folder = folder(&[]);
    let output = validate(&folder.path().join("nowhere"), &[]);
    assert_eq!((code(&output), out(&output)), (1, ""));
    let lines: Vec<&str> = err(&output).lines().collect();
    assert!(lines[0].starts_with("error: cannot read the manifests in "), "{lines:?}");
    assert!(lines[1].starts_with("  caused by: "), "{lines:?}");
    assert!(lines.last().unwrap().starts_with("  hint: "), "{lines:?}");
}

#[test]
fn a_check_that_found_nothing_to_check_does_not_pass() {
    let folder = folder(&[("README.md", "# nothing")]);
    let output = validate(folder.path(), &[]);
    assert_eq!(code(&output), 1);
    assert!(err(&output).starts_with("error: there are no manifests in "), "{}", err(&output));
}

#[test]
fn bytes_that_are_no_text_are_a_problem_and_not_a_crash() {
    let folder = folder(&[]);
    fs::write(folder.path().join("a.yaml"), [0xff, 0xfe, 0, 0x80, b'\n', 0xc3]).unwrap();
    let output = validate(folder.path(), &[]);
    assert_eq!(code(&output), 1);
    assert!(out(&output).contains("a.yaml:1"), "{}", out(&output));
    assert!(!err(&output).contains("panicked"), "{}", err(&output));
}

#[test]
fn json_and_sarif_parse_and_point_at_the_same_place() {
    let folder = folder(&[("a.yaml", &GOOD.replace("sizeClass", "sizeclass"))]);
    let here =
        |form| levelset(&["validate", "-o", form]).current_dir(folder.path()).output().unwrap();
    let (json, sarif) = (here("json"), here("sarif"));
    assert_eq!((code(&json), code(&sarif)), (1, 1));
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    let sarif: Value = serde_json::from_slice(&sarif.stdout).unwrap();
    let problem = json["problems"].as_array().unwrap();
    let result = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(problem.len(), result.len());
    let place = &result[0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "a.yaml");
    assert_eq!(problem[0]["path"], "a.yaml");
    assert_eq!(place["region"]["startLine"], problem[0]["line"]);
    assert_eq!(place["region"]["startColumn"], problem[0]["column"]);
    assert_eq!(result[0]["ruleId"], problem[0]["code"]);
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() {
    let folder = folder(&[("a.yaml", &GOOD.replace("sizeClass", "sizeclass"))]);
    let path = folder.path().to_str().unwrap();
    let has_codes = |output: Output| output.stdout.contains(&0x1b);
    assert!(!has_codes(run(&["validate", path])));
    assert!(has_codes(run(&["validate", path, "--color", "always"])));
    let forced = |name, value| levelset(&["validate", path]).env(name, value).output().unwrap();
    assert!(has_codes(forced("CLICOLOR_FORCE", "1")));
    assert!(!has_codes(forced("NO_COLOR", "1")));
    let mut both = levelset(&["validate", path, "--color", "never"]);
    assert!(!has_codes(both.env("CLICOLOR_FORCE", "1").output().unwrap()));
}

#[test]
fn an_environment_that_the_settings_do_not_hold_is_told_where_there_are_settings() {
    let settings = "environments:\n  producton: {account: \"123456789012\", region: eu-west-1}\n";
    let folder = folder(&[("teams/a.yaml", GOOD), ("other.yaml", settings)]);
    let teams = folder.path().join("teams");
    let (teams, file) = (teams.to_str().unwrap(), folder.path().join("other.yaml"));
    let alone = run(&["validate", teams]);
    assert_eq!((code(&alone), err(&alone)), (0, ""), "nothing is known of environments");
    let words = ["validate", teams, "--config", file.to_str().unwrap(), "-o", "json"];
    let output = run(&words);
    assert_eq!(code(&output), 1);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let told = told.to_string();
    for expected in ["UnknownEnvironment", "did you mean", "producton", "\"line\":8"] {
        assert!(told.contains(expected), "{expected} is not in {told}");
    }
    fs::rename(&file, folder.path().join("levelset.yaml")).unwrap();
    let found = levelset(&["validate", teams]).current_dir(folder.path()).output().unwrap();
    assert_eq!(code(&found), 1, "the settings of the working directory are found");
}

#[test]
fn the_completions_of_every_shell_know_the_verbs() {
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&["completions", shell]);
        assert_eq!(code(&output), 0, "{shell}");
        for verb in ["validate", "schema", "completions"] {
            assert!(out(&output).contains(verb), "{shell} does not know {verb}");
        }
    }
    let script = out(&run(&["completions", "bash"])).to_owned();
    let folder = folder(&[("completions.bash", &script)]);
    let path = folder.path().join("completions.bash");
    let checked = Command::new("bash").arg("-n").arg(path).output().unwrap();
    assert!(checked.status.success(), "{}", err(&checked));
}

#[test]
fn the_schema_is_one_that_takes_the_good_manifest_and_refuses_a_typo() {
    let schema: Value = serde_json::from_slice(&run(&["schema"]).stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let object = |text: &str| -> Value { serde_saphyr::from_str(text).unwrap() };
    assert!(validator.is_valid(&object(GOOD)));
    assert!(!validator.is_valid(&object(&GOOD.replace("sizeClass", "sizeclass"))));
}

#[test]
fn the_kinds_are_listed_for_people_and_for_programs() {
    assert!(out(&run(&["kinds"])).contains("db_instance (rds)"));
    let value: Value = serde_json::from_slice(&run(&["kinds", "--output", "json"]).stdout).unwrap();
    assert!(value["kinds"].as_array().unwrap().len() >= 4);
}

/// What the AWS CLI says of an account that has the network and nothing of ours.
const OBSERVED: &str = r#"{
  "Vpcs": [{
    "VpcId": "vpc-1",
    "CidrBlock": "10.0.0.0/16",
    "Tags": [{"Key": "Name", "Value": "shared-prod-vpc"}]
  }],
  "Subnets": [
    {"SubnetId": "subnet-a", "VpcId": "vpc-1", "AvailabilityZone": "eu-west-1a"},
    {"SubnetId": "subnet-b", "VpcId": "vpc-1", "AvailabilityZone": "eu-west-1b"}
  ],
  "DBSubnetGroups": [],
  "DBParameterGroups": [],
  "DBInstances": []
}"#;

/// The subnet group that the network of the manifest asks for.
const SUBNET_GROUP: &str = r#"[{
    "DBSubnetGroupName": "levelset-shared-prod-vpc",
    "DBSubnetGroupDescription": "Subnets of levelset/Network/shared-prod-vpc",
    "VpcId": "vpc-1",
    "SubnetGroupStatus": "Complete",
    "Subnets": [
      {"SubnetIdentifier": "subnet-a", "SubnetStatus": "Active"},
      {"SubnetIdentifier": "subnet-b", "SubnetStatus": "Active"}
    ],
    "DBSubnetGroupArn": "arn:aws:rds:eu-west-1:111122223333:subgrp:levelset-shared-prod-vpc"
  }]"#;

const NETWORK: &str = "\
apiVersion: platform.kby.io/v1alpha1
kind: Network
metadata:
  name: shared-prod-vpc
spec:
  environment: production
";

fn plan(manifest: &str, observed: &str, more: &[&str]) -> Output {
    let folder = folder(&[("git/a.yaml", manifest), ("observed.json", observed)]);
    let words = [&["plan", "git", "--observed", "observed.json"], more].concat();
    levelset(&words).current_dir(folder.path()).output().unwrap()
}

#[test]
fn a_plan_against_saved_answers_shows_what_would_be_made_and_answers_two() {
    let output = plan(GOOD, OBSERVED, &[]);
    assert_eq!(code(&output), 2, "{}", err(&output));
    for expected in [
        "+ db_subnet_group/levelset-shared-prod-vpc",
        "+ db_instance/team-payments-prod",
        "+ database.engine       \"postgres\"\n",
        "Plan: 2 to create, 0 to change, 0 refused, 1 unchanged",
    ] {
        assert!(out(&output).contains(expected), "{expected} is not in\n{}", out(&output));
    }
}

#[test]
fn a_plan_without_work_answers_zero() {
    let observed =
        OBSERVED.replace(r#""DBSubnetGroups": []"#, &format!("\"DBSubnetGroups\": {SUBNET_GROUP}"));
    let output = plan(NETWORK, &observed, &[]);
    assert_eq!(out(&output), "Nothing to do: 2 unchanged\n", "{}", err(&output));
    assert_eq!(code(&output), 0);
}

#[test]
fn what_the_saved_answers_do_not_tell_is_unknown_and_never_made() {
    let output = plan(GOOD, "{}", &["-o", "json"]);
    assert_eq!(code(&output), 2);
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["summary"]["create"], 0);
    let resources = value["objects"][0]["resources"].as_array().unwrap();
    assert!(resources.iter().all(|resource| resource["calls"] == serde_json::json!([])));
}

#[test]
fn the_commands_of_a_plan_are_shell_that_a_shell_takes() {
    let output = plan(GOOD, OBSERVED, &["--output", "awscli"]);
    assert_eq!(code(&output), 2);
    assert!(out(&output).contains("aws rds create-db-subnet-group --"), "{}", out(&output));
    let folder = folder(&[("plan.sh", out(&output))]);
    let checked = Command::new("sh").arg("-n").arg(folder.path().join("plan.sh")).output().unwrap();
    assert!(checked.status.success(), "{}", err(&checked));
}

#[test]
fn a_plan_of_the_same_files_at_the_same_time_is_the_same_plan() {
    let at = ["--at", "2026-12-01T03:00:00Z", "-o", "json"];
    let first = plan(GOOD, OBSERVED, &at);
    assert_eq!(first.stdout, plan(GOOD, OBSERVED, &at).stdout);
}

#[test]
fn garbage_for_saved_answers_is_an_error_and_no_empty_cloud() {
    for (observed, expected) in [
        ("not json", "not JSON"),
        ("[]", "object"),
        (r#"{"DBInstances": {}}"#, "DBInstances"),
        (r#"{"DBInstances": [], "NextToken": "x"}"#, "page"),
    ] {
        let output = plan(GOOD, observed, &[]);
        assert_eq!((code(&output), out(&output)), (1, ""), "{observed}");
        assert!(err(&output).contains(expected), "{observed}: {}", err(&output));
    }
}

#[test]
fn a_broken_manifest_is_not_planned() {
    let output = plan(&GOOD.replace("sizeClass", "sizeclass"), OBSERVED, &[]);
    assert_eq!((code(&output), out(&output)), (1, ""));
    assert!(err(&output).contains("git/a.yaml:13:7"), "{}", err(&output));
}

#[test]
fn a_plan_shows_a_removal_where_it_is_asked_to_and_not_by_itself() {
    let settings = "environments:\n  production:\n    account: \"111122223333\"\n    region: \
        eu-west-1\n    endpointUrl: http://127.0.0.1:1\n";
    let empty = "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {name: other}\n\
        spec: {environment: production, resources: {}}\n";
    let folder = folder(&[("levelset.yaml", settings), ("git/a.yaml", empty)]);
    store(folder.path());
    let plan = |more: &[&str]| {
        let words = [&["plan", "git", "--state-dir", "."], more].concat();
        let mut command = levelset(&words);
        command.env("AWS_ACCESS_KEY_ID", "test").env("AWS_SECRET_ACCESS_KEY", "test");
        command.env("AWS_EC2_METADATA_DISABLED", "true").current_dir(folder.path());
        command.output().unwrap()
    };
    let output = plan(&[]);
    assert_eq!((code(&output), out(&output)), (0, "Nothing to do: 0 unchanged\n"));
    let output = plan(&["--removed"]);
    assert_eq!(code(&output), 2, "{}", err(&output));
    let told = out(&output);
    assert!(told.contains("Workspace/payments"), "{told}");
    assert!(told.contains("- db_instance/payments in 111122223333/eu-west-1"), "{told}");
    assert!(told.contains("waiting [Unknown]"), "{told}");
}

#[test]
fn a_plan_of_the_cloud_wants_its_environment_to_be_configured() {
    let folder = folder(&[("a.yaml", GOOD)]);
    let output = levelset(&["plan"]).current_dir(folder.path()).output().unwrap();
    assert_eq!((code(&output), out(&output)), (1, ""));
    assert!(err(&output).contains("\"production\""), "{}", err(&output));
}

#[test]
fn an_agent_without_a_repository_says_how_to_name_one() {
    let folder = folder(&[]);
    for verb in ["run", "sync"] {
        let output = levelset(&[verb]).current_dir(folder.path()).output().unwrap();
        assert_eq!((code(&output), out(&output)), (1, ""));
        assert!(err(&output).contains("LEVELSET_REPOSITORY_URL"), "{verb}: {}", err(&output));
    }
}

#[test]
fn an_agent_without_environments_says_what_to_add() {
    // The state directory is a file: an agent that got as far as that would end and not run.
    let settings = "repository: {path: repository}\nstateDirectory: levelset.yaml\n";
    let folder = folder(&[("levelset.yaml", settings)]);
    let output = levelset(&["run"]).current_dir(folder.path()).output().unwrap();
    assert_eq!((code(&output), out(&output)), (1, ""));
    for told in ["environments: ", "account", "region", "levelset.yaml"] {
        assert!(err(&output).contains(told), "{told}: {}", err(&output));
    }
    std::fs::remove_file(folder.path().join("levelset.yaml")).unwrap();
    let output = levelset(&["run"]).current_dir(folder.path()).output().unwrap();
    for told in ["environments: ", "repository: "] {
        assert!(err(&output).contains(told), "all is told at once: {}", err(&output));
    }
}

/// A folder with a repository of one commit, and settings whose AWS is a port that nobody serves.
fn agent_folder() -> TempDir {
    let settings = "\
environments:
  production: {account: \"111122223333\", region: eu-west-1, endpointUrl: \"http://127.0.0.1:1\"}
repository: {path: repository}
stateDirectory: state
listen: 127.0.0.1:0
";
    let folder = folder(&[("levelset.yaml", settings), ("repository/a.yaml", GOOD)]);
    let repository = git2::Repository::init(folder.path().join("repository")).unwrap();
    let mut index = repository.index().unwrap();
    index.add_path(Path::new("a.yaml")).unwrap();
    let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
    let author = git2::Signature::now("A", "a@example.com").unwrap();
    repository.commit(Some("HEAD"), &author, &author, "first", &tree, &[]).unwrap();
    folder
}

/// An agent that runs, and ends with the test.
struct Running {
    child: Child,
    log: BufReader<ChildStderr>,
    /// Where it serves HTTP.
    address: String,
}

impl Running {
    /// Returns the answer to one GET, headers and body.
    fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts an agent, and waits until its log says that it has read the commit.
fn start(folder: &Path) -> Running {
    let mut command = levelset(&["run", "--log-format", "json"]);
    command.current_dir(folder).stderr(Stdio::piped());
    command.envs([("AWS_ACCESS_KEY_ID", "x"), ("AWS_SECRET_ACCESS_KEY", "x")]);
    let mut child = command.env("AWS_EC2_METADATA_DISABLED", "true").spawn().unwrap();
    let log = BufReader::new(child.stderr.take().unwrap());
    let mut agent = Running { child, log, address: String::new() };
    let mut line = String::new();
    while agent.log.read_line(&mut line).unwrap() > 0 {
        let entry: Value = serde_json::from_str(&line).unwrap();
        if let Some(address) = entry["address"].as_str() {
            agent.address = address.to_owned();
        }
        if entry["message"] == "commit read" {
            assert_eq!(entry["objects"], 1, "{line}");
            return agent;
        }
        line.clear();
    }
    panic!("the agent ended: {:?}", agent.child.wait());
}

#[test]
fn an_agent_holds_its_state_alone_and_stops_when_it_is_asked_to() {
    let folder = agent_folder();
    let mut agent = start(folder.path());
    let second = levelset(&["run"]).current_dir(folder.path()).output().unwrap();
    assert_eq!((code(&second), out(&second)), (1, ""));
    assert!(err(&second).contains("error: another agent"), "{}", err(&second));
    assert!(agent.get("/readyz").starts_with("HTTP/1.1 200"), "{}", agent.get("/readyz"));
    let object = agent.get("/api/v1/workspaces/team-payments-prod");
    assert!(object.contains(r#""sizeClass":"db.r6g.large""#), "{object}");
    assert!(agent.get("/metrics").contains("workqueue_depth"));
    let asked = Command::new("kill").arg(agent.child.id().to_string()).status().unwrap();
    assert!(asked.success());
    let mut rest = String::new();
    agent.log.read_to_string(&mut rest).unwrap();
    assert_eq!(agent.child.wait().unwrap().code(), Some(0), "{rest}");
    assert!(rest.contains("the agent stops"), "{rest}");
    let status = levelset(&["status"]).current_dir(folder.path()).output().unwrap();
    assert!(out(&status).contains("Workspace/team-payments-prod"), "{}", out(&status));
}

#[test]
fn a_sync_that_cannot_reach_aws_ends_in_time_and_says_what_is_not_level() {
    let folder = agent_folder();
    let mut command = levelset(&["sync", "--timeout", "2", "-o", "json"]);
    command.envs([("AWS_ACCESS_KEY_ID", "x"), ("AWS_SECRET_ACCESS_KEY", "x")]);
    let output = command.current_dir(folder.path()).output().unwrap();
    assert_eq!(code(&output), 1, "{}", err(&output));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    let object = &value["objects"][0];
    assert_eq!(object["object"], "Workspace/team-payments-prod");
    let conditions = object["status"]["conditions"].as_array().unwrap();
    let ready = conditions.iter().find(|condition| condition["type"] == "Ready").unwrap();
    assert_ne!(ready["status"], "True");
}

#[test]
fn a_sync_of_an_object_without_a_place_ends_at_once_and_says_why() {
    let folder = folder(&[("git/a.yaml", GOOD)]);
    let output = levelset(&["sync", "git", "--state-dir", "state"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(code(&output), 1, "{}", err(&output));
    assert!(out(&output).contains("EnvironmentUnknown"), "{}", out(&output));
    assert!(
        out(&output).contains("0 of 1 as declared; 1 EnvironmentUnknown\n"),
        "{}",
        out(&output)
    );
}

#[test]
fn a_sync_tells_of_a_manifest_that_it_cannot_take() {
    let broken = GOOD.replace("sizeClass", "sizeclass");
    let folder = folder(&[("git/a.yaml", &broken)]);
    let output = levelset(&["sync", "git", "--state-dir", "state"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(code(&output), 1, "{}", err(&output));
    assert!(err(&output).contains("error[UnknownField]"), "{}", err(&output));
    assert!(err(&output).contains("a.yaml:13:7"), "{}", err(&output));
}

#[test]
fn the_demo_goes_through_every_act_on_its_own() {
    let output = run(&["demo"]);
    assert_eq!((code(&output), err(&output)), (0, ""));
    let told = out(&output);
    for expected in [
        "Plan: 21 to create",
        "9 of 10 as declared; 1 Reported\n",
        " Reverted ",
        "refused[EncryptionImmutable]",
        "refused[MajorUpgradeNotAllowed]",
        "error[UnknownField]",
        "invalid: teams/search/prod.yaml:",
    ] {
        assert!(told.contains(expected), "{expected} is not in\n{told}");
    }
    assert_eq!(told.matches("\n  ok  ").count(), 11, "{told}");
    assert!(told.lines().last().unwrap().starts_with("All of it happened: "), "{told}");
}

/// A demo that goes on until the test ends.
struct Kept(Child);

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_demo_that_is_kept_is_looked_at_with_the_commands_that_it_prints() {
    let mut child = levelset(&["demo", "--keep"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut kept = Kept(child);
    let command = lines.find_map(|line| {
        let words = line.unwrap();
        words.trim().strip_prefix("levelset status ").map(str::to_owned)
    });
    let words: Vec<String> = command.unwrap().split(' ').map(str::to_owned).collect();
    let status = || {
        let words: Vec<&str> =
            ["status"].into_iter().chain(words.iter().map(String::as_str)).collect();
        out(&run(&words)).to_owned()
    };
    let told = status();
    assert!(told.contains("Workspace/team-search-prod  "), "{told}");
    let asked = Command::new("kill").arg(kept.0.id().to_string()).status().unwrap();
    assert!(asked.success());
    assert_eq!(kept.0.wait().unwrap().code(), Some(0));
    assert!(!Path::new(&words[1]).exists(), "{} is still there", words[1]);
}

fn owned() -> Owned {
    let scope = Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") };
    Owned {
        id: ResourceId { kind: KindName::new("db_instance"), scope, name: "payments".into() },
        section: "database".to_owned(),
        owner: "levelset/Workspace/payments".to_owned(),
        policy: DeletionPolicy::Snapshot,
        left: None,
        handle: Handle::default(),
        needs: BTreeSet::new(),
    }
}

/// Writes what an agent would have written about two objects that have one name.
fn store(folder: &Path) {
    let write = async {
        let store = Sqlite::open(&folder.join("levelset.db")).await.unwrap();
        let token = store.grant(Shard::default()).await.unwrap();
        for kind in [ObjectKind::Workspace, ObjectKind::Network] {
            let record = Record {
                key: Key::new(kind, "payments"),
                generation: Generation(3),
                digest: String::new(),
                deletion: DeletionPolicy::Snapshot,
                status: ObjectStatus {
                    observed_generation: Generation(2),
                    ..ObjectStatus::default()
                },
                memory: Memory { owned: vec![owned()], ..Memory::default() },
            };
            store.put(&record, &[], &[], token).await.unwrap();
        }
        store.close().await;
    };
    tokio::runtime::Runtime::new().unwrap().block_on(write);
}

#[test]
fn the_status_comes_from_the_store_without_an_agent() {
    let folder = folder(&[]);
    store(folder.path());
    let state = folder.path().to_str().unwrap();
    let status = |more: &[&str]| run(&[&["status", "--state-dir", state], more].concat());
    let all = status(&[]);
    assert_eq!((code(&all), err(&all)), (0, ""));
    let lines: Vec<&str> = out(&all).lines().collect();
    assert!(
        lines[0].starts_with("OBJECT") && lines[1].starts_with("Network/payments"),
        "{lines:?}"
    );
    let one = status(&["Workspace/payments"]);
    assert!(out(&one).starts_with("Workspace/payments\n  generation      3, worked on 2\n"));
    let json: Value = serde_json::from_slice(&status(&["-o", "json"]).stdout).unwrap();
    assert_eq!(json["objects"][1]["object"], "Workspace/payments");
    for (name, expected) in [("payments", "several objects"), ("nobody", "no object \"nobody\"")] {
        let output = status(&[name]);
        assert_eq!((code(&output), out(&output)), (1, ""));
        assert!(err(&output).contains(expected), "{}", err(&output));
    }
}

#[test]
fn the_history_of_an_object_outlives_it() {
    let folder = folder(&[]);
    store(folder.path());
    let state = folder.path().to_str().unwrap();
    let forget = async {
        let store = Sqlite::open(&folder.path().join("levelset.db")).await.unwrap();
        let token = store.grant(Shard::default()).await.unwrap();
        let key = Key::new(ObjectKind::Network, "payments");
        let mut record = store.get(&key).await.unwrap().unwrap();
        record.key = Key::workspace("gone");
        let event = Event {
            key: record.key.clone(),
            at: "2026-11-30T12:00:00Z".parse().unwrap(),
            reason: "Deleted".to_owned(),
            message: "db_instance/gone: it does not exist in AWS".to_owned(),
        };
        store.put(&record, &[event], &[], token).await.unwrap();
        store.remove(&record.key, token).await.unwrap();
        store.close().await;
    };
    tokio::runtime::Runtime::new().unwrap().block_on(forget);
    let output = run(&["history", "gone", "--state-dir", state]);
    assert_eq!((code(&output), err(&output)), (0, ""));
    let line = "2026-11-30T12:00:00Z  Deleted    db_instance/gone: it does not exist in AWS\n";
    assert_eq!(out(&output), line);
    assert_eq!(code(&run(&["status", "gone", "--state-dir", state])), 1);
}

#[test]
fn a_store_that_is_not_there_is_an_error_that_names_it_and_makes_nothing() {
    let folder = folder(&[]);
    let state = folder.path().join("none");
    let output = run(&["status", "--state-dir", state.to_str().unwrap()]);
    assert_eq!(code(&output), 1);
    assert!(err(&output).contains("none/levelset.db"), "{}", err(&output));
    assert!(!state.exists());
}

#[test]
fn everything_that_is_wrong_with_the_settings_is_told_at_once() {
    let folder = folder(&[("levelset.yaml", "listen: nowhere\nworkers: 1000\nnonsense: 1\n")]);
    let output = levelset(&["status"]).current_dir(folder.path()).output().unwrap();
    assert_eq!((code(&output), out(&output)), (1, ""));
    assert!(err(&output).starts_with("error: the settings cannot be used\n"), "{}", err(&output));
    for expected in ["listen", "workers", "nonsense", "levelset.yaml:2:"] {
        assert!(err(&output).contains(expected), "{expected} is not in {}", err(&output));
    }
    let missing = run(&["status", "--config", "/nowhere/levelset.yaml"]);
    assert_eq!(code(&missing), 1);
    assert!(err(&missing).contains("/nowhere/levelset.yaml"), "{}", err(&missing));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child =
        levelset(&["schema"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), err(&output)), (0, ""));
}
