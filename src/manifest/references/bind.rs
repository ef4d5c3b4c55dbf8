//! From references to the inputs of resources, and resources to the order of what they need.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::part::part;
use super::place::{Use, place};
use crate::manifest::expand::{Neighbours, Place};
use crate::manifest::object::Object;
use crate::model::reference::{fill, is_marked, markers};
use crate::model::{Input, Output, Reference, Refusal, Resource, ResourceId};

/// Holds what references of one object are looked up in.
struct Scope<'a> {
    object: &'a Object,
    place: &'a Place,
    neighbours: &'a dyn Neighbours,
}

/// Makes inputs of the references in the fields of an object's resources.
///
/// What is not there refuses the resource: a problem at the reference says why.
pub(in crate::manifest) fn bind(
    resources: &mut [Resource],
    object: &Object,
    place: &Place,
    neighbours: &dyn Neighbours,
) {
    let scope = Scope { object, place, neighbours };
    for resource in resources {
        let mut refused = Vec::new();
        for (field, input) in &mut resource.fields {
            let typed = is_typed(&resource.section, field);
            let unknown = scope.bind(input, typed);
            refused.extend(unknown.into_iter().map(|marker| refusal(field, &marker)));
        }
        resource.refusals.extend(refused);
    }
}

fn refusal(field: &str, marker: &str) -> Refusal {
    Refusal {
        field: field.to_owned(),
        code: "UnknownReference".to_owned(),
        message: format!("${{{marker}}} names nothing that the repository declares"),
        help: "correct the reference, or declare what it names".to_owned(),
    }
}

impl Scope<'_> {
    /// Adds to an input what its texts name; returns what is not there.
    fn bind(&self, input: &mut Input, typed: bool) -> Vec<String> {
        let (value, known) = match input {
            Input::Known(value) if is_marked(value) => (value, None),
            Input::Template { value, outputs, .. } if is_marked(value) => (value, Some(outputs)),
            _ => return Vec::new(),
        };
        let bound = |marker: &str| known.as_ref().is_some_and(|known| known.contains_key(marker));
        let mut outputs = BTreeMap::new();
        let mut unknown = Vec::new();
        for marker in markers(value).into_iter().filter(|marker| !bound(marker)) {
            match self.output(marker, typed) {
                Some(output) => drop(outputs.insert(marker.to_owned(), output)),
                None => unknown.push(marker.to_owned()),
            }
        }
        match known {
            Some(known) => known.extend(outputs),
            None => *input = template(value, outputs),
        }
        unknown
    }

    fn output(&self, marker: &str, typed: bool) -> Option<Output> {
        let reference = Reference::read(marker)?;
        match reference.object.as_ref().filter(|key| **key != self.object.key) {
            None => output(&reference, self.object, self.place, self.neighbours, typed),
            Some(key) => {
                let (object, place) = self.neighbours.find(key)?;
                output(&reference, &object, &place, self.neighbours, typed)
            }
        }
    }
}

/// Tells whether the values of a field may be of any type.
fn is_typed(section: &str, field: &str) -> bool {
    let path: Vec<String> = section.split('.').chain(field.split('.')).map(str::to_owned).collect();
    place(&path).is_some_and(|place| place.takes == Use::Typed)
}

fn output(
    reference: &Reference,
    object: &Object,
    place: &Place,
    neighbours: &dyn Neighbours,
    typed: bool,
) -> Option<Output> {
    let offered = part(&object.spec, &reference.path).ok()?;
    let member = offered.part.member(&offered.output.join("."))?;
    let of = offered.part.id(object, place, neighbours);
    Some(Output { of, member, typed, owner: None, adopt: false })
}

/// A text that has only escapes or IAM's variables is known.
fn template(value: &Value, outputs: BTreeMap<String, Output>) -> Input {
    match outputs.is_empty() {
        true => Input::Known(fill(value, &|_| None)),
        false => Input::Template { value: value.clone(), outputs, needs: BTreeSet::new() },
    }
}

/// Puts resources in the order of what they need; what needs nothing of another stays in place.
pub(in crate::manifest) fn in_order(resources: Vec<Resource>) -> Vec<Resource> {
    let at = |id: &ResourceId| resources.iter().position(|resource| resource.id == *id);
    let needs: Vec<Vec<usize>> = resources
        .iter()
        .map(|resource| resource.references().into_iter().filter_map(at).collect())
        .collect();
    let (mut seen, mut order) = (BTreeSet::new(), Vec::with_capacity(needs.len()));
    (0..needs.len()).for_each(|at| visit(at, &needs, &mut seen, &mut order));
    let mut resources: Vec<Option<Resource>> = resources.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| resources.get_mut(at)?.take()).collect()
}

fn visit(at: usize, needs: &[Vec<usize>], seen: &mut BTreeSet<usize>, order: &mut Vec<usize>) {
    if seen.insert(at) {
        needs.get(at).into_iter().flatten().for_each(|it| visit(*it, needs, seen, order));
        order.push(at);
    }
}
