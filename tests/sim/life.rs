//! The agent, put together as the program does, from its start to its death.

use std::sync::{Arc, Mutex};

use jiff::SignedDuration;
use levelset::aws::{Asserted, Budgeted};
use levelset::desired::{Cache, Guard};
use levelset::model::tree::{Content, SourceHealth};
use levelset::model::{ChangeSet, Cloud};
use levelset::reconcile::engine::{Engine, Environment, Jitter, Ports};
use levelset::reconcile::mass_drift::{Bounds, MassDrift};
use levelset::reconcile::requests::Requests;
use levelset::reconcile::triggers::Triggers;
use levelset::reconcile::work_queue::WorkQueue;
use levelset::reconcile::worker;
use levelset::status::metrics::Metrics;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::doors::{CloudDoor, FenceDoor, QueueClock, StoreDoor};
use super::mutant::Mutant;
use super::world::{ACCOUNTS, World, scope};

/// The two ends that a life is fed through; it goes on as long as they are held.
pub(super) struct Feed {
    pub(super) changes: mpsc::Sender<ChangeSet>,
    health: watch::Sender<SourceHealth>,
    stop: CancellationToken,
}

impl Feed {
    pub(super) fn deliver(&self, world: &World, change_set: ChangeSet) {
        let health = SourceHealth {
            revision: Some(change_set.revision.clone()),
            confirmed_at: Some(levelset::model::Clock::now(&*world.clock)),
            trouble: None,
        };
        self.health.send_replace(health);
        self.changes.try_send(hidden(world.mutant, change_set)).unwrap();
    }

    pub(super) fn is_held(&self) -> bool {
        !self.stop.is_cancelled()
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
        deletion_grace: SignedDuration::from_mins(10),
        // A mass of drift waits for a person, whom the script does not play.
        mass_drift: Mutex::new(MassDrift::new(Bounds {
            guard: Guard { max_objects: usize::MAX, max_percent: 0 },
            ..Bounds::default()
        })),
        jitter: Jitter::seeded(seed),
        ..Engine::new(ports, cache.reader(), SignedDuration::from_secs(5))
    }
}

/// Starts the agent.
pub(super) fn start(world: &Arc<World>, seed: u64) -> Feed {
    let mut guard = world.profile.guard;
    if world.mutant == Mutant::Unguarded {
        guard.max_objects = 1000;
    }
    let cache = Cache::new(guard);
    let engine = Arc::new(engine(world, &cache, seed));
    let queue = Arc::new(WorkQueue::new(Arc::new(QueueClock(Arc::clone(world)))));
    let metrics = Arc::new(Metrics::new("simulated"));
    let (changes, received) = mpsc::channel(4096);
    let nothing = SourceHealth { revision: None, confirmed_at: None, trouble: None };
    let (health, watched) = watch::channel(nothing);
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
    Feed { changes, health, stop }
}
