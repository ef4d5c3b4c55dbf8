//! What the describe answer of a DB cluster and the error codes of its calls mean.
//!
//! Source of the states: "Viewing DB cluster status" in the Aurora User Guide.

use std::cmp::{Ordering, Reverse};

use serde_json::{Map, Value, json};

use super::rules::{HAS_PENDING_MEMBER, LIMITED, RULES};
use crate::kinds::modification;
use crate::model::kind::Lists;
use crate::model::version::against;
use crate::model::{Bound, Call, ErrorClass, Notice, Observed, Readiness};

/// How the replicas are named that Aurora Auto Scaling adds.
///
/// Source: "Using Amazon Aurora Auto Scaling with Aurora Replicas" in the Aurora User Guide.
pub(super) const AUTO_SCALED: &str = "application-autoscaling-";

/// Names each cluster by its identifier, which AWS keeps in lower case.
///
/// The list holds clusters of other services too (Neptune, DocumentDB); they are named like ours.
pub(super) fn assemble(mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
    let name = |members: &Map<String, Value>| {
        members.get("DBClusterIdentifier")?.as_str().map(str::to_ascii_lowercase)
    };
    lists
        .remove("DBClusters")
        .into_iter()
        .flatten()
        .filter_map(|item| match item {
            Value::Object(members) => Some((name(&members)?, members)),
            _ => None,
        })
        .collect()
}

/// Returns the read of the members of a cluster that is to be upgraded: one whose class is about to
/// change stops an upgrade.
pub(super) fn details(desired: &Bound, actual: &Observed) -> Vec<Call> {
    let declared = desired.declared("version").and_then(Value::as_str);
    let runs = actual.text("EngineVersion");
    let is_behind = declared
        .zip(runs)
        .is_some_and(|(declared, runs)| against(declared, runs) == Ordering::Less);
    let name = desired.id.name.as_ref();
    let of_cluster = json!([{ "Name": "db-cluster-id", "Values": [name] }]);
    let read = || Call::new("rds", "DescribeDBInstances").with("Filters", of_cluster);
    is_behind.then(read).into_iter().collect()
}

/// Says whether a cluster is settled.
pub(super) fn readiness(actual: &Observed) -> Readiness {
    if actual.text("MasterUserSecret.SecretStatus") == Some("creating") {
        return waiting("SecretCreating", "RDS is making the secret with the master password");
    }
    let Some(status) = actual.text("Status") else {
        return waiting("StatusUnknown", "AWS answers no status");
    };
    match status {
        "available" if pending_members(actual).next().is_some() => {
            Readiness::Limited { status: HAS_PENDING_MEMBER.to_owned() }
        }
        "available" => Readiness::Ready,
        status if LIMITED.contains(&status) => Readiness::Limited { status: status.to_owned() },
        "deleting" => waiting("Deleting", "AWS is deleting the cluster"),
        "stopped" => Readiness::Waiting { code: "Stopped".to_owned(), reason: stopped(actual) },
        status => broken(status).unwrap_or_else(|| Readiness::Waiting {
            code: "Changing".to_owned(),
            reason: format!("the cluster is {status}"),
        }),
    }
}

fn waiting(code: &str, reason: &str) -> Readiness {
    Readiness::Waiting { code: code.to_owned(), reason: reason.to_owned() }
}

/// Nobody asked for a start, so none is made.
fn stopped(actual: &Observed) -> String {
    match actual.text("AutomaticRestartTime") {
        Some(time) => format!("the cluster is stopped; AWS starts it again at {time}"),
        None => "the cluster is stopped".to_owned(),
    }
}

fn broken(status: &str) -> Option<Readiness> {
    let (code, reason) = match status {
        "cloning-failed" => ("CloningFailed", "the cloning failed"),
        "migration-failed" => ("MigrationFailed", "the migration failed"),
        "inaccessible-encryption-credentials"
        | "inaccessible-encryption-credentials-recoverable" => (
            "InaccessibleEncryptionCredentials",
            "RDS cannot use the KMS key; enable it and its grant for RDS",
        ),
        _ => return None,
    };
    Some(Readiness::Broken { code: code.to_owned(), reason: reason.to_owned() })
}

/// Names the members whose class changes in their next maintenance window, where they were read.
fn pending_members(actual: &Observed) -> impl Iterator<Item = &str> {
    let cluster = actual.text("DBClusterIdentifier").unwrap_or_default();
    let is_ours = move |instance: &&Value| {
        let of = instance.get("DBClusterIdentifier").and_then(Value::as_str);
        of.is_some_and(|of| of.eq_ignore_ascii_case(cluster))
    };
    let has_pending = |instance: &&Value| {
        let pending = instance.get("PendingModifiedValues");
        pending.and_then(|it| it.get("DBInstanceClass")).is_some_and(|class| !class.is_null())
    };
    let instances = actual.member("DBInstances").and_then(Value::as_array).into_iter().flatten();
    instances
        .filter(is_ours)
        .filter(has_pending)
        .filter_map(|instance| instance.get("DBInstanceIdentifier")?.as_str())
}

