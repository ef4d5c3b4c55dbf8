//! Laws of the differ and the calls of every kind, on values that nobody chose.

mod aurora;
mod buckets;
mod compute;
mod import;
mod model;
mod nature;
mod networks;
mod records;

use std::collections::{BTreeMap, BTreeSet};

use levelset::diff::diff;
use levelset::kinds::db_instance::spec::{
    Backups, Database, Monitoring, PerformanceInsights, Placement, Storage, check, resource,
};
use levelset::kinds::{self, db_instance};
use levelset::model::{Bound, Compare, Delta, Diff, Kind, Observed, Readiness, Severity, Timing};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use self::model::Instance;
use self::nature::{events, happen, meddle};
use super::cases::{bind, place};

const KIND: &dyn Kind = &db_instance::KIND;

fn bound(database: &Database) -> Bound {
    let scope = place().scope;
    let placement = Placement {
        scope: &scope,
        name: "orders",
        owner: "levelset/Workspace/orders",
        production: false,
        subnet_group: None,
        parameter_group: None,
        security_groups: None,
    };
    bind(&resource(database, &placement), &BTreeMap::new()).unwrap()
}

fn compared(bound: &Bound, seen: &Observed) -> Diff {
    diff(KIND.rules(), bound, seen, &Readiness::Ready, &[])
}

fn created(bound: &Bound) -> Instance {
    let calls = KIND.create(bound);
    assert_eq!(calls.len(), 1);
    Instance::create(&calls[0])
}

fn word(choices: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
    option::of(prop::sample::select(choices).prop_map(str::to_owned))
}

prop_compose! {
    fn storage()(
        kind in word(&["gp3", "gp2", "GP3", "io1"]),
        size_gib in option::of(100_u32..900),
        ceiling in option::of(0_u32..2000),
        iops in 1000_u32..5000,
        encrypted in Just(Some(true)),
    ) -> Storage {
        let is_io = kind.as_deref() == Some("io1");
        let size_gib = if is_io { size_gib.or(Some(100)) } else { size_gib };
        let base = size_gib.unwrap_or(100);
        Storage {
            kind,
            size_gib,
            max_size_gib: ceiling.map(|more| if more < 200 { base } else { base + base.div_ceil(10) + more }),
            iops: is_io.then(|| iops.clamp(base.div_ceil(2), base * 50)),
            throughput_mibps: None,
            encrypted,
            kms_key: None,
        }
    }
}

prop_compose! {
    fn switches()(
        multi_az in option::of(any::<bool>()),
        deletion_protection in option::of(any::<bool>()),
        publicly_accessible in option::of(any::<bool>()),
        iam_authentication in option::of(any::<bool>()),
        auto_minor_version_upgrade in option::of(any::<bool>()),
        insights in option::of((any::<bool>(), word(&["key-1"]))),
        monitoring in option::of(prop::sample::select(&[0_u32, 1, 60])),
        manage in option::of(Just(true)),
    ) -> Database {
        let insights = insights.map(|(enabled, kms_key)| PerformanceInsights {
            enabled,
            retention_days: Some(if enabled { 31 } else { 7 }),
            kms_key,
        });
        let monitoring = monitoring.map(|interval_seconds| Monitoring {
            interval_seconds,
            role_arn: (interval_seconds > 0).then(|| "arn:aws:iam::1:role/m".to_owned()),
        });
        Database {
            multi_az,
            deletion_protection,
            publicly_accessible,
            iam_authentication,
            auto_minor_version_upgrade,
            performance_insights: insights,
            monitoring,
            manage_master_password: manage,
            ..Database::new("postgres", "15", "db.r6g.large")
        }
    }
}

