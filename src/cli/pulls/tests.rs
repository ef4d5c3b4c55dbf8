//! Pull requests on a host that lists them, over a real repository and saved answers of AWS.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use jiff::SignedDuration;
use serde_json::Value;

use super::*;
use crate::desired::Cache;
use crate::forge::api::{ApiFuture, Comment, CommitStatus, Edit};
use crate::kinds;
use crate::model::cloud::CallFuture;
use crate::model::fence::Lost;
use crate::model::status::Truth;
use crate::model::tree::{ChangeSet, Content, Entry};
use crate::model::{
    AccountId, Call, Cloud, Condition, Generation, ObjectStatus, Region, Scope, Shard, Target,
    Token,
};
use crate::observe::saved::Saved;
use crate::reconcile::engine::{self, Environment};
use crate::source::testing::World;
use crate::status::{InMemory, Record, Store};

const ANSWERS: &str = include_str!("../../../tests/review/observed.json");

/// Lists what a test has opened; nothing else is asked of it here.
#[derive(Default)]
struct Listed(Mutex<Vec<PullRequest>>, AtomicUsize);

impl Listed {
    /// Opens a pull request, or pushes to it; its branch begins at the tip.
    fn push(&self, world: &World, number: u64, files: &[(&str, Option<&str>)]) {
        let head = world.branch(&format!("refs/pull/{number}/head"), files);
        let request = PullRequest {
            number,
            head: Revision::new(head.to_string()),
            head_branch: format!("change-{number}"),
            base_branch: "main".to_owned(),
            is_fork: false,
            link: format!("https://git.example/pull/{number}"),
        };
        let mut open = self.0.lock().unwrap();
        open.retain(|other| other.number != number);
        open.push(request);
    }
}

impl Api for Listed {
    fn set_status<'a>(&'a self, _: &'a CommitStatus) -> ApiFuture<'a, ()> {
        unreachable!("the courier carries")
    }
    fn pull_requests(&self) -> ApiFuture<'_, Vec<PullRequest>> {
        self.1.fetch_add(1, Ordering::Relaxed);
        let open = self.0.lock().unwrap().clone();
        Box::pin(async move { Ok(open) })
    }
    fn comments(&self, _: u64) -> ApiFuture<'_, Vec<Comment>> {
        unreachable!("the courier carries")
    }
    fn add_comment<'a>(&'a self, _: u64, _: &'a str) -> ApiFuture<'a, String> {
        unreachable!("the courier carries")
    }
    fn edit_comment<'a>(&'a self, _: u64, _: &'a str, _: &'a str) -> ApiFuture<'a, ()> {
        unreachable!("the courier carries")
    }
    fn push<'a>(&'a self, _: &'a Edit) -> ApiFuture<'a, ()> {
        unreachable!("nothing is proposed")
    }
    fn open_pull_request<'a>(&'a self, _: &'a Edit) -> ApiFuture<'a, String> {
        unreachable!("nothing is proposed")
    }
    fn myself(&self) -> ApiFuture<'_, String> {
        unreachable!("the courier carries")
    }
}

/// Answers as the cloud does now, which a test may change.
struct Changing(Mutex<Arc<Saved>>);

impl Changing {
    fn become_as(&self, answers: &str) {
        *self.0.lock().unwrap() = Arc::new(Saved::parse(answers, kinds::all()).unwrap());
    }
}

impl Cloud for Changing {
    fn call<'a>(&'a self, target: &'a Target, call: &'a Call) -> CallFuture<'a> {
        let now = Arc::clone(&self.0.lock().unwrap());
        Box::pin(async move { now.call(target, call).await })
    }
}

struct Steered(Mutex<Timestamp>);

