//! From a push to a converged cloud, by way of a webhook.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use levelset::cli::clock::SystemClock;
use levelset::model::Call;
use levelset::model::webhook::Host;

use super::host::FakeHost;
use super::stage::{Stage, manifest, scope};

#[tokio::test(flavor = "multi_thread")]
async fn a_push_over_http_fires_a_webhook_and_the_cloud_follows() {
    let stage = Stage::begin().await;
    stage.until("convergence", |stage| stage.is_ready("team-a"));
    let woken = "levelset_webhooks_total{host=\"github\",result=\"woken\"}";
    assert_eq!(stage.figure(woken).as_deref(), Some("0"));
    let calls = stage.cloud.calls_since(0).len();
    let begin = Timestamp::now();
    stage.push("team-b");
    let pushed = Timestamp::now();
    stage.until("convergence", |stage| stage.is_ready("team-b"));
    assert_eq!(stage.figure(woken).as_deref(), Some("1"));
    let first = &stage.cloud.calls_since(0)[calls];
    println!(
        "from the start of the push to its end {}, to the first call {}",
        pushed.duration_since(begin),
        first.at.duration_since(begin)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_is_told_on_its_commit_and_an_agent_that_is_killed_tells_nothing_twice() {
    let host = FakeHost::new(Host::GitHub, Arc::new(SystemClock));
    let root = host.serve().await;
    let settings = format!(
        "agent: {{name: prod}}\nforge: {{host: github, apiUrl: \"{root}\", repository: r/r, \
         tokenFile: token}}\n"
    );
    let mut stage = Stage::begin_with(&settings, &[("token", "t0ken\n")]).await;
    stage.until("convergence", |stage| stage.is_ready("team-a"));
    let commit = stage.push("team-b");
    let stands = |context: &str| {
        host.with(|state| {
            let of = |it: &&super::host::Taken| it.revision == commit && it.context == context;
            state.taken.iter().rfind(of).map(|it| (it.state.clone(), it.description.clone()))
        })
    };
    let success = |words: &str| Some(("success".to_owned(), words.to_owned()));
    stage.until("a status", |_| stands("levelset/prod/sync") == success("1 object as declared"));
    stage.until("a status", |_| {
        stands("levelset/prod/validate") == success("no mistake in 2 objects")
    });
    stage.until("silence", |stage| stage.figure("levelset_host_owed").as_deref() == Some("0"));
    let written = host.writes();
    stage.kill();
    stage.start();
    stage.until("a second look", |stage| stage.is_ready("team-b"));
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(host.writes(), written);
    assert_eq!(stage.figure("levelset_host_owed").as_deref(), Some("0"));
    let sent = "levelset_host_writes_total{result=\"sent\"}";
    assert_eq!(stage.figure(sent).as_deref(), Some("0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pull_request_has_one_comment_that_is_edited_until_its_merge_is_in_the_cloud() {
    let host = FakeHost::new(Host::GitHub, Arc::new(SystemClock));
    let root = host.serve().await;
    let settings = format!(
        "agent: {{name: prod}}\nforge: {{host: github, apiUrl: \"{root}\", repository: r/r, \
         tokenFile: token}}\n"
    );
    let mut stage = Stage::begin_with(&settings, &[("token", "t0ken\n")]).await;
    stage.until("convergence", |stage| stage.is_ready("team-a"));
    stage.kill();
    let head = stage.propose(7, "team-b");
    host.with(|state| state.pulls = vec![pull(7, &head)]);
    stage.start();
    let comment = |words: &str| {
        host.with(|state| match &state.comments[..] {
            [] => false,
            [(_, _, text)] => text.starts_with("<!-- levelset:prod -->") && text.contains(words),
            several => panic!("{} comments", several.len()),
        })
    };
    stage.until("a comment", |_| comment("Safe to merge: creates"));
    stage.until("a status", |_| host.stands("levelset/prod/plan").is_some());
    let (state, words) = host.stands("levelset/prod/plan").unwrap();
    assert!(state == "success" && words.starts_with("Safe to merge: creates"), "{words}");
    stage.merge(7);
    host.with(|state| state.pulls.clear());
    stage.until("the end", |_| comment("Merged: everything that it touches is as declared"));
}

#[tokio::test(flavor = "multi_thread")]
async fn drift_is_accepted_by_a_pull_request_at_the_host_or_by_a_patch() {
    let host = FakeHost::new(Host::GitHub, Arc::new(SystemClock));
    let root = host.serve().await;
    let settings = format!(
        "forge: {{host: github, apiUrl: \"{root}\", repository: r/r, tokenFile: token, \
         pullRequests: false}}\n"
    );
    let stage = Stage::begin_with(&settings, &[("token", "t0ken\n")]).await;
    let class = "sizeClass: db.r6g.large";
    let backups = format!("{class}, backups: {{retentionDays: 14}}");
    let text = manifest("team-a").replace(class, &backups);
    stage.push_text("team-a", &text);
    stage.until("convergence", |stage| stage.is_ready("team-a"));
    let files = [("team-a.yaml".to_owned(), text.clone().into_bytes())];
    host.with(|state| state.branches.insert("main".to_owned(), files.into()));
    let call = Call::new("rds", "ModifyDBInstance")
        .with("DBInstanceIdentifier", "team-a")
        .with("BackupRetentionPeriod", 3)
        .with("ApplyImmediately", true);
    stage.until("a change in the console", |stage| {
        stage.cloud.door("console").ask(&scope(), &call).is_ok()
    });
    let words = ["accept", "team-a", "--in", "CLONE"];
    let patch = [&words[..], &["--dry-run"]].concat();
    stage.until("a patch", |stage| {
        let output = stage.levelset(&patch);
        String::from_utf8_lossy(&output.stdout).contains("+++ b/team-a.yaml")
    });
    assert_eq!(host.with(|state| state.pulls.len()), 0);
    for _ in 0..2 {
        let output = stage.levelset(&words);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "https://git.example/pull/1\n",
            "{told}"
        );
    }
    let proposed = host.with(|state| {
        let mut others = state.branches.iter().filter(|(name, _)| *name != "main");
        others.next().map(|(name, files)| (name.clone(), files["team-a.yaml"].clone())).unwrap()
    });
    assert!(proposed.0.starts_with("levelset/accept/team-a-"), "{}", proposed.0);
    let expected = text.replace("retentionDays: 14", "retentionDays: 3");
    assert_eq!(String::from_utf8_lossy(&proposed.1), expected);
}

/// A pull request as GitHub lists it.
fn pull(number: u64, head: &str) -> serde_json::Value {
    let side = |sha: &str, branch: &str| serde_json::json!({ "sha": sha, "ref": branch, "repo": { "full_name": "r/r" } });
    serde_json::json!({
        "number": number,
        "html_url": format!("https://github.example/r/r/pull/{number}"),
        "head": side(head, "change"),
        "base": side("0000000000000000000000000000000000000000", "main"),
    })
}
