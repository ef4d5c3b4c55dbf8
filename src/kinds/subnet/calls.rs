//! The calls that make, change, take over, leave and delete a subnet, as data.
//!
//! Source: the API reference of EC2. A call changes one attribute.

use serde_json::{Value, json};

use crate::kinds::name_tag;
use crate::model::desired::{ownership, tag_list};
use crate::model::kind::Deletion;
use crate::model::{Bound, Call, Delta, Observed};

/// Returns the search for a subnet that carries a name of ours.
pub(super) fn find(name: &str) -> Call {
    name_tag::search(Call::new("ec2", "DescribeSubnets"), name)
}

/// Returns the call that makes the subnet; its attributes are the next pass's.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let tags = tag_list(&desired.tags_at_creation());
    let declared = |field: &str| desired.declared(field).cloned().unwrap_or_default();
    vec![
        Call::new("ec2", "CreateSubnet")
            .with("VpcId", declared("vpc"))
            .with("CidrBlock", declared("cidr"))
            .with("AvailabilityZone", declared("zone"))
            .with("TagSpecifications", json!([{"ResourceType": "subnet", "Tags": tags}])),
    ]
}

/// Returns the calls that mend exactly these differences.
pub(super) fn update(actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
    let mend = |delta: &Delta| match delta.to.as_object() {
        Some(tags) => tag(actual, tag_list(tags)),
        None => Call::new("ec2", "ModifySubnetAttribute")
            .with("SubnetId", id(actual))
            .with(&delta.parameter, json!({ "Value": delta.to })),
    };
    deltas.iter().map(mend).collect()
}

/// Returns the call that sets the ownership tag.
pub(super) fn own(actual: &Observed, owner: &str) -> Vec<Call> {
    vec![tag(actual, tag_list(&ownership(owner)))]
}

/// Returns the call that deletes the subnet, which AWS takes only when no network interface is in it.
pub(super) fn delete(actual: &Observed) -> Deletion {
    let call = Call::new("ec2", "DeleteSubnet").with("SubnetId", id(actual));
    Deletion { calls: vec![call], notices: Vec::new() }
}

fn tag(actual: &Observed, tags: Value) -> Call {
    Call::new("ec2", "CreateTags").with("Resources", vec![id(actual)]).with("Tags", tags)
}

fn id(actual: &Observed) -> &str {
    actual.text("SubnetId").unwrap_or_default()
}
