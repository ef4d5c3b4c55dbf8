//! What a network's own VPC asks for, and where its mistakes stand.

use std::sync::Arc;

use crate::manifest::expand::{Alone, Neighbours, Place, expand};
use crate::manifest::{Object, parse};
use crate::model::{AccountId, Input, Key, Region, Resource, Scope};

const OWN: &str = "  vpc:\n    cidr: 10.20.0.0/16\n    subnets:\n      \
    a: {zone: a, cidr: 10.20.1.0/24, tags: {tier: data}}\n      \
    b: {zone: eu-west-1b, cidr: 10.20.2.0/24, tags: {tier: data}}\n      \
    c: {zone: b, cidr: 10.20.3.0/24}\n";

fn place() -> Place {
    let scope = Scope { account: AccountId::new("000000000012"), region: Region::new("eu-west-1") };
    Place { scope, agent: "level".to_owned(), production: true }
}

fn text(kind: &str, name: &str, spec: &str) -> String {
    format!(
        "apiVersion: platform.kby.io/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\nspec:\n  \
         environment: production\n{spec}"
    )
}

fn object(kind: &str, name: &str, spec: &str) -> Arc<Object> {
    let parsed = parse("file.yaml", text(kind, name, spec).as_bytes());
    assert!(!parsed.is_broken(), "{:?}", parsed.problems);
    Arc::clone(&parsed.objects[0])
}

fn network(spec: &str) -> Vec<Resource> {
    expand(&object("Network", "shop", spec), &place(), &Alone)
}

fn ids(resources: &[Resource]) -> Vec<String> {
    resources.iter().map(|resource| resource.id.to_string()).collect()
}

/// Knows one network.
struct Beside(Arc<Object>);

impl Neighbours for Beside {
    fn is_network(&self, name: &str, _place: &Place) -> bool {
        name == &*self.0.key.name
    }

    fn find(&self, key: &Key) -> Option<(Arc<Object>, Place)> {
        (*key == self.0.key).then(|| (Arc::clone(&self.0), place()))
    }
}

#[test]
fn a_vpc_comes_before_its_subnets_and_they_before_the_group_of_databases() {
    let resources = network(OWN);
    let expected = [
        "vpc/shop",
        "subnet/shop/a",
        "subnet/shop/b",
        "subnet/shop/c",
        "db_subnet_group/level-shop",
    ];
    assert_eq!(ids(&resources), expected);
    assert!(resources.iter().all(|it| it.owner == "level/Network/shop"));
    assert_eq!(resources[2].section, "vpc.subnets.b");
    assert_eq!(resources[1].fields["zone"], Input::Known("eu-west-1a".into()));
    let needs: Vec<String> = resources[4].references().iter().map(ToString::to_string).collect();
    assert_eq!(needs, ["subnet/shop/a", "subnet/shop/b", "subnet/shop/c", "vpc/shop"]);
}

#[test]
fn nothing_of_it_is_put_into_a_stranger_of_its_name() {
    for resource in network(OWN).iter().skip(1) {
        for input in resource.fields.values() {
            let Input::Template { outputs, .. } = input else { continue };
            let is_own = |owner: Option<&str>| owner == Some("level/Network/shop");
            assert!(outputs.values().all(|output| is_own(output.owner.as_deref())), "{resource:?}");
        }
    }
}

#[test]
fn databases_need_two_zones_and_only_declared_tags_count() {
    let tagged = network(&format!("{OWN}  subnetTags: {{tier: data}}\n"));
    let group = tagged.last().unwrap();
    assert_eq!(group.references().len(), 3, "two subnets and the VPC");
    let one_zone = OWN.replace("zone: a,", "zone: b,");
    assert_eq!(ids(&network(&one_zone)).len(), 4, "eu-west-1b and b are one zone: no group");
}

#[test]
fn a_zone_of_another_region_is_refused_before_a_call() {
    let resources = network(&OWN.replace("eu-west-1b", "us-east-1b"));
    assert_eq!(resources[2].refusals[0].code, "ZoneOfAnotherRegion");
}

#[test]
fn a_workspace_makes_its_group_in_the_vpc_itself_where_the_network_owns_it() {
    let beside = |spec: &str| Beside(object("Network", "shop", spec));
    let spec = "  resources:\n    network: {vpcRef: shop, ingress: []}\n";
    let group = |spec_of_network: &str| {
        let workspace = object("Workspace", "orders", spec);
        expand(&workspace, &place(), &beside(spec_of_network)).remove(0)
    };
    let needs = |resource: Resource| resource.references()[0].to_string();
    assert_eq!(needs(group("")), "db_subnet_group/level-shop");
    let own = group(OWN);
    let Input::Template { outputs, .. } = &own.fields["vpcRef"] else { panic!("{own:?}") };
    assert_eq!(outputs.values().next().unwrap().owner.as_deref(), Some("level/Network/shop"));
    assert_eq!(needs(own), "vpc/shop");
}

#[test]
fn a_text_may_name_a_subnet_of_the_network() {
    let role = |marker: &str| {
        format!(
            "  resources:\n    iam: {{roles: {{api: {{trust: {{services: [ec2.amazonaws.com]}}, \
             description: \"in ${{{marker}}}\"}}}}}}\n"
        )
    };
    let beside = Beside(object("Network", "shop", OWN));
    let expanded = |marker: &str| {
        let workspace = object("Workspace", "orders", &role(marker));
        expand(&workspace, &place(), &beside).remove(0)
    };
    let known = expanded("Network/shop.network.subnets.a.subnetId");
    assert_eq!(known.references()[0].to_string(), "subnet/shop/a");
    let unknown = expanded("Network/shop.network.subnets.z.subnetId");
    assert_eq!(unknown.refusals[0].code, "UnknownReference");
}

#[test]
fn a_mistake_stands_where_it_was_made() {
    let broken = OWN.replace("10.20.2.0/24", "10.20.1.128/25").replace("zone: b", "zone: euw1-az2");
    let text = text("Network", "shop", &broken);
    let problems = parse("file.yaml", text.as_bytes()).problems;
    let told: Vec<(&str, u32, u32)> = problems
        .iter()
        .map(|it| (it.code.as_str(), it.position.line, it.position.column))
        .collect();
    assert_eq!(told, [("SubnetsOverlap", 10, 35), ("InvalidZone", 11, 17)]);
    assert!(problems[0].message.contains("the subnet a, 10.20.1.0/24"), "{problems:?}");
}
