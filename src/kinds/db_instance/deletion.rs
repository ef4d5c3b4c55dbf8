//! How a DB instance is deleted, as data: what protects it, the call, and what stays of it.
//!
//! Source: the API reference of `DeleteDBInstance`. Automated backups go with the instance unless
//! the call says otherwise; it always does, so that they stay as long as their retention.

use crate::model::kind::Deletion;
use crate::model::{Call, Notice, Observed, Refusal, ResourceId, Usage};

/// Returns the refusal to delete an instance whose deletion protection is on.
pub(super) fn protection(actual: &Observed) -> Option<Refusal> {
    let is_protected = actual.member("DeletionProtection").is_some_and(|on| *on == true);
    is_protected.then(|| Refusal {
        field: "deletionProtection".to_owned(),
        code: "DeletionProtected".to_owned(),
        message: "deletion protection is on, so the database is not deleted".to_owned(),
        help: "put the manifest back with database.deletionProtection: false, wait until that is \
               applied, then remove it again; or put it back to keep the database"
            .to_owned(),
    })
}

/// What an instance uses. AWS deletes no group that is used; it does delete a role, without which
/// the instance goes on and does not do what the role was for.
pub(super) const USAGES: &[Usage] = &[
    Usage::by_name("db_subnet_group", &["DBSubnetGroup", "DBSubnetGroupName"]),
    Usage::by_name("db_parameter_group", &["DBParameterGroups", "DBParameterGroupName"]),
    Usage::by("GroupId", "security_group", &["VpcSecurityGroups", "VpcSecurityGroupId"]),
    Usage::by("Arn", "iam_role", &["MonitoringRoleArn"]),
    Usage::by("Arn", "iam_role", &["AssociatedRoles", "RoleArn"]),
];

/// Returns the call that deletes an instance, with a final snapshot or expressly without.
pub(super) fn delete(id: &ResourceId, actual: &Observed, snapshot: Option<&str>) -> Deletion {
    if let Some(cluster) = actual.text("DBClusterIdentifier").filter(|name| !name.is_empty()) {
        return leave(id, cluster);
    }
    let call = Call::new("rds", "DeleteDBInstance").with("DBInstanceIdentifier", id.name.as_ref());
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
    let days = actual.member("BackupRetentionPeriod").and_then(serde_json::Value::as_u64);
    let backups = match days {
        Some(1..) => notice(
            "AutomatedBackupsKept",
            "its automated backups stay in AWS until their retention is over".to_owned(),
        ),
        _ => notice("NoAutomatedBackups", "it has no automated backups that could stay".to_owned()),
    };
    Deletion { calls: vec![call.with("DeleteAutomatedBackups", false)], notices: vec![kept, backups] }
}

/// Returns the call that deletes an instance in a cluster. The data and their backups are the
/// cluster's: there is no snapshot to take, and AWS refuses to be asked for one.
fn leave(id: &ResourceId, cluster: &str) -> Deletion {
    let call = Call::new("rds", "DeleteDBInstance")
        .with("DBInstanceIdentifier", id.name.as_ref())
        .with("SkipFinalSnapshot", true);
    let kept = format!("the data and the backups are those of the cluster {cluster}");
    Deletion { calls: vec![call], notices: vec![notice("DataInCluster", kept)] }
}

fn notice(code: &str, message: String) -> Notice {
    Notice { field: String::new(), code: code.to_owned(), message }
}
