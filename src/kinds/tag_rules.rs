//! What nobody may declare as a tag, whatever the resource.
//!
//! In: declared tags and where they stand. Out: what is wrong with them. Pure.

use std::collections::BTreeMap;

use super::policy_document::Place;
use crate::model::Finding;
use crate::model::problem::pointer_part;

/// States what differs from service to service.
pub(super) struct Tagged {
    /// What carries the tags, with its article.
    pub(super) what: &'static str,
    /// How many it may have beside those of Levelset and of AWS.
    pub(super) most: usize,
    /// Prefixes of keys that the service keeps for itself, beside those of AWS and Levelset.
    pub(super) reserved: &'static [&'static str],
}

/// Tells what is wrong with tags.
///
/// Source: the AWS General Reference, "Tagging AWS resources", and the limits of each service.
pub(super) fn check(
    tagged: &Tagged,
    tags: Option<&BTreeMap<String, String>>,
    place: &Place,
    found: &mut Vec<Finding>,
) {
    for (key, value) in tags.into_iter().flatten() {
        let place = place.under(&pointer_part(key));
        let folded = key.to_lowercase();
        let mut reserved = ["aws:", "levelset:"].iter().chain(tagged.reserved);
        if reserved.any(|prefix| folded.starts_with(prefix)) {
            found.push(
                place.error("ReservedTagPrefix", format!("tag keys like {key} are reserved")),
            );
        }
        if key.is_empty() || key.chars().count() > 128 || value.chars().count() > 256 {
            let message = "a tag has a key of 1 to 128 characters and a value of at most 256";
            found.push(place.error("InvalidTag", message));
        }
    }
    let Tagged { what, most, .. } = tagged;
    if tags.is_some_and(|tags| tags.len() > *most) {
        found.push(place.error("TooManyTags", format!("{what} has at most {most} tags")));
    }
}