impl Clock for Steered {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

struct Always(Token);

impl Fence for Always {
    fn check(&self, _: Duration) -> Result<Token, Lost> {
        Ok(self.0)
    }
}

fn fetch(world: &World) -> Fetch {
    let heads = world.fetch_heads();
    Box::new(move |names, rebuild| Box::pin(std::future::ready(heads(names, rebuild))))
}

fn manifest(name: &str, days: u32) -> String {
    format!(
        "apiVersion: platform.kby.io/v1alpha1\nkind: Workspace\nmetadata: {{name: {name}}}\nspec:\n  \
         environment: production\n  resources:\n    database:\n      engine: postgres\n      \
         version: \"16\"\n      sizeClass: db.r6g.xlarge\n      backups: {{retentionDays: {days}}}\n"
    )
}

/// A repository, a host and an agent that has read the tip.
struct Scene {
    world: World,
    api: Arc<Listed>,
    outbox: Arc<InMemory>,
    clock: Arc<Steered>,
    cloud: Arc<Changing>,
    cache: Mutex<Cache>,
    following: Following,
}

fn ports(
    cloud: Arc<dyn Cloud>,
    store: &Arc<InMemory>,
    clock: &Arc<Steered>,
    token: Token,
) -> engine::Ports {
    engine::Ports {
        cloud,
        store: store.clone(),
        fence: Arc::new(Always(token)),
        clock: clock.clone(),
    }
}

fn placed(ports: engine::Ports, reader: Reader) -> Engine {
    let scope = Scope { account: AccountId::new("111122223333"), region: Region::new("eu-west-1") };
    let mut engine = Engine::new(ports, reader, SignedDuration::from_hours(1));
    engine.environments.insert("production".to_owned(), Environment { scope, production: true });
    engine
}

impl Scene {
    async fn new() -> Self {
        let (world, api) = (World::new(), Arc::new(Listed::default()));
        world.commit(&[("a.yaml", Some(&manifest("team-search-prod", 7))), ("README", Some("r"))]);
        let clock = Arc::new(Steered(Mutex::new("2026-11-30T12:00:00Z".parse().unwrap())));
        let outbox = Arc::new(InMemory::new());
        let token = outbox.grant(Shard::default()).await.unwrap();
        let cache = Cache::new(Guard::default());
        let answers = Arc::new(Saved::parse(ANSWERS, kinds::all()).unwrap());
        let changing = Arc::new(Changing(Mutex::new(answers)));
        let cloud: Arc<dyn Cloud> = changing.clone();
        let agent = placed(ports(cloud.clone(), &outbox, &clock, token), cache.reader());
        let (store, time) = (outbox.clone(), clock.clone());
        let looker: Looker =
            Box::new(move |reader| placed(ports(cloud.clone(), &store, &time, token), reader));
        let ports = Ports {
            api: api.clone(),
            host: Host::GitHub,
            outbox: outbox.clone(),
            fence: Arc::new(Always(token)),
            clock: clock.clone(),
            news: Arc::default(),
            agent: Arc::new(agent),
            looker,
            fetch: fetch(&world),
            bell: Arc::default(),
        };
        let manner = Manner { branch: "main".to_owned(), guard: Guard::default(), forks: false };
        let following = Following::new(ports, manner);
        let cache = Mutex::new(cache);
        let scene = Self { world, api, outbox, clock, cloud: changing, cache, following };
        scene.agent_reads();
        scene
    }

    /// Lets the agent read the tip.
    fn agent_reads(&self) {
        let tip = self.world.tip("refs/heads/main");
        let files = self.world.files(tip).into_iter().map(|(path, text)| {
            let content = Content::Bytes(text.as_bytes().into());
            (path.as_str().into(), Entry { blob: text.as_str().into(), content })
        });
        let revision = Revision::new(tip.to_string());
        let changes =
            ChangeSet { revision, changed: files.collect(), removed: Vec::new(), full: true };
        let _ = self.cache.lock().unwrap().apply(&changes);
    }

    fn push(&self, number: u64, files: &[(&str, Option<&str>)]) {
        self.api.push(&self.world, number, files);
    }

    fn change(&self, number: u64, how: impl Fn(&mut PullRequest)) {
        let mut open = self.api.0.lock().unwrap();
        open.iter_mut().filter(|request| request.number == number).for_each(how);
    }

    fn close(&self, number: u64) {
        self.api.0.lock().unwrap().retain(|request| request.number != number);
    }

    async fn round(&mut self) {
        self.following.round().await.unwrap();
    }

    fn wait(&self, minutes: i64) {
        let mut now = self.clock.0.lock().unwrap();
        *now += SignedDuration::from_mins(minutes);
    }

    async fn comment(&self, number: u64) -> Option<String> {
        let topic = Topic::Comment { pull_request: number };
        let posts = self.outbox.posts().await.unwrap();
        posts.into_iter().find(|post| post.wanted.topic == topic).map(|it| it.wanted.content)
    }

