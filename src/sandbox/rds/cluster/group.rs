//! DB cluster parameter groups: the same as the groups of instances, under names of their own.

use std::collections::BTreeMap;

use super::instances;
use crate::sandbox::rds::State;
use crate::sandbox::rds::engine::Engine;
use crate::sandbox::rds::flavour::Flavour;
use crate::sandbox::rds::parameter_group;
use crate::sandbox::refusal::Refusal;
use crate::sandbox::services::{Operation, Site};

/// How the calls on cluster parameter groups differ from those on the groups of instances.
pub(in crate::sandbox) const FLAVOUR: Flavour = Flavour {
    name: "DBClusterParameterGroupName",
    one: "DBClusterParameterGroup",
    list: "DBClusterParameterGroups",
    arn: "DBClusterParameterGroupArn",
    arn_type: "cluster-pg",
    groups: |state| &mut state.cluster_parameter_groups,
    is_used: |state, name| state.clusters.values().any(|it| it.parameter_group == name),
    spread,
};

/// The operations.
pub(in crate::sandbox) const OPERATIONS: &[Operation] = &[
    Operation {
        service: "rds",
        name: "DescribeDBClusterParameterGroups",
        accepts: &["DBClusterParameterGroupName", "Filters", "MaxRecords", "Marker"],
        run: |site, args| parameter_group::describe(site, args, &FLAVOUR),
    },
    Operation {
        service: "rds",
        name: "DescribeDBClusterParameters",
        accepts: &["DBClusterParameterGroupName", "Source", "Filters", "MaxRecords", "Marker"],
        run: |site, args| parameter_group::describe_parameters(site, args, &FLAVOUR),
    },
    Operation {
        service: "rds",
        name: "CreateDBClusterParameterGroup",
        accepts: &["DBClusterParameterGroupName", "DBParameterGroupFamily", "Description", "Tags"],
        run: |site, args| parameter_group::create(site, args, &FLAVOUR),
    },
    Operation {
        service: "rds",
        name: "ModifyDBClusterParameterGroup",
        accepts: &["DBClusterParameterGroupName", "Parameters"],
        run: |site, args| parameter_group::modify(site, args, &FLAVOUR),
    },
    Operation {
        service: "rds",
        name: "ResetDBClusterParameterGroup",
        accepts: &["DBClusterParameterGroupName", "ResetAllParameters", "Parameters"],
        run: |site, args| parameter_group::reset(site, args, &FLAVOUR),
    },
    Operation {
        service: "rds",
        name: "DeleteDBClusterParameterGroup",
        accepts: &["DBClusterParameterGroupName"],
        run: |site, args| parameter_group::delete(site, args, &FLAVOUR),
    },
];

/// Returns the name of the default group of a version.
pub(super) fn default_name(engine: &Engine, version: &str) -> String {
    format!("default.{}", engine.family(version).unwrap_or_default())
}

/// Finds a group for a cluster of a version; without a name, the default one.
pub(super) fn usable(
    site: &mut Site<'_>,
    name: Option<&str>,
    engine: &Engine,
    version: &str,
) -> Result<String, Refusal> {
    let default = default_name(engine, version);
    let name = name.unwrap_or(&default);
    parameter_group::usable_of(site, name, engine.family(version), &FLAVOUR)
}

/// Shows a change at the instances of the clusters that use the group.
fn spread(site: &mut Site<'_>, name: &str, methods: &[&'static str]) {
    if !methods.contains(&"pending-reboot") {
        return;
    }
    let State { clusters, instances: all, .. } = &mut site.state.rds;
    for cluster in clusters.values_mut().filter(|it| it.parameter_group == name) {
        let names: Vec<String> = instances(all, &cluster.name).map(|it| it.name.clone()).collect();
        cluster.stale.extend(names);
    }
}

/// Holds the groups of an account and region, by name.
pub(in crate::sandbox) type Groups = BTreeMap<String, parameter_group::ParameterGroup>;
