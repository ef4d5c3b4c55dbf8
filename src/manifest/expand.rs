//! From an object to the resources that it asks for.
//!
//! In: an object and its [`Place`]. Out: [`Resource`]s in the order of their dependencies, with
//! references to each other's outputs as data.
//!
//! Invariants: names follow from the agent's and the object's name alone; the DB subnet group of a
//! VPC is the same resource with the same owner whether a `Network` object declares the VPC or a
//! workspace only names it, so adding or removing that object changes nothing in AWS. The fields of
//! a kind are built by the kind.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::kinds::db_instance::NAME as DB_INSTANCE;
use crate::kinds::db_instance::spec::Database;
use crate::kinds::db_parameter_group::NAME as DB_PARAMETER_GROUP;
use crate::kinds::db_subnet_group::NAME as DB_SUBNET_GROUP;
use crate::kinds::vpc::NAME as VPC;
use crate::manifest::network::NetworkSpec;
use crate::manifest::workspace::WorkspaceSpec;
use crate::manifest::{Object, Spec};
use crate::model::{Input, KindName, ObjectKind, Resource, ResourceId, Scope};

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

impl Place {
    fn id(&self, kind: KindName, name: &str) -> ResourceId {
        ResourceId { kind, scope: self.scope.clone(), name: name.into() }
    }

    /// Returns the id of the DB subnet group that all databases in a VPC share.
    fn group(&self, network: &str) -> ResourceId {
        // RDS stores the name in lower case (`CreateDBSubnetGroup`, member `DBSubnetGroupName`).
        let name = format!("{}-{network}", self.agent).to_lowercase();
        self.id(DB_SUBNET_GROUP, &name)
    }

    fn owner(&self, kind: ObjectKind, name: &str) -> String {
        format!("{}/{kind}/{name}", self.agent)
    }
}

/// Expands an object into resources, in the order of their dependencies.
///
/// `is_network` tells whether the repository holds a `Network` object of a name for the same
/// account and region.
pub fn expand(object: &Object, place: &Place, is_network: &dyn Fn(&str) -> bool) -> Vec<Resource> {
    match &object.spec {
        Spec::Workspace(spec) => workspace(object, spec, place, is_network),
        Spec::Network(spec) => network(object, spec, place),
    }
}

fn workspace(
    object: &Object,
    spec: &WorkspaceSpec,
    place: &Place,
    is_network: &dyn Fn(&str) -> bool,
) -> Vec<Resource> {
    let Some(database) = &spec.resources.database else { return Vec::new() };
    let mut resources = Vec::new();
    let mut instance = instance(object, database, place);
    if let Some(network) = &spec.resources.network {
        let name = &network.vpc_ref;
        if !is_network(name) {
            resources.extend(vpc_and_group(name, name, &BTreeMap::new(), object.adopts(), place));
        }
        let group = Input::Output { of: place.group(name), member: "DBSubnetGroupName".to_owned() };
        instance.fields.insert("subnetGroup".into(), group);
    }
    if let Some(parameters) = &database.parameters {
        let group = parameter_group(object, parameters, place);
        let of = group.id.clone();
        let name = Input::Output { of, member: "DBParameterGroupName".to_owned() };
        instance.fields.insert("parameterGroup".into(), name);
        resources.push(group);
    }
    resources.push(instance);
    resources
}

fn network(object: &Object, spec: &NetworkSpec, place: &Place) -> Vec<Resource> {
    let name = &object.key.name;
    let vpc_name = spec.vpc_name.as_deref().unwrap_or(name);
    vpc_and_group(name, vpc_name, &spec.subnet_tags, object.adopts(), place).into()
}

/// Returns the VPC, which is only read, and the DB subnet group in it.
fn vpc_and_group(
    network: &str,
    vpc_name: &str,
    tags: &BTreeMap<String, String>,
    adopt: bool,
    place: &Place,
) -> [Resource; 2] {
    let owner = place.owner(ObjectKind::Network, network);
    let vpc = blank(place.id(VPC, vpc_name), "network", owner.clone());
    let of = vpc.id.clone();
    let subnets = match tags.is_empty() {
        true => Input::Output { of, member: "SubnetIds".to_owned() },
        false => Input::Select {
            of,
            list: "Subnets".to_owned(),
            tags: tags.clone(),
            member: "SubnetId".to_owned(),
        },
    };
    let mut group = blank(place.group(network), "network", owner);
    group.fields.insert("subnetIds".into(), subnets);
    group.adopt = adopt;
    [vpc, group]
}

fn instance(object: &Object, database: &Database, place: &Place) -> Resource {
    let id = place.id(DB_INSTANCE, &object.key.name);
    let mut instance = blank(id, "database", owner(object, place));
    instance.adopt = object.adopts();
    for (field, value) in [
        ("engine", &database.engine),
        ("version", &database.version),
        ("sizeClass", &database.size_class),
    ] {
        instance.fields.insert(field.into(), Input::Known(Value::from(value.as_str())));
    }
    instance
}

fn parameter_group(
    object: &Object,
    parameters: &BTreeMap<String, String>,
    place: &Place,
) -> Resource {
    let name = format!("{}-{}", place.agent, object.key.name).to_lowercase();
    let id = place.id(DB_PARAMETER_GROUP, &name);
    let mut group = blank(id, "database", owner(object, place));
    group.adopt = object.adopts();
    group.fields.insert("parameters".into(), Input::Known(json!(parameters)));
    group
}

fn owner(object: &Object, place: &Place) -> String {
    place.owner(object.key.kind, &object.key.name)
}

fn blank(id: ResourceId, section: &'static str, owner: String) -> Resource {
    Resource {
        id,
        section: Cow::Borrowed(section),
        fields: BTreeMap::new(),
        initial: BTreeMap::new(),
        owner,
        adopt: false,
        notices: Vec::new(),
        refusals: Vec::new(),
    }
}
