//! Where an object's resources live, and how they are called there.
//!
//! In: the account, the region and the other objects of the repository. Out: ids of what several objects
//! have in common: a VPC and the DB subnet group in it.

use std::sync::Arc;

use crate::kinds::db_subnet_group::NAME as DB_SUBNET_GROUP;
use crate::kinds::vpc::NAME as VPC;
use crate::manifest::network::vpc::own;
use crate::manifest::{Object, Spec};
use crate::model::{Input, Key, KindName, ObjectKind, ResourceId, Scope};

/// Says where an object's resources live and who makes them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The account and region that the object's environment stands for.
    pub scope: Scope,
    /// The name of the agent, the first part of the ownership tag.
    pub agent: String,
    /// True when the environment is configured as production: stricter defaults.
    pub production: bool,
}

/// Knows the other objects of the repository.
pub trait Neighbours {
    /// Tells whether there is a `Network` of this name for the account and region of `place`.
    fn is_network(&self, name: &str, place: &Place) -> bool;

    /// Returns an object and its place.
    fn find(&self, key: &Key) -> Option<(Arc<Object>, Place)>;
}

/// Says that an object is looked at by itself.
#[derive(Debug, Clone, Copy)]
pub struct Alone;

impl Neighbours for Alone {
    fn is_network(&self, _name: &str, _place: &Place) -> bool {
        false
    }

    fn find(&self, _key: &Key) -> Option<(Arc<Object>, Place)> {
        None
    }
}

impl Place {
    pub(super) fn id(&self, kind: KindName, name: &str) -> ResourceId {
        ResourceId { kind, scope: self.scope.clone(), name: name.into() }
    }

    /// Returns the id of the DB subnet group that all databases in a VPC share; `declared` is the name
    /// that the network has for it, if it has one.
    pub(super) fn group(&self, network: &str, declared: Option<&str>) -> ResourceId {
        let name = declared.map_or_else(|| format!("{}-{network}", self.agent), str::to_owned);
        // RDS stores the name in lower case (`CreateDBSubnetGroup`, member `DBSubnetGroupName`).
        self.id(DB_SUBNET_GROUP, &name.to_lowercase())
    }

    /// Returns the DB subnet group of what a workspace's `vpcRef` names.
    pub(super) fn group_of(&self, reference: &str, neighbours: &dyn Neighbours) -> ResourceId {
        let network = self.network(reference, neighbours);
        let declared = network.as_deref().and_then(|object| match &object.spec {
            Spec::Network(spec) => spec.subnet_group.as_deref(),
            Spec::Workspace(_) => None,
        });
        self.group(reference, declared)
    }

    /// Returns the `Network` object that a workspace's `vpcRef` names.
    pub(super) fn network(
        &self,
        reference: &str,
        neighbours: &dyn Neighbours,
    ) -> Option<Arc<Object>> {
        let is_network = neighbours.is_network(reference, self);
        let found = is_network.then(|| neighbours.find(&Key::new(ObjectKind::Network, reference)));
        found.flatten().map(|(object, _)| object)
    }

    /// Returns the VPC that a workspace's `vpcRef` names.
    pub(super) fn vpc(&self, reference: &str, neighbours: &dyn Neighbours) -> ResourceId {
        match self.network(reference, neighbours) {
            Some(object) => self.vpc_of(&object),
            None => self.id(VPC, reference),
        }
    }

    /// Returns the id of the VPC in which a workspace makes something.
    ///
    /// Where a `Network` object declares an existing VPC, it is that of its group of subnets: the name
    /// of the VPC is that object's to say. One of its own has to carry its tag.
    pub(super) fn vpc_id(&self, reference: &str, neighbours: &dyn Neighbours) -> Input {
        let member = "VpcId".to_owned();
        if !neighbours.is_network(reference, self) {
            return Input::Output { of: self.id(VPC, reference), member };
        }
        match self.network(reference, neighbours) {
            Some(network) if has_own_vpc(&network) => {
                let owner = self.owner(ObjectKind::Network, reference);
                own(&self.vpc_of(&network), &member, &owner)
            }
            _ => Input::Output { of: self.group_of(reference, neighbours), member },
        }
    }

    /// Returns the VPC of a `Network` object.
    pub(super) fn vpc_of(&self, network: &Object) -> ResourceId {
        let declared = match &network.spec {
            Spec::Network(spec) => spec.vpc_name.as_deref(),
            Spec::Workspace(_) => None,
        };
        self.id(VPC, declared.unwrap_or(&network.key.name))
    }

    pub(super) fn owner(&self, kind: ObjectKind, name: &str) -> String {
        format!("{}/{kind}/{name}", self.agent)
    }
}

fn has_own_vpc(network: &Object) -> bool {
    matches!(&network.spec, Spec::Network(spec) if spec.vpc.is_some())
}
