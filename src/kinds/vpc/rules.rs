//! What is known about every field of a VPC of a network's own.
//!
//! Source: the API reference of `Vpc`, `CreateVpc` and `ModifyVpcAttribute`. The first block of a VPC
//! cannot be changed; blocks that were added to it stand in `CidrBlockAssociationSet`, are nobody's
//! here and stay. `ModifyVpcTenancy` leads from `dedicated` to `default` only, and no way leads back:
//! that is a person's to do.

use crate::model::{Compare, Rule};

/// The rules, in the order in which reports show them.
pub(super) const RULES: &[Rule] = &[
    Rule::new("cidr", "CidrBlock", "CidrBlock").immutable("VpcCidrImmutable").always(),
    Rule::new("tenancy", "InstanceTenancy", "InstanceTenancy")
        .immutable("VpcTenancyImmutable")
        .always(),
    Rule::new("dnsSupport", "EnableDnsSupport.Value", "EnableDnsSupport").always().later(),
    Rule::new("dnsHostnames", "EnableDnsHostnames.Value", "EnableDnsHostnames").always().later(),
    Rule::new("tags", "Tags", "Tags").compare(Compare::Tags),
];
