//! What objects want of each other: references that name nothing, and circles through several objects.
//!
//! In: the objects in force. Out: [`Told`], one for each reference with which something is wrong. It
//! stands in the file of the object that has the reference, which stays in force: what cannot be
//! known yet is waited for, and what is not declared is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc as Shared;

use super::circle::{Arc, Node, circles};
use super::part::{self, part};
use super::{Mention, unknown};
use crate::manifest::object::Object;
use crate::model::{Finding, Key, Position};

/// Says what is wrong with one reference.
pub(in crate::manifest) struct Told<'a> {
    /// The object that has it.
    pub(in crate::manifest) object: &'a Object,
    /// What is wrong, placed from the root of the manifest.
    pub(in crate::manifest) finding: Finding,
    /// The other references of the circle.
    others: Vec<(&'a Object, &'a Mention)>,
}

impl Told<'_> {
    /// Adds to the finding where the others stand; `position` knows it of a reference.
    pub(in crate::manifest) fn placed(
        self,
        position: impl Fn(&Object, &Finding) -> Option<Position>,
    ) -> Finding {
        let place = |(object, mention): &(&Object, &Mention)| {
            let at = position(object, &mention.error("", ""))?;
            Some(format!("{}:{}:{}", at.path, at.line, at.column))
        };
        let places: Vec<String> = self.others.iter().filter_map(place).collect();
        match places.is_empty() {
            true => self.finding,
            false => {
                let hint =
                    format!("leave out one of these references; the others: {}", places.join(", "));
                self.finding.hint(hint)
            }
        }
    }
}

/// Finds what is wrong between objects; `find` returns the object in force of a key.
pub(in crate::manifest) fn across<'a>(
    objects: impl Iterator<Item = &'a Shared<Object>>,
    find: impl Fn(&Key) -> Option<&'a Shared<Object>>,
) -> Vec<Told<'a>> {
    let mut told = Vec::new();
    let mut links = Vec::new();
    for object in objects {
        for mention in &object.mentions {
            let key = mention.target(&object.key);
            let Some(target) = find(&key) else {
                told.push(Told { object, finding: missing(mention, &key), others: Vec::new() });
                continue;
            };
            // The object's own are looked at with its file.
            let wrong = (key != object.key).then(|| unknown(mention, &target.spec, &key)).flatten();
            match wrong {
                Some(finding) => told.push(Told { object, finding, others: Vec::new() }),
                None if mention.is_later => {}
                None => links.extend(Link::of(object, mention, target)),
            }
        }
    }
    told.extend(circular(&links));
    told
}

fn missing(mention: &Mention, key: &Key) -> Finding {
    let message = format!("the repository declares no {key}");
    mention.error("UnknownReference", message)
}

/// Is a reference whose target is declared.
struct Link<'a> {
    object: &'a Object,
    mention: &'a Mention,
    arc: Arc,
}

impl<'a> Link<'a> {
    fn of(object: &'a Object, mention: &'a Mention, target: &Object) -> Option<Self> {
        let offered = part(&target.spec, &mention.reference.path).ok()?;
        let from = Node { key: object.key.clone(), path: mention.holder.clone() };
        let to = Node { key: target.key.clone(), path: offered.part.to_string() };
        Some(Self { object, mention, arc: Arc { from, to } })
    }
}

/// Tells of circles that more than one object is in; those of one are told with its file.
fn circular<'a>(links: &[Link<'a>]) -> Vec<Told<'a>> {
    let mut arcs: Vec<Arc> = links.iter().map(|link| link.arc.clone()).collect();
    let mut known = BTreeSet::new();
    for object in links.iter().map(|link| link.object).filter(|it| known.insert(&it.key)) {
        let node = |path: String| Node { key: object.key.clone(), path };
        let implied = part::implied(&object.spec).into_iter();
        arcs.extend(implied.map(|(from, to)| Arc { from: node(from), to: node(to) }));
    }
    let mut by_ends: BTreeMap<(&Node, &Node), &Link<'a>> = BTreeMap::new();
    for link in links {
        by_ends.entry((&link.arc.from, &link.arc.to)).or_insert(link);
    }
    let several = |circle: &[&Node]| circle.windows(2).any(|pair| pair[0].key != pair[1].key);
    circles(&arcs)
        .into_iter()
        .filter(|(_, circle)| several(circle))
        .filter_map(|(at, circle)| Some((links.get(at)?, circle)))
        .map(|(link, circle)| {
            let names: Vec<String> = circle.iter().map(ToString::to_string).collect();
            let message = format!("{}: none of them could be made first", names.join(" -> "));
            let on = circle.windows(2).skip(1).filter_map(|pair| by_ends.get(&(pair[0], pair[1])));
            Told {
                object: link.object,
                finding: link.mention.error("CircularReference", message),
                others: on.map(|link| (link.object, link.mention)).collect(),
            }
        })
        .collect()
}
