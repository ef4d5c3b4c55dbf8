//! VPCs and subnets: made, changed and deleted.
//!
//! A new VPC has its default security group and answers DNS; it and a new subnet are `pending` for a
//! moment. A VPC with a subnet or another security group in it is not deleted, nor a subnet that a
//! database's group has. Route tables, gateways and the blocks that can be added later are not modelled.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Group, id, tags};
use crate::model::{Block, Region};
use crate::sandbox::args::{Args, missing};
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};

/// The operations.
pub(super) const OPERATIONS: &[Operation] = &[
    Operation {
        service: "ec2",
        name: "CreateVpc",
        accepts: &["CidrBlock", "InstanceTenancy", "TagSpecifications"],
        run: create_vpc,
    },
    Operation { service: "ec2", name: "DeleteVpc", accepts: &["VpcId"], run: delete_vpc },
    Operation {
        service: "ec2",
        name: "DescribeVpcAttribute",
        accepts: &["VpcId", "Attribute"],
        run: describe_attribute,
    },
    Operation {
        service: "ec2",
        name: "ModifyVpcAttribute",
        accepts: &["VpcId", "EnableDnsSupport", "EnableDnsHostnames"],
        run: modify_vpc,
    },
    Operation {
        service: "ec2",
        name: "CreateSubnet",
        accepts: &["VpcId", "CidrBlock", "AvailabilityZone", "TagSpecifications"],
        run: create_subnet,
    },
    Operation { service: "ec2", name: "DeleteSubnet", accepts: &["SubnetId"], run: delete_subnet },
    Operation {
        service: "ec2",
        name: "ModifySubnetAttribute",
        accepts: &["SubnetId", "MapPublicIpOnLaunch"],
        run: modify_subnet,
    },
];

/// How many VPCs an account may have in a region before AWS raises the quota.
const MOST_VPCS: usize = 5;

/// The zones of every region, by their letters.
const ZONES: [char; 3] = ['a', 'b', 'c'];

/// Says whether DNS answers in a VPC.
#[derive(Debug, Clone, Copy)]
pub(in crate::sandbox) struct Dns {
    support: bool,
    hostnames: bool,
}

impl Default for Dns {
    fn default() -> Self {
        Self { support: true, hostnames: false }
    }
}

/// Makes what has been pending long enough available.
pub(super) fn advance(state: &mut super::State, now: Timestamp) {
    let due: Vec<String> =
        state.pending.extract_if(.., |_, until| *until <= now).map(|it| it.0).collect();
    for id in due {
        for item in [state.vpcs.get_mut(&id), state.subnets.get_mut(&id)].into_iter().flatten() {
            item["State"] = "available".into();
        }
    }
}

fn until(site: &Site<'_>) -> Timestamp {
    site.now.checked_add(site.settings.durations.spreading).unwrap_or(site.now)
}

/// Reads a block of addresses, /16 to /28, and clears its host bits, as EC2 does.
fn block(args: Args<'_>, code: &'static str) -> Result<Block, Refusal> {
    let text = args.required("CidrBlock")?;
    let (block, _) = Block::read(text).map_err(|_| {
        Refusal::value(format!("Value ({text}) for parameter cidrBlock is invalid."))
    })?;
    match block {
        Block::V4(_, 16..=28) => Ok(block),
        Block::V4(..) => Err(Refusal::new(code, format!("The CIDR '{text}' is invalid."))),
        Block::V6(..) => Err(Refusal::value("the block is not one of IPv4 addresses")),
    }
}

/// Returns the first and the last address.
fn range(block: &Block) -> (u32, u32) {
    match block {
        Block::V4(first, length) => {
            let first = first.to_bits();
            (first, first | u32::MAX.checked_shr(u32::from(*length)).unwrap_or(0))
        }
        Block::V6(..) => (0, 0),
    }
}

fn range_of(item: &Value) -> (u32, u32) {
    let block = item["CidrBlock"].as_str().and_then(|text| text.parse().ok());
    block.as_ref().map_or((0, 0), range)
}

fn no_vpc(id: &str) -> Refusal {
    Refusal::new("InvalidVpcID.NotFound", format!("The vpc ID '{id}' does not exist"))
}

fn no_subnet(id: &str) -> Refusal {
    Refusal::new("InvalidSubnetID.NotFound", format!("The subnet ID '{id}' does not exist"))
}

fn in_use(what: &str, id: &str) -> Refusal {
    let text = format!("The {what} '{id}' has dependencies and cannot be deleted.");
    Refusal::new("DependencyViolation", text)
}

