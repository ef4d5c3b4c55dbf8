//! EC2: VPCs, subnets, security groups and launch templates; some are there from the beginning.

mod group;
mod network;
mod permission;
mod tags;
mod template;

use std::collections::BTreeMap;

use jiff::Timestamp;
use rand::RngExt;
use rand::rngs::StdRng;
use serde_json::{Value, json};

pub(in crate::sandbox) use self::group::Group;
pub(in crate::sandbox) use self::template::Template;

use super::args::Args;
use super::page;
use super::refusal::{Answer, Refusal};
use super::services::{Operation, Site};
use crate::model::Scope;

/// The operations.
pub(super) const OPERATIONS: &[&[Operation]] = &[
    READS,
    group::OPERATIONS,
    permission::OPERATIONS,
    network::OPERATIONS,
    tags::OPERATIONS,
    template::OPERATIONS,
];

const READS: &[Operation] = &[
    Operation {
        service: "ec2",
        name: "DescribeVpcs",
        accepts: &["VpcIds", "Filters", "MaxResults", "NextToken"],
        run: describe_vpcs,
    },
    Operation {
        service: "ec2",
        name: "DescribeSubnets",
        accepts: &["SubnetIds", "Filters", "MaxResults", "NextToken"],
        run: describe_subnets,
    },
];

/// Holds the networks of an account and region, as they are described, by id.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) vpcs: BTreeMap<String, Value>,
    pub(super) subnets: BTreeMap<String, Value>,
    /// The subnets of the default VPC.
    pub(super) default_subnets: Vec<String>,
    /// The security groups by id.
    pub(super) groups: BTreeMap<String, Group>,
    /// The launch templates by id.
    pub(super) templates: BTreeMap<String, Template>,
    /// What DNS does in VPCs where it was changed.
    dns: BTreeMap<String, network::Dns>,
    /// The VPCs and subnets that are being made, and until when.
    pending: BTreeMap<String, Timestamp>,
}

impl State {
    /// Returns the default security group of a VPC.
    pub(super) fn default_group(&self, vpc: &str) -> Option<&str> {
        let group = self.groups.iter().find(|(_, group)| group.is_default_of(vpc));
        group.map(|(id, _)| id.as_str())
    }

    /// Brings everything up to the time of a call.
    pub(super) fn advance(&mut self, now: Timestamp) {
        network::advance(self, now);
    }

    /// Returns a member of a subnet.
    pub(super) fn subnet(&self, id: &str, member: &str) -> Option<&str> {
        self.subnets.get(id)?.get(member)?.as_str()
    }
}

/// Names what was seeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeededVpc {
    /// The id of the VPC.
    pub vpc_id: String,
    /// The ids of its subnets, one per availability zone, in the order given.
    pub subnet_ids: Vec<String>,
}

/// Describes a VPC that is to be seeded.
pub(super) struct Seed<'a> {
    pub(super) name: Option<&'a str>,
    pub(super) cidr: &'a str,
    pub(super) zones: &'a [&'a str],
}

/// Seeds the default VPC that every account has in every region.
pub(super) fn seed_default(state: &mut State, scope: &Scope, random: &mut StdRng) {
    let seed = Seed { name: None, cidr: "172.31.0.0/16", zones: &["a", "b", "c"] };
    state.default_subnets = seed_vpc(state, scope, random, &seed).subnet_ids;
}

/// Makes a VPC with one subnet per zone; a zone is a letter or a full name.
pub(super) fn seed_vpc(
    state: &mut State,
    scope: &Scope,
    random: &mut StdRng,
    seed: &Seed<'_>,
) -> SeededVpc {
    let vpc_id = id(random, "vpc");
    let vpc = json!({
        "VpcId": vpc_id,
        "OwnerId": scope.account,
        "State": "available",
        "CidrBlock": seed.cidr,
        "CidrBlockAssociationSet": [{
            "AssociationId": id(random, "vpc-cidr-assoc"),
            "CidrBlock": seed.cidr,
            "CidrBlockState": {"State": "associated"},
        }],
        "DhcpOptionsId": id(random, "dopt"),
        "InstanceTenancy": "default",
        "IsDefault": seed.name.is_none(),
        "Tags": name_tag(seed.name.map(str::to_owned)),
    });
    state.vpcs.insert(vpc_id.clone(), vpc);
    let group = id(random, "sg");
    state.groups.insert(group.clone(), Group::default_of(&vpc_id, &group));
    let subnet_ids = seed
        .zones
        .iter()
        .enumerate()
        .map(|(number, zone)| seed_subnet(state, scope, random, seed, (&vpc_id, number, zone)))
        .collect();
    SeededVpc { vpc_id, subnet_ids }
}

fn seed_subnet(
    state: &mut State,
    scope: &Scope,
    random: &mut StdRng,
    seed: &Seed<'_>,
    (vpc_id, number, zone): (&str, usize, &str),
) -> String {
    let region = &scope.region;
    let zone = if zone.len() == 1 { format!("{region}{zone}") } else { zone.to_owned() };
    let subnet_id = id(random, "subnet");
    let name = seed.name.map(|name| format!("{name}-{zone}"));
    let subnet = json!({
        "SubnetId": subnet_id,
        "SubnetArn": format!("arn:aws:ec2:{region}:{}:subnet/{subnet_id}", scope.account),
        "VpcId": vpc_id,
        "OwnerId": scope.account,
        "State": "available",
        "AvailabilityZone": zone,
        "CidrBlock": slice(seed.cidr, number),
        "AvailableIpAddressCount": 251,
        "DefaultForAz": seed.name.is_none(),
        "MapPublicIpOnLaunch": seed.name.is_none(),
        "AssignIpv6AddressOnCreation": false,
        "Ipv6Native": false,
        "Tags": name_tag(name),
    });
    state.subnets.insert(subnet_id.clone(), subnet);
    subnet_id
}

