//! References to what other resources of an object turned out to have, in the place of what they have.

use std::collections::BTreeMap;

use serde_json::Value;

use super::survey::folded;
use crate::model::reference::{Piece, is_variable, pieces};

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

/// Writes references in the place of texts that outputs are known for, and keeps what stood there.
pub(super) fn replace(
    value: &mut Value,
    outputs: &BTreeMap<String, String>,
    originals: &mut BTreeMap<String, String>,
) {
    match value {
        Value::String(text) => {
            if let Some(reference) = outputs.get(&folded(text)) {
                originals.insert(reference.clone(), std::mem::replace(text, reference.clone()));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, outputs, originals)),
        _ => {}
    }
}

/// Escapes what would be read as a reference; variables of IAM's policies are none.
pub(super) fn escape(text: &str) -> String {
    let escaped = |piece: Piece<'_>| match piece {
        Piece::Text(text) => text.to_owned(),
        Piece::Escape => "$$${".to_owned(),
        Piece::Marker(marker) if is_variable(marker) => format!("${{{marker}}}"),
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
            assert_eq!(escape(text), expected);
        }
    }

    #[test]
    fn a_name_of_dns_is_known_in_every_spelling() {
        let known = BTreeMap::from([("db.local".to_owned(), "${database.endpoint}".to_owned())]);
        let mut originals = BTreeMap::new();
        let mut value = json!(["DB.local.", "other"]);
        replace(&mut value, &known, &mut originals);
        assert_eq!(value, json!(["${database.endpoint}", "other"]));
        assert_eq!(originals["${database.endpoint}"], "DB.local.");
    }
}
