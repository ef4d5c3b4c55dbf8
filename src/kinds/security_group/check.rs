//! What the rules of a security group alone prove wrong, before AWS is asked.
//!
//! In: the rules of one direction and what the manifest says around them. Out: every [`Finding`] at
//! once; pointers are relative to the `network` section. The quota on rules, which AWS raises on
//! request, is left to AWS.

use std::collections::BTreeMap;

use super::reading::{Mistake, Named, peer, ports};
use super::spec::TrafficRule;
use crate::model::{Finding, Ports, Protocol};

/// The characters besides letters, digits and spaces that AWS takes in a description.
const SIGNS: &str = "._-:/()#,@[]+=&;{}!$*";

/// Says what the manifest declares around the rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct Surroundings<'a> {
    /// The name of the workspace; empty where it cannot be told.
    pub workspace: &'a str,
    /// The port of the workspace's database, if it declares one.
    pub database_port: Option<u16>,
    /// Whether that database has a public address.
    pub is_public: bool,
}

/// Finds what the rules of `ingress` or `egress` alone prove wrong.
pub fn check(direction: &str, rules: &[TrafficRule], around: Surroundings<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut seen: BTreeMap<String, (usize, Option<&str>)> = BTreeMap::new();
    for (at, rule) in rules.iter().enumerate() {
        let place = format!("/{direction}/{at}");
        let (part, other) = (ports(rule), peer(rule, around.workspace));
        found.extend(part.as_ref().err().map(|mistake| told(&place, mistake)));
        found.extend(other.as_ref().err().map(|mistake| told(&place, mistake)));
        found.extend(rule.description.as_deref().and_then(|text| description(&place, text)));
        let (Ok((protocol, part)), Ok(other)) = (part, other) else { continue };
        found.extend(family(&place, protocol, &other));
        found.extend(host_bits(&place, rule, &other));
        if direction == "ingress" {
            found.extend(opened(&place, part, &other, around));
        }
        let text = rule.description.as_deref();
        let key = format!("{protocol:?} {part:?} {:?}", canonical(other));
        match seen.get(&key) {
            Some((first, before)) if before.is_some() && text.is_some() && *before != text => {
                found.push(twice(&place, direction, *first));
            }
            _ => drop(seen.insert(key, (at, text))),
        }
    }
    found
}

/// Says what is wrong with the name of a group.
///
/// Source: the API reference of `CreateSecurityGroup`; every VPC has a group `default` of its own.
pub fn name_mistake(name: &str) -> Option<&'static str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || " ._-:/()#,@[]+=&;{}!$*".contains(c);
    if name.is_empty() || name.len() > 255 || !name.chars().all(allowed) {
        return Some("has to have 1 to 255 letters, digits, spaces and signs of ._-:/()#,@[]+=&;{}!$*");
    }
    if name.to_ascii_lowercase().starts_with("sg-") {
        return Some("may not begin with sg-, as ids do");
    }
    if name.eq_ignore_ascii_case("default") {
        return Some("is that of the group that AWS makes with each VPC");
    }
    // The filter `group-name` finds a name in its own letters only.
    name.contains(|c: char| c.is_ascii_uppercase()).then_some("has to be in lower case")
}

/// Returns the other side in one spelling: cleared host bits make no difference.
fn canonical(other: Named<'_>) -> Named<'_> {
    match other {
        Named::Block(block, _) => Named::Block(block, false),
        other => other,
    }
}

fn told(place: &str, mistake: &Mistake) -> Finding {
    let pointer = match mistake.field {
        "" => place.to_owned(),
        field => format!("{place}/{field}"),
    };
    Finding::error(&pointer, mistake.code, mistake.message.as_str()).hint(mistake.hint)
}

fn description(place: &str, text: &str) -> Option<Finding> {
    let pointer = format!("{place}/description");
    let wrong = |message: String| Some(Finding::error(&pointer, "InvalidDescription", message));
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == ' ' || SIGNS.contains(c);
    if let Some(sign) = text.chars().find(|c| !allowed(*c)) {
        let finding = wrong(format!("the description has the character '{}'", sign.escape_debug()));
        return finding.map(|it| it.hint(format!("letters, digits, spaces and any of {SIGNS}")));
    }
    match text.len() {
        0..=255 => None,
        length => wrong(format!("the description has {length} characters, and may have 255")),
    }
}

/// ICMP of one version of IP never comes from an address of the other.
fn family(place: &str, protocol: Protocol, other: &Named<'_>) -> Option<Finding> {
    let Named::Block(block, _) = other else { return None };
    let is_v6 = matches!(block, crate::model::Block::V6(..));
    let (wrong, right) = match (protocol, is_v6) {
        (Protocol::Icmp, true) => ("icmp", "icmpv6"),
        (Protocol::Icmpv6, false) => ("icmpv6", "icmp"),
        _ => return None,
    };
    let message = format!("{wrong} lets nothing through from {block}");
    let pointer = format!("{place}/protocol");
    Some(Finding::error(&pointer, "ProtocolOfOtherFamily", message).hint(format!("write {right}")))
}

fn host_bits(place: &str, rule: &TrafficRule, other: &Named<'_>) -> Option<Finding> {
    let Named::Block(block, true) = other else { return None };
    let declared = rule.cidr.as_deref().unwrap_or_default();
    let message = format!("{declared} means {block}: AWS clears the host bits");
    let pointer = format!("{place}/cidr");
    Some(Finding::notice(&pointer, "HostBitsCleared", message).hint(format!("write {block}")))
}

/// Tells of a database that everybody may reach, as far as the network carries.
fn opened(
    place: &str,
    part: Ports,
    other: &Named<'_>,
    around: Surroundings<'_>,
) -> Option<Finding> {
    let Named::Block(block, _) = other else { return None };
    let port = around.database_port.filter(|port| part.holds(*port))?;
    if !block.is_everything() {
        return None;
    }
    let reach = match around.is_public {
        true => "and it has a public address, so anybody on the internet may try to log in",
        false => "also what reaches the VPC from other networks",
    };
    let message = format!("the database's port {port} is open to every address, {reach}");
    let hint = "name the addresses of its clients, or a workspace";
    Some(Finding::notice(&format!("{place}/cidr"), "DatabaseOpenToEverybody", message).hint(hint))
}

fn twice(place: &str, direction: &str, first: usize) -> Finding {
    let message = format!("this is item {} of {direction} with another description", first + 1);
    Finding::error(place, "RuleDeclaredTwice", message).hint("keep one of them")
}
