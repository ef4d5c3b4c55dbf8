//! What the describe answer of a DB instance and the error codes of its calls mean.
//!
//! Source of the states: "Viewing Amazon RDS DB instance status" in the RDS User Guide.

use serde_json::{Map, Value};

use super::rules::{LIMITED, RULES};
use crate::kinds::modification;
use crate::model::kind::Lists;
use crate::model::{Bound, ErrorClass, Notice, Observed, Readiness};

/// Names each instance by its identifier, which AWS keeps in lower case.
pub(super) fn assemble(mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
    let name = |members: &Map<String, Value>| {
        members.get("DBInstanceIdentifier")?.as_str().map(str::to_ascii_lowercase)
    };
    lists
        .remove("DBInstances")
        .into_iter()
        .flatten()
        .filter_map(|item| match item {
            Value::Object(members) => Some((name(&members)?, members)),
            _ => None,
        })
        .collect()
}

/// Says whether an instance is settled.
pub(super) fn readiness(actual: &Observed) -> Readiness {
    if actual.text("MasterUserSecret.SecretStatus") == Some("creating") {
        return waiting("SecretCreating", "RDS is making the secret with the master password");
    }
    let Some(status) = actual.text("DBInstanceStatus") else {
        return waiting("StatusUnknown", "AWS answers no status");
    };
    match status {
        "available" => storage_readiness(actual),
        status if LIMITED.contains(&status) => Readiness::Limited { status: status.to_owned() },
        "deleting" => waiting("Deleting", "AWS is deleting the database"),
        "stopped" => Readiness::Waiting { code: "Stopped".to_owned(), reason: stopped(actual) },
        status => broken(status).unwrap_or_else(|| Readiness::Waiting {
            code: "Changing".to_owned(),
            reason: format!("the database is {status}"),
        }),
    }
}

/// The status may already say `available` while the storage is still being worked on.
fn storage_readiness(actual: &Observed) -> Readiness {
    let status = match actual.text("StorageOperationStatus") {
        Some("Optimizing") => "storage-optimization",
        Some("Initializing") => "storage-initialization",
        _ => return Readiness::Ready,
    };
    Readiness::Limited { status: status.to_owned() }
}

fn waiting(code: &str, reason: &str) -> Readiness {
    Readiness::Waiting { code: code.to_owned(), reason: reason.to_owned() }
}

/// Nobody asked for a start, so none is made.
fn stopped(actual: &Observed) -> String {
    match actual.text("AutomaticRestartTime") {
        Some(time) => format!("the database is stopped; AWS starts it again at {time}"),
        None => "the database is stopped".to_owned(),
    }
}

fn broken(status: &str) -> Option<Readiness> {
    let (code, reason) = match status {
        "failed" => ("Failed", "the database has failed; restore it from a backup"),
        "incompatible-network" => {
            ("IncompatibleNetwork", "RDS cannot work with the VPC; free addresses in its subnets")
        }
        "incompatible-option-group" => {
            ("IncompatibleOptionGroup", "RDS cannot apply the option group")
        }
        "incompatible-parameters" => (
            "IncompatibleParameters",
            "the database cannot start with its parameters; correct them and reboot it",
        ),
        "incompatible-restore" => ("IncompatibleRestore", "RDS cannot restore the snapshot"),
        "incompatible-create" => ("IncompatibleCreate", "RDS cannot make the database"),
        "inaccessible-encryption-credentials"
        | "inaccessible-encryption-credentials-recoverable" => (
            "InaccessibleEncryptionCredentials",
            "RDS cannot use the KMS key; enable it and its grant for RDS",
        ),
        "insufficient-capacity" => {
            ("InsufficientCapacity", "AWS has no capacity of this class in the zone")
        }
        "restore-error" => ("RestoreError", "the restore failed"),
        _ => return None,
    };
    Some(Readiness::Broken { code: code.to_owned(), reason: reason.to_owned() })
}

/// Lists what a reader should know of an instance.
pub(super) fn notices(desired: &Bound, actual: &Observed) -> Vec<Notice> {
    let mut found = Vec::new();
    if group_status(actual, "failed-to-apply") {
        let message = "RDS could not apply the parameter group; the database log says which \
                       parameter it refused";
        found.push(notice("parameterGroup", "ParametersNotApplied", message.to_owned()));
    }
    if group_status(actual, "pending-reboot") {
        let message = "the parameter group has changes that come into force with a reboot; \
                       Levelset does not reboot";
        found.push(notice("parameterGroup", "RebootRequired", message.to_owned()));
    }
    if actual.text("MasterUserSecret.SecretStatus") == Some("impaired") {
        let message = "RDS cannot use or rotate the secret with the master password";
        found.push(notice("manageMasterPassword", "SecretImpaired", message.to_owned()));
    }
    found.extend(modification::undeclared_queue(RULES, desired, actual));
    found
}

fn notice(field: &str, code: &str, message: String) -> Notice {
    Notice { field: field.to_owned(), code: code.to_owned(), message }
}

/// Tells whether a group of the instance is in a state. The name of a group is in force at once; its
/// parameters only after a reboot.
fn group_status(actual: &Observed, status: &str) -> bool {
    let groups = actual.member("DBParameterGroups").and_then(Value::as_array);
    groups.into_iter().flatten().any(|group| {
        group.get("ParameterApplyStatus").and_then(Value::as_str) == Some(status)
    })
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
        "DBInstanceNotFound" | "DBInstanceNotFoundFault" => ErrorClass::NotFound,
        "DBInstanceAlreadyExists" | "DBInstanceAlreadyExistsFault" => ErrorClass::AlreadyExists,
        "InvalidDBInstanceState"
        | "InvalidDBInstanceStateFault"
        | "DBInstanceNotReady"
        | "InvalidDBClusterStateFault"
        // Of a member whose cluster is not to be seen yet.
        | "DBClusterNotFoundFault"
        | "InvalidDBSecurityGroupState"
        | "InvalidDBParameterGroupState"
        | "InvalidDBSnapshotState"
        // Of a deletion, whose final snapshot has a name of its own: an earlier one has been heard.
        | "DBSnapshotAlreadyExists"
        | "DBSnapshotAlreadyExistsFault"
        | "DBUpgradeDependencyFailure"
        | "InsufficientDBInstanceCapacity"
        | "ProvisionedIopsNotAvailableInAZFault" => ErrorClass::NotReady,
        _ => ErrorClass::Invalid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_not_found_is_absence() {
        assert_eq!(classify("DBInstanceNotFound"), ErrorClass::NotFound);
        for code in ["Throttling", "AccessDenied", "InternalFailure", "Timeout", "DBSnapshotNotFound"] {
            assert_ne!(classify(code), ErrorClass::NotFound, "{code}");
        }
    }

    #[test]
    fn a_state_that_passes_is_waited_for_and_a_bad_request_is_not() {
        assert_eq!(classify("InvalidDBInstanceState"), ErrorClass::NotReady);
        assert_eq!(classify("InvalidParameterCombination"), ErrorClass::Invalid);
        assert_eq!(classify("InternalFailure"), ErrorClass::Ambiguous);
        assert_eq!(classify("Throttling"), ErrorClass::Throttled);
    }

    #[test]
    fn a_state_that_nobody_knows_is_waited_for() {
        let members = Map::from_iter([("DBInstanceStatus".to_owned(), "some-new-state".into())]);
        let actual = Observed { members, tags: None, at: jiff::Timestamp::UNIX_EPOCH };
        assert!(matches!(readiness(&actual), Readiness::Waiting { code, .. } if code == "Changing"));
    }
}
