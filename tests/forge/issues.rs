//! The issue about an object that only a person sets right: the whole agent, in virtual time.

use std::sync::Arc;

use levelset::aws::Budgets;
use levelset::cli::alerts::Sink;
use levelset::forge::peer::{GitHost, Marks};
use levelset::model::Key;
use levelset::model::outbox::{Outbox, Topic};
use levelset::model::webhook::Host;
use levelset::sandbox::Settings;

use super::beside::{Beside, LONG, change, database, pass};
use super::host::{DAY, FakeHost, Issue};
use crate::agent::stage::{Stage, workspace};

/// An agent, and a host that has its issues.
struct World {
    stage: Stage,
    kind: Host,
    host: Arc<FakeHost>,
    beside: Beside,
}

impl World {
    async fn new(kind: Host) -> Self {
        let stage = Stage::begin(Settings::real(1), Budgets::default()).await;
        let host = FakeHost::new(kind, stage.engine.clock.clone());
        let world = Self { stage, kind, host, beside: Beside::default() };
        world.tell();
        let manifest = database("drift: report, resyncIntervalSeconds: 300");
        world.stage.commit(&[("a.yaml", manifest)]);
        world.stage.ready(&Key::workspace("a"), LONG).await;
        pass(120).await;
        world
    }

    fn tell(&self) {
        let marks = Marks { agent: "prod".to_owned(), link: None };
        let peer = Arc::new(GitHost::new(self.host.api(), marks));
        self.beside.alert(&self.stage, peer, Sink::Issue(self.kind));
    }

    async fn restart(&mut self) {
        self.beside.end(&self.stage).await;
        self.tell();
    }

    /// Changes the database in the console, and waits until the agent has looked.
    async fn change(&self, days: i64) {
        change(&self.stage, days).await;
        pass(900).await;
    }

    fn issues(&self) -> Vec<Issue> {
        self.host.with(|state| state.issues.clone())
    }
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
