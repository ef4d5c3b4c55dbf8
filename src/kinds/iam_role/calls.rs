//! The calls that make, change, take over, leave and delete a role, as data.
//!
//! Source: the API reference of IAM.

use serde_json::{Map, Value};

use crate::model::desired::{ownership, tag_list};
use crate::model::kind::Deletion;
use crate::model::{Bound, Call, Delta, Observed, ResourceId};

/// How many managed policies a role may have attached before AWS raises the quota.
const ATTACHED_AT_MOST: usize = 10;

/// Returns the calls that make the role: the role with its trust and boundary first, so that no
/// policy is ever in force outside the boundary.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let spelled = desired.declared("name").and_then(Value::as_str);
    let role = Subject { name: spelled.unwrap_or(&desired.id.name) };
    let mut create = role.call("CreateRole").with("Tags", tag_list(&desired.tags_at_creation()));
    let parameters = [
        ("path", "Path"),
        ("description", "Description"),
        ("maxSessionDurationSeconds", "MaxSessionDuration"),
        ("permissionsBoundary", "PermissionsBoundary"),
    ];
    for (field, parameter) in parameters {
        let value = desired.declared(field).filter(|value| value.as_str() != Some(""));
        if let Some(value) = value {
            create = create.with(parameter, value.clone());
        }
    }
    let trust = desired.declared("trust").map(text_of).unwrap_or_default();
    let mut calls = vec![create.with("AssumeRolePolicyDocument", trust)];
    let policies = desired.declared("policies").map(texts).unwrap_or_default();
    calls.extend(policies.into_iter().map(|arn| role.attach(arn)));
    for field in ["inline", "databaseAccess"] {
        let documents = desired.declared(field).and_then(Value::as_object).into_iter().flatten();
        let wanted = documents.filter(|(_, document)| !document.is_null());
        calls.extend(wanted.map(|(name, document)| role.document(name, document)));
    }
    calls
}

/// Returns the calls that mend exactly these differences: the boundary and the trust first, so that
/// no right is given to somebody who is about to be shut out.
pub(super) fn update(desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
    let role = Subject::of(&desired.id, Some(actual));
    let of = |field: &str| deltas.iter().find(|delta| delta.field == field);
    let mut calls = Vec::new();
    calls.extend(of("permissionsBoundary").map(|delta| role.boundary(&delta.to)));
    calls.extend(of("trust").map(|delta| {
        role.call("UpdateAssumeRolePolicy").with("PolicyDocument", text_of(&delta.to))
    }));
    calls.extend(of("policies").into_iter().flat_map(|delta| role.attachments(actual, delta)));
    for delta in ["inline", "databaseAccess"].into_iter().filter_map(of) {
        let documents = delta.to.as_object().into_iter().flatten();
        calls.extend(documents.map(|(name, document)| role.document(name, document)));
    }
    calls.extend(role.settings(actual, of("description"), of("maxSessionDurationSeconds")));
    calls.extend(of("tags").and_then(|delta| delta.to.as_object()).map(|tags| role.tag(tags)));
    calls
}

/// Returns the call that sets the ownership tag.
pub(super) fn own(id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
    vec![Subject::of(id, Some(actual)).tag(&ownership(owner))]
}

/// Returns the calls that delete the role, which AWS takes only when it has no policies any more.
///
/// A role that an instance profile holds is refused by AWS, and stays until somebody takes it out.
pub(super) fn delete(id: &ResourceId, actual: &Observed) -> Deletion {
    let role = Subject::of(id, Some(actual));
    let detach = |arn| role.call("DetachRolePolicy").with("PolicyArn", arn);
    let mut calls: Vec<Call> = attached(actual).into_iter().map(detach).collect();
    calls.extend(inline(actual).map(|name| role.document(name, &Value::Null)));
    calls.push(role.call("DeleteRole"));
    Deletion { calls, notices: Vec::new() }
}

/// Is the role that calls are made for, by the name in which AWS spells it.
struct Subject<'a> {
    name: &'a str,
}

impl<'a> Subject<'a> {
    fn of(id: &'a ResourceId, actual: Option<&'a Observed>) -> Self {
        let spelled = actual.and_then(|actual| actual.text("RoleName"));
        Self { name: spelled.unwrap_or(&id.name) }
    }

    fn call(&self, operation: &'static str) -> Call {
        Call::new("iam", operation).with("RoleName", self.name)
    }

    fn tag(&self, tags: &Map<String, Value>) -> Call {
        self.call("TagRole").with("Tags", tag_list(tags))
    }

    fn attach(&self, arn: &str) -> Call {
        self.call("AttachRolePolicy").with("PolicyArn", arn)
    }

    /// Sets or deletes one inline policy.
    fn document(&self, name: &str, document: &Value) -> Call {
        if document.is_null() {
            return self.call("DeleteRolePolicy").with("PolicyName", name);
        }
        self.call("PutRolePolicy")
            .with("PolicyName", name)
            .with("PolicyDocument", text_of(document))
    }

    fn boundary(&self, arn: &Value) -> Call {
        match arn.as_str() {
            None | Some("") => self.call("DeleteRolePermissionsBoundary"),
            Some(arn) => {
                self.call("PutRolePermissionsBoundary").with("PermissionsBoundary", arn)
            }
        }
    }

    /// Detaches what is not declared and attaches what is missing.
    fn attachments(&self, actual: &Observed, delta: &Delta) -> Vec<Call> {
        let there = attached(actual);
        let wanted = texts(&delta.to);
        let attach: Vec<Call> = wanted
            .iter()
            .filter(|arn| !there.contains(arn))
            .map(|arn| self.attach(arn))
            .collect();
        let detach: Vec<Call> = there
            .iter()
            .filter(|arn| !wanted.contains(arn))
            .map(|arn| self.call("DetachRolePolicy").with("PolicyArn", *arn))
            .collect();
        // What is exchanged is first added, so that a program does not lose its rights in between.
        match there.len() + attach.len() > ATTACHED_AT_MOST {
            true => [detach, attach].concat(),
            false => [attach, detach].concat(),
        }
    }

    /// Sets description and session duration, which travel together: of the two, AWS puts the
    /// duration back to an hour when it is left out.
    fn settings(
        &self,
        actual: &Observed,
        description: Option<&Delta>,
        duration: Option<&Delta>,
    ) -> Option<Call> {
        if description.is_none() && duration.is_none() {
            return None;
        }
        let value = |delta: Option<&Delta>, member: &str| {
            delta.map(|delta| &delta.to).or_else(|| actual.member(member)).cloned()
        };
        let mut call = self.call("UpdateRole");
        for (delta, member) in [(description, "Description"), (duration, "MaxSessionDuration")] {
            if let Some(value) = value(delta, member) {
                call = call.with(member, value);
            }
        }
        Some(call)
    }
}

/// Lists the ARNs of the managed policies that a role has attached.
pub(super) fn attached(actual: &Observed) -> Vec<&str> {
    let list = actual.member("AttachedManagedPolicies").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|item| item.get("PolicyArn")?.as_str()).collect()
}

/// Lists the names of the inline policies of a role.
fn inline(actual: &Observed) -> impl Iterator<Item = &str> {
    let list = actual.member("RolePolicyList").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(|item| item.get("PolicyName")?.as_str())
}

/// Writes a document as the text that IAM takes.
fn text_of(document: &Value) -> String {
    document.as_str().map_or_else(|| document.to_string(), str::to_owned)
}

fn texts(list: &Value) -> Vec<&str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}