/// Reads a truth value in a structure of its own; over HTTP it comes as a text.
fn switch(args: Args<'_>, member: &str) -> Result<Option<bool>, Refusal> {
    let Some(value) = args.get(member) else { return Ok(None) };
    match &value["Value"] {
        Value::Bool(flag) => Ok(Some(*flag)),
        Value::String(text) if text == "true" || text == "false" => Ok(Some(text == "true")),
        other => Err(Refusal::value(format!("Value ({other}) for parameter {member} is invalid."))),
    }
}

fn create_vpc(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let cidr = block(args, "InvalidVpc.Range")?.to_string();
    let tenancy = args.text("InstanceTenancy")?.unwrap_or("default");
    if !["default", "dedicated"].contains(&tenancy) {
        return Err(Refusal::value(format!(
            "Value ({tenancy}) for parameter instanceTenancy is invalid."
        )));
    }
    let tags = tags::specified(args, "vpc")?;
    if site.state.ec2.vpcs.len() >= MOST_VPCS {
        let text = "The maximum number of VPCs has been reached.";
        return Err(Refusal::new("VpcLimitExceeded", text));
    }
    let (vpc_id, until) = (id(site.random, "vpc"), until(site));
    let vpc = json!({
        "VpcId": vpc_id,
        "OwnerId": site.scope.account,
        "State": "pending",
        "CidrBlock": cidr,
        "CidrBlockAssociationSet": [{
            "AssociationId": id(site.random, "vpc-cidr-assoc"),
            "CidrBlock": cidr,
            "CidrBlockState": {"State": "associated"},
        }],
        "Ipv6CidrBlockAssociationSet": [],
        "DhcpOptionsId": id(site.random, "dopt"),
        "InstanceTenancy": tenancy,
        "IsDefault": false,
        "Tags": tags,
    });
    let group = id(site.random, "sg");
    let ec2 = &mut site.state.ec2;
    ec2.groups.insert(group.clone(), Group::default_of(&vpc_id, &group));
    ec2.pending.insert(vpc_id.clone(), until);
    ec2.vpcs.insert(vpc_id, vpc.clone());
    Ok(json!({ "Vpc": vpc }))
}

fn delete_vpc(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let (id, ec2) = (args.required("VpcId")?, &mut site.state.ec2);
    if !ec2.vpcs.contains_key(id) {
        return Err(no_vpc(id));
    }
    let is_within = |item: &Value| item["VpcId"] == id;
    let has_group = ec2.groups.values().any(|group| group.vpc == id && !group.is_default_of(id));
    if has_group || ec2.subnets.values().any(is_within) {
        return Err(in_use("vpc", id));
    }
    ec2.groups.retain(|_, group| group.vpc != id);
    ec2.vpcs.remove(id);
    ec2.dns.remove(id);
    Ok(json!({"Return": true}))
}

fn describe_attribute(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let (id, attribute) = (args.required("VpcId")?, args.required("Attribute")?);
    if !site.state.ec2.vpcs.contains_key(id) {
        return Err(no_vpc(id));
    }
    let dns = site.state.ec2.dns.get(id).copied().unwrap_or_default();
    let (member, value) = match attribute {
        "enableDnsSupport" => ("EnableDnsSupport", dns.support),
        "enableDnsHostnames" => ("EnableDnsHostnames", dns.hostnames),
        other => {
            let text = format!("Value ({other}) for parameter attribute is invalid.");
            return Err(Refusal::value(text));
        }
    };
    Ok(json!({"VpcId": id, (member): {"Value": value}}))
}

fn modify_vpc(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let id = args.required("VpcId")?;
    if !site.state.ec2.vpcs.contains_key(id) {
        return Err(no_vpc(id));
    }
    let dns = site.state.ec2.dns.get(id).copied().unwrap_or_default();
    let refused = |text: &str| Err(Refusal::new("InvalidParameterCombination", text));
    let set = match (switch(args, "EnableDnsSupport")?, switch(args, "EnableDnsHostnames")?) {
        (None, None) => return refused("No attributes specified."),
        (Some(_), Some(_)) => return refused("Fields for multiple attribute types specified"),
        (None, Some(true)) if !dns.support => return refused("DNS support is not enabled"),
        (support, hostnames) => Dns {
            support: support.unwrap_or(dns.support),
            hostnames: hostnames.unwrap_or(dns.hostnames),
        },
    };
    site.state.ec2.dns.insert(id.to_owned(), set);
    Ok(json!({"Return": true}))
}

