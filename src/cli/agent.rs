//! The agent, put together: the one place where every room is joined to the others.
//!
//! In: a [`Config`]. Out: an [`Agent`] that holds the right to write and is ready to be given
//! change sets. `run` feeds it from the watcher, `sync` with one reading.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use rand::SeedableRng;
use rand::rngs::StdRng;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::alerts::{self, Alerts, Sink};
use super::annals;
use super::catalog::Known;
use super::clock::system_clock;
use super::cloud::guarded;
use super::engine::{engine, guard};
use super::error::Error;
use super::figures::Figures;
use super::following::Following;
use super::forge::Told;
use super::hooks;
use super::pulls;
use super::repository::Remote;
use super::telling::{self, Heard, Telling};
use crate::aws::Budgets;
use crate::config::Config;
use crate::desired::Cache;
use crate::forge::api::Api;
use crate::forge::courier::{self, Courier};
use crate::forge::peer::{GitHost, Peer};
use crate::lease::{Single, StateDirectory};
use crate::model::listener::Listener as Hearing;
use crate::model::webhook::{Host, Webhooks};
use crate::model::{Cloud, Shard};
use crate::observe::trail::Trail;
use crate::reconcile::engine::{Engine, Ports};
use crate::reconcile::next::Pace;
use crate::reconcile::requests::Requests;
use crate::reconcile::triggers::Triggers;
use crate::reconcile::work_queue::WorkQueue;
use crate::reconcile::worker;
use crate::server::{Hosts, Limits, Listener, Site, router};
use crate::source::{Watched, Watcher};
use crate::status::metrics::Metrics;
use crate::status::{Sqlite, Store};

/// How long a list of AWS may be shared by the passes that need it.
pub(super) const FRESH: SignedDuration = SignedDuration::from_secs(5);

/// The longest that a stop waits for passes that are under way.
const PATIENCE: Duration = Duration::from_secs(80);

/// Holds an agent that has not begun to work.
pub(super) struct Agent {
    /// What a pass works with.
    pub(super) engine: Arc<Engine>,
    /// The keys that are to be worked on.
    pub(super) queue: Arc<WorkQueue>,
    /// The figures.
    pub(super) metrics: Arc<Metrics>,
    /// Set when the agent stops.
    pub(super) stop: CancellationToken,
    /// Everything that runs beside.
    pub(super) tasks: TaskTracker,
    store: Sqlite,
    figures: Arc<Figures>,
    heard: Arc<Heard>,
    alerts: Arc<Alerts>,
}

impl Agent {
    /// Takes the right to write and opens the store; connects to nothing. Calls go through `sender`,
    /// within the budgets.
    ///
    /// # Errors
    ///
    /// When another agent holds the state directory, or the store cannot be opened.
    pub(super) async fn open(
        config: &Config,
        sender: Arc<dyn Cloud>,
        budgets: Budgets,
        pace: Pace,
    ) -> Result<(Self, Triggers), Error> {
        let directory =
            StateDirectory::lock(&config.state_directory.value).map_err(Error::State)?;
        let file = StateDirectory::store_file(directory.path());
        let store = Sqlite::open(&file).await.map_err(Error::Store)?;
        let token = store.grant(Shard::default()).await.map_err(Error::Store)?;
        let clock = system_clock();
        let (cache, stop) = (Cache::new(guard(config)), CancellationToken::new());
        let metrics = Arc::new(Metrics::new(env!("CARGO_PKG_VERSION")));
        let (cloud, spending) = guarded(sender, budgets);
        let ports = Ports {
            cloud,
            store: Arc::new(store.clone()),
            fence: Arc::new(Single::new(directory, token)),
            clock: Arc::clone(&clock),
        };
        let (heard, alerts) = (Arc::new(Heard::default()), Arc::new(Alerts::default()));
        let mut engine =
            Engine { pace, ..engine(config, cache.reader(), ports, FRESH, stop.clone()) };
        engine.words = annals::words(config);
        engine.listener = listeners(config, &store, &heard, &alerts).await?;
        if config.cloud_trail.value {
            let (cloud, clock) = (Arc::clone(&engine.cloud), Arc::clone(&clock));
            engine.trail = Some(Arc::new(Trail::new(cloud, clock)));
        }
        let engine = Arc::new(engine);
        let queue = Arc::new(WorkQueue::new(clock));
        let figures = Arc::new(Figures {
            engine: Arc::clone(&engine),
            queue: Arc::clone(&queue),
            metrics: Arc::clone(&metrics),
            spending,
            unwritten: tokio::sync::Mutex::default(),
        });
        figures.restore().await.map_err(Error::Store)?;
        let (engine_, queue_) = (Arc::clone(&engine), Arc::clone(&queue));
        let triggers = Triggers::restore(cache, engine_, queue_, Arc::clone(&metrics))
            .await
            .map_err(Error::Store)?;
        let tasks = TaskTracker::new();
        Ok((Self { engine, queue, metrics, stop, tasks, store, figures, heard, alerts }, triggers))
    }

