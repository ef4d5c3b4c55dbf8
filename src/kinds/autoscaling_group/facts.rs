//! What the answers of Auto Scaling say about a group.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use crate::model::kind::Lists;
use crate::model::{Bound, ErrorClass, Notice, Observed, Readiness, Refusal};

/// Sorts groups by name; letter case tells them apart.
///
/// Adds what AWS writes into one text, or beside something else: `SubnetIds` of `VPCZoneIdentifier`,
/// `HealthChecks` of `HealthCheckType` without EC2, which is never off, and `PropagatedTags`: of each
/// tag whether instances get it.
pub(super) fn assemble(mut lists: Lists) -> Vec<(String, Map<String, Value>)> {
    let named = |item: Value| {
        let Value::Object(mut members) = item else { return None };
        let name = members.get("AutoScalingGroupName")?.as_str()?.to_owned();
        let subnets = parts(members.get("VPCZoneIdentifier"), "");
        let checks = parts(members.get("HealthCheckType"), "EC2");
        let propagated = propagated(members.get("Tags"));
        members.insert("SubnetIds".to_owned(), subnets);
        members.insert("HealthChecks".to_owned(), checks);
        members.insert("PropagatedTags".to_owned(), propagated);
        members.entry("Tags").or_insert_with(|| json!([]));
        Some((name, members))
    };
    lists.remove("AutoScalingGroups").into_iter().flatten().filter_map(named).collect()
}

/// Takes apart a text with commas, whose order means nothing.
fn parts(text: Option<&Value>, without: &str) -> Value {
    let text = text.and_then(Value::as_str).unwrap_or_default();
    text.split(',').map(str::trim).filter(|part| !part.is_empty() && *part != without).collect()
}

fn propagated(tags: Option<&Value>) -> Value {
    let tags = tags.and_then(Value::as_array).into_iter().flatten();
    let of_tag = |tag: &Value| {
        let key = tag.get("Key")?.as_str()?.to_owned();
        Some((key, tag.get("PropagateAtLaunch").cloned().unwrap_or(false.into())))
    };
    Value::Object(tags.filter_map(of_tag).collect())
}

/// Lists the instances.
pub(super) fn instances(actual: &Observed) -> impl Iterator<Item = &Value> {
    actual.member("Instances").and_then(Value::as_array).into_iter().flatten()
}

/// Says whether the group can be worked on.
pub(super) fn readiness(actual: &Observed) -> Readiness {
    if let Some(service) = actual.text("Operator.Principal").filter(|it| !it.is_empty()) {
        return Readiness::Broken {
            code: "ManagedByService".to_owned(),
            reason: format!("the group is {service}'s, which made it and changes it by itself"),
        };
    }
    match actual.text("Status").filter(|status| !status.is_empty()) {
        Some(status) => Readiness::Waiting {
            code: "Deleting".to_owned(),
            reason: format!("AWS is deleting the group ({status})"),
        },
        None => Readiness::Ready,
    }
}

/// Returns why the group cannot be what is declared, whatever differs.
pub(super) fn objections(actual: &Observed) -> Vec<Refusal> {
    let mixed = actual.member("MixedInstancesPolicy").filter(|it| it.is_object());
    let refusal = |_: &Value| Refusal {
        field: "launchTemplate".to_owned(),
        code: "MixedInstancesPolicy".to_owned(),
        message: "somebody gave the group a mixed instances policy, which a launch template of its own \
                  would overwrite"
            .to_owned(),
        help: "take the policy away in AWS, or take the group out of Git".to_owned(),
    };
    mixed.map(refusal).into_iter().collect()
}

/// Tells what a reader should know: what somebody suspended, and which instances are of an older
/// version of the template.
pub(super) fn notices(desired: &Bound, actual: &Observed) -> Vec<Notice> {
    let mut found = Vec::new();
    let suspended = suspended(actual);
    if !suspended.is_empty() {
        let text = format!("suspended by hand, and left so: {}", suspended.join(", "));
        found.push(notice("ProcessesSuspended", text));
    }
    let version = desired.declared("templateVersion").map(text);
    let older: Vec<&str> = instances(actual)
        .filter(|it| made_from(it).is_some_and(|from| Some(from) != version.as_deref()))
        .filter_map(|it| it.get("InstanceId")?.as_str())
        .collect();
    if let Some(version) = version.filter(|_| !older.is_empty()) {
        let text = format!(
            "{} of {} instances are not of version {version} of the launch template; they stay until \
             they are replaced",
            older.len(),
            instances(actual).count()
        );
        found.push(notice("OlderVersionRuns", text));
    }
    found
}

/// Returns the version that an instance was made from.
fn made_from(instance: &Value) -> Option<&str> {
    instance.get("LaunchTemplate")?.get("Version")?.as_str()
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

pub(super) fn suspended(actual: &Observed) -> Vec<&str> {
    let processes = actual.member("SuspendedProcesses").and_then(Value::as_array);
    let mut names: Vec<&str> = processes
        .into_iter()
        .flatten()
        .filter_map(|process| process.get("ProcessName")?.as_str())
        .collect();
    names.sort_unstable();
    names
}

/// Returns what AWS was told to hold against a deletion: it would never come to an end.
pub(super) fn protection(actual: &Observed) -> Option<Refusal> {
    let refusal = |code: &str, message: String, help: &str| {
        let (code, help) = (code.to_owned(), help.to_owned());
        Some(Refusal { field: String::new(), code, message, help })
    };
    if actual.text("DeletionProtection") == Some("prevent-all-deletion") {
        let message = "the group's deletion protection is on".to_owned();
        return refusal("DeletionProtected", message, "turn it off in AWS");
    }
    let is_protected = |it: &&Value| it.get("ProtectedFromScaleIn") == Some(&Value::Bool(true));
    let kept: BTreeSet<&str> =
        instances(actual).filter(is_protected).filter_map(|it| it.get("InstanceId")?.as_str()).collect();
    if !kept.is_empty() {
        let names: Vec<&str> = kept.into_iter().collect();
        let message = format!("protected from scale-in: {}", names.join(", "));
        return refusal("ScaleInProtected", message, "take the protection away in AWS");
    }
    if suspended(actual).contains(&"Terminate") && instances(actual).next().is_some() {
        let message = "somebody suspended the group's process Terminate, so no instance would end";
        return refusal("TerminateSuspended", message.to_owned(), "resume it in AWS");
    }
    None
}

fn notice(code: &str, message: String) -> Notice {
    Notice { field: String::new(), code: code.to_owned(), message }
}

/// Says what an error code of Auto Scaling means.
///
/// Source: the API reference. `ValidationError` stands for a group that does not exist as for every
/// wrong value: which one it is, the next read says. `ResourceContention` and
/// `ServiceLinkedRoleFailure` (the role that Auto Scaling makes for itself is not usable yet) come
/// with the status of a server's fault, and say that nothing was done.
pub(super) fn classify(code: &str) -> ErrorClass {
    if let Some(class) = ErrorClass::of_common(code) {
        return class;
    }
    match code {
        "AlreadyExists" => ErrorClass::AlreadyExists,
        "ScalingActivityInProgress"
        | "ResourceInUse"
        | "ResourceContention"
        | "InstanceRefreshInProgress"
        | "ServiceLinkedRoleFailure" => ErrorClass::NotReady,
        "InvalidNextToken" => ErrorClass::Transient,
        _ => ErrorClass::Invalid,
    }
}
