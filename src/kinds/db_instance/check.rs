//! What the `database` section alone proves wrong, before AWS is asked.
//!
//! In: a [`Database`]. Out: every [`Finding`] at once. Where AWS's limits depend on the region or
//! change from year to year, the check stays silent and AWS decides; fixed ranges stand in the
//! section's schema, which every manifest is held against.
//!
//! Source, where no other is named: the API reference of `CreateDBInstance`.

use std::collections::BTreeMap;

use super::check_cluster;
use super::check_storage;
use super::engine::{ENGINES, Engine, family};
use super::spec::{Database, Monitoring, Parameter, PerformanceInsights};
use crate::kinds::policy_document::Place;
use crate::kinds::tag_rules::{self, Tagged};
use crate::model::problem::pointer_part;
use crate::model::reference::has_marker;
use crate::model::{Finding, Window};

type Findings = Vec<Finding>;

/// Of the 50 tags of a database, two are Levelset's own. Source: the RDS User Guide, "Tagging Amazon RDS
/// resources".
const TAGS: Tagged = Tagged { what: "a database", most: 48, reserved: &["rds:"] };

/// Finds what the section alone proves wrong.
pub fn check(database: &Database) -> Vec<Finding> {
    let mut found = Findings::new();
    engine(database, &mut found);
    class(database, &mut found);
    names(database, &mut found);
    placement(database, &mut found);
    windows(database, &mut found);
    parameters(database, &mut found);
    credentials(database, &mut found);
    insights(database.performance_insights.as_ref(), &mut found);
    monitoring(database.monitoring.as_ref(), &mut found);
    logs(database, &mut found);
    tag_rules::check(&TAGS, database.tags.as_ref(), &Place::new("/tags".to_owned()), &mut found);
    match database.aurora() {
        Some(cluster) => check_cluster::check(database, &cluster, &mut found),
        None => single(database, &mut found),
    }
    found
}

/// Finds what is wrong with a database that is an instance of its own.
fn single(database: &Database, found: &mut Findings) {
    check_storage::check(database, found);
    if database.cluster.is_some() {
        let message = format!("{} has no cluster here", database.engine);
        found.push(
            Finding::error("/cluster", "ClusterNeedsAurora", message)
                .hint("engine: aurora-postgresql or aurora-mysql; multiAz: true for a standby"),
        );
    }
}

fn engine(database: &Database, found: &mut Findings) {
    let name = database.engine.to_ascii_lowercase();
    if Engine::of(&name).is_none() {
        found.push(
            Finding::error("/engine", "UnknownEngine", format!("no DB instance has engine {name}"))
                .hint(format!("one of {}", ENGINES.join(", "))),
        );
    }
    version(database, found);
}

fn version(database: &Database, found: &mut Findings) {
    let text = database.version.as_str();
    let is_number =
        |part: &str| !part.is_empty() && part.chars().all(|letter| letter.is_ascii_digit());
    let parts: Vec<&str> = text.split('.').collect();
    if !parts.first().is_some_and(|part| is_number(part)) || parts.iter().any(|p| p.is_empty()) {
        found.push(
            Finding::error("/version", "InvalidVersion", format!("\"{text}\" is no version"))
                .hint("a quoted version such as \"15\" or \"15.4\""),
        );
    } else if Engine::of(&database.engine).is_some() && family(&database.engine, text).is_none() {
        let message = format!("{} {text} does not name a major version", database.engine);
        found.push(
            Finding::error("/version", "VersionTooShort", message)
                .hint("write both parts, as in \"8.0\" or \"8.4\""),
        );
    }
}

fn class(database: &Database, found: &mut Findings) {
    class_at("/sizeClass", &database.size_class, database, found);
}

/// Checks the class of the instance or of a member.
pub(super) fn class_at(pointer: &str, text: &str, database: &Database, found: &mut Findings) {
    let class = text.to_ascii_lowercase();
    let is_serverless = class == "db.serverless";
    let mut parts = class.split('.');
    let is_class = parts.next() == Some("db")
        && parts.next().is_some_and(|family| !family.is_empty())
        && parts.next().is_some_and(|size| !size.is_empty());
    if !is_class && !is_serverless {
        let message = format!("{text} is no DB instance class");
        found.push(
            Finding::error(pointer, "InvalidSizeClass", message).hint("as in db.r6g.large"),
        );
    }
    if is_serverless && !Engine::of(&database.engine).is_some_and(Engine::is_aurora) {
        let message = "db.serverless runs in an Aurora cluster";
        found.push(
            Finding::error(pointer, "ServerlessNeedsAurora", message)
                .hint("engine: aurora-postgresql or aurora-mysql"),
        );
    }
}

