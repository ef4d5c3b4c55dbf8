//! The calls that make, change, take over, leave and delete a security group, as data.
//!
//! Source: the API reference of EC2.

use serde_json::{Value, json};

use crate::model::desired::{ownership, tag_list};
use crate::model::kind::Deletion;
use crate::model::{Bound, Call, Delta, Notice, Observed, Origin, Peer, Protocol, Traffic};

/// How many rules a direction of a group may have before AWS raises the quota.
const RULES_AT_MOST: usize = 60;

/// Names the calls for one direction, and the member that holds its rules.
struct Direction {
    fields: &'static str,
    member: &'static str,
    authorize: &'static str,
    revoke: &'static str,
    describe: &'static str,
}

const DIRECTIONS: [Direction; 2] = [
    Direction {
        fields: "ingress.",
        member: "IpPermissions",
        authorize: "AuthorizeSecurityGroupIngress",
        revoke: "RevokeSecurityGroupIngress",
        describe: "UpdateSecurityGroupRuleDescriptionsIngress",
    },
    Direction {
        fields: "egress.",
        member: "IpPermissionsEgress",
        authorize: "AuthorizeSecurityGroupEgress",
        revoke: "RevokeSecurityGroupEgress",
        describe: "UpdateSecurityGroupRuleDescriptionsEgress",
    },
];

/// Returns the call that makes the group; its rules are the next pass's.
pub(super) fn create(desired: &Bound) -> Vec<Call> {
    let vpc = desired.declared("vpcRef").cloned().unwrap_or_default();
    let tags = tag_list(&desired.tags_at_creation());
    vec![
        Call::new("ec2", "CreateSecurityGroup")
            .with("GroupName", desired.id.name.as_ref())
            .with("Description", format!("Security group of {}", desired.owner))
            .with("VpcId", vpc)
            .with("TagSpecifications", json!([{"ResourceType": "security-group", "Tags": tags}])),
    ]
}

/// Returns the calls that mend exactly these differences.
pub(super) fn update(actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
    DIRECTIONS.iter().flat_map(|direction| direction.mend(actual, deltas)).collect()
}

/// Returns the call that sets the ownership tag.
pub(super) fn own(actual: &Observed, owner: &str) -> Vec<Call> {
    let call = Call::new("ec2", "CreateTags").with("Resources", vec![id(actual)]);
    vec![call.with("Tags", tag_list(&ownership(owner)))]
}

/// Returns the calls that delete the group, which AWS takes only when nothing uses it any more.
///
/// Rules with other groups go first: two groups that let each other in would keep each other.
pub(super) fn delete(actual: &Observed) -> Deletion {
    let revoked = DIRECTIONS.iter().filter_map(|direction| {
        let rules = with_other_groups(actual, direction.member);
        (!rules.is_empty()).then(|| call(direction.revoke, actual).with("IpPermissions", rules))
    });
    let mut calls: Vec<Call> = revoked.collect();
    let notices = match calls.is_empty() {
        true => Vec::new(),
        false => vec![Notice {
            field: String::new(),
            code: "RulesRevoked".to_owned(),
            message: "its rules with other security groups are revoked before it is deleted".to_owned(),
        }],
    };
    calls.push(call("DeleteSecurityGroup", actual));
    Deletion { calls, notices }
}

impl Direction {
    fn mend(&self, actual: &Observed, deltas: &[Delta]) -> Vec<Call> {
        let deltas: Vec<&Delta> =
            deltas.iter().filter(|delta| delta.field.starts_with(self.fields)).collect();
        let (mut missing, mut surplus, mut renamed) = (Vec::new(), Vec::new(), Vec::new());
        for (delta, rule, description) in deltas.iter().flat_map(|delta| rules_of(delta)) {
            let Ok(traffic) = rule.parse::<Traffic>() else { continue };
            match description.as_str() {
                None => surplus.push(permission(&traffic, "")),
                Some(text) if delta.from.get(rule).is_some() => renamed.push(permission(&traffic, text)),
                Some(text) => missing.push(permission(&traffic, text)),
            }
        }
        let is_full = self.count(actual) + missing.len() > RULES_AT_MOST;
        let is_drift = deltas.iter().all(|delta| delta.origin == Origin::Drift);
        // One rule a call: AWS takes none of a call of which it does not know one.
        let revoke = surplus.into_iter().map(|rule| self.call(self.revoke, actual, vec![rule]));
        let revoke: Vec<Call> = revoke.collect();
        let authorize = self.some(self.authorize, actual, missing);
        let mut calls = match is_drift || is_full {
            // What somebody opened is shut before anything else can fail.
            true => [revoke, authorize].concat(),
            // What Git exchanges is first added, so that no connection is cut in between.
            false => [authorize, revoke].concat(),
        };
        calls.extend(self.some(self.describe, actual, renamed));
        calls
    }

