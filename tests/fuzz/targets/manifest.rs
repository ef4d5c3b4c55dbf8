//! A manifest file as it comes from Git.

use std::collections::BTreeMap;
use std::sync::Arc;

use levelset::manifest::expand::{Neighbours, Place, expand};
use levelset::manifest::{API_VERSION, Object, Spec, parse};
use levelset::model::{AccountId, Key, Problem, Region, Resource, Scope};
use serde_json::{Value, json};

use super::{files, root};

const PATH: &str = "teams/any.yaml";

pub(super) fn seeds() -> Vec<Vec<u8>> {
    ["manifests-example", "tests/manifests/bad", "src/kinds"]
        .into_iter()
        .flat_map(|folder| files(&root().join(folder), ".yaml"))
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

/// Whatever the bytes are: what is told of them stands in them, and what is taken from them means
/// the same when it is written down again.
pub(super) fn run(bytes: &[u8]) {
    let parsed = parse(PATH, bytes);
    assert!(parsed == parse(PATH, bytes), "read twice, told otherwise");
    let text = String::from_utf8_lossy(bytes);
    let lines = lines(text.strip_prefix('\u{feff}').unwrap_or(&text));
    parsed.problems.iter().for_each(|problem| stands_in(&lines, problem));
    assert!(!parsed.is_broken() || parsed.objects.is_empty(), "a broken file gave objects");
    for object in &parsed.objects {
        assert!(parsed.named.contains(&object.key), "{} is taken and not named", object.key);
        means_the_same(object);
    }
}

/// Splits at `\n`, `\r\n` and a lone `\r`, as editors do.
fn lines(text: &str) -> Vec<&str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r')).collect()
}

fn stands_in(lines: &[&str], problem: &Problem) {
    let at = &problem.position;
    assert_eq!(&*at.path, PATH);
    assert!(at.line >= 1 && at.column >= 1 && problem.length >= 1, "{problem:?}");
    let line =
        lines.get(at.line as usize - 1).unwrap_or_else(|| panic!("no such line: {problem:?}"));
    assert!(line.starts_with(&problem.source_line), "another line than {line:?}: {problem:?}");
    let (start, length) = (at.column as usize - 1, line.chars().count());
    assert!(start <= length, "no such column: {problem:?}");
    let end = start + problem.length as usize;
    assert!(end <= length.max(start + 1), "reaches past the line: {problem:?}");
}

fn means_the_same(object: &Object) {
    let written = write(object);
    let parsed = parse(PATH, written.as_bytes());
    assert!(!parsed.is_broken(), "{written}\n{:?}", parsed.problems);
    let [again] = parsed.objects.as_slice() else { panic!("one object became several") };
    assert_eq!(again.spec, object.spec, "{written}");
    assert_eq!(again.digest, object.digest, "{written}");
    assert_eq!(again.annotations, object.annotations, "{written}");
    let resources = expanded(object);
    assert_eq!(resources, expanded(again), "{written}");
    for (at, resource) in resources.iter().enumerate() {
        for needed in resource.references() {
            let is_late = resources[at..].iter().any(|later| later.id == *needed);
            assert!(!is_late, "{} comes before {needed}, which it needs", resource.id);
        }
    }
}

/// Writes an object as a manifest; JSON is YAML.
fn write(object: &Object) -> String {
    let mut spec = match &object.spec {
        Spec::Workspace(spec) => serde_json::to_value(spec).unwrap(),
        Spec::Network(spec) => serde_json::to_value(spec).unwrap(),
    };
    drop_undeclared(&mut spec);
    let annotations: BTreeMap<_, _> = object.annotations.iter().cloned().collect();
    json!({
        "apiVersion": API_VERSION, "kind": object.key.kind.as_str(),
        "metadata": {"name": &*object.key.name, "annotations": annotations}, "spec": spec,
    })
    .to_string()
}

/// Takes out what is not declared, which serde writes as null.
fn drop_undeclared(value: &mut Value) {
    let Value::Object(members) = value else { return };
    members.retain(|_, value| !value.is_null());
    // Of a custom resource, a property that is declared as nothing is declared.
    let others = members.iter_mut().filter(|(name, _)| *name != "properties");
    others.for_each(|(_, value)| drop_undeclared(value));
}

fn expanded(object: &Object) -> Vec<Resource> {
    let scope = Scope { account: AccountId::new("123456789012"), region: Region::new("eu-west-1") };
    let place = Place { scope, agent: "levelset".to_owned(), production: true };
    expand(object, &place, &Odd)
}

/// Takes every network with a name of odd length to be declared.
struct Odd;

impl Neighbours for Odd {
    fn is_network(&self, name: &str, _place: &Place) -> bool {
        name.len() % 2 == 1
    }

    fn find(&self, _key: &Key) -> Option<(Arc<Object>, Place)> {
        None
    }
}
