//! Files that declare the same object, and objects that ask for the same AWS resource.
//!
//! In: what is in force, and the text of the files. Out: who shares what with whom, and a problem at
//! the name of each. Of two objects only one can own a resource: at run time the ownership tag
//! decides, and whoever comes second would be refused for ever.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::object::{Object, Spec};
use super::placed::at_name;
use crate::kinds::autoscaling_group::spec as compute;
use crate::kinds::db_instance::spec::{self, Database};
use crate::kinds::s3_bucket::spec as bucket;
use crate::kinds::secret::spec as secret;
use crate::model::{Key, Problem};

/// Returns the problem that a good file has when other files declare its object as well.
pub(super) fn duplicate(
    path: &str,
    bytes: &[u8],
    key: &Key,
    others: &[&str],
    winner: Option<&str>,
) -> Option<Problem> {
    let message = format!("{key} is also declared in {}", others.join(" and "));
    let hint = match winner {
        Some(winner) => format!("remove one; until then the one in {winner} stays in force"),
        None => "remove one; until then neither is taken".to_owned(),
    };
    at_name(path, bytes, key, "DuplicateObject", message, hint)
}

/// Names an object that asks for what others ask for as well.
pub(super) struct Twin<'a> {
    pub(super) object: &'a Object,
    /// What they share.
    shared: Shared,
    others: Vec<&'a Key>,
}

impl Twin<'_> {
    /// Returns the problem that the object has; `bytes` are its file.
    pub(super) fn problem(&self, bytes: &[u8]) -> Option<Problem> {
        let others: Vec<String> = self.others.iter().map(ToString::to_string).collect();
        let Shared { what, name, field } = &self.shared;
        let (object, each) = (self.object, format!("give each its own {field}"));
        let (message, hint) = if others.is_empty() {
            (format!("the {what} {name} is declared twice by {}", object.key), each)
        } else {
            let message = format!("the {what} {name} is also declared by {}", others.join(" and "));
            let hint = format!(
                "{each}; until then it stays with the object whose ownership tag it carries, and the \
                 other is refused"
            );
            (message, hint)
        };
        let code = "ResourceDeclaredTwice";
        at_name(&object.path, bytes, &object.key, code, message, hint)
    }
}

/// Is a resource of AWS that an object declares under a name that another could declare too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Shared {
    what: &'static str,
    name: String,
    /// The field that gives it another name.
    field: &'static str,
}

/// Finds the objects that share a resource; environments are taken to be apart.
pub(super) fn twins<'a>(objects: impl Iterator<Item = &'a Arc<Object>>) -> Vec<Twin<'a>> {
    let mut holders: BTreeMap<(&str, Shared), Vec<&Object>> = BTreeMap::new();
    for object in objects {
        for shared in shared(object) {
            holders.entry((object.environment(), shared)).or_default().push(object);
        }
    }
    holders.retain(|_, objects| objects.len() > 1);
    let mut found = Vec::new();
    for ((_, shared), objects) in &holders {
        // One that declares it twice is one object.
        let each: BTreeMap<&Key, &Object> = objects.iter().map(|it| (&it.key, *it)).collect();
        for object in each.into_values() {
            let others = objects.iter().map(|other| &other.key).filter(|key| **key != object.key);
            found.push(Twin { object, shared: shared.clone(), others: others.collect() });
        }
    }
    found
}

/// Names what a database is in AWS: an instance, or a cluster and its members, which are instances.
fn names(database: &Database, object: &str) -> Vec<String> {
    let name = spec::identifier(database, object);
    let Some(cluster) = database.aurora() else { return vec![name] };
    let members = cluster.named_members();
    let members = members.iter().map(|(key, member)| member.identifier(&name, key));
    members.chain([format!("cluster {name}")]).collect()
}

/// Lists the resources of an object whose names are not its own alone.
fn shared(object: &Object) -> Vec<Shared> {
    let Spec::Workspace(spec) = &object.spec else { return Vec::new() };
    let key = &object.key.name;
    let databases = spec.resources.database.iter().flat_map(|database| names(database, key));
    let database = |name| Shared { what: "database", name, field: "database.identifier" };
    let secrets = spec.resources.secrets.iter().flatten();
    let secrets = secrets.map(|(name, it)| secret::secret_name(key, name, it));
    let secret = |name| Shared { what: "secret", name, field: "name of the secret" };
    let buckets = spec.resources.buckets.iter().flatten();
    let buckets = buckets.map(|(name, it)| bucket::plain_name(key, name, it));
    let bucket = |name| Shared { what: "bucket", name, field: "name of the bucket" };
    let groups = spec.resources.compute.iter().flatten();
    let templates = groups.clone().map(|(name, it)| compute::template_name(key, name, it));
    let template =
        |name| Shared { what: "launch template", name, field: "launchTemplate of the group" };
    let groups = groups.map(|(name, it)| compute::group_name(key, name, it));
    let group = |name| Shared { what: "Auto Scaling group", name, field: "name of the group" };
    let shared = databases.map(database).chain(secrets.map(secret)).chain(buckets.map(bucket));
    shared.chain(groups.map(group)).chain(templates.map(template)).collect()
}
