//! What a network's own VPC alone proves wrong, before AWS is asked.
//!
//! In: the manifest's `vpc` section. Out: every [`Finding`] at once; pointers start at the manifest.
//!
//! Source: "VPC CIDR blocks" and "Subnet CIDR blocks" in the Amazon VPC User Guide; the API reference of
//! `CreateVpc`, `CreateSubnet` and `ModifyVpcAttribute`.

use std::collections::{BTreeMap, BTreeSet};

use super::vpc::OwnVpc;
use crate::kinds::subnet::spec::Subnet;
use crate::model::problem::pointer_part;
use crate::model::reference::has_marker;
use crate::model::{Block, Finding};

/// The shortest and the longest prefix of a VPC and of a subnet.
const PREFIXES: std::ops::RangeInclusive<u8> = 16..=28;

/// Of the 50 tags of a resource, three are Levelset's own.
const MOST_TAGS: usize = 47;

/// Is a block of IPv4 addresses: the first and the last.
type Range = (u32, u32);

/// Finds what the section alone proves wrong.
pub(super) fn check(vpc: &OwnVpc, subnet_tags: &BTreeMap<String, String>) -> Vec<Finding> {
    let mut found = Vec::new();
    let whole = addresses("/spec/vpc/cidr", "a VPC", &vpc.cidr, &mut found);
    found.extend(names_without_dns(vpc));
    tags("/spec/vpc/tags", vpc.tags.as_ref(), &mut found);
    let mut ranges = Vec::new();
    for (key, subnet) in &vpc.subnets {
        let place = format!("/spec/vpc/subnets/{}", pointer_part(key));
        found.extend(name(&place, key));
        found.extend(zone(&place, &subnet.zone));
        tags(&format!("{place}/tags"), subnet.tags.as_ref(), &mut found);
        let place = format!("{place}/cidr");
        let Some(range) = addresses(&place, "a subnet", &subnet.cidr, &mut found) else { continue };
        if whole.is_some_and(|whole| range.0 < whole.0 || range.1 > whole.1) {
            let message = format!("{} is not within the VPC's {}", subnet.cidr, vpc.cidr);
            found.push(Finding::error(&place, "SubnetOutsideVpc", message));
        }
        ranges.push((range, key.as_str(), place));
    }
    overlaps(ranges, &vpc.subnets, &mut found);
    found.extend(databases(vpc, subnet_tags));
    found
}

/// Reads a block of addresses that AWS takes.
fn addresses(place: &str, what: &str, text: &str, found: &mut Vec<Finding>) -> Option<Range> {
    let hint = "an IPv4 address and the length of its prefix, as in 10.0.0.0/16";
    let (block, had_host_bits) = match Block::read(text) {
        Ok(read) => read,
        Err(invalid) => {
            found.push(Finding::error(place, "InvalidCidr", invalid.to_string()).hint(hint));
            return None;
        }
    };
    let Block::V4(first, length) = block else {
        let message = format!("{text} is no block of IPv4 addresses");
        found.push(Finding::error(place, "InvalidCidr", message).hint(hint));
        return None;
    };
    if !PREFIXES.contains(&length) {
        let message = format!("{text} is /{length}, and {what} has /16 to /28");
        found.push(Finding::error(place, "CidrSize", message));
        return None;
    }
    if had_host_bits {
        let message = format!("{text} means {block}: AWS clears the host bits");
        let finding = Finding::notice(place, "HostBitsCleared", message);
        found.push(finding.hint(format!("write {block}")));
    }
    let first = first.to_bits();
    Some((first, first | (u32::MAX >> length)))
}

fn names_without_dns(vpc: &OwnVpc) -> Option<Finding> {
    let is_wrong = vpc.dns_hostnames == Some(true) && vpc.dns_support == Some(false);
    is_wrong.then(|| {
        let message = "AWS gives DNS names only where DNS support is on";
        Finding::error("/spec/vpc/dnsHostnames", "DnsSupportRequired", message)
            .hint("leave out dnsSupport, or say true")
    })
}

