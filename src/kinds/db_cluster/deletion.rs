//! How a DB cluster is deleted, as data: what protects it, the call, and what stays of it.
//!
//! Source: the API reference of `DeleteDBCluster`, which refuses while the cluster has members.
//! Automated backups go with the cluster unless the call says otherwise; it always does, so that they
//! stay as long as their retention.

use crate::model::kind::Deletion;
use crate::model::{Call, Notice, Observed, Refusal, ResourceId, Usage};

/// Returns the refusal to delete a cluster whose deletion protection is on.
pub(super) fn protection(actual: &Observed) -> Option<Refusal> {
    let is_protected = actual.member("DeletionProtection").is_some_and(|on| *on == true);
    is_protected.then(|| Refusal {
        field: "deletionProtection".to_owned(),
        code: "DeletionProtected".to_owned(),
        message: "deletion protection is on, so the cluster is not deleted".to_owned(),
        help: "put the manifest back with database.deletionProtection: false, wait until that is \
               applied, then remove it again; or put it back to keep the database"
            .to_owned(),
    })
}

/// What a cluster uses. AWS deletes no group that is used; it does delete a role, without which the
/// cluster goes on and does not do what the role was for.
pub(super) const USAGES: &[Usage] = &[
    Usage::by_name("db_subnet_group", &["DBSubnetGroup"]),
    Usage::by_name("db_cluster_parameter_group", &["DBClusterParameterGroup"]),
    Usage::by("GroupId", "security_group", &["VpcSecurityGroups", "VpcSecurityGroupId"]),
    Usage::by("Arn", "iam_role", &["MonitoringRoleArn"]),
    Usage::by("Arn", "iam_role", &["AssociatedRoles", "RoleArn"]),
];

/// Returns the call that deletes a cluster, with a final snapshot or expressly without.
pub(super) fn delete(id: &ResourceId, actual: &Observed, snapshot: Option<&str>) -> Deletion {
    let call = Call::new("rds", "DeleteDBCluster").with("DBClusterIdentifier", id.name.as_ref());
    let (call, kept) = match snapshot {
        Some(name) => (
            call.with("SkipFinalSnapshot", false).with("FinalDBSnapshotIdentifier", name),
            notice("FinalSnapshot", format!("its final snapshot is {name}")),
        ),
        None => (
            call.with("SkipFinalSnapshot", true),
            notice("NoFinalSnapshot", "no final snapshot is taken".to_owned()),
        ),
    };
    let backups = notice(
        "AutomatedBackupsKept",
        "its automated backups stay in AWS until their retention is over".to_owned(),
    );
    let notices = [kept, backups].into_iter().chain(others(actual)).collect();
    Deletion { calls: vec![call.with("DeleteAutomatedBackups", false)], notices }
}

/// Tells of instances in the cluster, which AWS wants deleted before; ours are, when it is our turn.
fn others(actual: &Observed) -> Option<Notice> {
    let members = actual.member("DBClusterMembers")?.as_array()?;
    let name = |member: &serde_json::Value| {
        member.get("DBInstanceIdentifier")?.as_str().map(str::to_owned)
    };
    let names: Vec<String> = members.iter().filter_map(name).collect();
    let message = format!("AWS deletes it when it has no instances; now: {}", names.join(", "));
    (!names.is_empty()).then(|| notice("HasInstances", message))
}

fn notice(code: &str, message: String) -> Notice {
    Notice { field: String::new(), code: code.to_owned(), message }
}