/// Puts a tag on a subnet, as `CreateTags` does; tells whether the subnet exists.
pub(super) fn tag(state: &mut State, subnet: &str, key: &str, value: &str) -> bool {
    let tags = state.subnets.get_mut(subnet).and_then(|subnet| subnet.get_mut("Tags"));
    let Some(Value::Array(tags)) = tags else { return false };
    tags.retain(|tag| tag["Key"] != key);
    tags.push(json!({"Key": key, "Value": value}));
    true
}

/// Cuts the n-th /24 out of a block.
fn slice(cidr: &str, number: usize) -> String {
    let parts: Vec<&str> = cidr.split(['.', '/']).collect();
    let part = |index: usize| parts.get(index).copied().unwrap_or("0");
    let third = part(2).parse::<usize>().unwrap_or(0) + number;
    format!("{}.{}.{third}.0/24", part(0), part(1))
}

fn name_tag(name: Option<String>) -> Value {
    name.map_or_else(|| json!([]), |name| json!([{"Key": "Name", "Value": name}]))
}

/// Makes an id as EC2 does: a prefix and seventeen hexadecimal digits.
pub(super) fn id(random: &mut StdRng, prefix: &str) -> String {
    let digits: u128 = random.random_range(0..1_u128 << 68);
    format!("{prefix}-{digits:017x}")
}

const VPC_FILTERS: &[(&str, &str)] = &[
    ("vpc-id", "VpcId"),
    ("cidr", "CidrBlock"),
    ("owner-id", "OwnerId"),
    ("state", "State"),
    ("is-default", "IsDefault"),
    ("dhcp-options-id", "DhcpOptionsId"),
];

const SUBNET_FILTERS: &[(&str, &str)] = &[
    ("subnet-id", "SubnetId"),
    ("vpc-id", "VpcId"),
    ("cidr-block", "CidrBlock"),
    ("availability-zone", "AvailabilityZone"),
    ("owner-id", "OwnerId"),
    ("state", "State"),
    ("default-for-az", "DefaultForAz"),
];

fn describe_vpcs(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let ids = args.texts("VpcIds")?.unwrap_or_default();
    let unknown = "InvalidVpcID.NotFound";
    list(&site.state.ec2.vpcs, args, "Vpcs", &ids, unknown, VPC_FILTERS)
}

fn describe_subnets(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let ids = args.texts("SubnetIds")?.unwrap_or_default();
    let unknown = "InvalidSubnetID.NotFound";
    list(&site.state.ec2.subnets, args, "Subnets", &ids, unknown, SUBNET_FILTERS)
}

fn list(
    items: &BTreeMap<String, Value>,
    args: Args<'_>,
    answer: &str,
    ids: &[String],
    unknown: &'static str,
    table: &[(&str, &str)],
) -> Answer {
    if let Some(id) = ids.iter().find(|id| !items.contains_key(*id)) {
        return Err(Refusal::new(unknown, format!("The ID '{id}' does not exist")));
    }
    let filters = args.filters()?;
    for (name, _) in &filters {
        if !(is_tag_filter(name) || table.iter().any(|(known, _)| known == name)) {
            return Err(Refusal::value(format!("The filter '{name}' is invalid")));
        }
    }
    let chosen = items
        .iter()
        .filter(|(id, _)| ids.is_empty() || ids.contains(id))
        .filter(|(_, item)| filters.iter().all(|(name, any)| passes(item, table, name, any)))
        .map(|(id, item)| (id.as_str(), item));
    page::EC2.answer(args, answer, chosen, |_, item| Some(item.clone()))
}

fn is_tag_filter(name: &str) -> bool {
    name == "tag-key" || name.starts_with("tag:")
}

fn passes(item: &Value, table: &[(&str, &str)], name: &str, any: &[String]) -> bool {
    let tags = || item["Tags"].as_array().into_iter().flatten();
    let found: Vec<String> = if name == "tag-key" {
        tags().map(|tag| text(&tag["Key"])).collect()
    } else if let Some(key) = name.strip_prefix("tag:") {
        tags().filter(|tag| tag["Key"] == key).map(|tag| text(&tag["Value"])).collect()
    } else {
        table.iter().filter(|(known, _)| *known == name).map(|(_, m)| text(&item[*m])).collect()
    };
    found
        .iter()
        .any(|value| any.iter().any(|pattern| wildcard(pattern.as_bytes(), value.as_bytes())))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Matches AWS's wildcards: `*` for any characters, `?` for one.
pub(super) fn wildcard(pattern: &[u8], text: &[u8]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => {
            wildcard(rest, text) || text.split_first().is_some_and(|(_, t)| wildcard(pattern, t))
        }
        (Some((b'?', rest)), Some((_, text))) => wildcard(rest, text),
        (Some((p, rest)), Some((t, text))) => p == t && wildcard(rest, text),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
