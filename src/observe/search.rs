//! Looks through everything of a kind, for what uses something.

use super::Observer;
use crate::model::{Doubt, Kind, Observation, Observed, ResourceId, Scope};

impl Observer {
    /// Finds a resource of a kind in a scope that passes a test; the shared list is looked through
    /// where that is fresh enough, and what was written since is read again.
    ///
    /// # Errors
    ///
    /// The doubt that makes the list, or something in it, unknown.
    pub async fn find(
        &self,
        kind: &dyn Kind,
        scope: &Scope,
        test: impl Fn(&Observed) -> bool + Send,
    ) -> Result<Option<ResourceId>, Doubt> {
        let id = |name| ResourceId { kind: kind.name(), scope: scope.clone(), name };
        let slot = self.slot(scope, &kind.name());
        let mut listing = slot.listing.lock().await;
        self.refresh(kind, scope, &slot, &mut listing).await;
        for name in slot.writes() {
            let seen = self.look(kind, &id(name), &slot, &mut listing).await;
            if let Observation::Unknown(doubt) = seen {
                return Err(doubt);
            }
        }
        let Some(listing) = listing.as_ref() else {
            return Err(Doubt::Failed("nothing was read".to_owned()));
        };
        let resources = listing.resources.as_ref().map_err(Clone::clone)?;
        let found = resources.iter().find(|(_, item)| test(&item.observed));
        Ok(found.map(|(name, _)| id(name.clone())))
    }
}