    /// Makes the task that reads the repository, and the ends that the rest keeps.
    pub(super) fn watcher(&self, remote: Remote) -> (Watcher, Watched) {
        let clock = Arc::clone(&self.engine.clock);
        let rng = StdRng::seed_from_u64(rand::random());
        Watcher::new(remote.location, remote.access, remote.pace, clock, rng)
    }

    /// Starts to follow the repository and what people ask; none of the tasks ends before the agent
    /// stops.
    pub(super) fn follow(
        &self,
        (watcher, watched): (Watcher, Watched),
        triggers: Triggers,
    ) -> Following {
        let (engine, queue) = (Arc::clone(&self.engine), Arc::clone(&self.queue));
        let requests = Requests::new(engine, queue, triggers.confirmations());
        let taking = triggers.run(watched.changes, watched.health, self.stop.clone());
        Following {
            taking: self.tasks.spawn(taking),
            reading: self.tasks.spawn(watcher.run(self.stop.clone())),
            heeding: self.tasks.spawn(requests.run(self.stop.clone())),
        }
    }

    /// Serves health, metrics, the API and webhooks; returns the address, with the port that was
    /// taken.
    ///
    /// # Errors
    ///
    /// When the address cannot be taken.
    pub(super) async fn serve(
        &self,
        address: SocketAddr,
        hosts: Hosts,
        webhooks: Option<Arc<dyn Webhooks>>,
    ) -> Result<SocketAddr, Error> {
        let listener = Listener::bind(address).await.map_err(Error::Serve)?;
        let address = listener.address();
        let known = Known { engine: Arc::clone(&self.engine), queue: Arc::clone(&self.queue) };
        let site = Site {
            catalog: Arc::new(known),
            metrics: (*self.metrics).clone(),
            webhooks,
            version: env!("CARGO_PKG_VERSION"),
            hosts,
        };
        self.tasks.spawn(listener.serve(router(site), self.stop.clone(), Limits::default()));
        Ok(address)
    }

    /// Tells the Git host how commits and pull requests stand; none of the tasks is ever waited for.
    /// Returns what wakes the courier.
    pub(super) fn tell(&self, told: Told, ground: &pulls::Ground) -> Arc<Notify> {
        let (news, outbox) = (Arc::new(Notify::new()), Arc::new(self.store.clone()));
        let ports = telling::Ports {
            desired: self.engine.desired.clone(),
            heard: Arc::clone(&self.heard),
            outbox: outbox.clone(),
            fence: Arc::clone(&self.engine.fence),
            clock: Arc::clone(&self.engine.clock),
            news: Arc::clone(&news),
        };
        let telling = Telling::new(ports, self.engine.agent.clone(), told.branch);
        if let Some(manner) = ground.manner() {
            let ports = self.reviewing(&told.api, told.host, &news, ground);
            self.tasks.spawn(pulls::Following::new(ports, manner).run(self.stop.clone()));
        }
        let ports = courier::Ports {
            peer: Arc::new(GitHost::new(told.api, told.marks)),
            outbox,
            fence: Arc::clone(&self.engine.fence),
            clock: Arc::clone(&self.engine.clock),
            news: Arc::clone(&news),
            tally: Arc::clone(&self.metrics) as Arc<dyn courier::Tally>,
        };
        self.tasks.spawn(telling.run(self.stop.clone()));
        self.carry(ports);
        news
    }