prop_compose! {
    fn database()(
        switches in switches(),
        version in prop::sample::select(&["15", "15.4", "15.7"]),
        class in prop::sample::select(&["db.r6g.large", "db.t4g.medium", "DB.R6G.large"]),
        storage in option::of(storage()),
        days in option::of(0_u32..=35),
        windows in prop::sample::select(&[
            (None, None), (Some("Mon:01:00-mon:02:00"), Some("03:00-04:00")), (Some("sun:23:30-MON:00:30"), None),
        ]),
        groups in (word(&["pg-a", "PG-B"]), word(&["og-a", "OG-B"])),
        ca in word(&["rds-ca-rsa2048-g1", "rds-ca-rsa4096-g1"]),
        port in option::of(prop::sample::select(&[5432_u32, 6000])),
        logs in option::of(prop::sample::subsequence(vec!["postgresql", "upgrade", "iam-db-auth-error"], 0..=3)),
        ids in option::of(vec(prop::sample::select(&["sg-1", "sg-2", "sg-3"]), 1..4)),
        tags in option::of(btree_map("[a-c]", "[x-z]", 0..3)),
    ) -> Database {
        let texts = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect();
        Database {
            version: version.to_owned(),
            size_class: class.to_owned(),
            storage,
            backups: Some(Backups {
                retention_days: days,
                window: windows.1.map(str::to_owned),
                copy_tags_to_snapshots: Some(true),
            }),
            maintenance_window: windows.0.map(str::to_owned),
            parameter_group: groups.0,
            option_group: groups.1,
            ca_certificate: ca,
            port,
            log_exports: logs.map(texts),
            security_groups: ids.map(texts),
            tags,
            ..switches
        }
    }
}

fn timed(deltas: &[Delta], timing: Timing) -> Vec<Delta> {
    deltas.iter().cloned().map(|delta| Delta { timing, ..delta }).collect()
}

/// Carries out what a pass plans, and returns how many calls that were.
fn pass(bound: &Bound, instance: &mut Instance, timing: Timing) -> usize {
    let found = compared(bound, &instance.seen);
    if found.deltas.is_empty() {
        return 0;
    }
    let calls = KIND.update(bound, &instance.seen, &timed(&found.deltas, timing));
    assert!(!calls.is_empty(), "a difference without a call: {found:?}");
    calls.iter().for_each(|call| instance.accept(call));
    calls.len()
}

