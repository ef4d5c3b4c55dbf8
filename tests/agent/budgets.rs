//! What a pass does with the budgets of its calls.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use levelset::apply::{Gate, GateFuture, apply};
use levelset::aws::{Asserted, Budget, Budgeted, Budgets};
use levelset::model::plan::{Action, Step, Verdict};
use levelset::model::{
    Call, CallError, Cause, Cloud, Disruption, Holds, Key, KindName, Plan, ResourceId, StepOutcome,
    Target,
};
use levelset::sandbox::log::Count;
use levelset::sandbox::{Sandbox, Settings};
use serde_json::Value;
use tokio::time::Instant;

use super::stage::{PausedClock, Stage, scope, workspace};

/// The right to write until a time; remembers when it was asked for.
struct Lease {
    end: Instant,
    asked: Mutex<Vec<Instant>>,
}

impl Gate for Lease {
    fn enter<'a>(&'a self, _: &'a Step, _: &'a Call) -> GateFuture<'a, Result<(), String>> {
        Box::pin(async {
            self.asked.lock().unwrap().push(Instant::now());
            let lasts = Instant::now() < self.end;
            if lasts { Ok(()) } else { Err("the lease is over".to_owned()) }
        })
    }

    fn leave<'a>(
        &'a self,
        _: &'a Step,
        _: &'a Call,
        _: &'a Result<Value, CallError>,
    ) -> GateFuture<'a, ()> {
        Box::pin(async {})
    }
}

fn instance() -> ResourceId {
    ResourceId { kind: KindName::new("db_instance"), scope: scope(), name: "team-a".into() }
}

/// A plan whose one call changes a database.
fn plan() -> Plan {
    let call = Call::new("rds", "ModifyDBInstance").with("DBInstanceIdentifier", "team-a");
    let step = Step {
        resource: instance(),
        section: "database".to_owned(),
        action: Action::Update,
        verdict: Verdict::Go,
        deltas: Vec::new(),
        calls: vec![call],
        disruption: Disruption::None,
        effective: None,
        waits: Vec::new(),
        refusals: Vec::new(),
        notices: Vec::new(),
    };
    Plan {
        key: Key::workspace("team-a"),
        revision: None,
        holds: Holds::default(),
        steps: vec![step],
        traced: Vec::new(),
    }
}

#[tokio::test(start_paused = true)]
async fn the_right_to_write_is_asked_for_when_the_budget_has_been_waited_for() {
    let sandbox = Sandbox::new(Arc::new(PausedClock::begin()), Settings::real(1));
    let slow = Budget { burst: 1, per_second: 0.025, write_reserve: 0 };
    let budgets = Budgets { services: [("rds".to_owned(), slow)].into(), ..Budgets::default() };
    let cloud = Asserted::new(Budgeted::new(sandbox.clone(), budgets));
    let target = Target { scope: scope(), kind: instance().kind, cause: Cause::List };
    cloud.call(&target, &Call::new("rds", "DescribeDBInstances")).await.unwrap();

    let begun = Instant::now();
    let end = begun + Duration::from_secs(30);
    let lease = Lease { end, asked: Mutex::default() };
    let attempts = apply(&plan(), &cloud, &lease, &|_, _| None).await;

    let asked: Vec<u64> =
        lease.asked.lock().unwrap().iter().map(|at| (*at - begun).as_secs()).collect();
    assert_eq!(asked, [40], "the next token is there after 40 seconds");
    assert!(matches!(attempts[0].outcome, StepOutcome::Withheld { .. }), "{attempts:?}");
    assert!(!sandbox.counters().contains_key("rds:ModifyDBInstance"), "nothing was sent");
}

/// Returns the largest number of calls to RDS within a minute.
fn most_in_a_minute(stage: &Stage) -> usize {
    let calls = stage.sandbox.calls_since(0);
    let times: Vec<_> =
        calls.iter().filter(|call| call.service == "rds").map(|call| call.at).collect();
    let within = |from: usize| {
        let end = times[from] + jiff::SignedDuration::from_mins(1);
        times[from..].iter().take_while(|at| **at < end).count()
    };
    (0..times.len()).map(within).max().unwrap_or_default()
}

