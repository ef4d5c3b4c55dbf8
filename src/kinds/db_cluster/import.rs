//! How an Aurora cluster that exists is declared, with the instances in it: the inverse of `spec`.
//!
//! In: what AWS answers of the cluster and of its members. What all members have alike stands in the
//! section, as the section says of its fields; where one differs from the others, that is said.

use serde_json::{Map, Value, json};

use super::facts::AUTO_SCALED;
use super::rules::RULES;
use crate::kinds::rds_import::{self, is_default_group, version};
use crate::model::import::{Around, Draft, Import, Section, Writer};
use crate::model::{Observed, inverse};

/// The engines of Aurora, with the master user and the port of each where none is chosen.
const ENGINES: [(&str, &str, u16); 2] =
    [("aurora-postgresql", "postgres", 5432), ("aurora-mysql", "admin", 3306)];

/// What stands in the section for every member: the field, the member of an instance's answer, and
/// what AWS means by nothing.
const ALIKE: [(&str, &str, Value); 4] = [
    ("publiclyAccessible", "PubliclyAccessible", Value::Bool(false)),
    ("autoMinorVersionUpgrade", "AutoMinorVersionUpgrade", Value::Bool(true)),
    ("performanceInsights.enabled", "PerformanceInsightsEnabled", Value::Bool(false)),
    ("monitoring.intervalSeconds", "MonitoringInterval", Value::Null),
];

impl Import for super::DbCluster {
    fn passed_over(&self, _name: &str, actual: &Observed) -> Option<String> {
        let engine = actual.text("Engine").unwrap_or_default();
        if defaults(engine).is_none() {
            return Some(match actual.member("DBClusterInstanceClass") {
                Some(_) => "a Multi-AZ DB cluster cannot be declared".to_owned(),
                None => format!("no cluster of the engine {engine} can be declared"),
            });
        }
        match actual.text("EngineMode") {
            Some("serverless") => Some("Aurora Serverless v1 cannot be declared".to_owned()),
            Some("global") => Some("a global database cannot be declared".to_owned()),
            _ => None,
        }
    }

    fn known_as(&self, actual: &Observed) -> Vec<(String, Option<&'static str>)> {
        let outputs = [
            ("Endpoint", Some("endpoint")),
            ("ReaderEndpoint", Some("readerEndpoint")),
            ("DBClusterArn", Some("arn")),
            ("MasterUserSecret.SecretArn", Some("secretArn")),
        ];
        let known = |(member, output)| Some((actual.text(member)?.to_owned(), output));
        outputs.into_iter().filter_map(known).collect()
    }

    fn draft(&self, name: &str, actual: &Observed, around: &dyn Around) -> Option<Draft> {
        let (user, port) = defaults(actual.text("Engine")?)?;
        let (scaled, members): (Vec<&Observed>, Vec<&Observed>) =
            around.parts(name).into_iter().partition(|member| is_scaled(member));
        let mut writer = Writer::new(RULES, actual, Section::Own("database"));
        writer.draft.name = Some(("identifier", name.to_owned()));
        let value = writer.value("engine")?;
        writer.draft.sheet.put("engine", value);
        let minor = members.first().copied().unwrap_or(actual);
        writer.draft.sheet.put("version", cluster_version(actual, minor)?);
        let class = shared(&members, "DBInstanceClass").unwrap_or_else(|| json!("db.r6g.large"));
        writer.draft.sheet.put("sizeClass", class.clone());
        section(&mut writer, &members, name, &class);
        let kind = writer.value("storage.type").unwrap_or_default();
        if kind != "aurora" {
            writer.declare(&["storage.type"]);
        }
        rds_import::encryption(&mut writer);
        rds_import::backups(&mut writer);
        writer.declare(&["maintenanceWindow"]);
        rds_import::protection(&mut writer, around);
        writer.unless("iamAuthentication", false);
        writer.unless("port", u32::from(port));
        writer.declare(&["databaseName"]);
        writer.unless("masterUsername", user);
        alike(&mut writer, &members);
        writer.declare(&["logExports", "securityGroups", "tags"]);
        rds_import::surroundings(&mut writer, actual, "DBSubnetGroup");
        told(&mut writer, actual, &scaled);
        Some(writer.draft)
    }
}

fn defaults(engine: &str) -> Option<(&'static str, u16)> {
    let known = ENGINES.iter().find(|(name, ..)| name.eq_ignore_ascii_case(engine));
    known.map(|(_, user, port)| (*user, *port))
}

/// Aurora Auto Scaling adds members and takes them away.
fn is_scaled(member: &Observed) -> bool {
    member.text("DBInstanceIdentifier").is_some_and(|name| name.starts_with(AUTO_SCALED))
}

/// Whether minor versions are installed is said by the members.
fn cluster_version(actual: &Observed, minor: &Observed) -> Option<String> {
    let mut both = actual.clone();
    let follows = minor.member("AutoMinorVersionUpgrade").cloned().unwrap_or_default();
    both.members.insert("AutoMinorVersionUpgrade".to_owned(), follows);
    version(&both)
}

/// Returns what all members have; where they differ, what the first one has.
fn shared(members: &[&Observed], path: &str) -> Option<Value> {
    members.first().and_then(|member| member.member(path)).cloned()
}

