//! Rules of security groups: let in, taken back, described anew.
//!
//! A call of which one rule is refused changes nothing. What is taken back and not there is an error,
//! save in the default VPC, where it is passed over.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use serde_json::{Map, Value, json};

use super::group::{Group, no_group};
use crate::model::{Block, Peer, Ports, Protocol, Traffic};
use crate::sandbox::args::{Args, missing};
use crate::sandbox::refusal::{Answer, Refusal};
use crate::sandbox::services::{Operation, Site};

/// The description of each rule.
pub(super) type Rules = BTreeMap<Traffic, Option<String>>;

/// The most rules that a direction of a group has, counted for each version of IP.
const MOST_RULES: usize = 60;

const fn write(name: &'static str, run: fn(&mut Site<'_>, Args<'_>) -> Answer) -> Operation {
    Operation { service: "ec2", name, accepts: &["GroupId", "IpPermissions"], run }
}

/// The operations.
pub(super) const OPERATIONS: &[Operation] = &[
    write("AuthorizeSecurityGroupIngress", |site, args| authorize(site, args, ingress)),
    write("AuthorizeSecurityGroupEgress", |site, args| authorize(site, args, egress)),
    write("RevokeSecurityGroupIngress", |site, args| revoke(site, args, ingress)),
    write("RevokeSecurityGroupEgress", |site, args| revoke(site, args, egress)),
    write("UpdateSecurityGroupRuleDescriptionsIngress", |site, args| {
        redescribe(site, args, ingress)
    }),
    write("UpdateSecurityGroupRuleDescriptionsEgress", |site, args| redescribe(site, args, egress)),
];

/// Chooses a direction of a group.
type Direction = fn(&mut Group) -> &mut Rules;

fn ingress(group: &mut Group) -> &mut Rules {
    &mut group.ingress
}

fn egress(group: &mut Group) -> &mut Rules {
    &mut group.egress
}

/// Returns the rule that lets everything through, over IPv4.
pub(super) fn everything() -> Traffic {
    let peer = Peer::Block(Block::V4(Ipv4Addr::UNSPECIFIED, 0));
    Traffic { protocol: Protocol::All, ports: Ports::All, peer }
}

fn authorize(site: &mut Site<'_>, args: Args<'_>, direction: Direction) -> Answer {
    let (id, new) = asked(site, args)?;
    let group = site.state.ec2.groups.get_mut(&id).ok_or_else(|| no_group(&id))?;
    let rules = direction(group);
    if let Some((rule, _)) = new.iter().find(|(rule, _)| rules.contains_key(rule)) {
        let text = format!("the specified rule \"{rule}\" already exists");
        return Err(Refusal::new("InvalidPermission.Duplicate", text));
    }
    let is_v6 = |rule: &Traffic| matches!(rule.peer, Peer::Block(Block::V6(..)));
    let all = || rules.keys().chain(new.keys());
    let v6 = all().filter(|rule| is_v6(rule)).count();
    if v6 > MOST_RULES || all().count() - v6 > MOST_RULES {
        let text = "The maximum number of rules per security group has been reached.";
        return Err(Refusal::new("RulesPerSecurityGroupLimitExceeded", text));
    }
    rules.extend(new);
    Ok(json!({"Return": true}))
}

fn revoke(site: &mut Site<'_>, args: Args<'_>, direction: Direction) -> Answer {
    let (id, old) = asked(site, args)?;
    let ec2 = &mut site.state.ec2;
    let group = ec2.groups.get_mut(&id).ok_or_else(|| no_group(&id))?;
    let is_lenient = ec2.vpcs.get(&group.vpc).is_some_and(|vpc| vpc["IsDefault"] == true);
    let rules = direction(group);
    if let Some(rule) = old.keys().find(|rule| !is_lenient && !rules.contains_key(rule)) {
        return Err(no_rule(rule));
    }
    rules.retain(|rule, _| !old.contains_key(rule));
    Ok(json!({"Return": true}))
}

fn redescribe(site: &mut Site<'_>, args: Args<'_>, direction: Direction) -> Answer {
    for permission in args.objects("IpPermissions")? {
        let protocol = permission.text("IpProtocol")?.and_then(Protocol::read);
        if protocol == Some(Protocol::All) && permission.has("FromPort") {
            let text = "When protocol is ALL, you cannot specify from-port.";
            return Err(Refusal::value(text));
        }
    }
    let (id, new) = asked(site, args)?;
    let group = site.state.ec2.groups.get_mut(&id).ok_or_else(|| no_group(&id))?;
    let rules = direction(group);
    if let Some(rule) = new.keys().find(|rule| !rules.contains_key(rule)) {
        return Err(no_rule(rule));
    }
    rules.extend(new);
    Ok(json!({"Return": true}))
}

