//! What brings an object back before its own wait is over.

use std::time::Duration;

use levelset::aws::Budgets;
use levelset::model::{Condition, Key};
use levelset::sandbox::Settings;
use levelset::sandbox::faults::{Effect, Rule};

use super::stage::{Stage, network, workspace};

/// A database is made in 5 to 10 minutes, and then backed up.
const LONG: Duration = Duration::from_secs(3600);

#[tokio::test(start_paused = true)]
async fn a_dependent_goes_on_as_soon_as_what_it_waits_for_is_settled() {
    let stage = Stage::begin(Settings::real(1), Budgets::default()).await;
    stage.commit(&[("network.yaml", network("core")), ("a.yaml", workspace("team-a", ""))]);
    stage.ready(&Key::workspace("team-a"), LONG).await;
    let (group, database) =
        (&stage.calls("CreateDBSubnetGroup")[0], &stage.calls("CreateDBInstance")[0]);
    let between = database.at.duration_since(group.at);
    assert!(between.as_secs() < 3, "{between}: its own wait would have been ten seconds");
}

#[tokio::test(start_paused = true)]
async fn a_new_generation_leaves_failed_at_once() {
    let stage = Stage::begin(Settings::real(1), Budgets::default()).await;
    let key = Key::workspace("team-a");
    stage.sandbox.inject(Rule::new(Effect::Deny).operation("CreateDBInstance"));
    let policy = "maxRetries: 2, resyncIntervalSeconds: 3600";
    stage.commit(&[("a.yaml", workspace("team-a", policy))]);
    let has_failed = async || {
        let status = stage.status(&key).await.unwrap_or_default();
        status.condition(Condition::FAILED).is_some_and(|it| it.reason == "RetriesExhausted")
    };
    stage.until(has_failed, LONG).await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(stage.calls("CreateDBInstance").len(), 2, "nothing more is tried");

    let changed = workspace("team-a", policy).replace("r6g.large", "r6g.xlarge");
    stage.commit(&[("a.yaml", changed)]);
    let is_tried = async || stage.calls("CreateDBInstance").len() > 2;
    let took = stage.until(is_tried, LONG).await;
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_change_starts_at_once_when_the_lease_is_back_however_long_it_was_lost() {
    let stage = Stage::begin(Settings::real(1), Budgets::default()).await;
    let key = Key::workspace("team-a");
    let files = |class: &str| {
        let text = workspace("team-a", "").replace("db.r6g.large", class);
        [("network.yaml", network("core")), ("a.yaml", text)]
    };
    stage.commit(&files("db.r6g.large"));
    stage.ready(&key, LONG).await;
    stage.lose_lease(true);
    stage.commit(&files("db.r6g.xlarge"));
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(stage.calls("ModifyDBInstance").is_empty(), "it may not write");

    stage.lose_lease(false);
    stage.commit(&files("db.r6g.2xlarge"));
    let is_sent = async || !stage.calls("ModifyDBInstance").is_empty();
    let took = stage.until(is_sent, LONG).await;
    assert!(took <= Duration::from_secs(1), "{took:?}");
}
