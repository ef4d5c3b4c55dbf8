//! DB subnet groups.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::tags;
use crate::sandbox::args::Args;
use crate::sandbox::page;
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};

/// The operations.
pub(in crate::sandbox) const OPERATIONS: &[Operation] = &[
    Operation {
        service: "rds",
        name: "DescribeDBSubnetGroups",
        accepts: &["DBSubnetGroupName", "Filters", "MaxRecords", "Marker"],
        run: describe,
    },
    Operation {
        service: "rds",
        name: "CreateDBSubnetGroup",
        accepts: &["DBSubnetGroupName", "DBSubnetGroupDescription", "SubnetIds", "Tags"],
        run: create,
    },
    Operation {
        service: "rds",
        name: "ModifyDBSubnetGroup",
        accepts: &["DBSubnetGroupName", "DBSubnetGroupDescription", "SubnetIds"],
        run: modify,
    },
    Operation {
        service: "rds",
        name: "DeleteDBSubnetGroup",
        accepts: &["DBSubnetGroupName"],
        run: delete,
    },
];

/// Holds one subnet group.
#[derive(Debug, Clone)]
pub(in crate::sandbox) struct SubnetGroup {
    pub(in crate::sandbox) arn: String,
    pub(in crate::sandbox) tags: BTreeMap<String, String>,
    description: String,
    vpc: String,
    /// Subnet and availability zone.
    subnets: Vec<(String, String)>,
}

impl SubnetGroup {
    /// Describes the group.
    pub(in crate::sandbox) fn describe(&self, name: &str) -> Value {
        let subnet = |(id, zone): &(String, String)| {
            json!({
                "SubnetIdentifier": id,
                "SubnetAvailabilityZone": {"Name": zone},
                "SubnetOutpost": {},
                "SubnetStatus": "Active",
            })
        };
        json!({
            "DBSubnetGroupName": name,
            "DBSubnetGroupDescription": self.description,
            "VpcId": self.vpc,
            "SubnetGroupStatus": "Complete",
            "Subnets": self.subnets.iter().map(subnet).collect::<Vec<_>>(),
            "DBSubnetGroupArn": self.arn,
            "SupportedNetworkTypes": ["IPV4"],
        })
    }

    /// Tells whether a subnet is in the group.
    pub(in crate::sandbox) fn holds(&self, subnet: &str) -> bool {
        self.subnets.iter().any(|(id, _)| id == subnet)
    }

    fn zones(&self) -> BTreeSet<&str> {
        self.subnets.iter().map(|(_, zone)| zone.as_str()).collect()
    }
}

/// Says that a group does not exist.
pub(super) fn no_group(name: &str) -> Refusal {
    let text = format!("DB subnet group '{name}' does not exist.");
    Refusal::new("DBSubnetGroupNotFoundFault", text)
}

/// Finds a group for an instance.
pub(super) fn existing(site: &Site<'_>, name: &str) -> Result<String, Refusal> {
    let name = name.to_lowercase();
    let exists = site.state.rds.subnet_groups.contains_key(&name);
    if exists { Ok(name) } else { Err(no_group(&name)) }
}

/// Finds the group of the default VPC, and makes it when it is first needed.
pub(super) fn ensure_default(site: &mut Site<'_>) -> Result<String, Refusal> {
    let name = "default";
    if !site.state.rds.subnet_groups.contains_key(name) {
        let (vpc, subnets) = resolve(site, &site.state.ec2.default_subnets)?;
        let (arn, tags) = (site.rds_arn("subgrp", name), BTreeMap::new());
        let group = SubnetGroup { arn, tags, description: name.to_owned(), vpc, subnets };
        site.state.rds.subnet_groups.insert(name.to_owned(), group);
    }
    Ok(name.to_owned())
}

/// Returns the VPC and the availability zones of a group.
pub(super) fn reach(site: &Site<'_>, name: &str) -> Result<(String, Vec<String>), Refusal> {
    let group = site.state.rds.subnet_groups.get(name).ok_or_else(|| no_group(name))?;
    Ok((group.vpc.clone(), group.zones().into_iter().map(str::to_owned).collect()))
}

