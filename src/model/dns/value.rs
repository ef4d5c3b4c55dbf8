//! One value of a record: `10 mail.example.com`, `"v=spf1 -all"`, `192.0.2.1`.

use core::net::{Ipv4Addr, Ipv6Addr};
use std::collections::BTreeSet;

use super::{name, next, octal};

/// The most bytes of one string of a TXT record.
const LONGEST_STRING: usize = 255;

/// Says that a text is no value of a type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{text}\" is no value of {record_type}: {expected}")]
pub struct Malformed {
    /// The text.
    pub text: String,
    /// The type.
    pub record_type: String,
    /// What a value of the type looks like.
    pub expected: &'static str,
}

/// Is one value of a record set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    canonical: String,
    wire: String,
}

impl Value {
    /// Reads a value as a manifest or an answer spells it.
    ///
    /// A TXT that is in quotes is read as Route 53 writes it, in strings that are joined; one that
    /// is not is its bytes.
    ///
    /// # Errors
    ///
    /// [`Malformed`] for a text that the type cannot have.
    pub fn read(record_type: &str, text: &str) -> Result<Self, Malformed> {
        if matches!(record_type, "TXT" | "SPF") {
            return Ok(Self::of_bytes(&bytes(text)));
        }
        let text = text.trim();
        let malformed = |expected| Malformed {
            text: text.to_owned(),
            record_type: record_type.to_owned(),
            expected,
        };
        let plain = |canonical: String| Self { canonical, wire: text.to_owned() };
        if text.is_empty() {
            return Err(malformed("it is empty"));
        }
        match record_type {
            "A" => text
                .parse::<Ipv4Addr>()
                .map(|address| plain(address.to_string()))
                .map_err(|_| malformed("an IPv4 address, as in 192.0.2.1")),
            "AAAA" => text
                .parse::<Ipv6Addr>()
                .map(|address| plain(address.to_string()))
                .map_err(|_| malformed("an IPv6 address, as in 2001:db8::1")),
            "CNAME" | "NS" | "PTR" => match text.contains(char::is_whitespace) {
                true => Err(malformed("one name, as in www.example.com")),
                false => Ok(plain(name(text))),
            },
            other => structured(other, text)
                .ok_or_else(|| malformed(form(other)))
                .map(|(canonical, wire)| Self { canonical, wire }),
        }
    }

    /// Reads a value that AWS answered; what cannot be read is only itself.
    pub fn answered(record_type: &str, text: &str) -> Self {
        let raw = || Self { canonical: text.to_owned(), wire: text.to_owned() };
        Self::read(record_type, text).unwrap_or_else(|_| raw())
    }

    fn of_bytes(bytes: &[u8]) -> Self {
        let mut strings: Vec<String> = bytes.chunks(LONGEST_STRING).map(quoted).collect();
        if strings.is_empty() {
            strings.push(quoted(&[]));
        }
        Self { canonical: quoted(bytes), wire: strings.join(" ") }
    }

    /// Returns the one text for all spellings of the value.
    pub fn canonical(&self) -> &str {
        &self.canonical
    }

    /// Returns the text that Route 53 takes.
    pub fn wire(&self) -> &str {
        &self.wire
    }
}

/// Tells whether two lists hold the same values of a type, in whatever order and spelling.
pub fn same_values<'a>(
    record_type: &str,
    one: impl IntoIterator<Item = &'a str>,
    other: impl IntoIterator<Item = &'a str>,
) -> bool {
    let read = |text| Value::answered(record_type, text).canonical;
    let one: BTreeSet<String> = one.into_iter().map(read).collect();
    let other: BTreeSet<String> = other.into_iter().map(read).collect();
    one == other
}

/// Returns the positions of values that say the same as one before.
pub fn duplicates(record_type: &str, values: &[String]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    let is_new = |text: &str| seen.insert(Value::answered(record_type, text).canonical);
    let mut is_new = is_new;
    (0..values.len()).filter(|at| !is_new(&values[*at])).collect()
}

/// Writes a text as the value of a TXT.
pub fn txt(text: &str) -> String {
    Value::of_bytes(text.as_bytes()).wire
}

/// Reads the text that the value of a TXT holds.
pub fn text(value: &str) -> String {
    String::from_utf8_lossy(&bytes(value)).into_owned()
}

/// Returns the bytes of a TXT: those of its strings, joined, or of the text as it is.
fn bytes(text: &str) -> Vec<u8> {
    strings(text.trim()).unwrap_or_else(|| text.as_bytes().to_vec())
}

/// Reads `"one" "two"`; `None` for a text of another form.
fn strings(text: &str) -> Option<Vec<u8>> {
    let (mut rest, mut joined) = (text.as_bytes(), Vec::new());
    if rest.first() != Some(&b'"') {
        return None;
    }
    while let Some(inside) = rest.strip_prefix(b"\"") {
        rest = inside;
        loop {
            let (byte, is_escaped, after) = next(rest)?;
            rest = after;
            match byte {
                b'"' if !is_escaped => break,
                byte => joined.push(byte),
            }
        }
        rest = rest.trim_ascii_start();
    }
    rest.is_empty().then_some(joined)
}