fn no_rule(rule: &Traffic) -> Refusal {
    let text = format!("The specified rule \"{rule}\" does not exist in this security group.");
    Refusal::new("InvalidPermission.NotFound", text)
}

/// Reads the group and the rules that a call is about.
fn asked(site: &Site<'_>, args: Args<'_>) -> Result<(String, Rules), Refusal> {
    let id = args.required("GroupId")?;
    let group = site.state.ec2.groups.get(id).ok_or_else(|| no_group(id))?;
    let mut rules = Rules::new();
    for permission in args.objects("IpPermissions")? {
        let protocol = permission.required("IpProtocol")?;
        let protocol = Protocol::read(protocol).ok_or_else(|| {
            Refusal::value(format!("Invalid value '{protocol}' for IP protocol."))
        })?;
        let ports = ports(permission, protocol)?;
        for (peer, description) in peers(site, permission, group)? {
            rules.insert(Traffic { protocol, ports, peer }, description);
        }
    }
    match rules.is_empty() {
        true => Err(missing("IpPermissions")),
        false => Ok((id.to_owned(), rules)),
    }
}

fn ports(permission: Args<'_>, protocol: Protocol) -> Result<Ports, Refusal> {
    let (from, to) = (permission.integer("FromPort")?, permission.integer("ToPort")?);
    let invalid = |what: &str| Refusal::value(format!("Invalid value '{what}' for portRange."));
    if protocol.has_ports() && (from.is_none() || to.is_none()) {
        return Err(invalid("Must specify both from and to ports with TCP/UDP."));
    }
    Ports::read(protocol, from, to).ok_or_else(|| invalid("out of range"))
}

type Peers = Vec<(Peer, Option<String>)>;

fn peers(site: &Site<'_>, permission: Args<'_>, group: &Group) -> Result<Peers, Refusal> {
    let mut found = Peers::new();
    for (list, member) in
        [("IpRanges", "CidrIp"), ("Ipv6Ranges", "CidrIpv6"), ("PrefixListIds", "PrefixListId")]
    {
        for item in permission.objects(list)? {
            let text = item.required(member)?;
            let malformed = || Refusal::value(format!("CIDR block {text} is malformed"));
            let peer: Peer = text.parse().map_err(|_| malformed())?;
            if matches!(peer, Peer::Group(_)) {
                return Err(malformed());
            }
            found.push((peer, described_as(item)?));
        }
    }
    for pair in permission.objects("UserIdGroupPairs")? {
        let id = pair.required("GroupId")?;
        let other = site.state.ec2.groups.get(id).ok_or_else(|| no_group(id))?;
        if other.vpc != group.vpc {
            let text = "You have specified two resources that belong to different networks.";
            return Err(Refusal::new("InvalidGroup.NotFound", text));
        }
        found.push((Peer::Group(id.to_owned()), described_as(pair)?));
    }
    Ok(found)
}

fn described_as(item: Args<'_>) -> Result<Option<String>, Refusal> {
    Ok(item.text("Description")?.filter(|text| !text.is_empty()).map(str::to_owned))
}

/// Describes rules as EC2 does: those of the same protocol and ports together.
pub(super) fn described(rules: &Rules, account: &str) -> Value {
    let mut groups: BTreeMap<(Protocol, Ports), Map<String, Value>> = BTreeMap::new();
    for (rule, description) in rules {
        let permission = groups.entry((rule.protocol, rule.ports)).or_insert_with(|| blank(rule));
        let (list, mut peer) = match &rule.peer {
            Peer::Block(block @ Block::V4(..)) => {
                ("IpRanges", json!({"CidrIp": block.to_string()}))
            }
            Peer::Block(block) => ("Ipv6Ranges", json!({"CidrIpv6": block.to_string()})),
            Peer::PrefixList(id) => ("PrefixListIds", json!({"PrefixListId": id})),
            Peer::Group(id) => ("UserIdGroupPairs", json!({"GroupId": id, "UserId": account})),
        };
        if let Some(description) = description {
            peer["Description"] = description.as_str().into();
        }
        if let Some(Value::Array(items)) = permission.get_mut(list) {
            items.push(peer);
        }
    }
    groups.into_values().map(Value::Object).collect()
}

fn blank(rule: &Traffic) -> Map<String, Value> {
    let protocol = match rule.protocol {
        Protocol::All => "-1".to_owned(),
        Protocol::Number(number) => number.to_string(),
        other => format!("{other:?}").to_lowercase(),
    };
    let mut permission = Map::from_iter([("IpProtocol".to_owned(), protocol.into())]);
    for list in ["IpRanges", "Ipv6Ranges", "PrefixListIds", "UserIdGroupPairs"] {
        permission.insert(list.to_owned(), json!([]));
    }
    if let Some((from, to)) = rule.ports.numbers(rule.protocol) {
        permission.insert("FromPort".to_owned(), from.into());
        permission.insert("ToPort".to_owned(), to.into());
    }
    permission
}
