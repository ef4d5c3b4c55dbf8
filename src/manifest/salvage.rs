//! What a broken manifest still says: the parts in which nothing is wrong.
//!
//! So the checks of meaning can run on those parts, and everything is told at once.

use std::ops::Range;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::envelope::Metadata;
use super::mistake::Mistake;
use super::network::NetworkSpec;
use super::object::Spec;
use super::parse::of_metadata;
use super::references;
use super::workspace::{Resources, WorkspaceSpec};
use super::yaml::{Data, Node};
use crate::model::{Finding, Key, ObjectKind};

/// The mappings whose entries are taken one by one; everything else is taken whole or not at all,
/// since a field may have a meaning only together with its neighbours.
const OPEN: [&str; 14] = [
    "",
    "/metadata",
    "/metadata/annotations",
    "/spec",
    "/spec/resources",
    "/spec/resources/iam",
    "/spec/resources/iam/roles",
    "/spec/resources/secrets",
    "/spec/resources/buckets",
    "/spec/resources/dns",
    "/spec/resources/dns/records",
    "/spec/resources/compute",
    "/spec/resources/custom",
    "/spec/reconcilePolicy",
];

/// Returns the findings of the parts of a manifest without mistakes.
pub(super) fn findings(kind: ObjectKind, root: &Node, mistakes: &[Mistake]) -> Vec<Finding> {
    let places: Vec<&Range<usize>> = mistakes.iter().map(|mistake| &mistake.span).collect();
    let clean = clean(root, "", &places);
    let metadata = read::<Metadata>(&clean, "/metadata");
    let mut found = metadata.as_ref().map(of_metadata).unwrap_or_default();
    let name = metadata.map(|metadata| metadata.name).unwrap_or_default();
    found.extend(match kind {
        ObjectKind::Workspace => match read::<WorkspaceSpec>(&clean, "/spec") {
            Some(spec) => {
                let mut found = spec.check(&name);
                let key = Key::workspace(name);
                found.extend(references::check(&Spec::Workspace(spec), &key, false));
                found
            }
            None => read::<Resources>(&clean, "/spec/resources")
                .map(|resources| resources.check(&name))
                .unwrap_or_default(),
        },
        ObjectKind::Network => {
            read::<NetworkSpec>(&clean, "/spec").map(|spec| spec.check()).unwrap_or_default()
        }
    });
    // A network with a mistake is no missing network.
    let has_network = root.at(&["spec", "resources", "network"]).is_some();
    found.retain(|finding| !(has_network && finding.code == "NoNetwork"));
    found
}

fn read<T: DeserializeOwned>(clean: &Value, pointer: &str) -> Option<T> {
    serde_json::from_value(clean.pointer(pointer)?.clone()).ok()
}

fn clean(node: &Node, pointer: &str, places: &[&Range<usize>]) -> Value {
    if !OPEN.contains(&pointer) || !matches!(node.data, Data::Map(_)) {
        return node.to_json();
    }
    let mut kept = Map::new();
    for entry in node.entries() {
        let below = format!("{pointer}/{}", entry.key);
        let is_open = OPEN.contains(&below.as_str());
        let is_wrong = |node: &Node| places.iter().any(|place| holds(node, place));
        if is_open || !(places.contains(&&entry.span) || is_wrong(&entry.value)) {
            kept.insert(entry.key.clone(), clean(&entry.value, &below, places));
        }
    }
    Value::Object(kept)
}

/// Tells whether a mistake stands at a value or anywhere inside it.
fn holds(node: &Node, place: &Range<usize>) -> bool {
    node.span == *place
        || match &node.data {
            Data::Map(entries) => {
                entries.iter().any(|entry| entry.span == *place || holds(&entry.value, place))
            }
            Data::List(items) => items.iter().any(|item| holds(item, place)),
            _ => false,
        }
}
