//! The rules of a bucket's lifecycle, compared by their ids and by what they do.
//!
//! In: two lists of `LifecycleRule`. Out: a judgement whose two sides hold, by id, the rules that
//! differ and nothing else; `null` stands for a rule that is not there.
//!
//! Source: the API reference of `LifecycleRule`, and how S3 answers what was put: a filter of nothing,
//! an empty prefix and the prefix of the first API are the same, `And` around one condition is that
//! condition, a date has a time, the order of rules and transitions is S3's own. A size of 0 is not the
//! same as none: it overrides the size under which nothing is moved by default. Only among several
//! other conditions does S3 answer a 0 that nobody put.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::judge::Judgement;

/// How many of the rules that differ are told.
const MOST_TOLD: usize = 3;

type Rules = BTreeMap<String, Value>;

/// Judges the rules that AWS has.
pub(super) fn judge(want: &Value, have: Option<&Value>) -> Judgement {
    let (want, have) = match (rules(Some(want)), rules(have)) {
        (Ok(want), Ok(have)) => (want, have),
        (Err(reason), _) | (_, Err(reason)) => {
            return Judgement::Unclear { code: "UnreadableAnswer", reason };
        }
    };
    let ids: Vec<&String> = want
        .keys()
        .chain(have.keys().filter(|id| !want.contains_key(*id)))
        .filter(|id| want.get(*id) != have.get(*id))
        .collect();
    if ids.is_empty() {
        return Judgement::Same;
    }
    let side = |rules: &Rules| -> Value {
        let of = |id: &&String| ((*id).clone(), rules.get(*id).cloned().unwrap_or_default());
        Value::Object(ids.iter().map(of).collect())
    };
    Judgement::Differs { from: Some(side(&have)), to: side(&want), why: why(&ids, &want, &have) }
}

fn why(ids: &[&String], want: &Rules, have: &Rules) -> String {
    let told = |id: &&String| match (want.contains_key(*id), have.contains_key(*id)) {
        (true, true) => format!("{id} differs"),
        (true, false) => format!("only Git has {id}"),
        (false, _) => format!("only AWS has {id}"),
    };
    let first: Vec<String> = ids.iter().take(MOST_TOLD).map(told).collect();
    let more = if ids.len() > MOST_TOLD { " and more" } else { "" };
    format!("{}{more}", first.join(", "))
}

/// Sorts rules by id, each in one spelling.
fn rules(list: Option<&Value>) -> Result<Rules, String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items
        .map(|item| {
            let rule = item.as_object().ok_or("a rule of the lifecycle is no object")?;
            let id = rule.get("ID").and_then(Value::as_str).unwrap_or_default().to_owned();
            Ok((id, spelled(rule)?))
        })
        .collect()
}

/// Writes a rule in one spelling; what is not known of it stays as it is.
fn spelled(rule: &Map<String, Value>) -> Result<Value, String> {
    let mut found = Map::new();
    filter(rule, &mut found)?;
    for (member, value) in rule {
        let value = match member.as_str() {
            "ID" | "Filter" | "Prefix" => continue,
            "Transitions" => sorted(value, &["Days", "Date", "StorageClass"])?,
            "NoncurrentVersionTransitions" => sorted(value, &["NoncurrentDays", "StorageClass"])?,
            _ => plain(value),
        };
        let is_empty = |value: &Value| {
            value.is_null()
                || value.as_array().is_some_and(Vec::is_empty)
                || value.as_object().is_some_and(Map::is_empty)
        };
        if !is_empty(&value) {
            found.insert(member.clone(), value);
        }
    }
    Ok(found.into())
}

