//! Walks a document with the [`Shape`] that it should have and finds every mistake.
//!
//! In: a [`Node`] tree. Out: [`Mistake`]s in the words of a person who edits the file. It runs only
//! when the typed read of a document failed or a finding needs a place.

use std::collections::BTreeMap;
use std::ops::Range;

use super::mistake::Mistake;
use super::shape::{Form, Members, Shape, within};
use super::words;
use super::yaml::{Data, Node};

/// Returns everything that is wrong with a document; `text` is what its spans point into.
pub(super) fn check(shape: &Shape, root: &Node, text: &str) -> Vec<Mistake> {
    let start = root.entries().first().map_or(root.span.clone(), |entry| entry.span.clone());
    let mut walk = Walk { text, root: shape, found: Vec::new() };
    walk.value(shape, root, &Place { name: "the manifest".to_owned(), span: start, about: "" });
    walk.found
}

struct Walk<'a> {
    text: &'a str,
    root: &'a Shape,
    found: Vec<Mistake>,
}

/// Names the value that is looked at, and where problems with its members stand.
struct Place<'a> {
    name: String,
    span: Range<usize>,
    about: &'a str,
}

impl Walk<'_> {
    fn value(&mut self, shape: &Shape, node: &Node, place: &Place<'_>) {
        match (&shape.form, &node.data) {
            (_, Data::Null) if shape.nullable => {}
            (Form::Any, _) | (Form::Bool, Data::Bool(_)) => {}
            (Form::Integer(least, most), Data::Integer(number)) => {
                self.range(
                    place,
                    node,
                    within(number, *least, *most),
                    &words::range(*least, *most),
                );
            }
            (Form::Number(least, most), Data::Integer(_) | Data::Float(_)) => {
                let number = node.number().unwrap_or(f64::NAN);
                let good = within(&number, *least, *most);
                self.range(place, node, good, &words::range(*least, *most));
            }
            (Form::Text(choices), Data::Text(text)) => self.choice(choices, text, node, place),
            (Form::Text(_), Data::Integer(_) | Data::Float(_) | Data::Bool(_)) => {
                self.found.push(words::unquoted(&place.name, node, self.text));
            }
            (Form::List(item), Data::List(items)) => {
                for (at, node) in items.iter().enumerate() {
                    let name = format!("item {} of {}", at + 1, place.name);
                    let place = Place { name, span: node.span.clone(), about: place.about };
                    self.value(item, node, &place);
                }
            }
            (Form::Map(members), Data::Map(_)) => self.members(members, node, place),
            (Form::Either(forms), _) => self.either(shape, forms, node, place),
            _ => self.wrong_type(shape, node, place),
        }
    }

    fn range(&mut self, place: &Place<'_>, node: &Node, good: bool, range: &str) {
        if !good {
            let message = format!("{} is {}, and has to be {range}", place.name, self.source(node));
            self.found.push(Mistake::error(node.span.clone(), "OutOfRange", message));
        }
    }

    fn choice(&mut self, choices: &[String], text: &str, node: &Node, place: &Place<'_>) {
        if choices.is_empty() || choices.iter().any(|choice| choice == text) {
            return;
        }
        let names: Vec<&str> = choices.iter().map(String::as_str).collect();
        let message = format!("{} is \"{text}\", and has to be {}", place.name, words::or(&names));
        let mut mistake = Mistake::error(node.span.clone(), "UnknownValue", message);
        mistake.hint = words::nearest(text, &names).map(|name| format!("did you mean \"{name}\"?"));
        self.found.push(mistake);
    }

    fn either(&mut self, shape: &Shape, forms: &[Shape], node: &Node, place: &Place<'_>) {
        let mut attempts = forms.iter().map(|form| {
            let mut walk = Walk { text: self.text, root: self.root, found: Vec::new() };
            walk.value(form, node, place);
            (form, walk.found)
        });
        let Some(closest) = attempts
            .by_ref()
            .map(|(form, found)| (found.is_empty(), form.is_like(node), found))
            .max_by_key(|(good, alike, _)| (*good, *alike))
        else {
            return self.wrong_type(shape, node, place);
        };
        match closest {
            (true, ..) => {}
            (false, true, found) => self.found.extend(found),
            (false, false, _) => self.wrong_type(shape, node, place),
        }
    }

    fn wrong_type(&mut self, shape: &Shape, node: &Node, place: &Place<'_>) {
        let source = self.source(node);
        let (code, message, hint) = words::wrong_type(&place.name, shape, node, source);
        let about =
            || (!place.about.is_empty()).then(|| format!("{}: {}", place.name, place.about));
        let span = if node.span.is_empty() { place.span.clone() } else { node.span.clone() };
        let mut mistake = Mistake::error(span, code, message);
        mistake.hint = hint.or_else(about);
        self.found.push(mistake);
    }

    fn members(&mut self, members: &Members, node: &Node, place: &Place<'_>) {
        let mut seen: BTreeMap<&str, &Range<usize>> = BTreeMap::new();
        for entry in node.entries() {
            if let Some(first) = seen.get(entry.key.as_str()) {
                self.found.push(words::duplicate(&entry.key, entry.span.clone(), first.start));
                continue;
            }
            seen.insert(&entry.key, &entry.span);
            match members.shape_of(&entry.key) {
                Some(shape) => {
                    let about = members.fields.get(&entry.key).map_or("", |field| &field.about);
                    let name = entry.key.clone();
                    self.value(
                        shape,
                        &entry.value,
                        &Place { name, span: entry.span.clone(), about },
                    );
                }
                None => {
                    let known: Vec<&str> = members.fields.keys().map(String::as_str).collect();
                    let home = self.root.home_of(&entry.key);
                    let name = &place.name;
                    self.found.push(words::unknown_field(entry, name, &known, home.as_deref()));
                }
            }
        }
        let meant = |name: &str| {
            // A misspelt field is told once, as that.
            let unknown = seen.keys().filter(|key| members.shape_of(key).is_none());
            unknown.into_iter().any(|key| words::nearest(key, &[name]).is_some())
        };
        let missing = members.required.iter().filter(|name| !seen.contains_key(name.as_str()));
        for name in missing.filter(|name| !meant(name)) {
            let message = format!("{} lacks the field \"{name}\"", place.name);
            let about = members.fields.get(name).map_or("", |field| &field.about);
            self.found.push(
                Mistake::error(place.span.clone(), "MissingField", message)
                    .hint(format!("add it. {about}")),
            );
        }
    }

    fn source(&self, node: &Node) -> &str {
        self.text.get(node.origin.clone()).unwrap_or_default().trim()
    }
}

impl Shape {
    /// Tells whether a value is of the right type, whatever is wrong inside it.
    fn is_like(&self, node: &Node) -> bool {
        matches!(
            (&self.form, &node.data),
            (Form::Bool, Data::Bool(_))
                | (Form::Integer(..), Data::Integer(_))
                | (Form::Number(..), Data::Integer(_) | Data::Float(_))
                | (Form::Text(_), Data::Text(_))
                | (Form::List(_), Data::List(_))
                | (Form::Map(_), Data::Map(_))
        )
    }

    /// Returns the dotted path of the only place, below this one, that knows a field.
    fn home_of(&self, name: &str) -> Option<String> {
        let mut homes = Vec::new();
        self.homes(name, "", &mut homes);
        match homes.as_slice() {
            [home] => Some(home.clone()),
            _ => None,
        }
    }

    fn homes(&self, name: &str, path: &str, homes: &mut Vec<String>) {
        let Form::Map(members) = &self.form else { return };
        if members.fields.contains_key(name) && !path.is_empty() {
            homes.push(path.to_owned());
        }
        for (key, field) in &members.fields {
            let below = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
            field.shape.homes(name, &below, homes);
        }
    }
}
