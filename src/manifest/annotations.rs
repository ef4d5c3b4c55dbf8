//! The annotations that mean something to the agent.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::{words, yaml};
use crate::model::Finding;
use crate::model::problem::pointer_part;

/// The prefix of the annotations that are ours.
pub const PREFIX: &str = "platform.kby.io/";

/// Who owns the object, in free text: `platform.kby.io/owner`.
pub const OWNER: &str = "platform.kby.io/owner";
/// `"true"` stops every write for the object: `platform.kby.io/suspend`.
pub const SUSPEND: &str = "platform.kby.io/suspend";
/// Until when drift is reported and not reverted: `platform.kby.io/snooze-until`.
pub const SNOOZE_UNTIL: &str = "platform.kby.io/snooze-until";
/// `"true"` lets the object take over existing resources: `platform.kby.io/adopt`.
pub const ADOPT: &str = "platform.kby.io/adopt";

/// Each annotation with what it says.
pub(super) const KNOWN: [(&str, &str); 4] = [
    (OWNER, "Who owns the object: a team, an address. Shown in reports. Default: nobody."),
    (
        SUSPEND,
        "\"true\": nothing is written for this object; it is still observed. Default \"false\".",
    ),
    (
        SNOOZE_UNTIL,
        "Until this time drift is reported and not reverted: an RFC 3339 time such as \
         2026-12-01T08:00:00Z, or a date, which means its start in UTC. Default: no snooze.",
    ),
    (
        ADOPT,
        "\"true\": resources that exist under the object's names without Levelset's ownership tag are \
         taken over. Default \"false\": they are refused.",
    ),
];

/// Finds the annotations that hold the agent back: whoever lifts them has to know where they stand.
///
/// Most manifests have none, and their text is not looked at.
pub(super) fn holds(
    annotations: &BTreeMap<String, String>,
    text: &str,
) -> Vec<(&'static str, usize)> {
    let held = [SUSPEND, SNOOZE_UNTIL].into_iter().filter(|key| annotations.contains_key(*key));
    held.filter_map(|key| Some((key, yaml::tree(text).ok()?.locate(&pointer(key)).start))).collect()
}

fn pointer(key: &str) -> String {
    format!("/metadata/annotations/{}", pointer_part(key))
}

/// Checks the annotations of an object; those of other tools are left alone.
pub(super) fn check(annotations: &BTreeMap<String, String>) -> Vec<Finding> {
    let ours = annotations.iter().filter(|(key, _)| key.starts_with(PREFIX));
    ours.filter_map(|(key, value)| check_one(key, value)).collect()
}

fn check_one(key: &str, value: &str) -> Option<Finding> {
    let pointer = pointer(key);
    let wrong = |message: String| Finding::error(&pointer, "InvalidAnnotation", message);
    match key {
        OWNER => None,
        SUSPEND | ADOPT if matches!(value, "true" | "false") => None,
        SUSPEND | ADOPT => {
            Some(wrong(format!("{key} is \"{value}\", and has to be \"true\" or \"false\"")))
        }
        SNOOZE_UNTIL if moment(value).is_some() => None,
        SNOOZE_UNTIL => Some(
            wrong(format!("{key} is \"{value}\", which is no RFC 3339 time"))
                .hint("for example \"2026-12-01T08:00:00Z\""),
        ),
        _ => {
            let names: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
            let message = format!("the annotation {key} means nothing to Levelset");
            let finding = Finding::notice(&pointer, "UnknownAnnotation", message);
            let hint = words::nearest(key, &names).map(|name| format!("did you mean {name}?"));
            Some(finding.hint(hint.unwrap_or_else(|| format!("known are {}", names.join(", ")))))
        }
    }
}

/// Reads a time, or a date as its start in UTC.
pub fn moment(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time);
    }
    let date: Date = text.parse().ok()?;
    TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(key: &str, value: &str) -> Vec<&'static str> {
        let annotations = BTreeMap::from([(key.to_owned(), value.to_owned())]);
        check(&annotations).into_iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn only_values_that_mean_something_are_taken() {
        for (key, value, expected) in [
            (OWNER, "anyone at all", None),
            (SUSPEND, "true", None),
            (SUSPEND, "True", Some("InvalidAnnotation")),
            (ADOPT, "", Some("InvalidAnnotation")),
            (SNOOZE_UNTIL, "2026-12-01T08:00:00Z", None),
            (SNOOZE_UNTIL, "2026-12-01T08:00:00+01:00", None),
            (SNOOZE_UNTIL, "2026-12-01", None),
            (SNOOZE_UNTIL, "2026-13-01", Some("InvalidAnnotation")),
            (SNOOZE_UNTIL, "next week", Some("InvalidAnnotation")),
            ("platform.kby.io/other", "x", Some("UnknownAnnotation")),
            ("example.com/other", "x", None),
        ] {
            assert_eq!(codes(key, value), Vec::from_iter(expected), "{key}: {value}");
        }
    }

    #[test]
    fn a_date_is_its_start_in_utc() {
        assert_eq!(moment("2026-12-01"), moment("2026-12-01T00:00:00Z"));
        assert!(moment("2026-12-01").is_some());
    }
}
