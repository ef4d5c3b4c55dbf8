//! References from the texts of a manifest to outputs: `${database.endpoint}`.
//!
//! In: the spec of an object. Out: every [`Mention`] of an output, and every [`Finding`] about one
//! that the object alone proves wrong; [`across`] looks at what objects want of each other, [`bind`]
//! makes the inputs of resources of them.
//!
//! Invariants: pure; a `${` in a place that takes no reference is a mistake and never sent to AWS; no
//! circle of references is without a problem at each of its members.

pub(super) mod across;
pub(super) mod bind;
mod circle;
mod part;
mod place;

use serde_json::Value;

use self::circle::{Arc, Node, circles};
use self::part::{Part, part};
use self::place::{Use, place};
use super::object::Spec;
use super::words;
use crate::model::problem::pointer_part;
use crate::model::reference::{Piece, is_variable, pieces};
use crate::model::{Finding, Key, Reference};

/// What to write for the characters themselves.
const LITERALLY: &str = "for the characters themselves write $${";

/// Is one place of a manifest where an output is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The JSON pointer of the text, from the root of the manifest.
    pub pointer: String,
    /// The path of the resource that the text belongs to, for example `iam.api`.
    pub holder: String,
    /// The output.
    pub reference: Reference,
    /// True when the text is more than the reference.
    pub is_within: bool,
    /// True where a value of any type may stand.
    pub is_typed: bool,
    /// True where the text is set when its resource is there.
    pub is_later: bool,
}

impl Mention {
    /// Returns the reference as it stands in the text.
    fn marker(&self) -> String {
        format!("${{{}}}", self.reference)
    }

    fn error(&self, code: &'static str, message: impl Into<String>) -> Finding {
        Finding::error(&self.pointer, code, message).about(self.marker())
    }

    /// Returns the object that declares what is named; `key` is the one that names it.
    fn target(&self, key: &Key) -> Key {
        self.reference.object.clone().unwrap_or_else(|| key.clone())
    }
}

/// Tells whether a manifest's text may hold references: most hold none, and are not looked at.
pub(super) fn may_be_in(text: &str) -> bool {
    text.contains("${")
}

/// Lists the outputs that a spec names.
pub(super) fn mentions(spec: &Spec) -> Vec<Mention> {
    walk(spec).0
}

/// Finds what is wrong with the references of a spec by itself; `key` names its object.
///
/// Where only a part of the spec could be read, `whole` is false, and nothing is said about what
/// may be in the other part.
pub(super) fn check(spec: &Spec, key: &Key, whole: bool) -> Vec<Finding> {
    let (mentions, mut found) = walk(spec);
    let is_own = |mention: &&Mention| mention.target(key) == *key;
    let own: Vec<&Mention> = mentions.iter().filter(is_own).collect();
    if whole {
        found.extend(own.iter().filter_map(|mention| unknown(mention, spec, key)));
    }
    found.extend(circular(&own, spec, key));
    found
}

/// Says what is wrong with a mention, given the object that should have the output.
fn unknown(mention: &Mention, spec: &Spec, key: &Key) -> Option<Finding> {
    let offered = match part(spec, &mention.reference.path) {
        Ok(part) => part,
        Err(lack) => {
            let who = match &mention.reference.object {
                Some(_) => key.to_string(),
                None => format!("this {}", key.kind),
            };
            let found = mention.error("UnknownReference", format!("{who} {}", lack.what));
            return Some(match lack.hint {
                Some(hint) => found.hint(hint),
                None => found,
            });
        }
    };
    let output = offered.output.join(".");
    if let Part::Custom(..) = offered.part {
        return of_custom(mention, offered.part, &output);
    }
    let offers = offered.part.offers();
    let Some(offer) = offers.iter().find(|offer| offer.name == output) else {
        let names: Vec<&str> = offers.iter().map(|offer| offer.name).collect();
        let message = format!("{} has no output \"{output}\"", offered.part);
        let hint = match words::nearest(&output, &names) {
            Some(name) => format!("did you mean {name}?"),
            None => format!("it has {}", names.join(", ")),
        };
        return Some(mention.error("UnknownOutput", message).hint(hint));
    };
    (offer.is_list && (mention.is_within || !mention.is_typed)).then(|| {
        let message = format!("{output} is a list, which is no part of a text");
        mention.error("NotAText", message)
    })
}

/// What a custom resource has is said by its type, which is not known here. Under which identifier
/// AWS keeps it is known to its own object alone.
fn of_custom(mention: &Mention, part: Part<'_>, output: &str) -> Option<Finding> {
    if mention.reference.object.is_some() {
        let message = "the outputs of custom resources are for their own workspace";
        return Some(mention.error("UnknownReference", message));
    }
    part.member(output).is_none().then(|| {
        let message = format!("{part} has no output \"{output}\"");
        let hint = "identifier, or a property of its type that is no secret, such as Arn";
        mention.error("UnknownOutput", message).hint(hint)
    })
}

