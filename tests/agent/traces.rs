//! Who made drift is found out beside the passes, late and seldom, and holds nothing up.

use std::time::Duration;

use jiff::SignedDuration;
use levelset::aws::Budgets;
use levelset::model::status::Traced;
use levelset::model::{Call, Key};
use levelset::sandbox::Settings;
use levelset::sandbox::faults::{Effect, Rule};
use levelset::status::Store as _;

use super::stage::{Stage, network, scope, workspace};

/// A database is made in 5 to 10 minutes, and then backed up.
const LONG: Duration = Duration::from_secs(3600);
const CONSOLE: &str = "arn:aws:iam::123456789012:user/console";

fn name(number: usize) -> String {
    format!("team-{number:02}")
}

fn declared(policy: &str) -> String {
    format!("resyncIntervalSeconds: 300{policy}")
}

/// Declares databases with backups, and waits until they are there.
async fn begun(count: usize, policy: &str) -> Stage {
    began(Stage::tracing(Settings::real(1), Budgets::default()).await, count, policy).await
}

async fn began(stage: Stage, count: usize, policy: &str) -> Stage {
    let class = "sizeClass: db.r6g.large";
    let text = |number| {
        let backed_up = format!("{class}, backups: {{retentionDays: 14}}");
        workspace(&name(number), &declared(policy)).replace(class, &backed_up)
    };
    let mut files = vec![("network.yaml".to_owned(), network("core"))];
    files.extend((0..count).map(|number| (format!("{number}.yaml"), text(number))));
    let files: Vec<(&str, String)> = files.iter().map(|(at, it)| (&**at, it.clone())).collect();
    stage.commit(&files);
    for number in 0..count {
        stage.ready(&Key::workspace(name(number)), LONG).await;
    }
    // The backup that follows a creation.
    tokio::time::sleep(LONG).await;
    stage
}

/// Somebody sets the retention of a database in the console.
fn edit(stage: &Stage, number: usize) {
    let call = Call::new("rds", "ModifyDBInstance")
        .with("DBInstanceIdentifier", name(number))
        .with("BackupRetentionPeriod", 3)
        .with("ApplyImmediately", true);
    stage.sandbox.door("console").ask(&scope(), &call).unwrap();
}

async fn traced(stage: &Stage, number: usize) -> Vec<Traced> {
    stage.status(&Key::workspace(name(number))).await.unwrap().traced
}

#[tokio::test(start_paused = true)]
async fn drift_that_stays_gets_the_name_of_who_made_it_when_its_event_shows() {
    let stage = begun(1, ", drift: report").await;
    let key = Key::workspace(name(0));
    edit(&stage, 0);
    let is_seen = async || !stage.status(&key).await.unwrap().drift.is_empty();
    stage.until(is_seen, LONG).await;
    assert_eq!(stage.status(&key).await.unwrap().drift[0].changed_by, None, "it does not show yet");
    let is_known = async || stage.status(&key).await.unwrap().drift[0].changed_by.is_some();
    let took = stage.until(is_known, LONG).await;
    assert!(took >= Duration::from_secs(300), "{took:?}");
    let changed = stage.status(&key).await.unwrap().drift[0].changed_by.clone().unwrap();
    assert_eq!((&*changed.by, &*changed.event), (CONSOLE, "ModifyDBInstance"));
    let asked = stage.calls("LookupEvents").len();
    assert!((2..=4).contains(&asked), "{asked} lookups");
    tokio::time::sleep(12 * LONG).await;
    assert_eq!(stage.calls("LookupEvents").len(), asked, "what is known is not asked again");
    let after = stage.status(&key).await.unwrap();
    assert_eq!(after.drift[0].changed_by, Some(changed), "and it stays");
    assert_eq!(after.traced.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_revert_waits_for_nobody_and_is_explained_afterwards() {
    let stage = begun(1, "").await;
    let slow = Effect::Latency(Duration::from_secs(900));
    stage.sandbox.inject(Rule::new(slow).operation("LookupEvents").times(1));
    let plain = Stage::begin(Settings::real(1), Budgets::default()).await;
    let mut took = Vec::new();
    for stage in [&began(plain, 1, "").await, &stage] {
        edit(stage, 0);
        let reverts = async || stage.calls("ModifyDBInstance").len() == 1;
        took.push(stage.until(reverts, LONG).await);
    }
    let [without, with] = took[..] else { panic!("{took:?}") };
    assert!(with <= without + Duration::from_secs(60), "{with:?} and {without:?} without it");
    let is_told = async || !traced(&stage, 0).await.is_empty();
    stage.until(is_told, LONG).await;
    let found = traced(&stage, 0).await;
    assert_eq!((&*found[0].field, &*found[0].changed.by), ("backups.retentionDays", CONSOLE));
    let key = Key::workspace(name(0));
    let history = stage.store.history(&key, 50).await.unwrap();
    let lines: Vec<&str> =
        history.iter().filter(|it| it.reason == "Traced").map(|it| &*it.message).collect();
    assert_eq!(lines.len(), 1, "{history:?}");
    assert!(lines[0].contains(&format!("ModifyDBInstance by {CONSOLE}")), "{lines:?}");
    assert!(stage.status(&key).await.unwrap().drift.is_empty(), "it was reverted long ago");
}

#[tokio::test(start_paused = true)]
async fn without_the_permission_it_is_unknown_and_hardly_asked() {
    let stage = begun(2, ", drift: report").await;
    stage.sandbox.inject(Rule::new(Effect::Deny).operation("LookupEvents"));
    (0..2).for_each(|number| edit(&stage, number));
    tokio::time::sleep(Duration::from_secs(3 * 3600)).await;
    let asked = stage.calls("LookupEvents").len();
    assert!((1..=3).contains(&asked), "{asked} lookups in three hours");
    for number in 0..2 {
        let status = stage.status(&Key::workspace(name(number))).await.unwrap();
        assert_eq!(status.drift[0].changed_by, None);
        assert_eq!(
            status.condition("Failed").map(|it| it.status),
            Some(levelset::model::status::Truth::False)
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_mass_of_drift_is_asked_about_within_what_cloudtrail_takes() {
    let stage = begun(24, ", drift: report").await;
    (0..24).for_each(|number| edit(&stage, number));
    stage.sandbox.inject(Rule::new(Effect::Throttle).operation("LookupEvents").times(3));
    let all = async || {
        for number in 0..24 {
            if traced(&stage, number).await.is_empty() {
                return false;
            }
        }
        true
    };
    stage.until(all, 2 * LONG).await;
    let asked: Vec<_> = stage.calls("LookupEvents").iter().map(|call| call.at).collect();
    for window in asked.windows(4) {
        let took = window[3].duration_since(window[0]);
        assert!(took >= SignedDuration::from_secs(1), "four lookups in {took}");
    }
    assert!(asked.len() <= 24 * 5, "{} lookups", asked.len());
}
