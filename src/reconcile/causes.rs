//! Why an object is held though nothing is wrong with itself: a guard of the fleet, or a stale Git.
//!
//! In: the snapshot, a ruling, the age of Git. Out: the causes that its conditions are told with.

use super::engine::Engine;
use super::freshness::Freshness;
use super::mass_drift::MASS_DRIFT;
use crate::desired::Snapshot;
use crate::model::Key;
use crate::plan::Frozen;
use crate::status::build::Cause;

/// The reason of what is declared by an older commit than the newest, which is not signed as it should be.
const UNVERIFIED: &str = "RevisionUnverified";

/// Says that an object vanished together with others, and is kept.
pub(super) fn vanished(snapshot: &Snapshot, key: &Key) -> Option<Cause> {
    let frozen = snapshot.frozen.as_ref().filter(|frozen| frozen.keys.contains(key))?;
    let confirm = format!("`levelset confirm {}` takes exactly these as meant", frozen.digest);
    Some(Cause { reason: frozen.reason.as_str(), message: format!("{}; {confirm}", frozen.told()) })
}

/// Says that drift of an object is held, because too many objects drifted.
pub(super) fn drifted(frozen: &Frozen) -> Cause {
    Cause { reason: MASS_DRIFT, message: frozen.why.clone() }
}

/// Puts what two guards say into one; the reason is the first one's.
pub(super) fn join(one: Option<Cause>, other: Option<Cause>) -> Option<Cause> {
    match (one, other) {
        (Some(one), Some(other)) => {
            Some(Cause { message: format!("{}; {}", one.message, other.message), ..one })
        }
        (one, other) => one.or(other),
    }
}

/// Says that Git has not been confirmed for too long, or that its newest commit is not applied.
pub(super) fn stale(engine: &Engine, snapshot: &Snapshot) -> Option<Cause> {
    let Some((freshness, message)) = engine.staleness(snapshot) else {
        let refused = snapshot.source.refused.as_ref()?;
        return Some(Cause { reason: UNVERIFIED, message: refused.message.clone() });
    };
    let reason = match freshness {
        Freshness::Fresh => return None,
        Freshness::Stale => "Unconfirmed",
        Freshness::Stopped => "WritingStopped",
    };
    Some(Cause { reason, message })
}
