//! What the section of an Aurora database alone proves wrong.
//!
//! Source, where no other is named: the API reference of `CreateDBCluster`.

use std::collections::BTreeSet;

use super::check::{class_at, parameters_at, window};
use super::cluster::{Cluster, Members, Serverless};
use super::engine::Engine;
use super::spec::{Database, Storage};
use crate::model::problem::pointer_part;
use crate::model::Finding;

type Findings = Vec<Finding>;

/// A cluster has a writer and up to 15 replicas ("Replication with Amazon Aurora" in the Aurora User
/// Guide).
pub(super) const MOST_MEMBERS: u32 = 16;

/// The class of members that scale by themselves.
const SERVERLESS: &str = "db.serverless";

/// Finds what is wrong with a database that is a cluster.
pub(super) fn check(database: &Database, cluster: &Cluster, found: &mut Findings) {
    for (pointer, is_declared, hint) in instance_only(database) {
        if is_declared {
            let message = "an Aurora database has no such setting";
            found.push(Finding::error(pointer, "NotForAurora", message).hint(hint));
        }
    }
    storage(database.storage.as_ref(), found);
    if database.backups.as_ref().is_some_and(|backups| backups.retention_days == Some(0)) {
        let message = "backups of an Aurora database cannot be turned off";
        found.push(
            Finding::error("/backups/retentionDays", "OutOfRange", message).hint("from 1 to 35"),
        );
    }
    members(database, cluster, found);
    let group = cluster.parameter_group.as_deref();
    parameters_at("/cluster", cluster.parameters.as_ref(), group, found);
    if cluster.parameter_group.as_ref().is_some_and(String::is_empty) {
        found.push(Finding::error("/cluster/parameterGroup", "EmptyName", "the name is empty"));
    }
    let is_mysql = Engine::of(&database.engine) == Some(Engine::AuroraMySql);
    if cluster.backtrack_seconds.is_some_and(|seconds| seconds > 0) && !is_mysql {
        let message = "only Aurora MySQL can be taken back";
        found.push(Finding::error("/cluster/backtrackSeconds", "BacktrackNeedsMySql", message));
    }
    serverless(database, cluster, found);
}

/// Lists what only an instance of its own has: where it stands, whether it is declared, and what to
/// do instead.
fn instance_only(database: &Database) -> [(&'static str, bool, &'static str); 8] {
    let storage = database.storage.as_ref();
    let has = |test: fn(&Storage) -> bool| storage.is_some_and(test);
    let grows = "leave it out: Aurora's storage grows and shrinks by itself";
    [
        ("/storage/sizeGiB", has(|it| it.size_gib.is_some()), grows),
        ("/storage/maxSizeGiB", has(|it| it.max_size_gib.is_some()), grows),
        ("/storage/iops", has(|it| it.iops.is_some()), "storage.type: aurora-iopt1"),
        ("/storage/throughputMiBps", has(|it| it.throughput_mibps.is_some()), "leave it out"),
        (
            "/multiAz",
            database.multi_az.is_some(),
            "cluster.members: 2; AWS spreads members over the zones",
        ),
        (
            "/availabilityZone",
            database.availability_zone.is_some(),
            "declare it for a member, under cluster.members",
        ),
        ("/optionGroup", database.option_group.is_some(), "leave it out"),
        ("/licenseModel", database.license_model.is_some(), "leave it out"),
    ]
}

fn storage(storage: Option<&Storage>, found: &mut Findings) {
    let Some(storage) = storage else { return };
    let kind = storage.kind.as_deref().unwrap_or("aurora").to_ascii_lowercase();
    if !["aurora", "aurora-iopt1"].contains(&kind.as_str()) {
        let message = format!("{kind} is no storage type of Aurora");
        found.push(
            Finding::error("/storage/type", "UnknownStorageType", message)
                .hint("aurora, or aurora-iopt1 for I/O-optimised"),
        );
    }
    if storage.encrypted == Some(false) && storage.kms_key.is_some() {
        let message = "a key without encryption has no effect";
        found.push(Finding::error("/storage/kmsKey", "KeyWithoutEncryption", message));
    }
    super::check::alias("/storage/kmsKey", storage.kms_key.as_deref(), found);
}