/// Writes bytes as one string: quotes and backslashes are escaped, and so is what is not printable.
fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str(&octal(b'\\')),
            b' '..=b'~' => text.push(char::from(*byte)),
            other => text.push_str(&octal(*other)),
        }
    }
    text + "\""
}

/// Splits a value at white space; what is in quotes is one part.
fn parts(text: &str) -> Option<Vec<Part>> {
    let (mut found, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        let end = match rest.strip_prefix('"') {
            Some(inside) => closing(inside)? + 2,
            None => rest.find(char::is_whitespace).unwrap_or(rest.len()),
        };
        let (part, after) = rest.split_at(end);
        let text = match part.starts_with('"') {
            true => Part::Quoted(quoted(&strings(part)?)),
            false => Part::Word(part.to_owned()),
        };
        found.push(text);
        rest = after.trim_start();
    }
    Some(found)
}

/// Returns where the string ends of which the text is the inside.
fn closing(inside: &str) -> Option<usize> {
    let mut is_escaped = false;
    inside.char_indices().find_map(|(at, letter)| {
        let is_end = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        is_end.then_some(at)
    })
}

enum Part {
    Word(String),
    Quoted(String),
}

impl Part {
    fn text(&self) -> &str {
        match self {
            Self::Word(text) | Self::Quoted(text) => text,
        }
    }

    fn number(&self) -> Option<String> {
        self.text().parse::<u32>().ok().map(|number| number.to_string())
    }

    fn name(&self) -> String {
        match name(self.text()) {
            root if root.is_empty() => ".".to_owned(),
            name => name,
        }
    }

    /// Puts quotes around a part that has none.
    fn in_quotes(&self) -> String {
        match self {
            Self::Word(text) => quoted(text.as_bytes()),
            Self::Quoted(text) => text.clone(),
        }
    }
}

/// Reads a value of several parts: its canonical text and the one to send.
fn structured(record_type: &str, text: &str) -> Option<(String, String)> {
    let parts = parts(text)?;
    let join = |parts: Vec<String>| parts.join(" ");
    let as_written = |canonical: String| (canonical, text.to_owned());
    match (record_type, parts.as_slice()) {
        ("MX", [preference, host]) => {
            Some(as_written(join(vec![preference.number()?, host.name()])))
        }
        ("SRV", [priority, weight, port, host]) => {
            let numbers = [priority.number()?, weight.number()?, port.number()?];
            Some(as_written(format!("{} {}", numbers.join(" "), host.name())))
        }
        ("CAA", [flags, tag, value]) => {
            let (flags, tag) = (flags.number()?, tag.text().to_ascii_lowercase());
            let canonical = join(vec![flags, tag, value.in_quotes()]);
            Some((canonical.clone(), canonical))
        }
        ("NAPTR", [order, preference, flags, service, expression, replacement]) => {
            let numbers = [order.number()?, preference.number()?];
            let texts = [flags.in_quotes(), service.in_quotes(), expression.in_quotes()];
            let [numbers, texts] = [numbers.join(" "), texts.join(" ")];
            let wire = format!("{numbers} {texts} {}", replacement.text());
            Some((format!("{numbers} {texts} {}", replacement.name()), wire))
        }
        ("DS", [tag, algorithm, digest, rest @ ..]) => {
            hexadecimal([tag, algorithm, digest], rest).map(as_written)
        }
        ("TLSA", [usage, selector, matching, rest @ ..]) => {
            hexadecimal([usage, selector, matching], rest).map(as_written)
        }
        ("SSHFP", [algorithm, kind, rest @ ..]) => {
            let digest = digits(rest)?;
            Some(as_written(join(vec![algorithm.number()?, kind.number()?, digest])))
        }
        ("HTTPS" | "SVCB", [priority, target, rest @ ..]) => {
            let mut parameters: Vec<&str> = rest.iter().map(Part::text).collect();
            parameters.sort_unstable();
            let parameters = parameters.join(" ");
            let canonical = format!("{} {} {parameters}", priority.number()?, target.name());
            Some(as_written(canonical.trim_end().to_owned()))
        }
        _ => None,
    }
}

fn hexadecimal(numbers: [&Part; 3], rest: &[Part]) -> Option<String> {
    let [one, two, three] = numbers;
    Some(format!("{} {} {} {}", one.number()?, two.number()?, three.number()?, digits(rest)?))
}

/// Joins hexadecimal digits, which may stand in groups.
fn digits(parts: &[Part]) -> Option<String> {
    let all: String = parts.iter().map(Part::text).collect();
    let are_digits = !all.is_empty() && all.bytes().all(|byte| byte.is_ascii_hexdigit());
    are_digits.then(|| all.to_ascii_lowercase())
}

