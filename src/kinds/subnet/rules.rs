//! What is known about every field of a subnet.
//!
//! Source: the API reference of `Subnet`, `CreateSubnet` and `ModifySubnetAttribute`. AWS answers the
//! whole name of a zone, and beside it the id that it has in every account. Addresses that somebody makes
//! public are a danger.

use crate::model::{Compare, Rule};

/// The rules, in the order in which reports show them.
pub(super) const RULES: &[Rule] = &[
    Rule::new("vpc", "VpcId", "VpcId").immutable("SubnetVpcImmutable").always(),
    Rule::new("cidr", "CidrBlock", "CidrBlock").immutable("SubnetCidrImmutable").always(),
    Rule::new("zone", "AvailabilityZone", "AvailabilityZone")
        .immutable("SubnetZoneImmutable")
        .always(),
    Rule::new("mapPublicIp", "MapPublicIpOnLaunch", "MapPublicIpOnLaunch")
        .always()
        .security()
        .later(),
    Rule::new("tags", "Tags", "Tags").compare(Compare::Tags),
];