/// Takes the conditions on objects from wherever they stand.
fn filter(rule: &Map<String, Value>, into: &mut Map<String, Value>) -> Result<(), String> {
    let unreadable = || "the filter of a rule of the lifecycle is no structure".to_owned();
    let mut conditions = Map::new();
    conditions.extend(rule.get("Prefix").map(|it| ("Prefix".to_owned(), it.clone())));
    match rule.get("Filter") {
        None | Some(Value::Null) => {}
        Some(Value::Object(filter)) => conditions.extend(filter.clone()),
        // An element with nothing in it is read as an empty text.
        Some(Value::String(text)) if text.is_empty() => {}
        Some(_) => return Err(unreadable()),
    }
    let mut is_and = false;
    if let Some(all) = conditions.remove("And") {
        is_and = true;
        let Value::Object(all) = all else { return Err(unreadable()) };
        conditions.extend(all);
    }
    let one = conditions.remove("Tag");
    let several = conditions.remove("Tags").and_then(|tags| tags.as_array().cloned());
    let tags: BTreeMap<String, Value> = several
        .unwrap_or_default()
        .into_iter()
        .chain(one)
        .filter_map(|tag| {
            let key = tag.get("Key")?.as_str()?.to_owned();
            Some((key, tag.get("Value").cloned().unwrap_or_default()))
        })
        .collect();
    let is_said = |value: &Value| !value.is_null() && value.as_str() != Some("");
    conditions.retain(|_, value| is_said(value));
    let zero = "ObjectSizeGreaterThan";
    let others = conditions.keys().filter(|name| *name != zero).count() + tags.len();
    if is_and && others > 1 && conditions.get(zero) == Some(&json!(0)) {
        conditions.remove(zero);
    }
    if !tags.is_empty() {
        into.insert("Tags".to_owned(), json!(tags));
    }
    into.extend(conditions);
    Ok(())
}

/// Writes what happens to objects in one spelling: days without a time, nothing for what is off.
fn plain(value: &Value) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let kept = members.iter().filter(|(name, value)| {
        let is_off = match name.as_str() {
            "ExpiredObjectDeleteMarker" => **value == Value::Bool(false),
            "NewerNoncurrentVersions" => **value == json!(0),
            _ => false,
        };
        !is_off && !value.is_null()
    });
    let day = |text: &str| text.get(..10).unwrap_or(text).to_owned();
    let spelled = kept.map(|(name, value)| match (name.as_str(), value.as_str()) {
        ("Date", Some(text)) => (name.clone(), day(text).into()),
        _ => (name.clone(), value.clone()),
    });
    Value::Object(spelled.collect())
}

