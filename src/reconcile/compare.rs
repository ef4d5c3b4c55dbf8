//! Compares a resource that exists with what is declared of it.
//!
//! In: what a list shows of the resource. Out: how the two differ. What no list shows is read in some
//! looks only; a difference counts only when everything was read for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::SignedDuration;

use crate::diff::diff;
use crate::model::{Bound, Diff, Doubt, Kind, Observed, Readiness};
use crate::observe::Observer;
use crate::plan::Present;

/// Says how a resource is compared.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    /// The fields of AWS that are left out.
    pub(super) ignore: &'a [String],
    /// True while it is not settled whose the resource is.
    pub(super) is_open: bool,
    /// How often it is looked at.
    pub(super) interval: SignedDuration,
}

/// Compares a resource that exists in what is known of the values it should have; with what was read of
/// it some looks ago, where that shows no difference.
pub(super) async fn compare(
    observer: &Observer,
    kind: &'static dyn Kind,
    bound: Bound,
    listed: Arc<Observed>,
    terms: Terms<'_>,
) -> Result<Present, Doubt> {
    let readiness = kind.readiness(&listed);
    if matches!(readiness, Readiness::Waiting { .. } | Readiness::Broken { .. }) {
        let (diff, unresolved) = (Diff::default(), BTreeMap::new());
        return Ok(Present { bound, actual: listed, readiness, diff, unresolved });
    }
    if let Some(shared) = observer.shared(kind, &bound, &listed, terms.interval)
        && !terms.is_open
    {
        let present = examine(kind, bound.clone(), shared, terms.ignore);
        if present.diff.is_settled() {
            return Ok(present);
        }
    }
    let present = read(observer, kind, bound, listed.clone(), terms).await?;
    if present.diff.is_settled() && !Arc::ptr_eq(&listed, &present.actual) {
        observer.share(kind, &present.bound.id, &listed, &present.actual);
    }
    Ok(present)
}

/// Compares a resource in everything that AWS has to be asked for.
async fn read(
    observer: &Observer,
    kind: &'static dyn Kind,
    bound: Bound,
    listed: Arc<Observed>,
    terms: Terms<'_>,
) -> Result<Present, Doubt> {
    let mut actual = observer.details(kind, &bound, listed).await?;
    // Whether it is to be taken over, its tags say.
    if bound.declared("tags").is_some() || bound.adopt {
        actual = observer.tags(kind, &bound.id, actual).await?;
    }
    let mut present = examine(kind, bound, actual, terms.ignore);
    let is_level = present.diff.deltas.is_empty() && present.diff.refusals.is_empty();
    if terms.is_open || !is_level {
        let id = &present.bound.id;
        present.actual = observer.tags(kind, id, present.actual).await?;
    }
    Ok(present)
}

/// Compares a resource with what was read of it; what was read more may say more of its state.
fn examine(
    kind: &'static dyn Kind,
    bound: Bound,
    actual: Arc<Observed>,
    ignore: &[String],
) -> Present {
    let readiness = kind.readiness(&actual);
    let mut diff = diff(kind.rules(), &bound, &actual, &readiness, ignore);
    let objections = kind.objections(&bound, &actual);
    if !objections.is_empty() {
        diff.deltas.clear();
        diff.refusals.extend(objections);
    }
    Present { bound, actual, readiness, diff, unresolved: BTreeMap::new() }
}
