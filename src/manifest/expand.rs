//! From an object to the resources that it asks for.
//!
//! In: an object and its [`Place`]. Out: [`Resource`]s in the order of their dependencies, with
//! references to each other's outputs as data.
//!
//! Within an object a resource refers to those before it. References in texts are looked up here too.
//! A circle of them is a problem of the manifests; should one be in force nevertheless, its members
//! wait for each other and are not made. Only security groups may refer to each other in a circle, in
//! fields that are set when they exist.
//!
//! Invariants: names follow from the agent's and the object's name alone; the DB subnet group of a
//! VPC is the same resource with the same owner whether a `Network` object declares the VPC or a
//! workspace only names it, so adding or removing that object changes nothing in AWS. The fields of
//! a kind are built by the kind.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::{aurora, compute};
use crate::kinds::custom::spec as custom_spec;
use crate::kinds::db_cluster::NAME as DB_CLUSTER;
use crate::kinds::db_instance::NAME as DB_INSTANCE;
use crate::kinds::db_instance::spec::{self as instance_spec, Database, Placement};
use crate::kinds::db_parameter_group::spec as parameter_group_spec;
use crate::kinds::db_subnet_group::spec::{self as subnet_group_spec, Subnets};
use crate::kinds::iam_role::spec as role_spec;
use crate::kinds::route53_record_set::spec as dns_spec;
use crate::kinds::s3_bucket::spec as bucket_spec;
use crate::kinds::secret::spec as secret_spec;
use crate::kinds::security_group::spec as group_spec;
use crate::kinds::vpc::NAME as VPC;
use crate::manifest::network::NetworkSpec;
use crate::manifest::network::vpc::Around;
use crate::manifest::references::bind::{bind, in_order};
use crate::manifest::workspace::{NetworkSection, WorkspaceSpec};
use crate::manifest::{Object, Spec};
use crate::model::{Input, Key, ObjectKind, Output, Resource, ResourceId};

pub use super::place::{Alone, Neighbours, Place};

/// Expands an object into resources, in the order of their dependencies.
pub fn expand(object: &Object, place: &Place, neighbours: &dyn Neighbours) -> Vec<Resource> {
    let mut resources = match &object.spec {
        Spec::Workspace(spec) => workspace(object, spec, place, neighbours),
        Spec::Network(spec) => network(object, spec, place),
    };
    bind(&mut resources, object, place, neighbours);
    in_order(resources)
}

fn workspace(
    object: &Object,
    spec: &WorkspaceSpec,
    place: &Place,
    neighbours: &dyn Neighbours,
) -> Vec<Resource> {
    let owner = place.owner(object.key.kind, &object.key.name);
    let network = spec.resources.network.as_ref();
    let has_group = network.is_some_and(NetworkSection::has_group);
    let mut resources = surroundings(object, spec, place, neighbours);
    if let Some(network) = network.filter(|network| network.has_group()) {
        resources.push(security_group(object, network, &owner, place, neighbours));
    }
    let group = resources.last().filter(|_| has_group).map(|group| group.id.clone());
    let (mut named, own_group) = (None, group.clone());
    if let Some(database) = &spec.resources.database {
        let subnets = network_name(spec).map(|name| place.group_of(name, neighbours));
        let made = with_database(object, database, &owner, place, (subnets, group));
        named = made.iter().find_map(database_id);
        resources.extend(made);
    }
    if let Some(iam) = &spec.resources.iam {
        let placement = role_spec::Placement {
            environment: &place.scope,
            workspace: &object.key.name,
            owner: &owner,
            database: named,
            adopt: object.adopts(),
        };
        resources.extend(role_spec::resources(iam, &placement));
    }
    if let Some(groups) = &spec.resources.compute {
        let around = compute::Surroundings {
            scope: &place.scope,
            workspace: &object.key.name,
            owner: &owner,
            adopt: object.adopts(),
            network: network.map(|network| subnets(network, place, neighbours)),
            security_groups: own_group.map(only),
        };
        resources.extend(compute::resources(groups, &around));
    }
    resources.extend(by_themselves(object, spec, place, &owner));
    resources
}

