//! What a network declares of a VPC of its own, and what any VPC offers to the texts of others.
//!
//! In: the fields of the manifest's `vpc` section. Out: a [`Resource`]. A VPC that is only referred to
//! has no fields and is only read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kinds::name_tag;
use crate::model::desired::Field;
use crate::model::{Block, Input, Offer, Resource, ResourceId, Scope};

/// What a VPC offers.
pub const OFFERS: &[Offer] = &[
    Offer::text("vpcId", "VpcId"),
    Offer::text("cidr", "CidrBlock"),
    Offer::list("subnetIds", "SubnetIds"),
];

/// Says whose hardware the instances of a VPC run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Tenancy {
    /// That of AWS, unless an instance asks for its own.
    Default,
    /// Hardware of the account alone.
    Dedicated,
}

/// Holds what is declared of a VPC.
#[derive(Debug, Clone)]
pub struct Vpc<'a> {
    /// Its addresses.
    pub cidr: Block,
    /// Whose hardware its instances run on.
    pub tenancy: Option<Tenancy>,
    /// Whether Amazon's DNS server answers in it.
    pub dns_support: Option<bool>,
    /// Whether its instances get public DNS names.
    pub dns_hostnames: Option<bool>,
    /// Tags.
    pub tags: Option<&'a BTreeMap<String, String>>,
}

/// Says where a VPC lives and whose it is.
#[derive(Debug, Clone, Copy)]
pub struct Placement<'a> {
    /// The account and region.
    pub scope: &'a Scope,
    /// Its name.
    pub name: &'a str,
    /// The value of the ownership tag.
    pub owner: &'a str,
    /// Whether an existing VPC without our tag is taken over.
    pub adopt: bool,
}

/// Makes the resource of a VPC of a network's own.
pub fn resource(vpc: &Vpc<'_>, placement: &Placement<'_>) -> Resource {
    let declared = [
        ("cidr", Some(Value::from(vpc.cidr.to_string()))),
        ("tenancy", vpc.tenancy.map(|tenancy| json!(tenancy))),
        ("dnsSupport", vpc.dns_support.map(Value::from)),
        ("dnsHostnames", vpc.dns_hostnames.map(Value::from)),
        ("tags", Some(name_tag::tags(placement.name, placement.name, vpc.tags).into())),
    ];
    let known = |(field, value): (&'static str, Option<Value>)| {
        Some((Field::from(field), Input::Known(value?)))
    };
    Resource {
        id: ResourceId {
            kind: super::NAME,
            scope: placement.scope.clone(),
            name: placement.name.into(),
        },
        section: Cow::Borrowed("vpc"),
        fields: declared.into_iter().filter_map(known).collect(),
        initial: BTreeMap::new(),
        owner: placement.owner.to_owned(),
        adopt: placement.adopt,
        notices: Vec::new(),
        refusals: Vec::new(),
    }
}
