//! A rule of `network.ingress` or `network.egress`.
//!
//! In: the items of a list in the `network` section. Out: [`TrafficRule`]s; [`check`](super::check)
//! finds what they alone prove wrong, [`resource`](super::expand) makes the security group of them.
//!
//! Invariants: a direction that is not declared is not managed; an empty list means that nothing
//! passes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Offer;

pub use super::check::{Surroundings, check, name_mistake};
pub use super::expand::{GROUP_ID, Placement, group_name, lets_in, resource};

/// What a security group is known by.
pub const OFFERS: &[Offer] = &[Offer::text("groupId", GROUP_ID), Offer::text("name", "GroupName")];

/// Lets some traffic in, or out: a protocol with its ports, and exactly one of `cidr`, `prefixList`,
/// `workspace`, `self` and `securityGroup`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct TrafficRule {
    /// The protocol: `tcp`, `udp`, `icmp`, `icmpv6`, `all`, or the number of another one, quoted.
    /// Default `tcp` where ports are given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"tcp")]
    pub protocol: Option<String>,
    /// One port of TCP or UDP. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &5432)]
    pub port: Option<u16>,
    /// The first and the last of several ports, for example `8000-8080`; `0-65535` for all of them.
    /// Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"8000-8080")]
    pub ports: Option<String>,
    /// The type of ICMP messages, for example 8 for an echo request. Default: all types.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icmp_type: Option<u8>,
    /// The code of ICMP messages of the type. Default: all codes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icmp_code: Option<u8>,
    /// Addresses as a CIDR block of IPv4 or IPv6, for example `10.0.0.0/16`. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"10.0.0.0/16")]
    pub cidr: Option<String>,
    /// Addresses as the id of a prefix list, for example `pl-0123456789abcdef0`. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix_list: Option<String>,
    /// What carries the security group of another workspace of the same environment and VPC, by its
    /// name. It has to declare `ingress` or `egress` too. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"team-payments-prod")]
    pub workspace: Option<String>,
    /// Whether it is what carries this security group itself. Default `false`.
    #[serde(rename = "self", skip_serializing_if = "std::ops::Not::not")]
    pub itself: bool,
    /// What carries another security group: its id (`sg-…`, after `ACCOUNT/` where the VPC of another
    /// account is peered), or its name, if only one group of the region has it. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub security_group: Option<String>,
    /// What the rule is for; an empty text means none. Default: not managed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 255))]
    pub description: Option<String>,
}
