//! What stands before a mutating call of a pass: the right to write, and the recorded intent.

use std::sync::Arc;
use std::time::Duration;

use crate::apply::{Gate, GateFuture};
use crate::model::plan::Action;
use crate::model::{Call, CallError, Clock, ErrorClass, Fence, Key, Step};
use crate::observe::Observer;
use crate::status::{Intent, Store};

/// The longest that one call may take; the right to write has to last that long.
const CALL_LIMIT: Duration = Duration::from_secs(60);

/// Guards the calls of one pass.
pub(super) struct PassGate<'a> {
    pub(super) key: &'a Key,
    pub(super) fence: &'a dyn Fence,
    pub(super) store: &'a dyn Store,
    pub(super) observer: &'a Observer,
    pub(super) clock: &'a Arc<dyn Clock>,
}

impl PassGate<'_> {
    async fn permit(&self, step: &Step, call: &Call) -> Result<(), String> {
        self.fence.check(CALL_LIMIT).map_err(|lost| lost.to_string())?;
        if step.action != Action::Create {
            return Ok(());
        }
        let intent = Intent {
            key: self.key.clone(),
            resource: step.resource.clone(),
            operation: call.operation.to_string(),
            at: self.clock.now(),
        };
        let recorded = self.store.intend(&intent).await;
        recorded.map_err(|error| format!("the intent could not be recorded: {error}"))
    }

    /// Any call but one that certainly did nothing makes what was read stale. The intent of a
    /// create stays until its resource has been read, unless the create certainly did nothing.
    async fn note(&self, step: &Step, error: Option<&CallError>) {
        if error.is_none_or(|error| may_have_applied(error.class)) {
            self.observer.written(&step.resource);
        } else if step.action == Action::Create
            && let Err(error) = self.store.resolve(&step.resource).await
        {
            tracing::warn!(resource = %step.resource, %error, "an intent could not be resolved");
        }
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
        error: Option<&'a CallError>,
    ) -> GateFuture<'a, ()> {
        Box::pin(self.note(step, error))
    }
}

fn may_have_applied(class: ErrorClass) -> bool {
    match class {
        ErrorClass::Ambiguous
        | ErrorClass::AlreadyExists
        | ErrorClass::NotReady
        | ErrorClass::NotFound
        | ErrorClass::NoEffect => true,
        ErrorClass::Throttled
        | ErrorClass::Denied
        | ErrorClass::Invalid
        | ErrorClass::Transient => false,
    }
}
