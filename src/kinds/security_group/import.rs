//! How a security group that exists is declared: as `network.ingress` and `network.egress` of the
//! workspace whose database alone uses it.

use serde_json::{Map, Value, json};

use crate::model::import::{Around, Draft, Import, Section};
use crate::model::traffic::permission_of;
use crate::model::{Observed, Peer, Peers, Ports, Protocol, Traffic};

/// What AWS lets out of a new group.
const ALL_OUT: [&str; 1] = ["all 0.0.0.0/0"];

const NETWORK: &str = "network";

impl Import for super::SecurityGroup {
    fn passed_over(&self, name: &str, actual: &Observed) -> Option<String> {
        if name == "default" {
            return Some("it is the group that AWS makes with each VPC".to_owned());
        }
        if let Some(ids) = actual.member("Ambiguous").and_then(Value::as_array) {
            return Some(format!("{} groups of several VPCs have this name", ids.len()));
        }
        let has_capitals = actual.text("GroupName").is_some_and(|spelled| spelled != name);
        has_capitals.then(|| "its name has capitals and cannot be declared; its id can".to_owned())
    }

    fn known_as(&self, actual: &Observed) -> Vec<(String, Option<&'static str>)> {
        actual.text("GroupId").map(|id| (id.to_owned(), None)).into_iter().collect()
    }

    fn draft(&self, name: &str, actual: &Observed, around: &dyn Around) -> Option<Draft> {
        let mut draft = Draft::new(Section::Part(NETWORK));
        draft.vpc = actual.text("VpcId").map(str::to_owned);
        let vpc = actual.text("VpcId").and_then(|id| around.find(id));
        if let Some((vpc, _)) = vpc {
            draft.sheet.put("vpcRef", &*vpc.name);
        }
        draft.sheet.put("securityGroup", actual.text("GroupName").unwrap_or(name));
        draft.sheet.put("ingress", rules(actual, "IpPermissions")?);
        let egress = rules(actual, "IpPermissionsEgress")?;
        let plain: Vec<String> = traffics(actual, "IpPermissionsEgress")?
            .into_iter()
            .map(|(traffic, _)| traffic.to_string())
            .collect();
        if plain != ALL_OUT {
            draft.sheet.put("egress", egress);
        }
        Some(draft)
    }
}

/// Returns the rules of a direction, with the description of each where it has one.
fn traffics(actual: &Observed, member: &str) -> Option<Vec<(Traffic, Option<String>)>> {
    let permissions = actual.member(member)?.as_array()?;
    let account = actual.text("OwnerId").unwrap_or_default();
    let mut found = Vec::new();
    for permission in permissions {
        for peers in [Peers::Addresses, Peers::Groups] {
            found.extend(permission_of(permission, peers, account)?);
        }
    }
    found.sort();
    Some(found)
}

fn rules(actual: &Observed, member: &str) -> Option<Value> {
    let own = actual.text("GroupId").unwrap_or_default();
    let rules = traffics(actual, member)?.into_iter();
    Some(rules.map(|(traffic, text)| rule(&traffic, text.as_deref(), own)).collect())
}

/// Writes a rule as a manifest does.
fn rule(of: &Traffic, description: Option<&str>, own: &str) -> Value {
    let mut rule = Map::new();
    let mut put = |name: &str, value: Value| drop(rule.insert(name.to_owned(), value));
    match of.protocol {
        Protocol::Tcp => {}
        other => put("protocol", protocol(other).into()),
    }
    match of.ports {
        Ports::All => {}
        Ports::Range(first, last) if first == last => put("port", first.into()),
        Ports::Range(first, last) => put("ports", format!("{first}-{last}").into()),
        Ports::Icmp(kind, code) => {
            put("icmpType", kind.into());
            if let Some(code) = code {
                put("icmpCode", code.into());
            }
        }
    }
    match &of.peer {
        Peer::Block(block) => put("cidr", block.to_string().into()),
        Peer::PrefixList(id) => put("prefixList", id.as_str().into()),
        Peer::Group(id) if id.rsplit('/').next() == Some(own) => put("self", true.into()),
        Peer::Group(id) => put("securityGroup", id.as_str().into()),
    }
    if let Some(text) = description {
        put("description", json!(text));
    }
    rule.into()
}

fn protocol(protocol: Protocol) -> String {
    match protocol {
        Protocol::All => "all".to_owned(),
        Protocol::Tcp => "tcp".to_owned(),
        Protocol::Udp => "udp".to_owned(),
        Protocol::Icmp => "icmp".to_owned(),
        Protocol::Icmpv6 => "icmpv6".to_owned(),
        Protocol::Number(number) => number.to_string(),
    }
}