fn names(database: &Database, found: &mut Findings) {
    if let Some(name) = &database.identifier
        && let Some(mistake) = identifier_mistake(name)
    {
        found.push(Finding::error("/identifier", "InvalidIdentifier", mistake));
    }
    let group = |pointer: &str, name: &Option<String>, found: &mut Findings| {
        if name.as_ref().is_some_and(String::is_empty) {
            found.push(Finding::error(pointer, "EmptyName", "the name is empty"));
        }
    };
    group("/parameterGroup", &database.parameter_group, found);
    group("/optionGroup", &database.option_group, found);
    group("/caCertificate", &database.ca_certificate, found);
    if let Some(from) = &database.restore_from
        && from.snapshot.is_empty()
    {
        found.push(Finding::error("/restoreFrom/snapshot", "EmptyName", "the name is empty"));
    }
}

/// Says what is wrong with the identifier of a DB instance or cluster.
pub fn identifier_mistake(name: &str) -> Option<String> {
    let rule = if name.is_empty() || name.len() > 63 {
        "has to have 1 to 63 characters"
    } else if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        "has to start with a letter"
    } else if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-') {
        "may hold letters, digits and hyphens only"
    } else if name.ends_with('-') || name.contains("--") {
        "may not end with a hyphen or hold two in a row"
    } else {
        return None;
    };
    Some(format!("the DB instance identifier \"{name}\" {rule}"))
}

fn placement(database: &Database, found: &mut Findings) {
    if database.multi_az == Some(true) && database.availability_zone.is_some() {
        found.push(
            Finding::error(
                "/availabilityZone",
                "MultiAZWithAvailabilityZone",
                "a Multi-AZ database has no Availability Zone of its own",
            )
            .hint("leave out one of multiAz and availabilityZone"),
        );
    }
    if database.security_groups.as_ref().is_some_and(Vec::is_empty) {
        found.push(
            Finding::error("/securityGroups", "NoSecurityGroup", "a database has at least one")
                .hint("leave the field out to let AWS choose the VPC's default group"),
        );
    }
    for (index, id) in database.security_groups.iter().flatten().enumerate() {
        if !id.starts_with("sg-") && !has_marker(id) {
            let message = format!("{id} is no id of a security group");
            let pointer = format!("/securityGroups/{index}");
            found.push(
                Finding::error(&pointer, "InvalidSecurityGroup", message).hint("as in sg-0123abcd"),
            );
        }
    }
}

fn windows(database: &Database, found: &mut Findings) {
    let backup = database.backups.as_ref().and_then(|backups| backups.window.as_deref());
    let weekly = window("/maintenanceWindow", database.maintenance_window.as_deref(), true, found);
    let daily = window("/backups/window", backup, false, found);
    if let (Some(weekly), Some(daily)) = (weekly, daily)
        && weekly.overlaps(daily)
    {
        let message = "the backup window and the maintenance window overlap";
        found.push(Finding::error("/backups/window", "WindowsOverlap", message));
    }
}

pub(super) fn window(
    pointer: &str,
    text: Option<&str>,
    weekly: bool,
    found: &mut Findings,
) -> Option<Window> {
    let text = text?;
    let (read, form) = if weekly {
        (Window::weekly(text), "ddd:hh:mm-ddd:hh:mm in UTC, as in sun:05:00-sun:06:00")
    } else {
        (Window::daily(text), "hh:mm-hh:mm in UTC, as in 02:00-03:00")
    };
    let Some(window) = read else {
        let message = format!("\"{text}\" is no window");
        found.push(Finding::error(pointer, "InvalidWindow", message).hint(form));
        return None;
    };
    if window.minutes() < 30 {
        let message = format!("a window of {} minutes is too short", window.minutes());
        found.push(Finding::error(pointer, "WindowTooShort", message).hint("at least 30 minutes"));
    }
    if weekly && window.minutes() > 24 * 60 {
        let message = format!("\"{text}\" is longer than a day");
        found.push(Finding::error(pointer, "WindowTooLong", message).hint("start before end"));
    }
    Some(window)
}

fn parameters(database: &Database, found: &mut Findings) {
    let declared = database.parameters.as_ref();
    parameters_at("", declared, database.parameter_group.as_deref(), found);
}

/// Checks parameters, of the members or of the cluster, and the group that is named beside them.
pub(super) fn parameters_at(
    pointer: &str,
    declared: Option<&BTreeMap<String, Parameter>>,
    group: Option<&str>,
    found: &mut Findings,
) {
    let is_default = |name: &&str| name.to_ascii_lowercase().starts_with("default.");
    if let Some(name) = group.filter(|name| declared.is_some() && is_default(name)) {
        let message = format!("{name} is AWS's own group, whose parameters nobody changes");
        found.push(
            Finding::error(&format!("{pointer}/parameterGroup"), "ParametersOfDefaultGroup", message)
                .hint("leave it out: the parameters make a group of the database's own"),
        );
    }
    for (name, parameter) in declared.into_iter().flatten() {
        let Parameter::Detailed(detailed) = parameter else { continue };
        if detailed.value.is_some() == detailed.reset {
            let name_part = pointer_part(name);
            let pointer = format!("{pointer}/parameters/{name_part}");
            let message = format!("{name} needs either a value or reset: true");
            found.push(Finding::error(&pointer, "ValueOrReset", message));
        }
    }
}

