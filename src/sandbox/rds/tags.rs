//! Tags of RDS resources, by ARN.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::cluster::no_cluster;
use super::{State, no_instance, parameter_group, subnet_group};
use crate::sandbox::args::Args;
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};

/// The operations.
pub(in crate::sandbox) const OPERATIONS: &[Operation] = &[
    Operation {
        service: "rds",
        name: "ListTagsForResource",
        accepts: &["ResourceName"],
        run: list,
    },
    Operation {
        service: "rds",
        name: "AddTagsToResource",
        accepts: &["ResourceName", "Tags"],
        run: add,
    },
    Operation {
        service: "rds",
        name: "RemoveTagsFromResource",
        accepts: &["ResourceName", "TagKeys"],
        run: remove,
    },
];

/// Refuses more tags than a resource can have.
pub(super) fn check_count(count: usize) -> Result<(), Refusal> {
    if count <= 50 {
        return Ok(());
    }
    Err(Refusal::value(format!("A resource can have 50 tags, not {count}")))
}

/// Finds the tags of the resource with an ARN.
fn find<'s>(
    rds: &'s mut State,
    arn: &str,
    place: &str,
) -> Result<&'s mut BTreeMap<String, String>, Refusal> {
    let invalid = || Refusal::value(format!("Invalid resource name: {arn}"));
    let rest = arn.strip_prefix(place).ok_or_else(invalid)?;
    let (kind, name) = rest.split_once(':').ok_or_else(invalid)?;
    match kind {
        "db" => rds.instances.get_mut(name).map(|i| &mut i.tags).ok_or_else(|| no_instance(name)),
        "pg" => rds
            .parameter_groups
            .get_mut(name)
            .map(|group| &mut group.tags)
            .ok_or_else(|| parameter_group::no_group(name)),
        "cluster" => {
            rds.clusters.get_mut(name).map(|it| &mut it.tags).ok_or_else(|| no_cluster(name))
        }
        "cluster-pg" => rds
            .cluster_parameter_groups
            .get_mut(name)
            .map(|group| &mut group.tags)
            .ok_or_else(|| parameter_group::no_group(name)),
        "subgrp" => rds
            .subnet_groups
            .get_mut(name)
            .map(|group| &mut group.tags)
            .ok_or_else(|| subnet_group::no_group(name)),
        _ => Err(invalid()),
    }
}

fn place(site: &Site<'_>) -> String {
    format!("arn:aws:rds:{}:{}:", site.scope.region, site.scope.account)
}

fn list(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let place = place(site);
    let tags = find(&mut site.state.rds, args.required("ResourceName")?, &place)?;
    let list: Value = tags.iter().map(|(key, value)| json!({"Key": key, "Value": value})).collect();
    Ok(json!({"TagList": list}))
}

fn add(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let place = place(site);
    let new = args.tags()?;
    let arn = args.required("ResourceName")?;
    let count =
        find(&mut site.state.rds, arn, &place)?.keys().filter(|k| !new.contains_key(*k)).count();
    check_count(count + new.len())?;
    remember(site, arn);
    find(&mut site.state.rds, arn, &place)?.extend(new);
    Ok(json!({}))
}

fn remove(site: &mut Site<'_>, args: Args<'_>) -> Answer {
    let place = place(site);
    let keys = args.texts("TagKeys")?.unwrap_or_default();
    let arn = args.required("ResourceName")?;
    find(&mut site.state.rds, arn, &place)?;
    remember(site, arn);
    find(&mut site.state.rds, arn, &place)?.retain(|key, _| !keys.contains(key));
    Ok(json!({}))
}

/// Lets a stale read see an instance's tags as they were.
fn remember(site: &mut Site<'_>, arn: &str) {
    let rds = &mut site.state.rds;
    let name = arn.rsplit(':').next().unwrap_or_default();
    if let Some(instance) = rds.instances.get_mut(name).filter(|i| i.arn == arn) {
        instance.remember(site.now, &rds.subnet_groups);
    }
}
