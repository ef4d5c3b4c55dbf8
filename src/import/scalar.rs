//! One value of YAML on one line, read as the same by every reader.
//!
//! A text stands without quotes only where no version of YAML could take it for something else: it
//! begins with a letter, has no sign that means anything, and is none of the words of YAML 1.1 (`yes`,
//! `on`, `~`, …). Everything else stands in double quotes, with the escapes of JSON.

use serde_json::Value;

/// Words that some reader takes for a flag or for nothing.
const WORDS: [&str; 10] = ["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan"];

/// Writes a text.
pub fn text(text: &str) -> String {
    let is_sign = |c: char| "_-./ +@*".contains(c);
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic());
    let is_plain = starts
        && !text.ends_with(' ')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || is_sign(c))
        && !WORDS.contains(&text.to_ascii_lowercase().as_str());
    if is_plain { text.to_owned() } else { quoted(text) }
}

/// Signs that JSON leaves as they are and YAML takes for the end of a line, or not at all.
fn quoted(text: &str) -> String {
    let json = Value::from(text).to_string();
    let is_special =
        |c: char| matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}');
    json.chars()
        .map(|c| if is_special(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() })
        .collect()
}

/// Writes a value on one line.
pub fn flow(value: &Value) -> String {
    match value {
        Value::String(it) => text(it),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::Object(members) => {
            let pairs = ordered(members).into_iter();
            let pairs = pairs.map(|(key, value)| format!("{}: {}", text(key), flow(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        plain => plain.to_string(),
    }
}

/// The members that a person reads first, in rules of traffic and in policy documents.
const FIRST: [&str; 16] = [
    "protocol",
    "port",
    "ports",
    "icmpType",
    "icmpCode",
    "cidr",
    "prefixList",
    "self",
    "securityGroup",
    "Version",
    "Id",
    "Statement",
    "Sid",
    "Effect",
    "Principal",
    "Action",
];

/// Lists members in the order in which a person reads them.
pub(super) fn ordered(members: &serde_json::Map<String, Value>) -> Vec<(&String, &Value)> {
    let rank = |key: &str| FIRST.iter().position(|first| *first == key).unwrap_or(FIRST.len());
    let mut pairs: Vec<(&String, &Value)> = members.iter().collect();
    pairs.sort_by_key(|(key, _)| (rank(key), key.as_str()));
    pairs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_some_reader_takes_for_something_else_is_quoted() {
        for it in ["db.r6g.large", "orders-prod", "A record/of *it* +1@x"] {
            assert_eq!(text(it), it);
        }
        for it in [
            "",
            "15",
            "15.10",
            "1e3",
            "0x1f",
            "no",
            "Yes",
            "NULL",
            "~",
            "a: b",
            "a #b",
            "x ",
            " x",
            "12:30:00",
            "2026-01-01",
            "-",
            "[a]",
            "{a}",
            "a,b",
            "&a",
            "*a",
            "!a",
            "%a",
            "@a",
            "`a",
            "'a",
            "a\nb",
            "é",
            "on",
            "sun:05:00-sun:06:00",
            "a\u{2028}b",
        ] {
            assert!(text(it).starts_with('"') && text(it).ends_with('"'), "{it:?}: {}", text(it));
            assert!(!text(it).contains(['\n', '\u{2028}']), "{it:?}");
        }
    }

    proptest! {
        #[test]
        fn every_text_is_read_as_itself(it in "\\PC{0,20}|[a-zA-Z0-9:,\\[\\]{}#&*!|>'\"%@` .\\n\\t-]{0,12}") {
            let line = format!("{{{}: [{}]}}\n", text("key"), text(&it));
            let read: std::collections::BTreeMap<String, Vec<String>> =
                serde_saphyr::from_str(&line).unwrap();
            prop_assert_eq!(&read["key"][0], &it);
        }
    }
}
