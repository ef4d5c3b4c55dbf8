//! The text of a document, and where in it everything stands.

use serde_json::Value;

use super::Document;
use super::scalar::{flow, ordered, text};
use crate::model::ObjectKind;
use crate::model::sheet::{Node, Sheet};

/// A value that is longer, with what stands before it, takes several lines.
const WIDTH: usize = 96;

const API_VERSION: &str = "platform.kby.io/v1alpha1";

/// Is a document as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// Which path begins on which line, counted from 1.
    lines: Vec<(u32, String)>,
}

impl Rendered {
    /// Returns the path of what stands on a line; `None` for what stands around the declaration.
    pub fn path_at(&self, line: u32) -> Option<&str> {
        let before = self.lines.iter().take_while(|(begins, _)| *begins <= line);
        before.last().map(|(_, path)| path.as_str())
    }
}

/// Writes a document.
pub fn render(document: &Document) -> Rendered {
    let mut page = Page { text: String::new(), line: 1, lines: Vec::new() };
    let what: Vec<String> = document.members.iter().map(|member| member.id.to_string()).collect();
    page.comment(
        0,
        &format!("Exists in AWS. Merged, this takes over, unchanged: {}", what.join(", ")),
    );
    page.push(0, &format!("apiVersion: {API_VERSION}"));
    page.push(0, &format!("kind: {}", document.key.kind));
    page.push(0, "metadata:");
    page.push(1, &format!("name: {}", text(&document.key.name)));
    page.push(1, "annotations:");
    if let Some(owner) = &document.owner {
        page.push(2, &format!("platform.kby.io/owner: {}", text(owner)));
    }
    page.comment(2, "Lets it take over what exists. Remove the line once the agent has done so.");
    page.push(2, "platform.kby.io/adopt: \"true\"");
    page.push(0, "spec:");
    page.push(1, &format!("environment: {}", text(&document.environment)));
    match document.key.kind {
        ObjectKind::Workspace => {
            page.push(1, "resources:");
            page.sheet(2, "", &document.sheet);
        }
        ObjectKind::Network => page.sheet(1, "", &document.sheet),
    }
    Rendered { text: page.text, lines: page.lines }
}

struct Page {
    text: String,
    line: u32,
    lines: Vec<(u32, String)>,
}

impl Page {
    fn push(&mut self, depth: usize, line: &str) {
        self.text.push_str(&"  ".repeat(depth));
        self.text.push_str(line);
        self.text.push('\n');
        self.line += 1;
    }

    /// Writes a comment, in lines of a width that a person reads.
    fn comment(&mut self, depth: usize, text: &str) {
        let mut line = String::from("#");
        for word in text.split_whitespace() {
            if line.len() + word.len() + 2 * depth >= WIDTH && line.len() > 1 {
                self.push(depth, &line);
                line = String::from("#");
            }
            line = format!("{line} {word}");
        }
        self.push(depth, &line);
    }

    fn sheet(&mut self, depth: usize, path: &str, sheet: &Sheet) {
        for remark in &sheet.remarks {
            self.comment(depth, remark);
        }
        for entry in &sheet.entries {
            let at =
                if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
            self.lines.push((self.line, at.clone()));
            let key = text(&entry.key);
            match &entry.node {
                Node::Value(value) => self.member(depth, &at, &key, value),
                Node::Sheet(below) if below.entries.is_empty() => {
                    below.remarks.iter().for_each(|remark| self.comment(depth, remark));
                    self.push(depth, &format!("{key}: {{}}"));
                }
                Node::Sheet(below) => {
                    self.push(depth, &format!("{key}:"));
                    self.sheet(depth + 1, &at, below);
                }
            }
        }
    }

