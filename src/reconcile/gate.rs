//! What stands before a mutating call of a pass: the recorded intent, that Git still does not declare
//! what is taken away, and the right to write.
//!
//! Invariant: the right to write is proven last, when nothing is waited for any more; so it lasts
//! until the call has ended.

use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::engine::Engine;
use super::freshness::Freshness;
use crate::apply::{Gate, GateFuture};
use crate::desired::Snapshot;
use crate::kinds;
use crate::model::plan::Action;
use crate::model::policy::DeletionPolicy;
use crate::model::{Call, CallError, ErrorClass, Key, Step};
use crate::plan::CREATE_GRACE;
use crate::plan::handle::Receipts;
use crate::status::{Intent, StoreError};

/// The longest that one call may take; the right to write has to last that long.
const CALL_LIMIT: Duration = Duration::from_secs(60);

/// Guards the calls of one pass.
pub(super) struct PassGate<'a> {
    engine: &'a Engine,
    key: &'a Key,
    /// What the pass knows of Git.
    snapshot: &'a Snapshot,
    /// What Git says about the deletion of what is made.
    deletion: DeletionPolicy,
    /// What answers said of requests that AWS carries out later.
    receipts: Mutex<Receipts>,
}

impl<'a> PassGate<'a> {
    pub(super) fn new(engine: &'a Engine, key: &'a Key, snapshot: &'a Snapshot) -> Self {
        let entry = snapshot.get(key);
        let deletion = entry.map(|entry| entry.object.policy().deletion).unwrap_or_default();
        Self { engine, key, snapshot, deletion, receipts: Mutex::default() }
    }

    /// Returns what answers said of requests.
    pub(super) fn receipts(self) -> Receipts {
        self.receipts.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep_receipt(&self, step: &Step, answer: &Value) {
        let kind = kinds::find(&step.resource.kind).and_then(|kind| kind.singly());
        if let Some(receipt) = kind.and_then(|kind| kind.receipt(answer)) {
            let mut receipts = self.receipts.lock().unwrap_or_else(PoisonError::into_inner);
            receipts.insert(step.resource.clone(), receipt);
        }
    }

    async fn permit(&self, step: &Step, call: &Call) -> Result<(), String> {
        if self.engine.stopping.is_cancelled() {
            return Err("the agent is stopping".to_owned());
        }
        if self.engine.is_amnesic.load(Ordering::Relaxed) {
            return Err("the last pass could not be recorded".to_owned());
        }
        if let Some((Freshness::Stopped, why)) =
            self.engine.staleness(&self.engine.desired.snapshot())
        {
            return Err(why);
        }
        if step.action == Action::Create {
            self.intend(step, call).await?;
        }
        if step.is_farewell() && !self.is_unchanged() {
            return Err("Git changed while the pass was under way".to_owned());
        }
        // Last, because everything before it takes time.
        self.engine.fence.check(CALL_LIMIT).map(drop).map_err(|lost| lost.to_string())
    }

    async fn intend(&self, step: &Step, call: &Call) -> Result<(), String> {
        // One at a time: two objects that share a resource may find it absent together.
        let _turn = self.engine.creating.lock().await;
        self.refuse_second_creator(step).await?;
        let unrecorded = |error| format!("the intent could not be recorded: {error}");
        let intent = Intent {
            key: self.key.clone(),
            resource: step.resource.clone(),
            operation: operation(step, call),
            deletion: self.deletion,
            at: self.engine.clock.now(),
        };
        let token = self.engine.token().map_err(unrecorded)?;
        self.engine.store.intend(&intent, token).await.map_err(unrecorded)
    }

    /// Tells whether what a removal rests on still holds: a manifest may have been put back since.
    fn is_unchanged(&self) -> bool {
        let basis = |snapshot: &Snapshot| {
            let generation = snapshot.get(self.key).map(|entry| entry.generation);
            let is_removed = snapshot.removed(self.key).is_some();
            (generation, is_removed, snapshot.unsure, snapshot.frozen.is_some())
        };
        basis(self.snapshot) == basis(&self.engine.desired.snapshot())
    }

    /// A resource that several objects share is made by one of them.
    async fn refuse_second_creator(&self, step: &Step) -> Result<(), String> {
        let intents = self.engine.store.intents_for(&step.resource).await;
        let intents = intents.map_err(|error| format!("the intents could not be read: {error}"))?;
        let now = self.engine.clock.now();
        let is_rival = |intent: &&Intent| {
            intent.key != *self.key && now.duration_since(intent.at) < CREATE_GRACE
        };
        match intents.iter().find(is_rival) {
            Some(rival) => Err(format!("{} is making {}", rival.key, step.resource)),
            None => Ok(()),
        }
    }

    /// Any call but one that certainly did nothing makes what was read stale. The intent of a
    /// create stays until its resource has been read, unless the create certainly did nothing.
    async fn note(&self, step: &Step, error: Option<&CallError>) {
        if error.is_none_or(|error| may_have_applied(error.class)) {
            self.engine.observer.written(&step.resource);
        } else if step.action == Action::Create
            && let Err(error) = self.resolve(step).await
        {
            tracing::warn!(resource = %step.resource, %error, "an intent could not be resolved");
        }
    }

    async fn resolve(&self, step: &Step) -> Result<(), StoreError> {
        self.engine.store.resolve(self.key, &step.resource, self.engine.token()?).await
    }
}

impl Gate for PassGate<'_> {
    fn enter<'a>(&'a self, step: &'a Step, call: &'a Call) -> GateFuture<'a, Result<(), String>> {
        Box::pin(self.permit(step, call))
    }

    fn leave<'a>(
        &'a self,
        step: &'a Step,
        _call: &'a Call,
        answer: &'a Result<Value, CallError>,
    ) -> GateFuture<'a, ()> {
        if let Ok(answer) = answer {
            self.keep_receipt(step, answer);
        }
        Box::pin(self.note(step, answer.as_ref().err()))
    }
}

/// Names the operation, and after a space the client token, by which its repetition is known.
fn operation(step: &Step, call: &Call) -> String {
    let kind = kinds::find(&step.resource.kind);
    let token = kind.and_then(|kind| call.text(kind.client_token()?));
    match token {
        Some(token) => format!("{} {token}", call.operation),
        None => call.operation.to_string(),
    }
}

fn may_have_applied(class: ErrorClass) -> bool {
    match class {
        ErrorClass::Ambiguous
        | ErrorClass::AlreadyExists
        | ErrorClass::NotReady
        | ErrorClass::NotFound => true,
        ErrorClass::Throttled
        | ErrorClass::Denied
        | ErrorClass::Invalid
        | ErrorClass::Transient => false,
    }
}