fn credentials(database: &Database, found: &mut Findings) {
    if database.manage_master_password == Some(false) {
        found.push(
            Finding::error(
                "/manageMasterPassword",
                "PasswordNotInGit",
                "without it a password would have to be in Git",
            )
            .hint("leave the field out; an existing database keeps its password"),
        );
    }
    if let Some(name) = &database.master_username
        && !is_word(name, 16)
    {
        let message = format!("\"{name}\" is no name for the master user");
        found.push(
            Finding::error("/masterUsername", "InvalidMasterUsername", message)
                .hint("1 to 16 letters, digits or underscores, the first one a letter"),
        );
    }
    database_name(database, found);
}

fn database_name(database: &Database, found: &mut Findings) {
    let Some(name) = &database.database_name else { return };
    let longest = match Engine::of(&database.engine) {
        Some(Engine::SqlServer) => {
            let message = "RDS for SQL Server makes no database with the instance";
            return found.push(Finding::error("/databaseName", "NoDatabaseName", message));
        }
        Some(Engine::Oracle) => 8,
        Some(Engine::Postgres | Engine::AuroraPostgres) => 63,
        _ => 64,
    };
    if !is_word(name, longest) {
        let message = format!("\"{name}\" is no name for a database");
        let hint =
            format!("1 to {longest} letters, digits or underscores, the first one a letter");
        found.push(Finding::error("/databaseName", "InvalidDatabaseName", message).hint(hint));
    }
}

fn is_word(name: &str, longest: usize) -> bool {
    (1..=longest).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn insights(insights: Option<&PerformanceInsights>, found: &mut Findings) {
    let Some(insights) = insights else { return };
    if let Some(days) = insights.retention_days
        && !(days == 7 || days == 731 || (days.is_multiple_of(31) && (31..=713).contains(&days)))
    {
        let message = format!("Performance Insights cannot keep {days} days");
        found.push(
            Finding::error("/performanceInsights/retentionDays", "InvalidRetention", message)
                .hint("7, a multiple of 31 up to 713, or 731"),
        );
    }
    if !insights.enabled && (insights.kms_key.is_some() || insights.retention_days.is_some()) {
        let message = "without Performance Insights these settings have no effect";
        found.push(Finding::notice("/performanceInsights", "NoEffect", message));
    }
    alias("/performanceInsights/kmsKey", insights.kms_key.as_deref(), found);
}

/// An alias is taken and cannot be compared afterwards.
pub(super) fn alias(pointer: &str, key: Option<&str>, found: &mut Findings) {
    if key.is_some_and(|key| key.contains("alias/")) {
        let message = "an alias cannot be compared with the key that AWS answers";
        found.push(Finding::notice(pointer, "AliasNotComparable", message).hint("the key's ARN"));
    }
}

fn monitoring(monitoring: Option<&Monitoring>, found: &mut Findings) {
    let Some(monitoring) = monitoring else { return };
    let seconds = monitoring.interval_seconds;
    if ![0, 1, 5, 10, 15, 30, 60].contains(&seconds) {
        let message = format!("Enhanced Monitoring cannot measure every {seconds} seconds");
        found.push(
            Finding::error("/monitoring/intervalSeconds", "InvalidInterval", message)
                .hint("0, 1, 5, 10, 15, 30 or 60"),
        );
    }
    match (seconds, &monitoring.role_arn) {
        (0, Some(_)) => {
            let message = "a role needs an interval other than 0";
            found.push(Finding::error("/monitoring/roleArn", "RoleWithoutInterval", message));
        }
        (1.., None) => {
            let message = "an interval other than 0 needs a role";
            found.push(Finding::error("/monitoring/roleArn", "RoleMissing", message));
        }
        _ => {}
    }
}

fn logs(database: &Database, found: &mut Findings) {
    let known = Engine::of(&database.engine).map(Engine::log_types).unwrap_or_default();
    for (index, log) in database.log_exports.iter().flatten().enumerate() {
        if !known.is_empty() && !known.contains(&log.as_str()) {
            let message = format!("{} has no log {log}", database.engine);
            found.push(
                Finding::error(&format!("/logExports/{index}"), "UnknownLog", message)
                    .hint(known.join(", ")),
            );
        }
    }
}
