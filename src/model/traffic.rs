//! What one rule of a security group lets through, in one spelling.
//!
//! Its text is short enough for a report: `tcp 5432 10.0.0.0/8`, `udp 8000-8080 pl-1`,
//! `icmp 8/0 sg-1`, `all 0.0.0.0/0`. Two rules that mean the same have the same text.
//!
//! Source: the API reference of `IpPermission`. EC2 keeps `tcp`, `udp`, `icmp` and `icmpv6` under
//! their names, whether they were given so or by number, and `-1` for all protocols; ports mean
//! nothing outside of these four, and are type and code in the last two, where -1 means all.

use std::fmt;
use std::str::FromStr;

use serde_json::Value;

use super::{Block, Peers};

/// Describes what one rule lets through: a protocol with its ports, and one peer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Traffic {
    /// The protocol.
    pub protocol: Protocol,
    /// Which part of the protocol.
    pub ports: Ports,
    /// Where it comes from, or goes to.
    pub peer: Peer,
}

/// Names an IP protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Protocol {
    /// Every protocol.
    All,
    /// TCP.
    Tcp,
    /// UDP.
    Udp,
    /// ICMP for IPv4.
    Icmp,
    /// ICMP for IPv6.
    Icmpv6,
    /// Another one, by its number.
    Number(u8),
}

/// Says which part of a protocol is let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ports {
    /// All of it.
    All,
    /// The ports from the first to the last one.
    Range(u16, u16),
    /// The messages of an ICMP type, of one code or of all.
    Icmp(u8, Option<u8>),
}

/// Names the other side.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Peer {
    /// Addresses.
    Block(Block),
    /// A prefix list, by its id (`pl-…`).
    PrefixList(String),
    /// What carries a security group: its id, after the account's where that is another one
    /// (`123456789012/sg-…`).
    Group(String),
}

/// Says that a text is no [`Traffic`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" does not say what is let through")]
pub struct InvalidTraffic(pub String);

impl Protocol {
    /// Reads a protocol in any spelling that EC2 takes.
    pub fn read(text: &str) -> Option<Self> {
        Some(match text.to_ascii_lowercase().as_str() {
            "-1" | "all" => Self::All,
            "6" | "tcp" => Self::Tcp,
            "17" | "udp" => Self::Udp,
            "1" | "icmp" => Self::Icmp,
            "58" | "icmpv6" => Self::Icmpv6,
            number => Self::Number(number.parse().ok()?),
        })
    }

    /// Tells whether the protocol has ports.
    pub fn has_ports(self) -> bool {
        matches!(self, Self::Tcp | Self::Udp)
    }

    /// Tells whether the protocol has types and codes.
    pub fn is_icmp(self) -> bool {
        matches!(self, Self::Icmp | Self::Icmpv6)
    }
}

impl Ports {
    /// Reads `FromPort` and `ToPort` as they count with a protocol; `None` when they cannot be
    /// told.
    ///
    /// A missing port, and -1, stand for all.
    pub fn read(protocol: Protocol, from: Option<i64>, to: Option<i64>) -> Option<Self> {
        let (from, to) = (from.filter(|port| *port != -1), to.filter(|port| *port != -1));
        if protocol.has_ports() {
            let first = from.map_or(Some(0), |port| u16::try_from(port).ok())?;
            let last = to.map_or(Some(u16::MAX), |port| u16::try_from(port).ok())?;
            return (first <= last).then_some(Self::Range(first, last));
        }
        match from {
            Some(kind) if protocol.is_icmp() => {
                let code = to.map(u8::try_from).transpose().ok()?;
                Some(Self::Icmp(u8::try_from(kind).ok()?, code))
            }
            _ => Some(Self::All),
        }
    }

    /// Returns `FromPort` and `ToPort` for a call; nothing where EC2 takes none.
    pub fn numbers(self, protocol: Protocol) -> Option<(i64, i64)> {
        match self {
            Self::Range(first, last) => Some((first.into(), last.into())),
            Self::Icmp(kind, code) => Some((kind.into(), code.map_or(-1, i64::from))),
            Self::All => protocol.is_icmp().then_some((-1, -1)),
        }
    }

    /// Tells whether a port is among them.
    pub fn holds(self, port: u16) -> bool {
        match self {
            Self::All => true,
            Self::Range(first, last) => (first..=last).contains(&port),
            Self::Icmp(..) => false,
        }
    }
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.protocol {
            Protocol::All => f.write_str("all")?,
            Protocol::Tcp => f.write_str("tcp")?,
            Protocol::Udp => f.write_str("udp")?,
            Protocol::Icmp => f.write_str("icmp")?,
            Protocol::Icmpv6 => f.write_str("icmpv6")?,
            Protocol::Number(number) => write!(f, "{number}")?,
        }
        match self.ports {
            Ports::All => {}
            Ports::Range(first, last) if first == last => write!(f, " {first}")?,
            Ports::Range(first, last) => write!(f, " {first}-{last}")?,
            Ports::Icmp(kind, None) => write!(f, " {kind}")?,
            Ports::Icmp(kind, Some(code)) => write!(f, " {kind}/{code}")?,
        }
        match &self.peer {
            Peer::Block(block) => write!(f, " {block}"),
            Peer::PrefixList(id) | Peer::Group(id) => write!(f, " {id}"),
        }
    }
}

impl FromStr for Peer {
    type Err = InvalidTraffic;

