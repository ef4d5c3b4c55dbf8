//! What is seen to use a resource, whoever declares it, or nobody.
//!
//! In: a resource that may be about to go. Out: one that uses it, from complete lists; a list that
//! cannot be read is doubt, and not "none".

use std::collections::BTreeSet;

use super::engine::Engine;
use crate::kinds;
use crate::model::{Doubt, Kind, Observed, ResourceId, Scope};

/// Finds a resource that uses this one, in every environment that it can be used from.
pub(super) async fn user(
    engine: &Engine,
    kind: &dyn Kind,
    id: &ResourceId,
    actual: &Observed,
) -> Result<Option<ResourceId>, Doubt> {
    let environments = engine.environments.values().map(|environment| &environment.scope);
    let from: BTreeSet<&Scope> =
        environments.filter(|scope| kind.home(scope) == id.scope).collect();
    let may_use = |user: &&&dyn Kind| user.usages().iter().any(|usage| usage.of == id.kind);
    for scope in from {
        for user in kinds::all().iter().filter(may_use) {
            let test = |it: &Observed| uses(*user, it, id, actual);
            let found = engine.observer.find(*user, &user.home(scope), test).await?;
            if found.is_some() {
                return Ok(found);
            }
        }
    }
    Ok(None)
}

/// Tells whether a resource, as it was seen, uses another one.
pub(super) fn uses(kind: &dyn Kind, user: &Observed, used: &ResourceId, actual: &Observed) -> bool {
    let is_of = |usage: &&crate::model::Usage| usage.of == used.kind;
    kind.usages().iter().filter(is_of).any(|usage| usage.is_seen(user, &used.name, actual))
}
