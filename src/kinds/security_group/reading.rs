//! What a rule of the manifest means, or what is wrong with it.

use super::spec::TrafficRule;
use crate::model::{Block, Ports, Protocol};

/// Says what is wrong with one field of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mistake {
    /// The field; empty for the rule as a whole.
    pub(super) field: &'static str,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) hint: &'static str,
}

/// Names the other side as the manifest does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named<'a> {
    /// Addresses, and whether host bits were cleared.
    Block(Block, bool),
    PrefixList(&'a str),
    Workspace(&'a str),
    Itself,
    /// A group by its id.
    Group(&'a str),
    /// A group by its name.
    GroupName(&'a str),
}

fn mistake(field: &'static str, code: &'static str, message: String, hint: &'static str) -> Mistake {
    Mistake { field, code, message, hint }
}

/// Reads the protocol and its ports.
pub(super) fn ports(rule: &TrafficRule) -> Result<(Protocol, Ports), Mistake> {
    let protocol = protocol(rule)?;
    let ports = match (protocol.has_ports(), protocol.is_icmp()) {
        (true, _) => numbered(rule)?,
        (_, true) => messages(rule),
        _ => Ports::All,
    };
    let unused: &[(&'static str, bool)] = &[
        ("port", rule.port.is_some() && !protocol.has_ports()),
        ("ports", rule.ports.is_some() && !protocol.has_ports()),
        ("icmpType", rule.icmp_type.is_some() && !protocol.is_icmp()),
        ("icmpCode", rule.icmp_code.is_some() && !protocol.is_icmp()),
    ];
    if let Some((field, _)) = unused.iter().find(|(_, is_unused)| *is_unused) {
        let message = format!("{field} means nothing with this protocol");
        return Err(mistake(field, "FieldOfAnotherProtocol", message, "remove it"));
    }
    if rule.icmp_code.is_some() && rule.icmp_type.is_none() {
        let message = "a code means nothing without its type".to_owned();
        return Err(mistake("icmpCode", "IcmpTypeRequired", message, "add icmpType"));
    }
    Ok((protocol, ports))
}

fn protocol(rule: &TrafficRule) -> Result<Protocol, Mistake> {
    match &rule.protocol {
        Some(text) => Protocol::read(text).ok_or_else(|| {
            let message = format!("\"{text}\" is no protocol");
            let hint = "tcp, udp, icmp, icmpv6, all, or a number from 0 to 255 in quotes";
            mistake("protocol", "InvalidProtocol", message, hint)
        }),
        None if rule.port.is_some() || rule.ports.is_some() => Ok(Protocol::Tcp),
        None => {
            let message = "the rule names no protocol and no port".to_owned();
            let hint = "add port: 443, or protocol: all for everything";
            Err(mistake("", "ProtocolRequired", message, hint))
        }
    }
}

fn numbered(rule: &TrafficRule) -> Result<Ports, Mistake> {
    match (rule.port, &rule.ports) {
        (Some(port), None) => Ok(Ports::Range(port, port)),
        (None, Some(text)) => range(text).ok_or_else(|| {
            let message = format!("\"{text}\" is no range of ports");
            let hint = "the first and the last port, as in 8000-8080";
            mistake("ports", "InvalidPorts", message, hint)
        }),
        (Some(_), Some(_)) => {
            let message = "port and ports exclude each other".to_owned();
            Err(mistake("ports", "PortAndPorts", message, "keep one of them"))
        }
        (None, None) => {
            let message = "the rule names no port".to_owned();
            let hint = "add port: 443, or ports: 0-65535 for all of them";
            Err(mistake("protocol", "PortRequired", message, hint))
        }
    }
}

fn range(text: &str) -> Option<Ports> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |text: &str| {
        let text = text.trim();
        text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u16>().ok())?
    };
    let (first, last) = (number(first)?, number(last)?);
    (first <= last).then_some(Ports::Range(first, last))
}

fn messages(rule: &TrafficRule) -> Ports {
    rule.icmp_type.map_or(Ports::All, |kind| Ports::Icmp(kind, rule.icmp_code))
}

/// Reads the other side.
pub(super) fn peer<'a>(rule: &'a TrafficRule, workspace: &str) -> Result<Named<'a>, Mistake> {
    let named = [
        ("cidr", rule.cidr.as_deref()),
        ("prefixList", rule.prefix_list.as_deref()),
        ("workspace", rule.workspace.as_deref()),
        ("self", rule.itself.then_some("")),
        ("securityGroup", rule.security_group.as_deref()),
    ];
    let mut named = named.into_iter().filter_map(|(field, name)| Some((field, name?)));
    let hint = "one of cidr, prefixList, workspace, self: true and securityGroup";
    let Some((field, name)) = named.next() else {
        let message = "the rule does not say whom it is about".to_owned();
        return Err(mistake("", "PeerRequired", message, hint));
    };
    if let Some((other, _)) = named.next() {
        let message = format!("{field} and {other} exclude each other");
        return Err(mistake(other, "SeveralPeers", message, "make two rules of it"));
    }
    match field {
        "cidr" => block(name),
        "prefixList" if is_id(name, "pl-") => Ok(Named::PrefixList(name)),
        "prefixList" => {
            let message = format!("\"{name}\" is no id of a prefix list");
            Err(mistake("prefixList", "InvalidPrefixList", message, "as in pl-0123456789abcdef0"))
        }
        "self" => Ok(Named::Itself),
        "workspace" if name == workspace => Ok(Named::Itself),
        "workspace" => Ok(Named::Workspace(name)),
        _ => group(name),
    }
}

fn block<'a>(text: &str) -> Result<Named<'a>, Mistake> {
    match Block::read(text) {
        Ok((block, had_host_bits)) => Ok(Named::Block(block, had_host_bits)),
        Err(invalid) => {
            let hint = "an address and the length of its prefix, as in 10.0.0.0/16, or /32 for one";
            Err(mistake("cidr", "InvalidCidr", invalid.to_string(), hint))
        }
    }
}

/// Tells a group's id, of this account or of another one, from a name; no name begins with `sg-`. A
/// name with one of the signs of a reference has to be given by its id.
fn group(name: &str) -> Result<Named<'_>, Mistake> {
    let is_account = |text: &str| text.len() == 12 && text.bytes().all(|b| b.is_ascii_digit());
    let is_id_of_another =
        name.split_once('/').is_some_and(|(account, id)| is_account(account) && is_id(id, "sg-"));
    if is_id(name, "sg-") || is_id_of_another {
        return Ok(Named::Group(name));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || " ._-:/()#,@[]+=&;!*".contains(c);
    if name.is_empty() || name.len() > 255 || !name.chars().all(allowed) || name.starts_with("sg-") {
        let message = format!("\"{name}\" is neither an id nor a name of a security group");
        let hint = "an id is as in sg-0123456789abcdef0";
        return Err(mistake("securityGroup", "InvalidSecurityGroup", message, hint));
    }
    Ok(Named::GroupName(name))
}

/// Tells whether a text is an id of EC2: a prefix and some hexadecimal digits.
fn is_id(text: &str, prefix: &str) -> bool {
    let digits = text.strip_prefix(prefix).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}