    /// Tells hooks, and issues at the host whose courier `host` wakes, of drift and trouble; none of the
    /// tasks is ever waited for.
    pub(super) fn alert(&self, hooks: Vec<hooks::Named>, host: Option<(Host, Arc<Notify>)>) {
        let (mut sinks, mut all_news) = (Vec::new(), Vec::new());
        for (hook, peer) in hooks {
            sinks.push(Sink::Hook(hook.clone()));
            all_news.push(self.carry_to_hook(hook, peer));
        }
        if let Some((host, news)) = host {
            sinks.push(Sink::Issue(host));
            all_news.push(news);
        }
        if sinks.is_empty() {
            return;
        }
        let ports = alerts::Ports {
            alerts: Arc::clone(&self.alerts),
            outbox: Arc::new(self.store.clone()),
            fence: Arc::clone(&self.engine.fence),
            clock: Arc::clone(&self.engine.clock),
            news: all_news,
        };
        let telling = alerts::Telling::new(ports, self.engine.agent.clone(), sinks);
        self.tasks.spawn(telling.run(self.stop.clone()));
    }

    /// Starts the courier of a hook; returns what wakes it.
    fn carry_to_hook(&self, hook: String, peer: Arc<dyn Peer>) -> Arc<Notify> {
        let (news, metrics) = (Arc::new(Notify::new()), Arc::clone(&self.metrics));
        metrics.hook_known(&hook);
        self.carry(courier::Ports {
            peer,
            outbox: Arc::new(self.store.clone()),
            fence: Arc::clone(&self.engine.fence),
            clock: Arc::clone(&self.engine.clock),
            news: Arc::clone(&news),
            tally: Arc::new(hooks::Counted { metrics, hook }),
        });
        news
    }

    fn carry(&self, ports: courier::Ports) {
        let rng = StdRng::seed_from_u64(rand::random());
        self.tasks.spawn(Courier::new(ports, rng).run(self.stop.clone()));
    }

    /// Returns what pull requests are followed with.
    fn reviewing(
        &self,
        api: &Arc<dyn Api>,
        host: Host,
        news: &Arc<Notify>,
        ground: &pulls::Ground,
    ) -> pulls::Ports {
        pulls::Ports {
            api: Arc::clone(api),
            host,
            outbox: Arc::new(self.store.clone()),
            fence: Arc::clone(&self.engine.fence),
            clock: Arc::clone(&self.engine.clock),
            news: Arc::clone(news),
            agent: Arc::clone(&self.engine),
            looker: ground.looker(&self.engine, &self.stop),
            fetch: ground.fetch(),
            bell: Arc::clone(&ground.bell),
        }
    }

    /// Starts the workers, and keeps the figures.
    pub(super) fn work(&self, workers: u16) {
        self.tasks.spawn(Arc::clone(&self.figures).follow(self.stop.clone()));
        let (engine, queue, metrics) = (&self.engine, &self.queue, &self.metrics);
        worker::start(workers.into(), engine, queue, metrics, &self.stop, &self.tasks);
        if let Some(trail) = &engine.trail {
            self.tasks.spawn(Arc::clone(trail).run(self.stop.clone()));
        }
    }

    /// Ends what is under way, and closes the store; returns whether everything ended in time.
    pub(super) async fn close(self) -> bool {
        self.stop.cancel();
        self.tasks.close();
        let ended = tokio::time::timeout(PATIENCE, self.tasks.wait()).await.is_ok();
        self.figures.close().await;
        self.store.close().await;
        ended
    }
}

/// Joins whoever has to know how passes end, and lets them take over what the store remembers.
async fn listeners(
    config: &Config,
    store: &Sqlite,
    heard: &Arc<Heard>,
    alerts: &Arc<Alerts>,
) -> Result<Arc<dyn Hearing>, Error> {
    let mut all: Vec<Arc<dyn Hearing>> = Vec::new();
    if config.forge.is_none() && config.hooks.is_empty() {
        return Ok(Arc::new(all));
    }
    let records = store.all().await.map_err(Error::Store)?;
    if config.forge.is_some() {
        heard.restore(&records);
        all.push(heard.clone());
    }
    let has_issues = config.forge.as_ref().is_some_and(|forge| forge.issues.value);
    if has_issues || !config.hooks.is_empty() {
        alerts.restore(store, &records).await.map_err(Error::Outbox)?;
        all.push(alerts.clone());
    }
    Ok(Arc::new(all))
}