/// Puts transitions in one order; one that names no time happens at once.
fn sorted(list: &Value, by: &[&str]) -> Result<Value, String> {
    let items = list.as_array().ok_or("the transitions of a rule are no list")?;
    let mut items: Vec<Value> = items.iter().map(plain).collect();
    for item in items.iter_mut().filter_map(Value::as_object_mut) {
        if by.contains(&"Days") && !item.contains_key("Days") && !item.contains_key("Date") {
            item.insert("Days".to_owned(), 0.into());
        }
    }
    items.sort_by_key(|item| {
        let number = item.get(by[0]).and_then(Value::as_u64).unwrap_or_default();
        let texts: Vec<String> =
            by.iter().filter_map(|name| item.get(*name)?.as_str().map(str::to_owned)).collect();
        (number, texts)
    });
    Ok(items.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(want: Value, have: Value) -> bool {
        judge(&json!([want]), Some(&json!([have]))) == Judgement::Same
    }

    #[test]
    fn a_rule_is_one_in_every_spelling_of_its_filter() {
        let of = |filter: Value| {
            let mut rule = json!({"ID": "a", "Status": "Enabled", "Expiration": {"Days": 3}});
            rule.as_object_mut().unwrap().extend(filter.as_object().unwrap().clone());
            rule
        };
        let everything = [
            json!({}),
            json!({"Filter": {}}),
            json!({"Filter": ""}),
            json!({"Filter": {"Prefix": ""}}),
            json!({"Prefix": ""}),
        ];
        for filter in &everything {
            assert!(same(of(json!({})), of(filter.clone())), "{filter}");
        }
        let prefix = json!({"Filter": {"Prefix": "tmp/"}});
        for filter in [json!({"Prefix": "tmp/"}), json!({"Filter": {"And": {"Prefix": "tmp/"}}})] {
            assert!(same(of(prefix.clone()), of(filter.clone())), "{filter}");
        }
        let (one, two) = (json!({"Key": "a", "Value": "1"}), json!({"Key": "b", "Value": "2"}));
        let and = |tags: Value| of(json!({"Filter": {"And": {"Tags": tags}}}));
        assert!(same(of(json!({"Filter": {"Tag": one}})), and(json!([one]))));
        assert!(same(and(json!([one, two])), and(json!([two, one]))));
        assert!(!same(and(json!([one])), and(json!([one, two]))));
        assert!(!same(of(prefix), of(json!({}))));
        let zero = of(json!({"Filter": {"ObjectSizeGreaterThan": 0}}));
        assert!(!same(zero, of(json!({}))), "a size of 0 is one");
        let two = |size: Value| {
            of(json!({"Filter": {"And": {"Prefix": "a/", "Tags": [two],
            "ObjectSizeGreaterThan": size}}}))
        };
        assert!(same(two(json!(0)), two(json!(null))), "S3 adds it by itself");
        assert!(!same(two(json!(1)), two(json!(null))));
        let with_prefix =
            of(json!({"Filter": {"And": {"Prefix": "a/", "ObjectSizeGreaterThan": 0}}}));
        assert!(!same(with_prefix, of(json!({"Filter": {"Prefix": "a/"}}))));
    }

    #[test]
    fn transitions_have_no_order_and_dates_no_time() {
        let rule = |more: Value| {
            let mut rule = json!({"ID": "a", "Status": "Enabled"});
            rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            rule
        };
        let [ia, glacier] = [
            json!({"Days": 30, "StorageClass": "STANDARD_IA"}),
            json!({"Days": 90, "StorageClass": "GLACIER"}),
        ];
        let transitions = |list: Value| rule(json!({"Transitions": list}));
        assert!(same(transitions(json!([ia, glacier])), transitions(json!([glacier, ia]))));
        assert!(!same(transitions(json!([ia])), transitions(json!([glacier, ia]))));
        let at_once = json!([{"StorageClass": "INTELLIGENT_TIERING"}]);
        let zero = json!([{"Days": 0, "StorageClass": "INTELLIGENT_TIERING"}]);
        assert!(same(transitions(at_once), transitions(zero)));
        let on = |date: &str| rule(json!({"Expiration": {"Date": date}}));
        assert!(same(on("2027-01-01"), on("2027-01-01T00:00:00+00:00")));
        assert!(!same(on("2027-01-01"), on("2027-01-02T00:00:00+00:00")));
        let marked = rule(json!({"Expiration": {"Days": 3, "ExpiredObjectDeleteMarker": false}}));
        assert!(same(rule(json!({"Expiration": {"Days": 3}})), marked));
    }

    #[test]
    fn what_differs_is_told_by_id_and_nothing_else() {
        let rule = |id: &str, days: u32| json!({"ID": id, "Status": "Enabled", "Expiration": {"Days": days}});
        let want = json!([rule("a", 1), rule("b", 2), rule("c", 3)]);
        let have = json!([rule("d", 4), rule("b", 9), rule("a", 1)]);
        let Judgement::Differs { from, to, why } = judge(&want, Some(&have)) else { panic!() };
        assert_eq!(why, "b differs, only Git has c, only AWS has d");
        let days = |days: u32| json!({"Status": "Enabled", "Expiration": {"Days": days}});
        assert_eq!(from, Some(json!({"b": days(9), "c": null, "d": days(4)})));
        assert_eq!(to, json!({"b": days(2), "c": days(3), "d": null}));
        assert_eq!(judge(&json!([]), None), Judgement::Same);
        assert!(matches!(judge(&json!([]), Some(&json!([7]))), Judgement::Unclear { .. }));
    }
}
