//! What is wanted is carried to the host, whatever the host does: in virtual time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use levelset::forge::api::State;
use levelset::forge::comment;
use levelset::forge::commit::Content;
use levelset::forge::courier::{Courier, Ports, Tally};
use levelset::forge::peer::{GitHost, Marks};
use levelset::model::fence::Lost;
use levelset::model::outbox::{Outbox, Topic, Wanted};
use levelset::model::webhook::Host;
use levelset::model::{Clock, Fence, Revision, Shard, Token};
use levelset::status::{InMemory, Store};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::host::{DAY, FakeHost, Weather};

/// Tells the time of day as tokio's clock moves it.
struct PausedClock {
    since: Instant,
}

impl Clock for PausedClock {
    fn now(&self) -> Timestamp {
        let start = Timestamp::from_second(1_795_910_400).unwrap();
        start + SignedDuration::try_from(self.since.elapsed()).unwrap()
    }
}

struct Held(Token);

impl Fence for Held {
    fn check(&self, _: Duration) -> Result<Token, Lost> {
        Ok(self.0)
    }
}

#[derive(Default)]
struct Counted {
    results: Mutex<Vec<&'static str>>,
    owed: AtomicUsize,
}

impl Tally for Counted {
    fn carried(&self, result: &'static str) {
        self.results.lock().unwrap().push(result);
    }

    fn owed(&self, posts: usize) {
        self.owed.store(posts, Ordering::SeqCst);
    }
}