fn members(database: &Database, cluster: &Cluster, found: &mut Findings) {
    let count = match &cluster.members {
        None => 1,
        Some(Members::Count(count)) => *count,
        Some(Members::Named(members)) => u32::try_from(members.len()).unwrap_or(u32::MAX),
    };
    if !(1..=MOST_MEMBERS).contains(&count) {
        let message = format!("a cluster has 1 to {MOST_MEMBERS} members, not {count}");
        found.push(Finding::error("/cluster/members", "MembersOutOfRange", message));
    }
    let Some(Members::Named(named)) = &cluster.members else { return };
    let backup = database.backups.as_ref().and_then(|backups| backups.window.as_deref());
    let backup = backup.and_then(crate::model::Window::daily);
    let mut identifiers = BTreeSet::new();
    for (name, member) in named {
        let place = format!("/cluster/members/{}", pointer_part(name));
        member_name(name, &place, found);
        if let Some(class) = &member.size_class {
            class_at(&format!("{place}/sizeClass"), class, database, found);
        }
        let at = format!("{place}/maintenanceWindow");
        let weekly = window(&at, member.maintenance_window.as_deref(), true, found);
        if weekly.zip(backup).is_some_and(|(weekly, daily)| weekly.overlaps(daily)) {
            let message = "the backup window and the maintenance window overlap";
            found.push(Finding::error(&at, "WindowsOverlap", message));
        }
        if let Some(identifier) = &member.identifier {
            let at = format!("{place}/identifier");
            if let Some(mistake) = super::check::identifier_mistake(identifier) {
                found.push(Finding::error(&at, "InvalidIdentifier", mistake));
            }
            if !identifiers.insert(identifier.to_ascii_lowercase()) {
                let message = format!("{identifier} is another member as well");
                found.push(Finding::error(&at, "DuplicateMember", message));
            }
        }
    }
}

fn member_name(name: &str, place: &str, found: &mut Findings) {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_good = !name.is_empty()
        && name.chars().all(is_plain)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--");
    if !is_good {
        let message = format!("\"{name}\" is no name for a member");
        found.push(
            Finding::error(place, "InvalidMemberName", message)
                .hint("lower-case letters, digits and single hyphens"),
        );
    }
}

fn serverless(database: &Database, cluster: &Cluster, found: &mut Findings) {
    let is_serverless = |class: &str| class.eq_ignore_ascii_case(SERVERLESS);
    let members = cluster.named_members();
    let has_any = members.iter().any(|(_, member)| {
        is_serverless(member.size_class.as_deref().unwrap_or(&database.size_class))
    });
    match &cluster.serverless {
        None if has_any => found.push(
            Finding::error("/cluster", "CapacityMissing", "db.serverless needs a range of capacity")
                .hint("cluster.serverless: {minCapacity: 0.5, maxCapacity: 8}"),
        ),
        Some(range) => {
            capacity(range, found);
            if !has_any {
                let message = "without a member of class db.serverless the range has no effect";
                found.push(Finding::notice("/cluster/serverless", "NoEffect", message));
            }
        }
        None => {}
    }
}

/// Source: the API reference of `ServerlessV2ScalingConfiguration`.
fn capacity(range: &Serverless, found: &mut Findings) {
    let mut wrong = |field: &str, message: String| {
        let pointer = format!("/cluster/serverless/{field}");
        found.push(Finding::error(&pointer, "InvalidCapacity", message));
    };
    for (field, units) in [("minCapacity", range.min_capacity), ("maxCapacity", range.max_capacity)] {
        if (units * 2.0).fract() != 0.0 {
            wrong(field, format!("{units} Aurora capacity units are no multiple of a half"));
        }
    }
    if range.min_capacity > range.max_capacity {
        let (least, most) = (range.min_capacity, range.max_capacity);
        wrong("minCapacity", format!("{least} is more than the maxCapacity of {most}"));
    }
    if range.auto_pause_seconds.is_some() && range.min_capacity > 0.0 {
        wrong("autoPauseSeconds", "a member is paused only with minCapacity: 0".to_owned());
    }
}