fn create_subnet(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let vpc_id = args.required("VpcId")?;
    let vpc = site.state.ec2.vpcs.get(vpc_id).ok_or_else(|| no_vpc(vpc_id))?;
    if vpc["State"] != "available" {
        let text = format!("The vpc '{vpc_id}' is not in a valid state");
        return Err(Refusal::new("IncorrectState", text));
    }
    let (whole, block) = (range_of(vpc), block(args, "InvalidSubnet.Range")?);
    let (first, last) = range(&block);
    if first < whole.0 || last > whole.1 {
        let text = format!("The CIDR '{block}' is invalid.");
        return Err(Refusal::new("InvalidSubnet.Range", text));
    }
    let mut others =
        site.state.ec2.subnets.values().filter(|it| it["VpcId"] == vpc_id).map(range_of);
    if others.any(|other| first <= other.1 && other.0 <= last) {
        let text = format!("The CIDR '{block}' conflicts with another subnet");
        return Err(Refusal::new("InvalidSubnet.Conflict", text));
    }
    let (zone, zone_id) = zone(&site.scope.region, args.text("AvailabilityZone")?)?;
    let (subnet_id, until) = (id(site.random, "subnet"), until(site));
    let (region, account) = (&site.scope.region, &site.scope.account);
    let subnet = json!({
        "SubnetId": subnet_id,
        "SubnetArn": format!("arn:aws:ec2:{region}:{account}:subnet/{subnet_id}"),
        "VpcId": vpc_id,
        "OwnerId": account,
        "State": "pending",
        "AvailabilityZone": zone,
        "AvailabilityZoneId": zone_id,
        "CidrBlock": block.to_string(),
        // AWS keeps the first four addresses and the last one.
        "AvailableIpAddressCount": last - first - 4,
        "DefaultForAz": false,
        "MapPublicIpOnLaunch": false,
        "AssignIpv6AddressOnCreation": false,
        "Ipv6CidrBlockAssociationSet": [],
        "Ipv6Native": false,
        "Tags": tags::specified(args, "subnet")?,
    });
    site.state.ec2.pending.insert(subnet_id.clone(), until);
    site.state.ec2.subnets.insert(subnet_id, subnet.clone());
    Ok(json!({ "Subnet": subnet }))
}

/// Checks the name of a zone, and returns it with the id that the zone has in every account.
fn zone(region: &Region, name: Option<&str>) -> Result<(String, String), Refusal> {
    let all: Vec<String> = ZONES.iter().map(|letter| format!("{region}{letter}")).collect();
    let wanted = name.unwrap_or_else(|| all.first().map_or("", String::as_str));
    let Some(at) = all.iter().position(|zone| zone == wanted) else {
        let text = format!(
            "Value ({wanted}) for parameter availabilityZone is invalid. Subnets can currently only be \
             created in the following availability zones: {}.",
            all.join(", ")
        );
        return Err(Refusal::value(text));
    };
    let part = |part: &str| match part {
        "southeast" => "se".to_owned(),
        "southwest" => "sw".to_owned(),
        "northeast" => "ne".to_owned(),
        "northwest" => "nw".to_owned(),
        "east" | "west" | "north" | "south" | "central" => part.chars().take(1).collect(),
        other => other.to_owned(),
    };
    let short: String = region.as_str().split('-').map(part).collect();
    Ok((wanted.to_owned(), format!("{short}-az{}", at + 1)))
}

fn delete_subnet(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let id = args.required("SubnetId")?;
    if !site.state.ec2.subnets.contains_key(id) {
        return Err(no_subnet(id));
    }
    let rds = &site.state.rds;
    let is_in = |group: &String| rds.subnet_groups.get(group).is_some_and(|group| group.holds(id));
    let has_instance = rds.instances.values().any(|instance| is_in(&instance.subnet_group));
    if has_instance {
        return Err(in_use("subnet", id));
    }
    site.state.ec2.subnets.remove(id);
    Ok(json!({"Return": true}))
}

fn modify_subnet(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let id = args.required("SubnetId")?;
    let subnet = site.state.ec2.subnets.get_mut(id).ok_or_else(|| no_subnet(id))?;
    let flag =
        switch(args, "MapPublicIpOnLaunch")?.ok_or_else(|| missing("MapPublicIpOnLaunch"))?;
    subnet["MapPublicIpOnLaunch"] = flag.into();
    Ok(json!({"Return": true}))
}
