//! The life of a security group on two emulators.

use levelset::kinds::security_group;
use levelset::kinds::security_group::spec::{Placement as GroupPlacement, TrafficRule, resource};
use levelset::model::ErrorClass::{AlreadyExists, NotFound};

use super::*;
use crate::support::emulators::{ministack, moto};

/// Returns a group as its manifest declares it.
fn declared(scope: &Scope, vpc: &str, ingress: Value, egress: Value) -> Bound {
    let rules = |rules: Value| -> Vec<TrafficRule> { serde_json::from_value(rules).unwrap() };
    let placement = GroupPlacement {
        scope,
        agent: "wire",
        workspace: "team-a",
        name: None,
        others: std::collections::BTreeMap::new(),
        owner: "wire/Workspace/team-a",
        vpc: Input::Known(vpc.into()),
        adopt: false,
    };
    let resource = resource(Some(&rules(ingress)), Some(&rules(egress)), &placement);
    let known = |(field, input)| match input {
        Input::Known(value) => (field, value),
        other => panic!("{other:?} is not known"),
    };
    Bound {
        id: resource.id,
        fields: resource.fields.into_iter().map(known).collect(),
        initial: resource.initial,
        owner: resource.owner,
        adopt: false,
    }
}

fn open(port: u16, cidr: &str) -> Value {
    json!([{"IpProtocol": "tcp", "FromPort": port, "ToPort": port, "IpRanges": [{"CidrIp": cidr}]}])
}

/// Takes a group through its life at an emulator; `describes` tells whether it knows the call that
/// describes a rule anew.
async fn a_group_lives(url: &Url, number: &str, key: &str, describes: bool) {
    let account = account_at(url, number, "eu-central-1", key);
    let agent = Agent::of(account.clone(), &security_group::KIND);
    let target = Target {
        scope: account.scope.clone(),
        kind: levelset::kinds::vpc::NAME,
        cause: Cause::List,
    };
    let vpcs = agent.cloud.call(&target, &Call::new("ec2", "DescribeVpcs")).await.unwrap();
    let vpc = vpcs["Vpcs"][0]["VpcId"].as_str().unwrap();

    let first = json!([
        {"port": 5432, "self": true, "description": "own"},
        {"port": 5432, "cidr": "10.1.2.3/16"},
        {"protocol": "udp", "ports": "8000-8080", "cidr": "192.168.0.0/24", "description": "old"},
        {"protocol": "icmp", "icmpType": 8, "cidr": "10.0.0.0/8"},
        {"port": 443, "cidr": "2001:DB8:0:0::1/64"},
    ]);
    let all = json!([{"protocol": "all", "cidr": "0.0.0.0/0"}]);
    let desired = declared(&account.scope, vpc, first, all);
    assert_eq!(agent.look(&desired).await, Observation::Absent);
    agent.send(&desired, security_group::KIND.create(&desired)).await;
    let actual = agent.present(&desired).await;
    assert_eq!(actual.tags.as_ref().unwrap()["levelset:owner"], "wire/Workspace/team-a");
    assert_eq!(agent.mend(&desired).await, ["AuthorizeSecurityGroupIngress"]);
    assert_eq!(agent.mend(&desired).await, [""; 0], "what was let in is what is declared");

    let new = if describes { "new" } else { "old" };
    let second = json!([
        {"port": 5432, "self": true, "description": "own"},
        {"protocol": "udp", "ports": "8000-8080", "cidr": "192.168.0.0/24", "description": new},
        {"port": 8443, "cidr": "10.0.0.0/8"},
    ]);
    let desired = declared(&account.scope, vpc, second, json!([]));
    let mended = agent.mend(&desired).await;
    let of = |name: &str| mended.iter().filter(|operation| *operation == name).count();
    assert_eq!(mended[0], "AuthorizeSecurityGroupIngress", "{mended:?}");
    assert_eq!(of("RevokeSecurityGroupIngress"), 3, "{mended:?}");
    let renamed = of("UpdateSecurityGroupRuleDescriptionsIngress");
    assert_eq!(renamed, usize::from(describes), "{mended:?}");
    assert_eq!(of("RevokeSecurityGroupEgress"), 1, "{mended:?}");
    assert_eq!(agent.mend(&desired).await, [""; 0], "what was changed is what is declared");

    let id = agent.present(&desired).await.text("GroupId").unwrap().to_owned();
    let world = Call::new("ec2", "AuthorizeSecurityGroupIngress")
        .with("GroupId", id.as_str())
        .with("IpPermissions", open(22, "0.0.0.0/0"));
    agent.send(&desired, vec![world]).await;
    assert_eq!(agent.mend(&desired).await, ["RevokeSecurityGroupIngress"]);
    assert_eq!(agent.mend(&desired).await, [""; 0], "what somebody opened is shut");

    refusals(&agent, &desired, &id).await;
    let actual = agent.present(&desired).await;
    let deletion = security_group::KIND.delete(&desired.id, &actual, None);
    agent.send(&desired, deletion.calls).await;
    assert_eq!(agent.look(&desired).await, Observation::Absent);
}

/// What AWS refuses says what it means by its code.
async fn refusals(agent: &Agent, desired: &Bound, id: &str) {
    let target =
        Target { scope: desired.id.scope.clone(), kind: security_group::NAME, cause: Cause::List };
    let again = security_group::KIND.create(desired).remove(0);
    let error = agent.cloud.call(&target, &again).await.unwrap_err();
    assert_eq!((error.class, &*error.code), (AlreadyExists, "InvalidGroup.Duplicate"));
    let nothing = Call::new("ec2", "RevokeSecurityGroupIngress")
        .with("GroupId", "sg-0123456789abcdef0")
        .with("IpPermissions", open(22, "10.0.0.0/8"));
    let error = agent.cloud.call(&target, &nothing).await.unwrap_err();
    assert_eq!((error.class, &*error.code), (NotFound, "InvalidGroup.NotFound"));
    let owned = security_group::KIND.own(&desired.id, &*agent.present(desired).await, "retained:x");
    agent.send(desired, owned).await;
    let tags = agent.present(desired).await.tags.clone().unwrap();
    assert_eq!((tags["levelset:owner"].as_str(), id.is_empty()), ("retained:x", false));
}

#[tokio::test]
async fn a_group_lives_on_moto() {
    a_group_lives(&moto().url, MOTO_ACCOUNT, "test", true).await;
}

#[tokio::test]
async fn a_group_lives_on_ministack() {
    // ministack does not know `UpdateSecurityGroupRuleDescriptionsIngress`.
    let account = "100000000078";
    a_group_lives(&ministack().url, account, account, false).await;
}
