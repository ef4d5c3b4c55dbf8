//! The calls that make, change, take over, leave and delete a VPC, and read what no list holds, as data.
//!
//! Source: the API reference of EC2. A call changes one attribute, and reads one.

use serde_json::{Value, json};

use crate::kinds::name_tag;
use crate::model::desired::{ownership, tag_list};
use crate::model::kind::Deletion;
use crate::model::{Bound, Call, Delta, Observed};

/// The attributes that only a read of their own answers: field, name.
const ATTRIBUTES: [(&str, &str); 2] =
    [("dnsSupport", "enableDnsSupport"), ("dnsHostnames", "enableDnsHostnames")];

/// Returns the search for a VPC that carries a name of ours.
pub(super) fn find(name: &str) -> Call {
    name_tag::search(Call::new("ec2", "DescribeVpcs"), name)
}

/// Returns the reads of the attributes that are declared.
pub(super) fn attributes(desired: &Bound, actual: &Observed) -> Vec<Call> {
    let declared = ATTRIBUTES.iter().filter(|(field, _)| desired.declared(field).is_some());
    let read = |(_, attribute): &(&str, &str)| {
        Call::new("ec2", "DescribeVpcAttribute")
            .with("VpcId", id(actual))
            .with("Attribute", *attribute)
    };
    declared.map(read).collect()
}

/// Returns the call that makes the VPC; its attributes are the next pass's.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let tags = tag_list(&desired.tags_at_creation());
    let mut call = Call::new("ec2", "CreateVpc")
        .with("CidrBlock", desired.declared("cidr").cloned().unwrap_or_default())
        .with("TagSpecifications", json!([{"ResourceType": "vpc", "Tags": tags}]));
    if let Some(tenancy) = desired.declared("tenancy") {
        call = call.with("InstanceTenancy", tenancy.clone());
    }
    vec![call]
}

/// Returns the calls that mend exactly these differences.
///
/// DNS names take DNS support: it is turned on before them, and off after them.
pub(super) fn update(actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
    let rank = |delta: &&Delta| match (delta.field.as_str(), delta.to.as_bool()) {
        ("dnsHostnames", Some(false)) => 0,
        ("dnsSupport", _) => 1,
        _ => 2,
    };
    let mut deltas: Vec<&Delta> = deltas.iter().collect();
    deltas.sort_by_key(rank);
    deltas.into_iter().map(|delta| mend(actual, delta)).collect()
}

fn mend(actual: &Observed, delta: &Delta) -> Call {
    match delta.to.as_object() {
        Some(tags) => tag(actual, tag_list(tags)),
        None => Call::new("ec2", "ModifyVpcAttribute")
            .with("VpcId", id(actual))
            .with(&delta.parameter, json!({ "Value": delta.to })),
    }
}

/// Returns the call that sets the ownership tag.
pub(super) fn own(actual: &Observed, owner: &str) -> Vec<Call> {
    vec![tag(actual, tag_list(&ownership(owner)))]
}

/// Returns the call that deletes the VPC, which AWS takes only when nothing is in it any more but what
/// it was made with.
pub(super) fn delete(actual: &Observed) -> Deletion {
    let call = Call::new("ec2", "DeleteVpc").with("VpcId", id(actual));
    Deletion { calls: vec![call], notices: Vec::new() }
}

fn tag(actual: &Observed, tags: Value) -> Call {
    Call::new("ec2", "CreateTags").with("Resources", vec![id(actual)]).with("Tags", tags)
}

fn id(actual: &Observed) -> &str {
    actual.text("VpcId").unwrap_or_default()
}