/// The sandbox takes what AWS documents: RDS a burst of 300 and 12 a second, EC2 100 and 20.
#[tokio::test(start_paused = true)]
async fn five_hundred_new_databases_make_no_throttled_call_at_the_limits_of_rds() {
    let stage = Stage::begin(Settings::real(1), Budgets::default()).await;
    let workspaces: Vec<(String, String)> = (0..500)
        .map(|number| (format!("{number}.yaml"), workspace(&format!("team-{number}"), "")))
        .collect();
    let files: Vec<(&str, String)> =
        workspaces.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    stage.commit(&files);
    let begun = Instant::now();
    for (path, _) in &workspaces {
        let key = Key::workspace(format!("team-{}", path.trim_end_matches(".yaml")));
        stage.ready(&key, Duration::from_secs(3600)).await;
    }
    let took = begun.elapsed();

    let counters = stage.sandbox.counters();
    let sum = |of: fn(&Count) -> u64| counters.values().map(of).sum::<u64>();
    println!("500 databases: {took:?}, {} calls: {counters:#?}", sum(|count| count.calls));
    println!("at most {} calls to RDS in a minute", most_in_a_minute(&stage));
    assert_eq!(counters["rds:CreateDBInstance"].calls, 500, "each was made once");
    assert_eq!(sum(|count| count.throttled), 0);
    assert!(most_in_a_minute(&stage) <= 150 + 6 * 60, "half of what AWS takes");
}

/// 250 databases are three pages, and an hour has twelve resync intervals of ten meetings each.
#[tokio::test(start_paused = true)]
async fn what_resyncs_cost_grows_with_the_pages_and_not_with_the_objects() {
    let stage = Stage::begin(Settings::real(1), Budgets::default()).await;
    let files: Vec<(String, String)> = (0..250)
        .map(|number| (format!("{number}.yaml"), workspace(&format!("team-{number}"), "")))
        .collect();
    stage.commit(
        &files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect::<Vec<_>>(),
    );
    tokio::time::sleep(Duration::from_secs(2 * 3600)).await;
    let before = stage.calls("DescribeDBInstances").len();
    tokio::time::sleep(Duration::from_secs(3600)).await;
    let calls = stage.calls("DescribeDBInstances").len() - before;
    println!("an hour of 250 databases at rest: {calls} calls of DescribeDBInstances");
    assert!((12 * 3 * 9..=12 * 3 * 11).contains(&calls), "{calls}");
}

/// A budget of one call in ten seconds, and a fleet that spends it for an hour before the other
/// account's object has its turn.
#[tokio::test(start_paused = true)]
async fn an_account_without_budget_does_not_keep_another_one_waiting() {
    let slow = Budget { burst: 3, per_second: 0.1, write_reserve: 2 };
    let longest_wait = Duration::from_secs(3600);
    let services = [("rds".to_owned(), slow)].into();
    let budgets = Budgets { services, longest_wait, ..Budgets::default() };
    let stage = Stage::begin(Settings::real(1), budgets).await;
    let path = |number: usize| format!("{number:03}.yaml");
    let mut files: Vec<(String, String)> =
        (0..100).map(|n| (path(n), workspace(&format!("team-{n:03}"), ""))).collect();
    files.push((path(100), workspace("team-last", "").replace("production", "staging")));
    let files: Vec<(&str, String)> =
        files.iter().map(|(path, text)| (path.as_str(), text.clone())).collect();
    stage.commit(&files);
    let last = Key::workspace("team-last");
    let is_seen = async || {
        stage.status(&last).await.is_some_and(|status| status.last_reconciled_time.is_some())
    };
    let took = stage.until(is_seen, Duration::from_secs(3600)).await;
    assert!(took < Duration::from_secs(60), "the other account was looked at after {took:?}");
}