    /// Writes a value, on one line if it is short.
    fn member(&mut self, depth: usize, path: &str, key: &str, value: &Value) {
        let line = format!("{key}: {}", flow(value));
        let is_long = 2 * depth + line.len() > WIDTH;
        match value {
            Value::String(text) if is_script(text) => self.script(depth, key, text),
            Value::Array(items) if is_many(value) || (is_long && !items.is_empty()) => {
                self.push(depth, &format!("{key}:"));
                items.iter().for_each(|item| self.item(depth + 1, path, item));
            }
            Value::Object(members) if is_long || is_deep(value) => {
                self.push(depth, &format!("{key}:"));
                // A document is taken or left as a whole, and so is what is deeper.
                let is_parted = self.lines.last().is_some_and(|(_, last)| last == path);
                for (name, member) in ordered(members) {
                    if is_parted && !members.contains_key("Statement") {
                        self.lines.push((self.line, format!("{path}.{name}")));
                    }
                    self.member(depth + 1, "", &text(name), member);
                }
            }
            _ => self.push(depth, &line),
        }
    }

    /// Writes a text as its lines.
    fn script(&mut self, depth: usize, key: &str, text: &str) {
        let sign = if text.ends_with('\n') { "|" } else { "|-" };
        self.push(depth, &format!("{key}: {sign}"));
        for line in text.lines() {
            let depth = if line.is_empty() { 0 } else { depth + 1 };
            self.push(depth, line);
        }
    }

    fn item(&mut self, depth: usize, path: &str, item: &Value) {
        let line = format!("- {}", flow(item));
        match item {
            Value::Object(members) if 2 * depth + line.len() > WIDTH => {
                let sign = self.text.len() + 2 * depth;
                for (name, member) in ordered(members) {
                    self.member(depth + 1, path, &text(name), member);
                }
                self.text.replace_range(sign..sign + 1, "-");
            }
            _ => self.push(depth, &line),
        }
    }
}

/// Rules of traffic and statements stand one a line.
fn is_many(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.len() > 1 && items.iter().any(Value::is_object))
}

/// Tells whether a text of several lines is read as itself where each stands on its own: it begins with a
/// sign that is none of YAML's blanks, ends with one line end or none, and has no others.
fn is_script(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    let is_plain =
        |c: char| c == '\n' || c == '\t' || matches!(c, ' '..='~' | '\u{a1}'..='\u{2027}');
    body.contains('\n')
        && !body.starts_with([' ', '\t', '\n'])
        && !body.ends_with('\n')
        && text.chars().all(is_plain)
        && !text.lines().any(|line| !line.is_empty() && line.trim().is_empty())
}

/// A mapping of mappings that hold something takes several lines.
fn is_deep(value: &Value) -> bool {
    let holds = |member: &Value| match member {
        Value::Object(members) => members.values().any(|it| it.is_object() || it.is_array()),
        _ => false,
    };
    value.as_object().is_some_and(|members| members.values().any(holds))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(text: &str) -> String {
        let mut page = Page { text: String::new(), line: 1, lines: Vec::new() };
        page.member(1, "userData", "userData", &text.into());
        assert_eq!(page.text.lines().count() + 1, usize::try_from(page.line).unwrap());
        page.text
    }

    #[test]
    fn a_script_stands_in_its_lines() {
        let expected = "  userData: |\n    #!/bin/sh\n\n      echo a: b # c\n";
        assert_eq!(written("#!/bin/sh\n\n  echo a: b # c\n"), expected);
        assert_eq!(written("a\nb"), "  userData: |-\n    a\n    b\n");
        for text in [" a\nb", "\na\n", "a\n\n", "a\r\nb", "a\n  \nb", "a\u{85}\nb", "a"] {
            assert_eq!(written(text).lines().count(), 1, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn every_text_of_several_lines_is_read_as_itself(
            it in "[a-z#:\\-\\|>&*'\"% \\t\\n]{0,30}",
        ) {
            let read: std::collections::BTreeMap<String, String> =
                serde_saphyr::from_str(&written(&it)).unwrap();
            prop_assert_eq!(&read["userData"], &it);
        }
    }
}
