//! Both sides of a comparison as sets: a protocol, its ports and one peer each.
//!
//! AWS puts rules of the same protocol and ports together, and takes what it merged apart again in
//! no order. It adds to a group its account, name, VPC and peering state, which mean nothing.

use serde_json::Value;

use super::Rules;
use crate::model::{Peer, Peers, Ports, Protocol, Traffic};

/// Reads declared rules; the peer `self` is the group itself.
pub(super) fn declared(list: &Value, own: &str) -> Result<Rules, String> {
    let mut rules = Rules::new();
    for item in list.as_array().into_iter().flatten() {
        let text = item.as_str().unwrap_or_default();
        let (rule, description) = match text.split_once(" (") {
            Some((rule, rest)) => (rule, rest.strip_suffix(')').map(str::to_owned)),
            None => (text, None),
        };
        let mut traffic: Traffic = rule.parse().map_err(|_| format!("the rule \"{text}\""))?;
        if traffic.peer == Peer::Group("self".to_owned()) {
            traffic.peer = Peer::Group(own.to_owned());
        }
        let kept = rules.entry(traffic).or_default();
        *kept = kept.take().or(description);
    }
    Ok(rules)
}

/// Reads what AWS has, of one kind of peers.
pub(super) fn there(list: Option<&Value>, peers: Peers, account: &str) -> Result<Rules, String> {
    let mut rules = Rules::new();
    for permission in list.and_then(Value::as_array).into_iter().flatten() {
        let unreadable = || format!("AWS answered the rule {permission}, which cannot be read");
        let protocol = permission.get("IpProtocol").and_then(Value::as_str);
        let protocol = protocol.and_then(Protocol::read).ok_or_else(unreadable)?;
        let port = |member: &str| match permission.get(member) {
            None | Some(Value::Null) => Ok(None),
            Some(port) => port.as_i64().map(Some).ok_or_else(unreadable),
        };
        let ports = Ports::read(protocol, port("FromPort")?, port("ToPort")?);
        let ports = ports.ok_or_else(unreadable)?;
        for (list, member) in lists(peers) {
            for item in items(permission, list).ok_or_else(unreadable)? {
                let peer = peer(item, member, account).ok_or_else(unreadable)?;
                let description = item.get("Description").and_then(Value::as_str);
                let description = description.filter(|text| !text.is_empty()).map(str::to_owned);
                rules.insert(Traffic { protocol, ports, peer }, description);
            }
        }
    }
    Ok(rules)
}

/// The lists of a permission that hold peers, with the member that names one.
fn lists(peers: Peers) -> &'static [(&'static str, &'static str)] {
    match peers {
        Peers::Addresses => {
            &[("IpRanges", "CidrIp"), ("Ipv6Ranges", "CidrIpv6"), ("PrefixListIds", "PrefixListId")]
        }
        Peers::Groups => &[("UserIdGroupPairs", "GroupId")],
    }
}

fn items<'a>(permission: &'a Value, list: &str) -> Option<&'a [Value]> {
    match permission.get(list) {
        None | Some(Value::Null) => Some(&[]),
        Some(list) => list.as_array().map(Vec::as_slice),
    }
}

/// Reads one peer; a group of another account is named with it.
fn peer(item: &Value, member: &str, account: &str) -> Option<Peer> {
    let name = item.get(member)?.as_str().filter(|name| !name.is_empty())?;
    match member {
        "PrefixListId" => Some(Peer::PrefixList(name.to_owned())),
        "GroupId" => {
            let user = item.get("UserId").and_then(Value::as_str).unwrap_or_default();
            let is_here = user.is_empty() || user == account;
            let id = if is_here { name.to_owned() } else { format!("{user}/{name}") };
            Some(Peer::Group(id))
        }
        _ => name.parse().ok().map(Peer::Block),
    }
}