/// Returns the resources of a workspace that stand by themselves, whatever else it has.
fn by_themselves(
    object: &Object,
    spec: &WorkspaceSpec,
    place: &Place,
    owner: &str,
) -> Vec<Resource> {
    let (scope, workspace, adopt) = (&place.scope, &*object.key.name, object.adopts());
    let mut resources = Vec::new();
    if let Some(secrets) = &spec.resources.secrets {
        let placement = secret_spec::Placement { scope, workspace, owner, adopt };
        resources.extend(secret_spec::resources(secrets, &placement));
    }
    if let Some(buckets) = &spec.resources.buckets {
        let placement = bucket_spec::Placement { scope, workspace, owner, adopt };
        resources.extend(bucket_spec::resources(buckets, &placement));
    }
    if let Some(dns) = &spec.resources.dns {
        let placement = dns_spec::Placement { environment: scope, owner, adopt };
        resources.extend(dns_spec::resources(dns, &placement));
    }
    if let Some(custom) = &spec.resources.custom {
        let placement = custom_spec::Placement { scope, workspace, owner, adopt };
        resources.extend(custom_spec::resources(custom, &placement));
    }
    resources
}

/// Returns the VPC that no `Network` object declares, as far as the workspace needs it.
fn surroundings(
    object: &Object,
    spec: &WorkspaceSpec,
    place: &Place,
    neighbours: &dyn Neighbours,
) -> Vec<Resource> {
    let Some(network) = &spec.resources.network else { return Vec::new() };
    let name = network.vpc_ref.as_str();
    if neighbours.is_network(name, place) {
        return Vec::new();
    }
    let subnets = Subnets::Tagged(&BTreeMap::new());
    let both = vpc_and_group(name, name, (None, subnets), object.adopts(), place);
    let is_used = network.has_group() || spec.resources.compute.is_some();
    // Only databases need a group of subnets.
    let count = match (&spec.resources.database, is_used) {
        (Some(_), _) => 2,
        (None, true) => 1,
        (None, false) => 0,
    };
    both.into_iter().take(count).collect()
}

/// Returns the VPC of a workspace, and the tags by which its `Network` object selects subnets.
fn subnets(
    network: &NetworkSection,
    place: &Place,
    neighbours: &dyn Neighbours,
) -> (ResourceId, BTreeMap<String, String>) {
    let name = network.vpc_ref.as_str();
    let tags = place.network(name, neighbours).and_then(|object| match &object.spec {
        Spec::Network(spec) => Some(spec.subnet_tags.clone()),
        Spec::Workspace(_) => None,
    });
    (place.vpc(name, neighbours), tags.unwrap_or_default())
}

/// Returns the workspace's own security group.
fn security_group(
    object: &Object,
    network: &NetworkSection,
    owner: &str,
    place: &Place,
    neighbours: &dyn Neighbours,
) -> Resource {
    let placement = group_spec::Placement {
        scope: &place.scope,
        agent: &place.agent,
        workspace: &object.key.name,
        name: network.security_group.as_deref(),
        others: declared_groups(network, neighbours),
        owner,
        vpc: place.vpc_id(&network.vpc_ref, neighbours),
        adopt: object.adopts(),
    };
    group_spec::resource(network.ingress.as_deref(), network.egress.as_deref(), &placement)
}

/// Returns the names that the workspaces which the rules name declare for their groups.
fn declared_groups(
    network: &NetworkSection,
    neighbours: &dyn Neighbours,
) -> BTreeMap<String, String> {
    let rules = network.ingress.iter().chain(&network.egress);
    let workspaces = rules.flat_map(|rules| group_spec::lets_in(rules));
    let declared = workspaces.filter_map(|name| {
        let (object, _) = neighbours.find(&Key::new(ObjectKind::Workspace, name))?;
        let Spec::Workspace(spec) = &object.spec else { return None };
        let group = spec.resources.network.as_ref()?.security_group.clone()?;
        Some((name.to_owned(), group))
    });
    declared.collect()
}

/// Returns the member by which IAM names a database: the cluster, or the instance of its own.
fn database_id(resource: &Resource) -> Option<Output> {
    let member = match &resource.id.kind {
        kind if *kind == DB_CLUSTER => "DbClusterResourceId",
        kind if *kind == DB_INSTANCE => "DbiResourceId",
        _ => return None,
    };
    Some(Output {
        of: resource.id.clone(),
        member: member.to_owned(),
        typed: false,
        owner: None,
        adopt: false,
    })
}

fn network_name(spec: &WorkspaceSpec) -> Option<&str> {
    spec.resources.network.as_ref().map(|network| &*network.vpc_ref)
}