/// A name stands in a tag, in references and in paths.
fn name(place: &str, key: &str) -> Option<Finding> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let is_good = !key.is_empty() && key.len() <= 63 && key.chars().all(is_plain);
    (!is_good).then(|| {
        let message = format!("\"{key}\" is no name for a subnet");
        Finding::error(place, "InvalidSubnetName", message)
            .hint("up to 63 letters, digits, hyphens and underscores")
    })
}

fn zone(place: &str, zone: &str) -> Option<Finding> {
    let mut end = zone.chars().rev();
    let ends_as_name = end.next().is_some_and(|c| c.is_ascii_lowercase())
        && (zone.len() == 1 || end.next().is_some_and(|c| c.is_ascii_digit()));
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let is_good = ends_as_name && zone.chars().all(is_plain);
    (!is_good).then(|| {
        let message = format!("\"{zone}\" is no availability zone");
        Finding::error(&format!("{place}/zone"), "InvalidZone", message)
            .hint("a letter, as in a, or the name (not the id) of a zone, as in eu-west-1a")
    })
}

fn tags(place: &str, tags: Option<&BTreeMap<String, String>>, found: &mut Vec<Finding>) {
    for (key, value) in tags.into_iter().flatten() {
        let place = format!("{place}/{}", pointer_part(key));
        let folded = key.to_lowercase();
        if ["aws:", "levelset:"].iter().any(|prefix| folded.starts_with(prefix)) {
            let message = format!("tag keys like {key} are reserved");
            found.push(Finding::error(&place, "ReservedTagPrefix", message));
        }
        if has_marker(value) {
            let message = "the tags of a network take no references";
            found.push(Finding::error(&place, "ReferenceNotTaken", message));
        }
        if key == "Name" {
            let message = "the Name tag is the name that the manifest gives it";
            let finding = Finding::error(&place, "NameIsGiven", message);
            found.push(finding.hint("that of the network for its VPC, the key for a subnet"));
        }
        if key.is_empty() || key.chars().count() > 128 || value.chars().count() > 256 {
            let message = "a tag has a key of 1 to 128 characters and a value of at most 256";
            found.push(Finding::error(&place, "InvalidTag", message));
        }
    }
    if tags.is_some_and(|tags| tags.len() > MOST_TAGS) {
        let message = format!("there are at most {MOST_TAGS} tags beside Levelset's own");
        found.push(Finding::error(place, "TooManyTags", message));
    }
}

/// Tells of every block that has addresses of one before it.
fn overlaps(
    mut ranges: Vec<(Range, &str, String)>,
    subnets: &BTreeMap<String, Subnet>,
    found: &mut Vec<Finding>,
) {
    ranges.sort();
    let cidr = |key: &str| subnets.get(key).map_or("", |subnet| &subnet.cidr);
    let mut widest: Option<(u32, &str)> = None;
    for ((first, last), key, place) in &ranges {
        if let Some((_, other)) = widest.filter(|(end, _)| first <= end) {
            let message =
                format!("{} has addresses of the subnet {other}, {}", cidr(key), cidr(other));
            found.push(Finding::error(place, "SubnetsOverlap", message));
        }
        if widest.is_none_or(|(end, _)| *last > end) {
            widest = Some((*last, key));
        }
    }
}

/// Says of a network that cannot carry databases why.
fn databases(vpc: &OwnVpc, subnet_tags: &BTreeMap<String, String>) -> Option<Finding> {
    let chosen: Vec<(&str, &Subnet)> = vpc.with_databases(subnet_tags).collect();
    if chosen.is_empty() && !vpc.subnets.is_empty() {
        let message = "no declared subnet has these tags";
        let finding = Finding::error("/spec/subnetTags", "NothingSelected", message);
        return Some(finding.hint("tag the subnets that carry databases, or leave subnetTags out"));
    }
    // The letter tells zones apart; which region they are in is not known here.
    let zones: BTreeSet<Option<char>> =
        chosen.iter().map(|(_, subnet)| subnet.zone.chars().next_back()).collect();
    (!OwnVpc::is_enough(zones.len())).then(|| {
        let message =
            "databases need subnets in two availability zones, so none can be in this network";
        Finding::notice("/spec/vpc/subnets", "NoDatabases", message)
    })
}
