//! One value against another: on one line, or line by line.
//!
//! In: two JSON values. Out: text. A text that is itself a JSON document (a policy) is compared by
//! its members, laid out one a line.

use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::report::style::{Ink, Style};

/// Unchanged lines that are shown around a changed one.
const CONTEXT: usize = 3;

/// Renders a value on one line; nothing is told apart from the text "null".
pub(in crate::report) fn inline(value: &Value) -> String {
    match value {
        Value::Null => "(none)".to_owned(),
        other => other.to_string(),
    }
}

/// Tells whether two values are better read line by line.
pub(in crate::report) fn is_long(from: &Value, to: &Value) -> bool {
    let long = |value: &Value| is_structure(value) || lines_of(value).contains('\n');
    long(from) || long(to)
}

/// Renders the lines that differ with some around them, each after `indent`.
pub(in crate::report) fn by_line(from: &Value, to: &Value, indent: &str, style: Style) -> String {
    let (from, to) = (lines_of(from), lines_of(to));
    let diff = TextDiff::from_lines(&from, &to);
    let mut text = String::new();
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            text.push_str(&format!("{indent}  {}\n", style.paint(Ink::Faint, "...")));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let (sign, ink) = match change.tag() {
                ChangeTag::Delete => ("-", Ink::Removed),
                ChangeTag::Insert => ("+", Ink::Added),
                ChangeTag::Equal => (" ", Ink::Faint),
            };
            let line = format!("{sign} {}", change.value().trim_end_matches('\n'));
            text.push_str(&format!("{indent}{}\n", style.paint(ink, line.trim_end())));
        }
    }
    text
}

/// Lays a value out over lines, every line ended, nothing for no value.
fn lines_of(value: &Value) -> String {
    let text = match value {
        Value::Null => return String::new(),
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(document) if is_structure(&document) => format!("{document:#}"),
            _ => text.clone(),
        },
        other => format!("{other:#}"),
    };
    if text.contains('\n') || is_structure(value) { format!("{}\n", text.trim_end()) } else { text }
}

fn is_structure(value: &Value) -> bool {
    match value {
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_missing_value_is_not_the_text_null() {
        assert_eq!(inline(&Value::Null), "(none)");
        assert_eq!(inline(&json!("null")), "\"null\"");
        assert_eq!(inline(&json!([])), "[]");
    }

    #[test]
    fn scalars_are_short_and_documents_are_long() {
        assert!(!is_long(&json!("15.4"), &json!(3)));
        assert!(!is_long(&json!([]), &Value::Null));
        assert!(is_long(&Value::Null, &json!(["a"])));
        assert!(is_long(&json!("one\ntwo"), &Value::Null));
        assert!(is_long(&json!("{\"Version\":\"2012-10-17\"}"), &Value::Null));
    }

    #[test]
    fn a_document_is_compared_by_its_members_whatever_its_layout() {
        let from = json!(r#"{"Effect":"Allow","Action":["a","b"],"Resource":"*"}"#);
        let to = json!(r#"{ "Resource": "*", "Action": ["a", "c"], "Effect": "Allow" }"#);
        let expected = "  {\n    \"Action\": [\n      \"a\",\n-     \"b\"\n+     \"c\"\n    ],\n    \
                        \"Effect\": \"Allow\",\n    \"Resource\": \"*\"\n";
        assert_eq!(by_line(&from, &to, "", Style::Plain), expected);
    }

    #[test]
    fn far_apart_changes_leave_out_what_is_between() {
        let lines = |first: &str, last: &str| {
            let middle: String = (0..20).map(|n| format!("line {n}\n")).collect();
            json!(format!("{first}\n{middle}{last}\n"))
        };
        let text = by_line(&lines("a", "y"), &lines("b", "z"), "  ", Style::Plain);
        let expected = "  - a\n  + b\n    line 0\n    line 1\n    line 2\n    ...\n    line 17\n    \
                        line 18\n    line 19\n  - y\n  + z\n";
        assert_eq!(text, expected);
    }
}