/// Returns the database and what it alone needs; the groups are those of its subnets and its own
/// security group.
fn with_database(
    object: &Object,
    database: &Database,
    owner: &str,
    place: &Place,
    (subnets, security_group): (Option<ResourceId>, Option<ResourceId>),
) -> Vec<Resource> {
    let mut resources = Vec::new();
    let group = parameter_group(object, database, owner, place);
    let security_groups = security_group.map(only);
    let subnet_group =
        subnets.map(|of| Input::Output { of, member: "DBSubnetGroupName".to_owned() });
    let parameter_group = group.as_ref().map(|group| Input::Output {
        of: group.id.clone(),
        member: "DBParameterGroupName".to_owned(),
    });
    resources.extend(group);
    if let Some(cluster) = database.aurora() {
        let around = aurora::Surroundings {
            scope: &place.scope,
            agent: &place.agent,
            production: place.production,
            name: &object.key.name,
            owner,
            adopts: object.adopts(),
            policy: object.policy(),
            subnet_group,
            parameter_group,
            security_groups,
        };
        resources.extend(aurora::resources(database, &cluster, &around));
        return resources;
    }
    let placement = Placement {
        scope: &place.scope,
        name: &object.key.name,
        owner,
        production: place.production,
        subnet_group,
        parameter_group,
        security_groups,
    };
    let mut instance = instance_spec::resource(database, &placement);
    instance.adopt |= object.adopts();
    resources.push(instance);
    resources
}

/// Returns a list that holds the id of one security group.
fn only(group: ResourceId) -> Input {
    let member = group_spec::GROUP_ID.to_owned();
    let output = Output { of: group, member, typed: false, owner: None, adopt: false };
    Input::Template {
        value: ["${network.group}"].into_iter().collect(),
        outputs: BTreeMap::from([("network.group".to_owned(), output)]),
        needs: BTreeSet::new(),
    }
}

fn network(object: &Object, spec: &NetworkSpec, place: &Place) -> Vec<Resource> {
    let name = &object.key.name;
    if let Some(vpc) = &spec.vpc {
        return vpc.resources(&Around {
            scope: &place.scope,
            network: name,
            owner: &place.owner(object.key.kind, name),
            group: &place.group(name, spec.subnet_group.as_deref()).name,
            subnet_tags: &spec.subnet_tags,
            adopt: object.adopts(),
        });
    }
    let vpc_name = spec.vpc_name.as_deref().unwrap_or(name);
    let subnets = match &spec.subnet_ids {
        Some(ids) => Subnets::Ids(ids),
        None => Subnets::Tagged(&spec.subnet_tags),
    };
    let group = (spec.subnet_group.as_deref(), subnets);
    vpc_and_group(name, vpc_name, group, object.adopts(), place).into()
}