/// Declares the part `cluster`: its members by name, the range of their capacity, its own group.
fn section(writer: &mut Writer<'_>, members: &[&Observed], cluster: &str, class: &Value) {
    let window = writer.value("maintenanceWindow");
    for (at, member) in members.iter().enumerate() {
        let Some(identifier) = member.text("DBInstanceIdentifier") else { continue };
        let (key, derived) = member_key(cluster, identifier, at);
        let mut fields = Map::new();
        if !derived {
            fields.insert("identifier".to_owned(), identifier.into());
        }
        let of = |path: &str| member.member(path).cloned();
        if let Some(own) = of("DBInstanceClass").filter(|own| own != class) {
            fields.insert("sizeClass".to_owned(), own);
        }
        if let Some(tier) = of("PromotionTier").filter(|tier| *tier != json!(1)) {
            fields.insert("promotionTier".to_owned(), tier);
        }
        if let Some(own) = of("PreferredMaintenanceWindow").filter(|own| Some(own) != window.as_ref()) {
            fields.insert("maintenanceWindow".to_owned(), own);
        }
        writer.draft.sheet.sheet("cluster.members").put(&key, Value::Object(fields));
    }
    let range = [
        "cluster.serverless.minCapacity",
        "cluster.serverless.maxCapacity",
        "cluster.serverless.autoPauseSeconds",
    ];
    writer.declare(&range[..2]);
    writer.unless(range[2], 300);
    if let Some(Value::String(group)) = writer.value("cluster.parameterGroup")
        && !is_default_group(&group)
    {
        let text = format!("db_cluster_parameter_group/{}", group.to_ascii_lowercase());
        writer.draft.uses.push(text);
        writer.draft.sheet.put("cluster.parameterGroup", group);
    }
    writer.unless("cluster.backtrackSeconds", 0);
}

/// Returns the name of a member in the manifest, and whether its identifier follows from it.
fn member_key(cluster: &str, identifier: &str, at: usize) -> (String, bool) {
    let rest = identifier.strip_prefix(cluster).and_then(|rest| rest.strip_prefix('-'));
    match rest.filter(|rest| !rest.is_empty()) {
        Some(rest) => (rest.to_owned(), true),
        None => (format!("member-{}", at + 1), false),
    }
}

/// Declares what stands in the section for every member, where they agree.
fn alike(writer: &mut Writer<'_>, members: &[&Observed]) {
    for (field, path, default) in ALIKE {
        let Some(value) = agreed(writer, members, path, field) else { continue };
        if value == default || value == json!(0) {
            continue;
        }
        writer.draft.sheet.put(field, value);
        match field {
            "performanceInsights.enabled" => insights(writer, members),
            "monitoring.intervalSeconds" => {
                let role = agreed(writer, members, "MonitoringRoleArn", "monitoring.roleArn");
                if let Some(role) = role {
                    writer.draft.uses.extend(role.as_str().map(str::to_owned));
                    writer.draft.sheet.put("monitoring.roleArn", role);
                }
                writer.draft.refers.push("monitoring.roleArn");
            }
            _ => {}
        }
    }
    let group = "DBParameterGroups.0.DBParameterGroupName";
    if let Some(Value::String(group)) = agreed(writer, members, group, "parameterGroup")
        && !is_default_group(&group)
    {
        writer.draft.uses.push(format!("db_parameter_group/{}", group.to_ascii_lowercase()));
        writer.draft.sheet.put("parameterGroup", group);
    }
}

fn insights(writer: &mut Writer<'_>, members: &[&Observed]) {
    let days = "PerformanceInsightsRetentionPeriod";
    let days = agreed(writer, members, days, "performanceInsights.retentionDays");
    if let Some(days) = days.filter(|days| *days != json!(7)) {
        writer.draft.sheet.put("performanceInsights.retentionDays", days);
    }
    let key = agreed(writer, members, "PerformanceInsightsKMSKeyId", "performanceInsights.kmsKey");
    let key = key.as_ref().and_then(Value::as_str).and_then(inverse::key);
    if let Some(key) = key {
        writer.draft.sheet.put("performanceInsights.kmsKey", key);
    }
}

/// Returns what every member has; that they differ is said.
fn agreed(writer: &mut Writer<'_>, members: &[&Observed], path: &str, field: &str) -> Option<Value> {
    let first = members.first()?.member(path).cloned();
    if members.iter().any(|member| member.member(path) != first.as_ref()) {
        writer.remark(format!("{field} differs between members, which cannot be declared, and stays"));
        return None;
    }
    first
}

fn told(writer: &mut Writer<'_>, actual: &Observed, scaled: &[&Observed]) {
    if writer.value("manageMasterPassword") == Some(json!(false)) {
        writer.remark(
            "the master password was set by hand and stays; manageMasterPassword: true hands it to RDS",
        );
    }
    if !scaled.is_empty() {
        writer.remark("replicas that Aurora Auto Scaling adds are left to it");
    }
    if let Some(source) = actual.text("ReplicationSourceIdentifier").filter(|it| !it.is_empty()) {
        writer.remark(format!("that it is a replica of {source} cannot be declared"));
    }
    rds_import::told(writer, actual);
}
