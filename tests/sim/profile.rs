//! How a run is set: how many objects and workers there are, how slow everything is, how the guards
//! are set.

use std::time::Duration;

use levelset::aws::{Budget, Budgets};
use levelset::desired::Guard;
use levelset::reconcile::freshness::Patience;
use rand::RngExt;
use rand::rngs::StdRng;

use super::spec::pick;

/// Every so manyth seed has a fleet of [`FLEET`] objects.
const FLEETS: u64 = 40;

/// How many objects such a seed has: a guard counts a share of them, not a number.
const FLEET: usize = 30;

#[derive(Debug, Clone)]
pub(super) struct Profile {
    pub(super) workspaces: usize,
    pub(super) workers: usize,
    /// The longest that a call or a write to the store takes, each way.
    pub(super) latency: Duration,
    pub(super) modifying: Duration,
    pub(super) budgets: Budgets,
    /// The guard on vanishing.
    pub(super) guard: Guard,
    /// The guard on mass drift.
    pub(super) drift: Guard,
    /// How long a deletion waits for the manifest to come back.
    pub(super) grace: Duration,
    /// How long Git may stay unconfirmed.
    pub(super) patience: Patience,
    /// True when nothing inside the agent takes time: changes start at once.
    pub(super) swift: bool,
    pub(super) taken: bool,
}

impl Profile {
    /// As an agent is set that looks after many objects: the defaults.
    pub(super) fn fleet(workspaces: usize) -> Self {
        Self {
            workspaces,
            workers: 8,
            latency: Duration::from_secs(1),
            modifying: Duration::from_secs(360),
            budgets: Budgets::default(),
            guard: Guard::default(),
            drift: Guard::default(),
            grace: Duration::from_secs(3600),
            patience: Patience::default(),
            swift: false,
            taken: true,
        }
    }

    pub(super) fn random(seed: u64, random: &mut StdRng) -> Self {
        let swift = random.random_bool(0.25);
        let latency = match random.random_range(0..3) {
            _ if swift => 0,
            0 => 50,
            1 => 1_000,
            _ => 8_000,
        };
        let stop_after = Duration::from_secs(*pick(random, &[600, 1200]));
        Self {
            workspaces: workspaces(seed, random),
            workers: random.random_range(1..=4),
            latency: Duration::from_millis(latency),
            modifying: Duration::from_secs(*pick(random, &[60, 360, 900])),
            budgets: if !swift && random.random() { tight() } else { Budgets::default() },
            guard: Guard { max_objects: 2, max_percent: 20 },
            drift: Guard { max_objects: *pick(random, &[1, 2, 5]), max_percent: 20 },
            grace: Duration::from_secs(600),
            patience: Patience { stale_after: stop_after / 2, stop_after },
            swift,
            taken: random.random_bool(0.3),
        }
    }
}

fn workspaces(seed: u64, random: &mut StdRng) -> usize {
    match random.random_range(0..10) {
        _ if seed % FLEETS == FLEETS / 2 => FLEET,
        0 => 8,
        _ => random.random_range(3..=5),
    }
}

fn tight() -> Budgets {
    let budget = |burst, per_second, write_reserve| Budget { burst, per_second, write_reserve };
    let mut budgets = Budgets::default();
    budgets.services.insert("rds".to_owned(), budget(30, 1.0, 8));
    budgets.services.insert("ec2".to_owned(), budget(10, 0.5, 2));
    budgets
}
