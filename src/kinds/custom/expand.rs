//! From the `custom` section to the resources that it asks for.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::json;

use super::spec::CustomResource;
use crate::model::{Input, Resource, ResourceId, Scope};

/// Says where the resources live and whose they are.
#[derive(Debug, Clone)]
pub struct Placement<'a> {
    /// The account and region.
    pub scope: &'a Scope,
    /// The name of the workspace.
    pub workspace: &'a str,
    /// The value of the ownership tag.
    pub owner: &'a str,
    /// Whether existing resources that are not ours are taken over.
    pub adopt: bool,
}

/// Returns the id of a resource. Its name begins with its type, since AWS's own identifier is known
/// only later, and never for some types.
pub fn resource_id(
    scope: &Scope,
    workspace: &str,
    name: &str,
    resource: &CustomResource,
) -> ResourceId {
    let name = format!("{}/{workspace}-{name}", resource.type_name);
    ResourceId { kind: super::NAME, scope: scope.clone(), name: name.into() }
}

/// Makes the resources, in the order of their names.
pub fn resources(
    custom: &BTreeMap<String, CustomResource>,
    placement: &Placement<'_>,
) -> Vec<Resource> {
    let resource = |(name, it): (&String, &CustomResource)| Resource {
        id: resource_id(placement.scope, placement.workspace, name, it),
        section: Cow::Owned(format!("custom.{name}")),
        fields: BTreeMap::from([("properties".into(), Input::Known(json!(it.properties)))]),
        initial: BTreeMap::new(),
        owner: placement.owner.to_owned(),
        adopt: it.adopt || placement.adopt,
        notices: Vec::new(),
        refusals: Vec::new(),
    };
    custom.iter().map(resource).collect()
}
