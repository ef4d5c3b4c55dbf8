//! References to what other resources of an object turned out to have, in the place of what they have.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::survey::folded;
use super::{Document, Found};
use crate::model::Key;
use crate::model::reference::{Piece, is_variable, pieces};

/// Where each resource was put: the document, and the path in it.
pub(super) type Put = BTreeMap<usize, (Key, String)>;

/// Writes references in the place of what resources of the same object turned out to have.
pub(super) fn refer(documents: &mut BTreeMap<Key, Document>, found: &[Found], put: &Put) {
    let mut waits = Waits::default();
    for (at, (key, path)) in put {
        let Some(document) = documents.get_mut(key) else { continue };
        let draft = &found[*at].draft;
        for (fields, is_later) in [(&draft.refers, false), (&draft.refers_later, true)] {
            let is_free = |other: &usize| is_later || !waits.reaches(*other, *at);
            let others = put.iter().filter(|(_, (its, _))| its == key);
            let outputs: Vec<Output> = others
                .filter(|(other, _)| is_free(other))
                .flat_map(|(other, (_, of))| {
                    let known = found[*other].known.iter();
                    known.filter_map(|(text, output)| {
                        Some(Output { text, reference: reference(of, (*output)?), of: *other })
                    })
                })
                .collect();
            for field in fields {
                let Some(value) = document.sheet.value_mut(&format!("{path}.{field}")) else {
                    continue;
                };
                let mut used = replace(value, &outputs, &mut document.originals);
                used.retain(|_| !is_later);
                waits.of.entry(*at).or_default().append(&mut used);
            }
        }
    }
}

/// Knows which resources wait for which others, so that no two come to wait for each other.
#[derive(Default)]
struct Waits {
    of: BTreeMap<usize, BTreeSet<usize>>,
}

impl Waits {
    /// Tells whether a resource waits for another one, or is it.
    fn reaches(&self, from: usize, to: usize) -> bool {
        let (mut open, mut seen) = (vec![from], BTreeSet::new());
        while let Some(at) = open.pop() {
            if at == to {
                return true;
            }
            if seen.insert(at) {
                open.extend(self.of.get(&at).into_iter().flatten());
            }
        }
        false
    }
}

/// Is what a resource turned out to have, and how a reference says it.
pub(super) struct Output<'a> {
    text: &'a str,
    reference: String,
    of: usize,
}

/// Returns what a reference to an output of the resource at a path looks like: the section and, where
/// it holds several, the name.
pub(super) fn reference(path: &str, output: &str) -> String {
    format!("${{{}.{output}}}", marker(path))
}

/// Returns how references begin that name the resource at a path.
pub(super) fn marker(path: &str) -> String {
    let section = path.split('.').next().unwrap_or_default();
    match path.rsplit_once('.') {
        Some((_, name)) => format!("{section}.{name}"),
        None => section.to_owned(),
    }
}

/// Writes references in the place of texts that outputs are known for, and keeps what stood there;
/// returns which resources these are of. In keys nothing is replaced.
fn replace(
    value: &mut Value,
    outputs: &[Output<'_>],
    originals: &mut BTreeMap<String, String>,
) -> BTreeSet<usize> {
    match value {
        Value::String(text) => {
            let (written, used) = referring(text, outputs);
            if !used.is_empty() {
                originals.insert(written.clone(), std::mem::replace(text, written));
            }
            used
        }
        Value::Array(items) => {
            items.iter_mut().flat_map(|item| replace(item, outputs, originals)).collect()
        }
        Value::Object(members) => {
            members.values_mut().flat_map(|member| replace(member, outputs, originals)).collect()
        }
        _ => BTreeSet::new(),
    }
}

/// Returns a text with references: one for all of it, or for the parts that stand between other signs.
fn referring(text: &str, outputs: &[Output<'_>]) -> (String, BTreeSet<usize>) {
    let whole = folded(text);
    if let Some(output) = outputs.iter().find(|output| output.text == whole) {
        return (output.reference.clone(), BTreeSet::from([output.of]));
    }
    let (mut written, mut used) = (text.to_owned(), BTreeSet::new());
    for output in outputs {
        let replaced = replaced(&written, output);
        if replaced != written {
            used.insert(output.of);
            written = replaced;
        }
    }
    (written, used)
}

/// Replaces what stands in a text for itself, and is not a part of a longer name.
fn replaced(text: &str, output: &Output<'_>) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(output.text) {
        let is_apart = !before.ends_with(is_name) && !after.starts_with(is_name);
        out.push_str(before);
        out.push_str(if is_apart { &output.reference } else { output.text });
        rest = after;
    }
    out + rest
}

/// Escapes what would be read as a reference; in documents, variables of IAM's policies are none.
pub(super) fn escape(text: &str, is_document: bool) -> String {
    let escaped = |piece: Piece<'_>| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::Escape => "$$${".to_owned(),
        Piece::Marker(marker) if is_document && is_variable(marker) => format!("${{{marker}}}"),
        Piece::Marker(marker) => format!("$${{{marker}}}"),
        Piece::Unclosed(rest) => format!("$${{{rest}"),
    };
    pieces(text).into_iter().map(escaped).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_would_be_read_as_a_reference_is_escaped() {
        for (text, expected) in [
            ("a ${database.endpoint} b", "a $${database.endpoint} b"),
            ("home/${aws:username}/*", "home/${aws:username}/*"),
            ("${", "$${"),
            ("$5", "$5"),
        ] {
            assert_eq!(escape(text, true), expected);
        }
        assert_eq!(escape("${PORT:-80}", false), "$${PORT:-80}", "a script has none");
    }

    fn written(text: &str, known: &str, reference: &str) -> String {
        let output = Output { text: known, reference: reference.to_owned(), of: 7 };
        let mut originals = BTreeMap::new();
        let mut value = json!({"a": [text]});
        let used = replace(&mut value, &[output], &mut originals);
        let found = value["a"][0].as_str().unwrap().to_owned();
        assert_eq!(used.is_empty(), found == text);
        assert_eq!(originals.get(&found).map(String::as_str), (found != text).then_some(text));
        found
    }

    #[test]
    fn a_name_of_dns_is_known_in_every_spelling() {
        let endpoint = |text: &str| written(text, "db.local", "${database.endpoint}");
        assert_eq!(endpoint("DB.local."), "${database.endpoint}");
        assert_eq!(endpoint("other"), "other");
        assert_eq!(endpoint("HOST=db.local:5432"), "HOST=${database.endpoint}:5432");
        assert_eq!(endpoint("a-db.local db.local.org"), "a-db.local db.local.org");
    }

    #[test]
    fn what_is_in_a_bucket_begins_with_its_arn_and_no_more() {
        let arn = |text: &str| written(text, "arn:aws:s3:::a", "${buckets.a.arn}");
        assert_eq!(arn("arn:aws:s3:::a/*"), "${buckets.a.arn}/*");
        assert_eq!(arn("arn:aws:s3:::a-logs/*"), "arn:aws:s3:::a-logs/*");
    }

    #[test]
    fn no_two_resources_come_to_wait_for_each_other() {
        let of = BTreeMap::from([(1, BTreeSet::from([2])), (2, BTreeSet::from([3]))]);
        let waits = Waits { of };
        assert!(waits.reaches(1, 3) && waits.reaches(3, 3) && !waits.reaches(3, 1));
    }
}