/// Looks subnets up: they exist, are in one VPC, and lie in two zones at least.
fn resolve(site: &Site<'_>, ids: &[String]) -> Result<(String, Vec<(String, String)>), Refusal> {
    let ec2 = &site.state.ec2;
    let mut vpcs = BTreeSet::new();
    let mut subnets = BTreeMap::new();
    for id in ids {
        let found = ec2.subnet(id, "VpcId").zip(ec2.subnet(id, "AvailabilityZone"));
        let (vpc, zone) = found.ok_or_else(|| {
            Refusal::new("InvalidSubnet", format!("Some input subnets in :[{id}] are invalid."))
        })?;
        vpcs.insert(vpc.to_owned());
        subnets.insert(id.clone(), zone.to_owned());
    }
    if vpcs.len() > 1 {
        return Err(Refusal::value("The Subnets are not in the same Vpc."));
    }
    if subnets.values().collect::<BTreeSet<_>>().len() < 2 {
        return Err(Refusal::new(
            "DBSubnetGroupDoesNotCoverEnoughAZs",
            "The DB subnet group doesn't meet Availability Zone (AZ) coverage requirement. \
             Current AZ coverage is less than 2.",
        ));
    }
    Ok((vpcs.into_iter().collect(), subnets.into_iter().collect()))
}

fn describe(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = args.text("DBSubnetGroupName")?.map(str::to_lowercase);
    let groups = &site.state.rds.subnet_groups;
    if let Some(name) = name.as_ref().filter(|name| !groups.contains_key(*name)) {
        return Err(no_group(name));
    }
    let chosen = groups
        .iter()
        .filter(|(key, _)| name.as_ref().is_none_or(|name| name == *key))
        .map(|(key, group)| (key.as_str(), group));
    page::RDS.answer(args, "DBSubnetGroups", chosen, |key, group| Some(group.describe(key)))
}

fn create(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = group_name(args.required("DBSubnetGroupName")?)?;
    if site.state.rds.subnet_groups.contains_key(&name) {
        let text = format!("The DB subnet group '{name}' already exists.");
        return Err(Refusal::new("DBSubnetGroupAlreadyExists", text));
    }
    let description = args.required("DBSubnetGroupDescription")?.to_owned();
    let (vpc, subnets) = resolve(site, &args.texts("SubnetIds")?.unwrap_or_default())?;
    let tags = args.tags()?;
    tags::check_count(tags.len())?;
    let group = SubnetGroup { arn: site.rds_arn("subgrp", &name), tags, description, vpc, subnets };
    let answer = json!({"DBSubnetGroup": group.describe(&name)});
    site.state.rds.subnet_groups.insert(name, group);
    Ok(answer)
}

/// Checks and lower-cases a group's name: letters, digits, spaces, `.`, `_` and `-`, not `default`.
fn group_name(text: &str) -> Result<String, Refusal> {
    let clean = text.chars().all(|c| c.is_ascii_alphanumeric() || "._- ".contains(c));
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic());
    if !clean || !starts || text.len() > 255 || text.eq_ignore_ascii_case("default") {
        return Err(Refusal::value(format!("The DB subnet group name {text} is not valid")));
    }
    Ok(text.to_lowercase())
}

fn modify(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = existing(site, args.required("DBSubnetGroupName")?)?;
    let (vpc, subnets) = resolve(site, &args.texts("SubnetIds")?.unwrap_or_default())?;
    let description = args.text("DBSubnetGroupDescription")?;
    let rds = &mut site.state.rds;
    let group = rds.subnet_groups.get_mut(&name).ok_or_else(|| no_group(&name))?;
    if group.vpc != vpc {
        return Err(Refusal::value(
            "The new Subnets are not in the same Vpc as the existing subnet group",
        ));
    }
    let kept: BTreeSet<&String> = subnets.iter().map(|(_, zone)| zone).collect();
    let mut users = rds.instances.values().filter(|i| i.subnet_group == name);
    if let Some(user) =
        users.find(|i| !kept.iter().any(|zone| **zone == i.text("AvailabilityZone")))
    {
        let zone = user.text("AvailabilityZone");
        let text =
            format!("The DB subnet in the Availability Zone {zone} is in use by {}.", user.name);
        return Err(Refusal::new("SubnetAlreadyInUse", text));
    }
    group.subnets = subnets;
    if let Some(description) = description {
        description.clone_into(&mut group.description);
    }
    Ok(json!({"DBSubnetGroup": group.describe(&name)}))
}

fn delete(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let name = existing(site, args.required("DBSubnetGroupName")?)?;
    if let Some(user) = site.state.rds.instances.values().find(|i| i.subnet_group == name) {
        let text = format!(
            "Cannot delete the subnet group '{name}' because at least one database instance: {} is still using it.",
            user.name
        );
        return Err(Refusal::new("InvalidDBSubnetGroupStateFault", text));
    }
    if site.state.rds.clusters.values().any(|it| it.subnet_group == name) {
        let text = format!("Cannot delete the subnet group '{name}': a DB cluster is using it.");
        return Err(Refusal::new("InvalidDBSubnetGroupStateFault", text));
    }
    site.state.rds.subnet_groups.remove(&name);
    Ok(json!({}))
}
