//! Names of objects, and of what stands in their sections.

use std::collections::BTreeSet;

/// The most characters of a name.
const LONGEST: usize = 63;

/// Makes a name of a text: lower-case letters, digits and single hyphens, a letter first.
pub(super) fn slug(text: &str) -> String {
    let key = key(text);
    match key.starts_with(|c: char| c.is_ascii_lowercase()) {
        true => key,
        false => key_of_length(&format!("w-{key}")),
    }
}

/// Makes a name of a text that may begin with a digit.
pub(super) fn key(text: &str) -> String {
    let lower = apart(text).to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    key_of_length(&words.collect::<Vec<_>>().join("-"))
}

/// Writes `OrdersApi` as `Orders-Api`.
fn apart(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut was_lower = false;
    for c in text.chars() {
        if was_lower && c.is_ascii_uppercase() {
            out.push('-');
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(c);
    }
    out
}

fn key_of_length(text: &str) -> String {
    let short: String = text.chars().take(LONGEST).collect();
    let short = short.trim_end_matches('-');
    if short.is_empty() { "unnamed".to_owned() } else { short.to_owned() }
}

/// Takes the first name that is free, or numbers the first one.
pub(super) fn free(candidates: &[String], taken: &mut BTreeSet<String>) -> String {
    let first = candidates.iter().find(|name| !taken.contains(*name)).cloned();
    let numbered = |number: usize| {
        let stem = candidates.first().map_or("unnamed", String::as_str);
        let cut: String = stem.chars().take(LONGEST - 5).collect();
        format!("{}-{number}", cut.trim_end_matches('-'))
    };
    let name = first.or_else(|| (2..).map(numbered).find(|name| !taken.contains(name)));
    let name = name.unwrap_or_default();
    taken.insert(name.clone());
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_becomes_a_name() {
        for (text, name) in [
            ("Orders_DB", "orders-db"),
            ("--a..b--", "a-b"),
            ("OrdersApi-DB", "orders-api-db"),
            ("2nd", "w-2nd"),
            ("", "unnamed"),
            ("Zahlungen/Größe", "zahlungen-gr-e"),
        ] {
            assert_eq!(slug(text), name);
        }
        assert_eq!(slug(&"a".repeat(99)).len(), LONGEST);
    }

    #[test]
    fn a_name_that_is_taken_is_numbered() {
        let mut taken = BTreeSet::new();
        let names = ["www".to_owned(), "www-a".to_owned()];
        let found: Vec<String> = (0..4).map(|_| free(&names, &mut taken)).collect();
        assert_eq!(found, ["www", "www-a", "www-2", "www-3"]);
    }
}
