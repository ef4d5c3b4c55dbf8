//! Whole reports of pull requests: `levelset report` on real repositories against saved answers.
//!
//! A case is a folder under `tests/review`: `head` is what is merged, `base` what it is merged into
//! and `ancestor` where the two part (both are the shared `base` if the case has none), `expected.md`
//! the report. With `LEVELSET_BLESS=1` the reports are written instead of compared.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::git::git;

const TIME: &str = "2026-11-30T12:00:00Z";

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/review")
}

/// A repository with the branches `main` and `change`.
struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new(name: &str) -> Self {
        let case = Self { folder: tempfile::tempdir().unwrap() };
        let side = |side: &str| {
            let own = cases().join(name).join(side);
            if own.exists() { own } else { cases().join("base") }
        };
        case.git(&["init", "-q", "-b", "main", "."]);
        case.commit(&side("ancestor"));
        case.git(&["checkout", "-q", "-b", "change"]);
        case.commit(&cases().join(name).join("head"));
        case.git(&["checkout", "-q", "main"]);
        case.commit(&side("base"));
        case.git(&["checkout", "-q", "change"]);
        case
    }

    fn git(&self, words: &[&str]) {
        let dated = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        git(self.folder.path(), &[&dated[..], words].concat());
    }

    /// Commits a folder as everything that there is.
    fn commit(&self, files: &Path) {
        self.git(&["rm", "-rqf", "--ignore-unmatch", "."]);
        let copied =
            Command::new("cp").arg("-r").arg(files.join(".")).arg(self.folder.path()).status();
        assert!(copied.unwrap().success());
        self.git(&["add", "-A"]);
        self.git(&["commit", "-qm", "c", "--allow-empty"]);
    }

    fn report(&self, more: &[&str]) -> Output {
        let (settings, observed) = (cases().join("settings.yaml"), cases().join("observed.json"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_levelset"));
        command.args(["report", "--base", "main", "--head", "change", "--at", TIME]);
        command.arg("--config").arg(settings).arg("--observed").arg(observed).args(more);
        command.current_dir(self.folder.path()).env_clear().stdin(Stdio::null()).output().unwrap()
    }
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Commits have no fixed id here, since their time is that of the test.
fn timeless(report: &str) -> String {
    let line = report.lines().find(|line| line.ends_with(" Levelset</sub>")).unwrap_or("`");
    let head = line.split('`').nth(1).unwrap_or("");
    if head.is_empty() { report.to_owned() } else { report.replace(head, "01234567") }
}

fn check(name: &str, code: i32) {
    let case = Case::new(name);
    let output = case.report(&[]);
    assert_eq!(output.status.code(), Some(code), "{}", text(&output.stderr));
    let report = timeless(text(&output.stdout));
    assert_eq!(case.report(&[]).stdout, output.stdout, "the same merge has two reports");
    let path = cases().join(name).join("expected.md");
    if std::env::var("LEVELSET_BLESS").is_ok() {
        std::fs::write(&path, &report).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(report == expected, "{name} is now\n{report}");
}

#[test]
fn a_good_merge_is_told_as_such_and_a_moved_file_is_no_removal() {
    check("good", 2);
}

#[test]
fn a_dangerous_merge_says_what_it_deletes_restarts_and_opens() {
    check("dangerous", 2);
}

#[test]
fn a_broken_merge_says_what_is_wrong_and_what_aws_refuses() {
    check("broken", 1);
}

#[test]
fn a_merge_that_cannot_be_made_names_the_files() {
    check("conflict", 1);
}

#[test]
fn a_merge_of_nothing_is_safe_and_answers_zero() {
    let case = Case::new("good");
    let words = ["--head", "main"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_levelset"));
    command.args(["report", "--base", "main", "--observed"]).arg(cases().join("observed.json"));
    let output = command.args(words).current_dir(case.folder.path()).env_clear().output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).starts_with("### ✅\u{a0}Safe to merge: nothing changes in AWS\n")
    );
}

#[test]
fn every_form_tells_the_same() {
    let case = Case::new("dangerous");
    let html = case.report(&["-o", "html"]).stdout;
    let json: serde_json::Value =
        serde_json::from_slice(&case.report(&["-o", "json"]).stdout).unwrap();
    let plain = case.report(&["--host", "bitbucket"]).stdout;
    let verdict = json["verdict"].as_str().unwrap();
    for form in [&html, &plain] {
        assert!(text(form).contains(verdict), "{verdict}");
        assert!(text(form).contains("team-ledger-prod"));
    }
    assert_eq!(json["safety"], "care");
    assert!(!text(&plain).contains('<'), "{}", text(&plain));
}

#[test]
fn settings_that_a_pull_request_brings_are_not_used() {
    let case = Case::new("good");
    std::fs::copy(cases().join("settings.yaml"), case.folder.path().join("levelset.yaml")).unwrap();
    let report = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_levelset"));
        command.args(["report", "--base", "main", "--observed"]).arg(cases().join("observed.json"));
        command.current_dir(case.folder.path()).env_clear().output().unwrap()
    };
    let refused = report();
    assert_eq!((refused.status.code(), text(&refused.stdout)), (Some(1), ""));
    assert!(text(&refused.stderr).contains("levelset.yaml"), "{}", text(&refused.stderr));
    case.git(&["checkout", "-q", "main"]);
    case.git(&["add", "levelset.yaml"]);
    case.git(&["commit", "-qm", "settings"]);
    assert_eq!(report().status.code(), Some(0), "{}", text(&report().stderr));
}

#[test]
fn the_repository_is_left_as_it_is() {
    let case = Case::new("conflict");
    let count = || git(case.folder.path(), &["count-objects", "-v"]);
    let before = count();
    let _ = case.report(&[]);
    assert_eq!(count(), before);
}