    async fn title(&self, number: u64) -> String {
        let comment = self.comment(number).await.unwrap();
        comment.lines().find_map(|line| line.strip_prefix("### ")).unwrap().to_owned()
    }

    async fn statuses(&self) -> Vec<Value> {
        let posts = self.outbox.posts().await.unwrap();
        let is_status = |topic: &Topic| matches!(topic, Topic::Status { .. });
        let statuses = posts.into_iter().filter(|post| is_status(&post.wanted.topic));
        statuses.map(|post| serde_json::from_str(&post.wanted.content).unwrap()).collect()
    }

    /// Writes the status of a database as the agent would.
    async fn converge(&self, name: &str, generation: u64) {
        let key = Key::workspace(name);
        let ready = Condition {
            kind: Condition::READY.to_owned(),
            status: Truth::True,
            reason: "Converged".to_owned(),
            message: String::new(),
            last_transition_time: self.clock.now(),
        };
        let status = ObjectStatus {
            observed_generation: Generation(generation),
            conditions: vec![ready],
            ..ObjectStatus::default()
        };
        let record = Record {
            key,
            generation: Generation(generation),
            digest: "-".to_owned(),
            deletion: Default::default(),
            status,
            memory: Default::default(),
        };
        let token = self.following.ports.fence.check(STORE_LIMIT).unwrap();
        self.outbox.put(&record, &[], &[], token).await.unwrap();
    }
}

#[tokio::test]
async fn a_pull_request_gets_a_comment_and_a_status_and_the_same_again_changes_nothing() {
    let mut scene = Scene::new().await;
    scene.push(7, &[("a.yaml", Some(&manifest("team-search-prod", 9)))]);
    scene.round().await;
    assert_eq!(
        scene.title(7).await,
        "✅\u{a0}Safe to merge: changes 1 field; nothing is interrupted"
    );
    assert!(scene.comment(7).await.unwrap().starts_with("<!-- levelset:levelset -->\n"));
    let status = &scene.statuses().await[0];
    assert_eq!(status["state"], "success");
    assert!(status["description"].as_str().unwrap().starts_with("Safe to merge"), "{status}");
    let before = scene.outbox.posts().await.unwrap();
    for _ in 0..5 {
        scene.wait(30);
        scene.round().await;
    }
    assert_eq!(scene.outbox.posts().await.unwrap(), before);
}

#[tokio::test]
async fn a_pull_request_that_concerns_no_manifest_is_left_alone() {
    let mut scene = Scene::new().await;
    scene.push(7, &[("README", Some("more"))]);
    scene.round().await;
    assert_eq!(scene.comment(7).await, None);
    assert!(scene.statuses().await.is_empty());
}

#[tokio::test]
async fn a_forced_push_is_told_at_once_also_when_nothing_is_left_to_say() {
    let mut scene = Scene::new().await;
    scene.push(7, &[("a.yaml", Some(&manifest("team-search-prod", 9)))]);
    scene.round().await;
    scene.push(7, &[("a.yaml", Some("kind: ["))]);
    scene.round().await;
    assert!(scene.title(7).await.starts_with("⛔\u{a0}Not ready to merge: 1 mistake"));
    assert_eq!(scene.statuses().await.len(), 2, "each head has its own");
    scene.push(7, &[("README", Some("more"))]);
    scene.round().await;
    assert_eq!(scene.title(7).await, "✅\u{a0}Safe to merge: nothing changes in AWS");
}

#[tokio::test]
async fn a_conflict_with_the_tip_is_told_when_the_tip_has_moved() {
    let mut scene = Scene::new().await;
    scene.push(7, &[("a.yaml", Some(&manifest("team-search-prod", 9)))]);
    scene.round().await;
    scene.world.commit(&[("a.yaml", Some(&manifest("team-search-prod", 11)))]);
    scene.agent_reads();
    scene.wait(1);
    scene.round().await;
    assert!(scene.title(7).await.contains("Safe to merge"), "not before its time");
    scene.wait(5);
    scene.round().await;
    assert_eq!(scene.title(7).await, "⛔\u{a0}Not ready to merge: conflicts in 1 file");
}

#[tokio::test]
async fn a_fork_is_validated_and_not_compared_with_the_cloud() {
    let mut scene = Scene::new().await;
    scene.push(7, &[("a.yaml", Some(&manifest("team-search-prod", 9)))]);
    scene.change(7, |request| request.is_fork = true);
    scene.round().await;
    assert_eq!(scene.title(7).await, "⚠️\u{a0}Look before you merge: not compared with AWS");
    assert!(scene.comment(7).await.unwrap().contains("it comes from a fork"));
}

#[tokio::test]
async fn a_merge_is_told_until_the_cloud_has_it() {
    let mut scene = Scene::new().await;
    let changed = manifest("team-search-prod", 9);
    scene.push(7, &[("a.yaml", Some(&changed))]);
    scene.round().await;
    // Squashed: the head itself is no part of the tip.
    scene.world.commit(&[("a.yaml", Some(&changed))]);
    scene.close(7);
    scene.round().await;
    assert!(scene.title(7).await.contains("Safe to merge"), "the agent has not read it yet");
    scene.agent_reads();
    scene.round().await;
    assert_eq!(scene.title(7).await, "🕓\u{a0}Merged: 0 objects are as declared so far, of 1");
    scene.converge("team-search-prod", 2).await;
    scene.round().await;
    let done = "✅\u{a0}Merged: everything that it touches is as declared";
    assert_eq!(scene.title(7).await, done);
    scene.converge("team-search-prod", 1).await;
    scene.round().await;
    assert_eq!(scene.title(7).await, done, "it is over");
}

#[tokio::test]
async fn what_is_closed_or_goes_elsewhere_is_told_once() {
    let mut scene = Scene::new().await;
    for number in [7, 8] {
        scene.push(number, &[("a.yaml", Some(&manifest("team-search-prod", 9)))]);
    }
    scene.round().await;
    scene.close(7);
    scene.change(8, |request| request.base_branch = "release".to_owned());
    scene.round().await;
    assert_eq!(scene.title(7).await, "ℹ️\u{a0}Closed without a merge: nothing of it happens");
    assert!(scene.title(8).await.contains("a branch that this agent does not follow"));
    scene.change(8, |request| request.base_branch = "main".to_owned());
    scene.round().await;
    assert!(scene.title(8).await.contains("Safe to merge"), "it came back");
}

#[tokio::test]
async fn drift_that_appears_while_a_pull_request_is_open_is_told_after_a_quarter_of_an_hour() {
    let mut scene = Scene::new().await;
    scene.push(7, &[("a.yaml", Some(&manifest("team-search-prod", 9)))]);
    scene.round().await;
    let before = scene.comment(7).await.unwrap();
    let class = "\"DBInstanceClass\": \"db.r6g.xlarge\"";
    assert!(ANSWERS.contains(class));
    scene.cloud.become_as(&ANSWERS.replace(class, "\"DBInstanceClass\": \"db.r6g.large\""));
    scene.wait(14);
    scene.round().await;
    assert_eq!(scene.comment(7).await.unwrap(), before, "not before its time");
    scene.wait(1);
    scene.round().await;
    let drifted = scene.comment(7).await.unwrap();
    assert!(drifted.contains("db.r6g.large`") && drifted != before, "{drifted}");
    scene.cloud.become_as(ANSWERS);
    scene.wait(15);
    scene.round().await;
    assert_eq!(scene.comment(7).await.unwrap(), before, "and when it is gone");
}

#[tokio::test(start_paused = true)]
async fn a_webhook_leads_to_a_look_at_once_and_a_thousand_of_them_to_few() {
    let Scene { world, api, outbox, following, cache, .. } = Scene::new().await;
    let (bell, stop) = (following.ports.bell.clone(), CancellationToken::new());
    let looks = || api.1.load(Ordering::Relaxed);
    let tasks = tokio_util::task::TaskTracker::new();
    tasks.spawn(following.run(stop.clone()));
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(looks(), 1);
    api.push(&world, 7, &[("a.yaml", Some(&manifest("team-search-prod", 9)))]);
    bell.notify_one();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(looks(), 2, "at once");
    for _ in 0..1000 {
        bell.notify_one();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!((3..=4).contains(&looks()), "{} looks in eleven seconds", looks());
    assert!(!outbox.posts().await.unwrap().is_empty());
    stop.cancel();
    drop(cache);
}
