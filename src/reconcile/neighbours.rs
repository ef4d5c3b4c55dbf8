//! The other objects of the repository, as the expansion of one of them needs to know them.

use std::sync::Arc;

use super::engine::Engine;
use crate::desired::Snapshot;
use crate::kinds::custom::types;
use crate::manifest::Object;
use crate::manifest::expand::{Neighbours, Place, expand};
use crate::model::{Key, ObjectKind, Resource, Scope};

/// Expands an object; types that the settings do not allow are refused.
pub(super) fn resources(
    engine: &Engine,
    snapshot: &Snapshot,
    object: &Object,
    place: &Place,
) -> Vec<Resource> {
    let mut resources = expand(object, place, &Around { engine, snapshot });
    for resource in &mut resources {
        resource.refusals.extend(types::refusal(&resource.id, &engine.custom_types));
    }
    resources
}

/// Is everything that Git declares.
pub(super) struct Around<'a> {
    pub(super) engine: &'a Engine,
    pub(super) snapshot: &'a Snapshot,
}

impl Neighbours for Around<'_> {
    fn is_network(&self, name: &str, place: &Place) -> bool {
        is_network(self.engine, self.snapshot, &place.scope, name)
    }

    fn find(&self, key: &Key) -> Option<(Arc<Object>, Place)> {
        let object = &self.snapshot.get(key)?.object;
        Some((Arc::clone(object), self.engine.place(object).ok()?))
    }
}

/// Tells whether there is a `Network` of this name for an account and region; one of another is none
/// of a workspace's networks.
pub(super) fn is_network(engine: &Engine, snapshot: &Snapshot, scope: &Scope, name: &str) -> bool {
    let is_here = |network: &Object| engine.scope(network) == Some(scope);
    // A network that left while no agent ran is known by name alone; its group stays its own.
    let is_leaving = || snapshot.orphans.contains_key(&Key::new(ObjectKind::Network, name));
    snapshot.network(name).map_or_else(is_leaving, is_here)
}

/// Is the same for whoever asks what an object uses: without networks of their own, workspaces bring
/// the VPC and the subnet group that they use.
pub(super) struct Users<'a>(pub(super) Around<'a>);

impl Neighbours for Users<'_> {
    fn is_network(&self, _name: &str, _place: &Place) -> bool {
        false
    }

    fn find(&self, key: &Key) -> Option<(Arc<Object>, Place)> {
        self.0.find(key)
    }
}