/// Says what a value of a type looks like.
fn form(record_type: &str) -> &'static str {
    match record_type {
        "MX" => "a preference and a name, as in 10 mail.example.com",
        "SRV" => "priority, weight, port and a name, as in 1 10 5269 xmpp.example.com",
        "CAA" => "flags, a tag and a text in quotes, as in 0 issue \"ca.example.net\"",
        "NAPTR" => "order, preference, flags, service, expression and replacement",
        "DS" => "key tag, algorithm, digest type and hexadecimal digits",
        "TLSA" => "usage, selector, matching type and hexadecimal digits",
        "SSHFP" => "algorithm, type and hexadecimal digits",
        "HTTPS" | "SVCB" => "priority, a name and parameters, as in 1 . alpn=\"h2\"",
        _ => "the type is not known",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wire(record_type: &str, text: &str) -> String {
        Value::read(record_type, text).unwrap().wire().to_owned()
    }

    #[track_caller]
    fn same(record_type: &str, one: &str, other: &str, expected: bool) {
        assert_eq!(same_values(record_type, [one], [other]), expected, "{one} | {other}");
    }

    #[test]
    fn values_that_mean_the_same_are_the_same() {
        same("A", "192.0.2.1", " 192.0.2.1 ", true);
        same("AAAA", "2001:DB8:0:0:0:0:0:1", "2001:db8::1", true);
        same("AAAA", "2001:db8::1", "2001:db8::2", false);
        same("CNAME", "Target.example.net", "target.example.net.", true);
        same("MX", "10  Mail.example.com.", "10 mail.example.com", true);
        same("MX", "10 mail.example.com", "20 mail.example.com", false);
        same("SRV", "1 10 05269 xmpp.example.com.", "1 10 5269 xmpp.example.com", true);
        same("CAA", "0 Issue ca.example.net", "0 issue \"ca.example.net\"", true);
        same("CAA", "0 issue \"ca.example.net\"", "0 issue \"ca.example.org\"", false);
        same("DS", "1 8 2 AB CD", "1 8 2 abcd", true);
        same("NAPTR", "1 2 U SIP+D2U \"\" .", "1 2 \"U\" \"SIP+D2U\" \"\" .", true);
        same(
            "HTTPS",
            "1 . ipv4hint=192.0.2.1 alpn=\"h2\"",
            "1 . alpn=\"h2\" ipv4hint=192.0.2.1",
            true,
        );
    }

    #[test]
    fn a_txt_is_its_bytes() {
        same("TXT", "v=spf1 -all", "\"v=spf1 -all\"", true);
        same("TXT", "Ab", "\"aB\"", false);
        same("TXT", "\"one\" \"two\"", "\"onetwo\"", true);
        same("TXT", "\"one \" \"two\"", "onetwo", false);
        same("TXT", "say \"hi\"", "\"say \\\"hi\\\"\"", true);
        same("TXT", "a\\b", "\"a\\\\b\"", true);
        same("TXT", "a\\b", "\"a\\134b\"", true);
        same("TXT", "\u{e9}", "\"\\303\\251\"", true);
        same("TXT", "", "\"\"", true);
    }

    #[test]
    fn a_txt_is_sent_in_strings_of_255_bytes() {
        let sent = wire("TXT", &"x".repeat(400));
        assert_eq!(sent, format!("\"{}\" \"{}\"", "x".repeat(255), "x".repeat(145)));
        assert_eq!(wire("TXT", "v=spf1 -all"), "\"v=spf1 -all\"");
        assert_eq!(wire("TXT", "\u{e9}\\"), "\"\\303\\251\\134\"");
        assert_eq!(wire("CAA", "0 issue letsencrypt.org"), "0 issue \"letsencrypt.org\"");
        assert_eq!(wire("CNAME", "target.example.net."), "target.example.net.");
    }

    #[test]
    fn what_a_type_cannot_have_is_told() {
        for (record_type, text) in [
            ("A", "2001:db8::1"),
            ("A", "192.0.2.256"),
            ("AAAA", "192.0.2.1"),
            ("CNAME", "two names"),
            ("MX", "mail.example.com"),
            ("SRV", "1 2 mail.example.com"),
            ("CAA", "issue \"ca.example.net\""),
            ("DS", "1 8 2 xyz"),
            ("SOA", "anything"),
            ("A", ""),
        ] {
            let found = Value::read(record_type, text);
            assert!(found.is_err(), "{record_type} {text}: {found:?}");
        }
    }

    #[test]
    fn a_repeated_value_is_found_in_any_spelling() {
        let values = ["a.example.net", "b.example.net", "A.example.net."].map(str::to_owned);
        assert_eq!(duplicates("NS", &values), [2]);
    }

    proptest! {
        #[test]
        fn what_is_sent_for_a_text_reads_back_as_that_text(text in ".{0,600}") {
            let sent = wire("TXT", &text);
            prop_assert!(same_values("TXT", [&*sent], [&*text]), "{}", sent);
            prop_assert!(sent.is_ascii());
        }

        #[test]
        fn no_text_of_an_answer_is_a_panic(record_type in "A|AAAA|MX|SRV|CAA|NAPTR|DS|TXT|HTTPS|X", text in ".{0,80}") {
            let value = Value::answered(&record_type, &text);
            let again = Value::answered(&record_type, value.wire());
            prop_assert_eq!(value.canonical(), again.canonical());
        }
    }
}
