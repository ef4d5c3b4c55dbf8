//! The issue about an object that only a person sets right: the whole agent, in virtual time.

use std::sync::Arc;
use std::time::Duration;

use levelset::aws::Budgets;
use levelset::cli::alerts::{self, Sink};
use levelset::forge::courier::{self, Courier};
use levelset::forge::peer::{GitHost, Marks};
use levelset::model::outbox::{Outbox, Topic};
use levelset::model::webhook::Host;
use levelset::model::{Call, Key};
use levelset::sandbox::Settings;
use levelset::status::Store as _;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::hooks::Uncounted;
use super::host::{DAY, FakeHost, Issue};
use crate::agent::stage::{Stage, scope, workspace};

const LONG: Duration = Duration::from_secs(3600);

/// An agent, and a host that has its issues.
struct World {
    stage: Stage,
    kind: Host,
    host: Arc<FakeHost>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl World {
    async fn new(kind: Host) -> Self {
        let stage = Stage::begin(Settings::real(1), Budgets::default()).await;
        let host = FakeHost::new(kind, stage.engine.clock.clone());
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let mut world = Self { stage, kind, host, stop, tasks };
        world.tell();
        let policy = "drift: report, resyncIntervalSeconds: 300";
        let class = "sizeClass: db.r6g.large";
        let backups = format!("{class}, backups: {{retentionDays: 14}}");
        world.stage.commit(&[("a.yaml", workspace("a", policy).replace(class, &backups))]);
        world.stage.ready(&Key::workspace("a"), LONG).await;
        pass(120).await;
        world
    }

    fn tell(&mut self) {
        let (engine, news) = (&self.stage.engine, Arc::new(Notify::new()));
        let outbox: Arc<dyn Outbox> = self.stage.store.clone();
        let marks = Marks { agent: "prod".to_owned(), link: None };
        let ports = courier::Ports {
            peer: Arc::new(GitHost::new(self.host.api(), marks)),
            outbox: outbox.clone(),
            fence: engine.fence.clone(),
            clock: engine.clock.clone(),
            news: news.clone(),
            tally: Arc::new(Uncounted),
        };
        let courier = Courier::new(ports, StdRng::seed_from_u64(7));
        let ports = alerts::Ports {
            alerts: self.stage.alerts.clone(),
            outbox,
            fence: engine.fence.clone(),
            clock: engine.clock.clone(),
            news: vec![news],
        };
        let telling = alerts::Telling::new(ports, "prod".to_owned(), vec![Sink::Issue(self.kind)]);
        self.stop = CancellationToken::new();
        self.tasks.spawn(telling.run(self.stop.clone()));
        self.tasks.spawn(courier.run(self.stop.clone()));
    }

    async fn restart(&mut self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks = TaskTracker::new();
        let records = self.stage.store.all().await.unwrap();
        self.stage.alerts.restore(&*self.stage.store, &records).await.unwrap();
        self.tell();
    }

    /// Changes the database in the console, and waits until the agent has looked.
    async fn change(&self, days: i64) {
        let call = Call::new("rds", "ModifyDBInstance")
            .with("DBInstanceIdentifier", "a")
            .with("BackupRetentionPeriod", days)
            .with("ApplyImmediately", true);
        let console = self.stage.sandbox.door("console");
        self.stage.until(async || console.ask(&scope(), &call).is_ok(), LONG).await;
        pass(900).await;
    }

    fn issues(&self) -> Vec<Issue> {
        self.host.with(|state| state.issues.clone())
    }
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

const HOSTS: [Host; 3] = [Host::GitHub, Host::GitLab, Host::Gitea];

#[tokio::test(start_paused = true)]
async fn drift_that_stays_has_one_issue_which_is_edited_closed_and_opened_again() {
    for kind in HOSTS {
        let mut world = World::new(kind).await;
        assert_eq!(world.issues(), [], "{kind}");
        world.change(1).await;
        let [issue] = &world.issues()[..] else { panic!("{kind}: {:#?}", world.issues()) };
        assert_eq!((issue.title.as_str(), issue.is_open), ("Workspace/a: drift", true));
        assert!(issue.body.contains("`backups.retentionDays` | `1` | `14`"), "{}", issue.body);
        let writes = world.host.writes();
        for _ in 0..4 {
            tokio::time::sleep(DAY / 4).await;
            world.restart().await;
        }
        assert_eq!(world.host.writes(), writes, "{kind}: what stands is not written");
        world.change(2).await;
        let issues = world.issues();
        assert!(issues.len() == 1 && issues[0].body.contains("`2` | `14`"), "{kind}: {issues:#?}");
        world.change(14).await;
        assert!(!world.issues()[0].is_open, "{kind}");
        world.change(3).await;
        let issues = world.issues();
        assert!(issues.len() == 1 && issues[0].is_open, "{kind}: {issues:#?}");
        world.host.with(|state| assert!(state.rude.is_empty(), "{:?}", state.rude));
    }
}

#[tokio::test(start_paused = true)]
async fn an_issue_of_ours_is_found_when_the_outbox_was_lost_and_that_of_another_is_left_alone() {
    for kind in HOSTS {
        let world = World::new(kind).await;
        let marker = "<!-- levelset:prod/issue/Workspace/a -->";
        let issue = |number, author: &str| Issue {
            number,
            author: author.to_owned(),
            title: "x".to_owned(),
            body: marker.to_owned(),
            is_open: false,
        };
        let given = vec![issue(7, "mallory"), issue(8, "levelset-bot")];
        world.host.with(|state| state.issues = given.clone());
        world.change(1).await;
        let issues = world.issues();
        assert_eq!((issues.len(), &issues[0]), (2, &given[0]), "{kind}");
        assert!(issues[1].is_open && issues[1].title == "Workspace/a: drift", "{kind}");
        let posts = world.stage.store.posts().await.unwrap();
        let topic = Topic::Issue { object: Key::workspace("a") };
        let post = posts.iter().find(|post| post.wanted.topic == topic).unwrap();
        assert_eq!(post.handle.as_deref(), Some("8"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_issue_that_somebody_deleted_is_made_again_when_there_is_something_new_to_say() {
    let world = World::new(Host::GitHub).await;
    world.change(1).await;
    world.host.with(|state| state.issues.clear());
    pass(3600).await;
    assert_eq!(world.issues(), []);
    world.change(2).await;
    assert_eq!(world.issues().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_leaves_git_takes_its_issue_with_it() {
    let world = World::new(Host::GitHub).await;
    world.change(1).await;
    assert!(world.issues()[0].is_open);
    world.stage.commit(&[("b.yaml", workspace("b", ""))]);
    pass(7200).await;
    assert!(!world.issues()[0].is_open, "{:#?}", world.issues());
}
