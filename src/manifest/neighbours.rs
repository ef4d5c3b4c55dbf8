//! Workspaces that let each other in.
//!
//! In: what is in force, and the text of the files. Out: a notice at the name of each workspace whose
//! network names another one that has no security group there. The rule waits for that group, and the
//! object is taken.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::object::{Object, Spec};
use super::placed::at_finding;
use super::workspace::NetworkSection;
use crate::kinds::security_group::spec::lets_in;
use crate::model::{Finding, Problem};

/// Names a workspace that another one lets in, and that it cannot.
pub(super) struct Stranger<'a> {
    /// The workspace that lets it in.
    pub(super) object: &'a Object,
    name: &'a str,
    why: String,
}

impl Stranger<'_> {
    /// Returns the notice on the object; `bytes` are its file.
    pub(super) fn problem(&self, bytes: &[u8]) -> Option<Problem> {
        let Self { object, name, why } = self;
        let message = format!("the network names the workspace {name}, but {why}");
        let hint = "until it has a security group in this VPC, rules with workspaces are not set";
        let code = "NeighbourWithoutGroup";
        let finding = Finding::notice("/metadata/name", code, message).hint(hint);
        at_finding(&object.path, bytes, &object.key, finding)
    }
}

/// Finds the workspaces that are let in and have no security group there.
pub(super) fn strangers<'a>(objects: impl Iterator<Item = &'a Arc<Object>>) -> Vec<Stranger<'a>> {
    let workspaces: BTreeMap<&str, &Object> = objects
        .filter(|object| matches!(object.spec, Spec::Workspace(_)))
        .map(|object| (&*object.key.name, &**object))
        .collect();
    let mut found = Vec::new();
    for object in workspaces.values() {
        let Some(network) = network(object) else { continue };
        let rules = network.ingress.iter().chain(&network.egress);
        for name in rules.flat_map(|rules| lets_in(rules)).filter(|name| **name != *object.key.name)
        {
            let other = workspaces.get(name).copied();
            if let Some(why) = objection(object, network, other) {
                found.push(Stranger { object, name, why });
            }
        }
    }
    found
}

fn network(object: &Object) -> Option<&NetworkSection> {
    match &object.spec {
        Spec::Workspace(spec) => spec.resources.network.as_ref(),
        Spec::Network(_) => None,
    }
}

/// Says why a workspace has no group that this network could let in.
fn objection(object: &Object, network: &NetworkSection, other: Option<&Object>) -> Option<String> {
    let Some(other) = other else {
        return Some("no workspace of this name is declared".to_owned());
    };
    if other.environment() != object.environment() {
        return Some(format!("it is in the environment {}", other.environment()));
    }
    match self::network(other) {
        Some(its) if its.vpc_ref == network.vpc_ref && its.has_group() => None,
        Some(its) if its.vpc_ref == network.vpc_ref => {
            Some("it declares neither ingress nor egress".to_owned())
        }
        _ => Some(format!("it is not in the VPC {}", network.vpc_ref)),
    }
}
