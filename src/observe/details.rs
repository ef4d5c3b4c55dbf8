//! Reads what no list holds of a resource, one resource at a time, and shares it over several looks.
//!
//! In: a resource as its list shows it. Out: the same with its details and tags. AWS has no list of the
//! parameters of many groups, or of the tags of many roles: N resources cost N calls. So what was read of
//! one that was then as declared serves a few looks more
//! ([`LOOKS_SERVED`]).
//!
//! Invariants: what is shared is never acted on: a look that finds a difference in it reads anew. It is
//! given up when the resource is written, and when its list shows it otherwise than it was. It is in
//! memory and may be lost.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use super::{Mark, Observer, doubt, list, lock, tags_of, target};
use crate::model::kind::LOOKS_SERVED;
use crate::model::{Bound, Call, CallError, Cause, Doubt, Kind, Observed, ResourceId};

/// Holds what was read of each resource.
#[derive(Debug, Default)]
pub(super) struct Shared(Mutex<BTreeMap<ResourceId, Reading>>);

#[derive(Debug)]
struct Reading {
    at: Timestamp,
    /// What the list showed then.
    listed: Mark,
    whole: Arc<Observed>,
}

impl Shared {
    pub(super) fn forget(&self, id: &ResourceId) {
        lock(&self.0).remove(id);
    }
}

/// No reading serves for longer, however rarely a resource is looked at.
const LONGEST_SERVED: SignedDuration = SignedDuration::from_mins(30);

impl Observer {
    /// Returns what was read of a resource beyond its list, if that serves one look more of those that
    /// come once in `interval`.
    pub fn shared(
        &self,
        kind: &dyn Kind,
        desired: &Bound,
        listed: &Observed,
        interval: SignedDuration,
    ) -> Option<Arc<Observed>> {
        let readings = lock(&self.shared.0);
        let reading = readings.get(&desired.id)?;
        if desired.declared("tags").is_some() && reading.whole.tags.is_none() {
            return None;
        }
        let age = self.clock.now().duration_since(reading.at);
        // Looks come a little early or late; half of an interval keeps their number.
        let longest = (interval * (2 * LOOKS_SERVED - 1) / 2).min(LONGEST_SERVED);
        let serves = age >= SignedDuration::ZERO && age < longest;
        (serves && reading.listed == self.mark_of(kind, listed)).then(|| reading.whole.clone())
    }

    /// Shares what was read of a resource that is as declared.
    pub fn share(
        &self,
        kind: &dyn Kind,
        id: &ResourceId,
        listed: &Observed,
        whole: &Arc<Observed>,
    ) {
        let (at, whole) = (self.clock.now(), Arc::clone(whole));
        let reading = Reading { at, listed: self.mark_of(kind, listed), whole };
        lock(&self.shared.0).insert(id.clone(), reading);
    }

    /// Adds what a comparison needs beyond the describe answer, such as a group's parameters.
    ///
    /// # Errors
    ///
    /// The doubt that makes the whole resource unknown.
    pub async fn details(
        &self,
        kind: &dyn Kind,
        desired: &Bound,
        actual: Arc<Observed>,
    ) -> Result<Arc<Observed>, Doubt> {
        let calls = kind.details(desired, &actual);
        if calls.is_empty() {
            return Ok(actual);
        }
        self.more(kind, &desired.id, &actual, calls).await
    }

    /// Adds the answers of further reads of one resource to what was observed of it.
    ///
    /// # Errors
    ///
    /// The doubt that leaves it unknown.
    pub async fn more(
        &self,
        kind: &dyn Kind,
        id: &ResourceId,
        actual: &Observed,
        calls: Vec<Call>,
    ) -> Result<Arc<Observed>, Doubt> {
        let target = target(id, Cause::Detail);
        let mut enriched = actual.clone();
        for call in calls {
            let operation = call.operation.clone();
            let answer = match list::follow(&*self.cloud, &target, call).await {
                Ok(answer) => answer,
                Err(error) => nothing(kind, &operation, error)?,
            };
            list::merge(&mut enriched.members, answer);
        }
        Ok(Arc::new(enriched))
    }

    /// Reads the tags of a resource whose describe answer holds none.
    ///
    /// # Errors
    ///
    /// The doubt that leaves the ownership unknown.
    pub async fn tags(
        &self,
        kind: &dyn Kind,
        id: &ResourceId,
        actual: Arc<Observed>,
    ) -> Result<Arc<Observed>, Doubt> {
        if actual.tags.is_some() {
            return Ok(actual);
        }
        let Some(call) = kind.read_tags(&actual) else { return Ok(actual) };
        let target = target(id, Cause::Detail);
        let answer = match self.cloud.call(&target, &call).await {
            Ok(answer) => answer.as_object().cloned().unwrap_or_default(),
            Err(error) => nothing(kind, &call.operation, error)?,
        };
        let mut tagged = (*actual).clone();
        tagged.tags = tags_of(&answer);
        if tagged.tags.is_none() {
            return Err(Doubt::Failed(format!("{call} answered no tags")));
        }
        Ok(Arc::new(tagged))
    }
}

/// Returns what an error says that there is none of.
fn nothing(
    kind: &dyn Kind,
    operation: &str,
    error: CallError,
) -> Result<Map<String, Value>, Doubt> {
    match kind.nothing(operation, &error.code) {
        Some(Value::Object(members)) => Ok(members),
        _ => Err(doubt(error)),
    }
}
