//! What counts as the same rule, and what a difference says.

use serde_json::{Value, json};

use crate::diff::diff;
use crate::model::{
    AccountId, Bound, Compare, Diff, KindName, Observed, Peers, Readiness, Region, ResourceId,
    Rule, Scope,
};

const RULES: &[Rule] = &[
    Rule::new("addresses", "IpPermissions", "IpPermissions")
        .compare(Compare::Permissions(Peers::Addresses))
        .always()
        .security(),
    Rule::new("groups", "IpPermissions", "IpPermissions")
        .compare(Compare::Permissions(Peers::Groups))
        .always(),
];

pub(super) fn compared(want: &[(&'static str, Value)], have: Value) -> Diff {
    let scope = Scope { account: AccountId::new("123456789012"), region: Region::new("eu-west-1") };
    let id = ResourceId { kind: KindName::new("security_group"), scope, name: "a".into() };
    let fields = want.iter().map(|(field, value)| ((*field).into(), value.clone())).collect();
    let (initial, owner) = (Default::default(), "level/Workspace/a".to_owned());
    let desired = Bound { id, fields, initial, owner, adopt: false };
    let members = json!({"GroupId": "sg-own", "IpPermissions": have}).as_object().unwrap().clone();
    let actual = Observed { members, tags: None, at: jiff::Timestamp::UNIX_EPOCH };
    diff(RULES, &desired, &actual, &Readiness::Ready, &[])
}

fn same(field: &'static str, want: Value, have: Value) {
    let diff = compared(&[(field, want)], have);
    assert!(diff.is_settled(), "{diff:#?}");
}

fn tcp(port: u16, cidr: &str) -> Value {
    json!({"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "IpRanges": [{"CidrIp": cidr}],
        "Ipv6Ranges": [], "UserIdGroupPairs": [], "PrefixListIds": []})
}

#[test]
fn aws_puts_rules_together_and_spells_them_in_its_own_way() {
    let grouped = json!([{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22,
        "IpRanges": [{"CidrIp": "192.168.0.0/16"}, {"CidrIp": "10.0.0.0/8", "Description": "x"}]}]);
    same("addresses", json!(["tcp 22 10.0.0.0/8", "tcp 22 192.168.0.0/16"]), grouped);
    let numbered = json!([{"IpProtocol": "6", "FromPort": 443, "ToPort": 443,
        "Ipv6Ranges": [{"CidrIpv6": "2001:db8:0:0:0:0:0:1/128"}]}]);
    same("addresses", json!(["TCP 443 2001:DB8::1/128"]), numbered);
    let all =
        json!([{"IpProtocol": "-1", "FromPort": null, "IpRanges": [{"CidrIp": "0.0.0.0/0"}]}]);
    same("addresses", json!(["all 0.0.0.0/0"]), all);
    let icmp = json!([{"IpProtocol": "icmp", "FromPort": 8, "ToPort": -1,
        "PrefixListIds": [{"PrefixListId": "pl-1"}]}]);
    same("addresses", json!(["icmp 8 pl-1"]), icmp);
}

#[test]
fn what_aws_adds_to_a_group_means_nothing() {
    let pair = json!({"GroupId": "sg-own", "UserId": "123456789012", "GroupName": "a", "VpcId": "vpc-1",
        "PeeringStatus": "active", "Description": "self"});
    let have = json!([{"IpProtocol": "-1", "UserIdGroupPairs": [pair]}]);
    same("groups", json!(["all self (self)"]), have);
    let peered = json!([{"IpProtocol": "-1",
        "UserIdGroupPairs": [{"GroupId": "sg-1", "UserId": "210987654321"}]}]);
    same("groups", json!(["all 210987654321/sg-1"]), peered.clone());
    assert_eq!(compared(&[("groups", json!(["all sg-1"]))], peered).deltas.len(), 1);
}

#[test]
fn what_only_aws_lets_through_is_a_danger_and_what_only_git_does_is_none() {
    let have = json!([tcp(22, "0.0.0.0/0"), tcp(80, "10.0.0.0/8")]);
    let wider = &compared(&[("addresses", json!(["tcp 80 10.0.0.0/8"]))], have.clone()).deltas[0];
    assert!(wider.security);
    assert_eq!(wider.from, json!({"tcp 22 0.0.0.0/0": ""}));
    assert_eq!(wider.to, json!({"tcp 22 0.0.0.0/0": null}));
    assert_eq!(wider.why, "only AWS has tcp 22 0.0.0.0/0");
    let want = json!(["tcp 80 10.0.0.0/8", "tcp 22 0.0.0.0/0", "tcp 23 10.0.0.0/8 (telnet)"]);
    let narrower = &compared(&[("addresses", want)], have).deltas[0];
    assert!(!narrower.security);
    assert_eq!(
        (&narrower.from, &narrower.to),
        (&json!({}), &json!({"tcp 23 10.0.0.0/8": "telnet"}))
    );
}

#[test]
fn a_description_counts_only_where_one_is_declared() {
    let have = json!([{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22,
        "IpRanges": [{"CidrIp": "10.0.0.0/8", "Description": "old"}]}]);
    same("addresses", json!(["tcp 22 10.0.0.0/8"]), have.clone());
    let delta =
        &compared(&[("addresses", json!(["tcp 22 10.0.0.0/8 (new (lb))"]))], have).deltas[0];
    assert!(!delta.security);
    assert_eq!(delta.from, json!({"tcp 22 10.0.0.0/8": "old"}));
    assert_eq!(delta.to, json!({"tcp 22 10.0.0.0/8": "new (lb)"}));
}

#[test]
fn addresses_and_groups_are_looked_at_apart() {
    let have = json!([{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22,
        "IpRanges": [{"CidrIp": "10.0.0.0/8"}], "UserIdGroupPairs": [{"GroupId": "sg-1"}]}]);
    same("addresses", json!(["tcp 22 10.0.0.0/8"]), have.clone());
    same("groups", json!(["tcp 22 sg-1"]), have.clone());
    let closed = compared(&[("addresses", json!([])), ("groups", json!([]))], have);
    assert_eq!(closed.deltas.len(), 2);
}

#[test]
fn an_answer_that_cannot_be_read_is_a_wait_and_never_a_difference() {
    for have in [
        json!([{"FromPort": 22}]),
        json!([{"IpProtocol": "esp", "IpRanges": []}]),
        json!([{"IpProtocol": "tcp", "FromPort": "22", "IpRanges": []}]),
        json!([{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": "all"}]),
        json!([{"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "x"}]}]),
        json!({}),
        Value::Null,
    ] {
        let diff = compared(&[("addresses", json!([]))], have.clone());
        assert_eq!((diff.deltas.len(), diff.waits.len()), (0, 1), "{have}");
    }
    let nameless = json!([{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupName": "a"}]}]);
    assert_eq!(compared(&[("groups", json!([]))], nameless).waits.len(), 1);
}
