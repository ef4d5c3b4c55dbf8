//! Laws: no noise of AWS is a difference, everything else is exactly one.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::tests::compared;
use crate::model::{Diff, Traffic};

/// A rule by its numbers: protocol, first port, length of the range, peer.
type Seed = (usize, u16, u16, usize);

const PROTOCOLS: [(&str, &str); 6] =
    [("tcp", "6"), ("udp", "17"), ("icmp", "1"), ("icmpv6", "58"), ("all", "-1"), ("50", "50")];

/// Peers in Git's spelling, with the list, the member and another spelling of AWS.
const PEERS: [(&str, &str, &str, &str); 6] = [
    ("10.0.0.0/8", "IpRanges", "CidrIp", "10.9.8.7/8"),
    ("0.0.0.0/0", "IpRanges", "CidrIp", "0.0.0.0/0"),
    ("192.168.1.1/32", "IpRanges", "CidrIp", "192.168.1.1/32"),
    ("2001:db8::/32", "Ipv6Ranges", "CidrIpv6", "2001:DB8:0:0:0:0:0:1/32"),
    ("::/0", "Ipv6Ranges", "CidrIpv6", "0:0:0:0:0:0:0:0/0"),
    ("pl-1", "PrefixListIds", "PrefixListId", "pl-1"),
];

fn declared((protocol, first, length, peer): Seed) -> String {
    let (name, _) = PROTOCOLS[protocol];
    let ports = match name {
        "tcp" | "udp" => format!(" {first}-{}", first + length),
        "icmp" | "icmpv6" if length > 0 => format!(" {}/{}", first % 200, length % 200),
        _ => String::new(),
    };
    format!("{name}{ports} {}", PEERS[peer].0)
}

/// Writes a rule as AWS may answer it.
fn answered((protocol, first, length, peer): Seed, number: bool) -> Value {
    let (name, other) = PROTOCOLS[protocol];
    let (_, list, member, spelled) = PEERS[peer];
    let mut permission = Map::new();
    let protocol = if number || name == "all" { other.to_owned() } else { name.to_uppercase() };
    permission.insert("IpProtocol".to_owned(), json!(protocol));
    let ports = match name {
        "tcp" | "udp" => Some((first, i64::from(first + length))),
        "icmp" | "icmpv6" if length > 0 => Some((first % 200, i64::from(length % 200))),
        "icmp" | "icmpv6" => None,
        _ if number => Some((0, 0)),
        _ => None,
    };
    if let Some((from, to)) = ports {
        permission.insert("FromPort".to_owned(), json!(from));
        permission.insert("ToPort".to_owned(), json!(to));
    }
    permission.insert(list.to_owned(), json!([{(member): spelled, "Description": "some"}]));
    permission.into()
}

/// Puts rules of the same protocol and ports together, as AWS does.
fn grouped(permissions: Vec<Value>) -> Value {
    let mut groups: Vec<Value> = Vec::new();
    for permission in permissions {
        let same = |group: &&mut Value| {
            ["IpProtocol", "FromPort", "ToPort"]
                .iter()
                .all(|it| group.get(it) == permission.get(it))
        };
        match groups.iter_mut().find(same) {
            None => groups.push(permission),
            Some(group) => {
                for (name, list) in permission.as_object().unwrap() {
                    if let Some(more) = list.as_array() {
                        let there = group.as_object_mut().unwrap().entry(name.clone());
                        let there = there.or_insert_with(|| json!([])).as_array_mut().unwrap();
                        there.extend(more.clone());
                    }
                }
            }
        }
    }
    groups.into()
}

fn seeds(most: usize) -> impl Strategy<Value = Vec<Seed>> {
    prop::collection::vec((0..6_usize, 0..2000_u16, 0..20_u16, 0..6_usize), 0..most)
}

fn diff_of(want: &[Seed], have: Value) -> Diff {
    let want: Vec<String> = want.iter().map(|seed| declared(*seed)).collect();
    compared(&[("addresses", json!(want))], have)
}

fn meanings(seeds: &[Seed]) -> std::collections::BTreeSet<Traffic> {
    seeds.iter().map(|seed| declared(*seed).parse().unwrap()).collect()
}

proptest! {
    #[test]
    fn order_grouping_and_spelling_are_no_difference(
        (git, aws) in seeds(12).prop_flat_map(|all| (Just(all.clone()), Just(all).prop_shuffle())),
        numbers in any::<u16>(), together in any::<bool>(),
    ) {
        let of = |(at, seed): (usize, &Seed)| answered(*seed, numbers >> (at % 16) & 1 == 1);
        let have: Vec<Value> = aws.iter().enumerate().map(of).collect();
        let have = if together { grouped(have) } else { have.into() };
        let diff = diff_of(&git, have);
        prop_assert!(diff.is_settled(), "{:#?}", diff);
    }

    #[test]
    fn a_difference_holds_exactly_what_is_not_on_both_sides(git in seeds(8), aws in seeds(8)) {
        let have: Vec<Value> = aws.iter().map(|seed| answered(*seed, false)).collect();
        let diff = diff_of(&git, grouped(have));
        let (want, have) = (meanings(&git), meanings(&aws));
        let missing = want.difference(&have).map(|it| (it.to_string(), json!("")));
        let surplus = have.difference(&want).map(|it| (it.to_string(), Value::Null));
        let expected: Map<String, Value> = missing.chain(surplus).collect();
        let found = diff.deltas.first().map_or_else(|| json!({}), |delta| delta.to.clone());
        prop_assert_eq!(found, Value::from(expected));
        let is_wider = have.difference(&want).next().is_some();
        prop_assert_eq!(diff.deltas.first().is_some_and(|delta| delta.security), is_wider);
    }
}
