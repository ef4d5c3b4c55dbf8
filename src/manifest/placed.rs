//! From what is found between objects to a problem in the file of one of them.
//!
//! In: the bytes of a file, the key of an object in it, a [`Finding`]. Out: a [`Problem`] with its line
//! and column; `None` when the file does not hold the object any more.

use super::mistake::{Mistake, Source};
use super::parse::key_of;
use super::yaml;
use crate::model::{Finding, Key, Problem};

/// Makes a problem that stands at the name of an object.
pub(super) fn at_name(
    path: &str,
    bytes: &[u8],
    key: &Key,
    code: &'static str,
    message: String,
    hint: String,
) -> Option<Problem> {
    let finding = Finding::error("/metadata/name", code, message).hint(hint);
    at_finding(path, bytes, key, finding)
}

/// Makes a problem of a finding whose pointer starts at the manifest of an object.
pub(super) fn at_finding(path: &str, bytes: &[u8], key: &Key, finding: Finding) -> Option<Problem> {
    let text = std::str::from_utf8(bytes).ok()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mistake = yaml::documents(text).into_iter().find_map(|document| {
        let root = yaml::tree(document.text).ok()?;
        let is_it = key_of(&root).as_ref() == Some(key);
        is_it
            .then(|| Mistake::found(finding.clone(), &root, document.text).shifted(document.offset))
    })?;
    Some(Source::new(path.into(), text).problem(mistake))
}
