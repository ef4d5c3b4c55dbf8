//! One line of a page as Markdown.

use super::escape;
use crate::report::page::{Line, Mark, Span};

/// Says whether HTML may stand in the Markdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// It may: GitHub's Markdown and those that follow it.
    Html,
    /// It may not.
    Plain,
}

/// Renders a line; in a table no bar may be left.
pub(super) fn inline(line: &Line, dialect: Dialect, in_table: bool) -> String {
    line.spans().iter().map(|span| piece(span, dialect, in_table)).collect()
}

fn piece(span: &Span, dialect: Dialect, in_table: bool) -> String {
    let text = |text: &str| match dialect {
        Dialect::Html => escape::text(text),
        Dialect::Plain => escape::plain(text),
    };
    match (span, dialect) {
        (Span::Text(words), _) => text(words),
        (Span::Strong(words), _) => wrapped(words, "**", "**", &text),
        (Span::Faint(words), Dialect::Html) => wrapped(words, "<sub>", "</sub>", &text),
        (Span::Faint(words), Dialect::Plain) => text(words),
        (Span::Code(value), Dialect::Html) => escape::code(value, in_table),
        (Span::Code(value), Dialect::Plain) => escape::code_plain(value, in_table),
        (Span::Mark(mark), _) => format!("{}\u{a0}", sign(*mark)),
        (Span::Break, Dialect::Html) => "<br>".to_owned(),
        (Span::Break, Dialect::Plain) => "; ".to_owned(),
    }
}

/// Puts signs around words; a space within them would keep them from being signs.
fn wrapped(words: &str, open: &str, close: &str, text: &dyn Fn(&str) -> String) -> String {
    let inner = words.trim();
    if inner.is_empty() {
        return words.to_owned();
    }
    let lead = &words[..words.len() - words.trim_start().len()];
    let trail = &words[words.trim_end().len()..];
    format!("{lead}{open}{}{close}{trail}", text(inner))
}

/// Renders a line as HTML, for the one place where Markdown is not read: the summary of a fold.
pub(super) fn inline_html(line: &Line) -> String {
    let piece = |span: &Span| match span {
        Span::Text(words) => escape::html(words),
        Span::Strong(words) => format!("<b>{}</b>", escape::html(words)),
        Span::Faint(words) => format!("<sub>{}</sub>", escape::html(words)),
        Span::Code(value) => escape::code_html(value),
        Span::Mark(mark) => format!("{}\u{a0}", sign(*mark)),
        Span::Break => "; ".to_owned(),
    };
    line.spans().iter().map(piece).collect()
}

/// Returns the sign that every host shows in colour; it is not parted from what follows.
fn sign(mark: Mark) -> &'static str {
    match mark {
        Mark::Good => "✅",
        Mark::Look => "⚠️",
        Mark::Bad => "⛔",
        Mark::Later => "🕓",
        Mark::Note => "ℹ️",
    }
}

/// Keeps the first letters of a line from beginning a list, a quotation, a rule or a command.
pub(super) fn start(line: &str) -> String {
    let line = line.trim_start();
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    let after = line[digits..].chars().next();
    match after {
        Some(letter) if digits > 0 && ".)".contains(letter) => {
            format!("{}\\{}", &line[..digits], &line[digits..])
        }
        Some(letter) if digits == 0 && "-+=>/:".contains(letter) => format!("\\{line}"),
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_begins_nothing_but_itself() {
        for (given, expected) in [
            ("- x", "\\- x"),
            ("1. x", "1\\. x"),
            ("/close", "\\/close"),
            ("=== x", "\\=== x"),
            ("    x", "x"),
            ("12 x", "12 x"),
        ] {
            assert_eq!(start(given), expected);
        }
    }

    #[test]
    fn words_that_stand_out_keep_the_spaces_around_them() {
        let line = Line::new().text("a").strong(" b ").faint(" c").text("d");
        assert_eq!(inline(&line, Dialect::Html, false), "a **b**  <sub>c</sub>d");
        assert_eq!(inline(&line, Dialect::Plain, false), "a **b**  cd");
    }
}
