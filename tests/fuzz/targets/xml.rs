//! An XML answer of EC2.
//!
//! The reader is no part of the library's face, so its file is compiled into the target.

#[path = "../../../src/kinds/sdk/xml.rs"]
#[allow(dead_code, reason = "the library uses more of it")]
mod reader;

use quick_xml::escape::escape;

use self::reader::{Element, parse};

/// The deepest element that the reader takes, with the one around it.
const DEPTH: usize = 64;

/// Whatever the bytes are: they are refused, or a tree that is the same when it is written down and
/// read again.
pub(super) fn run(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(element) = parse(text) else { return };
    assert!(depth(&element) <= DEPTH, "nested too deeply");
    let written = write(&element);
    assert_eq!(parse(&written).ok().as_ref(), Some(&element), "{written}");
}

fn depth(element: &Element) -> usize {
    1 + element.children.iter().map(depth).max().unwrap_or_default()
}

fn write(element: &Element) -> String {
    let children: String = element.children.iter().map(write).collect();
    let text = escape(element.text.as_str()).replace('\r', "&#13;");
    format!("<{0}>{text}{children}</{0}>", element.name)
}
