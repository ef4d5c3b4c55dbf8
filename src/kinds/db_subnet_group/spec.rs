//! The resource that a network asks for: the subnets in which its databases may live.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::json;

use crate::model::{Input, Resource, ResourceId, Scope};

/// Says which subnets of a VPC are in the group.
#[derive(Debug, Clone, Copy)]
pub enum Subnets<'a> {
    /// Those with all of these tags; every one with no tags.
    Tagged(&'a BTreeMap<String, String>),
    /// Those of these ids.
    Ids(&'a [String]),
}

/// Makes the resource of a subnet group in an existing VPC.
pub fn resource(
    scope: &Scope,
    name: &str,
    owner: &str,
    vpc: &ResourceId,
    subnets: Subnets<'_>,
    tags: Option<&BTreeMap<String, String>>,
) -> Resource {
    let output = |member: &str| Input::Output { of: vpc.clone(), member: member.to_owned() };
    let subnets = match subnets {
        Subnets::Ids(ids) => Input::Known(json!(ids)),
        Subnets::Tagged(tags) if tags.is_empty() => output("SubnetIds"),
        Subnets::Tagged(tags) => Input::Select {
            of: vpc.clone(),
            list: "Subnets".to_owned(),
            tags: tags.clone(),
            member: "SubnetId".to_owned(),
        },
    };
    resource_in(scope, name, owner, (output("VpcId"), subnets), tags)
}

/// Makes the resource of a subnet group; in a VPC of this id, of subnets of these ids.
pub fn resource_in(
    scope: &Scope,
    name: &str,
    owner: &str,
    (vpc, subnets): (Input, Input),
    tags: Option<&BTreeMap<String, String>>,
) -> Resource {
    let mut fields = BTreeMap::from([
        (Cow::Borrowed("vpcId"), vpc),
        (Cow::Borrowed("subnetIds"), subnets),
    ]);
    if let Some(tags) = tags {
        fields.insert(Cow::Borrowed("tags"), Input::Known(json!(tags)));
    }
    Resource {
        id: ResourceId {
            kind: super::NAME,
            scope: scope.clone(),
            name: name.to_ascii_lowercase().into(),
        },
        section: Cow::Borrowed("network"),
        fields,
        initial: BTreeMap::new(),
        owner: owner.to_owned(),
        adopt: false,
        notices: Vec::new(),
        refusals: Vec::new(),
    }
}