/// A host, an outbox, and a courier between them that may be stopped and started.
struct World {
    host: Arc<FakeHost>,
    store: Arc<InMemory>,
    token: Token,
    clock: Arc<PausedClock>,
    news: Arc<Notify>,
    tally: Arc<Counted>,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl World {
    async fn new(kind: Host) -> Self {
        let clock = Arc::new(PausedClock { since: Instant::now() });
        let store = Arc::new(InMemory::new());
        let token = store.grant(Shard::default()).await.unwrap();
        let mut world = Self {
            host: FakeHost::new(kind, clock.clone()),
            store,
            token,
            clock,
            news: Arc::default(),
            tally: Arc::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
        };
        world.start();
        world
    }

    fn start(&mut self) {
        let marks = Marks { agent: "prod".to_owned(), link: None };
        let ports = Ports {
            peer: Arc::new(GitHost::new(self.host.api(), marks)),
            outbox: self.store.clone(),
            fence: Arc::new(Held(self.token)),
            clock: self.clock.clone(),
            news: self.news.clone(),
            tally: self.tally.clone(),
        };
        self.stop = CancellationToken::new();
        let courier = Courier::new(ports, StdRng::seed_from_u64(7));
        self.tasks.spawn(courier.run(self.stop.clone()));
    }

    async fn restart(&mut self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks = TaskTracker::new();
        self.start();
    }

    /// Wants a status of the commit of this number.
    async fn want(&self, commit: u32, state: State) {
        let topic = Topic::Status {
            revision: Revision::new(format!("{commit:040x}")),
            context: "levelset/prod/sync".to_owned(),
        };
        let content = Content::new(state, format!("commit {commit}")).to_text();
        self.put(Wanted { topic, content, at: self.clock.now() }).await;
    }

    async fn put(&self, wanted: Wanted) {
        self.store.want(&[wanted], self.token).await.unwrap();
        self.news.notify_one();
    }

    /// Returns the states that a commit has had, in order.
    fn states(&self, commit: u32) -> Vec<String> {
        let revision = format!("{commit:040x}");
        self.host.with(|state| {
            let of = state.taken.iter().filter(|taken| taken.revision == revision);
            of.map(|taken| taken.state.clone()).collect()
        })
    }

    async fn owed(&self) -> usize {
        let posts = self.store.posts().await.unwrap();
        posts.iter().filter(|post| !post.is_settled()).count()
    }

    /// Returns why the host never takes what is wanted of a commit.
    async fn refused(&self) -> Vec<String> {
        let posts = self.store.posts().await.unwrap();
        posts.into_iter().filter_map(|post| post.refused).collect()
    }

    fn is_polite(&self) {
        self.host.with(|state| assert!(state.rude.is_empty(), "{:?}", state.rude));
    }
}

async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn what_is_wanted_arrives_within_a_second_and_is_never_sent_again() {
    for kind in Host::ALL {
        let mut world = World::new(kind).await;
        pass(100).await;
        world.want(1, State::Success).await;
        pass(1).await;
        assert_eq!(world.states(1).len(), 1, "{kind}");
        for _ in 0..24 {
            world.want(1, State::Success).await;
            tokio::time::sleep(DAY / 24).await;
            world.restart().await;
        }
        assert_eq!(world.host.writes(), 1, "{kind}: an unchanged state is not written");
        world.is_polite();
    }
}

#[tokio::test(start_paused = true)]
async fn of_several_states_in_a_moment_the_last_one_is_sent() {
    let world = World::new(Host::GitHub).await;
    pass(10).await;
    for state in [State::Pending, State::Failure, State::Success] {
        world.want(1, state).await;
    }
    pass(60).await;
    assert_eq!(world.states(1), ["success"]);
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_down_for_an_hour_is_asked_seldom_and_has_all_of_it_soon_after() {
    let mut world = World::new(Host::GitHub).await;
    world.host.weather(Weather::Down);
    for minute in 0..60 {
        world.want(minute, State::Success).await;
        pass(60).await;
        if minute == 30 {
            world.restart().await;
        }
    }
    let asked = world.host.writes();
    assert!((12..=48).contains(&asked), "{asked} times in an hour");
    world.host.weather(Weather::Fine);
    pass(300 + 60 + 5).await;
    assert_eq!(world.owed().await, 0);
    assert!((0..60).all(|minute| world.states(minute) == ["success"]));
    world.is_polite();
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_kept_as_the_host_says_and_for_a_minute_or_longer_if_it_does_not() {
    let world = World::new(Host::GitHub).await;
    let after = ("retry-after", "90".to_owned());
    world.host.weather(Weather::Answers(403, vec![after]));
    world.want(1, State::Pending).await;
    pass(5).await;
    world.host.weather(Weather::Fine);
    pass(83).await;
    assert_eq!(world.host.writes(), 1, "nothing before the time that was told");
    pass(5).await;
    assert_eq!(world.states(1), ["pending"]);
    world.host.weather(Weather::Answers(429, Vec::new()));
    world.want(1, State::Success).await;
    pass(59).await;
    assert_eq!(world.host.writes(), 3);
    pass(300).await;
    assert_eq!(world.host.writes(), 5, "after one, and after two minutes more");
    world.host.weather(Weather::Fine);
    pass(600).await;
    assert_eq!(world.states(1), ["pending", "success"]);
    world.is_polite();
}

#[tokio::test(start_paused = true)]
async fn a_primary_rate_limit_is_kept_until_its_reset() {
    let world = World::new(Host::GitHub).await;
    let reset = (world.clock.now().as_second() + 1800).to_string();
    let headers = vec![("x-ratelimit-remaining", "0".to_owned()), ("x-ratelimit-reset", reset)];
    world.host.weather(Weather::Answers(403, headers));
    world.want(1, State::Success).await;
    pass(10).await;
    world.host.weather(Weather::Fine);
    pass(1780).await;
    assert_eq!(world.host.writes(), 1);
    pass(20).await;
    assert_eq!(world.states(1), ["success"]);
}

#[tokio::test(start_paused = true)]
async fn trouble_of_the_host_and_slow_answers_lose_nothing() {
    let world = World::new(Host::GitLab).await;
    for weather in [Weather::Answers(502, Vec::new()), Weather::Slow] {
        world.host.weather(weather);
        world.want(1, State::Pending).await;
        pass(240).await;
        assert!(world.states(1).is_empty());
    }
    world.host.weather(Weather::Fine);
    pass(300).await;
    assert_eq!(world.states(1), ["running"]);
    let results = world.tally.results.lock().unwrap().clone();
    assert!(results[..results.len() - 1].iter().all(|result| *result == "unavailable"));
}

#[tokio::test(start_paused = true)]
async fn credentials_that_end_are_tried_again_ever_more_seldom_until_they_are_good() {
    let world = World::new(Host::Gitea).await;
    world.host.with(|state| "new".clone_into(&mut state.token));
    world.want(1, State::Success).await;
    pass(12 * 3600).await;
    let asked = world.host.writes();
    assert!((12..=20).contains(&asked), "{asked} times in twelve hours");
    world.host.with(|state| "t0ken".clone_into(&mut state.token));
    pass(3600 + 360 + 1).await;
    assert_eq!(world.states(1), ["success"]);
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_the_host_does_not_know_is_given_up_and_holds_nothing_up() {
    for kind in Host::ALL {
        let world = World::new(kind).await;
        world.host.with(|state| state.commits = Some([format!("{:040x}", 2)].into()));
        world.want(1, State::Success).await;
        world.want(2, State::Success).await;
        pass(5).await;
        assert_eq!(world.states(2).len(), 1, "{kind}");
        tokio::time::sleep(DAY).await;
        assert_eq!(world.refused().await.len(), 1, "{kind}");
        let asked = world.host.writes();
        assert!(asked <= 25, "{kind}: {asked}");
        tokio::time::sleep(DAY).await;
        assert_eq!(world.host.writes(), asked, "{kind}: it is not asked again");
    }
}

#[tokio::test(start_paused = true)]
async fn credentials_that_open_the_repository_later_are_enough_for_what_was_missing() {
    let world = World::new(Host::GitHub).await;
    world.host.weather(Weather::Answers(404, Vec::new()));
    world.want(1, State::Success).await;
    pass(4 * 3600).await;
    let asked = world.host.writes();
    assert!((8..=14).contains(&asked), "{asked} times in four hours");
    world.host.weather(Weather::Fine);
    pass(3600).await;
    assert_eq!(world.states(1), ["success"]);
}

#[tokio::test(start_paused = true)]
async fn a_commit_that_is_full_is_given_up_and_others_go_on() {
    let world = World::new(Host::GitHub).await;
    let mut state = [State::Pending, State::Failure].into_iter().cycle();
    for _ in 0..1005 {
        world.want(1, state.next().unwrap()).await;
        pass(12).await;
    }
    assert_eq!(world.states(1).len(), 1000);
    assert!(world.refused().await[0].contains("maximum number of statuses"));
    world.want(2, State::Success).await;
    pass(5).await;
    assert_eq!(world.states(2), ["success"]);
    world.is_polite();
}

#[tokio::test(start_paused = true)]
async fn a_thousand_commits_are_told_at_a_pace_that_no_host_minds() {
    let world = World::new(Host::GitHub).await;
    for commit in 0..1000 {
        world.want(commit, State::Success).await;
    }
    pass(60).await;
    assert!(world.host.writes() >= 55);
    pass(3 * 3600).await;
    assert_eq!(world.owed().await, 0);
    world.is_polite();
}

#[tokio::test(start_paused = true)]
async fn a_comment_is_written_once_edited_in_place_and_written_again_when_somebody_deleted_it() {
    for kind in Host::ALL {
        let mut world = World::new(kind).await;
        let [marker, _] = comment::markers("prod");
        let wanted = |text: &str, world: &World| Wanted {
            topic: Topic::Comment { pull_request: 7 },
            content: format!("{marker}\n{text}"),
            at: world.clock.now(),
        };
        world.host.with(|state| {
            state.comments.push((50, "mallory".to_owned(), format!("{marker} mine")));
        });
        world.put(wanted("one", &world)).await;
        pass(5).await;
        world.restart().await;
        world.put(wanted("two", &world)).await;
        pass(5).await;
        let bodies = |world: &World| world.host.with(|state| state.comments.clone());
        let found = bodies(&world);
        assert_eq!(found.len(), 2, "{kind}");
        assert_eq!(found[1].2, format!("{marker}\ntwo"));
        assert_eq!(found[0].2, format!("{marker} mine"), "another's is left alone");
        world.host.with(|state| state.comments.truncate(1));
        world.put(wanted("three", &world)).await;
        pass(5).await;
        assert_eq!(bodies(&world)[1].2, format!("{marker}\nthree"), "{kind}");
        assert_eq!(world.owed().await, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_comment_is_found_again_when_the_outbox_was_lost() {
    let world = World::new(Host::GitHub).await;
    let text = format!("{}\nold", comment::markers("prod")[0]);
    world.host.with(|state| state.comments.push((50, "levelset-bot".to_owned(), text)));
    let content = format!("{}\nnew", comment::markers("prod")[0]);
    let topic = Topic::Comment { pull_request: 7 };
    world.put(Wanted { topic, content: content.clone(), at: world.clock.now() }).await;
    pass(5).await;
    let expected = vec![(50, "levelset-bot".to_owned(), content)];
    assert_eq!(world.host.with(|state| state.comments.clone()), expected);
}

#[tokio::test(start_paused = true)]
async fn settled_posts_are_forgotten_after_a_month() {
    let world = World::new(Host::GitHub).await;
    world.want(1, State::Success).await;
    tokio::time::sleep(29 * DAY).await;
    assert_eq!(world.store.posts().await.unwrap().len(), 1);
    tokio::time::sleep(2 * DAY).await;
    assert_eq!(world.store.posts().await.unwrap().len(), 0);
}
