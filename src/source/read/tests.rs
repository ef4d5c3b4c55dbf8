//! What is read of a commit, and what is delivered of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::model::tree::Content;
use crate::source::testing::{World, location};

async fn read(world: &World, folder: &str, before: Option<&Delivered>) -> Delivery {
    try_read(world, folder, before).await.unwrap()
}

async fn try_read(
    world: &World,
    folder: &str,
    before: Option<&Delivered>,
) -> Result<Delivery, SourceError> {
    fetch_and_read(&world.fetcher(), &location(folder), &world.access, before, false)
        .await
        .map(|outcome| outcome.delivery.expect("the tip moved"))
}

fn paths(changes: &ChangeSet) -> Vec<&str> {
    changes.changed.keys().map(AsRef::as_ref).collect()
}

fn refusal<'a>(changes: &'a ChangeSet, path: &str) -> &'a str {
    match &changes.changed[path].content {
        Content::Refused(reason) => reason,
        Content::Bytes(_) => panic!("{path} was read"),
    }
}

#[tokio::test]
async fn a_commit_of_one_file_among_ten_thousand_reads_its_directories_and_itself() {
    let world = World::new();
    let files: BTreeMap<String, String> = (0..10_000)
        .map(|n| (format!("env/team-{:03}/workspace-{n:05}.yaml", n / 100), format!("n: {n}\n")))
        .collect();
    let files: Vec<(&str, Option<&str>)> =
        files.iter().map(|(path, text)| (path.as_str(), Some(text.as_str()))).collect();
    world.commit(&files);
    let cold = read(&world, "env", None).await;
    assert_eq!((cold.cost.trees, cold.cost.blobs), (101, 10_000));
    assert_eq!(cold.changes.changed.len(), 10_000);
    world.commit(&[("env/team-042/workspace-04242.yaml", Some("n: changed\n"))]);
    let warm = read(&world, "env", Some(&cold.delivered)).await;
    assert_eq!((warm.cost.trees, warm.cost.blobs), (2, 1));
    assert_eq!(paths(&warm.changes), ["env/team-042/workspace-04242.yaml"]);
    assert!(warm.changes.removed.is_empty() && !warm.changes.full);
}

#[tokio::test]
async fn a_commit_outside_the_folder_moves_the_revision_and_changes_nothing() {
    let world = World::new();
    world.commit(&[("env/a.yaml", Some("1")), ("other/b.yaml", Some("1"))]);
    let first = read(&world, "env", None).await;
    let commit = world.commit(&[("other/b.yaml", Some("2"))]);
    let second = read(&world, "env", Some(&first.delivered)).await;
    assert_eq!(second.changes.revision.as_str(), commit.to_string());
    assert!(second.changes.changed.is_empty() && second.changes.removed.is_empty());
    assert_eq!(second.cost, Cost::default());
}

#[tokio::test]
async fn a_folder_that_moves_is_removed_there_and_added_here() {
    let world = World::new();
    world.commit(&[("x/a.yaml", Some("1")), ("x/y/b.yaml", Some("2")), ("z.yaml", Some("3"))]);
    let first = read(&world, "", None).await;
    world.commit(&[("x/a.yaml", None), ("x/y/b.yaml", None), ("w/a.yaml", Some("1"))]);
    world.commit(&[("x", Some("now a file"))]);
    let second = read(&world, "", Some(&first.delivered)).await;
    assert_eq!(paths(&second.changes), ["w/a.yaml"]);
    assert_eq!(second.changes.removed, [Arc::from("x/a.yaml"), Arc::from("x/y/b.yaml")]);
}

#[tokio::test]
async fn a_link_changes_when_what_it_leads_to_changes() {
    let world = World::new();
    world.commit(&[("env/base/b.txt", Some("1")), ("env/a.yaml", Some("1"))]);
    world.link("env/link.yaml", "base/b.txt");
    world.link("env/chain.yml", "./link.yaml");
    let first = read(&world, "env", None).await;
    assert_eq!(paths(&first.changes), ["env/a.yaml", "env/chain.yml", "env/link.yaml"]);
    assert_eq!(first.changes.changed["env/link.yaml"].content, Content::Bytes(b"1"[..].into()));
    world.commit(&[("env/base/b.txt", Some("2"))]);
    let second = read(&world, "env", Some(&first.delivered)).await;
    assert_eq!(paths(&second.changes), ["env/chain.yml", "env/link.yaml"]);
    world.commit(&[("env/base/b.txt", None)]);
    let third = read(&world, "env", Some(&second.delivered)).await;
    assert!(refusal(&third.changes, "env/link.yaml").contains("no file"));
    world.commit(&[("env/chain.yml", None)]);
    let fourth = read(&world, "env", Some(&third.delivered)).await;
    assert_eq!(fourth.changes.removed, [Arc::from("env/chain.yml")]);
}

#[tokio::test]
async fn a_link_that_leaves_the_folder_is_refused() {
    let world = World::new();
    world.commit(&[("env/a.yaml", Some("1")), ("secret.yaml", Some("2"))]);
    world.link("env/up.yaml", "../secret.yaml");
    world.link("env/absolute.yaml", "/etc/passwd");
    world.link("env/loop.yaml", "loop.yaml");
    world.link("env/dir.yaml", ".");
    let read = read(&world, "env", None).await;
    assert!(refusal(&read.changes, "env/up.yaml").contains("outside the folder"));
    assert!(refusal(&read.changes, "env/absolute.yaml").contains("outside the folder"));
    assert!(refusal(&read.changes, "env/loop.yaml").contains("too many links"));
    assert!(matches!(read.changes.changed["env/dir.yaml"].content, Content::Refused(_)));
}

#[tokio::test]
async fn a_file_over_the_limit_is_refused_and_the_others_are_read() {
    let mut world = World::new();
    world.access.max_file_bytes = 10;
    world.commit(&[("a.yaml", Some("0123456789")), ("b.yaml", Some("0123456789x"))]);
    let read = read(&world, "", None).await;
    assert_eq!(
        refusal(&read.changes, "b.yaml"),
        "the file has 11 bytes, more than the limit of 10"
    );
    assert!(matches!(read.changes.changed["a.yaml"].content, Content::Bytes(_)));
}

#[tokio::test]
async fn a_folder_that_is_missing_or_empty_is_an_error() {
    let world = World::new();
    world.commit(&[("env/a.yaml", Some("1")), ("file", Some("1")), ("docs/x.md", Some("1"))]);
    let code = async |folder| try_read(&world, folder, None).await.unwrap_err().code();
    assert_eq!(code("nowhere").await, "FolderMissing");
    assert_eq!(code("file").await, "FolderMissing");
    assert_eq!(code("env/deeper").await, "FolderMissing");
    assert_eq!(code("docs").await, "FolderEmpty");
}

#[tokio::test]
async fn a_mirror_with_a_broken_pack_is_made_anew() {
    let world = World::new();
    world.commit(&[("a.yaml", Some("1"))]);
    let first = read(&world, "", None).await;
    let packs = world.access.mirror(&location("")).join("objects/pack");
    for entry in std::fs::read_dir(packs).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "pack") {
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, b"PACK").unwrap();
        }
    }
    // The same commit, read in full: the tip did not move, so that only the reading notices.
    let again = read(&world, "", None).await;
    assert_eq!(again.changes, first.changes);
}
