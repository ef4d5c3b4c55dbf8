//! What a resync costs when everything is as declared: time, allocations and memory per object, and
//! how soon a change starts while resyncs queue.
//!
//! `cargo bench --bench resync` prints a table; `-- 10000` takes another number of objects. CPU time
//! is that of the whole process, the least of several rounds: other work on the machine only adds.
#![allow(clippy::print_stdout, clippy::expect_used, reason = "a benchmark prints what it measured")]
#![allow(clippy::cast_precision_loss, reason = "figures are for people")]

mod fleet;
mod measure;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::SignedDuration;
use levelset::desired::{Cache, Reader};
use levelset::kinds;
use levelset::manifest::expand::{Alone, expand};
use levelset::model::Key;
use levelset::queue::Lane;
use levelset::reconcile::engine::Engine;
use levelset::reconcile::pass::pass;
use levelset::reconcile::work_queue::WorkQueue;
use levelset::reconcile::worker;
use levelset::status::{InMemory, Metrics, Sqlite, Store};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use fleet::{Answers, SetClock, engine, key, repository};
use measure::{Cost, Moment, percentile, resident};

#[global_allocator]
static ALLOCATOR: measure::Counting = measure::Counting;

/// The longest resync interval with its spread, so that every object is due.
const ROUND: SignedDuration = SignedDuration::from_secs(331);

/// Longer than the rounds take in virtual time: reading AWS is measured by itself.
const FRESH: SignedDuration = SignedDuration::from_hours(24);

/// How long AWS takes for a list, on the generous side.
const AWS_LATENCY: Duration = Duration::from_millis(100);

/// As many as the agent starts when nothing else is set.
const WORKERS: usize = 4;

const ROUNDS: usize = 5;

/// The disk decides how long these take, so there are fewer of them.
const ON_DISK: usize = 10_000;

fn main() {
    let objects = std::env::args().skip(1).find_map(|word| word.parse().ok()).unwrap_or(100_000);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let answers = Arc::new(Answers::of_sandbox().await);
        println!("{objects} converged workspaces, {} an account\n", fleet::PER_ACCOUNT);
        let before = Moment::now();
        let cache = repository(objects);
        show_kept("what Git declares (file, object, cache)", before.each(objects));
        in_memory(objects, &cache, answers.clone()).await;
        on_disk(objects.min(ON_DISK), cache.reader(), answers).await;
        drop(cache);
    });
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    runtime.expect("a runtime").block_on(changes_among_resyncs());
}

/// What workers need to make passes.
struct Agent {
    engine: Arc<Engine>,
    queue: Arc<WorkQueue>,
    clock: Arc<SetClock>,
    metrics: Arc<Metrics>,
    cloud: Arc<Answers>,
}

impl Agent {
    async fn new(
        objects: usize,
        desired: Reader,
        cloud: Arc<Answers>,
        store: Arc<dyn Store>,
    ) -> Self {
        let clock = SetClock::new();
        let answers = cloud.clone();
        let engine = Arc::new(engine(objects, desired, answers, store, clock.clone(), FRESH).await);
        let queue = Arc::new(WorkQueue::new(clock.clone()));
        Self { engine, queue, clock, metrics: Arc::new(Metrics::new("bench")), cloud }
    }

    /// Returns how many calls were made for the lists of all objects, each of which was read once.
    fn calls(&self) -> f64 {
        self.cloud.calls() as f64
    }

    fn enqueue(&self, objects: usize) {
        (0..objects).for_each(|number| self.queue.add_now(key(number), Lane::Resync));
    }

    /// Lets workers make the passes of so many objects, which are due.
    async fn round(&self, objects: usize, workers: usize) -> Cost {
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let taken = || self.queue.read(|queue, _| queue.counters().resyncs_taken);
        let (end, before) = (taken() + objects as u64, Moment::now());
        worker::start(workers, &self.engine, &self.queue, &self.metrics, &stop, &tasks);
        while taken() < end || self.queue.read(|queue, _| queue.in_flight()) > 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        let cost = before.each(objects);
        stop.cancel();
        tasks.close();
        tasks.wait().await;
        cost
    }

    /// Starts workers that note when they begin with a change.
    fn note_changes(&self, stop: &CancellationToken, tasks: &TaskTracker) -> Started {
        let started = Started::default();
        for _ in 0..WORKERS {
            let (engine, queue) = (self.engine.clone(), self.queue.clone());
            let (stop, started) = (stop.clone(), started.clone());
            tasks.spawn(async move {
                while let Some(taken) = queue.take(&stop).await {
                    if taken.lane == Lane::Change {
                        let now = (taken.key.clone(), Instant::now());
                        started.lock().expect("nobody panics").push(now);
                    }
                    let passed = pass(&engine, &taken.key).await.expect("the store takes it");
                    queue.done(&taken.key, None, passed.next.not_before);
                }
            });
        }
        started
    }
}

/// When each change was begun with.
type Started = Arc<Mutex<Vec<(Key, Instant)>>>;