/// Finds the circles among the resources of one object; what is set when its resource is there keeps
/// none from being made.
fn circular(own: &[&Mention], spec: &Spec, key: &Key) -> Vec<Finding> {
    let own: Vec<&Mention> = own.iter().copied().filter(|mention| !mention.is_later).collect();
    let node = |path: &str| Node { key: key.clone(), path: path.to_owned() };
    let mut arcs: Vec<Arc> = own
        .iter()
        .map(|mention| {
            // What is not declared is nowhere, and in no circle.
            let target = part(spec, &mention.reference.path);
            let to = target.map_or_else(|_| String::new(), |offered| offered.part.to_string());
            Arc { from: node(&mention.holder), to: node(&to) }
        })
        .collect();
    let implied = part::implied(spec).into_iter();
    arcs.extend(implied.map(|(from, to)| Arc { from: node(&from), to: node(&to) }));
    let told = circles(&arcs).into_iter().filter_map(|(at, circle)| Some((own.get(at)?, circle)));
    told.map(|(mention, circle)| {
        let names: Vec<&str> = circle.iter().map(|node| node.path.as_str()).collect();
        let message = format!("{}: none of them could be made first", names.join(" -> "));
        mention.error("CircularReference", message).hint("leave out one of these references")
    })
    .collect()
}

/// Walks every text of the resources.
fn walk(spec: &Spec) -> (Vec<Mention>, Vec<Finding>) {
    let mut walk = Walk::default();
    if let Some(resources) = spec.to_value().get("resources") {
        walk.value(resources, &mut Vec::new());
    }
    (walk.mentions, walk.found)
}

#[derive(Default)]
struct Walk {
    mentions: Vec<Mention>,
    found: Vec<Finding>,
}

impl Walk {
    fn value(&mut self, value: &Value, path: &mut Vec<String>) {
        match value {
            Value::String(text) if may_be_in(text) => self.text(text, path),
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    path.push(at.to_string());
                    self.value(item, path);
                    path.pop();
                }
            }
            Value::Object(members) => {
                for (key, member) in members {
                    path.push(key.clone());
                    if may_be_in(key) {
                        self.key(key, path);
                    }
                    self.value(member, path);
                    path.pop();
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, path: &[String]) {
        let pointer = pointer(path);
        let place = place(path);
        let pieces = pieces(text);
        for piece in &pieces {
            match *piece {
                Piece::Text(_) | Piece::Escape => {}
                Piece::Unclosed(rest) => {
                    let found = Finding::error(&pointer, "UnclosedReference", "${ has no }");
                    self.found.push(found.hint(LITERALLY).about(format!("${{{rest}")));
                }
                Piece::Marker(marker) => {
                    let is_within = pieces.len() > 1;
                    match mention(marker, &pointer, place.as_ref(), is_within) {
                        Ok(mention) => self.mentions.extend(mention),
                        Err(found) => self.found.push(found.about(format!("${{{marker}}}"))),
                    }
                }
            }
        }
    }

    /// A key is sent as it is; in a policy document it may hold IAM's own variables.
    fn key(&mut self, key: &str, path: &[String]) {
        let is_document = place(path).is_some_and(|place| place.takes != Use::Text);
        let is_foreign = |piece: &Piece<'_>| match piece {
            Piece::Marker(marker) => !(is_document && is_variable(marker)),
            Piece::Unclosed(_) => true,
            Piece::Text(_) | Piece::Escape => false,
        };
        if pieces(key).iter().any(is_foreign) {
            let message = format!("the key \"{key}\" takes no reference");
            self.found.push(Finding::error(&pointer(path), "ReferenceNotTaken", message));
        }
    }
}

/// Reads one marker; nothing is mentioned by a variable of IAM policies.
fn mention(
    marker: &str,
    pointer: &str,
    place: Option<&place::Place>,
    is_within: bool,
) -> Result<Option<Mention>, Finding> {
    let error = |code, message: String| Finding::error(pointer, code, message).hint(LITERALLY);
    if is_variable(marker) && place.is_some_and(|place| place.takes != Use::Text) {
        return Ok(None);
    }
    let Some(reference) = Reference::read(marker) else {
        let message = format!("${{{marker}}} is no reference, as ${{database.endpoint}} is one");
        return Err(error("MalformedReference", message));
    };
    let Some(place) = place else {
        let message = format!("this field takes no reference, so ${{{marker}}} has no meaning");
        return Err(error("ReferenceNotTaken", message));
    };
    Ok(Some(Mention {
        pointer: pointer.to_owned(),
        holder: place.holder.clone(),
        reference,
        is_within,
        is_typed: place.takes == Use::Typed,
        is_later: place.is_later,
    }))
}

fn pointer(path: &[String]) -> String {
    let parts: Vec<String> = path.iter().map(|part| pointer_part(part)).collect();
    format!("/spec/resources/{}", parts.join("/"))
}

#[cfg(test)]
mod tests;
