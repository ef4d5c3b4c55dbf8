//! Files that declare the same object, and objects that ask for the same AWS resource.
//!
//! In: what is in force, and the text of the files. Out: who shares what with whom, and a problem at
//! the name of each. Of two objects only one can own a resource: at run time the ownership tag
//! decides, and whoever comes second would be refused for ever.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::object::{Object, Spec};
use super::placed::at_name;
use crate::kinds::db_instance::spec::{self, Database};
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
    database: String,
    others: Vec<&'a Key>,
}

impl Twin<'_> {
    /// Returns the problem that the object has; `bytes` are its file.
    pub(super) fn problem(&self, bytes: &[u8]) -> Option<Problem> {
        let others: Vec<String> = self.others.iter().map(ToString::to_string).collect();
        let others = others.join(" and ");
        let message = format!("the database {} is also declared by {others}", self.database);
        let hint = "give each its own database.identifier; until then it stays with the object \
                    whose ownership tag it carries, and the other is refused";
        let object = self.object;
        let code = "ResourceDeclaredTwice";
        at_name(&object.path, bytes, &object.key, code, message, hint.to_owned())
    }
}

/// Finds the objects that share a resource; environments are taken to be apart.
pub(super) fn twins<'a>(objects: impl Iterator<Item = &'a Arc<Object>>) -> Vec<Twin<'a>> {
    let mut holders: BTreeMap<(&str, String), Vec<&Object>> = BTreeMap::new();
    for object in objects {
        for name in database(object).map(|it| names(it, &object.key.name)).into_iter().flatten() {
            holders.entry((object.environment(), name)).or_default().push(object);
        }
    }
    holders.retain(|_, objects| objects.len() > 1);
    let mut found = Vec::new();
    for ((_, name), objects) in &holders {
        for object in objects {
            let others = objects.iter().map(|other| &other.key).filter(|key| **key != object.key);
            found.push(Twin { object, database: name.clone(), others: others.collect() });
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

fn database(object: &Object) -> Option<&Database> {
    match &object.spec {
        Spec::Workspace(spec) => spec.resources.database.as_ref(),
        Spec::Network(_) => None,
    }
}
