//! From a `database` section with an Aurora engine to its cluster, groups and members.
//!
//! In: the section and where it belongs. Out: [`Resource`]s in the order of their dependencies: the
//! parameter groups, the cluster, its members. The fields of each are built by its kind; what of the
//! section is whose is said here, and in the kinds' own words.

use crate::kinds::db_cluster::spec as cluster_spec;
use crate::kinds::db_cluster_parameter_group::spec as group_spec;
use crate::kinds::db_instance::spec::{
    self as section, Cluster, Database, Engine, MemberPlacement, member_resource,
};
use crate::model::{Input, Policy, Resource, Scope};

/// The path that leaves the set of members to somebody else.
const MEMBERS: &str = "database.cluster.members";

/// Says where an Aurora database lives, whose it is, and what it uses.
pub(super) struct Surroundings<'a> {
    pub(super) scope: &'a Scope,
    /// The agent's name, the first part of the groups' names.
    pub(super) agent: &'a str,
    pub(super) production: bool,
    /// The name of the object.
    pub(super) name: &'a str,
    /// The value of the ownership tag.
    pub(super) owner: &'a str,
    pub(super) adopts: bool,
    pub(super) policy: &'a Policy,
    /// The name of the DB subnet group, if the workspace declares a network.
    pub(super) subnet_group: Option<Input>,
    /// The name of the members' parameter group, if they have one of their own.
    pub(super) parameter_group: Option<Input>,
    /// The security groups of a database that declares none, if the workspace has one of its own.
    pub(super) security_groups: Option<Input>,
}

/// Returns the cluster parameter group, the cluster, and its members.
pub(super) fn resources(
    database: &Database,
    cluster: &Cluster,
    around: &Surroundings<'_>,
) -> Vec<Resource> {
    let adopt = database.adopt || around.adopts;
    let identifier = section::identifier(database, around.name);
    let group = parameter_group(database, cluster, around);
    let names = group.as_ref().map(|group| Input::Output {
        of: group.id.clone(),
        member: "DBClusterParameterGroupName".to_owned(),
    });
    let named = |name: &Option<String>| name.as_deref().map(|name| Input::Known(name.into()));
    let placement = cluster_spec::Placement {
        scope: around.scope,
        identifier: &identifier,
        mistake: section::identifier_mistake(&identifier),
        owner: around.owner,
        adopt,
        production: around.production,
        default_username: Engine::of(&database.engine).map_or("admin", Engine::master_username),
        subnet_group: around.subnet_group.clone(),
        security_groups: around.security_groups.clone(),
        parameter_group: names.or_else(|| named(&cluster.parameter_group)),
        members_parameter_group: around
            .parameter_group
            .clone()
            .or_else(|| named(&database.parameter_group)),
    };
    let wanted = wanted(database, cluster, &identifier, around.policy);
    let cluster_resource = cluster_spec::resource(&wanted, placement);
    let member = MemberPlacement {
        scope: around.scope,
        cluster_identifier: &identifier,
        cluster: Input::Output {
            of: cluster_resource.id.clone(),
            member: "DBClusterIdentifier".to_owned(),
        },
        owner: around.owner,
        parameter_group: around.parameter_group.clone(),
    };
    let members = cluster.named_members();
    let members = members.iter().map(|(name, one)| {
        let resource = member_resource(database, (name, one), &member);
        Resource { adopt, ..resource }
    });
    group.into_iter().chain([cluster_resource]).chain(members).collect()
}

/// Returns the cluster parameter group of the database's own, if it declares parameters.
fn parameter_group(
    database: &Database,
    cluster: &Cluster,
    around: &Surroundings<'_>,
) -> Option<Resource> {
    let parameters = cluster.parameter_fields()?;
    let family = database.family()?;
    let base = format!("{}-{}", around.agent, around.name);
    let derived = || group_spec::group_name(&base, &family);
    let name = cluster.parameter_group.clone().unwrap_or_else(derived);
    let tags = database.tags.as_ref().filter(|_| cluster.parameter_group.is_none());
    let group = group_spec::resource(around.scope, &name, around.owner, &family, parameters, tags);
    Some(Resource { adopt: database.adopt || around.adopts, ..group })
}

/// Says what the cluster is to be.
fn wanted<'a>(
    database: &'a Database,
    cluster: &Cluster,
    identifier: &str,
    policy: &Policy,
) -> cluster_spec::Cluster<'a> {
    let storage = database.storage.as_ref();
    let backups = database.backups.as_ref();
    let identifiers = || {
        let members = cluster.named_members();
        members.iter().map(|(name, member)| member.identifier(identifier, name)).collect()
    };
    let is_watched = policy.ignore.iter().all(|path| path != MEMBERS);
    cluster_spec::Cluster {
        engine: &database.engine,
        version: &database.version,
        members: is_watched.then(identifiers),
        serverless: cluster.serverless.as_ref().map(|range| cluster_spec::Serverless {
            min: range.min_capacity,
            max: range.max_capacity,
            auto_pause_seconds: range.auto_pause_seconds,
        }),
        storage_type: storage.and_then(|storage| storage.kind.as_deref()),
        encrypted: storage.and_then(|storage| storage.encrypted),
        kms_key: storage.and_then(|storage| storage.kms_key.as_deref()),
        retention_days: backups.and_then(|backups| backups.retention_days),
        backup_window: backups.and_then(|backups| backups.window.as_deref()),
        copy_tags_to_snapshots: backups.and_then(|backups| backups.copy_tags_to_snapshots),
        backtrack_seconds: cluster.backtrack_seconds,
        maintenance_window: database.maintenance_window.as_deref(),
        deletion_protection: database.deletion_protection,
        security_groups: database.security_groups.as_deref(),
        port: database.port,
        database_name: database.database_name.as_deref(),
        master_username: database.master_username.as_deref(),
        manage_master_password: database.manage_master_password,
        iam_authentication: database.iam_authentication,
        allow_major_version_upgrade: database.allow_major_version_upgrade,
        log_exports: database.log_exports.as_deref(),
        snapshot: database.restore_from.as_ref().map(|from| from.snapshot.as_str()),
        tags: database.tags.as_ref(),
    }
}
