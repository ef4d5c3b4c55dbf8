//! What runs beside an agent in virtual time to tell others: a courier to a peer, and what it carries.

use std::sync::Arc;
use std::time::Duration;

use levelset::cli::alerts::{self, Sink};
use levelset::forge::courier::{Courier, Ports, Tally};
use levelset::forge::peer::Peer;
use levelset::model::Call;
use levelset::status::Store as _;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::agent::stage::{Stage, scope, workspace};

/// A database is made in 5 to 10 minutes, and then backed up.
pub(super) const LONG: Duration = Duration::from_secs(3600);

/// Tasks that may be ended and started anew on what the store has.
#[derive(Default)]
pub(super) struct Beside {
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Beside {
    /// Starts a task that ends with the others.
    pub(super) fn start<T: Future<Output = ()> + Send + 'static>(
        &self,
        run: impl FnOnce(CancellationToken) -> T,
    ) {
        self.tasks.spawn(run(self.stop.clone()));
    }

    /// Carries what the store of a stage has to a peer; returns what wakes whoever carries.
    pub(super) fn carry(&self, stage: &Stage, peer: Arc<dyn Peer>) -> Arc<Notify> {
        let (engine, news) = (&stage.engine, Arc::new(Notify::new()));
        let ports = Ports {
            peer,
            outbox: stage.store.clone(),
            fence: engine.fence.clone(),
            clock: engine.clock.clone(),
            news: news.clone(),
            tally: Arc::new(Uncounted),
        };
        self.start(|stop| Courier::new(ports, StdRng::seed_from_u64(7)).run(stop));
        news
    }

    /// Tells a sink, through its peer, what a person should know of the objects of a stage.
    pub(super) fn alert(&self, stage: &Stage, peer: Arc<dyn Peer>, sink: Sink) {
        let ports = alerts::Ports {
            alerts: stage.alerts.clone(),
            outbox: stage.store.clone(),
            fence: stage.engine.fence.clone(),
            clock: stage.engine.clock.clone(),
            news: vec![self.carry(stage, peer)],
        };
        self.start(|stop| alerts::Telling::new(ports, "prod".to_owned(), vec![sink]).run(stop));
    }

    /// Ends all of it, and forgets of the alerts what the store does not have.
    pub(super) async fn end(&mut self, stage: &Stage) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        *self = Self::default();
        let records = stage.store.all().await.unwrap();
        stage.alerts.restore(&*stage.store, &records).await.unwrap();
    }
}

struct Uncounted;

impl Tally for Uncounted {
    fn carried(&self, _: &'static str) {}

    fn owed(&self, _: usize) {}
}

/// Returns the manifest of a database that keeps its backups for 14 days.
pub(super) fn database(policy: &str) -> String {
    let class = "sizeClass: db.r6g.large";
    workspace("a", policy).replace(class, &format!("{class}, backups: {{retentionDays: 14}}"))
}

/// Changes for how long in the console, as soon as AWS lets anybody.
pub(super) async fn change(stage: &Stage, days: i64) {
    let call = Call::new("rds", "ModifyDBInstance")
        .with("DBInstanceIdentifier", "a")
        .with("BackupRetentionPeriod", days)
        .with("ApplyImmediately", true);
    let console = stage.sandbox.door("console");
    stage.until(async || console.ask(&scope(), &call).is_ok(), LONG).await;
}

pub(super) async fn pass(seconds: u64) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
}
