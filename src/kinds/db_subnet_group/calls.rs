//! The calls that make, change, take over, leave and delete a DB subnet group, as data.

use serde_json::{Map, Value};

use crate::model::desired::{ownership, tag_list};
use crate::model::kind::Deletion;
use crate::model::{Bound, Call, Delta, Observed, ResourceId};

/// Returns the call that makes the group.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let subnets = desired.declared("subnetIds").cloned().unwrap_or_default();
    vec![
        Call::new("rds", "CreateDBSubnetGroup")
            .with("DBSubnetGroupName", desired.id.name.as_ref())
            .with("DBSubnetGroupDescription", format!("Subnets of {}", desired.owner))
            .with("SubnetIds", subnets)
            .with("Tags", tag_list(&desired.tags_at_creation())),
    ]
}

/// Returns the calls that mend exactly these differences.
pub(super) fn update(desired: &Bound, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
    deltas
        .iter()
        .map(|delta| match delta.field.as_str() {
            "tags" => add_tags(&desired.id, actual, &tags_of(delta)),
            _ => Call::new("rds", "ModifyDBSubnetGroup")
                .with("DBSubnetGroupName", desired.id.name.as_ref())
                .with(&delta.parameter, delta.to.clone()),
        })
        .collect()
}

/// Returns the call that sets the ownership tag.
pub(super) fn own(id: &ResourceId, actual: &Observed, owner: &str) -> Vec<Call> {
    vec![add_tags(id, actual, &ownership(owner))]
}

/// Returns the call that deletes the group, which AWS refuses while an instance uses it.
pub(super) fn delete(id: &ResourceId) -> Deletion {
    let call = Call::new("rds", "DeleteDBSubnetGroup").with("DBSubnetGroupName", id.name.as_ref());
    Deletion { calls: vec![call], notices: Vec::new() }
}

fn add_tags(id: &ResourceId, actual: &Observed, tags: &Map<String, Value>) -> Call {
    let arn = actual.text("DBSubnetGroupArn").map(str::to_owned);
    let arn = arn.unwrap_or_else(|| id.arn("rds", "subgrp"));
    Call::new("rds", "AddTagsToResource").with("ResourceName", arn).with("Tags", tag_list(tags))
}

/// Returns the tags that a difference sets.
fn tags_of(delta: &Delta) -> Map<String, Value> {
    delta.to.as_object().cloned().unwrap_or_default()
}
