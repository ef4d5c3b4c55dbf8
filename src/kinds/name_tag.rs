//! What VPCs and subnets have in common: AWS names them by ids that it gives itself, and people by a
//! tag.
//!
//! In: items of a list. Out: the names under which each goes, and which of them stand for several.
//!
//! `Name` is a tag like any other: whoever changes it in the console makes a resource disappear for
//! those who look for it by that alone, and a second one would be made. So what Levelset made or took
//! over carries its name in a tag of its own too, and goes by both.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::model::desired::OWNER_TAG;
use crate::model::{Call, Observed, Readiness};

/// The key of the tag that holds the name under which Levelset knows a resource.
pub(super) const OWN_NAME: &str = "levelset:name";

/// The key of the tag that people know a resource by.
pub(super) const NAME: &str = "Name";

/// The member that lists the ids of several resources of one name.
pub(super) const AMBIGUOUS: &str = "Ambiguous";

/// Returns a tag of an item; an empty one is none.
pub(super) fn tag<'a>(item: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    let tags = item.get("Tags")?.as_array()?;
    let tag = tags.iter().find(|tag| tag.get("Key").and_then(Value::as_str) == Some(key))?;
    tag.get("Value")?.as_str().filter(|value| !value.is_empty())
}

/// Returns the name that Levelset gave an item; only what carries an ownership tag has one.
pub(super) fn own_name(item: &Map<String, Value>) -> Option<&str> {
    tag(item, OWNER_TAG)?;
    tag(item, OWN_NAME)
}

/// Returns a text member of an item.
pub(super) fn text<'a>(item: &'a Map<String, Value>, member: &str) -> Option<&'a str> {
    item.get(member)?.as_str()
}

/// Sorts items by the names that each has; several of one name become the first one with
/// [`AMBIGUOUS`], without the `joined` members, of which none can be meant.
pub(super) fn by_name(
    items: impl Iterator<Item = (BTreeSet<String>, Map<String, Value>)>,
    id: &str,
    joined: &[&str],
) -> Vec<(String, Map<String, Value>)> {
    let mut found: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for (names, item) in items {
        for name in names {
            match found.get_mut(&name) {
                Some(first) => {
                    note_ambiguity(first, text(&item, id).unwrap_or_default(), id, joined)
                }
                None => drop(found.insert(name, item.clone())),
            }
        }
    }
    found.into_iter().collect()
}

/// Makes it visible that a name stands for several resources.
fn note_ambiguity(first: &mut Map<String, Value>, other: &str, id: &str, joined: &[&str]) {
    let own = first.get(id).cloned().unwrap_or_default();
    joined.iter().for_each(|member| drop(first.remove(*member)));
    let ids = first.entry(AMBIGUOUS).or_insert_with(|| Value::Array(vec![own]));
    if let Value::Array(ids) = ids {
        ids.push(other.into());
        ids.sort_by(|one, other| one.as_str().cmp(&other.as_str()));
    }
}

/// Says that a name stands for several resources, if it does.
pub(super) fn ambiguous(actual: &Observed, what: &str) -> Option<Readiness> {
    let ids = actual.member(AMBIGUOUS)?.as_array()?;
    let ids: Vec<&str> = ids.iter().filter_map(Value::as_str).collect();
    let reason = format!(
        "{} {what} have this name ({}); give all but one another Name tag",
        ids.len(),
        ids.join(", ")
    );
    Some(Readiness::Broken { code: "AmbiguousName".to_owned(), reason })
}

/// Adds to a search what finds the resource of a name, whatever became of its `Name` tag.
pub(super) fn search(call: Call, name: &str) -> Call {
    let mut literal = String::with_capacity(name.len());
    for sign in name.chars() {
        // A filter takes wildcards.
        if matches!(sign, '*' | '?' | '\\') {
            literal.push('\\');
        }
        literal.push(sign);
    }
    call.with("Filters", json!([{"Name": format!("tag:{OWN_NAME}"), "Values": [literal]}]))
}

/// Returns the tags that are declared of a resource: its name for people and for Levelset, and others.
pub(super) fn tags(
    shown: &str,
    own: &str,
    others: Option<&BTreeMap<String, String>>,
) -> Map<String, Value> {
    let names = [(NAME, shown), (OWN_NAME, own)].map(|(key, name)| (key.to_owned(), name.into()));
    let others =
        others.into_iter().flatten().map(|(key, value)| (key.clone(), value.as_str().into()));
    others.chain(names).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(id: &str, tags: Value) -> Map<String, Value> {
        let Value::Object(item) = json!({"Id": id, "Tags": tags, "Joined": [1]}) else {
            unreachable!()
        };
        item
    }

    #[test]
    fn only_what_somebody_owns_has_a_name_of_levelset() {
        let name = json!({"Key": OWN_NAME, "Value": "a"});
        assert_eq!(own_name(&item("1", json!([name]))), None);
        let owner = json!({"Key": OWNER_TAG, "Value": "retained:level/Network/a"});
        assert_eq!(own_name(&item("1", json!([name, owner]))), Some("a"));
        assert_eq!(tag(&item("1", json!([{"Key": "Name", "Value": ""}])), NAME), None);
    }

    #[test]
    fn what_several_have_in_common_names_none_of_them() {
        let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect();
        let items = [
            (names(&["a", "b"]), item("2", json!([]))),
            (names(&["b"]), item("1", json!([]))),
            (names(&["c"]), item("3", json!([]))),
        ];
        let found: BTreeMap<_, _> =
            by_name(items.into_iter(), "Id", &["Joined"]).into_iter().collect();
        assert_eq!(found["a"]["Joined"], json!([1]));
        assert_eq!(found["b"][AMBIGUOUS], json!(["1", "2"]));
        assert!(!found["b"].contains_key("Joined"));
        assert!(!found["c"].contains_key(AMBIGUOUS));
    }

    #[test]
    fn a_search_takes_every_sign_of_a_name_as_it_is() {
        let call = search(Call::new("ec2", "DescribeVpcs"), "a*b?c\\");
        assert_eq!(call.params["Filters"][0]["Values"], json!(["a\\*b\\?c\\\\"]));
    }
}
