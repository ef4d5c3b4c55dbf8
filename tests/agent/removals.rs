//! What `levelset sync` does with objects that the repository declares no longer.

use super::requests::{DATABASE, World, scope};

/// A second database, so that the repository is not emptied.
fn other() -> String {
    DATABASE.replace("payments", "orders")
}

fn owner(world: &World, database: &str) -> Option<String> {
    let instance = world.cloud.inspect_instance(&scope(), database)?;
    let tags = instance["TagList"].as_array()?;
    let tag = tags.iter().find(|tag| tag["Key"] == "levelset:owner")?;
    tag["Value"].as_str().map(str::to_owned)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_repository_declares_no_longer_is_left_and_told() {
    let world = World::new(&[("a.yaml", DATABASE), ("b.yaml", &other())]).await;
    world.says(&["sync"]);
    world.commit(&[("b.yaml", &other())]);

    let part = world.says(&["sync", "repository/b.yaml"]);
    assert!(!part.contains("payments"), "a part of the repository removes nothing: {part}");
    assert_eq!(owner(&world, "payments").as_deref(), Some("levelset/Workspace/payments"));

    let told = world.says(&["sync"]);
    assert!(told.contains("Workspace/payments") && told.contains("nothing is left"), "{told}");
    assert!(world.says(&["history", "payments"]).contains("Retained"));
    let left = owner(&world, "payments");
    assert_eq!(left.as_deref(), Some("retained:levelset/Workspace/payments"));
    assert!(!world.says(&["status"]).contains("payments"), "it is done with and forgotten");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deletion_is_waited_for_and_its_grace_period_is_not() {
    let disposable = DATABASE
        .replace("      backups:", "      deletionProtection: false\n      backups:")
        .replace("maxRetries: 1", "maxRetries: 1, deletion: snapshot");
    let world = World::new(&[("a.yaml", &disposable), ("b.yaml", &other())]).await;
    world.says(&["sync"]);
    world.commit(&[("b.yaml", &other())]);

    let told = world.says(&["sync"]);
    assert!(told.contains("Workspace/payments") && told.contains("it is deleted then"), "{told}");
    assert!(owner(&world, "payments").is_some());

    world.set("guards: {deletionGraceSeconds: 0}");
    let told = world.says(&["sync"]);
    assert!(told.contains("Workspace/payments") && told.contains("nothing is left"), "{told}");
    assert_eq!(owner(&world, "payments"), None);
    assert!(!world.says(&["status"]).contains("payments"));
}