fn is_as_declared(found: &Diff) -> bool {
    found.deltas.is_empty() && found.waits.is_empty()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_generator_makes_databases_that_the_check_takes(database in database()) {
        let errors: Vec<_> = check(&database)
            .into_iter().filter(|finding| finding.severity == Severity::Error).collect();
        prop_assert!(errors.is_empty(), "{errors:?}");
    }

    #[test]
    fn what_a_creation_made_is_as_declared(database in database()) {
        let bound = bound(&database);
        let found = compared(&bound, &created(&bound).seen);
        prop_assert!(found.is_settled(), "{found:?}");
    }

    #[test]
    fn an_immediate_pass_makes_any_database_as_declared(one in database(), other in database()) {
        let mut instance = created(&bound(&one));
        let wanted = bound(&other);
        pass(&wanted, &mut instance, Timing::Immediate);
        instance.open_window();
        let found = compared(&wanted, &instance.seen);
        prop_assert!(is_as_declared(&found), "{found:?}");
    }

    #[test]
    fn a_pass_in_the_window_policy_is_made_once_and_then_only_waits(one in database(), other in database()) {
        let mut instance = created(&bound(&one));
        let wanted = bound(&other);
        pass(&wanted, &mut instance, Timing::Window);
        let found = compared(&wanted, &instance.seen);
        prop_assert!(found.deltas.is_empty(), "{found:?}");
        prop_assert!(found.waits.iter().all(|wait| wait.code == "Pending"), "{found:?}");
        instance.open_window();
        let found = compared(&wanted, &instance.seen);
        prop_assert!(is_as_declared(&found), "{found:?}");
    }

    #[test]
    fn a_reverted_git_takes_back_everything_that_is_queued(one in database(), other in database()) {
        let first = bound(&one);
        let mut instance = created(&first);
        let before = instance.seen.clone();
        pass(&bound(&other), &mut instance, Timing::Window);
        pass(&first, &mut instance, Timing::Window);
        instance.open_window();
        for field in first.fields.keys() {
            let found = compared(&first, &instance.seen);
            let differs = found.deltas.iter().any(|delta| delta.field == *field);
            prop_assert!(!differs, "{field} of {before:?} became {:?}", instance.seen);
        }
    }

    #[test]
    fn nobodys_queued_change_is_ever_flushed(one in database(), other in database(), immediate in any::<bool>()) {
        let mut instance = created(&bound(&one));
        instance.seen.members["PendingModifiedValues"]["LicenseModel"] = json!("somebody-elses");
        let timing = if immediate { Timing::Immediate } else { Timing::Window };
        pass(&bound(&other), &mut instance, timing);
        prop_assert_eq!(instance.seen.text("LicenseModel"), None);
    }

    #[test]
    fn what_rds_does_by_itself_is_never_drift(database in database(), events in events()) {
        let bound = bound(&database);
        let mut instance = created(&bound);
        for event in events {
            happen(&mut instance, event);
            let ready = KIND.readiness(&instance.seen);
            let found = diff(KIND.rules(), &bound, &instance.seen, &ready, &[]);
            prop_assert!(found.deltas.is_empty() && found.refusals.is_empty(), "{event:?}: {found:?}");
        }
    }

    #[test]
    fn what_a_person_changes_is_always_seen_whatever_rds_did(
        database in database(), events in events(), at in any::<prop::sample::Index>(),
    ) {
        let bound = bound(&database);
        let mut instance = created(&bound);
        events.into_iter().for_each(|event| happen(&mut instance, event));
        let fields: Vec<_> = bound.fields.keys().collect();
        let field = fields[at.index(fields.len())];
        if meddle(&mut instance, &bound, field) {
            let found = compared(&bound, &instance.seen);
            let told = found.deltas.iter().any(|delta| delta.field == *field)
                || found.refusals.iter().any(|refusal| refusal.field == *field);
            prop_assert!(told, "{field}: {found:?}\n{:?}", instance.seen);
        }
    }

    #[test]
    fn order_and_letter_case_never_matter(database in database(), seed in any::<u64>()) {
        let bound = bound(&database);
        let mut seen = created(&bound).seen;
        disguise(&mut seen, seed);
        let found = compared(&bound, &seen);
        prop_assert!(found.is_settled(), "{found:?}");
    }
}

/// Reverses lists and swaps the letter case of texts in which it carries no meaning.
fn disguise(seen: &mut Observed, seed: u64) {
    let names = [
        "Engine",
        "DBInstanceClass",
        "StorageType",
        "PreferredMaintenanceWindow",
        "CACertificateIdentifier",
        "MasterUsername",
    ];
    for (at, name) in names.iter().enumerate() {
        if let Some(Value::String(text)) = seen.members.get_mut(*name)
            && seed >> at & 1 == 1
        {
            *text = text.to_ascii_uppercase();
        }
    }
    for (member, name) in [
        ("DBParameterGroups", "DBParameterGroupName"),
        ("OptionGroupMemberships", "OptionGroupName"),
    ] {
        for item in seen.members.get_mut(member).and_then(Value::as_array_mut).into_iter().flatten()
        {
            let upper = item[name].as_str().map(str::to_ascii_uppercase);
            item[name] = upper.into();
        }
    }
    for member in ["EnabledCloudwatchLogsExports", "VpcSecurityGroups"] {
        if let Some(Value::Array(items)) = seen.members.get_mut(member) {
            items.reverse();
        }
    }
}

