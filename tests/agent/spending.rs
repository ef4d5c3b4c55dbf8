//! What the built program tells of the calls that it made, held against what the cloud received.

use std::collections::BTreeMap;

use serde_json::Value;

use super::requests::{DATABASE, World};

fn spending(world: &World, words: &[&str]) -> (Option<i32>, Value) {
    let output = world.output(&[&["budget", "-o", "json"], words].concat());
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

/// Returns how many calls the last day had, by `service:Operation`.
fn sent(told: &Value) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    let day = told["periods"].as_array().unwrap().iter().find(|it| it["last"] == "day").unwrap();
    for line in day["spent"].as_array().unwrap() {
        let name = format!(
            "{}:{}",
            line["service"].as_str().unwrap(),
            line["operation"].as_str().unwrap()
        );
        *sums.entry(name).or_default() += line["count"]["sent"].as_u64().unwrap();
    }
    sums
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_is_told_with_its_cause_also_when_no_agent_runs_and_over_a_restart() {
    let mut world = World::new(&[("a.yaml", DATABASE)]).await;
    world.start();
    world.until("it converges", |world| world.reason("Ready", "True") == "Converged");
    world.stop();
    let received = |world: &World| -> BTreeMap<String, u64> {
        world.cloud.counters().into_iter().map(|(name, count)| (name, count.calls)).collect()
    };
    let (code, told) = spending(&world, &["--resync", "60"]);
    assert_eq!((code, sent(&told)), (Some(0), received(&world)));
    assert_eq!(told["resync"]["fits"], true);
    let table = world.says(&["budget"]);
    for line in
        ["CreateDBInstance create", "DescribeDBInstances list", "GetCallerIdentity identity"]
    {
        assert!(table.contains(line), "{line} is not in {table}");
    }

    world.start();
    let before = received(&world);
    world.until("it looks again", |world| received(world) != before);
    world.stop();
    assert_eq!(sent(&spending(&world, &[]).1), received(&world), "nothing is lost or told twice");
    let rds = told["budgets"].as_array().unwrap().iter().find(|it| it["service"] == "rds");
    assert_eq!(rds.unwrap()["budget"]["burst"], 150);
}
