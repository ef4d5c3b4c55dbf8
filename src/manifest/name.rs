//! The rules for names of objects.

use crate::model::Finding;

/// The most characters that a name may have.
pub(super) const LONGEST: usize = 63;

/// The rule as a regular expression, for editors.
pub(super) const PATTERN: &str = "^[a-z](-?[a-z0-9])*$";

/// Checks `metadata.name`.
///
/// A name is an RFC 1123 label that RDS takes as an identifier: it starts with a letter, and has
/// neither a hyphen at the end nor two in a row (`CreateDBInstance`, member `DBInstanceIdentifier`).
pub(super) fn check(name: &str) -> Option<Finding> {
    let broken = broken_rule(name)?;
    let finding = Finding::error("/metadata/name", "InvalidName", format!("the name {broken}"));
    let proposal = proposal(name);
    Some(if broken_rule(&proposal).is_none() {
        finding.hint(format!("for example \"{proposal}\""))
    } else {
        finding.hint("a name has lower-case letters, digits and single hyphens, as in team-a-prod")
    })
}

fn broken_rule(name: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let length = name.chars().count();
    if name.is_empty() {
        return Some("is empty".to_owned());
    }
    if let Some(wrong) = name.chars().find(|c| !allowed(*c)) {
        let what = if wrong.is_uppercase() { "an upper-case letter" } else { "the character" };
        return Some(format!("has {what} '{}'", wrong.escape_debug()));
    }
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Some("does not start with a letter".to_owned());
    }
    if name.ends_with('-') {
        return Some("ends with a hyphen".to_owned());
    }
    if name.contains("--") {
        return Some("has two hyphens in a row".to_owned());
    }
    (length > LONGEST).then(|| format!("has {length} characters, and may have {LONGEST}"))
}

fn proposal(name: &str) -> String {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-");
    let short: String = joined.chars().take(LONGEST).collect();
    short.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_rule_in_words_and_the_rule_for_editors_are_one(name in "[a-c0-1A_-]{0,6}|[a-c0-1-]{60,66}") {
            let schema = serde_json::json!({"type": "string", "pattern": PATTERN, "maxLength": LONGEST});
            let for_editors = jsonschema::is_valid(&schema, &name.clone().into());
            prop_assert_eq!(check(&name).is_none(), for_editors, "{}", name);
        }

        #[test]
        fn a_proposal_is_a_good_name(name in "\\PC{0,80}") {
            let hint = check(&name).and_then(|finding| finding.hint).unwrap_or_default();
            if let Some(proposal) = hint.strip_prefix("for example ") {
                prop_assert!(check(proposal.trim_matches('"')).is_none(), "{}", proposal);
            }
        }
    }
}
