//! What is known about every field of a security group.
//!
//! Source: the API reference of `SecurityGroup` and `IpPermission`. A direction is two fields, by
//! what its rules let through: which group a workspace has may not be known yet, and addresses that
//! somebody let in are shut out whether it is or not. What AWS lets through beyond Git is a danger.

use crate::model::{Compare, Peers, Rule};

const fn rule(field: &'static str, member: &'static str, peers: Peers) -> Rule {
    Rule::new(field, member, "IpPermissions")
        .compare(Compare::Permissions(peers))
        .always()
        .security()
        .later()
        .with("vpcRef")
}

/// The rules, in the order in which reports show them.
pub(super) const RULES: &[Rule] = &[
    Rule::new("vpcRef", "VpcId", "VpcId").immutable("SecurityGroupVpcImmutable").always(),
    rule("ingress.addresses", "IpPermissions", Peers::Addresses),
    rule("ingress.groups", "IpPermissions", Peers::Groups),
    rule("egress.addresses", "IpPermissionsEgress", Peers::Addresses),
    rule("egress.groups", "IpPermissionsEgress", Peers::Groups),
];
