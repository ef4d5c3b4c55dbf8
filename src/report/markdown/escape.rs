//! What has to be done to a text so that Markdown shows it as it is.
//!
//! In: any text. Out: Markdown, or HTML within Markdown, of which every reader sees the same text.
//!
//! Hosts look through rendered text once more, for what they link: people (`@name`), issues (`#1`,
//! `GH-1`, `!1`), addresses. An escape does not keep them from that; an invisible character after the
//! sign does.

/// Joins two letters without a break, and is not to be seen.
const JOINER: char = '\u{2060}';

/// Signs that begin a reference somewhere: GitHub's `@` and `#`, GitLab's `!`, `~`, `%`, `&`, `$`,
/// `^`, and `:` of an emoji.
const SIGNS: &str = "@#!~%&$^";

/// Characters that mean something to GitHub's Markdown, and to those that follow it.
const MARKDOWN: &str = "\\`*_[]<>|#~$";

/// Characters that a backslash takes the meaning of in Python-Markdown, which Bitbucket uses.
const PLAIN: &str = "\\`*_[]{}#";

/// Escapes words for a Markdown with HTML.
pub(super) fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in harmless(text).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            letter if MARKDOWN.contains(letter) => escaped.extend(['\\', letter]),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Escapes words for a Markdown without HTML; a bar is another one, since none can be escaped there.
pub(super) fn plain(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in harmless(text).chars() {
        match letter {
            '|' => escaped.push('¦'),
            letter if PLAIN.contains(letter) => escaped.extend(['\\', letter]),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Escapes words for HTML.
pub(super) fn html(text: &str) -> String {
    entities(&harmless(text), "&<>\"'")
}

/// Writes a name or a value within a line; in a table a bar would end the cell.
pub(super) fn code(text: &str, in_table: bool) -> String {
    let is_hard = text.contains('`') || (in_table && text.contains(['|', '\\']));
    match text {
        "" => "<code></code>".to_owned(),
        text if is_hard || text.trim() != text => code_html(text),
        text => format!("`{text}`"),
    }
}

/// Writes a name or a value as HTML, every sign as a number: none means anything to Markdown.
pub(super) fn code_html(text: &str) -> String {
    let mut escaped = String::from("<code>");
    for letter in text.chars() {
        match letter {
            ' ' => escaped.push_str("&#32;"),
            letter if letter.is_ascii_punctuation() && !"-,/=+".contains(letter) => {
                escaped.push_str(&format!("&#{};", u32::from(letter)));
            }
            letter => escaped.push(letter),
        }
    }
    escaped + "</code>"
}

/// Writes a name or a value for a Markdown without HTML.
pub(super) fn code_plain(text: &str, in_table: bool) -> String {
    let text = if in_table { text.replace('|', "¦") } else { text.to_owned() };
    if text.trim().is_empty() {
        return "(empty)".to_owned();
    }
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    let space = if text.contains('`') || text.trim() != text { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Returns how often a letter stands in a row at most.
pub(super) fn longest_run(text: &str, of: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for letter in text.chars() {
        run = if letter == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn entities(text: &str, letters: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letters.contains(letter) {
            true => escaped.push_str(&format!("&#{};", u32::from(letter))),
            false => escaped.push(letter),
        }
    }
    escaped
}

/// Breaks everything that a host would link: people, issues, addresses, emoji.
fn harmless(text: &str) -> String {
    let mut broken = String::with_capacity(text.len() + 8);
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        broken.push(letter);
        let after = letters.peek().copied().unwrap_or(' ');
        if links(before, letter, after) {
            broken.push(JOINER);
        }
        before = letter;
    }
    broken
}

fn links(before: char, letter: char, after: char) -> bool {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    match letter {
        '-' => before.eq_ignore_ascii_case(&'h') && after.is_ascii_digit(),
        ':' => after == '/' || after.is_ascii_alphabetic() || "+-".contains(after),
        'w' | 'W' => after == '.',
        sign if SIGNS.contains(sign) => is_word(after) || "\"'{[".contains(after),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_host_links_is_left_whole() {
        for (given, expected) in [
            ("ask @alice", "ask @\u{2060}alice"),
            ("see #12", "see \\#\u{2060}12"),
            ("GH-12", "GH-\u{2060}12"),
            ("!7 %3 ~bug", "!\u{2060}7 %\u{2060}3 \\~\u{2060}bug"),
            ("https://x.y", "https:\u{2060}//x.y"),
            ("www.x.y", "www\u{2060}.x.y"),
            (":tada:", ":\u{2060}tada:"),
            ("at 05:00, then: go", "at 05:00, then: go"),
        ] {
            assert_eq!(text(given), expected);
        }
    }

    #[test]
    fn signs_of_markdown_and_html_are_shown() {
        assert_eq!(text("a*b_c|d<e>&f`g`"), "a\\*b\\_c\\|d&lt;e\\>&amp;\u{2060}f\\`g\\`");
        assert_eq!(html("<b>\"&"), "&#60;b&#62;&#34;&#38;");
        assert_eq!(plain("a*b|c<d>"), "a\\*b¦c<d>");
    }

    #[test]
    fn code_ends_where_its_value_ends() {
        assert_eq!(code("db.r6g.large", true), "`db.r6g.large`");
        assert_eq!(code("a|b", false), "`a|b`");
        assert_eq!(code("a|b", true), "<code>a&#124;b</code>");
        assert_eq!(code("`</code>", true), "<code>&#96;&#60;/code&#62;</code>");
        assert_eq!(code(" a", false), "<code>&#32;a</code>");
        assert_eq!(code_plain("a``b|c", true), "``` a``b¦c ```");
    }
}