    fn call(&self, operation: &'static str, actual: &Observed, rules: Vec<Value>) -> Call {
        call(operation, actual).with("IpPermissions", rules)
    }

    /// Returns one call for all of these rules, none for no rule.
    fn some(&self, operation: &'static str, actual: &Observed, rules: Vec<Value>) -> Vec<Call> {
        if rules.is_empty() { Vec::new() } else { vec![self.call(operation, actual, rules)] }
    }

    fn count(&self, actual: &Observed) -> usize {
        let permissions = actual.member(self.member).and_then(Value::as_array);
        let lists = permissions.into_iter().flatten().filter_map(Value::as_object);
        lists.flat_map(|permission| permission.values()).filter_map(Value::as_array).map(Vec::len).sum()
    }
}

/// Lists what a difference says of each rule: the description that it should have, null for none.
fn rules_of(delta: &Delta) -> impl Iterator<Item = (&Delta, &str, &Value)> {
    let rules = delta.to.as_object().into_iter().flatten();
    rules.map(move |(rule, description)| (delta, rule.as_str(), description))
}

fn id(actual: &Observed) -> &str {
    actual.text("GroupId").unwrap_or_default()
}

fn call(operation: &'static str, actual: &Observed) -> Call {
    Call::new("ec2", operation).with("GroupId", id(actual))
}

/// Writes one rule as an `IpPermission`; an empty description is none.
fn permission(traffic: &Traffic, description: &str) -> Value {
    let protocol = match traffic.protocol {
        Protocol::All => "-1".to_owned(),
        Protocol::Tcp => "tcp".to_owned(),
        Protocol::Udp => "udp".to_owned(),
        Protocol::Icmp => "icmp".to_owned(),
        Protocol::Icmpv6 => "icmpv6".to_owned(),
        Protocol::Number(number) => number.to_string(),
    };
    let (list, mut peer) = match &traffic.peer {
        Peer::Block(block @ crate::model::Block::V4(..)) => {
            ("IpRanges", json!({"CidrIp": block.to_string()}))
        }
        Peer::Block(block) => ("Ipv6Ranges", json!({"CidrIpv6": block.to_string()})),
        Peer::PrefixList(id) => ("PrefixListIds", json!({"PrefixListId": id})),
        Peer::Group(id) => ("UserIdGroupPairs", match id.split_once('/') {
            Some((account, id)) => json!({"UserId": account, "GroupId": id}),
            None => json!({"GroupId": id}),
        }),
    };
    if !description.is_empty() {
        peer["Description"] = description.into();
    }
    let mut permission = json!({"IpProtocol": protocol, (list): [peer]});
    if let Some((from, to)) = traffic.ports.numbers(traffic.protocol) {
        permission["FromPort"] = from.into();
        permission["ToPort"] = to.into();
    }
    permission
}

/// Lists the rules that name other groups, as AWS answered them.
fn with_other_groups(actual: &Observed, member: &str) -> Vec<Value> {
    let permissions = actual.member(member).and_then(Value::as_array).into_iter().flatten();
    permissions.filter_map(|permission| others_of(permission, id(actual))).collect()
}

fn others_of(permission: &Value, own: &str) -> Option<Value> {
    let pairs = permission.get("UserIdGroupPairs")?.as_array()?.iter();
    let others = pairs.filter(|pair| pair.get("GroupId").and_then(Value::as_str) != Some(own));
    let others: Vec<Value> = others
        .map(|pair| json!({"GroupId": pair.get("GroupId"), "UserId": pair.get("UserId")}))
        .map(without_nulls)
        .collect();
    let part = json!({
        "IpProtocol": permission.get("IpProtocol"),
        "FromPort": permission.get("FromPort"),
        "ToPort": permission.get("ToPort"),
        "UserIdGroupPairs": others,
    });
    (!others.is_empty()).then(|| without_nulls(part))
}

fn without_nulls(mut value: Value) -> Value {
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, member| !member.is_null());
    }
    value
}
