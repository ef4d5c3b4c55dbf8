//! A VPC of a network's own: what a manifest declares of it, and the resources that this asks for.
//!
//! In: [`OwnVpc`] and the network's [`Around`]. Out: [`Resource`]s in the order of their dependencies:
//! the VPC, its subnets, and the DB subnet group of those that carry databases.
//!
//! Invariants: a subnet and the DB subnet group are made only in a VPC that carries the network's own tag;
//! the group holds declared subnets alone, so that one which somebody adds in the console carries no
//! database.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::kinds::db_subnet_group::spec as group_spec;
use crate::kinds::subnet::spec::{self as subnet_spec, SUBNET_ID, Subnet, zone_name};
use crate::kinds::vpc::spec::{self as vpc_spec, Tenancy};
use crate::model::{Block, Input, Output, Resource, ResourceId, Scope};

/// How many zones AWS wants the subnets of a DB subnet group to be in.
const ZONES_OF_DATABASES: usize = 2;

/// Declares a VPC that belongs to the network: it is made if it is not there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OwnVpc {
    /// The IPv4 addresses, /16 to /28. They cannot be changed; blocks that are added to the VPC
    /// elsewhere are left alone.
    #[schemars(example = &"10.0.0.0/16")]
    pub cidr: String,
    /// The subnets by name, which is also their `Name` tag. Default: none.
    #[serde(default)]
    pub subnets: BTreeMap<String, Subnet>,
    /// Whether Amazon's DNS server answers in the VPC. Default: not managed; AWS begins with `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns_support: Option<bool>,
    /// Whether instances with public addresses get public DNS names; `true` means `dnsSupport: true`
    /// too. Default: not managed; AWS begins with `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dns_hostnames: Option<bool>,
    /// Whose hardware instances run on. It cannot be changed. Default: not managed; AWS begins with
    /// `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenancy: Option<Tenancy>,
    /// Tags. Declared keys are enforced, others are left alone. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<BTreeMap<String, String>>,
}

/// Says where a network's VPC lives and whose it is.
#[derive(Debug, Clone, Copy)]
pub(in crate::manifest) struct Around<'a> {
    pub(in crate::manifest) scope: &'a Scope,
    /// The name of the network, and of its VPC.
    pub(in crate::manifest) network: &'a str,
    /// The value of the ownership tag.
    pub(in crate::manifest) owner: &'a str,
    /// The name of the DB subnet group.
    pub(in crate::manifest) group: &'a str,
    /// Only subnets with all of these tags carry databases.
    pub(in crate::manifest) subnet_tags: &'a BTreeMap<String, String>,
    pub(in crate::manifest) adopt: bool,
}

impl OwnVpc {
    /// Returns the resources; of a manifest that was not checked, those that it makes sense for.
    pub(in crate::manifest) fn resources(&self, around: &Around<'_>) -> Vec<Resource> {
        let Some(cidr) = block(&self.cidr) else { return Vec::new() };
        let Around { scope, network, owner, adopt, .. } = *around;
        let declared = vpc_spec::Vpc {
            cidr,
            tenancy: self.tenancy,
            // AWS gives names only where its DNS server answers, whoever turned that off.
            dns_support: self.dns_support.or(self.dns_hostnames.filter(|names| *names)),
            dns_hostnames: self.dns_hostnames,
            tags: self.tags.as_ref(),
        };
        let placement = vpc_spec::Placement { scope, name: network, owner, adopt };
        let vpc = vpc_spec::resource(&declared, &placement);
        let id = own(&vpc.id, "VpcId", owner);
        let mut resources = vec![vpc];
        for (key, subnet) in &self.subnets {
            let Some(cidr) = block(&subnet.cidr) else { continue };
            let vpc = id.clone();
            let placement = subnet_spec::Placement { scope, network, key, owner, vpc, adopt };
            resources.push(subnet_spec::resource(subnet, cidr, placement));
        }
        resources.extend(self.group(around, id));
        resources
    }

    /// Returns the DB subnet group, if enough subnets carry databases.
    fn group(&self, around: &Around<'_>, vpc: Input) -> Option<Resource> {
        let Around { scope, network, owner, group, subnet_tags, adopt } = *around;
        let chosen: Vec<(&str, &Subnet)> = self.with_databases(subnet_tags).collect();
        let zones: BTreeSet<String> =
            chosen.iter().map(|(_, subnet)| zone_name(&subnet.zone, &scope.region)).collect();
        if zones.len() < ZONES_OF_DATABASES {
            return None;
        }
        let mut outputs = BTreeMap::new();
        for (key, _) in chosen {
            let of = subnet_spec::resource_id(scope, network, key);
            outputs
                .insert(format!("network.subnets.{key}.subnetId"), output(&of, SUBNET_ID, owner));
        }
        let subnets = Input::Template {
            value: outputs.keys().map(|marker| format!("${{{marker}}}")).collect(),
            outputs,
            needs: BTreeSet::new(),
        };
        let mut group = group_spec::resource_in(scope, group, owner, (vpc, subnets), None);
        group.adopt = adopt;
        Some(group)
    }

    /// Lists the subnets that carry databases: those with all of these tags.
    pub(super) fn with_databases<'a>(
        &'a self,
        tags: &'a BTreeMap<String, String>,
    ) -> impl Iterator<Item = (&'a str, &'a Subnet)> {
        let has = |subnet: &Subnet, key: &String, value: &String| {
            subnet.tags.as_ref().and_then(|own| own.get(key)) == Some(value)
        };
        let has_all =
            move |subnet: &Subnet| tags.iter().all(|(key, value)| has(subnet, key, value));
        let all = self.subnets.iter().filter(move |(_, subnet)| has_all(subnet));
        all.map(|(key, subnet)| (key.as_str(), subnet))
    }

    /// Tells whether subnets in so many zones are enough for databases.
    pub(super) fn is_enough(zones: usize) -> bool {
        zones >= ZONES_OF_DATABASES
    }
}

/// Refers to a member of a network's resource, which has to carry the network's own tag: a stranger of
/// its name must not stand for it.
pub(in crate::manifest) fn own(of: &ResourceId, member: &str, owner: &str) -> Input {
    let marker = "network.vpcId";
    Input::Template {
        value: format!("${{{marker}}}").into(),
        outputs: BTreeMap::from([(marker.to_owned(), output(of, member, owner))]),
        needs: BTreeSet::new(),
    }
}

fn output(of: &ResourceId, member: &str, owner: &str) -> Output {
    let (of, member) = (of.clone(), member.to_owned());
    Output { of, member, typed: false, owner: Some(owner.to_owned()), adopt: false }
}

fn block(cidr: &str) -> Option<Block> {
    cidr.parse().ok()
}
