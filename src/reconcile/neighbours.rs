//! The other objects of the repository, as the expansion of one of them needs to know them.

use std::sync::Arc;

use super::engine::Engine;
use crate::desired::Snapshot;
use crate::manifest::Object;
use crate::manifest::expand::{Neighbours, Place};
use crate::model::{Key, ObjectKind};

/// Is everything that Git declares.
pub(super) struct Around<'a> {
    pub(super) engine: &'a Engine,
    pub(super) snapshot: &'a Snapshot,
}

impl Neighbours for Around<'_> {
    /// A `Network` of another account or region is none of a workspace's networks.
    fn is_network(&self, name: &str, place: &Place) -> bool {
        let is_here = |network: &Object| {
            self.engine.place(network).is_ok_and(|its_place| its_place.scope == place.scope)
        };
        // A network that left while no agent ran is known by name alone; its group stays its own.
        let is_leaving =
            || self.snapshot.orphans.contains_key(&Key::new(ObjectKind::Network, name));
        self.snapshot.network(name).map_or_else(is_leaving, is_here)
    }

    fn find(&self, key: &Key) -> Option<(Arc<Object>, Place)> {
        let object = &self.snapshot.get(key)?.object;
        Some((Arc::clone(object), self.engine.place(object).ok()?))
    }
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