/// A database with every field that can be declared together.
fn full() -> Database {
    let text = |text: &str| Some(text.to_owned());
    Database {
        storage: Some(Storage {
            kind: text("gp3"),
            size_gib: Some(500),
            max_size_gib: Some(900),
            iops: Some(13_000),
            throughput_mibps: Some(600),
            encrypted: Some(true),
            kms_key: text("1111"),
        }),
        multi_az: Some(true),
        backups: Some(Backups {
            retention_days: Some(7),
            window: text("02:00-03:00"),
            copy_tags_to_snapshots: Some(true),
        }),
        maintenance_window: text("sun:05:00-sun:06:00"),
        parameter_group: text("pg"),
        option_group: text("og"),
        deletion_protection: Some(true),
        publicly_accessible: Some(true),
        iam_authentication: Some(true),
        auto_minor_version_upgrade: Some(true),
        allow_major_version_upgrade: Some(true),
        ca_certificate: text("rds-ca-rsa2048-g1"),
        port: Some(5433),
        database_name: text("orders"),
        master_username: text("app"),
        manage_master_password: Some(true),
        performance_insights: Some(PerformanceInsights {
            enabled: true,
            retention_days: Some(31),
            kms_key: text("2222"),
        }),
        monitoring: Some(Monitoring {
            interval_seconds: 60,
            role_arn: text("arn:aws:iam::1:role/m"),
        }),
        log_exports: Some(vec!["postgresql".to_owned()]),
        security_groups: Some(vec!["sg-1".to_owned()]),
        license_model: text("postgresql-license"),
        tags: Some(BTreeMap::from([("team".to_owned(), "a".to_owned())])),
        ..Database::new("postgres", "15.4", "db.r6g.large")
    }
}

#[test]
fn a_change_of_any_declared_field_is_seen() {
    let bound = bound(&full());
    let instance = created(&bound);
    assert!(compared(&bound, &instance.seen).is_settled());
    for rule in KIND.rules() {
        if rule.compare == Compare::WriteOnly || bound.declared(rule.field).is_none() {
            continue;
        }
        let mut seen = instance.seen.clone();
        spoil(&mut seen, rule.member);
        let found = compared(&bound, &seen);
        let seen_field = |field: &str| field == rule.field || field.starts_with(rule.field);
        let is_seen = found.deltas.iter().any(|delta| seen_field(&delta.field))
            || found.refusals.iter().any(|refusal| seen_field(&refusal.field));
        assert!(is_seen, "a change of {} went unseen: {found:?}", rule.field);
    }
}

/// Makes a member something else.
fn spoil(seen: &mut Observed, member: &str) {
    let value = match member {
        "EngineVersion" => json!("15.2"),
        "MaxAllocatedStorage" | "AllocatedStorage" => json!(700),
        "DBSubnetGroup.DBSubnetGroupName" => return,
        "Endpoint.Port" => {
            seen.members["Endpoint"]["Port"] = json!(1);
            return;
        }
        "TagList" => {
            seen.tags = Some(BTreeMap::new());
            return;
        }
        _ => Value::Null,
    };
    let value = match (member, seen.members.get(member)) {
        // A bound under the size would mean that autoscaling is off.
        ("AllocatedStorage", _) => json!(300),
        (_, Some(Value::Bool(flag))) => json!(!flag),
        (_, Some(Value::Number(number))) if value.is_null() => {
            json!(number.as_u64().unwrap() + 5_000)
        }
        (_, Some(Value::String(_))) if value.is_null() => json!("something-else"),
        _ => value,
    };
    let relevant = seen.members.get("PerformanceInsightsEnabled").cloned();
    seen.members.insert(member.to_owned(), value);
    if member != "PerformanceInsightsEnabled"
        && let Some(relevant) = relevant
    {
        seen.members.insert("PerformanceInsightsEnabled".to_owned(), relevant);
    }
}

#[test]
fn every_field_of_every_resource_has_a_rule_and_every_rule_its_own_field() {
    for kind in kinds::all() {
        let fields: Vec<&str> = kind.rules().iter().map(|rule| rule.field).collect();
        let distinct: BTreeSet<&str> = fields.iter().copied().collect();
        assert_eq!(fields.len(), distinct.len(), "{} has two rules for a field", kind.name());
        for rule in kind.rules() {
            let partner = rule.with.is_none_or(|partner| distinct.contains(partner));
            assert!(partner, "{} changes with an unknown field", rule.field);
        }
    }
    let bound = bound(&full());
    for field in bound.fields.keys().chain(bound.initial.keys()) {
        let known = KIND.rules().iter().any(|rule| rule.field == field);
        assert!(known, "{field} has no rule, so that nobody would compare it");
    }
}