/// Returns the VPC, which is only read, and the DB subnet group in it, under the name that is
/// declared for it.
fn vpc_and_group(
    network: &str,
    vpc_name: &str,
    (declared, subnets): (Option<&str>, Subnets<'_>),
    adopt: bool,
    place: &Place,
) -> [Resource; 2] {
    let owner = place.owner(ObjectKind::Network, network);
    let vpc = blank(place.id(VPC, vpc_name), "network", owner);
    let name = place.group(network, declared).name;
    let mut group =
        subnet_group_spec::resource(&place.scope, &name, &vpc.owner, &vpc.id, subnets, None);
    group.adopt = adopt;
    [vpc, group]
}

/// Returns the parameter group of the database's own, if it declares parameters.
fn parameter_group(
    object: &Object,
    database: &Database,
    owner: &str,
    place: &Place,
) -> Option<Resource> {
    let parameters = database.parameter_fields()?;
    let family = database.family()?;
    let base = format!("{}-{}", place.agent, object.key.name);
    let derived = || parameter_group_spec::group_name(&base, &family);
    let name = database.parameter_group.clone().unwrap_or_else(derived);
    let tags = database.tags.as_ref().filter(|_| database.parameter_group.is_none());
    let mut group =
        parameter_group_spec::resource(&place.scope, &name, owner, &family, parameters, tags);
    group.adopt = database.adopt || object.adopts();
    Some(group)
}

fn blank(id: ResourceId, section: &'static str, owner: String) -> Resource {
    Resource {
        id,
        section: Cow::Borrowed(section),
        fields: BTreeMap::new(),
        initial: BTreeMap::new(),
        owner,
        adopt: false,
        notices: Vec::new(),
        refusals: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::manifest::parse;
    use crate::model::{AccountId, Region, Scope};

    fn place() -> Place {
        let scope =
            Scope { account: AccountId::new("000000000012"), region: Region::new("eu-west-1") };
        Place { scope, agent: "level".to_owned(), production: true }
    }

    /// Networks that are known by name alone.
    struct Named<'a>(&'a [&'a str]);

    impl Neighbours for Named<'_> {
        fn is_network(&self, name: &str, _place: &Place) -> bool {
            self.0.contains(&name)
        }

        fn find(&self, _key: &Key) -> Option<(Arc<Object>, Place)> {
            None
        }
    }

    fn expanded(kind: &str, spec: &str, networks: &[&str]) -> Vec<Resource> {
        let text = format!(
            "apiVersion: platform.kby.io/v1alpha1\nkind: {kind}\nmetadata: {{name: team-a}}\nspec:\n  \
             environment: production\n{spec}"
        );
        let parsed = parse("file.yaml", text.as_bytes());
        assert!(!parsed.is_broken(), "{:?}", parsed.problems);
        expand(&parsed.objects[0], &place(), &Named(networks))
    }

    fn ids(resources: &[Resource]) -> Vec<String> {
        resources.iter().map(|resource| resource.id.to_string()).collect()
    }

    const DATABASE: &str = "  resources:\n    database: {engine: postgres, version: \"15\", \
        sizeClass: db.r6g.large, parameters: {max_connections: 100}}\n    network: {vpcRef: Shared}\n";

    #[test]
    fn a_workspace_brings_the_vpc_and_its_group_unless_a_network_does() {
        let alone = expanded("Workspace", DATABASE, &[]);
        let own = ["db_parameter_group/level-team-a-postgres15", "db_instance/team-a"];
        let shared = ["vpc/Shared", "db_subnet_group/level-shared"];
        assert_eq!(ids(&alone), [shared, own].concat());
        let within = expanded("Workspace", DATABASE, &["Shared"]);
        assert_eq!(ids(&within), own);
        assert_eq!(alone[3], within[1], "the database is the same in both cases");
        let group = within[1].fields["subnetGroup"].references();
        assert_eq!(group[0].to_string(), "db_subnet_group/level-shared");
    }

    #[test]
    fn a_group_is_the_same_whether_a_network_or_a_workspace_brings_it() {
        let spec = "  resources:\n    database: {engine: postgres, version: \"15\", sizeClass: \
            db.r6g.large}\n    network: {vpcRef: team-a}\n";
        let of_workspace = expanded("Workspace", spec, &[]);
        let of_network = expanded("Network", "", &[]);
        assert_eq!(of_workspace[..2], of_network[..]);
        assert_eq!(of_network[1].owner, "level/Network/team-a");
        assert_eq!(of_workspace[2].owner, "level/Workspace/team-a");
    }

    #[test]
    fn the_tags_of_subnets_are_part_of_the_reference() {
        let network = expanded("Network", "  vpcName: Main\n  subnetTags: {tier: data}\n", &[]);
        assert_eq!(ids(&network), ["vpc/Main", "db_subnet_group/level-team-a"]);
        let Input::Select { of, list, tags, member } = &network[1].fields["subnetIds"] else {
            panic!("{:?}", network[1].fields)
        };
        assert_eq!((of, list.as_str(), member.as_str()), (&network[0].id, "Subnets", "SubnetId"));
        assert_eq!(tags["tier"], "data");
    }

    #[test]
    fn an_aurora_database_brings_its_groups_its_cluster_and_then_its_members() {
        let spec = "  resources:\n    database: {engine: aurora-postgresql, version: \"16\", \
            sizeClass: db.r6g.large, iamAuthentication: true, parameters: {work_mem: 4096}, cluster: {parameters: \
            {rds.force_ssl: 1}, members: {b: {}, a: {promotionTier: 0, sizeClass: db.r6g.xlarge}}}}\n    \
            network: {vpcRef: Shared}\n    iam: {roles: {api: {trust: {services: \
            [ecs-tasks.amazonaws.com]}, databaseAccess: {users: [app]}, \
            description: \"reads ${database.readerEndpoint}\"}}}\n";
        let resources = expanded("Workspace", spec, &["Shared"]);
        assert_eq!(
            ids(&resources),
            [
                "db_parameter_group/level-team-a-aurora-postgresql16",
                "db_cluster_parameter_group/level-team-a-cluster-aurora-postgresql16",
                "db_cluster/team-a",
                "db_instance/team-a-a",
                "db_instance/team-a-b",
                "iam_role/team-a-api",
            ]
        );
        let references = |at: usize| -> Vec<String> {
            resources[at].references().iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            references(2),
            [
                "db_cluster_parameter_group/level-team-a-cluster-aurora-postgresql16",
                "db_parameter_group/level-team-a-aurora-postgresql16",
                "db_subnet_group/level-shared",
            ]
        );
        assert_eq!(
            references(4),
            ["db_cluster/team-a", "db_parameter_group/level-team-a-aurora-postgresql16"]
        );
        assert_eq!(resources[3].section, "database.cluster.members.a");
        assert_eq!(resources[3].fields["sizeClass"], Input::Known("db.r6g.xlarge".into()));
        assert_eq!(resources[4].fields["sizeClass"], Input::Known("db.r6g.large".into()));
        let access = &resources[5].fields["databaseAccess"];
        assert_eq!(access.references()[0].to_string(), "db_cluster/team-a");
        let described = &resources[5].fields["description"];
        assert_eq!(described.references()[0].to_string(), "db_cluster/team-a");
    }

    #[test]
    fn a_number_of_members_names_them_by_numbers_and_one_is_the_default() {
        let members = |cluster: &str| {
            let spec = format!(
                "  resources:\n    database: {{engine: aurora-mysql, version: \"8.0\", \
                 sizeClass: db.r6g.large{cluster}}}\n"
            );
            let mut ids = ids(&expanded("Workspace", &spec, &[]));
            ids.remove(0);
            ids
        };
        assert_eq!(members(""), ["db_instance/team-a-1"]);
        let two = ["db_instance/team-a-1", "db_instance/team-a-2"];
        assert_eq!(members(", cluster: {members: 2}"), two);
        assert_eq!(members(", cluster: {members: {\"1\": {}, \"2\": {}}}"), two);
    }

    #[test]
    fn a_resource_comes_after_everything_that_it_refers_to() {
        let resources = expanded("Workspace", DATABASE, &[]);
        for (at, resource) in resources.iter().enumerate() {
            for reference in resource.references() {
                assert!(resources[..at].iter().any(|earlier| earlier.id == *reference));
            }
        }
    }

    const OPEN: &str = "  resources:\n    network:\n      vpcRef: Shared\n      ingress: \
        [{port: 5432, workspace: team-b}, {port: 5432, self: true}, {port: 22, cidr: 10.0.0.1/8}]\n";

    #[test]
    fn ingress_makes_a_security_group_in_the_vpc_of_the_workspace() {
        let alone = expanded("Workspace", OPEN, &[]);
        assert_eq!(ids(&alone), ["vpc/Shared", "security_group/level-team-a"]);
        let within = expanded("Workspace", OPEN, &["Shared"]);
        assert_eq!(ids(&within), ["security_group/level-team-a"]);
        let vpc = |resource: &Resource| resource.fields["vpcRef"].references()[0].to_string();
        assert_eq!(vpc(&alone[1]), "vpc/Shared");
        assert_eq!(vpc(&within[0]), "db_subnet_group/level-shared");
        let fields = &within[0].fields;
        assert_eq!(fields["ingress.addresses"], Input::Known(json!(["tcp 22 10.0.0.0/8"])));
        assert!(!fields.contains_key("egress.addresses"));
        let Input::Template { value, outputs, .. } = &fields["ingress.groups"] else {
            panic!("{fields:?}")
        };
        assert_eq!(*value, json!(["tcp 5432 ${workspace.team-b}", "tcp 5432 self"]));
        let output = &outputs["workspace.team-b"];
        assert_eq!(output.of.to_string(), "security_group/level-team-b");
        assert_eq!(output.owner.as_deref(), Some("level/Workspace/team-b"));
    }

    #[test]
    fn a_database_that_declares_no_groups_has_the_workspaces_own() {
        let both = format!(
            "{OPEN}{}",
            "    database: {engine: postgres, version: \"15\", \
            sizeClass: db.r6g.large}\n"
        );
        let resources = expanded("Workspace", &both, &["Shared"]);
        assert_eq!(ids(&resources), ["security_group/level-team-a", "db_instance/team-a"]);
        assert_eq!(resources[1].fields["securityGroups"].references(), [&resources[0].id]);
        let declared = both.replace("db.r6g.large", "db.r6g.large, securityGroups: [sg-1]");
        let resources = expanded("Workspace", &declared, &["Shared"]);
        assert_eq!(resources[1].fields["securityGroups"], Input::Known(json!(["sg-1"])));
        let database = expanded("Workspace", DATABASE, &[]).remove(3);
        assert!(!database.fields.contains_key("securityGroups"), "no group, nothing is managed");
    }

    #[test]
    fn a_workspace_without_a_database_asks_for_nothing() {
        assert!(
            expanded("Workspace", "  resources: {network: {vpcRef: Shared}}\n", &[]).is_empty()
        );
    }
}
