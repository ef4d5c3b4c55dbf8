//! A rule of the lifecycle as S3 answers it, written as a manifest does.
//!
//! In: a `LifecycleRule`. Out: its id, and what is not the default of it; `None` where it holds what
//! a manifest has no word for.

use serde_json::{Map, Value};

use super::lifecycle::LifecycleRule;

/// Names of members in S3 and in a manifest.
type Names = [(&'static str, &'static str)];

const CONDITIONS: &Names = &[
    ("Prefix", "prefix"),
    ("ObjectSizeGreaterThan", "largerThanBytes"),
    ("ObjectSizeLessThan", "smallerThanBytes"),
];

const EXPIRATION: &Names = &[
    ("Days", "expireAfterDays"),
    ("Date", "expireOn"),
    ("ExpiredObjectDeleteMarker", "expireDeleteMarkers"),
];

const TRANSITION: &Names =
    &[("Days", "afterDays"), ("Date", "on"), ("StorageClass", "storageClass")];

const NONCURRENT: &Names =
    &[("NoncurrentDays", "expireAfterDays"), ("NewerNoncurrentVersions", "keepNewest")];

const NONCURRENT_TRANSITION: &Names = &[
    ("NoncurrentDays", "afterDays"),
    ("NewerNoncurrentVersions", "keepNewest"),
    ("StorageClass", "storageClass"),
];

const UPLOADS: &Names = &[("DaysAfterInitiation", "abortUploadsAfterDays")];

/// Reads one rule.
pub(super) fn read(rule: &Value) -> Option<(String, Value)> {
    let mut rule = rule.as_object()?.clone();
    let id = rule.remove("ID")?.as_str().filter(|id| !id.is_empty())?.to_owned();
    let mut read = conditions(&mut rule)?;
    read.insert("enabled".to_owned(), (rule.remove("Status")? == "Enabled").into());
    let mut noncurrent = Map::new();
    for (member, value) in rule {
        match member.as_str() {
            "Expiration" => read.extend(renamed(&value, EXPIRATION)?),
            "AbortIncompleteMultipartUpload" => read.extend(renamed(&value, UPLOADS)?),
            "NoncurrentVersionExpiration" => noncurrent.extend(renamed(&value, NONCURRENT)?),
            "Transitions" => drop(read.insert("transitions".to_owned(), list(&value, TRANSITION)?)),
            "NoncurrentVersionTransitions" => {
                let transitions = list(&value, NONCURRENT_TRANSITION)?;
                noncurrent.insert("transitions".to_owned(), transitions);
            }
            _ if value.is_null() => {}
            _ => return None,
        }
    }
    if !noncurrent.is_empty() {
        read.insert("noncurrent".to_owned(), noncurrent.into());
    }
    // Only what is not the default is written again.
    let rule: LifecycleRule = serde_json::from_value(read.into()).ok()?;
    Some((id, serde_json::to_value(rule).ok()?))
}

/// Takes the conditions on objects from wherever they stand in a rule.
fn conditions(rule: &mut Map<String, Value>) -> Option<Map<String, Value>> {
    let mut found = Map::new();
    found.extend(rule.remove("Prefix").map(|prefix| ("Prefix".to_owned(), prefix)));
    // An element with nothing in it is read as an empty text.
    if let Some(Value::Object(filter)) = rule.remove("Filter") {
        found.extend(filter);
    }
    if let Some(Value::Object(all)) = found.remove("And") {
        found.extend(all);
    }
    let several = found.remove("Tags").and_then(|tags| tags.as_array().cloned());
    let tags = several.unwrap_or_default().into_iter().chain(found.remove("Tag"));
    let pair = |tag: Value| {
        Some((tag.get("Key")?.as_str()?.to_owned(), tag.get("Value")?.clone()))
    };
    let tags: Map<String, Value> = tags.map(pair).collect::<Option<_>>()?;
    found.retain(|_, value| value.as_str() != Some(""));
    let mut read = renamed(&found.into(), CONDITIONS)?;
    read.insert("tags".to_owned(), tags.into());
    Some(read)
}

fn list(items: &Value, names: &Names) -> Option<Value> {
    let items = items.as_array()?.iter();
    items.map(|item| renamed(item, names).map(Value::Object)).collect()
}

/// Writes members under other names; one without a name there is none that a manifest can say.
fn renamed(value: &Value, names: &Names) -> Option<Map<String, Value>> {
    // What S3 answers for what is not said.
    let is_off = |name: &str, value: &Value| match name {
        "NewerNoncurrentVersions" => *value == 0,
        "ExpiredObjectDeleteMarker" => *value == false,
        _ => value.is_null(),
    };
    let said = value.as_object()?.iter().filter(|(name, value)| !is_off(name, value));
    said.map(|(name, value)| {
        let (_, field) = names.iter().find(|(known, _)| known == name)?;
        let day = value.as_str().filter(|_| name == "Date").and_then(|text| text.get(..10));
        Some(((*field).to_owned(), day.map_or_else(|| value.clone(), Value::from)))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_rule_is_read_as_it_is_written_in_a_manifest() {
        let rule = json!({"ID": "old", "Status": "Enabled", "Prefix": "",
            "Filter": {"And": {"Prefix": "logs/", "Tags": [{"Key": "keep", "Value": "no"}]}},
            "Expiration": {"Date": "2027-06-30T00:00:00+00:00", "ExpiredObjectDeleteMarker": false},
            "Transitions": [{"Days": 30, "StorageClass": "STANDARD_IA"}],
            "NoncurrentVersionExpiration": {"NoncurrentDays": 9, "NewerNoncurrentVersions": 0},
            "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7}});
        let expected = json!({"prefix": "logs/", "tags": {"keep": "no"}, "expireOn": "2027-06-30",
            "transitions": [{"afterDays": 30, "storageClass": "STANDARD_IA"}],
            "noncurrent": {"expireAfterDays": 9}, "abortUploadsAfterDays": 7});
        assert_eq!(read(&rule), Some(("old".to_owned(), expected)));
        let off = json!({"ID": "a", "Status": "Disabled", "Filter": "", "Expiration": {"Days": 1}});
        let expected = json!({"enabled": false, "expireAfterDays": 1});
        assert_eq!(read(&off), Some(("a".to_owned(), expected)));
    }

    #[test]
    fn what_a_manifest_has_no_word_for_is_not_read() {
        for rule in [
            json!({"Status": "Enabled", "Expiration": {"Days": 1}}),
            json!({"ID": "a", "Status": "Enabled", "Other": {}}),
            json!({"ID": "a", "Status": "Enabled", "Expiration": {"Weeks": 1}}),
            json!({"ID": "a", "Status": "Enabled", "Filter": {"Other": "x"}}),
            json!({"ID": "a", "Status": "Enabled",
                "Transitions": [{"Days": 1, "StorageClass": "MOON"}]}),
        ] {
            assert_eq!(read(&rule), None, "{rule}");
        }
    }
}
