//! `levelset accept`: the built program, a repository, and the patch that Git applies.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::git::Repo;

const ANSWERS: &str = include_str!("review/observed.json");

/// AWS keeps the backups of this database for 7 days, and it is of another class.
const MANIFEST: &str = "\
# The search team's database.
apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {name: team-search-prod}
spec:
  environment: production
  resources:
    database:
      engine: postgres
      version: \"16\"
      sizeClass: 'db.r6g.large'     # see the capacity plan
      backups: {retentionDays: 14}  # two weeks
";

fn accept(folder: &Path, words: &[&str]) -> Output {
    let observed = folder.join("observed.json");
    std::fs::write(&observed, ANSWERS).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_levelset"));
    command.args(["accept", "team-search-prod"]).args(words).arg("--observed").arg(&observed);
    command.env_clear().current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn repository() -> Repo {
    let repo = Repo::empty();
    repo.commit(&[("teams/search/a.yaml", MANIFEST)]);
    repo
}

#[test]
fn the_patch_is_one_that_git_applies_and_after_which_nothing_differs() {
    let repo = repository();
    for (field, before, after) in [
        ("backups.retentionDays", "{retentionDays: 14}  # two", "{retentionDays: 7}  # two"),
        ("database.sizeClass", "'db.r6g.large'     # see", "'db.r6g.xlarge'     # see"),
    ] {
        let output = accept(&repo.path(), &[field, "--in", "teams"]);
        let said = text(&output.stderr);
        assert_eq!((output.status.code(), said.lines().count()), (Some(0), 1), "{said}");
        let file = repo.path().join("teams/search/a.yaml");
        let was = std::fs::read_to_string(&file).unwrap();
        std::fs::write(repo.path().join("patch"), &output.stdout).unwrap();
        repo.git(&["apply", "patch"]);
        let is = std::fs::read_to_string(&file).unwrap();
        assert_eq!(is, was.replace(before, after));
        assert_ne!(is, was);
        let again = accept(&repo.path(), &[field, "--in", "teams"]);
        assert_eq!((again.status.code(), text(&again.stdout)), (Some(1), ""), "nothing is left");
    }
}

#[test]
fn with_write_the_file_itself_declares_what_aws_has() {
    let repo = repository();
    let file = repo.path().join("teams/search/a.yaml");
    let output = accept(&repo.path(), &["backups.retentionDays", "--in", "teams", "--write"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), ""));
    let is = std::fs::read_to_string(&file).unwrap();
    assert_eq!(is, MANIFEST.replace("retentionDays: 14", "retentionDays: 7"));
}

#[test]
fn what_cannot_be_put_into_the_manifest_is_left_with_its_reason() {
    let repo = Repo::empty();
    let shared = MANIFEST.replace("retentionDays: 14", "retentionDays: &days 14");
    let shared = format!("{shared}      storage: {{sizeGiB: *days}}\n");
    repo.commit(&[("a.yaml", &shared)]);
    let output = accept(&repo.path(), &["backups.retentionDays"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(1), ""));
    let said = text(&output.stderr);
    let expected = "database.backups.retentionDays: it is an alias or an anchor";
    assert!(said.contains(expected), "{said}");
    assert_eq!(std::fs::read_to_string(repo.path().join("a.yaml")).unwrap(), shared);
}
