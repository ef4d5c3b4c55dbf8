//! The sentences of problems.

use std::fmt::Display;
use std::ops::Range;

use super::mistake::Mistake;
use super::shape::{Form, Shape};
use super::yaml::{Data, Entry, Node};

/// So many known names stand beside a better hint.
const FEW: usize = 12;

/// Returns the known name that a wrong one most likely means.
pub(super) fn nearest<'a>(wrong: &str, known: &[&'a str]) -> Option<&'a str> {
    let plain = |name: &str| name.to_lowercase().replace(['-', '_'], "");
    let wrong = plain(wrong);
    known
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&wrong, &plain(name)), *name))
        .filter(|(distance, name)| *distance <= (name.chars().count() / 3).max(1))
        .min()
        .map(|(_, name)| name)
}

/// Returns a hint on a name that is none of the known ones.
pub(super) fn known(wrong: &str, known: &[&str]) -> String {
    let list = format!("known here: {}", known.join(", "));
    match nearest(wrong, known) {
        Some(name) if known.len() > FEW => format!("did you mean \"{name}\"?"),
        Some(name) => format!("did you mean \"{name}\"? {list}"),
        None => list,
    }
}

/// Joins names: `a, b or c`.
pub(super) fn or(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// Names a range of numbers.
pub(super) fn range<T: Display>(least: Option<T>, most: Option<T>) -> String {
    match (least, most) {
        (Some(least), Some(most)) => format!("from {least} to {most}"),
        (Some(least), None) => format!("at least {least}"),
        (None, Some(most)) => format!("at most {most}"),
        (None, None) => "a number".to_owned(),
    }
}

/// Tells of a text that YAML does not read as one.
pub(super) fn unquoted(name: &str, node: &Node, text: &str) -> Mistake {
    let source = text.get(node.origin.clone()).unwrap_or_default().trim();
    let read = match &node.data {
        Data::Float(number) if number.to_string() != source => format!("the number {number}"),
        Data::Integer(number) if number.to_string() != source => format!("the number {number}"),
        Data::Bool(value) => format!("the boolean {value}"),
        _ => "a number".to_owned(),
    };
    let message = format!("{name} is {source} without quotes, which YAML reads as {read}");
    Mistake::error(node.span.clone(), "UnquotedText", message)
        .hint(format!("quote it: \"{source}\""))
}

/// Tells of a key that stands twice in a mapping.
pub(super) fn duplicate(key: &str, span: Range<usize>, first: usize) -> Mistake {
    Mistake::error(span, "DuplicateKey", format!("\"{key}\" is given twice")).after(first)
}

/// Tells of a field that nothing knows.
pub(super) fn unknown_field(
    entry: &Entry,
    parent: &str,
    known: &[&str],
    home: Option<&str>,
) -> Mistake {
    let key = &entry.key;
    let hint = match (nearest(key, known), home) {
        (None, Some(home)) => format!("\"{key}\" belongs into {home}"),
        _ => self::known(key, known),
    };
    let message = format!("{parent} has no field \"{key}\"");
    Mistake::error(entry.span.clone(), "UnknownField", message).hint(hint)
}

/// Tells of a value of the wrong type: code, message and hint.
pub(super) fn wrong_type(
    name: &str,
    shape: &Shape,
    node: &Node,
    source: &str,
) -> (&'static str, String, Option<String>) {
    let wanted = kind_of_shape(shape);
    let message = format!("{name} is {}, and has to be {wanted}", kind_of(node));
    let Data::Text(text) = &node.data else { return ("WrongType", message, None) };
    match &shape.form {
        Form::Bool => {
            let meant = match text.to_lowercase().as_str() {
                "yes" | "on" | "y" | "true" => "true",
                "no" | "off" | "n" | "false" => "false",
                _ => return ("WrongType", message, None),
            };
            if text.eq_ignore_ascii_case(meant) {
                return ("WrongType", message, Some(format!("remove the quotes: {meant}")));
            }
            let message = format!("{name} is {source}, which is a text in YAML 1.2");
            ("YamlBoolean", message, Some(format!("write {meant}")))
        }
        Form::Integer(..) if text.parse::<i128>().is_ok() => {
            ("WrongType", message, Some(format!("remove the quotes: {text}")))
        }
        _ => ("WrongType", message, None),
    }
}

fn kind_of(node: &Node) -> String {
    match &node.data {
        Data::Null => "empty".to_owned(),
        Data::Bool(value) => value.to_string(),
        Data::Integer(number) => number.to_string(),
        Data::Float(number) => number.to_string(),
        Data::Text(text) if text.chars().count() <= 40 && !text.contains('\n') => {
            format!("the text \"{text}\"")
        }
        Data::Text(_) => "a text".to_owned(),
        Data::List(_) => "a list".to_owned(),
        Data::Map(_) => "a mapping".to_owned(),
    }
}

fn kind_of_shape(shape: &Shape) -> String {
    match &shape.form {
        Form::Any => "something".to_owned(),
        Form::Bool => "true or false".to_owned(),
        Form::Integer(..) => "a whole number".to_owned(),
        Form::Number(..) => "a number".to_owned(),
        Form::Text(choices) if choices.is_empty() => "a text".to_owned(),
        Form::Text(choices) => or(&choices.iter().map(String::as_str).collect::<Vec<_>>()),
        Form::List(_) => "a list".to_owned(),
        Form::Map(_) => "a mapping".to_owned(),
        Form::Either(forms) => {
            let names: Vec<String> = forms.iter().map(kind_of_shape).collect();
            or(&names.iter().map(String::as_str).collect::<Vec<_>>())
        }
    }
}
