//! What a pass works with, put together from the settings.
//!
//! In: a [`Config`] and the ports. Out: an [`Engine`], the same for the agent and for those who only
//! look.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::Duration;

use jiff::SignedDuration;
use tokio_util::sync::CancellationToken;

use crate::config::Config;
use crate::desired::{Guard, Reader};
use crate::model::fence::Lost;
use crate::model::{Fence, Token};
use crate::reconcile::engine::{Engine, Environment, Jitter, Ports};
use crate::reconcile::freshness::{Confirmation, Patience};
use crate::reconcile::mass_drift::{Bounds, MassDrift};

/// Puts an engine together; `fresh` is how long a list of AWS may be shared.
pub(super) fn engine(
    config: &Config,
    desired: Reader,
    ports: Ports,
    fresh: SignedDuration,
    stopping: CancellationToken,
) -> Engine {
    Engine {
        agent: config.agent_name.value.clone(),
        environments: environments(config),
        custom_types: config.custom_types.value.clone(),
        deletion_grace: grace(config),
        stopping,
        mass_drift: Mutex::new(MassDrift::new(drift_bounds(config))),
        confirmation: Confirmation::new(patience(config)),
        jitter: Jitter::seeded(rand::random()),
        ..Engine::new(ports, desired, fresh)
    }
}

/// The two guards of the fleet have the same bounds.
pub(super) fn guard(config: &Config) -> Guard {
    let guards = &config.guards;
    Guard { max_objects: guards.max_objects.value, max_percent: guards.max_percent.value }
}

fn drift_bounds(config: &Config) -> Bounds {
    let period = config.guards.period.value;
    let period = SignedDuration::try_from(period).unwrap_or(SignedDuration::MAX);
    Bounds { guard: guard(config), period }
}

/// Who follows no repository is never stale.
fn patience(config: &Config) -> Patience {
    config.repository.as_ref().map_or_else(Patience::default, |repository| Patience {
        stale_after: repository.stale_after.value,
        stop_after: repository.stop_writing_after.value,
    })
}

fn grace(config: &Config) -> SignedDuration {
    SignedDuration::try_from(config.guards.deletion_grace.value).unwrap_or(SignedDuration::MAX)
}

fn environments(config: &Config) -> BTreeMap<String, Environment> {
    let environment = |configured: &crate::config::Environment| Environment {
        scope: configured.scope(),
        production: configured.production.value,
    };
    config.environments.iter().map(|(name, it)| (name.clone(), environment(it))).collect()
}

/// The right to write of somebody who only looks: none.
pub(super) struct OnlyLooks;

impl Fence for OnlyLooks {
    fn check(&self, _needed: Duration) -> Result<Token, Lost> {
        Err(Lost("a plan changes nothing".to_owned()))
    }
}
