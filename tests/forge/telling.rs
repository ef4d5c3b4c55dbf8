//! What stands beside a commit while the agent works on it, and after: the whole agent, in virtual time.

use std::sync::Arc;

use levelset::aws::Budgets;
use levelset::cli::telling::{self, Heard, Telling};
use levelset::forge::peer::{GitHost, Marks};
use levelset::model::Revision;
use levelset::model::outbox::Outbox;
use levelset::model::tree::RefusedRevision;
use levelset::model::webhook::Host;
use levelset::model::{Call, Key};
use levelset::sandbox::Settings;
use levelset::sandbox::faults::{Effect, Rule};
use levelset::status::Store as _;

use super::beside::{Beside, LONG, pass};
use super::host::{DAY, FakeHost, Weather};
use crate::agent::stage::{Stage, scope, workspace};

/// An agent and a host that is told.
struct World {
    stage: Stage,
    host: Arc<FakeHost>,
    beside: Beside,
}

impl World {
    async fn new(kind: Host) -> Self {
        let stage = Stage::begin(Settings::real(1), Budgets::default()).await;
        let host = FakeHost::new(kind, stage.engine.clock.clone());
        let world = Self { stage, host, beside: Beside::default() };
        world.tell(world.stage.heard.clone());
        world
    }

    fn tell(&self, heard: Arc<Heard>) {
        let marks = Marks { agent: "prod".to_owned(), link: None };
        let peer = Arc::new(GitHost::new(self.host.api(), marks));
        let engine = &self.stage.engine;
        let ports = telling::Ports {
            desired: engine.desired.clone(),
            heard,
            outbox: self.stage.store.clone(),
            fence: engine.fence.clone(),
            clock: engine.clock.clone(),
            news: self.beside.carry(&self.stage, peer),
        };
        let telling = Telling::new(ports, "prod".to_owned(), Some("main".to_owned()));
        self.beside.start(|stop| telling.run(stop));
    }

    /// Ends both tasks and starts them on what the store has.
    async fn restart(&mut self) {
        self.beside.end(&self.stage).await;
        let heard = Arc::new(Heard::default());
        heard.restore(&self.stage.store.all().await.unwrap());
        self.tell(heard);
    }

    fn commit(&self, files: &[(&str, String)]) {
        self.stage.commit(files);
    }

    /// Returns the states of a status that the commit of this number has had, and its last words.
    fn told(&self, commit: u32, what: &str) -> (Vec<String>, String) {
        let (revision, context) = (format!("{commit:040}"), format!("levelset/prod/{what}"));
        let is_meant = |it: &&super::host::Taken| it.revision == revision && it.context == context;
        self.host.with(|state| {
            let of: Vec<_> = state.taken.iter().filter(is_meant).collect();
            let words = of.last().map(|it| it.description.clone()).unwrap_or_default();
            (of.iter().map(|it| it.state.clone()).collect(), words)
        })
    }

    async fn until_told(&self, commit: u32, what: &str, last: &str) {
        let start = tokio::time::Instant::now();
        while self.told(commit, what).0.last().is_none_or(|state| state != last) {
            let posts = self.stage.store.posts().await.unwrap();
            assert!(start.elapsed() < LONG, "{:?} {posts:#?}", self.told(commit, what));
            pass(1).await;
        }
    }
}

/// Returns the manifest of a workspace whose backups are declared.
fn with_backups(name: &str, policy: &str) -> String {
    let class = "sizeClass: db.r6g.large";
    workspace(name, policy).replace(class, &format!("{class}, backups: {{retentionDays: 14}}"))
}

