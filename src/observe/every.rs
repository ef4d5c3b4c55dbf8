//! Reads everything of a kind: what somebody wants to know who does not know what there is.
//!
//! In: a kind and a scope. Out: every resource by its name, from the same lists as a look at one. What
//! AWS lists by what it is in costs one list for each container.

use std::sync::Arc;

use super::within::Sought;
use super::{Observer, Slot};
use crate::model::within::Within;
use crate::model::{Doubt, Kind, Observed, ResourceId, Scope};

/// Is a resource that exists.
pub type Seen = (ResourceId, Arc<Observed>);

impl Observer {
    /// Lists every resource of a kind in a scope, in the order of their names.
    ///
    /// # Errors
    ///
    /// The doubt that makes a list unknown.
    pub async fn every(&self, kind: &dyn Kind, scope: &Scope) -> Result<Vec<Seen>, Doubt> {
        let slot = self.slot(scope, &kind.name());
        if let Some(within) = kind.within() {
            return self.every_within(kind, within, scope, &slot).await;
        }
        let mut listing = slot.listing.lock().await;
        self.refresh(kind, scope, &slot, &mut listing).await;
        let Some(listing) = listing.as_ref() else {
            return Err(Doubt::Failed("nothing was read".to_owned()));
        };
        let resources = listing.resources.as_ref().map_err(Clone::clone)?;
        let id = |name: &Arc<str>| ResourceId {
            kind: kind.name(),
            scope: scope.clone(),
            name: Arc::clone(name),
        };
        Ok(resources.iter().map(|(name, item)| (id(name), item.observed.clone())).collect())
    }

    async fn every_within(
        &self,
        kind: &dyn Kind,
        within: &dyn Within,
        scope: &Scope,
        slot: &Slot,
    ) -> Result<Vec<Seen>, Doubt> {
        let id = |name: Arc<str>| ResourceId { kind: kind.name(), scope: scope.clone(), name };
        let any = id(Arc::from(""));
        let containers = self.containers(Sought { kind, within, id: &any }, slot).await?;
        let mut found = Vec::new();
        for container in &containers {
            let Some(start) = within.called(container, &containers) else { continue };
            let of = id(start.into());
            let sought = Sought { kind, within, id: &of };
            let all = self.contents(sought, slot).await?;
            found.extend(all.into_iter().map(|(name, observed)| (id(name), observed)));
        }
        Ok(found)
    }
}
