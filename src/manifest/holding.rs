//! What an object declares that holds something which cannot be made anew: a database its data, a
//! role the trust that others rest on, a secret its value, a VPC and a subnet the ids by which others name
//! them.
//!
//! In: an object, or the id of a resource. Out: the same names for both, `KIND/NAME`. Pure. What is
//! made anew from Git without a loss (groups of parameters and subnets) is none of it.

use std::collections::BTreeSet;

use super::network::OwnVpc;
use super::object::{Object, Spec};
use crate::kinds::db_cluster::NAME as DB_CLUSTER;
use crate::kinds::db_instance::spec::Database;
use crate::kinds::db_instance::{NAME as DB_INSTANCE, spec as instance};
use crate::kinds::iam_role::{NAME as IAM_ROLE, spec as role};
use crate::kinds::s3_bucket::{NAME as S3_BUCKET, spec as bucket};
use crate::kinds::secret::{NAME as SECRET, spec as secret};
use crate::kinds::subnet::NAME as SUBNET;
use crate::kinds::vpc::NAME as VPC;
use crate::model::ResourceId;

/// Returns what an object declares.
pub fn holdings(object: &Object) -> BTreeSet<String> {
    let name = &object.key.name;
    let spec = match &object.spec {
        Spec::Workspace(spec) => spec,
        Spec::Network(spec) => return spec.vpc.iter().flat_map(|vpc| network(vpc, name)).collect(),
    };
    let database = spec.resources.database.iter();
    let databases = database.flat_map(|database| databases(database, name));
    let roles = spec.resources.iam.iter().flat_map(|iam| &iam.roles);
    let roles = roles.map(|(key, it)| role::role_name(name, key, it).to_ascii_lowercase());
    let roles = roles.map(|role| format!("{IAM_ROLE}/{role}"));
    let secrets = spec.resources.secrets.iter().flatten();
    let secrets =
        secrets.map(|(key, it)| format!("{SECRET}/{}", secret::secret_name(name, key, it)));
    // The account is not known here, and is part of a bucket's name.
    let buckets = spec.resources.buckets.iter().flatten();
    let buckets =
        buckets.map(|(key, it)| format!("{S3_BUCKET}/{}", bucket::plain_name(name, key, it)));
    databases.chain(roles).chain(secrets).chain(buckets).collect()
}

/// Returns a VPC of a network's own and its subnets.
fn network(vpc: &OwnVpc, object: &str) -> Vec<String> {
    let subnets = vpc.subnets.keys().map(|key| format!("{SUBNET}/{object}/{key}"));
    subnets.chain([format!("{VPC}/{object}")]).collect()
}

/// Returns a single database, or a cluster with its members.
fn databases(database: &Database, object: &str) -> Vec<String> {
    let identifier = instance::identifier(database, object);
    let Some(cluster) = database.aurora() else {
        return vec![format!("{DB_INSTANCE}/{identifier}")];
    };
    let members = cluster.named_members();
    let members = members.iter().map(|(name, member)| member.identifier(&identifier, name));
    let members = members.map(|member| format!("{DB_INSTANCE}/{member}"));
    members.chain([format!("{DB_CLUSTER}/{identifier}")]).collect()
}

/// Returns the name of a resource that is one, of those that an object owns; `None` for any other.
pub fn holding(id: &ResourceId) -> Option<String> {
    if id.kind == S3_BUCKET {
        return Some(format!("{S3_BUCKET}/{}", bucket::plain_name_of(id)));
    }
    let is_one = [DB_INSTANCE, DB_CLUSTER, IAM_ROLE, SECRET, SUBNET, VPC].contains(&id.kind);
    is_one.then(|| id.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::expand::{Alone, Place, expand};
    use crate::manifest::parse;
    use crate::model::{AccountId, Region, Scope};

    fn agrees(database: &str, count: usize) {
        let text = format!(
            "apiVersion: platform.kby.io/v1alpha1
kind: Workspace
metadata: {{name: pay}}
spec:
  environment: production
  resources:
    network: {{vpcRef: core}}
    database: {database}
    iam: {{roles: {{api: {{trust: {{services: [ecs-tasks.amazonaws.com]}}}}}}}}
    secrets: {{key: {{}}, other: {{name: Other}}}}
    buckets: {{key: {{}}, other: {{name: example.com}}}}
"
        );
        let object = parse("a.yaml", text.as_bytes()).objects.remove(0);
        let scope = Scope { account: AccountId::new("123456789012"), region: Region::new("r") };
        let place = Place { scope, agent: "levelset".to_owned(), production: false };
        let resources = expand(&object, &place, &Alone);
        // A VPC of which nothing is declared is only read.
        let own = resources.iter().filter(|it| it.id.kind != VPC || !it.fields.is_empty());
        let expected: BTreeSet<String> = own.filter_map(|it| holding(&it.id)).collect();
        assert_eq!(holdings(&object), expected);
        assert_eq!(expected.len(), count, "{expected:?}");
    }

    #[test]
    fn what_an_object_holds_has_the_names_of_its_resources() {
        agrees(
            "{engine: postgres, version: \"15\", sizeClass: db.r6g.large, identifier: Orders, \
             parameters: {work_mem: \"1\"}}",
            6,
        );
        agrees(
            "{engine: aurora-postgresql, version: \"16\", sizeClass: db.r6g.large, \
             cluster: {members: 2}}",
            8,
        );
    }
    #[test]
    fn a_network_holds_its_vpc_and_subnets_and_none_that_it_only_reads() {
        let named = |spec: &str| {
            let text = format!(
                "apiVersion: platform.kby.io/v1alpha1\nkind: Network\nmetadata: {{name: shop}}\nspec:\n  \
                 environment: production\n{spec}"
            );
            holdings(&parse("a.yaml", text.as_bytes()).objects[0])
        };
        let own = "  vpc: {cidr: 10.0.0.0/16, subnets: {a: {zone: a, cidr: 10.0.0.0/24}}}\n";
        assert_eq!(named(own).into_iter().collect::<Vec<_>>(), ["subnet/shop/a", "vpc/shop"]);
        assert!(named("").is_empty());
    }
}
