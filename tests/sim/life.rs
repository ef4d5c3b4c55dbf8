//! The agent, put together as the program does, from its start to its death.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jiff::SignedDuration;
use levelset::aws::{Asserted, Budgeted};
use levelset::desired::{Cache, Guard};
use levelset::model::tree::{Content, SourceHealth};
use levelset::model::{ChangeSet, Clock, Cloud, Revision};
use levelset::reconcile::annals::Words;
use levelset::reconcile::engine::{Engine, Environment, Jitter, Ports};
use levelset::reconcile::freshness::Confirmation;
use levelset::reconcile::mass_drift::{Bounds, MassDrift};
use levelset::reconcile::requests::Requests;
use levelset::reconcile::triggers::Triggers;
use levelset::reconcile::work_queue::WorkQueue;
use levelset::reconcile::worker;
use levelset::status::metrics::Metrics;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::doors::{AnnalsDoor, CloudDoor, FenceDoor, QueueClock, StoreDoor};
use super::mutant::Mutant;
use super::world::{ACCOUNTS, World, scope};

/// How often the repository is asked.
const POLL: Duration = Duration::from_secs(60);

/// The two ends that a life is fed through; it goes on as long as they are held.
pub(super) struct Feed {
    pub(super) changes: mpsc::Sender<ChangeSet>,
    health: Arc<watch::Sender<SourceHealth>>,
    stop: CancellationToken,
}

impl Feed {
    pub(super) fn deliver(&self, world: &World, change_set: ChangeSet) {
        self.health.send_replace(confirmed(world, change_set.revision.clone()));
        self.changes.try_send(hidden(world.mutant, change_set)).unwrap();
    }

    pub(super) fn is_held(&self) -> bool {
        !self.stop.is_cancelled()
    }
}

fn confirmed(world: &World, revision: Revision) -> SourceHealth {
    let confirmed_at = Some(world.clock.now());
    SourceHealth { revision: Some(revision), confirmed_at, ..SourceHealth::default() }
}

/// Asks the repository once a minute, as the watcher of the agent does.
async fn poll(
    world: Arc<World>,
    health: Arc<watch::Sender<SourceHealth>>,
    stop: CancellationToken,
) {
    while !stop.is_cancelled() {
        tokio::time::sleep(POLL).await;
        let is_cut = world.is_cut.load(Ordering::Relaxed);
        let revision = health.borrow().revision.clone();
        let Some(revision) = revision.filter(|_| !is_cut || world.mutant == Mutant::Deluded) else {
            let trouble = Some(("Unreachable".to_owned(), "it cannot be reached".to_owned()));
            health.send_modify(|health| health.trouble = trouble);
            continue;
        };
        health.send_replace(confirmed(&world, revision));
        if !is_cut {
            world.check(|checker| {
                checker.confirmed_fresh(&world);
                Ok(())
            });
        }
    }
}

fn hidden(mutant: Mutant, mut change_set: ChangeSet) -> ChangeSet {
    for entry in change_set.changed.values_mut() {
        if let Some(text) = mutant.misreads(&entry.content) {
            entry.content = Content::Bytes(text.as_bytes().into());
        }
    }
    let hides = |entry: &levelset::model::Entry| mutant.hides(&entry.content);
    let gone: Vec<_> = change_set.changed.extract_if(.., |_, entry| hides(entry)).collect();
    change_set.removed.extend(gone.into_iter().map(|(path, _)| path));
    change_set
}

fn engine(world: &Arc<World>, cache: &Cache, seed: u64) -> Engine {
    let door = CloudDoor(Arc::clone(world));
    let cloud: Arc<dyn Cloud> = match world.mutant {
        Mutant::Spender => Arc::new(Asserted::new(door)),
        _ => Arc::new(Asserted::new(Budgeted::new(door, world.profile.budgets.clone()))),
    };
    let is_configured =
        |(name, _): &(&str, &str)| world.is_configured(name) || world.mutant == Mutant::Nostalgic;
    let environment = |(name, _): (&str, &str)| {
        let production = name == "production";
        (name.to_owned(), Environment { scope: scope(production), production })
    };
    let clock = Arc::clone(&world.clock);
    let (store, fence) =
        (Arc::new(StoreDoor(Arc::clone(world))), Arc::new(FenceDoor(Arc::clone(world))));
    let ports = Ports { cloud, store, fence, clock };
    Engine {
        environments: ACCOUNTS.into_iter().filter(is_configured).map(environment).collect(),
        deletion_grace: match world.mutant {
            Mutant::Impatient => SignedDuration::ZERO,
            _ => SignedDuration::try_from(world.profile.grace).unwrap(),
        },
        mass_drift: Mutex::new(MassDrift::new(Bounds {
            guard: world.mutant.bounds(world.profile.drift),
            ..Bounds::default()
        })),
        confirmation: Confirmation::new(world.profile.patience),
        jitter: Jitter::seeded(seed),
        words: match world.mutant {
            Mutant::Shortsighted => Words::default(),
            _ => Words::of(Arc::new(AnnalsDoor(Arc::clone(world)))),
        },
        ..Engine::new(ports, cache.reader(), SignedDuration::from_secs(5))
    }
}

/// Starts the agent.
pub(super) fn start(world: &Arc<World>, seed: u64) -> Feed {
    let guard = match world.mutant {
        Mutant::Unguarded => Guard { max_objects: 1000, ..world.profile.guard },
        _ => world.profile.guard,
    };
    let cache = Cache::new(guard);
    let engine = Arc::new(engine(world, &cache, seed));
    let queue = Arc::new(WorkQueue::new(Arc::new(QueueClock(Arc::clone(world)))));
    let metrics = Arc::new(Metrics::new("simulated"));
    let (changes, received) = mpsc::channel(4096);
    let nothing = SourceHealth::default();
    let (health, watched) = watch::channel(nothing);
    let health = Arc::new(health);
    let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
    let (workers, token, spawner) = (world.profile.workers, stop.clone(), tasks.clone());
    tasks.spawn(async move {
        let (engine_, queue_, metrics_) = (engine.clone(), queue.clone(), metrics.clone());
        let triggers = Triggers::restore(cache, engine_, queue_, metrics_).await.unwrap();
        worker::start(workers, &engine, &queue, &metrics, &token, &spawner);
        let requests = Requests::new(engine, queue, triggers.confirmations());
        spawner.spawn(requests.run(token.clone()));
        triggers.run(received, watched, token).await;
    });
    tasks.spawn(poll(Arc::clone(world), Arc::clone(&health), stop.clone()));
    Feed { changes, health, stop }
}