    fn from_str(text: &str) -> Result<Self, InvalidTraffic> {
        if text.is_empty() {
            return Err(InvalidTraffic(text.to_owned()));
        }
        if text.starts_with("pl-") {
            return Ok(Self::PrefixList(text.to_owned()));
        }
        Ok(text.parse().map_or_else(|_| Self::Group(text.to_owned()), Self::Block))
    }
}

impl FromStr for Traffic {
    type Err = InvalidTraffic;

    fn from_str(text: &str) -> Result<Self, InvalidTraffic> {
        let invalid = || InvalidTraffic(text.to_owned());
        let words: Vec<&str> = text.split(' ').collect();
        let (protocol, part, peer) = match words.as_slice() {
            [protocol, peer] => (protocol, None, peer),
            [protocol, part, peer] => (protocol, Some(*part), peer),
            _ => return Err(invalid()),
        };
        let protocol = Protocol::read(protocol).ok_or_else(invalid)?;
        let ports = match part {
            None => Ports::read(protocol, None, None),
            Some(part) => part_of(protocol, part),
        };
        Ok(Self { protocol, ports: ports.ok_or_else(invalid)?, peer: peer.parse()? })
    }
}

/// Reads ports (`80`, `80-90`), or a type with or without its code (`8`, `8/0`).
fn part_of(protocol: Protocol, text: &str) -> Option<Ports> {
    let sign = if protocol.is_icmp() { '/' } else { '-' };
    let (from, to) = match text.split_once(sign) {
        Some((from, to)) => (from, Some(to)),
        None if protocol.is_icmp() => (text, None),
        None => (text, Some(text)),
    };
    let number = |text: &str| text.parse::<u16>().ok().map(i64::from);
    let to = to.map_or(Some(None), |to| number(to).map(Some))?;
    Ports::read(protocol, Some(number(from)?), to)
}

/// Reads the rules of one `IpPermission`, of one kind of peers, with the description of each where it
/// has one; `None` where it cannot be read. A group of another account than this one is named with it.
pub fn permission_of(
    permission: &Value,
    peers: Peers,
    account: &str,
) -> Option<Vec<(Traffic, Option<String>)>> {
    let protocol = permission.get("IpProtocol").and_then(Value::as_str);
    let protocol = protocol.and_then(Protocol::read)?;
    let port = |member: &str| match permission.get(member) {
        None | Some(Value::Null) => Some(None),
        Some(port) => port.as_i64().map(Some),
    };
    let ports = Ports::read(protocol, port("FromPort")?, port("ToPort")?)?;
    let mut rules = Vec::new();
    for (list, member) in lists(peers) {
        for item in items(permission, list)? {
            let peer = peer(item, member, account)?;
            let description = item.get("Description").and_then(Value::as_str);
            let description = description.filter(|text| !text.is_empty()).map(str::to_owned);
            rules.push((Traffic { protocol, ports, peer }, description));
        }
    }
    Some(rules)
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_and_names_of_protocols_are_one() {
        for (one, other) in
            [("6", "TCP"), ("17", "udp"), ("1", "Icmp"), ("58", "icmpv6"), ("-1", "all")]
        {
            assert_eq!(Protocol::read(one), Protocol::read(other));
        }
        assert_eq!(Protocol::read("50"), Some(Protocol::Number(50)));
        assert_eq!(Protocol::read("esp"), None);
        assert_eq!(Protocol::read(""), None);
    }

    #[test]
    fn ports_mean_nothing_where_a_protocol_has_none() {
        assert_eq!(Ports::read(Protocol::All, Some(0), Some(0)), Some(Ports::All));
        assert_eq!(Ports::read(Protocol::Number(50), Some(1), Some(2)), Some(Ports::All));
        assert_eq!(Ports::read(Protocol::Icmp, Some(-1), Some(-1)), Some(Ports::All));
        assert_eq!(Ports::read(Protocol::Icmp, Some(8), Some(-1)), Some(Ports::Icmp(8, None)));
        assert_eq!(Ports::read(Protocol::Tcp, None, None), Some(Ports::Range(0, 65535)));
        assert_eq!(Ports::read(Protocol::Tcp, Some(5), Some(4)), None);
        assert_eq!(Ports::read(Protocol::Tcp, Some(5), Some(70000)), None);
    }

    #[test]
    fn a_text_is_read_back() {
        for text in [
            "tcp 5432 10.0.0.0/8",
            "udp 8000-8080 pl-1",
            "tcp 0-65535 2001:db8::/64",
            "icmp 8/0 sg-1",
            "icmpv6 128 123456789012/sg-1",
            "icmp ::/0",
            "all self",
            "50 ${workspace.api}",
        ] {
            assert_eq!(text.parse::<Traffic>().map(|it| it.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "tcp", "tcp 1 2 3", "tcp 9-1 sg-1", "icmp 300 sg-1", "x sg-1", "tcp 1 "] {
            assert!(text.parse::<Traffic>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_a_call_carries_is_read_as_the_same(
            protocol in "-1|1|6|17|58|47", from in -1_i64..300, length in -1_i64..300,
        ) {
            let protocol = Protocol::read(&protocol).unwrap();
            let to = if length == -1 || from == -1 { -1 } else { from + length };
            if let Some(ports) = Ports::read(protocol, Some(from), Some(to)) {
                let (from, to) = ports.numbers(protocol).unzip();
                prop_assert_eq!(Ports::read(protocol, from, to), Some(ports));
            }
        }
    }
}
