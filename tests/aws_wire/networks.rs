//! The life of a VPC and a subnet on two emulators.

use levelset::diff::diff;
use levelset::kinds::{subnet, vpc};
use levelset::manifest::expand::{Alone, Place, expand};
use levelset::manifest::parse;
use levelset::model::ErrorClass::{Invalid, NotFound, NotReady};
use levelset::model::{Readiness, Resource};

use super::*;
use crate::cases::bind;
use crate::support::emulators::{ministack, moto};

/// Returns the VPC and the subnet that a manifest asks for.
fn declared(scope: &Scope, dns: &str, public: bool, team: &str) -> [Resource; 2] {
    let text = format!(
        "apiVersion: platform.kby.io/v1alpha1\nkind: Network\nmetadata: {{name: wire}}\nspec:\n  \
         environment: test\n  vpc: {{cidr: 10.77.3.9/16, {dns}, tags: {{team: {team}}}, subnets: \
         {{data: {{zone: a, cidr: 10.77.1.0/24, mapPublicIp: {public}, tags: {{team: {team}}}}}}}}}\n"
    );
    let parsed = parse("wire.yaml", text.as_bytes());
    assert!(!parsed.is_broken(), "{:?}", parsed.problems);
    let place = Place { scope: scope.clone(), agent: "wire".to_owned(), production: false };
    expand(&parsed.objects[0], &place, &Alone).try_into().unwrap()
}

/// Looks at a resource in everything that is declared, mends it, and returns the operations.
async fn mend(agent: &Agent, desired: &Bound) -> Vec<String> {
    let listed = agent.present(desired).await;
    let actual = agent.observer.details(agent.kind, desired, listed).await.unwrap();
    let found = diff(agent.kind.rules(), desired, &actual, &Readiness::Ready, &[]);
    assert_eq!((found.waits.len(), found.refusals.len()), (0, 0), "{found:?}");
    let calls = agent.kind.update(desired, &actual, &found.deltas);
    let names = calls.iter().map(|call| call.operation.to_string()).collect();
    agent.send(desired, calls).await;
    names
}

/// Makes a resource and mends it until it is as declared.
async fn make(agent: &Agent, desired: &Bound) -> Vec<String> {
    assert_eq!(agent.look(desired).await, Observation::Absent);
    agent.send(desired, agent.kind.create(desired)).await;
    let mended = mend(agent, desired).await;
    assert_eq!(mend(agent, desired).await, [""; 0], "what was made is what is declared");
    mended
}

/// Takes a network through its life at an emulator; `refuses_overlaps` tells whether it knows that two
/// subnets of one VPC have no address in common.
async fn a_network_lives(url: &Url, number: &str, key: &str, refuses_overlaps: bool) {
    let account = account_at(url, number, "eu-north-1", key);
    let (vpcs, subnets) =
        (Agent::of(account.clone(), &vpc::KIND), Agent::of(account.clone(), &subnet::KIND));
    let first = declared(&account.scope, "dnsSupport: true, dnsHostnames: true", true, "a");
    let mut seen = std::collections::BTreeMap::new();
    let whole = bind(&first[0], &seen).unwrap();
    assert_eq!(make(&vpcs, &whole).await, ["ModifyVpcAttribute"], "DNS is on from the beginning");
    seen.insert(whole.id.clone(), (*vpcs.present(&whole).await).clone());
    let part = bind(&first[1], &seen).unwrap();
    assert_eq!(make(&subnets, &part).await, ["ModifySubnetAttribute"]);

    let second = declared(&account.scope, "dnsSupport: false, dnsHostnames: false", false, "b");
    let (whole, part) = (bind(&second[0], &seen).unwrap(), bind(&second[1], &seen).unwrap());
    let expected = ["ModifyVpcAttribute", "ModifyVpcAttribute", "CreateTags"];
    assert_eq!(mend(&vpcs, &whole).await, expected);
    assert_eq!(mend(&vpcs, &whole).await, [""; 0]);
    assert_eq!(mend(&subnets, &part).await, ["ModifySubnetAttribute", "CreateTags"]);
    assert_eq!(mend(&subnets, &part).await, [""; 0]);

    let renamed = json!([{"Key": "Name", "Value": "mine"}]);
    for (agent, desired, id) in [(&vpcs, &whole, "VpcId"), (&subnets, &part, "SubnetId")] {
        let id = agent.present(desired).await.text(id).unwrap().to_owned();
        let rename = Call::new("ec2", "CreateTags").with("Resources", vec![id]);
        agent.send(desired, vec![rename.with("Tags", renamed.clone())]).await;
        assert_eq!(mend(agent, desired).await, ["CreateTags"], "it is found by its own tag");
    }
    refusals(&vpcs, &subnets, (&whole, &part), refuses_overlaps).await;
    for (agent, desired) in [(&subnets, &part), (&vpcs, &whole)] {
        let actual = agent.present(desired).await;
        agent.send(desired, agent.kind.own(&desired.id, &actual, "retained:x")).await;
        let actual = agent.present(desired).await;
        assert_eq!(actual.tags.as_ref().unwrap()["levelset:owner"], "retained:x");
        agent.send(desired, agent.kind.delete(&desired.id, &actual, None).calls).await;
        assert_eq!(agent.look(desired).await, Observation::Absent);
    }
}

/// What AWS refuses says what it means by its code.
async fn refusals(
    vpcs: &Agent,
    subnets: &Agent,
    (whole, part): (&Bound, &Bound),
    refuses_overlaps: bool,
) {
    let refused = async |agent: &Agent, call: Call| {
        let target =
            Target { scope: whole.id.scope.clone(), kind: agent.kind.name(), cause: Cause::List };
        let error = agent.cloud.call(&target, &call).await.unwrap_err();
        (error.class, error.code)
    };
    let again = subnet::KIND.create(part).remove(0);
    if refuses_overlaps {
        assert_eq!(refused(subnets, again).await, (Invalid, "InvalidSubnet.Conflict".to_owned()));
    }
    let nothing = Call::new("ec2", "DeleteVpc").with("VpcId", "vpc-0123456789abcdef0");
    assert_eq!(refused(vpcs, nothing).await, (NotFound, "InvalidVpcID.NotFound".to_owned()));
    let used = vpc::KIND.delete(&whole.id, &*vpcs.present(whole).await, None).calls.remove(0);
    assert_eq!(refused(vpcs, used).await, (NotReady, "DependencyViolation".to_owned()));
}

#[tokio::test]
async fn a_network_lives_on_moto() {
    a_network_lives(&moto().url, MOTO_ACCOUNT, "test", true).await;
}

#[tokio::test]
async fn a_network_lives_on_ministack() {
    // ministack takes two subnets of the same addresses.
    let account = "100000000079";
    a_network_lives(&ministack().url, account, account, false).await;
}
