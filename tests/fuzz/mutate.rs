//! Makes new inputs of old ones.
//!
//! In: a seed corpus, an input and a source of randomness. Out: an input that differs. Bytes are
//! changed blindly; JSON, which a blind change breaks at once, is changed value by value.

use rand::RngExt;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde_json::{Value, json};

/// The longest input that is made.
const LONGEST: usize = 16 * 1024;

/// What readers take for something special.
const TOKENS: &[&str] = &[
    "\0",
    "\n",
    "\r",
    "\r\n",
    "\t",
    " ",
    "---\n",
    "...\n",
    "- ",
    ": ",
    "? ",
    "#",
    "&a ",
    "*a",
    "<<: ",
    "!!str ",
    "!x ",
    "|\n",
    ">-\n",
    "'",
    "\"",
    "\\",
    "{",
    "}",
    "[",
    "]",
    ",",
    "null",
    "~",
    "true",
    "yes",
    "0x1f",
    "0o7",
    "1e999",
    "-0",
    ".inf",
    ".nan",
    "15.10",
    "99999999999999999999",
    "${database.endpoint}",
    "\u{feff}",
    "\u{85}",
    "\u{2028}",
    "\u{0}",
    "\u{10ffff}",
    "é",
    "%",
    "@",
    "..",
    "/",
    "://",
    "&amp;",
    "&#x0;",
    "<![CDATA[",
    "]]>",
    "<a>",
    "</a>",
    "<!DOCTYPE a>",
    "<?xml?>",
];

/// Changes an input in a few places.
pub(crate) fn mutate(input: &[u8], corpus: &[Vec<u8>], random: &mut StdRng) -> Vec<u8> {
    let mut bytes = input.to_vec();
    if random.random_ratio(1, 2) && json(&mut bytes, random) {
        return bytes;
    }
    for _ in 0..random.random_range(1..6) {
        once(&mut bytes, corpus, random);
    }
    bytes.truncate(LONGEST);
    bytes
}

fn once(bytes: &mut Vec<u8>, corpus: &[Vec<u8>], random: &mut StdRng) {
    let at = random.random_range(0..=bytes.len());
    let end = (at + random.random_range(0..32)).min(bytes.len());
    match random.random_range(0..7) {
        0 => drop(bytes.drain(at..end)),
        1 => bytes.truncate(at),
        2 => {
            let part = bytes[at..end].to_vec();
            insert(bytes, at, &part);
        }
        3 if at < bytes.len() => bytes[at] ^= 1 << random.random_range(0..8),
        4 => insert(bytes, at, &[random.random::<u8>()]),
        5 => {
            let Some(other) = corpus.choose(random).filter(|other| !other.is_empty()) else {
                return;
            };
            let start = random.random_range(0..other.len());
            let end = (start + random.random_range(1..64)).min(other.len());
            insert(bytes, at, &other[start..end]);
        }
        _ => insert(bytes, at, TOKENS.choose(random).unwrap_or(&"").as_bytes()),
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, part: &[u8]) {
    bytes.splice(at..at, part.iter().copied());
}

/// Changes one value of the JSON that the input, or what follows its zero byte, is; tells whether
/// it is JSON.
fn json(bytes: &mut Vec<u8>, random: &mut StdRng) -> bool {
    let start = bytes.iter().position(|byte| *byte == 0).map_or(0, |at| at + 1);
    let Ok(mut value) = serde_json::from_slice::<Value>(&bytes[start..]) else { return false };
    for _ in 0..random.random_range(1..4) {
        let count = count(&value);
        change(&mut value, random.random_range(0..count), random);
    }
    bytes.truncate(start);
    bytes.extend(value.to_string().into_bytes());
    true
}

fn count(value: &Value) -> usize {
    1 + children(value).map(count).sum::<usize>()
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

/// Changes the value of this number, counted from the root in the order of reading.
fn change(value: &mut Value, mut number: usize, random: &mut StdRng) {
    if number == 0 {
        return replace(value, random);
    }
    number -= 1;
    let inner: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(members) => members.values_mut().collect(),
        _ => return,
    };
    for child in inner {
        let size = count(child);
        if number < size {
            return change(child, number, random);
        }
        number -= size;
    }
}

fn replace(value: &mut Value, random: &mut StdRng) {
    let new = match (random.random_range(0..10), &mut *value) {
        (0..4, Value::Object(members)) => {
            let name = members.keys().nth(random.random_range(0..members.len().max(1))).cloned();
            name.map(|name| members.remove(&name));
            return;
        }
        (0..2, Value::Array(items)) => return drop(items.pop()),
        (2..4, Value::Array(items)) => return items.extend(items.last().cloned()),
        (0, Value::String(text)) => text.to_uppercase().into(),
        (1, Value::String(text)) => format!("{text}x").into(),
        (0..2, Value::Number(number)) => number.to_string().into(),
        (4, old) => json!([old.clone()]),
        (5, old) => json!({ "x": old.clone() }),
        _ => [
            json!(null),
            json!(true),
            json!(false),
            json!(0),
            json!(-1),
            json!(u64::MAX),
            json!(1e300),
            json!(""),
            json!("available"),
            json!("é\u{0}"),
            json!([]),
            json!({}),
        ]
        .choose(random)
        .cloned()
        .unwrap_or_default(),
    };
    *value = new;
}
