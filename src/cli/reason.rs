//! A reason in a person's words, which everybody will read.

/// Longer ones belong elsewhere; conditions and events carry them whole.
const LONGEST: usize = 200;

/// Takes a reason that fits on a line.
///
/// # Errors
///
/// A clause that says what is wrong with it.
pub(super) fn parse(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("it is empty".to_owned());
    }
    if text.chars().any(char::is_control) {
        return Err("it holds a control character or a line break".to_owned());
    }
    match text.chars().count() {
        length if length > LONGEST => Err(format!("it is longer than {LONGEST} characters")),
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_a_line_of_text() {
        assert_eq!(parse(" failover test "), Ok("failover test".to_owned()));
        for bad in ["", "  ", "a\nb", "\u{1b}[31m", &"x".repeat(LONGEST + 1)] {
            assert!(parse(bad).is_err(), "{bad:?}");
        }
    }
}
