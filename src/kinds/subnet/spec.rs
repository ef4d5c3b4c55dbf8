//! What a network declares of a subnet of its own VPC, and what it offers to the texts of others.
//!
//! In: an entry of `vpc.subnets`. Out: a [`Resource`].

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::kinds::name_tag;
use crate::model::desired::Field;
use crate::model::{Block, Input, Offer, Region, Refusal, Resource, ResourceId, Scope};

/// What a subnet offers.
pub const OFFERS: &[Offer] = &[
    Offer::text("subnetId", "SubnetId"),
    Offer::text("cidr", "CidrBlock"),
    Offer::text("zone", "AvailabilityZone"),
    Offer::text("zoneId", "AvailabilityZoneId"),
];

/// The member of a described subnet that holds its id.
pub const SUBNET_ID: &str = "SubnetId";

/// Declares a subnet of the network's VPC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Subnet {
    /// The availability zone: its letter (`a`), or its whole name (`eu-west-1a`). It cannot be changed.
    #[schemars(length(min = 1), example = &"a")]
    pub zone: String,
    /// The addresses, /16 to /28, within those of the VPC. They cannot be changed.
    #[schemars(example = &"10.0.1.0/24")]
    pub cidr: String,
    /// Whether whatever starts in the subnet gets a public address. Default: not managed; AWS begins
    /// with `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map_public_ip: Option<bool>,
    /// Tags. Declared keys are enforced, others are left alone. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, String>>,
}

/// Says where a subnet lives and whose it is.
#[derive(Debug, Clone)]
pub struct Placement<'a> {
    /// The account and region.
    pub scope: &'a Scope,
    /// The name of the network.
    pub network: &'a str,
    /// Its key in the network.
    pub key: &'a str,
    /// The value of the ownership tag.
    pub owner: &'a str,
    /// The id of the VPC.
    pub vpc: Input,
    /// Whether an existing subnet without our tag is taken over.
    pub adopt: bool,
}

/// Returns which resource the subnet of a network is.
pub fn resource_id(scope: &Scope, network: &str, key: &str) -> ResourceId {
    let name = format!("{network}/{key}").into();
    ResourceId { kind: super::NAME, scope: scope.clone(), name }
}

/// Returns the whole name of a zone that is given by its letter.
pub fn zone_name(zone: &str, region: &Region) -> String {
    if zone.len() == 1 { format!("{region}{zone}") } else { zone.to_owned() }
}

/// Makes the resource of a subnet; `cidr` is the canonical form of what it declares.
pub fn resource(subnet: &Subnet, cidr: Block, placement: Placement<'_>) -> Resource {
    let id = resource_id(placement.scope, placement.network, placement.key);
    let region = &placement.scope.region;
    let zone = zone_name(&subnet.zone, region);
    let elsewhere = (!zone.starts_with(region.as_str())).then(|| Refusal {
        field: "zone".to_owned(),
        code: "ZoneOfAnotherRegion".to_owned(),
        message: format!("{zone} is no zone of {region}"),
        help: "name a zone of the environment's region, or its letter alone".to_owned(),
    });
    let declared = [
        ("cidr", Some(Value::from(cidr.to_string()))),
        ("zone", Some(zone.into())),
        ("mapPublicIp", subnet.map_public_ip.map(Value::from)),
        ("tags", Some(name_tag::tags(placement.key, &id.name, subnet.tags.as_ref()).into())),
    ];
    let known = |(field, value): (&'static str, Option<Value>)| {
        Some((Field::from(field), Input::Known(value?)))
    };
    let mut fields: BTreeMap<Field, Input> = declared.into_iter().filter_map(known).collect();
    fields.insert("vpc".into(), placement.vpc);
    Resource {
        id,
        section: Cow::Owned(format!("vpc.subnets.{}", placement.key)),
        fields,
        initial: BTreeMap::new(),
        owner: placement.owner.to_owned(),
        adopt: placement.adopt,
        notices: Vec::new(),
        refusals: elsewhere.into_iter().collect(),
    }
}