/// Lists what a reader should know of a cluster.
pub(super) fn notices(desired: &Bound, actual: &Observed) -> Vec<Notice> {
    let mut found = Vec::new();
    for name in pending_members(actual) {
        let message = format!("the class of {name} changes in its next maintenance window");
        found.push(notice("version", "MemberClassChangePending", message));
    }
    if members(actual).any(|member| text(member, "DBClusterParameterGroupStatus") == "pending-reboot")
    {
        let message = "the cluster parameter group has changes that come into force when the \
                       members are rebooted; Levelset does not reboot";
        found.push(notice("cluster.parameterGroup", "RebootRequired", message.to_owned()));
    }
    if actual.text("MasterUserSecret.SecretStatus") == Some("impaired") {
        let message = "RDS cannot use or rotate the secret with the master password";
        found.push(notice("manageMasterPassword", "SecretImpaired", message.to_owned()));
    }
    found.extend(undeclared_members(desired, actual));
    found.extend(modification::undeclared_queue(RULES, desired, actual));
    found
}

/// Tells of instances in the cluster that Git does not declare; they are left alone.
fn undeclared_members(desired: &Bound, actual: &Observed) -> Vec<Notice> {
    let Some(declared) = desired.declared("cluster.members").and_then(Value::as_array) else {
        return Vec::new();
    };
    let is_declared = |name: &str| {
        declared.iter().filter_map(Value::as_str).any(|known| known.eq_ignore_ascii_case(name))
    };
    let names = members(actual).map(|member| text(member, "DBInstanceIdentifier"));
    names
        .filter(|name| !name.is_empty() && !is_declared(name))
        .map(|name| match name.starts_with(AUTO_SCALED) {
            true => (name, "AddedByAutoScaling", "was added by Aurora Auto Scaling, which owns it"),
            false => (name, "UndeclaredMember", "is in the cluster and Git does not declare it"),
        })
        .map(|(name, code, what)| notice("cluster.members", code, format!("{name} {what}")))
        .collect()
}

/// Names the members, readers first and the writer last: among the readers, those come first that
/// are made the writer last.
pub(super) fn turns(actual: &Observed) -> Vec<String> {
    let mut named: Vec<(bool, Reverse<u64>, String)> = members(actual)
        .map(|member| {
            let is_writer = member.get("IsClusterWriter") == Some(&json!(true));
            let tier = member.get("PromotionTier").and_then(Value::as_u64).unwrap_or(1);
            let name = text(member, "DBInstanceIdentifier").to_ascii_lowercase();
            (is_writer, Reverse(tier), name)
        })
        .collect();
    named.sort();
    named.into_iter().map(|(_, _, name)| name).collect()
}

fn members(actual: &Observed) -> impl Iterator<Item = &Value> {
    actual.member("DBClusterMembers").and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(of: &'a Value, member: &str) -> &'a str {
    of.get(member).and_then(Value::as_str).unwrap_or_default()
}

fn notice(field: &str, code: &str, message: String) -> Notice {
    Notice { field: field.to_owned(), code: code.to_owned(), message }
}

/// Says what an error code means.
///
/// `InvalidParameterCombination` is the answer both to a change that is none and to one that can
/// never be: either way the same request must not be sent again.
pub(super) fn classify(code: &str) -> ErrorClass {
    if let Some(class) = ErrorClass::of_common(code) {
        return class;
    }
    match code {
        "DBClusterNotFound" | "DBClusterNotFoundFault" => ErrorClass::NotFound,
        "DBClusterAlreadyExists" | "DBClusterAlreadyExistsFault" => ErrorClass::AlreadyExists,
        "InvalidDBClusterStateFault"
        | "InvalidDBInstanceState"
        | "InvalidDBInstanceStateFault"
        | "InvalidDBSubnetGroupStateFault"
        | "InvalidDBSecurityGroupState"
        | "InvalidDBClusterSnapshotStateFault"
        | "InvalidDBSnapshotState"
        | "InvalidGlobalClusterStateFault"
        // Of a deletion, whose final snapshot has a name of its own: an earlier one has been heard.
        | "DBClusterSnapshotAlreadyExistsFault"
        | "InsufficientDBClusterCapacityFault"
        | "InsufficientDBInstanceCapacity"
        | "InsufficientStorageClusterCapacity" => ErrorClass::NotReady,
        _ => ErrorClass::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_cluster_that_is_not_found_is_absent() {
        assert_eq!(classify("DBClusterNotFoundFault"), ErrorClass::NotFound);
        for code in ["Throttling", "AccessDenied", "DBInstanceNotFound", "DBSubnetGroupNotFoundFault"] {
            assert_ne!(classify(code), ErrorClass::NotFound, "{code}");
        }
    }

    #[test]
    fn a_state_that_nobody_knows_is_waited_for() {
        for status in ["failing-over", "backtracking", "some-new-state"] {
            let members = Map::from_iter([("Status".to_owned(), status.into())]);
            let actual = Observed { members, tags: None, at: jiff::Timestamp::UNIX_EPOCH };
            assert!(matches!(readiness(&actual), Readiness::Waiting { code, .. } if code == "Changing"));
        }
    }
}