fn owned(states: &[&str]) -> Vec<String> {
    states.iter().map(|state| (*state).to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_commit_is_pending_until_all_that_it_touched_is_as_declared() {
    let world = World::new(Host::GitHub).await;
    let files = [("a.yaml", workspace("a", "")), ("b.yaml", workspace("b", ""))];
    world.commit(&files);
    pass(5).await;
    let pending = (owned(&["pending"]), "2 objects to converge".to_owned());
    assert_eq!(world.told(1, "sync"), pending);
    assert_eq!(
        world.told(1, "validate"),
        (owned(&["success"]), "no mistake in 2 objects".to_owned())
    );
    world.until_told(1, "sync", "success").await;
    for name in ["a", "b"] {
        assert!(world.stage.status(&Key::workspace(name)).await.unwrap().is_ready());
    }
    let done = (owned(&["pending", "success"]), "2 objects as declared".to_owned());
    assert_eq!(world.told(1, "sync"), done);
    let more = [files[0].clone(), files[1].clone(), ("c.yaml", "# no object\n".to_owned())];
    world.commit(&more);
    pass(5).await;
    assert_eq!(world.told(2, "sync"), (owned(&["success"]), "it touches no object".to_owned()));
    world.host.with(|state| assert!(state.rude.is_empty(), "{:?}", state.rude));
}

#[tokio::test(start_paused = true)]
async fn over_a_day_of_resyncs_drift_and_restarts_nothing_is_written_of_what_stands() {
    let mut world = World::new(Host::GitHub).await;
    world.commit(&[("a.yaml", with_backups("a", "resyncIntervalSeconds: 300"))]);
    world.until_told(1, "sync", "success").await;
    pass(5).await;
    let before = world.host.writes();
    assert_eq!(before, 3, "pending, and two successes");
    let passes = world.stage.sandbox.calls_since(0).len();
    for hour in 0..24 {
        tokio::time::sleep(DAY / 24).await;
        if hour % 12 == 0 {
            let call = Call::new("rds", "ModifyDBInstance")
                .with("DBInstanceIdentifier", "a")
                .with("BackupRetentionPeriod", 1 + hour)
                .with("ApplyImmediately", true);
            world.stage.sandbox.door("console").ask(&scope(), &call).unwrap();
        }
        if hour % 8 == 0 {
            world.restart().await;
        }
    }
    assert!(world.stage.sandbox.calls_since(0).len() > passes + 200, "the agent was at work");
    assert!(!world.stage.calls("ModifyDBInstance").is_empty(), "and reverted drift");
    assert_eq!(world.host.writes(), before);
}

#[tokio::test(start_paused = true)]
async fn a_failure_names_the_object_and_the_reason_and_ends_when_the_cause_does() {
    let world = World::new(Host::GitLab).await;
    world.stage.sandbox.inject(Rule::new(Effect::Deny).operation("CreateDBInstance"));
    world.commit(&[("a.yaml", workspace("a", "maxBackoffSeconds: 60, maxRetries: 100"))]);
    world.until_told(1, "sync", "failed").await;
    let (_, words) = world.told(1, "sync");
    assert!(words.starts_with("Workspace/a: db_instance/a"), "{words}");
    assert!(words.len() <= 140);
    pass(1800).await;
    let (states, _) = world.told(1, "sync");
    assert!(states[1..].iter().all(|state| state == "failed"), "{states:?}");
    assert!(states.len() <= 4, "{states:?}: other words come every ten minutes at most");
    world.stage.sandbox.clear_faults();
    world.until_told(1, "sync", "success").await;
}

#[tokio::test(start_paused = true)]
async fn a_mistake_is_told_at_its_place_until_it_is_mended() {
    let world = World::new(Host::Gitea).await;
    let good = workspace("a", "");
    let bad = good.replace("engine: postgres", "engine: postgrez");
    world.commit(&[("a.yaml", good.clone()), ("b.yaml", bad.replace("name: a", "name: b"))]);
    world.until_told(1, "validate", "failure").await;
    let (_, words) = world.told(1, "validate");
    assert!(words.starts_with("b.yaml:"), "{words}");
    world.commit(&[("a.yaml", good)]);
    world.until_told(2, "validate", "success").await;
    assert_eq!(world.told(1, "validate").0, ["failure"], "the commit before has it still");
}

#[tokio::test(start_paused = true)]
async fn a_commit_whose_place_another_takes_is_told_so() {
    let world = World::new(Host::GitHub).await;
    world.commit(&[("a.yaml", workspace("a", "")), ("b.yaml", workspace("b", ""))]);
    pass(30).await;
    world.commit(&[("a.yaml", with_backups("a", "")), ("b.yaml", workspace("b", ""))]);
    world.until_told(1, "sync", "error").await;
    let words = "changed again by 00000000 before all of it converged";
    assert_eq!(world.told(1, "sync").1, words);
    world.until_told(2, "sync", "success").await;
    assert_eq!(world.told(2, "sync").1, "1 object as declared");
    assert_eq!(world.told(1, "sync").0, ["pending", "error"]);
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_removes_an_object_has_converged_when_it_is_done_with() {
    let world = World::new(Host::Bitbucket).await;
    let files = [("a.yaml", workspace("a", "")), ("b.yaml", workspace("b", ""))];
    world.commit(&files);
    let key = |context: &str| {
        use sha2::{Digest as _, Sha256};
        hex::encode(Sha256::digest(context))[..40].to_owned()
    };
    let stands = || world.host.stands(&key("levelset/prod/sync"));
    let successes = || {
        world.host.with(|state| state.taken.iter().filter(|it| it.state == "SUCCESSFUL").count())
    };
    world.stage.until(async || successes() == 2, LONG).await;
    world.commit(&files[..1]);
    world.stage.until(async || successes() == 4, LONG).await;
    assert_eq!(stands().unwrap().1, "it touches no object");
}

#[tokio::test(start_paused = true)]
async fn a_host_in_any_trouble_does_not_delay_the_cloud() {
    let mut took = Vec::new();
    for weather in [
        Weather::Fine,
        Weather::Down,
        Weather::Slow,
        Weather::Answers(500, Vec::new()),
        Weather::Answers(403, vec![("retry-after", "3600".to_owned())]),
        Weather::Answers(401, Vec::new()),
    ] {
        let world = World::new(Host::GitHub).await;
        world.host.weather(weather);
        world.commit(&[("a.yaml", workspace("a", ""))]);
        took.push(world.stage.ready(&Key::workspace("a"), LONG).await);
    }
    assert!(took.iter().all(|it| *it == took[0]), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_is_not_applied_has_failed_until_a_later_one_is() {
    let refused = |commit: u32| RefusedRevision {
        revision: Revision::new(format!("{commit:040}")),
        code: "RevisionUnverified".to_owned(),
        cause: "it is not signed".to_owned(),
        message: "why".to_owned(),
    };
    let mut world = World::new(Host::GitHub).await;
    world.stage.refuse(Some(refused(7)));
    world.until_told(7, "sync", "failure").await;
    world.stage.refuse(None);
    world.commit(&[("a.yaml", workspace("a", ""))]);
    world.until_told(1, "sync", "success").await;
    for commit in [8, 9] {
        world.stage.refuse(Some(refused(commit)));
        world.until_told(commit, "sync", "failure").await;
    }
    world.restart().await;
    pass(3600).await;
    let failed = (owned(&["failure"]), "not applied: it is not signed".to_owned());
    for commit in [8, 9] {
        assert_eq!(world.told(commit, "sync"), failed, "it is told once");
        assert_eq!(world.told(commit, "validate").0, owned(&[]));
    }
    assert_eq!(world.told(1, "sync").0.last().map(String::as_str), Some("success"));
}