async fn in_memory(objects: usize, cache: &Cache, answers: Arc<Answers>) {
    let agent = Agent::new(objects, cache.reader(), answers, Arc::new(InMemory::new())).await;
    let before = Moment::now();
    agent.enqueue(objects);
    show_kept("queue", before.each(objects));
    println!("  {:<42}{:9.0} MiB", "resident with both", resident());
    let before = Moment::now();
    read_lists(&agent.engine, objects).await;
    let read = before.each(objects);
    show_kept("what AWS answered, while it is fresh", read);
    let first = agent.round(objects, 1).await;
    show_kept("record (on the disk, with SQLite)", first);
    println!();
    show("reading an object's share of the lists", read);
    show("first pass", first);
    agent.clock.advance(ROUND);
    let whole = agent.round(objects, 1).await;
    show("converged pass, the whole way", whole);
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        agent.clock.advance(ROUND);
        rounds.push(agent.round(objects, 1).await);
    }
    let best = rounds.into_iter().min_by(|one, other| one.cpu.total_cmp(&other.cpu));
    let best = best.expect("there are rounds");
    show("converged pass, at rest", best);
    println!("  {:<42}{:9.0}", "passes a second and core, at rest", 1.0 / best.cpu);
    show_kept("what a pass at rest compares with", whole);
    println!("  {:<42}{:9.0}", "calls per 1,000 objects", agent.calls() * 1e3 / objects as f64);
}

/// Reads every list of every account, without a pass.
async fn read_lists(engine: &Engine, objects: usize) {
    let snapshot = engine.desired.snapshot();
    for number in (0..objects).step_by(fleet::PER_ACCOUNT) {
        let object = &snapshot.get(&key(number)).expect("it is declared").object;
        let place = engine.place(object).expect("its environment is configured");
        for resource in expand(object, &place, &Alone) {
            let kind = kinds::find(&resource.id.kind).expect("a kind that is compiled in");
            let _ = engine.observer.observe(kind, &resource.id).await;
        }
    }
}

/// With the store that the agent has, whose every write waits for the disk.
async fn on_disk(objects: usize, desired: Reader, answers: Arc<Answers>) {
    let folder = tempfile::tempdir().expect("a folder for the store");
    let store = Sqlite::open(&folder.path().join("levelset.db")).await.expect("a new store");
    let agent = Agent::new(objects, desired, answers, Arc::new(store)).await;
    agent.enqueue(objects);
    let first = agent.round(objects, WORKERS).await;
    show("first pass, store on disk", first);
    agent.clock.advance(ROUND);
    let whole = agent.round(objects, WORKERS).await;
    show("converged pass, the whole way", whole);
    agent.clock.advance(ROUND);
    let cost = agent.round(objects, WORKERS).await;
    show("converged pass, at rest, store on disk", cost);
    println!("  {:<42}{:9.0}", "passes a second, four workers, at rest", 1.0 / cost.wall);
}

/// Ten thousand resyncs are due; changes come in while they are worked on.
async fn changes_among_resyncs() {
    const RESYNCS: usize = 10_000;
    const CHANGES: usize = 500;
    let answers = Arc::new(Answers::of_sandbox().await.after(AWS_LATENCY));
    let folder = tempfile::tempdir().expect("a folder for the store");
    let store = Sqlite::open(&folder.path().join("levelset.db")).await.expect("a new store");
    let cache = repository(RESYNCS + CHANGES);
    let agent = Agent::new(RESYNCS + CHANGES, cache.reader(), answers, Arc::new(store)).await;
    agent.enqueue(RESYNCS);
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let started = agent.note_changes(&stop, &tasks);
    let mut added = BTreeMap::new();
    for number in RESYNCS..RESYNCS + CHANGES {
        tokio::time::sleep(Duration::from_millis(5)).await;
        added.insert(key(number), Instant::now());
        agent.queue.add_now(key(number), Lane::Change);
    }
    let left = agent.queue.read(|queue, _| queue.depth());
    while agent.queue.read(|queue, _| queue.counters().changes_taken) < CHANGES as u64 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    stop.cancel();
    tasks.close();
    tasks.wait().await;
    let started = started.lock().expect("nobody panics");
    show_waits(started.iter().map(|(key, at)| millis(*at - added[key])).collect(), left);
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn show_waits(mut waits: Vec<f64>, left: usize) {
    waits.sort_by(f64::total_cmp);
    println!(
        "\n{} changes among 10000 resyncs that are due ({left} left), {WORKERS} workers, a list in \
         {AWS_LATENCY:?}",
        waits.len()
    );
    for (name, share) in [("median", 0.5), ("99th percentile", 0.99), ("longest", 1.0)] {
        println!("  wait of a change, {name:<24}{:9.1} ms", percentile(&waits, share));
    }
}

fn show_kept(what: &str, cost: Cost) {
    println!("  {what:<42}{:9.0} bytes", cost.kept);
}

fn show(what: &str, cost: Cost) {
    println!(
        "  {what:<42}{:9.1} µs CPU {:9.1} µs {:7.0} allocations {:9.0} bytes",
        cost.cpu * 1e6,
        cost.wall * 1e6,
        cost.allocations,
        cost.allocated
    );
}
