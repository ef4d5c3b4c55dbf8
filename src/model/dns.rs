//! What names and values of DNS records mean, however they are written.
//!
//! In: texts as a manifest or Route 53 writes them. Out: one canonical text for all spellings of the
//! same thing ([`name`], [`Value::canonical`]), and the form that Route 53 takes ([`Value::wire`]).
//!
//! Sources: "DNS domain name format" and "Supported DNS record types" in the Route 53 Developer
//! Guide; RFC 1035, 4343 (letter case), 4408 and 7208 (the strings of a TXT are joined), 5952.

mod value;

pub use value::{Malformed, Value, duplicates, same_values, text, txt};

/// Returns the canonical spelling of a name: lower case, no dot at the end, and no escape where a
/// letter can stand.
///
/// Route 53 answers `\052.example.com.` for `*.example.com`. A dot within a label stays an escape.
pub fn name(text: &str) -> String {
    let mut canonical = String::with_capacity(text.len());
    let mut rest = text.trim().as_bytes();
    while let Some((byte, is_escaped, after)) = next(rest) {
        rest = after;
        match byte {
            b'.' if !is_escaped && rest.is_empty() => {}
            b'.' if !is_escaped => canonical.push('.'),
            byte if is_plain(byte) => canonical.push(char::from(byte.to_ascii_lowercase())),
            byte => canonical.push_str(&octal(byte)),
        }
    }
    canonical
}

/// Tells whether a byte needs no escape in a name.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'*')
}

/// Writes a byte as Route 53 does: `\052`.
fn octal(byte: u8) -> String {
    format!("\\{byte:03o}")
}

/// Takes one byte off a text: itself, or what an escape stands for, which is three octal digits or
/// the character itself.
fn next(text: &[u8]) -> Option<(u8, bool, &[u8])> {
    let digit = |byte: &u8| (b'0'..=b'7').contains(byte).then(|| u32::from(byte - b'0'));
    match text {
        [b'\\', a, b, c, rest @ ..] if digit(a).is_some_and(|first| first < 4) => {
            match (digit(a), digit(b), digit(c)) {
                (Some(a), Some(b), Some(c)) => {
                    let code = u8::try_from(a * 64 + b * 8 + c).unwrap_or_default();
                    Some((code, true, rest))
                }
                _ => Some((*a, true, &text[2..])),
            }
        }
        [b'\\', escaped, rest @ ..] => Some((*escaped, true, rest)),
        [byte, rest @ ..] => Some((*byte, false, rest)),
        [] => None,
    }
}

/// Tells whether a canonical name is a zone's, or in it.
pub fn is_in(name: &str, zone: &str) -> bool {
    name == zone || name.strip_suffix(zone).is_some_and(|before| before.ends_with('.'))
}

/// Says what is wrong with a canonical name, of which every label has 1 to 63 bytes and the whole
/// at most 255.
pub fn fault(name: &str) -> Option<&'static str> {
    let bytes = |label: &str| {
        let (mut rest, mut count) = (label.as_bytes(), 0);
        while let Some((_, _, after)) = next(rest) {
            (rest, count) = (after, count + 1);
        }
        count
    };
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.split('.').any(str::is_empty) {
        return Some("a label is empty");
    }
    if name.split('.').any(|label| bytes(label) > 63) {
        return Some("a label has more than 63 characters");
    }
    (bytes(name) > 253).then_some("it has more than 253 characters")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_name_is_one_name() {
        for (spelling, canonical) in [
            ("WWW.Example.com", "www.example.com"),
            ("www.example.com.", "www.example.com"),
            ("\\052.example.com.", "*.example.com"),
            ("*.example.com", "*.example.com"),
            ("a.\\052.example.com", "a.*.example.com"),
            ("\\137dmarc.example.com", "_dmarc.example.com"),
            ("a\\056b.example.com", "a\\056b.example.com"),
            ("a\\.b.example.com", "a\\056b.example.com"),
            ("a b.example.com", "a\\040b.example.com"),
            ("b\u{fc}ro.example.com", "b\\303\\274ro.example.com"),
            ("\\101.example.com", "a.example.com"),
            (".", ""),
        ] {
            assert_eq!(name(spelling), canonical, "{spelling}");
            assert_eq!(name(canonical), canonical, "{spelling} once more");
        }
    }

    #[test]
    fn a_name_is_in_a_zone_by_whole_labels() {
        assert!(is_in("example.com", "example.com"));
        assert!(is_in("a.b.example.com", "example.com"));
        assert!(!is_in("badexample.com", "example.com"));
        assert!(!is_in("com", "example.com"));
    }

    #[test]
    fn a_name_that_no_zone_takes_is_told() {
        let long = "a".repeat(64);
        for wrong in ["", "a..example.com", &format!("{long}.example.com"), &"a.".repeat(130)] {
            assert!(fault(wrong).is_some(), "{wrong}");
        }
        // An escape is one character.
        assert_eq!(fault(&format!("{}.example.com", "\\052".repeat(63))), None);
    }
}
