//! What the agent knows, as the HTTP server asks for it.
//!
//! In: the snapshot of what Git declares, the store. Out: objects as their manifests have them, with
//! their status, and whether the agent is well.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::desired::Entry;
use crate::manifest::{API_VERSION, Spec};
use crate::model::{Freeze, Key, ObjectKind, Problem};
use crate::reconcile::engine::Engine;
use crate::reconcile::work_queue::WorkQueue;
use crate::server::{Catalog, CatalogError, CatalogFuture, Health, Listed, Page};
use crate::status::Record;

/// A pass that runs for longer is stuck: every call in it ends within a minute.
const LONGEST_PASS: Duration = Duration::from_secs(30 * 60);

/// Answers from the parts of a running agent.
pub(super) struct Known {
    /// What a pass works with.
    pub(super) engine: Arc<Engine>,
    /// The keys that are worked on.
    pub(super) queue: Arc<WorkQueue>,
}

impl Catalog for Known {
    fn list<'a>(&'a self, kind: ObjectKind, page: &'a Page) -> CatalogFuture<'a, Listed> {
        Box::pin(async move {
            let snapshot = self.engine.desired.snapshot();
            let after = page.after.as_deref().unwrap_or_default();
            let begin = Bound::Excluded(Key::new(kind, after));
            let entries = snapshot.objects.range((begin, Bound::Unbounded));
            let mut entries = entries.take_while(|(key, _)| key.kind == kind);
            let mut items = Vec::new();
            for (key, entry) in entries.by_ref().take(page.limit) {
                let record = self.engine.store.get(key).await.map_err(|error| failed(&error))?;
                items.push((key, object(entry, record.as_ref())?));
            }
            let last = items.last().map(|(key, _)| key.name.to_string());
            let next = last.filter(|_| entries.next().is_some());
            Ok(Listed { items: items.into_iter().map(|(_, item)| item).collect(), next })
        })
    }

    fn get<'a>(&'a self, key: &'a Key) -> CatalogFuture<'a, Option<Value>> {
        Box::pin(async move {
            let snapshot = self.engine.desired.snapshot();
            let Some(entry) = snapshot.get(key) else { return Ok(None) };
            let record = self.engine.store.get(key).await.map_err(|error| failed(&error))?;
            object(entry, record.as_ref()).map(Some)
        })
    }

    fn problems(&self) -> Vec<Problem> {
        self.engine.desired.snapshot().problems.values().flatten().cloned().collect()
    }

    fn freezes(&self) -> CatalogFuture<'_, Vec<Freeze>> {
        Box::pin(async { self.engine.store.freezes().await.map_err(|error| failed(&error)) })
    }

    fn health(&self) -> Health {
        let longest = self.queue.read(|queue, now| queue.longest_running(now));
        let stuck = (longest > LONGEST_PASS).then(|| "a pass does not end".to_owned());
        let snapshot = self.engine.desired.snapshot();
        let refused = snapshot.source.refused.as_ref().map(|refused| refused.message.clone());
        let not_ready = match (snapshot.synced, &snapshot.source.trouble) {
            (true, _) => self.engine.staleness(&snapshot).map(|(_, why)| why).or(refused),
            (false, Some((_, message))) => Some(message.clone()),
            (false, None) => {
                refused.or_else(|| Some("the repository has not been read yet".to_owned()))
            }
        };
        Health { stuck, not_ready }
    }
}

/// Puts a manifest together again, its status beside it.
fn object(entry: &Entry, record: Option<&Record>) -> Result<Value, CatalogError> {
    let object = &entry.object;
    let spec = match &object.spec {
        Spec::Workspace(spec) => serde_json::to_value(spec),
        Spec::Network(spec) => serde_json::to_value(spec),
    };
    let spec = spec.map_err(|error| failed(&error))?;
    let annotations: BTreeMap<_, _> = object.annotations.iter().cloned().collect();
    Ok(json!({
        "apiVersion": API_VERSION,
        "kind": object.key.kind,
        "metadata": {
            "name": object.key.name,
            "annotations": annotations,
            "generation": entry.generation,
        },
        "spec": declared(spec),
        "status": record.map(|record| &record.status),
    }))
}

/// Leaves out what the manifest does not declare.
fn declared(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name, declared(value))).collect::<Map<_, _>>())
        }
        other => other,
    }
}

fn failed(error: &dyn std::error::Error) -> CatalogError {
    CatalogError(error.to_string())
}
