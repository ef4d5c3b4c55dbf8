//! The built program from outside: exit codes, streams, and what people and programs read.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

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
    for word in ["validate", "schema", "kinds", "completions", "Exit codes", "--color"] {
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

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let mut child =
        levelset(&["schema"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), err(&output)), (0, ""));
}
