//! What the rules of a bucket's lifecycle alone prove wrong.
//!
//! Source: "Lifecycle configuration elements" and "Transitioning objects using Amazon S3 Lifecycle" in
//! the S3 User Guide; the API reference of `LifecycleRule`. The bounds of numbers stand in the schema.

use super::lifecycle::{LifecycleRule, Noncurrent, StorageClass};
use super::spec::Bucket;
use crate::kinds::policy_document::Place;
use crate::model::problem::pointer_part;
use crate::model::Finding;

type Findings = Vec<Finding>;

/// The most rules of a bucket, and the most characters of a rule's id.
const MOST: usize = 1000;
const LONGEST_ID: usize = 255;

/// Storage classes that S3 moves nothing to before these days.
const SOONEST: u32 = 30;

pub(super) fn check(bucket: &Bucket, place: &Place, found: &mut Findings) {
    let Some(rules) = &bucket.lifecycle else { return };
    let place = place.under("lifecycle");
    if rules.len() > MOST {
        let message = format!("a bucket has at most {MOST} rules");
        found.push(place.error("TooManyRules", message));
    }
    for (id, one) in rules {
        let place = place.under(&pointer_part(id));
        if id.is_empty() || id.chars().count() > LONGEST_ID {
            let message = format!("the id of a rule has 1 to {LONGEST_ID} characters");
            found.push(place.error("InvalidRule", message));
        }
        rule(one, &place, found);
    }
}

fn rule(rule: &LifecycleRule, place: &Place, found: &mut Findings) {
    let is_idle = rule.expire_after_days.is_none()
        && rule.expire_on.is_none()
        && !rule.expire_delete_markers
        && rule.transitions.is_empty()
        && rule.noncurrent.is_none()
        && rule.abort_uploads_after_days.is_none();
    if is_idle {
        let message = "the rule does nothing";
        let hint = "say when objects expire (expireAfterDays), move (transitions), ...";
        found.push(place.error("IdleRule", message).hint(hint));
    }
    conditions(rule, place, found);
    expiration(rule, place, found);
    transitions(rule, place, found);
    if let Some(noncurrent) = &rule.noncurrent {
        versions(noncurrent, &place.under("noncurrent"), found);
    }
}

fn conditions(rule: &LifecycleRule, place: &Place, found: &mut Findings) {
    if let (Some(above), Some(below)) = (rule.larger_than_bytes, rule.smaller_than_bytes)
        && above >= below
    {
        let message = format!("nothing is larger than {above} and smaller than {below} bytes");
        found.push(place.under("smallerThanBytes").error("EmptyCondition", message));
    }
    let has_size = rule.larger_than_bytes.is_some() || rule.smaller_than_bytes.is_some();
    if rule.abort_uploads_after_days.is_some() && (has_size || !rule.tags.is_empty()) {
        let message = "an upload that is not completed has no size and no tags yet";
        let hint = "give it a rule of its own";
        let place = place.under("abortUploadsAfterDays");
        found.push(place.error("ConditionNotTaken", message).hint(hint));
    }
    if rule.expire_delete_markers && !rule.tags.is_empty() {
        let message = "a delete marker has no tags";
        found.push(place.under("expireDeleteMarkers").error("ConditionNotTaken", message));
    }
}

fn expiration(rule: &LifecycleRule, place: &Place, found: &mut Findings) {
    day(rule.expire_on.as_deref(), &place.under("expireOn"), found);
    let (days, on) = (rule.expire_after_days.is_some(), rule.expire_on.is_some());
    if days && on {
        let message = "objects expire after a number of days or from a day on";
        found.push(place.under("expireOn").error("TwoTimes", message).hint("leave one out"));
    }
    if rule.expire_delete_markers && (days || on) {
        let message = "what expires takes its delete marker along";
        let hint = "leave it out, or give it a rule of its own";
        let place = place.under("expireDeleteMarkers");
        found.push(place.error("ConditionNotTaken", message).hint(hint));
    }
}

fn day(text: Option<&str>, place: &Place, found: &mut Findings) {
    let is_day = |text: &str| text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok();
    if text.is_some_and(|text| !is_day(text)) {
        found.push(place.error("InvalidDate", "this is no day").hint("as in 2027-06-30"));
    }
}

fn transitions(rule: &LifecycleRule, place: &Place, found: &mut Findings) {
    let mut classes: Vec<StorageClass> = Vec::new();
    for (at, it) in rule.transitions.iter().enumerate() {
        let place = place.item("transitions", at);
        day(it.on.as_deref(), &place.under("on"), found);
        if it.on.is_some() && it.after_days.is_some() {
            let message = "objects move after a number of days or from a day on";
            found.push(place.under("on").error("TwoTimes", message).hint("leave one out"));
        }
        soon(it.after_days.or(it.on.is_none().then_some(0)), it.storage_class, &place, found);
        if let (Some(days), Some(end)) = (it.after_days, rule.expire_after_days)
            && days >= end
        {
            let message = format!("objects are deleted after {end} days, before they would move");
            found.push(place.under("afterDays").error("TooLate", message));
        }
        again(&mut classes, it.storage_class, &place, found);
    }
    let by_day = rule.transitions.iter().filter(|it| it.on.is_some()).count();
    let is_mixed = by_day > 0 && by_day < rule.transitions.len();
    let expires = rule.expire_on.is_some() || rule.expire_after_days.is_some();
    let other_end = expires && !rule.transitions.is_empty()
        && (by_day > 0) != rule.expire_on.is_some();
    if is_mixed || other_end {
        let message = "a rule counts days, or names them, and not both";
        found.push(place.error("TwoTimes", message).hint("make two rules of it"));
    }
}

fn versions(noncurrent: &Noncurrent, place: &Place, found: &mut Findings) {
    if noncurrent.expire_after_days.is_none() && noncurrent.transitions.is_empty() {
        let message = "nothing happens to the versions that are not current";
        let hint = "say when they expire (expireAfterDays) or move (transitions)";
        found.push(place.error("IdleRule", message).hint(hint));
    }
    let mut classes = Vec::new();
    for (at, it) in noncurrent.transitions.iter().enumerate() {
        let place = place.item("transitions", at);
        soon(Some(it.after_days), it.storage_class, &place, found);
        again(&mut classes, it.storage_class, &place, found);
    }
}

fn soon(days: Option<u32>, class: StorageClass, place: &Place, found: &mut Findings) {
    let waits = matches!(class, StorageClass::StandardIa | StorageClass::OnezoneIa);
    if waits && days.is_some_and(|days| days < SOONEST) {
        let message = format!("S3 moves nothing there before {SOONEST} days");
        found.push(place.under("storageClass").error("TooSoon", message));
    }
}

fn again(before: &mut Vec<StorageClass>, class: StorageClass, place: &Place, found: &mut Findings) {
    if before.contains(&class) {
        let message = "the rule moves objects there already";
        found.push(place.under("storageClass").error("DuplicateTransition", message));
    }
    before.push(class);
}
