//! An XML document of AWS as a tree: elements, their text, nothing else.
//!
//! Invariants: a document that ends early, is nested too deeply, declares entities or uses one that
//! it would have to declare is an error, never a shorter tree.

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};

/// How deep elements may be nested; AWS's answers need fewer than ten.
const DEPTH: usize = 64;

/// Holds one element.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Element {
    /// The name, without its namespace.
    pub(crate) name: String,
    /// The text directly in it.
    pub(crate) text: String,
    /// The elements in it, in order.
    pub(crate) children: Vec<Element>,
}

impl Element {
    /// Returns the first element of this name below, at any depth.
    pub(crate) fn find(&self, name: &str) -> Option<&Self> {
        self.children
            .iter()
            .find_map(|child| if child.name == name { Some(child) } else { child.find(name) })
    }
}

/// Says why a document cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum XmlError {
    /// The document is not well formed.
    #[error("the answer is not well-formed XML")]
    Malformed(#[from] quick_xml::Error),
    /// The document ends inside an element, or holds none.
    #[error("the answer ends early")]
    Truncated,
    /// The document holds something that AWS never sends.
    #[error("the answer holds {0}")]
    Refused(&'static str),
}

/// Reads a document.
pub(crate) fn parse(document: &str) -> Result<Element, XmlError> {
    let mut reader = Reader::from_str(document);
    // The open elements; the first stands for the document itself.
    let mut open = vec![Element::default()];
    loop {
        match reader.read_event()? {
            Event::Start(_) if open.len() > DEPTH => {
                return Err(XmlError::Refused("elements nested too deeply"));
            }
            Event::Start(start) => open.push(named(start.local_name().as_ref())?),
            Event::Empty(start) => add(&mut open, named(start.local_name().as_ref())?),
            Event::End(_) => {
                let element = open.pop().ok_or(XmlError::Truncated)?;
                add(&mut open, trimmed(element));
            }
            Event::Text(text) => push(&mut open, &text.xml10_content()),
            Event::CData(text) => push(&mut open, &text.xml10_content()),
            Event::GeneralRef(reference) => push(&mut open, &resolve(&reference)?),
            Event::DocType(_) => return Err(XmlError::Refused("a document type")),
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
    match (open.pop(), open.is_empty()) {
        (Some(mut document), true) if document.children.len() == 1 => {
            document.children.pop().ok_or(XmlError::Truncated)
        }
        _ => Err(XmlError::Truncated),
    }
}

/// The XML reader takes whatever stands before a space for a name; AWS's are words.
fn named(name: &str) -> Result<Element, XmlError> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    match !name.is_empty() && name.chars().all(is_part) {
        true => Ok(Element { name: name.to_owned(), ..Element::default() }),
        false => Err(XmlError::Refused("an element whose name is no word")),
    }
}

/// Drops the white space that only lays out the elements.
fn trimmed(mut element: Element) -> Element {
    if !element.children.is_empty() {
        element.text.clear();
    }
    element
}

fn add(open: &mut [Element], element: Element) {
    if let Some(parent) = open.last_mut() {
        parent.children.push(element);
    }
}

fn push(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

/// Resolves `&amp;` and `&#38;`; any other entity would have to be declared.
fn resolve(reference: &BytesRef<'_>) -> Result<String, XmlError> {
    if let Some(character) = reference.resolve_char_ref()? {
        return Ok(character.to_string());
    }
    resolve_predefined_entity(reference)
        .map(str::to_owned)
        .ok_or(XmlError::Refused("an entity that it does not declare"))
}
