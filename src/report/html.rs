//! A page as one HTML document: no script, no reference to anything outside.
//!
//! In: a [`Page`]. Out: HTML that a browser shows and a mail program prints.
//!
//! Invariants: every text is escaped; nothing is left out, since nothing limits its length; a
//! reader's colours, light or dark, are used.

use super::page::{Block, Fold, Line, Mark, Page, Span};

/// The look of the document.
const STYLE: &str = include_str!("html/style.css");

/// Renders a page as a document of its own.
pub fn html(page: &Page) -> String {
    let title = words(&page.title);
    let (heading, head, foot) = (line(&page.title), blocks(&page.head), blocks(&page.foot));
    let folds: String = page.folds.iter().map(fold).collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n<h1>{heading}</h1>\n{head}{folds}<footer>\n{foot}</footer>\n</main>\n\
         </body>\n</html>\n"
    )
}

fn fold(fold: &Fold) -> String {
    let open = if fold.open { " open" } else { "" };
    let (summary, inner) = (line(&fold.summary), blocks(&fold.blocks));
    format!("<details{open}>\n<summary>{summary}</summary>\n{inner}</details>\n")
}

fn blocks(blocks: &[Block]) -> String {
    blocks.iter().map(block).collect()
}

fn block(block: &Block) -> String {
    match block {
        Block::Text(text) => format!("<p>{}</p>\n", line(text)),
        Block::Table { head, rows } => table(head, rows),
        Block::Items(items) => {
            let items: String =
                items.iter().map(|item| format!("<li>{}</li>\n", line(item))).collect();
            format!("<ul>\n{items}</ul>\n")
        }
        Block::Difference { lines, hidden } => difference(lines, *hidden),
    }
}

fn table(head: &[Line], rows: &[Vec<Line>]) -> String {
    let cells = |cells: &[Line], tag: &str| -> String {
        cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", line(cell))).collect()
    };
    let body: String = rows.iter().map(|row| format!("<tr>{}</tr>\n", cells(row, "td"))).collect();
    let head = cells(head, "th");
    format!(
        "<div class=\"table\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}</tbody>\n\
         </table></div>\n"
    )
}

fn difference(lines: &[String], hidden: usize) -> String {
    let row = |line: &String| {
        let class = match line.chars().next() {
            Some('-') => "gone",
            Some('+') => "new",
            _ => "same",
        };
        format!("<span class=\"{class}\">{}</span>\n", escape(line))
    };
    let rows: String = lines.iter().map(row).collect();
    let more = if hidden > 0 { format!("  ... {hidden} more lines\n") } else { String::new() };
    format!("<pre>{rows}{more}</pre>\n")
}

fn line(line: &Line) -> String {
    let piece = |span: &Span| match span {
        Span::Text(words) => escape(words),
        Span::Strong(words) => format!("<strong>{}</strong>", escape(words)),
        Span::Faint(words) => format!("<small>{}</small>", escape(words)),
        Span::Code(value) => format!("<code>{}</code>", escape(value)),
        Span::Mark(mark) => sign(*mark).to_owned(),
        Span::Break => "<br>".to_owned(),
    };
    line.spans().iter().map(piece).collect()
}

/// Returns a line as text alone, for the title of the window.
fn words(line: &Line) -> String {
    let piece = |span: &Span| match span {
        Span::Text(text) | Span::Strong(text) | Span::Faint(text) | Span::Code(text) => {
            escape(text)
        }
        Span::Mark(_) | Span::Break => String::new(),
    };
    line.spans().iter().map(piece).collect()
}

/// Signs are drawn by the style, so that they need no font; the word is for who does not see them.
fn sign(mark: Mark) -> &'static str {
    match mark {
        Mark::Good => "<i class=\"good\" role=\"img\" aria-label=\"good\">✓</i>\u{a0}",
        Mark::Look => "<i class=\"look\" role=\"img\" aria-label=\"look\">!</i>\u{a0}",
        Mark::Bad => "<i class=\"bad\" role=\"img\" aria-label=\"bad\">✕</i>\u{a0}",
        Mark::Later => "<i class=\"later\" role=\"img\" aria-label=\"later\">◷</i>\u{a0}",
        Mark::Note => "<i class=\"note\" role=\"img\" aria-label=\"note\">i</i>\u{a0}",
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_text_says_is_shown_and_not_obeyed() {
        let hostile = "</code></pre><script>alert('x')</script>&\"";
        let table = Block::Table {
            head: vec![Line::new().text(hostile)],
            rows: vec![vec![Line::new().code(hostile)]],
        };
        let page = Page {
            title: Line::new().mark(Mark::Bad).strong(hostile),
            head: vec![table, Block::difference(hostile, 9)],
            ..Page::default()
        };
        let text = html(&page);
        assert_eq!(text.matches("&lt;script&gt;alert(&#39;x&#39;)").count(), 5);
        assert!(!text.contains("<script"), "{text}");
        assert_eq!(text.matches("</pre>").count(), 1);
    }

    #[test]
    fn the_document_refers_to_nothing_outside() {
        let text = html(&Page::default());
        for outside in ["http:", "https:", "url(", "<link", "src=\""] {
            assert!(!text.contains(outside), "{outside}");
        }
    }
}
